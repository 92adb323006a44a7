//! That no byte that any command writes holds a piece of a secret, wherever the secret stood.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::sandbox::Sandbox;

/// How many bytes of a secret in a row may not be anywhere.
const PIECE: usize = 10;

/// Random-looking characters, other ones for each `seed`.
pub(crate) fn opaque(seed: usize, length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = u64::try_from(seed)
        .expect("small")
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 33).expect("small") % alphabet.len()]
    };
    (0..length).map(|_| next()).collect()
}

pub(crate) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A text that holds a secret, and the secret.
pub(crate) struct Seed {
    pub(crate) text: String,
    pub(crate) secret: String,
}

/// Thirty secrets in the shapes in which they leak; `|` stands where a shape is put together, so
/// that none is in the source, and the first `@` where its secret is.
pub(crate) fn seeds() -> Vec<Seed> {
    let shapes = [
        ("Bea|rer @", 40, LETTERS),
        ("pass|word=@", 24, LETTERS),
        ("api|_key=@", 32, LETTERS),
        ("AK|IA@", 16, CAPITALS),
        ("xo|xb-123456789012-@", 24, LETTERS),
        ("gh|p_@", 36, LETTERS),
        ("github|_pat_@", 82, LETTERS),
        ("gl|pat-@", 20, LETTERS),
        ("sk-an|t-api03-@AA", 93, LETTERS),
        ("sk-o|r-v1-@", 64, HEX),
        ("gs|k_@", 52, LETTERS),
        ("h|f_@", 34, LETTERS),
        ("np|m_@", 36, LETTERS),
        ("AI|za@", 35, LETTERS),
        ("GOC|SPX-@", 28, LETTERS),
        ("sk_li|ve_@", 24, LETTERS),
        ("wh|sec_@", 32, LETTERS),
        ("dop|_v1_@", 64, HEX),
        ("shp|at_@", 32, HEX),
        ("SG|.aaaaaaaaaaaaaaaaaaaaaa.@", 43, LETTERS),
        ("da|pi@", 32, HEX),
        ("gl|sa_@_0a1b2c3d", 32, LETTERS),
        ("hv|s.@", 40, LETTERS),
        ("postgres://svc:|@@db.example/main", 24, LETTERS),
        ("client_sec|ret: \"@\"", 32, LETTERS),
        ("X-Api-K|ey: @", 32, LETTERS),
        ("Set-Coo|kie: sid=@; Secure", 32, LETTERS),
        ("--tok|en=@", 28, LETTERS),
        (
            "https://hooks.sl|ack.com/services/T0Q7XK2M9/B0R4TZ8B3/@",
            24,
            LETTERS,
        ),
        // What has no shape at all is known by its value.
        ("|@", 28, LETTERS),
    ];
    shapes
        .iter()
        .enumerate()
        .map(|(seed, (shape, length, alphabet))| {
            let secret = opaque(seed + 1, *length, alphabet);
            let text = shape.replace('|', "").replacen('@', &secret, 1);
            Seed { text, secret }
        })
        .collect()
}

/// Everything that was written so far, and by whom.
pub(crate) struct Written {
    pub(crate) sandbox: Sandbox,
    known: String,
    all: Vec<(String, Vec<u8>)>,
    calls: usize,
}

impl Written {
    /// Nothing so far; the value of the last seed is known to every command.
    pub(crate) fn new(seeds: &[Seed]) -> Self {
        assert_eq!(seeds.len(), 30);
        Self {
            sandbox: Sandbox::new(),
            known: seeds.last().expect("thirty").secret.clone(),
            all: Vec::new(),
            calls: 0,
        }
    }

    /// Returns the binary with the known value in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.feedback();
        command.env("DEPLOY_PASSWORD", &self.known).args(arguments);
        command
    }

    /// Calls a command with the known value in its environment and keeps what it wrote.
    pub(crate) fn call(&mut self, arguments: &[&str]) -> String {
        self.keep(arguments[0], self.command(arguments))
    }

    /// Keeps what a command writes, and returns its standard output.
    pub(crate) fn keep(&mut self, name: &str, mut command: Command) -> String {
        let output = command.output().expect("the binary runs");
        self.calls += 1;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        self.all.push((format!("stdout of {name}"), output.stdout));
        self.all.push((format!("stderr of {name}"), output.stderr));
        text
    }

    /// Keeps what was seen elsewhere.
    pub(crate) fn saw(&mut self, name: &str, text: &str) {
        self.calls += 1;
        self.all.push((name.to_owned(), text.as_bytes().to_vec()));
    }

    /// Looks at all of it and at every file for a piece of a secret.
    pub(crate) fn holds_no_piece_of<'a>(&mut self, secrets: impl Iterator<Item = &'a str>) {
        let on_disk = self.sandbox.every_byte();
        self.all.push(("the files".to_owned(), on_disk));
        let pieces: HashSet<&[u8]> = secrets
            .flat_map(|secret| secret.as_bytes().windows(PIECE))
            .collect();
        let mut leaks = Vec::new();
        for (name, text) in &self.all {
            let leak = text
                .windows(PIECE)
                .position(|window| pieces.contains(window));
            if let Some(at) = leak {
                let around = &text[at.saturating_sub(60)..at + PIECE];
                leaks.push(format!("{name}: {}", String::from_utf8_lossy(around)));
            }
        }
        assert!(
            leaks.is_empty(),
            "{} leaks\n{}",
            leaks.len(),
            leaks.join("\n")
        );
    }

    /// Asserts that it is not clean because it is empty.
    pub(crate) fn is_more_than(&self, calls: usize, bytes: usize, markers: usize) {
        let all: usize = self.all.iter().map(|(_, text)| text.len()).sum();
        let marked = |text: &[u8]| text.windows(9).any(|window| window == b"[REDACTED");
        let marked = self.all.iter().filter(|(_, text)| marked(text)).count();
        assert!(
            self.calls > calls && all > bytes && marked > markers,
            "{} calls, {all} bytes, {marked} with markers",
            self.calls
        );
    }
}

