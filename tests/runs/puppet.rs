//! A program that behaves as badly as a test asks: ignores signals, leaves children behind, floods.
//!
//! It is not a part of the product. `puppet drive …` is a runner process of its own, for what
//! cannot be tried inside the test process.

#![expect(
    clippy::unwrap_used,
    clippy::exit,
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "a test program"
)]

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::time::Duration;

mod drive;
#[path = "../../host/cli/src/signals.rs"]
mod signals;

fn main() {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|text| text.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["drive", rest @ ..] => drive::drive(rest),
        ["storm", adoption] => drive::storm(adoption),
        ["exit", code] => exit(code.parse().unwrap()),
        ["say", text, rest @ ..] => {
            say(text);
            perform(rest);
        }
        rest => perform(rest),
    }
}

/// Does one thing after another: each word is one.
fn perform(words: &[&str]) {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut next = || words.next().unwrap();
        match word {
            "say" => say(next()),
            "say-raw" => emit(&std::fs::read(next()).unwrap(), &mut std::io::stdout()),
            "complain" => emit(format!("{}\n", next()).as_bytes(), &mut std::io::stderr()),
            "exit" => exit(next().parse().unwrap()),
            "kill-self" => kill_self(next().parse().unwrap()),
            "kill-parent" => {
                let parent = rustix::process::getppid().unwrap().as_raw_pid();
                // SAFETY: passes two numbers.
                unsafe { libc::kill(parent, next().parse().unwrap()) };
            }
            "ignore" => ignore(next().parse().unwrap()),
            "exit-on" => exit_on(next().parse().unwrap()),
            "wait" => forever(),
            "stop" => kill_self(libc::SIGSTOP),
            "halt" => {
                kill_self(next().parse().unwrap());
                // Of a group that no shell looks after, the system stops nobody for some signals.
                forever();
            }
            "chatter" => chatter(),
            "flood" => flood(next().parse().unwrap(), next().parse().unwrap()),
            "spin" => spin(next().parse().unwrap()),
            "grow" => grow(next().parse().unwrap()),
            "setsid" => drop(rustix::process::setsid()),
            "leave" => leave(&[], next(), Stdio::inherit),
            "leave-quietly" => leave(&[], next(), Stdio::null),
            "leave-session" => leave(&["setsid"], next(), Stdio::inherit),
            "leave-bare" => leave(&["setsid", "undress", "leave-quietly"], next(), Stdio::null),
            "undress" => undress(),
            "become-root" => become_root(),
            "say-parent" => say(&format!("parent {}", std::os::unix::process::parent_id())),
            "say-user" => say(&format!("user {}", rustix::process::geteuid())),
            "say-pid" => say(&format!("pid {}", std::process::id())),
            "leave-daemon" => leave(&["setsid", "leave-quietly"], next(), Stdio::null),
            "touch" => std::fs::write(next(), "").unwrap(),
            "await-file" => await_file(next()),
            "await-orphan" => await_orphan(),
            "facts" => facts(),
            "groups" => groups(),
            "fork-storm" => fork_storm(next().parse().unwrap()),
            "write-pid" => std::fs::write(next(), std::process::id().to_string()).unwrap(),
            "kill-group" => {
                // SAFETY: signals this process and its group.
                unsafe { libc::kill(0, libc::SIGKILL) };
            }
            "echo-stdin" => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).unwrap();
                say(&format!("stdin: {text:?}"));
            }
            "report-on" => report_on(next().parse().unwrap()),
            other => panic_free(other),
        }
    }
}

/// Removes everything from the environment that children will get.
fn undress() {
    for (name, _) in std::env::vars_os() {
        // SAFETY: there is one thread.
        unsafe { std::env::remove_var(name) };
    }
}

/// Leaves nothing of the user that started this program, which belongs to root.
fn become_root() {
    // SAFETY: one thread, and the result shows in what the process may do.
    unsafe { libc::setuid(0) };
}

fn panic_free(word: &str) {
    say(&format!("puppet cannot do {word}"));
    exit(99);
}

fn say(text: &str) {
    emit(format!("{text}\n").as_bytes(), &mut std::io::stdout());
}

fn emit(bytes: &[u8], to: &mut dyn Write) {
    to.write_all(bytes).unwrap();
    to.flush().unwrap();
}

