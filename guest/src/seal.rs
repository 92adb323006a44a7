//! Gives a body its place in a store, and checks a line against its own checksum.
//!
//! It builds no record and judges none: it knows the integrity keys and nothing else.

use crc::{CRC_32_ISCSI, Crc};
use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::document;
use crate::fault::{Fault, FaultCode};

/// The largest line, in bytes without its newline.
pub const LINE_LIMIT: usize = 256 * 1024;

/// The major number of the schema that this component knows.
const SCHEMA_MAJOR: &str = "1";

const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// What stands before the checksum. It cannot occur inside a JSON text, where a quote is escaped.
const CRC_KEY: &str = ",\"crc\":\"";

/// What stands after the eight digits of the checksum.
const LINE_END: &str = "\"}";

/// How a record starts. A record behind a torn fragment is found by it.
const LINE_START: &str = "{\"schema_version\"";

/// How many places on one line are tried as the start of a record. A line that was torn and
/// glued has two or three; the limit bounds the time that a hostile line can take.
const STARTS_TRIED: usize = 64;

/// What a store needs to know of a line that it already holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The `command_id` of the record.
    pub command_id: String,
    /// The position of the line in the store, counted from 1 over all files.
    pub seq: u64,
    /// `sha256:` of the line before, or the empty text in the first line of a store.
    pub prev: String,
    /// Where the record starts in the text that was given, in bytes.
    pub offset: usize,
    /// The length of the record in bytes.
    pub length: usize,
}

/// Adds `seq`, `prev` and, as the last key, `crc` to a body, and returns the line without its
/// newline. The bytes of the body stay as they are.
///
/// # Errors
/// `invalid-json` where the body is no object on one line, has no `command_id`, or is sealed
/// already, or where `prev` is no digest; `unsupported-schema`; `limit-exceeded` where the line
/// would be over [`LINE_LIMIT`].
pub fn seal(body: &str, seq: u64, prev: &str) -> Result<String, Fault> {
    let body = body.trim();
    if body.contains(['\n', '\r']) {
        return Err(invalid("body: has a line break"));
    }
    let keys: BodyKeys = document::read("body", body)?;
    if keys.command_id.is_empty() {
        return Err(invalid("body: `command_id` is empty"));
    }
    if keys.seq.is_some() || keys.prev.is_some() || keys.crc.is_some() {
        return Err(invalid("body: is sealed already"));
    }
    know_schema(&keys.schema_version)?;
    if !(prev.is_empty() || is_digest(prev)) {
        return Err(invalid("`prev`: is no digest"));
    }
    let open = body
        .strip_suffix('}')
        .ok_or_else(|| invalid("body: is no object"))?;
    let mut line = format!("{open},\"seq\":{seq},\"prev\":\"{prev}\"");
    let crc = CRC32C.checksum(line.as_bytes());
    line.push_str(&format!("{CRC_KEY}{crc:08x}{LINE_END}"));
    if line.len() > LINE_LIMIT {
        return Err(Fault::new(
            FaultCode::LimitExceeded,
            format!("line: {} bytes, over {LINE_LIMIT}", line.len()),
        ));
    }
    Ok(line)
}

/// Checks one line against its own checksum. A whole record behind a torn fragment, or before
/// something else on the same line, is found; the first one counts.
///
/// # Errors
/// `damaged-record` where no whole record is on the line; `unsupported-schema` where one is
/// whole but was written under a schema that this component does not know.
pub fn check(line: &str) -> Result<Checked, Fault> {
    for crc_at in memmem::find_iter(line.as_bytes(), CRC_KEY) {
        let Some((sealed, rest)) = line.split_at_checked(crc_at) else {
            continue;
        };
        let Some(crc) = checksum_in(rest) else {
            continue;
        };
        let end = crc_at + CRC_KEY.len() + 8 + LINE_END.len();
        for start in starts(sealed) {
            let Some((_, candidate)) = sealed.split_at_checked(start) else {
                continue;
            };
            if CRC32C.checksum(candidate.as_bytes()) != crc {
                continue;
            }
            let Some(record) = line.get(start..end) else {
                continue;
            };
            return read_keys(record, start);
        }
    }
    Err(Fault::new(
        FaultCode::DamagedRecord,
        "line: no record on it matches its checksum",
    ))
}

/// The keys of a body that sealing looks at.
#[derive(Deserialize)]
struct BodyKeys {
    schema_version: String,
    command_id: String,
    seq: Option<IgnoredAny>,
    prev: Option<IgnoredAny>,
    crc: Option<IgnoredAny>,
}

/// The keys of a line that a store looks at.
#[derive(Deserialize)]
struct LineKeys {
    schema_version: String,
    command_id: String,
    seq: u64,
    prev: String,
}

/// Returns the first starts from the left: the text's own, then every place that looks like one.
fn starts(sealed: &str) -> impl Iterator<Item = usize> {
    let marks = memmem::find_iter(sealed.as_bytes(), LINE_START).filter(|start| *start != 0);
    std::iter::once(0).chain(marks).take(STARTS_TRIED)
}

