//! Looks for evidence that the out-of-memory killer was at work in the runner's cgroup.
//!
//! Without a cgroup of version 2 there is no evidence, and then nothing is claimed.

use std::path::{Path, PathBuf};

/// The number of processes that the out-of-memory killer had ended when the run started.
#[derive(Debug)]
pub(super) struct OomWatch {
    events: Option<PathBuf>,
    before: u64,
}

impl OomWatch {
    pub(super) fn start() -> Self {
        let memberships = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::over(events_file(&memberships, Path::new("/sys/fs/cgroup")))
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
            format!(
                "the out-of-memory killer ended {count} process(es) of this cgroup during the run"
            )
        })
    }
}

fn events_file(memberships: &str, root: &Path) -> Option<PathBuf> {
    let path = memberships
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))?;
    Some(root.join(path).join("memory.events"))
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
        assert_eq!(events_file("4:memory:/x\n", Path::new("/r")), None);
        assert_eq!(
            events_file("0::/x\n", Path::new("/r")),
            Some("/r/x/memory.events".into())
        );
    }
}
