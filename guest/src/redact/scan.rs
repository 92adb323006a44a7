//! Looks through one line with every rule and settles what overlaps.
//!
//! A line is a whole line or a window of a long one. It changes nothing.

use super::anchors::Found;
use super::armour;
use super::bytes::text;
use super::hit::{Family, Hit, RuleRef};
use super::tokens::TOKENS;
use super::user;
use super::view::{View, each_unescaped, is_dressed, undressed, without_backspaces};
use super::words::Action;
use super::{Rules, address, base, encoded, header, keyed, shape};

/// A span that is to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The span, and its rule.
    pub(super) hit: Hit,
    /// Tells secrets apart without keeping them.
    pub(super) digest: u64,
}

/// What was found in a line.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// What is to be replaced: sorted, without overlap.
    pub(super) marks: Vec<Mark>,
    /// The rule that takes the whole line, if any.
    pub(super) whole: Option<RuleRef>,
}

/// Says whether a line is worth looking at. What it says of a line does not depend on the
/// lines around it.
pub(super) fn is_chosen(rules: &Rules, line: &str) -> bool {
    rules.anchors().chooses(line.as_bytes())
}

/// Looks through a line in all its readings.
pub(super) fn scan(rules: &Rules, line: &str) -> Scanned {
    let dressed = is_dressed(line).then(|| undressed(line));
    scan_readings(rules, line, dressed.as_ref())
}

/// Looks through a line in all its readings; `dressed` is the one without escape sequences, where
/// that is another.
pub(super) fn scan_readings(rules: &Rules, line: &str, dressed: Option<&View>) -> Scanned {
    let mut marks = Vec::new();
    each_reading(line, dressed, |text, seams, original| {
        read(rules, text, seams, &mut marks, original);
    });
    settle(rules, marks)
}

/// Calls `each` with every reading of a line, and the way back from its positions. Where words are
/// glued together in one, another has a blank in between, and comes with the places of those.
pub(super) fn each_reading(
    line: &str,
    dressed: Option<&View>,
    mut each: impl FnMut(&str, &[usize], &dyn Fn(usize, usize) -> (usize, usize)),
) {
    let base = dressed.map_or(line, |view| view.text.as_str());
    let original = |start, end| dressed.map_or((start, end), |view| view.original(start, end));
    each(base, &[], &original);
    if let Some(view) = dressed.and_then(|_| without_backspaces(line)) {
        each(&view.text, &[], &|start, end| view.original(start, end));
    }
    if let Some((view, seams)) = dressed.and_then(|view| view.apart(line)) {
        each(&view.text, &seams, &|start, end| view.original(start, end));
    }
    each_unescaped(base, |inner| {
        let original = |(start, end)| original(start, end);
        each(&inner.text, &[], &|start, end| {
            original(inner.original(start, end))
        });
        if let Some((view, seams)) = inner.apart(base) {
            each(&view.text, &seams, &|start, end| {
                original(view.original(start, end))
            });
        }
    });
}

/// Looks through one reading.
fn hits(rules: &Rules, line: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    rules.known.find(line, |number, start, end| {
        hits.push(Hit {
            from: start,
            start,
            end,
            rule: RuleRef::Known(number),
        });
    });
    if line.len() > 2 * 64 {
        armour::joined(line, |run| {
            hits.push(Hit::of(Family::PrivateKey, run.start, run.start, run.end));
        });
    }
    let mut seen = Seen {
        name_end: 0,
        tried: vec![0; rules.user.len()],
    };
    rules.anchors().each(line, |found| {
        judge(rules, line, found, &mut seen, &mut hits);
    });
    hits
}

/// Marks what one reading shows; `original` gives the way back. Where it is one with seams, what
/// touches none of them was found in another.
fn read(
    rules: &Rules,
    line: &str,
    seams: &[usize],
    marks: &mut Vec<Mark>,
    original: impl Fn(usize, usize) -> (usize, usize),
) {
    for hit in hits(rules, line) {
        let (start, end) = original(hit.start, hit.end);
        let (from, _) = original(hit.from, hit.end);
        if end > start && (seams.is_empty() || touches(seams, &hit)) {
            let digest = fingerprint(text(line, hit.start, hit.end));
            let hit = Hit {
                from: from.min(start),
                start,
                end,
                ..hit
            };
            marks.push(Mark { hit, digest });
        }
    }
}

/// Says whether a hit begins behind a seam or ends before one.
fn touches(seams: &[usize], hit: &Hit) -> bool {
    let is_behind = |at: usize| at.checked_sub(1).is_some_and(|at| is_seam(seams, at));
    is_behind(hit.from) || is_behind(hit.start) || is_seam(seams, hit.end)
}

fn is_seam(seams: &[usize], at: usize) -> bool {
    seams.binary_search(&at).is_ok()
}

/// What need not be looked at again.
struct Seen {
    /// Where the last name ends.
    name_end: usize,
    /// For each rule of the policy that was tried, how far.
    tried: Vec<usize>,
}