/// Reads the digits that follow the checksum's key, and sees that the record ends there.
fn checksum_in(rest: &str) -> Option<u32> {
    let (digits, end) = rest.strip_prefix(CRC_KEY)?.split_at_checked(8)?;
    let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !end.starts_with(LINE_END) || !digits.bytes().all(lower_hex) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

fn read_keys(record: &str, offset: usize) -> Result<Checked, Fault> {
    let damaged = |fault: Fault| Fault::new(FaultCode::DamagedRecord, fault.message);
    let keys: LineKeys = document::read("line", record).map_err(damaged)?;
    know_schema(&keys.schema_version)?;
    Ok(Checked {
        command_id: keys.command_id,
        seq: keys.seq,
        prev: keys.prev,
        offset,
        length: record.len(),
    })
}

fn know_schema(version: &str) -> Result<(), Fault> {
    match version.split_once('.') {
        Some((SCHEMA_MAJOR, minor)) if minor.parse::<u32>().is_ok() => Ok(()),
        Some(_) | None => Err(Fault::new(
            FaultCode::UnsupportedSchema,
            "`schema_version`: not 1.x",
        )),
    }
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

fn invalid(message: &str) -> Fault {
    Fault::new(FaultCode::InvalidJson, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"schema_version":"1.0","command_id":"a","note":"é \"crc\":\"x"}"#;

    fn digest() -> String {
        format!("sha256:{}", "0f".repeat(32))
    }

    fn code(result: Result<impl std::fmt::Debug, Fault>) -> FaultCode {
        result.unwrap_err().code
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        assert_eq!(CRC32C.checksum(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_sealed_line_keeps_the_body_and_ends_in_its_checksum() {
        let line = seal(BODY, 7, "").unwrap();
        let open = BODY.strip_suffix('}').unwrap();
        let sealed = format!("{open},\"seq\":7,\"prev\":\"\"");
        let crc = CRC32C.checksum(sealed.as_bytes());
        assert_eq!(line, format!("{sealed},\"crc\":\"{crc:08x}\"}}"));
    }

    #[test]
    fn a_sealed_line_checks() {
        let line = seal(BODY, 7, &digest()).unwrap();
        let checked = check(&line).unwrap();
        assert_eq!(
            checked,
            Checked {
                command_id: "a".into(),
                seq: 7,
                prev: digest(),
                offset: 0,
                length: line.len(),
            }
        );
    }

    #[test]
    fn every_changed_byte_is_damage() {
        let line = seal(BODY, 7, &digest()).unwrap();
        for at in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            assert_eq!(code(check(&text)), FaultCode::DamagedRecord, "byte {at}");
        }
    }

    #[test]
    fn every_shortened_line_is_damage() {
        let line = seal(BODY, 7, "").unwrap();
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            assert_eq!(
                code(check(line.get(..end).unwrap())),
                FaultCode::DamagedRecord,
                "{end}"
            );
        }
    }

    #[test]
    fn a_record_behind_every_torn_fragment_is_found() {
        let line = seal(BODY, 7, "").unwrap();
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            let glued = format!("{}{line}", line.get(..end).unwrap());
            let checked = check(&glued).unwrap();
            assert_eq!((checked.offset, checked.length), (end, line.len()));
        }
    }

    #[test]
    fn of_two_records_on_one_line_the_first_counts() {
        let first = seal(BODY, 1, "").unwrap();
        let second = seal(BODY, 2, &digest()).unwrap();
        let checked = check(&format!("{first}{second}")).unwrap();
        assert_eq!((checked.seq, checked.length), (1, first.len()));
    }

    #[test]
    fn a_byte_order_mark_and_a_carriage_return_are_outside_of_the_record() {
        let line = seal(BODY, 1, "").unwrap();
        let checked = check(&format!("\u{feff}{line}\r")).unwrap();
        assert_eq!((checked.offset, checked.length), (3, line.len()));
    }

    #[test]
    fn a_line_of_the_limit_is_sealed_and_one_byte_more_is_not() {
        let body = |fill: usize| {
            format!(
                r#"{{"schema_version":"1.0","command_id":"a","fill":"{}"}}"#,
                "x".repeat(fill)
            )
        };
        let overhead = seal(&body(0), 1, "").unwrap().len();
        let exact = LINE_LIMIT - overhead;
        assert_eq!(seal(&body(exact), 1, "").unwrap().len(), LINE_LIMIT);
        assert_eq!(
            code(seal(&body(exact + 1), 1, "")),
            FaultCode::LimitExceeded
        );
    }

    #[test]
    fn what_is_no_body_is_not_sealed() {
        let no_id = r#"{"schema_version":"1.0"}"#;
        let list = r#"["schema_version","command_id"]"#;
        let sealed = seal(BODY, 1, "").unwrap();
        let two_lines = BODY.replace(',', ",\n");
        for body in [no_id, list, "", "{", sealed.as_str(), two_lines.as_str()] {
            assert_eq!(code(seal(body, 1, "")), FaultCode::InvalidJson, "{body}");
        }
        assert_eq!(code(seal(BODY, 1, "sha256:0")), FaultCode::InvalidJson);
    }

    #[test]
    fn another_major_schema_is_told_apart_from_damage() {
        let body = BODY.replace("1.0", "2.0");
        assert_eq!(code(seal(&body, 1, "")), FaultCode::UnsupportedSchema);
        let sealed = seal(BODY, 1, "").unwrap().replace("1.0", "2.0");
        let open = sealed.split(CRC_KEY).next().unwrap();
        let crc = CRC32C.checksum(open.as_bytes());
        let line = format!("{open}{CRC_KEY}{crc:08x}{LINE_END}");
        assert_eq!(code(check(&line)), FaultCode::UnsupportedSchema);
    }

    #[test]
    fn a_line_of_many_starts_is_refused_in_bounded_time() {
        let hostile = format!("{}{CRC_KEY}00000000{LINE_END}", LINE_START.repeat(10_000));
        assert_eq!(code(check(&hostile)), FaultCode::DamagedRecord);
    }
}
