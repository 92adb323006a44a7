//! What could not be started says why, and nothing else is run in its place.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::rig::{Driver, Trial, folder, program, puppet, word};
use feedback_host::supervise::environment;
use serde_json::json;

fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("script");
    program(&path, text.as_bytes());
    path
}

#[test]
fn a_missing_program_is_named() {
    let error = Trial::of(["no-such-program-of-feedback"])
        .run()
        .not_started("program-not-found", "ENOENT");
    assert_eq!(error, "program not found: `no-such-program-of-feedback`");
    let error = Trial::of(["/no/such/program"])
        .run()
        .not_started("program-not-found", "ENOENT");
    assert_eq!(error, "program not found: `/no/such/program`");
    Trial::of([""])
        .run()
        .not_started("program-not-found", "ENOENT");
    Trial::of(["/dev/null/x"])
        .run()
        .not_started("program-not-found", "ENOTDIR");
}

#[test]
fn a_missing_working_directory_is_named_before_the_program() {
    let error = Trial::of(["no-such-program"])
        .cwd("/no/such/folder")
        .run()
        .not_started("cwd-not-found", "ENOENT");
    assert_eq!(error, "working directory does not exist: `/no/such/folder`");
    let error = Trial::of(["true"])
        .cwd("/dev/null")
        .run()
        .not_started("cwd-not-found", "ENOTDIR");
    assert_eq!(error, "working directory is not a directory: `/dev/null`");
}

#[test]
fn a_missing_interpreter_is_told_from_a_missing_program() {
    let folder = folder();
    let path = script(folder.path(), "#! /no/such/interpreter -x\n");
    let error = Trial::of([&path])
        .run()
        .not_started("interpreter-not-found", "ENOENT");
    assert_eq!(
        error,
        format!(
            "interpreter of `{}` not found: `/no/such/interpreter`",
            path.display()
        )
    );
}

#[test]
fn a_missing_interpreter_of_an_interpreter_is_named() {
    let folder = folder();
    script(folder.path(), "#!/no/such/interpreter\n");
    // The name of the folder may have spaces in it, which end the name of an interpreter.
    program(&folder.path().join("outer"), b"#!./script\n");
    let error = Trial::of(["./outer"])
        .cwd(folder.path())
        .run()
        .not_started("interpreter-not-found", "ENOENT");
    assert!(
        error.ends_with("not found: `/no/such/interpreter`"),
        "{error}"
    );
}

#[test]
fn a_missing_loader_of_a_program_is_named() {
    let folder = folder();
    let mut content = fs::read(puppet()).unwrap();
    let name = b"/ld-linux";
    let Some(place) = place_of(&content, name) else {
        panic!("the puppet has no loader that this test knows");
    };
    content[place + 1] = b'X';
    let path = folder.path().join("script");
    program(&path, &content);
    let error = Trial::of([&path])
        .run()
        .not_started("interpreter-not-found", "ENOENT");
    assert!(
        error.starts_with("loader of `") && error.contains("/Xd-linux"),
        "{error}"
    );
}