/// The output of the commands that are run, and files with telling names. They lie outside of the
/// folder whose every byte is looked at.
pub(crate) fn inputs(folder: &TempDir, seeds: &[Seed]) -> (String, Vec<String>) {
    let key = [
        "-----BEGIN PRIVATE",
        " KEY-----\n",
        &opaque(99, 64, LETTERS),
        "\n-----END PRIVATE",
        " KEY-----\n",
    ]
    .concat();
    let mut log = String::new();
    for seed in seeds {
        log.push_str(&format!("a line before\n  with {} in it\n", seed.text));
    }
    log.push_str(&key);
    let path = folder.path().join("output");
    fs::write(&path, &log).expect("written");
    let named = seeds.iter().map(|seed| {
        let path = folder.path().join("named").join(&seed.text);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, &log).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    });
    (path.to_str().expect("UTF-8").to_owned(), named.collect())
}

fn run_everything(written: &mut Written, seeds: &[Seed], output: &str, named: &[String]) {
    let script = "cat \"$0\"; cat \"$0\" >&2; exit 3";
    let texts: Vec<&str> = seeds.iter().map(|seed| seed.text.as_str()).collect();
    let all = [&["run", "--", "sh", "-c", script, output][..], &texts].concat();
    written.call(&all);
    written.call(
        &[
            &["run", "--text", "--", "sh", "-c", script, output][..],
            &texts,
        ]
        .concat(),
    );
    for (number, text) in texts.iter().enumerate() {
        let missing = format!("/nowhere/{text}");
        written.call(&["run", "--note", text, "--tail", "2", "--", "cat", output]);
        written.call(&["run", "--cwd", &missing, "--", "true"]);
        written.call(&["run", "--", &format!("no-such-program {text}")]);
        written.call(&["run", "--", "sh", "-c", &format!("exit 1 # {text}")]);
        // These share the way in which a message is told, so each secret meets one of each kind.
        let wrong = ["--nope", "--timeout", "--parent", "--max-bytes", "--head"][number % 5];
        written.call(&["run", &format!("{wrong}={text}"), "--", "true"]);
        let unknown = [
            &["show", text][..],
            &[text],
            &["gate", text],
            &["rules", text],
            &["verify", "--record-file", &missing],
            &["export", "--record-file", &missing, "nothing"],
        ];
        written.call(unknown[number % unknown.len()]);
        let unreadable = [
            &["redact", missing.as_str()][..],
            &["excerpt", &missing],
            &["audit", &missing],
            &["audit", "--key", &missing, output],
        ];
        written.call(unreadable[number / 4 % 4]);
    }
    for command in [
        &["show"][..],
        &["show", "--text"],
        &["show", "--failed", "--text"],
        &["gate"],
        &["gate", "--json"],
        &["gate", "--last"],
        &["recover"],
        &["verify"],
        &["export", "exported"],
        &["rules"],
        &["rules", "--json"],
        &["audit", "--json"],
        &["redact", output],
        &["redact", "--mode", "span", output],
        &["redact", "--mode", "line", output],
        &["excerpt", output],
        &["excerpt", "--json", "--max-bytes", "65536", output],
    ] {
        written.call(command);
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    for command in [
        &["audit"][..],
        &["audit", "--json"],
        &["audit", "--sarif"],
        &["excerpt", "--stats"],
        &["excerpt", "--stats", "--json"],
        &["excerpt"],
    ] {
        written.call(&[command, &named].concat());
    }
}

#[test]
fn no_command_writes_a_piece_of_any_of_thirty_secrets() {
    let seeds = seeds();
    let mut written = Written::new(&seeds);
    let folder = tempfile::tempdir().expect("a folder");
    let (output, named) = inputs(&folder, &seeds);
    let policy = json!({ "redaction": { "rules": [{
        "id": "acme-key",
        "description": format!("as in {}", seeds[5].text),
        "literal": "acme_",
        "pattern": "acme_[a-z]{4}",
        "example": format!("acme_abcd {}", seeds[6].text),
        "counter_example": format!("acme_ {}", seeds[7].text),
    }] } });
    // Above the folder that is looked at there is none, so the policy is moved in and out.
    let policy_file = written.sandbox.write("feedback.json", policy.to_string());
    run_everything(&mut written, &seeds, &output, &named);
    fs::remove_file(policy_file).expect("removed");
    let audit = written.sandbox.call(["audit"]);
    assert_eq!(audit.status, 0, "the records are clean: {}", audit.stdout);

    written.holds_no_piece_of(seeds.iter().map(|seed| seed.secret.as_str()));
    written.is_more_than(200, 300_000, 150);
}
