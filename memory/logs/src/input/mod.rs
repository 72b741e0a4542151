//! Interactions from JSON. Every mistake is reported at once, with its line and its place.

mod fields;
mod mistake;
mod value;

use crate::interaction::{Interaction, Sections};

use fields::Reading;
use value::Value;

pub use mistake::{Mistake, Mistakes};

/// Objects and lists may be in each other so deep.
const DEEPEST: usize = 128;

/// Reads an interaction:
///
/// ```json
/// {"query": "…", "id": "…", "timestamp": "2025-12-13T14:32:15Z",
///  "phases": [{"number": 1, "name": "ASSESS", "text": "…", "output": {}}],
///  "interactions": [{"agent": "…", "user": "…"}, {"question": "…", "answer": "…"}],
///  "response": "…", "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93}}
/// ```
///
/// `query` and `phases` are required, and so are `name` and `output` of a phase. `null` stands for a key that is not there,
/// but for `output`.
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn interaction(text: &[u8]) -> Result<Interaction, Mistakes> {
    let text = valid(text)?;
    let mut reading = Reading::new(text);
    let interaction = reading.interaction(&Value::whole(text));
    reading.finish(interaction)
}

/// Reads what is added to a log: the same without `query`, `id` and `timestamp`, and nothing is required but one of the
/// sections.
///
/// # Errors
/// As for [`interaction`].
pub fn additions(text: &[u8]) -> Result<Sections, Mistakes> {
    let text = valid(text)?;
    let mut reading = Reading::new(text);
    let sections = reading.additions(&Value::whole(text));
    reading.finish(sections)
}

/// The text, if it is JSON.
fn valid(bytes: &[u8]) -> Result<&str, Mistakes> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
        Mistakes::at(&before, before.len(), "the text is not UTF-8")
    })?;
    if text.trim_ascii().is_empty() {
        return Err(Mistakes::at(text, 0, "there is no JSON: nothing was given"));
    }
    if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(text) {
        let told = error.to_string();
        let cause = told.rsplit_once(" at line ").map_or(told.as_str(), |(cause, _)| cause);
        return Err(Mistake::on(error.line(), error.column(), format!("invalid JSON: {cause}")).into());
    }
    match crate::json_text::deeper_than(text, DEEPEST) {
        Some(at) => {
            let cause = format!("objects and lists are more than {DEEPEST} levels deep in each other");
            Err(Mistakes::at(text, at, cause))
        }
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests;
