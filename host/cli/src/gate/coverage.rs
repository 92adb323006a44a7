//! How much a verdict covers: the only run that was judged, the runs that were left out, and whether
//! anything is required.
//!
//! It decides nothing.

use feedback_host::component::Decision;
use feedback_host::lookup::Passed;
use feedback_host::review::Reviewed;
use serde_json::{Map, Value, json};

use crate::summary;

/// The name of the number of requirements, among the numbers of what was left out.
const REQUIREMENTS: &str = "requirements";

/// The failures that are not judged, among the same.
const SET_ASIDE: &str = "set_aside";

/// What is left out, each with its words.
const LEFT_OUT: [(&str, &str); 5] = [
    ("rotated_out", "rotated out"),
    ("before_since", "before `--since`"),
    ("other_projects", "of other projects"),
    ("explorations", "that only explore"),
    ("not_required", "that no requirement asks for"),
];

/// What a verdict does not rest on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    left_out: Map<String, Value>,
    /// How many requirements the policy has; none where they were not asked for.
    requirements: Option<u64>,
    /// Failures of requirements that were written anew, which are not judged, as the component has
    /// them.
    set_aside: Vec<Value>,
    /// The record of the only run that was judged, where one was asked for.
    record: Option<Value>,
}

impl Coverage {
    /// Of a verdict over the whole store.
    pub(super) fn of_all(reviewed: &Reviewed) -> Self {
        let mut left_out = reviewed.scope.clone();
        let requirements = left_out.remove(REQUIREMENTS);
        let set_aside = left_out.get(SET_ASIDE).and_then(Value::as_array).cloned();
        left_out.retain(|_, count| count.is_u64());
        left_out.insert("rotated_out".to_owned(), json!(reviewed.rotated_out));
        Self {
            left_out,
            requirements: requirements.as_ref().and_then(Value::as_u64),
            set_aside: set_aside.unwrap_or_default(),
            record: None,
        }
    }

    /// Of a verdict over the newest run that counts.
    pub(super) fn of_last(record: &str, passed: Passed) -> Self {
        let numbers = [
            ("explorations", passed.explorations),
            ("other_projects", passed.other_projects),
        ];
        let numbers = numbers.map(|(name, count)| (name.to_owned(), json!(count)));
        Self {
            left_out: numbers.into_iter().collect(),
            requirements: None,
            set_aside: Vec::new(),
            record: serde_json::from_str(record).ok(),
        }
    }

    /// Returns what stands behind the decision, or the empty text. That nothing is required is said
    /// of a pass alone.
    pub(super) fn as_text(&self, decision: Decision) -> String {
        let counted = LEFT_OUT.iter().filter_map(|(name, what)| {
            let count = self.left_out.get(*name).and_then(Value::as_u64)?;
            (count > 0).then(|| format!("{count} {what}"))
        });
        let counted: Vec<String> = counted.collect();
        let named = self.record.as_ref().map(name_of);
        let mut text = named.map_or_else(String::new, |named| format!(": {named}"));
        if !counted.is_empty() {
            text.push_str(&format!("; left out: {}", counted.join(", ")));
        }
        if self.requirements == Some(0) && decision == Decision::Pass {
            text.push_str("; the policy requires no command");
        }
        text
    }

    /// Returns what is to be said of each requirement whose failures are not judged.
    pub(super) fn set_aside(&self) -> Vec<String> {
        let messages = self.set_aside.iter();
        let messages = messages.filter_map(|one| one.get("message").and_then(Value::as_str));
        messages.map(str::to_owned).collect()
    }

    /// Adds it to a verdict's document.
    pub(super) fn add_to(&self, document: &mut Value) {
        let Some(keys) = document.as_object_mut() else {
            return;
        };
        keys.insert("left_out".to_owned(), json!(self.left_out));
        keys.insert(REQUIREMENTS.to_owned(), json!(self.requirements));
        keys.insert(SET_ASIDE.to_owned(), json!(self.set_aside));
        if let Some(record) = &self.record {
            keys.insert("command_id".to_owned(), json!(record.get("command_id")));
        }
    }
}

/// Names the run of a record: its command, cut where it is long, and its id.
fn name_of(record: &Value) -> String {
    const MOST_CHARS: usize = 60;
    let command = summary::printable(&summary::command(record.get("command")));
    let shown: String = command.chars().take(MOST_CHARS).collect();
    let cut = if shown.len() < command.len() {
        "…"
    } else {
        ""
    };
    let id = record.get("command_id").and_then(Value::as_str);
    format!("`{shown}{cut}` ({})", id.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(left_out: Value, requirements: Option<u64>) -> Coverage {
        Coverage {
            left_out: serde_json::from_value(left_out).unwrap(),
            requirements,
            set_aside: Vec::new(),
            record: None,
        }
    }

    #[test]
    fn what_was_left_out_is_told_in_few_words_and_nothing_where_nothing_was() {
        let all = json!({"rotated_out": 340, "before_since": 3, "explorations": 0, "new": 2});
        let told = coverage(all, Some(2)).as_text(Decision::Pass);
        assert_eq!(told, "; left out: 340 rotated out, 3 before `--since`");
        let nothing = json!({"rotated_out": 0, "before_since": 0});
        assert_eq!(
            coverage(nothing.clone(), Some(1)).as_text(Decision::Pass),
            ""
        );
        assert_eq!(
            coverage(nothing.clone(), Some(0)).as_text(Decision::Pass),
            "; the policy requires no command"
        );
        let refused = coverage(nothing, Some(0)).as_text(Decision::Refuse);
        assert_eq!(refused, "");
        assert_eq!(Coverage::default().as_text(Decision::Pass), "");
    }
}
