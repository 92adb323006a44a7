//! Where this process's own control group is in the file system.
//!
//! It reads two lists of the system and makes nothing.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The lists of this process's control groups and of the mounted file systems.
#[derive(Debug)]
pub(crate) struct Memberships {
    groups: String,
    mounts: String,
}

/// Returns the folder of this process's own group of version 2.
pub(crate) fn own_folder() -> Option<PathBuf> {
    Memberships::read().unified()
}

impl Memberships {
    /// Reads both; empty lists where there are none.
    pub(crate) fn read() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self {
            groups: read("/proc/self/cgroup"),
            mounts: read("/proc/self/mountinfo"),
        }
    }

    /// Returns the folder of the group of version 2.
    pub(crate) fn unified(&self) -> Option<PathBuf> {
        let group = self
            .groups
            .lines()
            .find_map(|line| line.strip_prefix("0::"))?;
        self.folder(group, |kind, _| kind == "cgroup2")
    }

    /// Returns the folder of the group that counts memory, where that is one of version 1.
    pub(crate) fn old_memory(&self) -> Option<PathBuf> {
        let group = self.groups.lines().find_map(|line| {
            let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
            controllers
                .split(',')
                .any(|name| name == "memory")
                .then_some(group)
        })?;
        self.folder(group, |kind, options| {
            kind == "cgroup" && options.split(',').any(|name| name == "memory")
        })
    }

    /// Returns where `group` is below a mounted file system that is wanted.
    fn folder(&self, group: &str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
        let group = Path::new(group);
        // A group outside of what this process may see is named with steps upward.
        if group.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        self.mounts.lines().find_map(|line| {
            let (place, about) = line.split_once(" - ")?;
            let mut about = about.split(' ');
            let (kind, options) = (about.next()?, about.nth(1)?);
            let mut place = place.split(' ').skip(3);
            let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
            let below = group.strip_prefix(&root).ok()?;
            is_wanted(kind, options).then(|| point.join(below))
        })
    }
}

/// Returns a path of the list of mounts, in which blanks are octal numbers.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let number = (*first == b'\\')
            .then(|| std::str::from_utf8(after.get(..3)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(number.unwrap_or(*first));
        rest = match number {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(groups: &str, mounts: &str) -> Memberships {
        Memberships {
            groups: groups.to_owned(),
            mounts: mounts.to_owned(),
        }
    }

    #[test]
    fn the_folder_is_found_for_every_way_of_mounting() {
        let found = |groups, mounts| of(groups, mounts).unified();
        let whole = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        assert_eq!(
            found("0::/user.slice/a\n", whole),
            Some("/sys/fs/cgroup/user.slice/a".into())
        );
        assert_eq!(found("0::/\n", whole), Some("/sys/fs/cgroup".into()));
        let hybrid = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(
            found("1:cpu:/\n0::/x\n", hybrid),
            Some("/sys/fs/cgroup/unified/x".into())
        );
        let bound = "41 31 0:38 /docker/1 /c\\040g rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found("0::/docker/1/x\n", bound), Some("/c g/x".into()));
        assert_eq!(found("0::/other\n", bound), None);
        assert_eq!(found("0::/../outside\n", whole), None);
        assert_eq!(found("4:memory:/x\n", whole), None);
        assert_eq!(
            found("0::/x\n", "36 25 0:31 / /tmp rw - tmpfs tmpfs rw\n"),
            None
        );
    }

    #[test]
    fn the_older_counter_of_memory_has_a_place_of_its_own() {
        let mounts =
            "1 2 0:3 / /m rw - cgroup cgroup rw,memory\n1 2 0:4 / /c rw - cgroup cgroup rw,cpu\n";
        assert_eq!(
            of("5:cpu:/x\n4:memory:/y\n", mounts).old_memory(),
            Some("/m/y".into())
        );
        assert_eq!(
            of("4:memory,hugetlb:/y\n", mounts).old_memory(),
            Some("/m/y".into())
        );
        assert_eq!(of("0::/y\n", mounts).old_memory(), None);
    }
}
