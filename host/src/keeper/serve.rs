//! What a keeper does in its own process: system calls only, and no memory of its own.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::{ENDED, FAILED, LEAVE, MESSAGE_BYTES, Message, REAP, REAPED, STARTED, encoded};

/// Where the line is, once everything else is closed.
const LINE: RawFd = 0;
/// How often a keeper looks for the dead where the system does not wake it.
const BLIND_ROUND_MS: i32 = 20;
/// How often a keeper without a runner kills what it has, and how long it waits in between.
const KILLING_ROUNDS: u32 = 200;
const KILLING_ROUND_MS: i32 = 10;

pub(super) fn keep(line: RawFd, image: impl FnOnce() -> io::Error) -> io::Error {
    if let Err(error) = adopt() {
        return error;
    }
    hear_nothing();
    let (ready, not_ready) = match io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return error,
    };
    // SAFETY: forks like `fork` does, without the handlers that other threads may have set up.
    let leader = unsafe {
        libc::syscall(
            libc::SYS_clone,
            i64::from(libc::SIGCHLD),
            0_i64,
            0_i64,
            0_i64,
            0_i64,
        )
    };
    match i32::try_from(leader).unwrap_or(-1) {
        0 => {
            drop(not_ready);
            await_end(ready.as_raw_fd());
            let error = image();
            let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
            tell(line, [FAILED, errno.into(), 0, 0, 0, 0]);
            // SAFETY: ends this process.
            unsafe { libc::_exit(127) }
        }
        leader if leader > 0 => serve(line, leader),
        _ => io::Error::last_os_error(),
    }
}

/// Says from the command's process that it is about to execute.
pub(super) fn say_started(line: RawFd) {
    // SAFETY: takes nothing and cannot fail.
    let pid = unsafe { libc::getpid() };
    tell(line, [STARTED, pid.into(), 0, 0, 0, 0]);
}

/// Waits until nobody has the other end of the pipe open.
///
/// The command's process does so for the keeper, which closes it with everything that it has of
/// the runner. A command that is faster and stops its parent would leave the runner waiting for
/// that for ever, in the middle of the start.
fn await_end(pipe: RawFd) {
    let mut byte = 0_u8;
    // SAFETY: the byte lives during the call; all signals are blocked, so nothing interrupts it.
    unsafe { libc::read(pipe, (&raw mut byte).cast(), 1) };
}

fn adopt() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // Whoever ignores SIGCHLD never learns how a child ended.
    // SAFETY: a default action runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    Ok(())
}

/// Blocks what can be blocked: a keeper has its runner's name and terminal, and must outlive what
/// is meant for that one.
fn hear_nothing() {
    // SAFETY: the set is a live value that the calls fill and read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// Serves until the runner sends the keeper away or is gone.
fn serve(line: RawFd, leader: i32) -> ! {
    keep_only(line);
    let deaths = deaths();
    let mut has_ended = false;
    let mut is_reaped = false;
    loop {
        wait(deaths);
        if !has_ended && let Some(message) = ending(leader) {
            has_ended = true;
            tell(LINE, message);
        }
        // At once: what forks without end must not fill the list of processes with its dead.
        reap_all_but(leader);
        match order() {
            Some(Order::Reap) => {
                is_reaped = true;
                tell(LINE, reap(leader));
            }
            // SAFETY: ends this process.
            Some(Order::Leave) => unsafe { libc::_exit(0) },
            Some(Order::RunnerIsGone) => end_everything((!is_reaped).then_some(leader)),
            None => {}
        }
    }
}

enum Order {
    Reap,
    Leave,
    RunnerIsGone,
}

/// Closes everything but the line: what the runner has open, a keeper must not hold.
fn keep_only(line: RawFd) {
    const NAME: &[u8] = b"feedback-keeper\0";
    // SAFETY: closes descriptors of this process alone, which has no other use for them; the name
    // and the path end with a NUL.
    unsafe {
        libc::dup2(line, LINE);
        if libc::syscall(libc::SYS_close_range, 1_u32, u32::MAX, 0_u32) != 0 {
            for descriptor in 1..65_536 {
                libc::close(descriptor);
            }
        }
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        // The runner's folder can be removed or unmounted meanwhile.
        libc::chdir(c"/".as_ptr());
    }
}

/// Returns a descriptor that becomes readable when a child has ended.
fn deaths() -> RawFd {
    // SAFETY: the set is a live value that the calls fill and read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC)
    }
}

/// Waits for an order or for the end of a child.
fn wait(deaths: RawFd) {
    let mut fds = [LINE, deaths].map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let round = if deaths >= 0 { -1 } else { BLIND_ROUND_MS };
    let mut told = [0_u8; size_of::<libc::signalfd_siginfo>()];
    // SAFETY: both arrays live during the calls; a negative descriptor is left out. Of a signal
    // there is never more than one waiting, and who has ended is asked for elsewhere.
    unsafe {
        libc::poll(fds.as_mut_ptr(), 2, round);
        libc::read(deaths, told.as_mut_ptr().cast(), told.len());
    }
}

