//! Takes one run into a review: how it stands by itself, and the chain that it belongs to.
//!
//! What later runs make of it is decided at the end.

use super::super::asked::Asked;
use super::super::entry::Run;
use super::super::evidence::{self, Claim};
use super::super::fingerprint::{self, Content, Same};
use super::super::judge::{Finding, judge};
use super::super::near::Apart;
use super::super::shown;
use super::super::verdict::ReasonCode;
use super::Review;
use super::attempt::{Attempt, Standing};
use crate::outcome::OutcomeKind;
use crate::timestamp::Timestamp;

/// How far the clocks of two machines may be apart.
const TOLERANCE_MS: i64 = 5 * 60 * 1_000;

impl Review {
    /// Takes a run, unless it is known or stands before where evidence begins.
    pub(super) fn consider_run(&mut self, run: &Run, content: Content) {
        if let Some((known, _)) = self.seen.get(&run.command_id) {
            if *known != content {
                let what = "is in the store twice, with different content".to_owned();
                let code = ReasonCode::StoreDamaged;
                let reason = shown::reason(run, &Finding { code, what });
                self.damage.push((self.attempts.len(), reason));
            }
            return;
        }
        let place = self.attempts.len();
        let started = run.started_at.as_deref().and_then(Timestamp::parse);
        let is_foreign = self.is_of_another_project(run);
        if let Some(since) = &mut self.since
            && !since.has_begun(&run.command_id, started)
        {
            if is_foreign {
                self.scope.other_projects += 1;
            } else {
                self.scope.before_since += 1;
                self.note_near(run, Apart::BeforeSince);
            }
            return;
        }
        if is_foreign {
            self.scope.other_projects += 1;
            return;
        }
        self.seen.insert(run.command_id.clone(), (content, place));
        let claim = Claim::of(&self.policy, &self.folder, run, started);
        if claim.meets.is_none() {
            self.note_near(run, Apart::No);
        }
        let standing = self.stand(run, started, claim.meets);
        let same = fingerprint::same(run);
        if let (Standing::Success, Some(same)) = (&standing, same) {
            self.remember_success(same, place, started);
        }
        let parent = self.parent(run);
        let failed = matches!(standing, Standing::Failed(_));
        let signature = run.failure_signature.as_deref().filter(|_| failed);
        let repeated = self.repeats.count(place, parent, same, signature);
        let chain = self.join_chain(parent, place, claim.meets);
        self.attempts.push(Attempt {
            command_id: shown::id(&run.command_id),
            named: shown::named_run(run),
            chain,
            same,
            program: fingerprint::program(run),
            never_started: run.outcome == Some(OutcomeKind::NotStarted),
            repeated,
            started,
            standing,
            claim,
            asked: Asked::of(run),
        });
    }

    fn note_near(&mut self, run: &Run, apart: Apart) {
        self.near.consider(&self.policy, &self.folder, run, apart);
    }

    fn stand(&mut self, run: &Run, started: Option<Timestamp>, meets: Option<usize>) -> Standing {
        let mut judgement = judge(&self.policy, run);
        let required = meets.and_then(|place| self.policy.requirements.get(place));
        if let Some(requirement) = required {
            evidence::judge_code(requirement, run, &mut judgement);
        }
        if started.is_some_and(|started| started.millis_after(self.now) > TOLERANCE_MS) {
            let at = run
                .started_at
                .as_deref()
                .map(shown::text)
                .unwrap_or_default();
            judgement.contradictions.push(Finding {
                code: ReasonCode::FromTheFuture,
                what: format!("says that it began at {at}, which is later than now"),
            });
        }
        if !judgement.contradictions.is_empty() {
            let place = self.attempts.len();
            let reasons = judgement
                .into_findings()
                .map(|finding| (place, shown::reason(run, &finding)));
            self.damage.extend(reasons);
            return Standing::Distrusted;
        }
        if judgement.failures.is_empty() {
            Standing::Success
        } else {
            Standing::Failed(judgement.failures)
        }
    }

    /// Only an earlier line can be a parent: a link to a later one says nothing about what
    /// was retried, and could go in a circle.
    fn parent(&self, run: &Run) -> Option<usize> {
        let parent = run.parent_command_id.as_ref()?;
        self.seen.get(parent).map(|(_, place)| *place)
    }

    /// An attempt whose parent was rotated away starts its own chain. So does one that meets
    /// another requirement than its parent: a required run is made up for only by one that meets
    /// the same.
    fn join_chain(&mut self, parent: Option<usize>, place: usize, meets: Option<usize>) -> usize {
        let chain = parent
            .and_then(|parent| self.attempts.get(parent))
            .filter(|parent| parent.claim.meets == meets)
            .map(|parent| parent.chain);
        if let Some(chain) = chain
            && let Some(attempts) = self.chains.get_mut(chain)
        {
            attempts.push(place);
            return chain;
        }
        self.chains.push(vec![place]);
        self.chains.len() - 1
    }

    /// Of two successes the one that began later is newer, whichever ended first.
    fn remember_success(&mut self, same: Same, place: usize, started: Option<Timestamp>) {
        let began = |place: &usize| self.attempts.get(*place).and_then(|known| known.started);
        let known = self.successes.entry(same).or_default();
        let at = known.partition_point(|known| began(known) <= started);
        known.insert(at, place);
    }
}
