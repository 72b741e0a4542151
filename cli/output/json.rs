//! Writes JSON that is safe to display on a terminal.
//!
//! `serde_json` escapes the control characters that JSON forbids. A terminal also acts on some characters that JSON
//! allows (DEL, the C1 range, direction overrides). This module writes these characters as `\uXXXX` too. Parsers read
//! the same data, and the terminal is not affected.

use std::io::{self, Write};

use serde::Serialize;

use crate::output::sanitize;

/// Writes a value on one line.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(SafeJson::new(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Writes a value with indentation.
pub(crate) fn write_indented(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(SafeJson::new(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Writes JSON and escapes every character that a terminal could act on. The meaning of the JSON stays the same.
pub(crate) struct SafeJson<W> {
    out: W,
    /// The first bytes of an incomplete UTF-8 character.
    rest: Vec<u8>,
}

impl<W: Write> SafeJson<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for SafeJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Most pieces contain only printable ASCII characters.
        if self.rest.is_empty() && bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
            self.out.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]);
        let mut written = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| *c != '\n' && sanitize::is_unsafe(*c)) {
            self.out.write_all(&text.as_bytes()[written..at])?;
            write!(self.out, "\\u{:04x}", u32::from(c))?;
            written = at + c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[written..])?;
        self.rest.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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

    #[test]
    fn characters_that_arrive_in_pieces_are_escaped() {
        let text = "{\"a\":\"\u{7f}ü\u{9b}日\u{202e}\"}\n";
        let mut out = Vec::new();
        let mut safe = SafeJson::new(&mut out);
        text.as_bytes().chunks(1).for_each(|byte| safe.write_all(byte).expect("memory can be written"));
        let written = String::from_utf8(out).expect("the output is UTF-8");
        assert_eq!(written, "{\"a\":\"\\u007fü\\u009b日\\u202e\"}\n");
        let parse = |text: &str| serde_json::from_str::<Value>(text).expect("the text is valid JSON");
        assert_eq!(parse(&written), parse(text));
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
