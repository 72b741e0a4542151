//! The sections of a log. A section begins at a second-level or third-level heading.

use serde::Serialize;

use crate::fence::FenceTracker;

/// Maximum length of a section name in bytes. Longer names are truncated.
const MAX_HEADING_BYTES: usize = 256;
/// Maximum length of a title that can be written, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// Description of the rule that [`is_title`] checks, for messages.
pub(crate) const TITLE_RULE: &str =
    "a line of 1 to 100 characters that begins with a letter or a digit and does not end with `#`";

/// Returns `true` if a text can be written as a heading and read back unchanged.
pub(crate) fn is_title(text: &str) -> bool {
    let is_line = !text.contains(char::is_control) && text.chars().count() <= MAX_TITLE_CHARS;
    text.starts_with(char::is_alphanumeric) && !text.ends_with('#') && text.trim() == text && is_line
}

/// A section, from its heading to the line before the next section.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Section {
    /// The heading, such as `Phase 3: DECOMPOSE`; `None` for the lines before the first heading.
    pub name: Option<String>,
    /// The number of the phase; `None` if the section is not a phase.
    pub phase: Option<u32>,
}

/// Finds the headings of sections line by line.
#[derive(Debug, Clone, Default)]
pub struct SectionTracker {
    fences: FenceTracker,
}

impl SectionTracker {
    /// Processes the next line. If the line is a heading outside fenced blocks, returns the section that begins there.
    pub fn line(&mut self, line: &[u8]) -> Option<Section> {
        let is_text = self.fences.line(line);
        let trimmed = line.trim_ascii_start();
        if !is_text || !trimmed.starts_with(b"##") {
            return None;
        }
        let line = String::from_utf8_lossy(trimmed);
        let section = parse_heading(line.trim());
        if section.as_ref().is_some_and(|section| section.phase.is_some()) {
            // The indexer of logs resets open fenced blocks at the heading of a phase, so this tracker does the same.
            self.fences = FenceTracker::default();
        }
        section
    }

    /// Returns the line that would close the open fenced block; `None` if no block is open.
    pub(crate) fn closing_fence(&self) -> Option<String> {
        self.fences.closing()
    }
}

/// Parses a heading into the section that it begins.
fn parse_heading(line: &str) -> Option<Section> {
    let title = title(line)?;
    let (name, phase) = match parse_phase(line) {
        Some((number, "")) => (format!("Phase {number}"), Some(number)),
        Some((number, name)) => (format!("Phase {number}: {name}"), Some(number)),
        // The heading of a log's header also contains the time and the id of the interaction, which are not part of the
        // name.
        None if title.starts_with("Query:") => ("Query".to_owned(), None),
        None => (title.trim_end_matches('#').trim_end().to_owned(), None),
    };
    let name = name[..name.floor_char_boundary(MAX_HEADING_BYTES)].to_owned();
    Some(Section { name: Some(name), phase })
}

/// Returns the text of a second-level or third-level heading.
fn title(line: &str) -> Option<&str> {
    Some(line.strip_prefix("###").or_else(|| line.strip_prefix("##"))?.strip_prefix(' ')?.trim())
}

/// Parses the number and the name of a heading such as `## Phase 3: NAME`. The separator can also be a dash or a
/// period, and the name can be missing.
pub fn parse_phase(line: &str) -> Option<(u32, &str)> {
    const SEPARATORS: [char; 5] = [':', '-', '–', '—', '.'];
    let title = title(line)?;
    let rest = title.get(..5).filter(|word| word.eq_ignore_ascii_case("phase")).and(title.get(5..))?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start();
    if !(name.is_empty() || name.starts_with(SEPARATORS)) {
        return None;
    }
    let name = name.trim_start_matches(|c| c == ' ' || SEPARATORS.contains(&c));
    Some((number, name.trim_end_matches('#').trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> Vec<(usize, String, Option<u32>)> {
        let mut tracker = SectionTracker::default();
        let found = |(at, line): (usize, &str)| {
            tracker.line(line.as_bytes()).map(|found| (at + 1, found.name.unwrap_or_default(), found.phase))
        };
        text.lines().enumerate().filter_map(found).collect()
    }

    #[test]
    fn headings_begin_sections() {
        let text = "---\n## Query: 2025-12-13T14:32:15Z | ID: a\n### Phase 1: ASSESS\n```\n### Phase 2: no\n```\n## phase 2 – Plan ##\n#### deeper\n##none\n### Phase x\n### Phase 4b: VERIFY\n### Phase 3\n### Execution Summary\n";
        let expected = [
            (2, "Query", None),
            (3, "Phase 1: ASSESS", Some(1)),
            (7, "Phase 2: Plan", Some(2)),
            (10, "Phase x", None),
            (11, "Phase 4b: VERIFY", None),
            (12, "Phase 3", Some(3)),
            (13, "Execution Summary", None),
        ];
        assert_eq!(sections(text), expected.map(|(line, name, phase)| (line, name.to_owned(), phase)));
    }
}