fn place_of(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

#[test]
fn a_carriage_return_in_the_first_line_of_a_script_is_pointed_out() {
    let folder = folder();
    let path = script(folder.path(), "#!/bin/sh\r\necho hi\r\n");
    let error = Trial::of(["./script"])
        .cwd(folder.path())
        .run()
        .not_started("interpreter-not-found", "ENOENT");
    assert!(
        error.contains("`/bin/sh\\r`") && error.contains("carriage return"),
        "{error}"
    );
    Trial::of([path])
        .run()
        .not_started("interpreter-not-found", "ENOENT");
}

#[test]
fn a_file_without_the_execute_bit_may_not_be_executed() {
    let folder = folder();
    let path = script(folder.path(), "#!/bin/sh\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Trial::of([&path])
        .run()
        .not_started("not-executable", "EACCES");
    // On the PATH, where only such a file has the name.
    let found = Trial::of(["script"])
        .env("PATH", folder.path())
        .run()
        .not_started("not-executable", "EACCES");
    assert!(found.contains(word(&path)), "{found}");
}

#[test]
fn an_interpreter_that_may_not_be_executed_is_told() {
    let folder = folder();
    let path = script(folder.path(), "#!/etc/passwd\n");
    let error = Trial::of([path])
        .run()
        .not_started("not-executable", "EACCES");
    assert!(error.contains("`/etc/passwd`"), "{error}");
}

#[test]
fn a_pipe_is_no_program_and_nobody_waits_for_its_writer() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    Trial::of([
        OsString::from("mkfifo"),
        "-m".into(),
        "755".into(),
        pipe.clone().into(),
    ])
    .run()
    .exited(0);
    Trial::of([pipe])
        .run()
        .not_started("not-executable", "EACCES");
}

#[test]
fn a_directory_is_no_program() {
    let folder = folder();
    Trial::of([folder.path()])
        .run()
        .not_started("is-a-directory", "EACCES");
}

#[test]
fn a_text_without_an_interpreter_is_never_given_to_a_shell() {
    let folder = folder();
    let path = script(folder.path(), "touch was-run\n");
    Trial::of([&path])
        .cwd(folder.path())
        .run()
        .not_started("wrong-format", "ENOEXEC");
    assert!(!folder.path().join("was-run").exists());
    let empty = script(folder.path(), "");
    Trial::of([empty])
        .run()
        .not_started("wrong-format", "ENOEXEC");
}

#[test]
fn an_argument_list_that_is_too_long_is_measured() {
    let error = Trial::of(["true".to_owned(), "x".repeat(200_000)])
        .run()
        .not_started("argument-list-too-long", "E2BIG");
    assert!(error.contains("the longest has 200001 bytes"), "{error}");
    let many =
        std::iter::once("true".to_owned()).chain(std::iter::repeat_n("x".repeat(100_000), 100));
    let error = Trial::of(many)
        .run()
        .not_started("argument-list-too-long", "E2BIG");
    let total: usize = error.split(' ').find_map(|word| word.parse().ok()).unwrap();
    assert!((10_000_000..10_200_000).contains(&total), "{error}");
}

#[test]
fn what_no_process_can_be_given_is_refused() {
    let error = Trial::of(["true", "a\0b"])
        .run()
        .not_started("invalid-argument", "EINVAL");
    assert_eq!(error, "argument 1 has a NUL byte in it");
    Trial::of(["true"])
        .env("A=B", "c")
        .run()
        .not_started("invalid-argument", "EINVAL");
    Trial::of(["true"])
        .env("", "c")
        .run()
        .not_started("invalid-argument", "EINVAL");
    let error = Trial::of(["true"])
        .env("A", "secret\0")
        .run()
        .not_started("invalid-argument", "EINVAL");
    assert_eq!(
        error,
        "the environment variable `A` has a NUL byte in its value"
    );
    Trial::of(["true"])
        .cwd("/\0")
        .run()
        .not_started("invalid-argument", "EINVAL");
    Trial::of([""; 0])
        .run()
        .not_started("invalid-argument", "EINVAL");
    let mut removal = Trial::of(["true"]);
    removal.command.env.push(("A=".into(), None));
    removal.run().not_started("invalid-argument", "EINVAL");
}

#[test]
fn arguments_and_folders_that_are_not_utf_8_arrive_unchanged() {
    let odd = OsString::from_vec(b"a\xff\xfe b".to_vec());
    let done = Trial::of([OsString::from("printf"), "%s".into(), odd.clone()]).run();
    assert_eq!(done.exited(0).stdout, odd.as_bytes());
    let folder = folder();
    let cwd = folder.path().join(&odd);
    fs::create_dir(&cwd).unwrap();
    Trial::puppet(["touch", "here"]).cwd(&cwd).run().exited(0);
    assert!(cwd.join("here").exists());
}

#[test]
fn a_program_that_is_being_written_is_tried_again_and_then_reported() {
    let folder = folder();
    let path = script(folder.path(), "#!/bin/sh\n");
    // Another process, so that nothing but this test decides for how long.
    let mut writer = std::process::Command::new("sh")
        .args(["-c", "exec 3>>\"$0\"; echo open; read end"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(writer.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "open\n");
    let done = Trial::of([&path]).run();
    done.not_started("text-file-busy", "ETXTBSY");
    assert!(done.took >= Duration::from_millis(50), "{:?}", done.took);
    drop(writer.stdin.take());
    writer.wait().unwrap();
    Trial::of([&path]).run().exited(0);
}

#[test]
fn a_runner_without_descriptors_reports_it_and_starts_nothing() {
    let folder = folder();
    let file = folder.path().join("was-run");
    for files in 5..=14 {
        let files = files.to_string();
        let ending =
            Driver::start(&["--files", &files], &["touch", word(&file), "exit", "0"]).ending();
        if ending["outcome"]["kind"] == "exited" {
            assert!(file.exists());
            continue;
        }
        assert_eq!(
            ending["outcome"],
            json!({"kind": "not-started", "cause": "resource-limit", "errno": "EMFILE"}),
            "{ending}"
        );
        assert!(!file.exists());
    }
}

#[test]
fn the_path_and_the_folder_of_the_child_decide_which_program_is_run() {
    let folder = folder();
    fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(puppet(), folder.path().join("bin/thing")).unwrap();
    let run = |path: &str| {
        Trial::of(["thing", "exit", "5"])
            .cwd(folder.path())
            .env("PATH", path)
            .run()
    };
    run("/no/such:bin").exited(5);
    run("/usr/bin").not_started("program-not-found", "ENOENT");
    // An empty entry is the working directory.
    symlink(puppet(), folder.path().join("thing")).unwrap();
    run("/usr/bin:").exited(5);
    run("").exited(5);
    Trial::of(["./thing", "exit", "6"])
        .cwd(folder.path())
        .run()
        .exited(6);
}

#[test]
fn a_directory_on_the_path_does_not_hide_the_program_behind_it() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("first/thing")).unwrap();
    fs::create_dir(folder.path().join("second")).unwrap();
    symlink(puppet(), folder.path().join("second/thing")).unwrap();
    Trial::of(["thing", "exit", "5"])
        .cwd(folder.path())
        .env("PATH", "first:second")
        .run()
        .exited(5);
    Trial::of(["thing"])
        .cwd(folder.path())
        .env("PATH", "first")
        .run()
        .not_started("is-a-directory", "EACCES");
}

#[test]
fn the_environment_is_what_the_library_says_it_is() {
    let mut trial = Trial::puppet(["facts"])
        .env("ADDED", "1")
        .env("ADDED", "2")
        .env("HOME", "/nowhere");
    trial.command.env.push(("PATH".into(), None));
    trial.command.run_id = Some("the-run".to_owned());
    let expected = environment(&trial.command);
    let text = trial.run().text();
    let seen: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("env "))
        .collect();
    let said: Vec<_> = expected
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    assert_eq!(seen, said);
    assert!(seen.contains(&"ADDED=2") && seen.contains(&"FEEDBACK_RUN_ID=the-run"));
    assert!(!seen.iter().any(|variable| variable.starts_with("PATH=")));
}

