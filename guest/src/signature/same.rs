//! Takes out of a line what differs from one run of the same thing to the next.
//!
//! Plain numbers stay: a status of 401 is another failure than one of 500.

/// Returns the line with every part that varies replaced by its name, and single blanks.
#[must_use]
pub fn normal(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        let found = if before.is_some_and(char::is_alphanumeric) {
            // Only `x0b` and `v12` begin within a word, and those are names.
            None
        } else {
            varying(rest, out.as_str())
        };
        match found {
            Some((length, name)) => {
                out.push_str(name);
                before = Some('>');
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                if !(c.is_whitespace() && out.ends_with(' ')) {
                    out.push(if c.is_whitespace() { ' ' } else { c });
                }
                before = Some(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
    }
    out.trim().to_owned()
}

/// Returns how long what varies is at the beginning of a text.
type Length = fn(&str) -> Option<usize>;

/// What varies at the beginning of `rest`, as its length and its name; `before` is the text that
/// it follows.
fn varying(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let first = *rest.as_bytes().first()?;
    if first == b'/' {
        return temporary(rest).map(|length| (length, "<tmp>"));
    }
    if first.is_ascii_alphabetic()
        && let Some(length) = month_day(rest)
    {
        return Some((length, "<time>"));
    }
    if !first.is_ascii_hexdigit() {
        return None;
    }
    let kinds: [(Length, &'static str); 8] = [
        (uuid, "<id>"),
        (date, "<time>"),
        (clock, "<time>"),
        (address, "<address>"),
        (internet, "<host>"),
        (duration, "<duration>"),
        (epoch, "<time>"),
        (hash, "<hash>"),
    ];
    let known = kinds
        .into_iter()
        .find_map(|(kind, name)| kind(rest).map(|length| (length, name)));
    known
        .or_else(|| measured(rest, before))
        .or_else(|| named(rest, before))
}

/// A number of which the word before it says that it is a duration: `duration_ms: 7.57`,
/// `time="0.123"`. A time without a fraction may be anything.
fn measured(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let whole = digits(rest);
    let fraction = rest.get(whole..)?.strip_prefix('.').map_or(0, digits);
    let length = whole + if fraction > 0 { 1 + fraction } else { 0 };
    if whole == 0 {
        return None;
    }
    let lower = before.to_ascii_lowercase();
    let named = lower.trim_end_matches(['=', ':', ' ', '"', '\'']);
    let is_named = |word: &str| named.ends_with(word);
    let is_duration = ["duration", "duration_ms", "elapsed", "elapsed_ms"]
        .into_iter()
        .any(is_named);
    let is_time = fraction > 0 && is_named("time");
    let is_measured = named.len() < lower.len() && (is_duration || is_time);
    is_measured
        .then_some(length)
        .and_then(|length| ends_word(rest, length))
        .map(|length| (length, "<duration>"))
}

/// A number whose name stands before it: `pid 12`, `port: 80`, `thread 'x' (12)`, `foo[12]:`.
fn named(rest: &str, before: &str) -> Option<(usize, &'static str)> {
    let length = digits(rest);
    let after = rest.get(length..)?;
    if length == 0 || after.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
        return None;
    }
    let lower = before.to_ascii_lowercase();
    let opened = lower.trim_end_matches(['=', ':', ' ', '#', '"', '\'']);
    let is_word = |word: &str| {
        opened
            .strip_suffix(word)
            .is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric()))
    };
    let process = [
        "pid",
        "ppid",
        "tid",
        "process",
        "process id",
        "thread id",
        "job",
    ];
    if process.into_iter().any(is_word) {
        return Some((length, "<pid>"));
    }
    if is_word("port") || lower.ends_with("localhost:") || lower.ends_with("]:") {
        return Some((length, "<port>"));
    }
    if is_word("seed") {
        return Some((length, "<seed>"));
    }
    let is_of_thread =
        lower.ends_with("' (") && lower.contains("thread '") && after.starts_with(')');
    let is_of_log = lower.ends_with('[')
        && lower
            .trim_end_matches('[')
            .ends_with(|c: char| c.is_alphanumeric())
        && after.starts_with("]:");
    let is_of_tool = lower.ends_with("==") && after.starts_with("==");
    (is_of_thread || is_of_log || is_of_tool).then_some((length, "<pid>"))
}

/// A path below a folder for temporary files. Its last part stays a part of the text where it
/// is a name that somebody gave.
fn temporary(rest: &str) -> Option<usize> {
    let roots = [
        "/tmp/",
        "/var/tmp/",
        "/private/tmp/",
        "/dev/shm/",
        "/var/folders/",
        "/private/var/folders/",
    ];
    let root = roots.into_iter().find(|root| rest.starts_with(root))?;
    let inside = rest.get(root.len()..)?;
    let end = inside
        .find(|c: char| c.is_whitespace() || "\"'`()[]<>,;:|".contains(c))
        .unwrap_or(inside.len());
    let path = inside.get(..end)?;
    let kept = path.rfind('/').filter(|at| {
        let name = path.get(at + 1..).unwrap_or_default();
        !name.is_empty() && !name.starts_with("tmp") && !name.bytes().any(|b| b.is_ascii_digit())
    });
    Some(root.len() + kept.unwrap_or(end))
}

/// `Nov 30`, `30` left to the clock behind it.
fn month_day(rest: &str) -> Option<usize> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (month, after) = rest.split_at_checked(3)?;
    let day = after.trim_start_matches(' ');
    let blanks = after.len() - day.len();
    let length = digits(day);
    let is_day = MONTHS.contains(&month) && (1..=2).contains(&blanks) && (1..=2).contains(&length);
    is_day.then_some(3 + blanks + length)
}

