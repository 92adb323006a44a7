//! Which attempt of a chain speaks for another, and what makes up for it.
//!
//! It looks at no record; how each run stands by itself is known already.

use super::{Attempt, Review, Standing};
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

    /// Whether a later attempt of a chain tries again what an earlier one tried. Of a command
    /// that was never started nothing was tried, so that any correction does.
    fn tries_the_same(&self, earlier: &Attempt, later: &Attempt) -> bool {
        earlier.never_started
            || match self.policy.retry {
                Retry::SameCommand => earlier.same.is_some() && earlier.same == later.same,
                Retry::SameProgram => earlier.program.is_some() && earlier.program == later.program,
                Retry::AnyCommand => true,
            }
    }

    /// The success that makes up for a chain in which the attempt at `speaker` speaks: that
    /// attempt, or else a later run of the very same command.
    pub(super) fn made_up_for(&self, speaker: usize) -> Option<&Attempt> {
        let newest = self.attempts.get(speaker)?;
        match newest.standing {
            Standing::Success => Some(newest),
            Standing::Distrusted => None,
            Standing::Failed(_) => {
                let later_place = *self.successes.get(&newest.same?)?;
                let later = self.attempts.get(later_place)?;
                let is_later = later_place > speaker && later.started >= newest.started;
                let meets = later.claim.meets == newest.claim.meets;
                (is_later && meets).then_some(later)
            }
        }
    }

    /// Says that a chain went on with something else, which proves nothing of this attempt.
    pub(super) fn other_retry(&self, place: usize) -> String {
        let attempt = self.attempts.get(place);
        let chain = attempt.and_then(|attempt| self.chains.get(attempt.chain));
        let newest = chain.and_then(|chain| chain.last());
        let newest = newest.filter(|newest| **newest > place);
        match newest.and_then(|newest| self.attempts.get(*newest)) {
            Some(newest) => {
                let named = &newest.named;
                format!("; its retry {named} is another command and does not make up for it")
            }
            None => String::new(),
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
