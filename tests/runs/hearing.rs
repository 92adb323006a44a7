//! Lets what a test starts hear signals, whatever the tests themselves were started to ignore.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets a command hear what the tests themselves may have been started to ignore: hang-ups under
/// `nohup`, the keys of a terminal in the background of a script.
pub(crate) fn hears_all_signals(command: &mut Command) {
    let hear = || {
        for signal in [
            libc::SIGHUP,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGTSTP,
        ] {
            // SAFETY: the call takes two numbers, and may be made between fork and exec.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the hook makes system calls only.
    unsafe { command.pre_exec(hear) };
}
