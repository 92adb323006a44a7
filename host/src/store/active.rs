//! The active file, in the hands of the lock holder: its tail, repairing it, appending to it.
//!
//! Only the tail is ever read. It does not know of pending files.

use std::fs::File;
use std::io;

use rustix::io::Errno;

use super::error::{Hazard, StoreError};
use super::lines::{after_last_newline, digest, read_range};
use super::pending::LINE_LIMIT;
use super::place::Place;
use super::scribe::{Piece, Scribe, ScribeError, take_apart_or_skip};
use super::system::{How, bytes, retry};
use super::tail::Tail;
use super::{Durability, Notice, Options};

/// The active file, open for appending.
#[derive(Debug)]
pub(crate) struct Active<'s> {
    pub(crate) place: &'s Place,
    pub(crate) options: Options,
    pub(crate) file: File,
    pub(crate) size: u64,
    pub(crate) tail: Tail,
    /// True where nothing may be appended any more.
    closed: bool,
}

impl<'s> Active<'s> {
    /// Opens the file, creates it where it is missing, and repairs its end.
    pub(crate) fn open(
        place: &'s Place,
        options: Options,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<Self, StoreError> {
        let (file, created) = place.folder.existing_or_new(&place.active, How::Append)?;
        if created && options.durability == Durability::Disk {
            place.folder.sync()?;
        }
        let mut active = Self {
            place,
            options,
            file,
            size: 0,
            tail: Tail::default(),
            closed: false,
        };
        active.size = active.measure()?;
        refuse_foreign(place, &active.file)?;
        active.repair(scribe, notices)?;
        active.tail = Tail::read(place, &active.file, active.size, scribe)?;
        Ok(active)
    }

    /// Says whether a line of this length would make the file too large.
    pub(crate) fn is_full_for(&self, line: &str) -> bool {
        // A process whose files may not grow to the limit rotates earlier, and goes on recording.
        let limit = self
            .options
            .limit
            .min(self.place.folder.system.size_limit());
        self.size > 0 && self.size.saturating_add(with_newline(line)) > limit
    }

    /// Seals a body as the next line.
    pub(crate) fn seal(&self, body: &str, scribe: &mut dyn Scribe) -> Result<String, StoreError> {
        let line = scribe
            .seal(body, self.tail.seq.saturating_add(1), &self.tail.hash)
            .map_err(self.scribe_error("seal"))?;
        if line.contains('\n') || line.len() > LINE_LIMIT {
            return Err(self.scribe_error("seal")(ScribeError::Broken {
                message: "`seal` gave what is no line".into(),
            }));
        }
        Ok(line)
    }

    /// Appends a sealed line. Where that fails, the file is cut back to what it was.
    pub(crate) fn write(
        &mut self,
        line: &str,
        command_id: &str,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        let path = self.place.active_path();
        if self.closed {
            return Err(StoreError::io("append to", &path)(Errno::IO.into()));
        }
        let written = self
            .write_all(line)
            .map_err(StoreError::io("append to", &path))
            .and_then(|()| self.sync(notices));
        if let Err(error) = written {
            self.cut_back();
            return Err(error);
        }
        self.size = self.size.saturating_add(with_newline(line));
        self.tail = Tail {
            seq: self.tail.seq.saturating_add(1),
            hash: digest(line.as_bytes()),
            last_id: Some(command_id.to_owned()),
        };
        Ok(())
    }

    /// Lets nothing be appended any more: the last line's pending file is still there.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// Says whether nothing may be appended any more: for that reason, or since a torn line
    /// could not be cut.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Continues with a new active file after the old one was renamed.
    pub(crate) fn start_anew(&mut self) -> Result<(), StoreError> {
        self.file = self
            .place
            .folder
            .create(&self.place.active, How::CreateAppend)?;
        self.size = 0;
        Ok(())
    }

    /// Waits until the file is on the disk, where that was asked for.
    ///
    /// After a failed sync the kernel may have forgotten what it could not write: trying again
    /// would be told that all is well. So the line counts as not written, and the store as degraded.
    pub(crate) fn sync(&self, notices: &mut Vec<Notice>) -> Result<(), StoreError> {
        if self.options.durability == Durability::Process {
            return Ok(());
        }
        let path = self.place.active_path();
        retry(|| self.place.folder.system.sync(&self.file)).map_err(|error| {
            notices.push(Notice::SyncFailed { path: path.clone() });
            StoreError::io("sync", &path)(error)
        })
    }

    fn measure(&self) -> Result<u64, StoreError> {
        let stat = self
            .place
            .folder
            .stat_file(&self.file, &self.place.active)?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Makes the file end in a newline: what was torn is cut, and still has its pending file.
    fn repair(
        &mut self,
        scribe: &mut dyn Scribe,
        notices: &mut Vec<Notice>,
    ) -> Result<(), StoreError> {
        let path = self.place.active_path();
        let system = self.place.folder.system.as_ref();
        let whole = after_last_newline(system, &self.file, self.size)
            .map_err(StoreError::io("read", &path))?;
        let torn = self.size.saturating_sub(whole);
        if torn == 0 {
            return Ok(());
        }
        // What cannot be read is not cut: a newer version may have left its file in another way.
        Tail::read(self.place, &self.file, whole, scribe)?;
        // Only the newline is missing: an editor took it, or the writer died before it.
        if torn <= bytes(LINE_LIMIT) && self.ends_whole(whole, scribe)? {
            self.write_all("")
                .map_err(StoreError::io("append to", &path))?;
            self.size = self.size.saturating_add(1);
            notices.push(Notice::TailCompleted { path });
            return Ok(());
        }
        retry(|| system.cut(&self.file, whole)).map_err(StoreError::io("cut back", &path))?;
        self.size = whole;
        notices.push(Notice::TailCut { path, bytes: torn });
        Ok(())
    }

    fn ends_whole(&self, start: u64, scribe: &mut dyn Scribe) -> Result<bool, StoreError> {
        let fragment = self.read(start, self.size)?;
        let text = String::from_utf8_lossy(&fragment);
        let path = self.place.active_path();
        let pieces = take_apart_or_skip(&text, scribe)
            .map_err(|source| StoreError::of_line("check", path, source))?;
        Ok(matches!(pieces.last(), Some(Piece::Record(..))))
    }

    fn read(&self, start: u64, end: u64) -> Result<Vec<u8>, StoreError> {
        read_range(self.place.folder.system.as_ref(), &self.file, start, end)
            .map_err(StoreError::io("read", &self.place.active_path()))
    }

    /// Writes a line and its newline, all of it or an error.
    fn write_all(&self, line: &str) -> io::Result<()> {
        let system = self.place.folder.system.as_ref();
        if self.size.saturating_add(with_newline(line)) > system.size_limit() {
            return Err(Errno::FBIG.into());
        }
        let content = format!("{line}\n").into_bytes();
        let mut written = 0;
        while let Some(rest) = content.get(written..).filter(|rest| !rest.is_empty()) {
            match retry(|| system.append(&self.file, rest))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => written = written.saturating_add(count),
            }
        }
        Ok(())
    }

    fn cut_back(&mut self) {
        let system = self.place.folder.system.as_ref();
        self.closed = retry(|| system.cut(&self.file, self.size)).is_err();
    }

    pub(crate) fn scribe_error(
        &self,
        action: &'static str,
    ) -> impl FnOnce(ScribeError) -> StoreError + use<> {
        let path = self.place.active_path();
        move |source| StoreError::Scribe {
            action,
            path,
            source,
        }
    }
}

/// What every record line begins with; a torn one begins with a part of it.
const RECORD_START: &[u8] = b"{\"schema_version\":";

/// Refuses a file that no store has begun: a wrong path in a setting must not cost its content.
pub(crate) fn refuse_foreign(place: &Place, file: &File) -> Result<(), StoreError> {
    let path = place.active_path();
    let mut first = [0; RECORD_START.len()];
    let count = retry(|| place.folder.system.read_at(file, &mut first, 0))
        .map_err(StoreError::io("read", &path))?;
    let start = first.get(..count).unwrap_or_default();
    let is_ours = match start {
        [] => true,
        // A torn block of zeros, or what an editor may have put there.
        [0 | b'\n' | 0xef, ..] => true,
        start => RECORD_START.starts_with(start),
    };
    if is_ours {
        return Ok(());
    }
    Err(StoreError::Unsafe {
        path,
        hazard: Hazard::Foreign,
    })
}

fn with_newline(line: &str) -> u64 {
    bytes(line.len()).saturating_add(1)
}
