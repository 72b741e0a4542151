//! The header of a log. It contains the time, the id, the query and the keywords of the interaction.

use jiff::Timestamp;

use crate::query_id::QueryId;
use crate::rfc_3339::rfc_3339;

/// Maximum number of lines in a header.
const MAX_HEADER_LINES: usize = 40;
/// Maximum length of a query in bytes. Longer queries are truncated.
const MAX_QUERY_BYTES: usize = 4096;

/// The header of a log. Fields can be missing in logs that other programs have written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogHeader {
    /// The time at which the interaction began.
    pub time: Option<Timestamp>,
    /// The id of the interaction.
    pub id: Option<String>,
    /// The query, truncated to 4096 bytes.
    pub query: Option<String>,
    /// The keywords of the query.
    pub keywords: Vec<String>,
}

/// Parses a header line by line.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeaderReader {
    header: LogHeader,
    lines: usize,
}

impl HeaderReader {
    /// Processes the next line. Returns `false` if the line is not part of the header.
    pub(crate) fn line(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if let Some(heading) = line.strip_prefix("## Query:") {
            if self.header.id.is_none() && self.header.time.is_none() {
                self.identity(heading);
            }
        } else if line.starts_with("## ") || line.starts_with("###") || self.lines > MAX_HEADER_LINES {
            return false;
        } else {
            self.field(line);
        }
        true
    }

    pub(crate) fn finish(self) -> LogHeader {
        self.header
    }

    /// Parses the rest of the first heading: `TIME | ID: id`.
    fn identity(&mut self, heading: &str) {
        let (time, id) = heading.split_once('|').unwrap_or((heading, ""));
        self.header.time = rfc_3339(time.trim());
        let id = id.trim().strip_prefix("ID:").map(str::trim);
        self.header.id = id.and_then(|id| QueryId::parse(id).ok()).map(|id| id.as_str().to_owned());
    }

    /// Parses `**User Query**: "…"` and `**Keywords**: a, b`. Also accepts `Query: …`, which other programs write.
    fn field(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else { return };
        let (key, value) = (key.trim_matches(['*', '-', ' ']), value.trim_start_matches('*').trim());
        match key {
            "User Query" | "Query" if self.header.query.is_none() && !value.is_empty() => {
                let mut query = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
                query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
                self.header.query = Some(query);
            }
            "Keywords" if self.header.keywords.is_empty() => {
                let words = value.split(',').map(str::trim).filter(|word| !word.is_empty());
                self.header.keywords = words.map(str::to_owned).collect();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> LogHeader {
        let mut reader = HeaderReader::default();
        for line in text.lines() {
            if !reader.line(line.as_bytes()) {
                break;
            }
        }
        reader.finish()
    }

    #[test]
    fn headers_are_parsed() {
        let found = header(
            "---\n## Query: 2025-12-13T14:32:15Z | ID: aurora-1\n\n**User Query**: \"a \\\"b\\\"\\nc\"\n**Keywords**: x, y\n\n### Phase 1: A\nQuery: no\n## Query: 2024-01-01T00:00:00Z | ID: forged\n",
        );
        assert_eq!(found.id.as_deref(), Some("aurora-1"));
        assert_eq!(found.time.unwrap().to_string(), "2025-12-13T14:32:15Z");
        assert_eq!(
            (found.query.as_deref(), found.keywords),
            (Some("a \"b\"\nc"), vec!["x".to_owned(), "y".to_owned()])
        );
        let other = header("# Conversation: OAuth\nDate: 2025-12-13\nQuery: how to log in\n## Phase 1: A\n");
        assert_eq!((other.query.as_deref(), other.id, other.time), (Some("how to log in"), None, None));
        let wrong = header("## Query: yesterday | ID: ../../x y\n");
        assert_eq!((wrong.id, wrong.time), (None, None));
        assert_eq!(header("nothing of the kind\n"), LogHeader::default());
    }
}
