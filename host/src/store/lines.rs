//! Lines of a file, from its end to its start, without reading the rest.
//!
//! It does not look into a line.

use std::fs::File;
use std::io;

use sha2::{Digest, Sha256};

use super::system::{System, bytes, retry};

const CHUNK: u64 = 16 * 1024;

/// The complete lines of a file, newest first.
#[derive(Debug)]
pub(crate) struct Backward<'a> {
    system: &'a dyn System,
    file: &'a File,
    end: u64,
    /// What was read last, and where it stands in the file.
    held: Vec<u8>,
    held_start: u64,
}

impl<'a> Backward<'a> {
    /// Starts at a place that is 0 or directly after a newline.
    pub(crate) fn new(system: &'a dyn System, file: &'a File, end: u64) -> Self {
        Self {
            system,
            file,
            end,
            held: Vec::new(),
            held_start: end,
        }
    }

    /// Returns the next older line without its newline; none at the start of the file.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(content_end) = self.end.checked_sub(1) else {
            return Ok(None);
        };
        if content_end <= self.held_start {
            self.held_start = content_end.saturating_sub(CHUNK);
            self.held = read_range(self.system, self.file, self.held_start, content_end)?;
        }
        let length = usize::try_from(content_end.saturating_sub(self.held_start));
        let held = length.ok().and_then(|length| self.held.get(..length));
        let held = held.unwrap_or_default();
        if let Some(at) = held.iter().rposition(|byte| *byte == b'\n') {
            let at = at.saturating_add(1);
            self.end = self.held_start.saturating_add(bytes(at));
            return Ok(held.get(at..).map(<[u8]>::to_vec));
        }
        if self.held_start == 0 {
            self.end = 0;
            return Ok(Some(held.to_vec()));
        }
        // It is longer than what is held.
        self.end = after_last_newline(self.system, self.file, self.held_start)?;
        read_range(self.system, self.file, self.end, content_end).map(Some)
    }
}

/// Returns the place after the last newline before `end`, or 0 where there is none.
pub(crate) fn after_last_newline(system: &dyn System, file: &File, end: u64) -> io::Result<u64> {
    let mut chunk_end = end;
    while chunk_end > 0 {
        let chunk_start = chunk_end.saturating_sub(CHUNK);
        let chunk = read_range(system, file, chunk_start, chunk_end)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(chunk_start.saturating_add(bytes(at)).saturating_add(1));
        }
        chunk_end = chunk_start;
    }
    Ok(0)
}

/// Reads all bytes from `start` to before `end`.
pub(crate) fn read_range(
    system: &dyn System,
    file: &File,
    start: u64,
    end: u64,
) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start))
        .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut buffer = vec![0; length];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let place = start.saturating_add(bytes(filled));
        match retry(|| system.read_at(file, rest, place))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled = filled.saturating_add(count),
        }
    }
    Ok(buffer)
}

/// Returns `sha256:` and the hexadecimal digest of a line.
pub(crate) fn digest(line: &[u8]) -> String {
    crate::digest::named(&Sha256::digest(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::system::Kernel;

    fn lines_of(content: &[u8], end: u64) -> Vec<Vec<u8>> {
        let file = tempfile::tempfile().unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, content, 0).unwrap();
        let mut backward = Backward::new(&Kernel, &file, end);
        std::iter::from_fn(|| backward.next_line().unwrap()).collect()
    }

    #[test]
    fn lines_come_newest_first_and_empty_ones_count() {
        let lines = lines_of(b"one\n\nthree\n", 11);
        assert_eq!(lines, [b"three".to_vec(), b"".to_vec(), b"one".to_vec()]);
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        for length in [16_383_usize, 16_384, 16_385, 50_000] {
            let mut content = vec![b'a'; length];
            content.push(b'\n');
            content.extend(vec![b'b'; length]);
            content.push(b'\n');
            let lines = lines_of(&content, bytes(content.len()));
            assert_eq!(lines, [vec![b'b'; length], vec![b'a'; length]]);
        }
    }

    #[test]
    fn lines_of_every_length_are_those_that_come_forwards() {
        let lengths = [
            0_usize, 1, 0, 16_382, 3, 16_383, 0, 16_384, 40_000, 2, 8_190, 8_190, 0, 0,
        ];
        for skip in 0..lengths.len() {
            let mut content = Vec::new();
            let mut forwards = Vec::new();
            for (number, length) in (0_u8..).zip(lengths.iter().skip(skip)) {
                let line = vec![b'a' + number; *length];
                content.extend_from_slice(&line);
                content.push(b'\n');
                forwards.insert(0, line);
            }
            assert_eq!(lines_of(&content, bytes(content.len())), forwards);
        }
    }

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), format!("sha256:{known}"));
    }
}
