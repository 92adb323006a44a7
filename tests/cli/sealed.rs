//! Lines with their place in a store, made without the product: what others may have written.

use sha2::{Digest, Sha256};

/// A chain of lines, as a store has them.
#[derive(Default)]
pub(crate) struct Chain {
    pub(crate) seq: u64,
    prev: String,
}

impl Chain {
    /// Goes on behind the last of these lines.
    pub(crate) fn behind(text: &str) -> Self {
        let last = text.lines().last().expect("a line");
        let record: serde_json::Value = serde_json::from_str(last).expect("JSON");
        Self {
            seq: record["seq"].as_u64().expect("a number"),
            prev: digest(last),
        }
    }

    /// Returns the next line, with its newline.
    pub(crate) fn line(&mut self, body: &str) -> String {
        self.seq += 1;
        let line = sealed(body, self.seq, &self.prev);
        self.prev = digest(&line);
        line + "\n"
    }

    /// Returns the next line of a run that exited 0, with this much output.
    pub(crate) fn run(&mut self, output: usize) -> String {
        let id = format!("00000000-0000-7000-8000-{:012}", self.seq + 1);
        let body = serde_json::json!({
            "schema_version": "1.0", "kind": "run", "command_id": id,
            "outcome": "exited", "exit_code": 0, "stdout_tail": "x".repeat(output),
        });
        self.line(&body.to_string())
    }
}

/// Adds the integrity keys to a body.
pub(crate) fn sealed(body: &str, seq: u64, prev: &str) -> String {
    let open = body.strip_suffix('}').expect("an object");
    let line = format!("{open},\"seq\":{seq},\"prev\":\"{prev}\"");
    let crc = crc32c(line.as_bytes());
    format!("{line},\"crc\":\"{crc:08x}\"}}")
}

/// The digest of a line without its newline, as a store writes it.
pub(crate) fn digest(line: &str) -> String {
    let hex: String = Sha256::digest(line)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{hex}")
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                (crc >> 1) ^ 0x82f6_3b78
            } else {
                crc >> 1
            }
        })
    })
}
