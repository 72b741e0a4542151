//! Writes JSON that is safe to display on a terminal.
//!
//! `serde_json` escapes the control characters that JSON forbids. A terminal also acts on some characters that JSON
//! allows (DEL, the C1 range, direction overrides). This module writes them as `\uXXXX` too, so the data is the same
//! and the terminal is not affected.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::output::sanitize;

/// Writes a value on one line.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let formatter = Safe(CompactFormatter);
    value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
    out.write_all(b"\n")
}

/// Writes a value with indentation.
pub(crate) fn write_indented(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let formatter = Safe(PrettyFormatter::new());
    value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
    out.write_all(b"\n")
}

struct Safe<F>(F);

impl<F: Formatter> Formatter for Safe<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| sanitize::is_unsafe(*c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn written(value: &Value) -> (String, String) {
        let (mut line, mut indented) = (Vec::new(), Vec::new());
        write_line(&mut line, value).expect("writing to a vector does not fail");
        write_indented(&mut indented, value).expect("writing to a vector does not fail");
        let text = |bytes| String::from_utf8(bytes).expect("JSON is UTF-8");
        (text(line), text(indented))
    }

    #[test]
    fn control_characters_are_escaped() {
        let (line, _) = written(&json!({"text": "a\u{1b}[31m\u{9b}\u{7f}\u{202e}\n\"é"}));
        assert_eq!(line, "{\"text\":\"a\\u001b[31m\\u009b\\u007f\\u202e\\n\\\"é\"}\n");
    }

    proptest! {
        #[test]
        fn any_text_round_trips_and_is_safe(key in any::<String>(), text in any::<String>(), number in any::<i64>()) {
            let value = json!({key: [text, number, null, {}]});
            let (line, indented) = written(&value);
            for text in [&line, &indented] {
                prop_assert_eq!(&serde_json::from_str::<Value>(text).expect("valid JSON"), &value);
                prop_assert!(!text.replace('\n', "").contains(sanitize::is_unsafe));
            }
            prop_assert_eq!(line.matches('\n').count(), 1);
        }
    }
}
