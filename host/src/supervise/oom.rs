//! Looks for evidence that the out-of-memory killer was at work in the run's cgroup or the runner's.
//!
//! Where no cgroup counts memory there is no evidence, and then nothing is claimed.

use std::path::{Path, PathBuf};

use crate::tree::{Cgroup, Memberships};

/// The number of processes that the out-of-memory killer had ended when the run started.
#[derive(Debug)]
pub(super) struct OomWatch {
    events: Option<PathBuf>,
    before: u64,
}

impl OomWatch {
    /// Watches the run's own control group where it counts memory, else this process's.
    pub(super) fn start(cgroup: Option<&Cgroup>) -> Self {
        let groups = Memberships::read();
        let own = cgroup.map(Cgroup::memory_events);
        let around = groups.unified().map(|folder| folder.join("memory.events"));
        let old = groups
            .old_memory()
            .map(|folder| folder.join("memory.oom_control"));
        let mut files = [own, around, old].into_iter().flatten();
        Self::over(files.find(|file| kills(file).is_some()))
    }

    fn over(events: Option<PathBuf>) -> Self {
        let before = events.as_deref().and_then(kills).unwrap_or(0);
        Self { events, before }
    }

    /// Returns what to say of a process that SIGKILL ended, only if the number has grown.
    pub(super) fn hint(&self) -> Option<String> {
        let after = self.events.as_deref().and_then(kills)?;
        (after > self.before).then(|| {
            let count = after - self.before;
            let noun = if count == 1 { "process" } else { "processes" };
            format!("the out-of-memory killer ended {count} {noun} of this cgroup during the run")
        })
    }
}

fn kills(events: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(events).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("oom_kill "))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_grown_count_is_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.events");
        std::fs::write(&file, "low 0\noom 1\noom_kill 4\n").unwrap();
        let watch = OomWatch::over(Some(file.clone()));
        assert_eq!(watch.hint(), None);
        std::fs::write(&file, "low 0\noom 2\noom_kill 5\n").unwrap();
        assert!(watch.hint().unwrap().contains("1 process"));
    }

    #[test]
    fn a_missing_file_is_no_evidence() {
        assert_eq!(
            OomWatch::over(Some("/nonexistent/memory.events".into())).hint(),
            None
        );
    }
}
