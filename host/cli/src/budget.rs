//! The options that say how much is kept of a text.
//!
//! The component checks them.

use clap::Args;
use serde_json::{Map, Value};

/// How much is kept.
#[derive(Args, Debug)]
pub(crate) struct Budget {
    /// Keep at most this many bytes, 512 to 65536 [default: the policy's, else 4096]
    #[arg(long, value_name = "BYTES", value_parser = number, allow_negative_numbers = true)]
    max_bytes: Option<u32>,
    /// Keep this many first lines, and nothing between them and the last ones; output that fits into
    /// `--max-bytes` is kept whole all the same
    #[arg(long, value_name = "LINES", value_parser = number, allow_negative_numbers = true)]
    head: Option<u32>,
    /// Keep this many last lines, and nothing between the first ones and them; output that fits into
    /// `--max-bytes` is kept whole all the same
    #[arg(long, value_name = "LINES", value_parser = number, allow_negative_numbers = true)]
    tail: Option<u32>,
}

impl Budget {
    /// Returns the options as the component takes them, or the empty text where none is given.
    pub(crate) fn options(&self) -> String {
        let given: Map<String, Value> = [
            ("max_bytes", self.max_bytes),
            ("head_lines", self.head),
            ("tail_lines", self.tail),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
        .collect();
        if given.is_empty() {
            String::new()
        } else {
            Value::Object(given).to_string()
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("a whole number from 0 to {} is needed", u32::MAX))
}
