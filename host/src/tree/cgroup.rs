//! A control group of a run's own, where one can be made: nothing that a command starts leaves it
//! by forking, leaving its session or clearing its environment, and all of it ends at one stroke.
//!
//! It needs version 2 of the system's control groups and a folder that this process may write. It
//! sets no limit, and it is never an error that none can be made.

mod place;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::entry::Entry;

pub(crate) use place::{Memberships, own_folder};

/// What the name of every run's group begins with.
const PREFIX: &str = "feedback-run-";
/// How deep below a run's group further groups are looked for: those of runs within the run.
const DEEPEST: usize = 16;
/// How often a group without `cgroup.kill` is emptied process by process.
const ROUNDS: usize = 8;

/// A control group for one run. Removed when dropped, unless something still lives in it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    entrance: File,
}

impl Cgroup {
    /// Makes one below this process's own, where that is possible and changes nothing for the
    /// command.
    pub(crate) fn make() -> Option<Self> {
        Self::make_in(&own_folder()?)
    }

    /// Makes one in `parent`, and removes what runners that have died left there.
    fn make_in(parent: &Path) -> Option<Self> {
        if limits_something(parent) {
            return None;
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let runner = Runner::this()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{runner}-{count}"));
        fs::create_dir(&folder).ok()?;
        sweep_remains(parent, &runner);
        match OpenOptions::new()
            .write(true)
            .open(folder.join("cgroup.procs"))
        {
            Ok(entrance) => Some(Self { folder, entrance }),
            Err(_) => {
                // No control group, or one of a kind that takes no process.
                let _ = fs::remove_dir(&folder);
                None
            }
        }
    }

    /// Where a process that writes `0` becomes a member.
    pub(crate) fn entrance(&self) -> BorrowedFd<'_> {
        self.entrance.as_fd()
    }

    /// Where the system counts what it does to the memory of the members.
    pub(crate) fn memory_events(&self) -> PathBuf {
        self.folder.join("memory.events")
    }

    /// Returns the members, those of groups below too.
    pub(super) fn pids(&self) -> Vec<i32> {
        folders(&self.folder)
            .iter()
            .flat_map(|folder| pids(folder))
            .collect()
    }

    /// Kills every member, also one that is just being forked.
    pub(super) fn kill(&self) {
        if write(&self.folder.join("cgroup.kill"), "1").is_ok() {
            return;
        }
        // An older system: nothing forks while the group is frozen, and SIGKILL reaches it.
        let freezer = self.folder.join("cgroup.freeze");
        let _ = write(&freezer, "1");
        for _ in 0..ROUNDS {
            let pids = self.pids();
            if pids.is_empty() {
                break;
            }
            for pid in pids.into_iter().filter_map(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        let _ = write(&freezer, "0");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Says whether the group carries a limit of its own. A command in a group below would look for
/// it in vain at the place where programs look for their limits first.
fn limits_something(group: &Path) -> bool {
    ["memory.max", "memory.high", "cpu.max"].iter().any(|name| {
        let limit = fs::read_to_string(group.join(name)).unwrap_or_default();
        !limit.is_empty() && !limit.starts_with("max")
    })
}

/// Returns a group and those below it, the deepest first.
fn folders(group: &Path) -> Vec<PathBuf> {
    fn collect(group: &Path, depth: usize, all: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(group).into_iter().flatten().flatten();
        for entry in entries {
            if depth < DEEPEST && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                collect(&entry.path(), depth + 1, all);
            }
        }
        all.push(group.to_path_buf());
    }
    let mut all = Vec::new();
    collect(group, 0, &mut all);
    all
}

fn pids(group: &Path) -> Vec<i32> {
    let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Removes a group with the empty ones below it. The system refuses where a process lives.
fn remove(group: &Path) {
    for folder in folders(group) {
        let _ = fs::remove_dir(folder);
    }
}

/// Removes the groups in which nothing lives and whose runners are dead.
fn sweep_remains(parent: &Path, this: &Runner) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| Runner::of(name.strip_prefix(PREFIX)?));
        if owner.is_some_and(|owner| owner.space == this.space && !owner.is_alive()) {
            remove(&entry.path());
        }
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    // Not created where it is missing.
    io::Write::write_all(
        &mut OpenOptions::new().write(true).open(file)?,
        text.as_bytes(),
    )
}

/// Who made a group: a process, for good.
#[derive(Debug, PartialEq, Eq)]
struct Runner {
    /// The space of process ids in which the number means something.
    space: u64,
    pid: i32,
    started: u64,
}

impl Runner {
    fn this() -> Option<Self> {
        let pid = getpid().as_raw_pid();
        let space = fs::read_link("/proc/self/ns/pid").ok()?;
        let digits = space.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
        Some(Self {
            space: digits.parse().ok()?,
            pid,
            started: Entry::read(pid)?.started,
        })
    }

    /// Reads `space-pid-started`, whatever follows.
    fn of(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        Some(Self {
            space: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
        })
    }

    fn is_alive(&self) -> bool {
        Entry::read(self.pid).is_some_and(|entry| entry.started == self.started)
    }
}

impl std::fmt::Display for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.space, self.pid, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a control group from which an older system's files are missing.
    fn group() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_folder_that_is_no_control_group_makes_none_and_is_left_as_it_was() {
        let parent = group();
        assert!(Cgroup::make_in(parent.path()).is_none());
        assert!(Cgroup::make_in(Path::new("/nonexistent")).is_none());
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn no_group_is_made_below_one_that_has_a_limit() {
        let parent = group();
        fs::write(parent.path().join("memory.max"), "max\n").unwrap();
        fs::write(parent.path().join("cpu.max"), "max 100000\n").unwrap();
        assert!(!limits_something(parent.path()));
        fs::write(parent.path().join("memory.max"), "1048576\n").unwrap();
        assert!(limits_something(parent.path()));
    }

    #[test]
    fn only_what_dead_runners_left_is_removed() {
        let parent = group();
        let this = Runner::this().unwrap();
        let dead = format!("{PREFIX}{}-{}-{}-0", this.space, this.pid, this.started + 1);
        let keep = [
            format!("{PREFIX}{this}-7"),
            format!("{PREFIX}{}-{}-1-0", this.space + 1, this.pid),
            "feedback-run-of-somebody".to_owned(),
            "other".to_owned(),
        ];
        for name in keep.iter().chain([&dead]) {
            fs::create_dir_all(parent.path().join(name)).unwrap();
        }
        fs::create_dir(parent.path().join(&dead).join("inner")).unwrap();
        sweep_remains(parent.path(), &this);
        let mut left = names(parent.path());
        left.sort();
        let mut keep = keep.to_vec();
        keep.sort();
        assert_eq!(left, keep);
    }

    #[test]
    fn members_of_groups_below_count_and_without_a_switch_each_is_killed() {
        let parent = group();
        let mut sleep = std::process::Command::new("sleep");
        let mut child = crate::forks::start(|| sleep.arg("600").spawn()).unwrap();
        let folder = parent.path().join("run");
        let inner = folder.join("inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(folder.join("cgroup.procs"), "").unwrap();
        fs::write(inner.join("cgroup.procs"), format!("{}\n", child.id())).unwrap();
        let entrance = File::create(folder.join("other")).unwrap();
        let group = Cgroup { folder, entrance };
        assert_eq!(group.pids(), [i32::try_from(child.id()).unwrap()]);
        group.kill();
        assert!(!child.wait().unwrap().success());
    }
}