#[test]
fn an_environment_can_be_started_from_nothing() {
    let mut trial = Trial::puppet(["facts"]).env("ONLY", "1");
    trial.command.env_clear = true;
    let text = trial.run().text();
    let seen: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("env "))
        .collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].starts_with("FEEDBACK_RUN_ID=") && seen[1] == "ONLY=1");
}

#[test]
fn the_child_gets_three_descriptors_a_session_no_terminal_and_default_signals() {
    let folder = folder();
    // A descriptor without the close-on-exec mark, as a careless library leaves it.
    let leak = File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let text = Trial::puppet(["facts"]).cwd(folder.path()).run().text();
    assert!(text.contains("fds: [\"0\", \"1\", \"2\"]\n"), "{text}");
    assert!(
        text.contains("leads its session: true\nterminal: false\n"),
        "{text}"
    );
    assert!(
        text.contains(&format!(
            "cwd: {}\n",
            folder.path().canonicalize().unwrap().display()
        )),
        "{text}"
    );
    assert!(text.contains("parent death signal: Some(9)\n"), "{text}");
    assert!(text.contains("SigBlk:\t0000000000000000\n"), "{text}");
    // The puppet's own runtime ignores SIGPIPE.
    assert!(text.contains("SigIgn:\t0000000000001000\n"), "{text}");
}
