//! Reads interactions from JSON. All mistakes are reported at once, each with its line and its path in the JSON.

mod fields;
mod mistake;
mod value;

use crate::interaction::{Interaction, Sections};

use fields::Reading;
use value::Value;

pub use mistake::{Mistake, Mistakes};

/// Maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = 128;

/// Reads an interaction:
///
/// ```json
/// {"query": "…", "id": "…", "timestamp": "2025-12-13T14:32:15Z",
///  "phases": [{"number": 1, "name": "ASSESS", "text": "…", "output": {}}],
///  "interactions": [{"agent": "…", "user": "…"}, {"question": "…", "answer": "…"}],
///  "response": "…", "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93}}
/// ```
///
/// `query` and `phases` are required, and so are `name` and `output` of a phase. A key whose value is `null` counts as missing,
/// except for `output`.
///
/// # Errors
/// Returns all mistakes, in the order of the text.
pub fn interaction(text: &[u8]) -> Result<Interaction, Mistakes> {
    let text = check_json(text)?;
    let mut reading = Reading::new(text);
    let interaction = reading.interaction(&Value::whole(text));
    reading.finish(interaction)
}

/// Reads an addition to a log. The format is the format of [`interaction`] without `query`, `id` and `timestamp`. Only one of the
/// sections is required.
///
/// # Errors
/// Returns all mistakes, like [`interaction`].
pub fn additions(text: &[u8]) -> Result<Sections, Mistakes> {
    let text = check_json(text)?;
    let mut reading = Reading::new(text);
    let sections = reading.additions(&Value::whole(text));
    reading.finish(sections)
}

/// Checks that the text is valid JSON of bounded depth.
fn check_json(bytes: &[u8]) -> Result<&str, Mistakes> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
        Mistakes::at(&before, before.len(), "the text is not UTF-8")
    })?;
    if text.trim_ascii().is_empty() {
        return Err(Mistakes::at(text, 0, "the input is empty; expected JSON"));
    }
    if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(text) {
        let message = error.to_string();
        let cause = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
        return Err(Mistake::in_whole_text(error.line(), error.column(), format!("invalid JSON: {cause}")).into());
    }
    match crate::json_text::find_deeper_than(text, MAX_DEPTH) {
        Some(at) => {
            let cause = format!("objects and lists are nested more than {MAX_DEPTH} levels deep");
            Err(Mistakes::at(text, at, cause))
        }
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests;
