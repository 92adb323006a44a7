//! The live view: one line on the terminal that says how far a command is, gone when it ends.
//!
//! It is drawn by a thread of its own, since a terminal may refuse to take anything for as long
//! as its user likes, and the limits of the run must hold all the same.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use feedback_host::ending::Source;
use feedback_host::run::Observer;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::summary::printable;

/// How often the view may change, in frames per second.
const RATE: u8 = 10;
const FRAME_TIME: Duration = Duration::from_millis(100);

/// The live view of one command.
#[derive(Debug)]
pub(crate) struct Live {
    frames: Option<SyncSender<String>>,
    painter: Option<JoinHandle<()>>,
    bytes: u64,
    lines: u64,
}

impl Live {
    /// Returns a view where standard error is a terminal that can move its cursor.
    pub(crate) fn start() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if is_dumb || !std::io::stderr().is_terminal() {
            return None;
        }
        // One frame waits while one is drawn; more would only be late.
        let (frames, drawn) = sync_channel(1);
        let painter = Builder::new().spawn(move || paint(&drawn)).ok()?;
        Some(Self {
            frames: Some(frames),
            painter: Some(painter),
            bytes: 0,
            lines: 0,
        })
    }
}

impl Observer for Live {
    fn read(&mut self, _: Source, bytes: usize, newlines: usize) {
        let add = |sum: u64, more: usize| sum.saturating_add(u64::try_from(more).unwrap_or(0));
        self.bytes = add(self.bytes, bytes);
        self.lines = add(self.lines, newlines);
    }

    fn tick_every(&self) -> Option<Duration> {
        Some(FRAME_TIME)
    }

    fn tick(&mut self, elapsed: Duration, newest: &str) {
        let Some(frames) = self.frames.as_ref().filter(|_| is_in_foreground()) else {
            return;
        };
        match frames.try_send(frame(elapsed, self.lines, self.bytes, newest)) {
            // A terminal that is slow or stopped misses a frame.
            Ok(()) | Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => self.frames = None,
        }
    }
}

impl Drop for Live {
    /// Clears the line.
    fn drop(&mut self) {
        self.frames = None;
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
    }
}

/// A job in the background leaves the terminal to the one in the foreground.
fn is_in_foreground() -> bool {
    rustix::termios::tcgetpgrp(std::io::stderr())
        .is_ok_and(|group| group == rustix::process::getpgrp())
}

fn frame(elapsed: Duration, lines: u64, bytes: u64, newest: &str) -> String {
    let elapsed = humantime::format_duration(Duration::from_secs(elapsed.as_secs()));
    let noun = if lines == 1 { "line" } else { "lines" };
    let mut frame = format!(
        "{elapsed} · {} {noun} · {}",
        HumanCount(lines),
        HumanBytes(bytes)
    );
    if !newest.is_empty() {
        let _ = write!(frame, " · {}", printable(newest));
    }
    frame
}

/// Draws frames until there are no more, then leaves the line empty.
fn paint(frames: &Receiver<String>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(RATE));
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    for frame in frames {
        bar.set_message(frame);
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_line_that_cannot_move_the_cursor() {
        let frame = frame(
            Duration::from_millis(61_900),
            1_200,
            2_048,
            "now\u{1b}[2J\nhere",
        );
        assert_eq!(
            frame,
            "1m 1s · 1,200 lines · 2.00 KiB · now\u{fffd}[2J\u{fffd}here"
        );
    }

    #[test]
    fn a_command_that_has_printed_no_line_shows_none() {
        assert_eq!(super::frame(Duration::ZERO, 0, 0, ""), "0s · 0 lines · 0 B");
    }
}
