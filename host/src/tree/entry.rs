//! One line of the system's list of processes, and all of them.
//!
//! It judges nothing; off Linux the list is empty.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longer than any such line: fifty numbers and a short name. The system gives it in one read.
const LONGEST: usize = 2048;

/// One line of `/proc/<pid>/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: i32,
    pub(super) name: String,
    pub(super) state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) started: u64,
}

impl Entry {
    pub(super) fn read(pid: i32) -> Option<Self> {
        let mut stat = [0; LONGEST];
        let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
        let length = file.read(&mut stat).ok()?;
        Self::parse(stat.get(..length)?)
    }

    /// The name stands in brackets and may itself hold brackets and spaces.
    fn parse(stat: &[u8]) -> Option<Self> {
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let pid = std::str::from_utf8(stat.get(..open)?)
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        Some(Self {
            pid,
            name,
            state: fields.first()?.bytes().next()?,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Returns every process that there is at this moment.
pub(super) fn entries() -> impl Iterator<Item = Entry> {
    pids().into_iter().filter_map(Entry::read)
}

/// The list is read at once: it goes by number, and whoever looks at each process before the next
/// is led on by those that fork faster than that, once around all numbers.
fn pids() -> Vec<i32> {
    let listing = std::fs::read_dir(Path::new("/proc"));
    let names = listing.into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns the children of a process, dead ones too.
pub(super) fn children(parent: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
    let lists = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<i32> {
        list.split_ascii_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect()
    };
    lists.flat_map(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = b"42 (a) b (c) S 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 555 0 0\n";
        let entry = Entry::parse(stat).unwrap();
        assert_eq!(
            (entry.pid, entry.name.as_str(), entry.state),
            (42, "a) b (c", b'S')
        );
        assert_eq!(
            (entry.parent, entry.group, entry.session, entry.started),
            (7, 8, 9, 555)
        );
    }

    #[test]
    fn a_torn_line_is_nobody() {
        assert_eq!(Entry::parse(b""), None);
        assert_eq!(Entry::parse(b"42 (x"), None);
        assert_eq!(Entry::parse(b"42 (x) S 1"), None);
    }
}
