//! Golden sets as JSON Lines: one question a line.

use serde_json::{Value, json};

use crate::golden::fields::{self, Defaults};
use crate::golden::question::{Answer, Question};

/// Every question with its line, from 1; blank lines are skipped.
pub(crate) fn read(text: &str, set: &str) -> Vec<(usize, Result<Question, Vec<String>>)> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(text, line)| {
            let question = match serde_json::from_str::<Value>(text) {
                Ok(value) => fields::read(&value, Defaults { set, id: format!("{set}:{line}") }),
                Err(error) => Err(vec![format!("not JSON: {}", place_free(&error))]),
            };
            (line, question)
        })
        .collect()
}

/// One question as a line, with its line feed; empty fields are left out.
pub(crate) fn line(question: &Question) -> String {
    let mut fields = serde_json::Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("id", json!(question.id));
    put("set", json!(question.set));
    put("query", json!(question.query));
    put("relevant", question.relevant.iter().map(answer).collect());
    if !question.tags.is_empty() {
        put("tags", json!(question.tags));
    }
    if !question.topics.is_empty() {
        put("expected_topics", json!(question.topics));
    }
    if let Some(least) = question.min_recall {
        put("min_recall", json!(least));
    }
    format!("{}\n", Value::Object(fields))
}

fn answer(answer: &Answer) -> Value {
    let mut value = json!({
        "path": answer.path,
        "line_start": answer.lines.map(|lines| lines.0),
        "line_end": answer.lines.map(|lines| lines.1),
        "name": answer.name,
    });
    if let (Some(grade), Value::Object(fields)) = (answer.grade, &mut value) {
        fields.insert("grade".to_owned(), json!(grade));
    }
    value
}

/// The message without "at line 1 column 5": the line is known, and it is not 1.
fn place_free(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} (column {})", &text[..at], error.column()),
        None => text,
    }
}
