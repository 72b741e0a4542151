//! Results that are written one at a time, without keeping all of them in memory.

use std::io::{self, Write};

use serde::Serialize;

use crate::output::json;

/// Writes results as one JSON list, as lines of JSON, or as text.
pub(super) struct Rows<W> {
    /// The output, for results as text.
    pub(super) out: W,
    is_list: bool,
    count: u64,
}

impl<W: Write> Rows<W> {
    /// Creates a writer. It writes one JSON list if `is_list` is set, and lines otherwise.
    pub(super) fn new(out: W, is_list: bool) -> Self {
        Self { out, is_list, count: 0 }
    }

    /// Writes a result as JSON.
    pub(super) fn push(&mut self, value: &impl Serialize) -> io::Result<()> {
        if !self.is_list {
            self.count += 1;
            return json::write_line(&mut self.out, value);
        }
        self.out.write_all(if self.count == 0 { b"[\n" } else { b",\n" })?;
        self.count += 1;
        let mut line = Vec::new();
        json::write_line(&mut line, value)?;
        self.out.write_all(line.trim_ascii_end())
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        match (self.is_list, self.count) {
            (true, 0) => self.out.write_all(b"[]\n")?,
            (true, _) => self.out.write_all(b"\n]\n")?,
            (false, _) => {}
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_list: bool, values: &[&str]) -> String {
        let mut out = Vec::new();
        let mut rows = Rows::new(&mut out, is_list);
        for value in values {
            rows.push(value).unwrap();
        }
        rows.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn results_are_written_as_a_list_or_as_lines() {
        assert_eq!(written(true, &[]), "[]\n");
        assert_eq!(written(true, &["a", "b"]), "[\n\"a\",\n\"b\"\n]\n");
        assert_eq!(written(false, &["a", "b"]), "\"a\"\n\"b\"\n");
        assert_eq!(written(false, &[]), "");
    }
}
