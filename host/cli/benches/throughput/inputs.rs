//! The inputs: texts like those that commands print, the same ones every time.
//!
//! They hold no secret and nothing of any project.

use std::io::{self, Write};

/// A kind of output.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    line: fn(&mut Dice, &mut String),
}

pub(crate) const INPUTS: &[Input] = &[
    Input {
        name: "plain",
        title: "plain lines",
        line: plain,
    },
    Input {
        name: "build",
        title: "a build of C, a few warnings",
        line: build,
    },
    Input {
        name: "ci",
        title: "CI logs: times, colours, progress",
        line: ci,
    },
    Input {
        name: "long-line",
        title: "one line",
        line: long_line,
    },
];

/// How much is made before it is repeated, in bytes: more than any cache of a matcher holds.
const BLOCK: usize = 8 << 20;

impl Input {
    /// Writes about `bytes` bytes, never more.
    pub(crate) fn write(&self, bytes: u64, to: &mut impl Write) -> io::Result<()> {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let mut block = String::new();
        while block.len() < BLOCK {
            (self.line)(&mut dice, &mut block);
        }
        let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
        while left > 0 {
            let piece = block.floor_char_boundary(left.min(block.len()));
            to.write_all(&block.as_bytes()[..piece])?;
            left -= piece.max(1);
        }
        to.flush()
    }
}

/// A generator of numbers that is the same on every machine (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap_or(0)]
    }
}

const WORDS: &[&str] = &[
    "buffer", "queue", "parser", "render", "socket", "index", "cache", "module", "driver", "table",
    "window", "event", "stream", "header", "layout", "worker", "panel", "device", "config",
    "store",
];

fn plain(dice: &mut Dice, text: &mut String) {
    for _ in 0..4 + dice.below(8) {
        text.push_str(dice.pick(WORDS));
        text.push(' ');
    }
    text.push_str(&format!("{}\n", dice.below(100_000)));
}

fn build(dice: &mut Dice, text: &mut String) {
    let (a, b, c) = (dice.pick(WORDS), dice.pick(WORDS), dice.pick(WORDS));
    let (line, column) = (dice.below(3000), dice.below(80));
    match dice.below(400) {
        0 => text.push_str(&format!(
            "drivers/{a}/{b}_{c}.c:{line}:{column}: warning: unused variable '{b}' [-Wunused-variable]\n  {line} |         int {b};\n      |             ^~~~~~\n"
        )),
        1 => text.push_str(&format!("In file included from drivers/{a}/{b}.c:{line}:\n")),
        2..=20 => text.push_str(&format!("  AR      drivers/{a}/built-in.a\n")),
        21..=40 => text.push_str(&format!("  LD [M]  drivers/{a}/{b}.ko\n")),
        _ => text.push_str(&format!("  CC      drivers/{a}/{b}/{b}_{c}_{line}.o\n")),
    }
}

fn ci(dice: &mut Dice, text: &mut String) {
    let (a, b, c) = (dice.pick(WORDS), dice.pick(WORDS), dice.pick(WORDS));
    let n = dice.below(100_000);
    text.push_str(&format!(
        "2026-03-{:02}T{:02}:{:02}:{:02}.{:07}Z ",
        1 + dice.below(28),
        dice.below(24),
        dice.below(60),
        dice.below(60),
        dice.below(10_000_000)
    ));
    match dice.below(24) {
        0 => text.push_str(&format!(
            "##[group]Run cargo test --workspace --package {a}-{b}\n"
        )),
        1 | 2 => text.push_str(&format!(
            "\u{1b}[32m\u{1b}[1m   Compiling\u{1b}[0m {a}-{b} v0.{}.{}\n",
            n % 40,
            n % 9
        )),
        3 => text.push_str(&format!(
            "\u{1b}[36;1mwarning\u{1b}[0m: unused import: `{a}::{b}`\n"
        )),
        4 => (0..6).for_each(|step| {
            text.push_str(&format!("\rReceiving objects: {}% ({n}/99999)", step * 20));
        }),
        5 => text.push_str(&format!(
            "{:016x}{:016x}: Pull complete\n",
            dice.next(),
            dice.next()
        )),
        6 => text.push_str(&format!(
            "GET https://registry.example.org/{a}/-/{b}-{}.{}.0.tgz 200 {n}ms\n",
            n % 9,
            n % 31
        )),
        7 => text.push_str(&format!(
            "    at Object.<anonymous> (/home/runner/work/{a}/src/{b}.test.ts:{}:{})\n",
            n % 900,
            n % 80
        )),
        8 => text.push_str(&format!(
            "{{\"level\":\"info\",\"msg\":\"{a} {b}\",\"user\":{n},\"took_ms\":{}}}\n",
            n % 1000
        )),
        9 => text.push_str(&format!("  ✓ {a} {b} {c} ({} ms)\n", n % 90)),
        10 if n.is_multiple_of(40) => {
            text.push_str(&format!("\u{1b}[31mFAIL\u{1b}[0m src/{a}/{b}.test.ts\n"));
        }
        11 if n.is_multiple_of(20) => {
            text.push_str(&format!("error: {a} {b} failed with code {}\n", n % 3));
        }
        12 => text.push_str(&format!("Downloading {a}-{b} ({n} kB)\n")),
        13 => text.push_str(&format!(
            "added {n} packages, and audited {} packages in {}s\n",
            n + 1,
            n % 60
        )),
        _ => text.push_str(&format!(
            "test {a}::{b}::{c}_{} ... \u{1b}[32mok\u{1b}[0m\n",
            n % 500
        )),
    }
    if text.ends_with(')') || text.ends_with('Z') {
        text.push('\n');
    }
}

fn long_line(dice: &mut Dice, text: &mut String) {
    text.push_str(&format!(
        "\"{}\":{},",
        dice.pick(WORDS),
        dice.below(100_000)
    ));
}
