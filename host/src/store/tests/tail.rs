//! Damage at the end of the active file, and elsewhere.

use super::bench::Bench;
use super::scribe::{Native, body, intent};
use crate::reader::Entry;
use crate::store::{Checked, Identity, Notice, Scribe, ScribeError};

fn damaged(bench: &Bench) -> usize {
    bench
        .entries()
        .iter()
        .filter(|entry| matches!(entry, Entry::Damaged { .. }))
        .count()
}

#[test]
fn a_tail_cut_at_any_byte_keeps_what_is_whole() {
    let bench = Bench::new();
    bench.record("one");
    let one = bench.content().len();
    bench.record("two");
    let content = bench.content();
    for end in 0..=content.len() {
        std::fs::write(bench.path(), &content[..end]).unwrap();
        let kept = if end >= content.len() - 1 {
            2
        } else {
            usize::from(end >= one - 1)
        };
        let appended = bench.record("next");
        let expected = &["one", "two"][..kept];
        let ids = bench.ids();
        assert_eq!(ids[..ids.len() - 1], *expected, "cut at {end}");
        assert_eq!(
            appended.seq,
            u64::try_from(kept).unwrap() + 1,
            "cut at {end}"
        );
        assert_eq!(bench.verify().damages, [], "cut at {end}");
    }
}

#[test]
fn zeros_behind_the_last_line_are_cut() {
    for zeros in [1_u64, 4096] {
        let bench = Bench::new();
        bench.record("one");
        let mut content = bench.content();
        content.extend(vec![0; usize::try_from(zeros).unwrap()]);
        std::fs::write(bench.path(), content).unwrap();
        let appended = bench.record("two");
        assert!(matches!(appended.notices[0], Notice::TailCut { bytes, .. } if bytes == zeros));
        assert_eq!(bench.ids(), ["one", "two"]);
        assert_eq!(bench.verify().damages, []);
    }
}

#[test]
fn a_file_of_zeros_becomes_an_empty_store() {
    let bench = Bench::new();
    std::fs::write(bench.path(), vec![0; 100]).unwrap();
    chmod_600(&bench);
    assert_eq!(bench.record("one").seq, 1);
}

#[test]
fn an_unfinished_line_that_no_open_run_accounts_for_is_damage_and_is_not_touched() {
    let bench = Bench::new();
    bench.record("one");
    let mut content = bench.content();
    content.extend(b"{\"schema_version\":\"1.0\",\"comm");
    std::fs::write(bench.path(), &content).unwrap();
    assert_eq!(bench.entries().len(), 1);
    let [damage] = &bench.verify().damages[..] else {
        panic!("{:?}", bench.verify().damages);
    };
    assert_eq!((damage.line, damage.undecided), (2, false));
    assert!(damage.what.contains("ends without a newline: 29 bytes"));
    assert_eq!(bench.content(), content);
}

#[test]
fn a_record_behind_a_torn_fragment_is_read_and_the_fragment_is_reported() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("two");
    let content = String::from_utf8(bench.content()).unwrap();
    let (one, two) = content.split_once('\n').unwrap();
    let glued = format!("{one}\n{}{two}", one.get(..50).unwrap());
    std::fs::write(bench.path(), glued).unwrap();
    let entries = bench.entries();
    assert_eq!(entries.len(), 3);
    assert!(matches!(&entries[1], Entry::Damaged { line_no: 2, .. }));
    assert!(
        matches!(&entries[2], Entry::Line { line_no: 2, checked, .. } if checked.command_id == "two")
    );
    assert_eq!(bench.verify().damages.len(), 1);
}

#[test]
fn a_fragment_torn_within_a_character_hides_no_record() {
    let bench = Bench::new();
    bench.record("one");
    let mut content = "{\"schema_version\":\"1.0\",\"note\":\"é"
        .as_bytes()
        .to_vec();
    content.pop();
    content.extend(bench.content());
    std::fs::write(bench.path(), content).unwrap();
    assert_eq!(bench.entries().len(), 2);
    assert_eq!(damaged(&bench), 1);
    assert_eq!(bench.record("two").seq, 2);
}

#[test]
fn two_records_on_one_line_are_both_read() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("two");
    let glued = String::from_utf8(bench.content())
        .unwrap()
        .replacen('\n', "", 1);
    std::fs::write(bench.path(), glued).unwrap();
    assert_eq!(bench.entries().len(), 2);
    assert_eq!(bench.record("three").seq, 3);
}

#[test]
fn a_bad_line_is_reported_and_the_rest_is_read() {
    let bench = Bench::new();
    for id in ["one", "two", "three"] {
        bench.record(id);
    }
    let content = String::from_utf8(bench.content()).unwrap();
    std::fs::write(bench.path(), content.replace("\"two\"", "\"TWO\"")).unwrap();
    assert_eq!(bench.entries().len(), 3);
    assert_eq!(damaged(&bench), 1);
    assert_eq!(bench.record("four").seq, 4);
    let found = bench.verify();
    assert_eq!(found.damages.len(), 1, "{:?}", found.damages);
    assert_eq!(found.damages[0].line, 2);
}

#[test]
fn carriage_returns_and_a_byte_order_mark_cost_no_record() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("two");
    let content = String::from_utf8(bench.content()).unwrap();
    let edited = format!("\u{feff}{}", content.replace('\n', "\r\n"));
    std::fs::write(bench.path(), edited).unwrap();
    let lines = bench.entries().len() - damaged(&bench);
    assert_eq!(lines, 2);
    assert!(damaged(&bench) >= 3);
    assert_eq!(bench.record("three").seq, 3);
}

