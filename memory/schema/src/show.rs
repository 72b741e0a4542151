//! How values of a document look in messages.

use jsonc_parser::ast::Value;

/// Most characters of a value that a message repeats.
const SHOWN_CHARACTERS: usize = 60;

/// Most numbers of a list that a message repeats.
const SHOWN_NUMBERS: usize = 4;

/// A value as it stands in the document, or what it is.
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

/// A short list of numbers, such as a range of lines.
fn numbers(values: &[Value]) -> Option<String> {
    let shown: Option<Vec<String>> =
        values.iter().take(SHOWN_NUMBERS + 1).map(|value| Some(cut(value.as_number_lit()?.value))).collect();
    shown.filter(|shown| (1..=SHOWN_NUMBERS).contains(&shown.len())).map(|shown| format!("[{}]", shown.join(", ")))
}

/// A text in quotes. Control characters are escaped, since they could change how a terminal shows the message.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
