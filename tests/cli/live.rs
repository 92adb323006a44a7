//! What a person sees of a command that runs: on a terminal only, and never a secret.

use std::time::Duration;

use rustix::process::Signal;

use crate::background::{Background, PATIENCE, eventually, line_in};
use crate::sandbox::Sandbox;
use crate::terminal::Terminal;
use crate::time::in_time;

fn on_a_terminal(sandbox: &Sandbox, arguments: &[&str]) -> Terminal {
    let mut command = sandbox.feedback();
    command.args(arguments);
    Terminal::start(command)
}

fn secret() -> String {
    ["correct", "-horse-", "battery"].concat()
}

/// Prints three lines, one with a secret from the environment; the last without a newline.
const TALKS: &str = "echo one; echo \"password=$SECRET\"; echo three >&2; printf 'and the rest'; until test -e go; do sleep 0.05; done";

#[test]
fn the_live_view_shows_time_lines_bytes_and_the_newest_line_and_is_gone_at_the_end() {
    let sandbox = Sandbox::new();
    let script = "printf 'first\\nsecond line\\n'; until test -e go; do sleep 0.05; done";
    let mut terminal = on_a_terminal(&sandbox, &["run", "--json", "--", "sh", "-c", script]);
    terminal.watch_for("2 lines");
    terminal.watch_for("18 B");
    terminal.watch_for("second line");
    terminal.watch_for("1s");
    sandbox.write("go", "");
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen}");
    let (_, after) = seen.rsplit_once("\u{1b}[2K").expect("the line was cleared");
    assert!(after.trim_start_matches('\r').starts_with('{'), "{after:?}");
    let record = after.trim();
    let kept = sandbox.records().pop().expect("a record");
    assert_eq!(record, kept.to_string(), "nothing but the record follows");
}

#[test]
fn the_live_view_is_drawn_ten_times_a_second_at_most_however_much_is_printed() {
    let sandbox = Sandbox::new();
    let argv = [
        "run",
        "--timeout",
        "2s",
        "--json",
        "--",
        "yes",
        "a line of many",
    ];
    let (_, seen) = on_a_terminal(&sandbox, &argv).end();
    let took = sandbox.records()[0]["duration_ms"]
        .as_u64()
        .expect("a number");
    let frames = u64::try_from(seen.matches(" lines").count()).expect("few");
    assert!(frames > 0, "{seen}");
    assert!(frames <= took / 100 + 3, "{frames} frames in {took} ms");
}

#[test]
fn neither_display_shows_a_secret() {
    for option in ["--json", "--tee"] {
        let sandbox = Sandbox::new();
        let secret = secret();
        let mut command = sandbox.feedback();
        command.args(["run", option, "--env"]);
        command.arg(format!("SECRET={secret}"));
        command.args(["--", "sh", "-c", TALKS]);
        let mut terminal = Terminal::start(command);
        // Which line of the two streams is the newest, and for how long, nobody can tell.
        terminal.watch_for(if option == "--tee" {
            "three"
        } else {
            "3 lines"
        });
        sandbox.write("go", "");
        let (status, seen) = terminal.end();
        assert_eq!(status.code(), Some(0), "{seen}");
        assert!(!seen.contains(&secret), "{seen}");
        assert!(seen.contains("REDACTED") || option == "--json", "{seen}");
    }
}

#[test]
fn tee_shows_whole_lines_while_the_command_runs_and_the_rest_at_its_end() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.feedback();
    command.args(["run", "--tee", "--json", "--", "sh", "-c", TALKS]);
    let mut terminal = Terminal::start(command);
    terminal.watch_for("one\r\n");
    terminal.watch_for("three\r\n");
    sandbox.write("go", "");
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen}");
    assert!(
        !seen.contains('\u{1b}'),
        "no live view beside the lines: {seen:?}"
    );
    let (lines, record) = seen.split_once('{').expect("the record");
    assert!(lines.ends_with("and the rest\r\n"), "{lines:?}");
    let kept = sandbox.records().pop().expect("a record").to_string();
    assert_eq!(format!("{{{}", record.trim_end()), kept);
}

#[test]
fn without_a_terminal_there_is_nothing_but_the_record() {
    for option in ["--json", "--tee"] {
        let sandbox = Sandbox::new();
        let script = "echo one; echo two >&2; sleep 0.5";
        let called = sandbox.call(["run", option, "--", "sh", "-c", script]);
        assert_eq!((called.status, called.stderr.as_str()), (0, ""));
        assert_eq!(called.json(), sandbox.records()[0]);
    }
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_neither_the_limits_nor_the_record() {
    for option in ["--json", "--tee"] {
        let sandbox = Sandbox::new();
        let mut runs = 0;
        in_time(|millis| {
            let timeout = format!("{millis}ms");
            let limits = ["--timeout", &timeout, "--grace", "1s", "--"];
            let command = ["yes", "a line for a terminal that nobody looks at"];
            let argv = [&["run", option], &limits[..], &command].concat();
            let terminal = on_a_terminal(&sandbox, &argv);
            runs += 1;
            eventually("there is a record", || sandbox.records().len() == runs);
            let record = sandbox.records().pop().expect("a record");
            assert_eq!(record["outcome"], "timed-out");
            let took = Duration::from_millis(record["duration_ms"].as_u64().expect("a number"));
            assert!(took < PATIENCE, "{took:?}");
            let (status, seen) = terminal.end();
            assert_eq!(status.code(), Some(124));
            let is_told = seen.contains("bytes of the output were not shown");
            assert!(!is_told || option == "--tee", "{}", seen.len());
            // On a slow machine, more is printed than the terminal and its queue hold only later.
            (is_told || option != "--tee").then_some(())
        });
    }
}

#[test]
fn each_stream_is_shown_only_where_it_goes_to_a_terminal() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.feedback();
    let file = sandbox.write("out", "");
    command.args(["run", "--tee", "--", "sh", "-c", "echo one; echo two >&2"]);
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "\"$0\" \"$@\" > out"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(sandbox.path())
        .env_remove("FEEDBACK_RECORD_FILE");
    let (status, seen) = Terminal::start(shell).end();
    assert_eq!(status.code(), Some(0), "{seen}");
    assert_eq!(seen, "two\r\n");
    let printed = std::fs::read_to_string(file).expect("the record");
    assert_eq!(printed.trim_end(), sandbox.records()[0].to_string());
}

#[test]
fn a_runner_whose_reader_has_gone_still_keeps_the_record() {
    let sandbox = Sandbox::new();
    let script = "echo $$ > pid; exec sleep 600";
    let mut runner = Background::start(&sandbox, &["run", "--", "sh", "-c", script]);
    line_in(&sandbox.path().join("pid"));
    runner.nobody_reads();
    runner.signal(Signal::INT);
    assert_eq!(runner.wait().code(), Some(128 + 2));
    assert_eq!(sandbox.records().len(), 1);
}
