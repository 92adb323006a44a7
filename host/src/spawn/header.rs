//! Reads from the beginning of a program file which other program it needs to be run.
//!
//! It understands scripts and 64-bit little-endian ELF; of everything else it says nothing.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The program that another one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Helper {
    /// What the first line of a script names.
    Interpreter(OsString),
    /// What a dynamically linked program names.
    Loader(OsString),
}

impl Helper {
    pub(super) fn path(&self) -> &OsStr {
        match self {
            Self::Interpreter(path) | Self::Loader(path) => path,
        }
    }
}

/// Returns what `program` needs; nothing where it cannot be read or needs nothing.
pub(super) fn helper(program: &Path) -> Option<Helper> {
    // Opening a pipe would wait for somebody to write to it.
    if !std::fs::metadata(program).ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    File::open(program)
        .ok()?
        .take(HEAD)
        .read_to_end(&mut head)
        .ok()?;
    let interpreter = interpreter(&head).map(|path| Helper::Interpreter(path.to_owned()));
    interpreter.or_else(|| loader(&head).map(|path| Helper::Loader(path.to_owned())))
}

/// Linkers place the name of the loader near the beginning.
const HEAD: u64 = 16 * 1024;

fn interpreter(head: &[u8]) -> Option<&OsStr> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    words.find(|word| !word.is_empty()).map(OsStr::from_bytes)
}

fn loader(head: &[u8]) -> Option<&OsStr> {
    const WIDE_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
    const NAMES_THE_LOADER: u64 = 3;
    head.strip_prefix(WIDE_LITTLE_ENDIAN)?;
    let (table, size, count) = (
        number(head, 32, 8)?,
        number(head, 54, 2)?,
        number(head, 56, 2)?,
    );
    let mut entries = (0..count).filter_map(|index| index.checked_mul(size)?.checked_add(table));
    let entry = entries.find(|entry| number(head, *entry, 4) == Some(NAMES_THE_LOADER))?;
    let start = number(head, entry.checked_add(8)?, 8)?;
    let rest = head.get(usize::try_from(start).ok()?..)?;
    rest.split(|byte| *byte == 0).next().map(OsStr::from_bytes)
}

/// Returns the number of `size` bytes at `offset`, at most eight of them.
fn number(head: &[u8], offset: u64, size: usize) -> Option<u64> {
    let start = usize::try_from(offset).ok()?;
    let bytes = head.get(start..start.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_the_first_word_after_the_mark() {
        assert_eq!(
            interpreter(b"#! /bin/x -a\nrest"),
            Some(OsStr::new("/bin/x"))
        );
        assert_eq!(interpreter(b"#!/bin/sh\r\n"), Some(OsStr::new("/bin/sh\r")));
        assert_eq!(interpreter(b"#!\n"), None);
        assert_eq!(interpreter(b"\x7fELF"), None);
    }

    #[test]
    fn a_torn_or_hostile_header_names_no_loader() {
        let mut head = b"\x7fELF\x02\x01".to_vec();
        assert_eq!(loader(&head), None);
        head.resize(64, 0xff);
        assert_eq!(loader(&head), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_very_program_names_a_loader_that_exists_or_none() {
        let found = helper(&std::env::current_exe().unwrap());
        assert!(found.is_none_or(
            |helper| matches!(&helper, Helper::Loader(path) if Path::new(path).exists())
        ));
    }
}