/// `2026-11-30`, also with slashes or with the day first, and with a clock behind it.
fn date(rest: &str) -> Option<usize> {
    let year_first = shape(rest, "dddd-dd-dd").or_else(|| shape(rest, "dddd/dd/dd"));
    let day = year_first
        .or_else(|| shape(rest, "dd/dd/dddd"))
        .or_else(|| shape(rest, "dd.dd.dddd"))?;
    let after = rest.get(day..)?;
    if after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let time = after
        .strip_prefix(['T', ' ', '_', '-'])
        .and_then(|time| clock(time).or_else(|| file_clock(time)));
    Some(day + time.map_or(0, |length| length + 1))
}

/// A clock as names of files have it: `15_15_52_123Z`, `15-15-52`; or one without seconds.
fn file_clock(rest: &str) -> Option<usize> {
    let forms = [
        "dd_dd_dd_dddZ",
        "dd-dd-dd-dddZ",
        "dd_dd_dd",
        "dd-dd-dd",
        "dd:dd",
    ];
    forms.into_iter().find_map(|form| shape(rest, form))
}

/// `15:15:52.123Z`, `9:07:01 +0100`.
fn clock(rest: &str) -> Option<usize> {
    let base = shape(rest, "dd:dd:dd").or_else(|| shape(rest, "d:dd:dd"))?;
    let mut length = base;
    let fraction = rest
        .get(length..)?
        .strip_prefix(['.', ','])
        .map_or(0, digits);
    if fraction > 0 {
        length += 1 + fraction;
    }
    let zone = rest.get(length..)?;
    let zoned = [
        "Z", " UTC", "+dd:dd", "-dd:dd", "+dddd", "-dddd", " +dddd", " -dddd",
    ];
    length += zoned
        .into_iter()
        .find_map(|zoned| shape(zone, zoned))
        .unwrap_or(0);
    ends_word(rest, length)
}

fn uuid(rest: &str) -> Option<usize> {
    let length = shape(rest, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")?;
    ends_word(rest, length)
}

fn address(rest: &str) -> Option<usize> {
    let hex = rest.strip_prefix("0x")?;
    let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
    // `0x1` is a value, as it stands in a source.
    (length >= 5).then_some(2 + length)
}

/// `127.0.0.1:45123`: a port that was free, at an address.
fn internet(rest: &str) -> Option<usize> {
    let mut length = 0;
    for part in 0..4 {
        if part > 0 {
            length += shape(rest.get(length..)?, ".")?;
        }
        let number = digits(rest.get(length..)?);
        if !(1..=3).contains(&number) {
            return None;
        }
        length += number;
    }
    let port = rest.get(length..)?.strip_prefix(':').map_or(0, digits);
    (port > 0).then_some(length + 1 + port)
}

/// `9.07s`, `12ms`, `0.3 seconds`, `1m30s`.
fn duration(rest: &str) -> Option<usize> {
    const CLOSE: [&str; 12] = [
        "ns", "us", "µs", "μs", "ms", "min", "sec", "secs", "s", "m", "h", "mins",
    ];
    const APART: [&str; 13] = [
        "ns",
        "µs",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "minute",
        "minutes",
        "hour",
        "hours",
        "milliseconds",
    ];
    let mut length = 0;
    loop {
        let here = rest.get(length..)?;
        let whole = digits(here);
        if whole == 0 {
            return (length > 0).then_some(length);
        }
        let fraction = here.get(whole..)?.strip_prefix('.').map_or(0, digits);
        let number = if fraction > 0 {
            whole + 1 + fraction
        } else {
            whole
        };
        let after = here.get(number..)?;
        let apart = after.strip_prefix(' ');
        let word = apart.unwrap_or(after);
        let unit: usize = word
            .chars()
            .take_while(|c| c.is_alphabetic())
            .map(char::len_utf8)
            .sum();
        let name = word.get(..unit)?;
        let known = if apart.is_some() {
            APART.contains(&name)
        } else {
            CLOSE.contains(&name)
        };
        if !known {
            return None;
        }
        length += number + usize::from(apart.is_some()) + unit;
        if apart.is_some() {
            return Some(length);
        }
    }
}

/// Seconds or milliseconds since 1970, of this century.
fn epoch(rest: &str) -> Option<usize> {
    let length = digits(rest);
    let is_time = matches!(length, 10 | 13) && rest.starts_with('1');
    is_time
        .then_some(length)
        .and_then(|length| ends_word(rest, length))
}

/// Seven or more hexadecimal digits that are neither a plain number nor a word.
fn hash(rest: &str) -> Option<usize> {
    let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let text = rest.get(..length)?;
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    let is_hash = length >= 7 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    is_hash
        .then_some(length)
        .and_then(|length| ends_word(rest, length))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The length of `shape` where the text begins so: `d` stands for a digit, `x` for a hexadecimal
/// one, and everything else for itself.
fn shape(text: &str, shape: &str) -> Option<usize> {
    let mut bytes = text.bytes();
    for wanted in shape.bytes() {
        let byte = bytes.next()?;
        let fits = match wanted {
            b'd' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == other,
        };
        if !fits {
            return None;
        }
    }
    Some(shape.len())
}

fn ends_word(text: &str, length: usize) -> Option<usize> {
    let next = text.get(length..)?.chars().next();
    (!next.is_some_and(|next| next.is_alphanumeric() || next == '_')).then_some(length)
}
