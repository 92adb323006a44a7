//! What is found and digested, and what is refused.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use std::ffi::OsStr;

use super::*;
use crate::forks;

fn look(folder: &Path, patterns: &[&str], record_file: &Path) -> Result<Sight, InputsError> {
    let asks_git = patterns.contains(&"git");
    let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
    let look = || Ok(Inputs::new(folder, record_file).look(&patterns)?.sight);
    if asks_git { forks::start(look) } else { look() }
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, content).expect("a file");
    }

    fn try_look(&self, patterns: &[&str]) -> Result<Sight, InputsError> {
        look(self.0.path(), patterns, &self.path("feedback_record.jsonl"))
    }

    fn look(&self, patterns: &[&str]) -> Sight {
        self.try_look(patterns).expect("they can be digested")
    }

    fn files(&self, patterns: &[&str]) -> u64 {
        self.look(patterns).files
    }

    fn refused(&self, patterns: &[&str]) -> String {
        self.try_look(patterns).expect_err("refused").to_string()
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(arguments)
            .current_dir(self.0.path())
            // A hook of git sets these; a user's own settings may sign commits.
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let done = forks::start(|| command.output()).expect("git runs");
        assert!(done.status.success(), "{done:?}");
    }

    /// Makes files so old that their times tell them apart from what comes.
    fn age(&self, name: &str) {
        let file = OpenOptions::new()
            .write(true)
            .open(self.path(name))
            .expect("a file");
        let before = SystemTime::now() - Duration::from_secs(3_600);
        file.set_modified(before).expect("a time");
    }
}

#[test]
fn a_digest_changes_with_content_name_mode_and_deletion_and_with_nothing_else() {
    let folder = Folder::new();
    folder.write("a", "1");
    folder.write("b", "2");
    let first = folder.look(&["."]).digest;
    assert_eq!(folder.look(&["."]).digest, first);
    folder.age("a");
    assert_eq!(folder.look(&["."]).digest, first, "times are not in it");

    folder.write("a", "9");
    let changed = folder.look(&["."]).digest;
    assert_ne!(changed, first);
    folder.write("a", "1");
    assert_eq!(folder.look(&["."]).digest, first, "back to what it was");
    fs::set_permissions(folder.path("a"), Permissions::from_mode(0o755)).expect("a mode");
    assert_ne!(folder.look(&["."]).digest, first);
    fs::set_permissions(folder.path("a"), Permissions::from_mode(0o600)).expect("a mode");
    assert_eq!(
        folder.look(&["."]).digest,
        first,
        "only being executable counts"
    );
    fs::rename(folder.path("a"), folder.path("c")).expect("a new name");
    assert_ne!(folder.look(&["."]).digest, first);
    fs::rename(folder.path("c"), folder.path("a")).expect("the old name");
    fs::remove_file(folder.path("b")).expect("removed");
    assert_ne!(folder.look(&["."]).digest, first);
}

#[test]
fn the_digest_is_what_its_description_says() {
    let folder = Folder::new();
    folder.write("a", "content");
    let mut described = b"feedback inputs 1\nf".to_vec();
    described.extend(1_u64.to_le_bytes());
    described.extend(b"a");
    described.extend(Sha256::digest(b"content"));
    let wanted = crate::digest::hex(&Sha256::digest(described));
    assert_eq!(folder.look(&["a"]).digest, format!("sha256:{wanted}"));
}

#[test]
fn a_change_that_keeps_size_and_times_is_seen_where_the_clock_cannot_tell() {
    let folder = Folder::new();
    for round in 0..50 {
        folder.write("a", &format!("{round:04}"));
        let digest = folder.look(&["a"]).digest;
        folder.write("a", &format!("{:04}", round + 1));
        assert_ne!(folder.look(&["a"]).digest, digest, "{round}");
    }
}

