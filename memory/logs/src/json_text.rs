//! Reformats JSON by changing only white space. Numbers, escapes and the order of keys are preserved.

/// Maximum factor by which indentation can lengthen JSON. JSON that would grow more is formatted on one line.
const MAX_GROWTH_FACTOR: usize = 8;
/// Indented JSON of at most this many bytes may exceed [`MAX_GROWTH_FACTOR`].
const ALWAYS_INDENTED_BYTES: usize = 4096;

/// Formats JSON with one value per line and two spaces per level. `text` must be valid JSON.
pub(crate) fn indented(text: &str) -> String {
    let max_bytes = ALWAYS_INDENTED_BYTES.max(MAX_GROWTH_FACTOR * text.len());
    let layout = Layout { out: String::with_capacity(2 * text.len()), depth: 0, is_indented: true, max_bytes };
    layout.format(text).unwrap_or_else(|| compact(text))
}

/// Formats JSON on one line. `text` must be valid JSON.
pub(crate) fn compact(text: &str) -> String {
    let layout = Layout { out: String::with_capacity(text.len()), depth: 0, is_indented: false, max_bytes: usize::MAX };
    layout.format(text).unwrap_or_default()
}

struct Layout {
    out: String,
    depth: usize,
    is_indented: bool,
    /// Maximum length of the result in bytes. Formatting stops with `None` beyond this length.
    max_bytes: usize,
}

impl Layout {
    fn format(mut self, text: &str) -> Option<String> {
        let mut rest = text.trim_ascii();
        while let Some(first) = rest.chars().next() {
            if self.out.len() > self.max_bytes {
                return None;
            }
            let length = match first {
                '"' => string_length(rest),
                _ => first.len_utf8(),
            };
            match first {
                '{' | '[' => {
                    let inner = rest[1..].trim_ascii_start();
                    self.out.push(first);
                    if inner.starts_with(['}', ']']) {
                        self.out.push_str(&inner[..1]);
                        rest = inner[1..].trim_ascii_start();
                        continue;
                    }
                    self.depth += 1;
                    self.line();
                }
                '}' | ']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line();
                    self.out.push(first);
                }
                ',' => {
                    self.out.push(',');
                    self.line();
                }
                ':' => self.out.push_str(if self.is_indented { ": " } else { ":" }),
                _ => self.out.push_str(&rest[..length]),
            }
            rest = rest[length..].trim_ascii_start();
        }
        Some(self.out)
    }

    fn line(&mut self) {
        if self.is_indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }
}

/// Returns the length in bytes of the JSON string at the beginning of a text, including its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn formatting_preserves_values() {
        let text = r#" {"b":1.50e+2, "a" : ["x\"}{", {}, [ ] ,null], "a":"\u00e9, : é"} "#;
        let expected = "{\n  \"b\": 1.50e+2,\n  \"a\": [\n    \"x\\\"}{\",\n    {},\n    [],\n    null\n  ],\n  \"a\": \"\\u00e9, : é\"\n}";
        assert_eq!(indented(text), expected);
        assert_eq!(compact(text), r#"{"b":1.50e+2,"a":["x\"}{",{},[],null],"a":"\u00e9, : é"}"#);
        assert_eq!((indented("12"), compact("\"a b\"")), ("12".to_owned(), "\"a b\"".to_owned()));
    }

    #[test]
    fn json_that_would_grow_too_much_stays_on_one_line() {
        let text = format!("{}{}{}", "[".repeat(100), vec!["1"; 5_000].join(","), "]".repeat(100));
        assert_eq!(indented(&text), text);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|entries| json!(entries.into_iter().collect::<serde_json::Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn both_layouts_match_serde_json(value in value()) {
            let (pretty, dense) = (serde_json::to_string_pretty(&value).unwrap(), value.to_string());
            prop_assert_eq!(&indented(&dense), &pretty);
            prop_assert_eq!(&indented(&pretty), &pretty);
            prop_assert_eq!(&compact(&pretty), &dense);
        }
    }
}