#[test]
fn a_removed_line_is_found() {
    let bench = Bench::new();
    for id in ["one", "two", "three"] {
        bench.record(id);
    }
    let content = String::from_utf8(bench.content()).unwrap();
    for gone in 0..2 {
        let mut lines: Vec<&str> = content.lines().collect();
        lines.remove(gone);
        std::fs::write(bench.path(), lines.join("\n") + "\n").unwrap();
        let found = bench.verify();
        assert_eq!(found.damages.len(), 1, "{:?}", found.damages);
        assert!(found.damages[0].what.contains("missing"));
    }
}

#[test]
fn a_resealed_line_breaks_the_chain() {
    let bench = Bench::new();
    for id in ["one", "two", "three"] {
        bench.record(id);
    }
    let content = String::from_utf8(bench.content()).unwrap();
    let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
    let prev = crate::store::lines::digest(lines[0].as_bytes());
    lines[1] = Native.seal(&body("two", "forged", 1), 2, &prev).unwrap();
    std::fs::write(bench.path(), lines.join("\n") + "\n").unwrap();
    let found = bench.verify();
    assert_eq!(found.damages.len(), 1);
    assert_eq!(found.damages[0].line, 3);
}

#[test]
fn a_record_that_is_there_twice_is_read_once() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("two");
    bench.leave_waiting("one");
    bench.store().recover(&mut Native).unwrap();
    assert_eq!(bench.count("one"), 2);
    assert_eq!(bench.entries().len(), 2);
    let found = bench.verify();
    assert!(found.is_sound());
    assert_eq!(found.doubled, 1);
}

#[test]
fn an_id_that_is_there_twice_with_other_words_is_damage() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("two");
    bench.leave_died("one");
    bench.store().recover(&mut Native).unwrap();
    assert_eq!(bench.count("one"), 2);
    let found = bench.verify();
    assert_eq!(found.doubled, 0);
    assert_eq!(found.damages.len(), 1);
    assert_eq!(found.damages[0].line, 3);
}

#[test]
fn an_unreadable_pending_file_is_set_aside_and_told() {
    let bench = Bench::new();
    bench.leave_died("broken");
    std::fs::write(bench.pending().join("broken.open"), "\0\0\0").unwrap();
    let recovered = bench.store().recover(&mut Native).unwrap();
    assert!(matches!(recovered.notices[..], [Notice::SetAside { .. }]));
    assert_eq!(bench.pending_names(), ["broken.damaged"]);
    assert!(!bench.verify().is_sound());
}

#[test]
fn a_pending_file_that_cannot_be_used_stops_no_other_record() {
    let bench = Bench::new();
    bench.record("one");
    bench.leave_waiting("waiting");
    std::fs::create_dir(bench.pending().join("a-folder.open")).unwrap();
    let appended = bench.record("two");
    assert_eq!(bench.ids(), ["one", "waiting", "two"]);
    let told = |notice: &Notice| matches!(notice, Notice::NotRecovered { .. });
    assert!(appended.notices.iter().any(told));
}

#[test]
fn an_open_run_whose_intent_is_gone_is_listed_all_the_same() {
    let bench = Bench::new();
    bench.leave_died("broken");
    std::fs::write(bench.pending().join("broken.open"), "").unwrap();
    let runs = bench.verify().open_runs;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].intent, "");
}

#[test]
fn what_an_unlucky_beginning_left_behind_is_cleaned() {
    let bench = Bench::new();
    bench.record("one");
    let left = bench.pending().join("two.tmp");
    std::fs::write(&left, "{").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&left, mode).unwrap();
    bench.record("two");
    assert!(bench.pending_names().is_empty());
    assert_eq!(bench.ids(), ["one", "two"]);
}

/// A component that one line stops, or that does not answer at all.
struct Brittle {
    answers: bool,
}

impl Brittle {
    fn stopped() -> ScribeError {
        ScribeError::Broken {
            message: "trapped".into(),
        }
    }
}

impl Scribe for Brittle {
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError> {
        Native.seal(body, seq, prev)
    }

    fn check(&mut self, line: &str) -> Result<Checked, ScribeError> {
        if !self.answers || line.contains("\"poison\"") {
            return Err(Self::stopped());
        }
        Native.check(line)
    }

    fn identify(&mut self, document: &str) -> Result<Identity, ScribeError> {
        Native.identify(document)
    }

    fn recover(&mut self, intent: &str) -> Result<String, ScribeError> {
        Native.recover(intent)
    }

    fn note_drop(&mut self, facts: &str) -> Result<String, ScribeError> {
        Native.note_drop(facts)
    }
}

#[test]
fn a_line_that_stops_the_component_costs_no_other_record() {
    let bench = Bench::new();
    bench.record("one");
    bench.record("poison");
    let store = bench.store();
    let run = store.begin("two", &intent("two")).unwrap();
    let appended = store
        .finish(
            run,
            &body("two", "exited", 1),
            &mut Brittle { answers: true },
        )
        .unwrap();
    assert_eq!(appended.seq, 3);
    assert_eq!(bench.verify().damages, []);
}

#[test]
fn a_component_that_does_not_answer_cuts_nothing() {
    let bench = Bench::new();
    bench.record("one");
    let mut content = bench.content();
    content.pop();
    std::fs::write(bench.path(), &content).unwrap();
    let store = bench.store();
    let run = store.begin("two", &intent("two")).unwrap();
    let error = store
        .finish(
            run,
            &body("two", "exited", 1),
            &mut Brittle { answers: false },
        )
        .unwrap_err();
    assert!(error.waits);
    assert_eq!(bench.content(), content);
    bench.record("three");
    assert_eq!(bench.ids(), ["one", "two", "three"]);
}

fn chmod_600(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(bench.path(), mode).unwrap();
}