fn order() -> Option<Order> {
    let mut byte = 0_u8;
    // SAFETY: the byte lives during the call.
    let count = unsafe { libc::recv(LINE, (&raw mut byte).cast(), 1, libc::MSG_DONTWAIT) };
    match (count, byte) {
        (1, REAP) => Some(Order::Reap),
        (1, LEAVE) => Some(Order::Leave),
        (1, _) => None,
        (0, _) => Some(Order::RunnerIsGone),
        _ => {
            let error = io::Error::last_os_error().raw_os_error();
            let is_passing = matches!(error, Some(libc::EAGAIN | libc::EINTR));
            (!is_passing).then_some(Order::RunnerIsGone)
        }
    }
}

/// Returns the message about the command's end, without reaping it; nothing while it lives.
fn ending(leader: i32) -> Option<Message> {
    let leader = libc::id_t::try_from(leader).ok()?;
    let (pid, code, status) = dead(libc::P_PID, leader)?;
    (pid != 0).then_some([ENDED, code.into(), status.into(), 0, 0, 0])
}

/// Returns the pid of a dead child with how it ended, and does not reap it.
fn dead(kind: libc::idtype_t, id: libc::id_t) -> Option<(i32, i32, i32)> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the structure is plain numbers that the call writes; what is read of it afterwards
    // is what a dead child has.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let found = libc::waitid(kind, id, &raw mut info, options);
        (found == 0 && info.si_pid() != 0).then(|| (info.si_pid(), info.si_code, info.si_status()))
    }
}

/// Reaps the dead that the command has left, but not the command.
fn reap_all_but(leader: i32) {
    while let Some((pid, ..)) = dead(libc::P_ALL, 0) {
        if pid == leader {
            // It hides those that died after it.
            return for_every_child(|pid| {
                if pid != leader {
                    collect(pid);
                }
            });
        }
        collect(pid);
    }
}

fn collect(pid: i32) {
    // SAFETY: no status is asked for, and nothing is waited for.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
}

fn reap(leader: i32) -> Message {
    let mut status = 0;
    // SAFETY: plain numbers, for which all zeros is a value; both live during the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(leader, &raw mut status, libc::WNOHANG, &raw mut usage);
        usage
    };
    let (user, system) = (usage.ru_utime, usage.ru_stime);
    [
        REAPED,
        usage.ru_maxrss,
        user.tv_sec,
        user.tv_usec,
        system.tv_sec,
        system.tv_usec,
    ]
}

/// Kills the command's group and every child, until there is none: the children of what dies
/// become this process's own.
fn end_everything(leader: Option<i32>) -> ! {
    if let Some(leader) = leader {
        // SAFETY: not reaped, so the group's number is still its own.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
    for _ in 0..KILLING_ROUNDS {
        // SAFETY: a child that is not reaped, so the number is its own.
        for_every_child(|pid| unsafe {
            libc::kill(pid, libc::SIGKILL);
        });
        // SAFETY: no status is asked for, and nothing is waited for.
        unsafe {
            while libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) > 0 {}
            if libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) < 0 {
                break;
            }
            libc::poll(std::ptr::null_mut(), 0, KILLING_ROUND_MS);
        }
    }
    // SAFETY: ends this process.
    unsafe { libc::_exit(0) }
}

/// Visits as many children as fit into one read of their list; the others have their turn later.
fn for_every_child(mut visit: impl FnMut(i32)) {
    let mut list = [0_u8; 4096];
    // SAFETY: the path ends with a NUL, and the buffer lives during the call.
    let count = unsafe {
        let file = libc::open(
            c"/proc/thread-self/children".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        let count = libc::read(file, list.as_mut_ptr().cast(), list.len());
        libc::close(file);
        usize::try_from(count).unwrap_or(0)
    };
    let mut pid = 0_i32;
    for byte in list.get(..count).unwrap_or_default() {
        if byte.is_ascii_digit() {
            pid = pid
                .saturating_mul(10)
                .saturating_add(i32::from(byte - b'0'));
            continue;
        }
        if pid > 1 {
            visit(pid);
        }
        pid = 0;
    }
}

/// Tells the runner something from the command's process or from the keeper; system calls only.
fn tell(line: RawFd, message: Message) {
    let bytes = encoded(message);
    // SAFETY: the bytes live during the call. A line whose other end is closed must not raise
    // SIGPIPE in a process that has it at its default.
    unsafe {
        libc::send(
            line,
            bytes.as_ptr().cast(),
            MESSAGE_BYTES,
            libc::MSG_NOSIGNAL,
        )
    };
}
