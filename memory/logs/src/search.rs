//! Searches the text of a log line by line. A hit is a section in which all parts of the pattern match. It lists the
//! best matching lines of the section.
//!
//! Memory usage does not depend on the size of a log, because a search stores only the current line and a few matching
//! lines of the current section.

use std::io;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};
use serde::Serialize;

use crate::directory::LogDirectory;
use crate::header::HeaderReader;
use crate::heading::{Section, SectionTracker};
use crate::layout::LogFile;

/// Maximum number of matching lines per hit.
const MAX_SHOWN_LINES: usize = 5;
/// Maximum length of a matching line in a hit, in bytes. Longer lines are shortened.
const MAX_SHOWN_BYTES: usize = 400;
/// Maximum number of bytes before the match in a shortened line.
const BYTES_BEFORE_MATCH: usize = 100;
/// Maximum number of words in a query. Each word is one part of the pattern, and each part has one bit in a `u64`.
const MAX_WORDS: usize = 64;

/// A search pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The parts of the pattern. A line matches if at least one part matches. A section is a hit if every part matches
    /// in at least one of its lines.
    parts: Vec<Regex>,
    /// The alternation of all parts; `None` if there is only one part.
    any: Option<Regex>,
}

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The query has no words.
    #[error("there is nothing to search for")]
    Empty,
    /// The query has too many words.
    #[error("more than {MAX_WORDS} words")]
    TooManyWords,
    /// The regular expression is invalid.
    #[error("{0}")]
    Regex(String),
}

impl Pattern {
    /// Creates a pattern from words that are separated by white space. A section is a hit if it contains every word,
    /// ignoring case. A word also matches inside a longer word.
    ///
    /// # Errors
    /// Fails if there are no words or too many words.
    pub fn words(text: &str) -> Result<Self, PatternError> {
        let mut words: Vec<String> = text.split_whitespace().map(regex::escape).collect();
        words.sort_unstable();
        words.dedup();
        match words.len() {
            0 => return Err(PatternError::Empty),
            1..=MAX_WORDS => {}
            _ => return Err(PatternError::TooManyWords),
        }
        let build = |pattern: &str| {
            let built = RegexBuilder::new(pattern).case_insensitive(true).build();
            built.map_err(|error| PatternError::Regex(error.to_string()))
        };
        let parts = words.iter().map(|word| build(word)).collect::<Result<Vec<_>, _>>()?;
        let any = if parts.len() > 1 { Some(build(&words.join("|"))?) } else { None };
        Ok(Self { parts, any })
    }

    /// Creates a pattern from a regular expression in the syntax of the `regex` crate. The expression is matched
    /// against single lines. Case matters unless the expression begins with `(?i)`.
    ///
    /// # Errors
    /// Fails if the expression is invalid or too large.
    pub fn regex(pattern: &str) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(pattern).build().map_err(|error| PatternError::Regex(error.to_string()))?;
        Ok(Self { parts: vec![regex], any: None })
    }

    fn find(&self, line: &[u8]) -> Option<Range<usize>> {
        let any = self.any.as_ref().or(self.parts.first())?;
        any.find(line).map(|found| found.range())
    }

    /// Returns the set of parts that match in a line, with one bit per part.
    fn parts_in(&self, line: &[u8]) -> u64 {
        if self.any.is_none() {
            return 1;
        }
        let bits = self.parts.iter().enumerate().filter(|(_, part)| part.is_match(line)).map(|(at, _)| 1 << at);
        bits.fold(0, |all, bit| all | bit)
    }

    fn all_parts(&self) -> u64 {
        u64::MAX >> (u64::BITS as usize - self.parts.len().clamp(1, MAX_WORDS))
    }
}

/// A section that matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// The path of the log relative to the log directory, with `/` as separator.
    pub file: String,
    /// The id of the interaction.
    pub id: Option<String>,
    /// The heading of the section.
    #[serde(rename = "section")]
    pub name: Option<String>,
    /// The number of the phase; `None` if the section is not a phase.
    pub phase: Option<u32>,
    /// The number of the first line of the section, from 1.
    pub line_start: u64,
    /// The number of the last line of the section.
    pub line_end: u64,
    /// Number of matching lines in the section.
    pub matching_lines: u64,
    /// Up to five of the matching lines, in the order of the log. Lines with more words of the query are preferred.
    pub lines: Vec<MatchingLine>,
}

/// A line that matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchingLine {
    /// The line number, from 1.
    pub line: u64,
    /// The text of the line. A long line is shortened to the part around the first match, with `…` for omitted text.
    pub text: String,
    /// Byte range of the first match in `text`.
    #[serde(skip)]
    pub found: Range<usize>,
    /// The set of parts that match in the line.
    #[serde(skip)]
    parts: u64,
}