#[test]
fn what_is_old_is_known_from_the_cache_and_a_broken_cache_is_none() {
    let folder = Folder::new();
    folder.write("a", "1");
    let about = fs::metadata(folder.path("a")).expect("a file");
    let cache_file = folder.path("feedback_record.jsonl.inputs");
    let record_file = folder.path("feedback_record.jsonl");
    let known = Item {
        path: "a".into(),
        kind: content::Kind::File,
        content: [7; 32],
        changed: SystemTime::now(),
        stamp: Some(cache::Stamp::of(&about)),
    };
    let honest = folder.look(&["a"]).digest;
    Cache::open(&record_file).learn(&[known]);
    assert_ne!(
        folder.look(&["a"]).digest,
        honest,
        "what the cache says is taken"
    );
    let whole = fs::read(&cache_file).expect("a cache");
    for broken in [
        &whole[..whole.len() - 1],
        &whole[1..],
        b"",
        b"feedback inputs cache 1\n",
    ] {
        fs::write(&cache_file, broken).expect("written");
        assert_eq!(folder.look(&["a"]).digest, honest);
    }
    let mode = fs::metadata(&cache_file)
        .expect("a cache")
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0, "it is nobody else's to read");
}

#[test]
fn patterns_name_files_folders_and_what_is_left_out() {
    let folder = Folder::new();
    for name in [
        "a.rs",
        "src/b.rs",
        "src/deep/c.rs",
        "src/deep/d.txt",
        "target/e.rs",
        ".hidden/f.rs",
    ] {
        folder.write(name, name);
    }
    for (patterns, wanted) in [
        (&["."][..], 6),
        (&["**"], 6),
        (&["*.rs"], 1),
        (&["**/*.rs"], 5),
        (&["src"], 3),
        (&["src/"], 3),
        (&["./src/*"], 3),
        (&["src/*.rs"], 1),
        (&["src/**/*.{rs,txt}"], 3),
        (&["src/deep/[cd].*"], 2),
        (&["src/deep/[c].*"], 1),
        (&["**/*.rs", "!target", "!.hidden/**"], 3),
        (&["src", "src/b.rs", "a.rs"], 4),
        (&["s?c/deep/c.rs"], 1),
    ] {
        assert_eq!(folder.files(patterns), wanted, "{patterns:?}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_or_is_none_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("a", "");
    // No repository, even where the folder for temporary files is in one.
    folder.write(".git", "gitdir: nowhere\n");
    for (patterns, words) in [
        (&["a", "lib/**"][..], "`lib/**`: no file in"),
        (&["*", "!a"], "no file in"),
        (&["[a"], "`[a`"),
        (&["a/b"], "`a/b`"),
        (&["git"], "is in no git repository"),
    ] {
        let said = folder.refused(patterns);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn the_store_and_git_itself_are_never_inputs() {
    let folder = Folder::new();
    for name in [
        "a",
        "feedback_record.jsonl",
        "feedback_record.jsonl.1",
        "feedback_record.jsonl.lock",
        "feedback_record.jsonl.pending/x",
        "feedback_record.jsonl.inputs",
        ".git/HEAD",
        "sub/.git",
    ] {
        folder.write(name, name);
    }
    assert_eq!(folder.files(&["."]), 1);
    folder.write(
        "sub/feedback_record.jsonl",
        "another folder is another store",
    );
    folder.write("feedback_record.jsonlines", "another name");
    assert_eq!(folder.files(&["**"]), 3);
}

#[test]
fn links_are_their_target_and_what_is_no_file_is_never_opened() {
    let folder = Folder::new();
    symlink("nowhere", folder.path("link")).expect("a link");
    symlink(".", folder.path("loop")).expect("a link");
    let made = forks::start(|| Command::new("mkfifo").arg(folder.path("pipe")).status());
    assert!(made.expect("mkfifo").success());
    let _socket = UnixListener::bind(folder.path("socket")).expect("a socket");
    let first = folder.look(&["."]);
    assert_eq!(first.files, 4);
    fs::remove_file(folder.path("link")).expect("removed");
    symlink("elsewhere", folder.path("link")).expect("a link");
    assert_ne!(folder.look(&["."]).digest, first.digest);
}

#[test]
fn names_of_any_bytes_are_files_like_others() {
    let folder = Folder::new();
    folder.git(&["init", "-q"]);
    for name in [
        &b"new\nline"[..],
        b"\xff\xfe",
        b" ",
        b"-x",
        b"*",
        "é".as_bytes(),
    ] {
        fs::write(folder.0.path().join(OsStr::from_bytes(name)), "x").expect("a file");
    }
    assert_eq!(folder.files(&["."]), 6);
    assert_eq!(folder.files(&["git"]), 6);
    assert_eq!(folder.files(&["\\*"]), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = Folder::new();
    folder.write("fine", "");
    folder.write("closed/file", "");
    symlink("/proc/self/mem", folder.path("mem")).expect("a link is no reading");
    fs::set_permissions(folder.path("closed"), Permissions::from_mode(0o0)).expect("a mode");
    let said = folder.try_look(&["."]);
    fs::set_permissions(folder.path("closed"), Permissions::from_mode(0o700)).expect("a mode");
    // The superuser reads everything.
    if rustix::process::geteuid().is_root() {
        assert_eq!(said.expect("root reads it").files, 3);
    } else {
        assert!(said.expect_err("closed").to_string().contains("closed"));
    }
}

#[test]
fn git_names_what_it_tracks_or_would_add_and_follows_submodules() {
    let inner = Folder::new();
    inner.git(&["init", "-q"]);
    inner.write("lib.c", "1");
    inner.git(&["add", "."]);
    inner.git(&["commit", "-qm", "x"]);
    let folder = Folder::new();
    folder.git(&["init", "-q"]);
    folder.write(".gitignore", "ignored\n");
    folder.write("ignored", "");
    folder.write("tracked", "1");
    folder.git(&["add", "."]);
    folder.write("untracked", "1");
    assert_eq!(folder.files(&["git"]), 3);
    assert_eq!(folder.files(&["git", "ignored"]), 4);
    assert_eq!(folder.files(&["git", "!untracked"]), 2);

    let digest = folder.look(&["git"]).digest;
    fs::remove_file(folder.path("tracked")).expect("removed");
    assert_eq!(folder.files(&["git"]), 2, "what is deleted is not there");
    folder.write("tracked", "1");
    assert_eq!(folder.look(&["git"]).digest, digest);
    folder.git(&["commit", "-qm", "x"]);
    assert_eq!(
        folder.look(&["git"]).digest,
        digest,
        "a commit changes no file"
    );

    let path = inner.0.path().display().to_string();
    folder.git(&["submodule", "-q", "add", &path, "sub"]);
    assert_eq!(
        folder.files(&["git"]),
        5,
        "with .gitmodules and what is in the submodule"
    );
    let before = folder.look(&["git"]).digest;
    folder.write("sub/lib.c", "2");
    assert_ne!(folder.look(&["git"]).digest, before);
    let records = folder.path("feedback_record.jsonl");
    let here = look(&folder.path("sub"), &["git"], &records);
    assert_eq!(here.expect("below").files, 1);
}

#[test]
fn the_newest_files_are_told() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.write(name, name);
    }
    let before = SystemTime::now();
    while SystemTime::now() <= before + Duration::from_millis(20) {
        let file = OpenOptions::new().append(true).open(folder.path("b"));
        file.expect("a file").write_all(b"more").expect("written");
    }
    assert_eq!(folder.look(&["."]).newest[0].0, Path::new("b"));
}

#[test]
fn files_that_come_and_go_while_they_are_read_break_nothing() {
    let folder = Folder::new();
    folder.write("stays", "");
    let path = folder.path("comes_and_goes");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(&path, "x").expect("a file");
                fs::remove_file(&path).expect("removed");
            }
        });
        for _ in 0..300 {
            let files = folder.files(&["."]);
            assert!((1..=2).contains(&files));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
