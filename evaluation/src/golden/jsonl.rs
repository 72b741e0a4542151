//! Parses and formats golden sets as JSON Lines: one question per line.

use serde_json::{Value, json};

use crate::golden::fields::{self, Defaults};
use crate::golden::question::Question;

/// Parses every question and returns it with its line number, from 1. Blank lines are skipped.
pub(crate) fn read(text: &str, set: &str) -> Vec<(usize, Result<Question, Vec<String>>)> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(text, line)| {
            let question = match serde_json::from_str::<Value>(text) {
                Ok(value) => fields::read(&value, Defaults { set, id: format!("{set}:{line}") }),
                Err(error) => Err(vec![format!("not JSON: {}", message_without_line(&error))]),
            };
            (line, question)
        })
        .collect()
}

/// Formats a question as a line that ends with a line feed; empty fields are omitted.
pub(crate) fn line(question: &Question) -> String {
    format!("{}\n", json!(question))
}

/// Returns the message without "at line 1 column 5". Each line is parsed separately, so the parser always reports line
/// 1; the caller adds the real line number.
fn message_without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} (column {})", &text[..at], error.column()),
        None => text,
    }
}
