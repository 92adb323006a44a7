//! What a store did beside what was asked, in words for a person.

use feedback_host::store::Notice;

use crate::failure::of_store;

/// Returns the notice as one line.
pub(crate) fn text(notice: &Notice) -> String {
    match notice {
        Notice::TailCut { path, bytes } => format!(
            "`{}` ended in a torn line of {bytes} bytes, which was cut; if its run was begun here, its record comes from the pending folder",
            path.display()
        ),
        Notice::TailCompleted { path } => {
            format!(
                "`{}` ended without a newline, which was added",
                path.display()
            )
        }
        Notice::AlreadyRecorded { command_id } => {
            format!("the record of `{command_id}` was already there")
        }
        Notice::Recovered {
            command_id,
            died: true,
        } => {
            format!("the runner of `{command_id}` died; that is now on record")
        }
        Notice::Recovered {
            command_id,
            died: false,
        } => {
            format!("the record of `{command_id}`, which was waiting, is now in the file")
        }
        Notice::NotRecovered { error } => {
            format!(
                "a waiting record could not be appended: {}",
                of_store(error)
            )
        }
        Notice::SetAside { path, why } => {
            format!("`{}` is no record and was set aside: {why}", path.display())
        }
        Notice::NotRotated { error } => {
            format!("the record file grows past its limit: {}", of_store(error))
        }
        Notice::Dropped {
            path,
            first_seq,
            last_seq,
        } => format!(
            "`{}` was dropped by rotation, records {} to {}",
            path.display(),
            position(*first_seq),
            position(*last_seq)
        ),
        Notice::SyncFailed { path } => format!(
            "`{}`: the disk did not confirm the record; it waits in the pending folder as well",
            path.display()
        ),
        Notice::Degraded { path } => format!(
            "the disk once did not take what was written; remove `{}` when it is well again",
            path.display()
        ),
        Notice::NotDeposited { error } => {
            format!(
                "the record had no second place while it was appended: {}",
                of_store(error)
            )
        }
        Notice::OutputsLeft { error } => {
            format!(
                "kept outputs whose records are gone could not be removed: {}",
                of_store(error)
            )
        }
        Notice::StoreLost { path, last_seq } => format!(
            "RECORDS LOST: while the command ran, records 1 to {last_seq} of `{}` were deleted or replaced; the gate refuses until a person brings them back, or moves the record file away to begin anew",
            path.display()
        ),
        Notice::LeftBehind { error } => {
            format!(
                "the record is kept, but its pending file is still there: {}",
                of_store(error)
            )
        }
    }
}

fn position(seq: Option<u64>) -> String {
    seq.map_or_else(|| "unknown".to_owned(), |seq| seq.to_string())
}