/// The default action of a signal on this process, without a file for it.
fn kill_self(signal: i32) {
    let none = rustix::process::Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(rustix::process::Resource::Core, none).unwrap();
    // SAFETY: installs no code, and signals this process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}

fn ignore(signal: i32) {
    // SAFETY: installs no code.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Exits with the signal's own number, so that a test sees which one came.
fn exit_on(signal: i32) {
    extern "C" fn leave(_signal: i32) {
        // SAFETY: ends the process; safe in a handler.
        unsafe { libc::_exit(CODE_AFTER_A_SIGNAL) };
    }
    let handler = leave as extern "C" fn(i32);
    // SAFETY: the handler makes one system call.
    unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
}

const CODE_AFTER_A_SIGNAL: i32 = 0;

/// Says that the signal came, and goes on.
fn report_on(signal: i32) {
    extern "C" fn report(_signal: i32) {
        const HEARD: &[u8] = b"heard\n";
        // SAFETY: the text lives; one system call, which is safe in a handler.
        unsafe { libc::write(1, HEARD.as_ptr().cast(), HEARD.len()) };
    }
    let handler = report as extern "C" fn(i32);
    // SAFETY: the handler makes one system call.
    unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
}

fn forever() {
    loop {
        std::thread::park();
    }
}

/// Writes now and then, for ever, as a busy background child does.
fn chatter() {
    loop {
        emit(b"chatter\n", &mut std::io::stdout());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Writes this many bytes to both streams at the same time.
fn flood(stdout: usize, stderr: usize) {
    let second = std::thread::spawn(move || pour(stderr, &mut std::io::stderr()));
    pour(stdout, &mut std::io::stdout());
    second.join().unwrap();
}

fn pour(count: usize, to: &mut dyn Write) {
    let block = [b'x'; 64 * 1024];
    let mut left = count;
    while left > 0 {
        let now = left.min(block.len());
        to.write_all(&block[..now]).unwrap();
        left -= now;
    }
    to.flush().unwrap();
}

/// Uses this many milliseconds of CPU time.
fn spin(millis: i64) {
    loop {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        if used.tv_sec * 1000 + used.tv_nsec / 1_000_000 >= millis {
            return;
        }
    }
}

/// Touches this many MiB of memory.
fn grow(mib: usize) {
    let memory = vec![1_u8; mib << 20];
    say(&format!(
        "grown {}",
        memory
            .iter()
            .step_by(4096)
            .map(|byte| usize::from(*byte))
            .sum::<usize>()
    ));
}

/// Starts a child that writes its pid to `file`, then does what `file` is followed by in its own
/// name: waits, unless its name says that it chatters or resists.
#[expect(
    clippy::zombie_processes,
    reason = "leaving a process behind is the point"
)]
fn leave(first: &[&str], file: &str, output: fn() -> Stdio) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(first);
    if first.contains(&"leave-quietly") {
        child.arg(file);
    } else {
        if file.ends_with("resist") {
            // Nobody but a SIGKILL can end it, from the moment that it is known of.
            child.args(["ignore", "15", "ignore", "1"]);
        }
        child.args(["write-pid", file]);
        child.arg(if file.ends_with("chatter") {
            "chatter"
        } else {
            "wait"
        });
    }
    child
        .stdin(Stdio::null())
        .stdout(output())
        .stderr(output())
        .arg0("leftover");
    let mut child = child.spawn().unwrap();
    if first.contains(&"leave-quietly") {
        // It leaves another one and goes; only that one shall be left.
        child.wait().unwrap();
    }
    await_file(file);
}

/// Returns once the file has content.
fn await_file(file: &str) {
    while std::fs::read(file).map_or(true, |text| text.is_empty()) {
        std::thread::yield_now();
    }
}

/// Returns once the parent is another one.
fn await_orphan() {
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        std::thread::yield_now();
    }
}

/// Prints the control group of version 2.
fn groups() {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    say(groups.lines().find(|line| line.starts_with("0::")).unwrap());
}

/// Keeps as many processes alive as asked for: each has a session of its own, hears no SIGTERM,
/// carries nothing of the run, and forks its successor all the time.
fn fork_storm(width: usize) {
    undress();
    ignore(libc::SIGTERM);
    for _ in 0..width {
        // SAFETY: there is one thread.
        if unsafe { libc::fork() } == 0 {
            hop();
        }
    }
    forever();
}

/// Passes on to a new process again and again, and is an orphan in a new session each time.
fn hop() -> ! {
    loop {
        // SAFETY: there is one thread, and the old process ends at once.
        unsafe {
            libc::setsid();
            libc::usleep(2_000);
            if libc::fork() != 0 {
                libc::_exit(0);
            }
        }
    }
}

/// Prints what a child can see of the way in which it was started.
fn facts() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    for key in ["SigBlk:", "SigIgn:"] {
        say(status.lines().find(|line| line.starts_with(key)).unwrap());
    }
    let fds: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.unwrap();
            let target = std::fs::read_link(entry.path()).ok()?;
            let name = entry.file_name().into_string().unwrap();
            (!target.starts_with("/proc")).then_some(name)
        })
        .collect();
    say(&format!("fds: {fds:?}"));
    say(&format!(
        "leads its session: {}",
        rustix::process::getsid(None).unwrap() == rustix::process::getpid()
    ));
    say(&format!(
        "terminal: {}",
        std::fs::File::open("/dev/tty").is_ok()
    ));
    say(&format!(
        "cwd: {}",
        std::env::current_dir().unwrap().display()
    ));
    let death = rustix::process::parent_process_death_signal().unwrap();
    say(&format!(
        "parent death signal: {:?}",
        death.map(|signal| signal.as_raw())
    ));
    for (name, value) in std::env::vars_os() {
        say(&format!(
            "env {}={}",
            name.to_string_lossy(),
            value.to_string_lossy()
        ));
    }
}