/// Follows one anchor.
fn judge(rules: &Rules, line: &str, found: Found, seen: &mut Seen, hits: &mut Vec<Hit>) {
    let Found { action, start, end } = found;
    let hit = match action {
        Action::Token(index) => token(line, index, start),
        Action::Name => named(line, start, &mut seen.name_end),
        Action::Bearer => base::bearer(line, start),
        Action::Slack => base::slack(line, start),
        Action::Aws => base::aws_id(line, start),
        Action::Address => address::password(line, start),
        Action::Query => address::query(line, start),
        Action::Authorization => header::authorization(line, end),
        Action::OpaqueHeader => opaque_header(line, end),
        Action::Cookie => {
            header::cookies(line, end, hits);
            None
        }
        Action::Jwt => shape::jwt(line, start),
        Action::Telegram => shape::telegram(line, start),
        Action::Dot => shape::discord(line, start),
        Action::Ending => shape::ending(line, start),
        Action::Bar => shape::barred(line, start),
        Action::Unseal => shape::unseal(line, end),
        Action::Webhook => shape::webhook(line, start),
        Action::Jwk => shape::jwk(line, start),
        Action::PrivateKey => shape::key_on_a_line(line, start),
        Action::KeyBody => {
            let run = armour::key_at(line, start);
            run.map(|run| Hit::of(Family::PrivateKey, run.start, run.start, run.end))
        }
        Action::UserFlag => header::user_flag(line, end),
        Action::PasswordFlag => header::password_flag(line, start + 1),
        Action::Piped => header::piped(line, start),
        Action::PasswordFile => address::password_file(line, start),
        Action::Encoded(index) => rules
            .anchors()
            .beginning(index)
            .and_then(|beginning| encoded::find(line, start, beginning)),
        Action::User(index) => {
            // A literal that comes again and again must not make a pattern slow.
            if let (Some(rule), Some(tried)) = (rules.user.get(index), seen.tried.get_mut(index)) {
                if start < *tried {
                    return;
                }
                *tried = start + user::STEP;
                rule.find(line, start, |from, start, end| {
                    hits.push(Hit {
                        from,
                        start,
                        end,
                        rule: RuleRef::User(index),
                    });
                });
            }
            None
        }
        Action::Look => None,
    };
    hits.extend(hit);
}

fn token(line: &str, index: usize, start: usize) -> Option<Hit> {
    let end = TOKENS.get(index)?.end(line.as_bytes(), start)?;
    Some(Hit {
        from: start,
        start,
        end,
        rule: RuleRef::Token(index),
    })
}

fn opaque_header(line: &str, end: usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let name_end = super::bytes::run_end(bytes, end, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    });
    header::opaque(line, name_end)
}

/// Reads the base rules' words first, then the name as any other.
fn named(line: &str, start: usize, name_end: &mut usize) -> Option<Hit> {
    let bytes = line.as_bytes();
    let base = if super::bytes::has_at(bytes, start, b"password=") {
        base::password(line, start)
    } else {
        ["api_key=", "api-key=", "apikey="]
            .iter()
            .find(|word| super::bytes::has_at(bytes, start, word.as_bytes()))
            .and_then(|word| base::api_key(line, start, start + word.len()))
    };
    if base.is_some() {
        return base;
    }
    if start < *name_end {
        return None;
    }
    let name = keyed::name_at(line, start)?;
    *name_end = name.end;
    keyed::find(line, &name)
}

/// Tells texts apart: FNV-1a. It need not resist anyone, since it is never shown.
pub(super) fn fingerprint(secret: &str) -> u64 {
    secret.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Joins what overlaps, under the more telling rule, and finds the rule that takes the line.
fn settle(rules: &Rules, marks: Vec<Mark>) -> Scanned {
    let whole = marks
        .iter()
        .filter(|mark| rules.takes_line(mark.hit.rule))
        .map(|mark| mark.hit.rule)
        .min();
    Scanned {
        marks: joined(marks),
        whole,
    }
}

/// Puts marks in order and joins those that overlap, under the more telling rule.
pub(super) fn joined(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|mark| (mark.hit.start, mark.hit.end, mark.hit.rule));
    let mut joined: Vec<Mark> = Vec::with_capacity(marks.len());
    for mark in marks {
        match joined.last_mut() {
            Some(last) if mark.hit.start < last.hit.end => join(last, mark),
            _ => joined.push(mark),
        }
    }
    joined
}

fn join(last: &mut Mark, mark: Mark) {
    // Of two readings of one secret the longer one tells it from others.
    let is_longer = mark.hit.rule == last.hit.rule && mark.hit.end > last.hit.end;
    last.hit.end = last.hit.end.max(mark.hit.end);
    last.hit.from = last.hit.from.min(mark.hit.from);
    if mark.hit.rule < last.hit.rule || is_longer {
        last.hit.rule = mark.hit.rule;
        last.digest = mark.digest;
    }
}

/// Returns the hit that stands for a line of a private key's block.
pub(super) fn key_line(start: usize, end: usize) -> Hit {
    Hit::of(Family::PrivateKey, 0, start, end)
}