impl LogDirectory {
    /// Searches one log. Calls `emit` for every matching section, and stops if `emit` returns `false`.
    ///
    /// # Errors
    /// Fails if the log cannot be read. The hits before the error have already been emitted. The kind is
    /// [`io::ErrorKind::NotFound`] if the log no longer exists.
    pub fn search(&self, log: &LogFile, pattern: &Pattern, emit: &mut dyn FnMut(SearchHit) -> bool) -> io::Result<()> {
        let mut lines = self.read(log)?.lines();
        let mut tracker = SectionTracker::default();
        let mut search = SectionSearch::new(log.path(), pattern);
        while let Some((number, line)) = lines.read()? {
            if let Some(section) = tracker.line(line)
                && !search.begin(section, number, emit)
            {
                return Ok(());
            }
            search.line(number, line);
        }
        search.finish(emit);
        Ok(())
    }
}

/// The state of the search in the current section.
struct SectionSearch<'p> {
    file: String,
    pattern: &'p Pattern,
    header: Option<HeaderReader>,
    id: Option<String>,
    section: Section,
    line_start: u64,
    line_end: u64,
    matching_lines: u64,
    parts: u64,
    lines: Vec<MatchingLine>,
}

impl<'p> SectionSearch<'p> {
    fn new(file: String, pattern: &'p Pattern) -> Self {
        Self {
            file,
            pattern,
            header: Some(HeaderReader::default()),
            id: None,
            section: Section::default(),
            line_start: 1,
            line_end: 0,
            matching_lines: 0,
            parts: 0,
            lines: Vec::new(),
        }
    }

    /// Ends the current section and begins the next section at `line`. Returns whether to continue the search.
    fn begin(&mut self, section: Section, line: u64, emit: &mut dyn FnMut(SearchHit) -> bool) -> bool {
        let continues = self.finish(emit);
        (self.section, self.line_start, self.line_end) = (section, line, line);
        continues
    }

    fn line(&mut self, number: u64, line: &[u8]) {
        self.line_end = number;
        if let Some(header) = &mut self.header
            && !header.line(line)
        {
            self.id = self.header.take().and_then(|header| header.finish().id);
        }
        let Some(found) = self.pattern.find(line) else { return };
        let parts = self.pattern.parts_in(line);
        self.matching_lines += 1;
        self.parts |= parts;
        if self.lines.len() == MAX_SHOWN_LINES {
            // The worst stored line contains the fewest words of the query. If several lines are equally bad, the worst
            // line is the last of them. It is replaced if the new line contains more words of the query.
            let worst =
                self.lines.iter().enumerate().min_by_key(|(at, line)| (line.parts.count_ones(), usize::MAX - at));
            match worst {
                Some((at, worst)) if worst.parts.count_ones() < parts.count_ones() => drop(self.lines.remove(at)),
                _ => return,
            }
        }
        self.lines.push(MatchingLine::new(number, line, found, parts));
    }

    fn finish(&mut self, emit: &mut dyn FnMut(SearchHit) -> bool) -> bool {
        let lines = std::mem::take(&mut self.lines);
        let (matching_lines, parts) = (std::mem::take(&mut self.matching_lines), std::mem::take(&mut self.parts));
        if lines.is_empty() || parts != self.pattern.all_parts() {
            return true;
        }
        // A section can end before the header has been read completely. In this case, the id is taken from the lines of
        // the header that have been read.
        let id = self.id.clone().or_else(|| self.header.clone()?.finish().id);
        let Section { name, phase } = self.section.clone();
        let (line_start, line_end) = (self.line_start, self.line_end);
        emit(SearchHit { file: self.file.clone(), id, name, phase, line_start, line_end, matching_lines, lines })
    }
}

impl MatchingLine {
    fn new(number: u64, line: &[u8], found: Range<usize>, parts: u64) -> Self {
        let (start, end) = match line.len() {
            ..=MAX_SHOWN_BYTES => (0, line.len()),
            length => {
                let start = found.start.saturating_sub(BYTES_BEFORE_MATCH).min(length - MAX_SHOWN_BYTES);
                (start, start + MAX_SHOWN_BYTES)
            }
        };
        let (start, end) = (ceil_char_boundary(line, start), ceil_char_boundary(line, end));
        let found = found.start.max(start)..found.end.min(end).max(found.start.max(start));
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        text.push_str(&String::from_utf8_lossy(&line[start..found.start]));
        let from = text.len();
        text.push_str(&String::from_utf8_lossy(&line[found.clone()]));
        let to = text.len();
        text.push_str(&String::from_utf8_lossy(&line[found.end..end]));
        if end < line.len() {
            text.push('…');
        }
        Self { line: number, text, found: from..to, parts }
    }
}

/// Returns the first offset at or after `at` that is not inside a UTF-8 character.
fn ceil_char_boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    at + line[at..].iter().take(3).take_while(|byte| is_inside(byte)).count()
}
