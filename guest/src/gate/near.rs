//! Runs that nearly meet a requirement, for who looks for the run that is missing.
//!
//! A near miss is never evidence, and never speaks against anything.

use super::GatePolicy;
use super::entry::Run;
use super::fingerprint;
use super::shown;
use crate::requirement::Requirement;

/// The nearest run that each requirement has, in the order of the policy.
#[derive(Debug, Default)]
pub(super) struct NearMisses(Vec<Option<Near>>);

/// Why a run is not judged, whatever it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Apart {
    /// Nothing is the matter.
    No,
    /// It stands before where evidence begins.
    BeforeSince,
    /// It says that it only explores.
    Exploration,
}

/// A run that is not what is required, the nearer the greater.
#[derive(Debug)]
struct Near {
    rank: Rank,
    /// What it is and what differs.
    text: String,
}

/// How near a run is: what differs least comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    kind: Kind,
    /// How many arguments from the first are as they are required.
    leading: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    OtherArgumentsElsewhere,
    OtherArguments,
    Elsewhere,
    Apart,
}

impl NearMisses {
    /// Takes a run that meets no requirement, or is not judged. Of equally near ones the newest
    /// stays.
    pub(super) fn consider(&mut self, policy: &GatePolicy, folder: &str, run: &Run, apart: Apart) {
        self.0.resize_with(policy.requirements.len(), || None);
        for (known, requirement) in self.0.iter_mut().zip(&policy.requirements) {
            let Some((rank, differs)) = compare(requirement, folder, run, apart) else {
                continue;
            };
            if known.as_ref().is_none_or(|known| known.rank <= rank) {
                let text = format!("{}, which {differs}", shown::named_run(run));
                *known = Some(Near { rank, text });
            }
        }
    }

    /// Says which run comes nearest to the requirement at `place`, and what differs.
    pub(super) fn of(&self, place: usize) -> Option<&str> {
        let near = self.0.get(place)?.as_ref()?;
        Some(&near.text)
    }
}

/// How near a run is, and what differs. Nothing where it does something else.
fn compare(
    requirement: &Requirement,
    folder: &str,
    run: &Run,
    apart: Apart,
) -> Option<(Rank, String)> {
    let (command, cwd) = (run.command.as_ref()?, run.cwd.as_ref()?);
    let pattern = &requirement.command;
    let leading = pattern.alike(command, fingerprint::is_interpreter)?;
    let is_here = requirement.cwd.fits(folder, cwd);
    let place = shown::text(cwd);
    let (kind, differs) = match (pattern.fits(command), is_here) {
        (true, true) => (
            Kind::Apart,
            match apart {
                // It meets another requirement, which comes first.
                Apart::No => return None,
                Apart::BeforeSince => "stands before where evidence begins".to_owned(),
                Apart::Exploration => "ran with `--explore`, so it is no evidence".to_owned(),
            },
        ),
        (true, false) => (Kind::Elsewhere, format!("ran in `{place}`")),
        (false, here) => {
            let what = pattern.forbidden(command).map_or_else(
                || "has other arguments".to_owned(),
                |argument| format!("has the argument `{}`", shown::text(argument)),
            );
            if here {
                (Kind::OtherArguments, what)
            } else {
                let what = format!("{what}, and ran in `{place}`");
                (Kind::OtherArgumentsElsewhere, what)
            }
        }
    };
    Some((Rank { kind, leading }, differs))
}
