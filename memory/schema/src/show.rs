//! Formats values of a document for messages.

use jsonc_parser::ast::Value;

/// Maximum number of characters of a value shown in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// Maximum number of numbers of a list shown in a message.
const MAX_SHOWN_NUMBERS: usize = 4;

/// Formats a value as in the document, or returns its type for a list or object.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::StringLit(string) => quoted(&string.value),
        Value::NumberLit(number) => cut(number.value),
        Value::BooleanLit(boolean) => boolean.value.to_string(),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(values) => numbers(&values.elements).unwrap_or_else(|| "a list".to_owned()),
        Value::NullKeyword(_) => "null".to_owned(),
    }
}

/// Formats a short list of numbers, such as a range of lines.
fn numbers(values: &[Value]) -> Option<String> {
    let shown: Option<Vec<String>> =
        values.iter().take(MAX_SHOWN_NUMBERS + 1).map(|value| Some(cut(value.as_number_lit()?.value))).collect();
    shown.filter(|shown| (1..=MAX_SHOWN_NUMBERS).contains(&shown.len())).map(|shown| format!("[{}]", shown.join(", ")))
}

/// Formats a text in quotes. Control characters are escaped, because they could change the display of the message in a terminal.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
