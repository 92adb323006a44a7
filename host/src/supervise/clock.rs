//! The time of a run, which stands still while the run is paused, and the limits set to it.
//!
//! It ends nothing; it only says what is due.

use std::time::{Duration, Instant};

use super::Limits;
use crate::ending::Limit;

/// Longer than any run, and short enough to be added to any instant.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns the instant that is `time` from `now`, however long that is.
pub(super) fn later(now: Instant, time: Duration) -> Instant {
    now.checked_add(time.min(FOR_EVER)).unwrap_or(now)
}

/// When a run started, and for how long it has been paused.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    paused: Duration,
    paused_since: Option<Instant>,
}

impl Clock {
    pub(super) fn new(started: Instant) -> Self {
        Self {
            started,
            paused: Duration::ZERO,
            paused_since: None,
        }
    }

    /// Returns the time since the start, pauses included.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    pub(super) fn pause(&mut self) {
        self.paused_since.get_or_insert_with(Instant::now);
    }

    /// Goes on. Returns whether the run was paused.
    pub(super) fn resume(&mut self) -> bool {
        let since = self.paused_since.take();
        self.paused += since.map_or(Duration::ZERO, |since| since.elapsed());
        since.is_some()
    }

    /// Returns the limit that comes first, its length, and the time that is left. A paused run
    /// has none.
    pub(super) fn next_limit(
        &self,
        limits: &Limits,
        last_byte: Instant,
        now: Instant,
    ) -> Option<(Limit, Duration, Duration)> {
        if self.is_paused() {
            return None;
        }
        let running = now
            .saturating_duration_since(self.started)
            .saturating_sub(self.paused);
        // A pause is no silence, so it may only make the silence seem shorter.
        let silent = now.saturating_duration_since(last_byte.max(self.started + self.paused));
        let deadline = limits
            .timeout
            .map(|limit| (Limit::Deadline, limit, limit.saturating_sub(running)));
        let silence = limits
            .silence
            .map(|limit| (Limit::Silence, limit, limit.saturating_sub(silent)));
        deadline
            .into_iter()
            .chain(silence)
            .min_by_key(|(_, _, left)| *left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_comes_first_is_named() {
        let now = Instant::now();
        let clock = Clock::new(now);
        let seconds = Duration::from_secs;
        let limits = Limits {
            timeout: Some(seconds(10)),
            silence: Some(seconds(4)),
            ..Limits::default()
        };
        let after = |time, last_byte| {
            clock.next_limit(&limits, now + seconds(last_byte), now + seconds(time))
        };
        assert_eq!(after(0, 0), Some((Limit::Silence, seconds(4), seconds(4))));
        assert_eq!(after(5, 3), Some((Limit::Silence, seconds(4), seconds(2))));
        assert_eq!(
            after(9, 8),
            Some((Limit::Deadline, seconds(10), seconds(1)))
        );
        assert_eq!(
            after(30, 29),
            Some((Limit::Deadline, seconds(10), Duration::ZERO))
        );
    }

    #[test]
    fn a_paused_run_has_no_limit() {
        let now = Instant::now();
        let mut clock = Clock::new(now);
        clock.pause();
        let limits = Limits {
            timeout: Some(Duration::ZERO),
            ..Limits::default()
        };
        assert_eq!(clock.next_limit(&limits, now, now), None);
        assert!(clock.resume());
        assert!(clock.next_limit(&limits, now, now).is_some());
        assert!(!clock.resume());
    }

    #[test]
    fn no_time_is_too_long_to_wait_for() {
        let now = Instant::now();
        assert!(later(now, Duration::MAX) > now);
    }
}
