//! Formats the text of a log. A log is Markdown that contains the JSON output of every phase.
//!
//! Text and JSON are in fenced blocks, so that a reader does not parse a line in them as a heading.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::fence::fenced;
use crate::interaction::{JsonText, Phase, Sections};
use crate::query_id::QueryId;

/// The line that ends the sections of an interaction, in a new log or in text that is appended to a log. Markdown that
/// is stored verbatim has no such line.
pub(crate) const END: &str = "---\n";

/// Formats the header of a log, followed by an empty line.
pub(crate) fn header(time: Timestamp, id: &QueryId, query: &str, keywords: &[String]) -> String {
    let query = serde_json::Value::from(query);
    let mut text = format!("---\n## Query: {time} | ID: {id}\n\n**User Query**: {query}\n");
    if !keywords.is_empty() {
        let _ = writeln!(text, "**Keywords**: {}", keywords.join(", "));
    }
    text.push('\n');
    text
}

/// The start of the heading that precedes appended text.
pub(crate) const ADDITION: &str = "## Appended: ";

/// Formats the heading that precedes appended text.
pub(crate) fn addition_heading(time: Timestamp) -> String {
    format!("\n{ADDITION}{time}\n\n")
}

/// Formats the heading of a section whose Markdown is stored verbatim.
pub(crate) fn section_heading(name: &str) -> String {
    format!("### {name}\n\n")
}

/// Formats sections, each followed by an empty line. A phase without a number gets the number after the previous phase.
/// `last` is the number of the last phase that the log already contains, or 0.
pub(crate) fn sections(sections: &Sections, last: u32) -> String {
    let (mut text, mut last) = (String::new(), last);
    for phase in &sections.phases {
        last = phase.number.unwrap_or(last.saturating_add(1));
        push_phase(&mut text, last, phase);
    }
    if let Some(exchanges) = &sections.exchanges {
        let _ = writeln!(text, "### User Interactions\n\n{}", fenced("json", &exchanges.indented()));
    }
    if let Some(response) = &sections.response {
        let _ = writeln!(text, "### Response\n\n{}", fenced("markdown", response));
    }
    if !sections.summary.is_empty() {
        text.push_str("### Execution Summary\n");
        for (name, value) in &sections.summary {
            push_figure(&mut text, name, value);
        }
        text.push('\n');
    }
    text
}

fn push_phase(text: &mut String, number: u32, phase: &Phase) {
    let _ = writeln!(text, "### Phase {number}: {}\n", phase.name);
    if let Some(words) = phase.text.as_deref().filter(|words| !words.trim().is_empty()) {
        let _ = writeln!(text, "{}", fenced("markdown", words));
    }
    let _ = writeln!(text, "{}", fenced("json", &phase.output.indented()));
}

fn push_figure(text: &mut String, name: &str, value: &JsonText) {
    let raw = value.compact();
    let (name, value) = match name {
        "duration_ms" => ("Total Duration".to_owned(), seconds(&raw)),
        "complexity" => ("Complexity".to_owned(), plain(value, raw)),
        "verification_score" => ("Verification Score".to_owned(), raw),
        "tokens" => ("Tokens Used".to_owned(), raw),
        "cost_usd" => ("Estimated Cost".to_owned(), format!("${raw}")),
        name => (one_line(name.to_owned()), plain(value, raw)),
    };
    let _ = writeln!(text, "- **{name}**: {value}");
}

/// Formats milliseconds as seconds without rounding: `12785` becomes `12.785 seconds`. A value that is not an integer
/// keeps the unit `ms`.
fn seconds(milliseconds: &str) -> String {
    match milliseconds.parse::<u64>() {
        Ok(number) => format!("{}.{:03} seconds", number / 1000, number % 1000),
        Err(_) => format!("{milliseconds} ms"),
    }
}

/// Returns the content of a string without control characters, and any other value as JSON.
fn plain(value: &JsonText, raw: String) -> String {
    match value.as_text() {
        Some(text) if !text.contains(char::is_control) => text,
        _ => raw,
    }
}

/// Returns a text without control characters unchanged, and any other text as a JSON string.
fn one_line(text: String) -> String {
    if text.contains(char::is_control) { serde_json::Value::from(text).to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::interaction;
    use crate::keywords::keywords;

    #[test]
    fn a_log_is_markdown_with_json() {
        let text = r####"{
          "query": "Implement \"OAuth2\"\nfor our API", "timestamp": "2025-12-13T14:32:15Z", "id": "aurora-1",
          "phases": [
            {"name": "ASSESS", "output": {"complexity": "complex", "confidence": 0.870}},
            {"number": 4, "name": "VERIFY (Decomposition)", "text": "```\n### Phase 7: no\n```\n", "output": null},
            {"name": "ROUTE", "output": "a ````` b"}
          ],
          "interactions": [{"agent": "Which budget?", "user": "$2000", "turn": 1}],
          "response": "I have\n\n### Phase 9: done\n",
          "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93, "tokens": {"llm": 8450},
                      "cost_usd": 0.0234, "note": "a\nb", "cached": true}}"####;
        let read = interaction("a.json", text.as_bytes()).unwrap();
        let words = keywords(&read.query, 2);
        let head = header(read.time.unwrap(), &read.id.unwrap(), &read.query, &words);
        insta::assert_snapshot!(format!("{head}{}{END}", sections(&read.sections, 0)));
    }

    #[test]
    fn phases_without_a_number_continue_the_numbering() {
        let phases = r#"{"phases": [{"name": "A", "output": 1}, {"number": 9, "name": "B", "output": 1}, {"name": "C", "output": 1}]}"#;
        let text = sections(&crate::input::additions("a.json", phases.as_bytes()).unwrap(), 6);
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("###")).collect();
        assert_eq!(headings, ["### Phase 7: A", "### Phase 9: B", "### Phase 10: C"]);
    }
}
