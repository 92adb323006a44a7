//! A store whose newest record belongs to a schema that this component does not know.

use super::bench::Bench;
use super::scribe::{Native, body, intent};
use crate::store::{Checked, Identity, Scribe, ScribeError, StoreError};

/// The component of an older version: it does not know the schema of the record `newer`.
struct Older;

impl Scribe for Older {
    fn seal(&mut self, body: &str, seq: u64, prev: &str) -> Result<String, ScribeError> {
        Native.seal(body, seq, prev)
    }

    fn check(&mut self, line: &str) -> Result<Checked, ScribeError> {
        let checked = Native.check(line)?;
        if checked.command_id == "newer" {
            let message = "`schema_version`: not 1.x".into();
            return Err(ScribeError::Unsupported { message });
        }
        Ok(checked)
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

fn newer() -> Bench {
    let bench = Bench::new();
    bench.record("one");
    bench.record("newer");
    bench
}

#[test]
fn it_is_refused_before_a_run_and_told_apart_from_what_fails() {
    let bench = newer();
    let error = bench.store().refuse_unknown_schema(&mut Older).unwrap_err();
    assert!(matches!(error, StoreError::Schema { .. }), "{error}");
    assert!(error.remedy().contains("newer version"), "{error}");
    bench.store().refuse_unknown_schema(&mut Native).unwrap();
    let empty = Bench::new();
    empty.store().refuse_unknown_schema(&mut Older).unwrap();
}

#[test]
fn it_is_refused_where_the_newest_record_is_in_a_rotated_file() {
    let bench = newer();
    std::fs::rename(bench.path(), bench.rotated(1)).unwrap();
    std::fs::write(bench.path(), "").unwrap();
    let refused = bench.store().refuse_unknown_schema(&mut Older);
    assert!(matches!(refused, Err(StoreError::Schema { .. })));
}

#[test]
fn nothing_is_cut_or_appended_and_what_had_begun_waits() {
    for torn in ["", "{\"schema_version\":\"2.0\",\"comm", "\0\0\0"] {
        let bench = newer();
        let store = bench.store();
        // Begun before another version took over.
        let run = store.begin("mine", &intent("mine")).unwrap();
        let mut content = bench.content();
        content.extend(torn.as_bytes());
        std::fs::write(bench.path(), &content).unwrap();

        let error = store
            .finish(run, &body("mine", "exited", 1), &mut Older)
            .unwrap_err();
        assert!(error.waits);
        assert!(matches!(*error.cause, StoreError::Schema { .. }));
        assert!(matches!(
            store.recover(&mut Older),
            Err(StoreError::Schema { .. })
        ));
        assert_eq!(bench.content(), content, "after {torn:?}");

        bench.settle_after("the version that knows it");
        assert_eq!(bench.outcome("mine"), "exited");
    }
}

#[test]
fn it_is_neither_sound_nor_damaged() {
    let bench = newer();
    let found = crate::store::verify(&bench.path(), &mut Older);
    assert!(!found.is_sound());
    assert!(!found.is_damaged(), "{:?}", found.damages);
    assert_eq!(found.damages[0].line, 2);
}
