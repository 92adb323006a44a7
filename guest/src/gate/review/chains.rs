//! Which attempt of a chain speaks for another, and what makes up for it.
//!
//! It looks at no record; how each run stands by itself is known already.

use super::Review;
use super::attempt::{Attempt, Standing};
use crate::gate::Retry;
use crate::gate::verdict::{Reason, ReasonCode};

impl Review {
    /// The newest attempt of the chain that can speak for the attempt at `place`: itself, or a
    /// later one that tries the same.
    pub(super) fn speaker(&self, place: usize) -> usize {
        let Some(attempt) = self.attempts.get(place) else {
            return place;
        };
        let chain = self
            .chains
            .get(attempt.chain)
            .map_or(&[][..], Vec::as_slice);
        let later = chain.iter().rev().take_while(|later| **later > place);
        let tries_the_same = |later: &&usize| {
            let later = self.attempts.get(**later);
            later.is_some_and(|later| self.tries_the_same(attempt, later))
        };
        let mut speakers = later.filter(tries_the_same);
        speakers.next().copied().unwrap_or(place)
    }

    /// Whether a later attempt of a chain tries again what an earlier one tried, and asks for no
    /// less. Of a command that was never started nothing was tried, so that any correction does.
    fn tries_the_same(&self, earlier: &Attempt, later: &Attempt) -> bool {
        asks_no_less(later, earlier) && self.is_same_try(earlier, later)
    }

    fn is_same_try(&self, earlier: &Attempt, later: &Attempt) -> bool {
        earlier.never_started
            || match self.policy.retry {
                Retry::SameCommand => earlier.same.is_some() && earlier.same == later.same,
                Retry::SameProgram => earlier.program.is_some() && earlier.program == later.program,
                Retry::AnyCommand => true,
            }
    }

    /// The success that makes up for a chain in which the attempt at `speaker` speaks: that
    /// attempt, or else a later run of the very same command that asked for no less.
    pub(super) fn made_up_for(&self, speaker: usize) -> Option<&Attempt> {
        let newest = self.attempts.get(speaker)?;
        match newest.standing {
            Standing::Success => Some(newest),
            Standing::Distrusted => None,
            Standing::Failed(_) => {
                let places = self.successes.get(&newest.same?)?.iter().rev();
                let later = places.filter(|place| **place > speaker);
                let mut later = later.filter_map(|place| self.attempts.get(*place));
                later.find(|later| {
                    later.started >= newest.started
                        && later.claim.meets == newest.claim.meets
                        && asks_no_less(later, newest)
                })
            }
        }
    }

    /// Says that a chain went on, or the command was run again, in a way that proves nothing of
    /// this attempt.
    pub(super) fn other_retry(&self, place: usize) -> String {
        let Some(attempt) = self.attempts.get(place) else {
            return String::new();
        };
        let chain = self.chains.get(attempt.chain);
        let newest = chain.and_then(|chain| chain.last()).copied();
        let again = attempt
            .same
            .and_then(|same| self.successes.get(&same)?.last().copied());
        let later = |at: Option<usize>| at.filter(|at| *at > place);
        let Some(other) = later(newest)
            .or(later(again))
            .and_then(|at| self.attempts.get(at))
        else {
            return String::new();
        };
        let named = &other.named;
        if !self.is_same_try(attempt, other) {
            format!("; its retry {named} is another command and does not make up for it")
        } else if !asks_no_less(other, attempt) {
            format!("; {named} expects less and does not make up for it")
        } else {
            String::new()
        }
    }

    pub(super) fn same_failure(&self, attempt: &Attempt) -> Option<Reason> {
        let most = self.policy.max_same_failures?.get();
        (attempt.repeated > most).then(|| {
            let times = attempt.repeated;
            let message = format!(
                "{} failed in the same way {times} times in a row; the policy allows {most}",
                attempt.named
            );
            Reason::new(ReasonCode::SameFailure, &attempt.command_id, message)
        })
    }
}

/// Whether a later run asks for all that an earlier one asked for. Which codes are success is
/// not asked of runs of one requirement: that is the requirement's to say. Nor is anything asked
/// of a run under the requirement as it is written now in place of one as it was written before:
/// what is needed the policy says, and it may have been wrong.
fn asks_no_less(later: &Attempt, earlier: &Attempt) -> bool {
    let meets = later.claim.meets;
    let codes = meets.is_some() && meets == earlier.claim.meets;
    if codes && is_reworded(earlier, later) {
        return true;
    }
    (codes || later.asked.covers_codes(&earlier.asked)) && later.asked.covers_others(&earlier.asked)
}

/// Whether the requirement of both was written anew between them.
pub(super) fn is_reworded(earlier: &Attempt, later: &Attempt) -> bool {
    earlier.claim.reworded && later.claim.declared
}
