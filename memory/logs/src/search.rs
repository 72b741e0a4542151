//! Searching the texts of logs, line by line. A section is found as a whole, with the lines that match best.
//!
//! Memory does not grow with the number of logs or with their sizes: held are the names of one month, one line, and a few lines
//! of the current section.

use std::io;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};
use serde::Serialize;

use crate::directory::LogDirectory;
use crate::header::HeaderReader;
use crate::heading::{Section, SectionTracker};
use crate::layout::LogFile;

/// Maximum number of lines of a hit.
const MAX_SHOWN_LINES: usize = 5;
/// A longer line is shown in part, with so many bytes.
const SHOWN: usize = 400;
/// Bytes in front of the match, in a line that is shown in part.
const BEFORE: usize = 100;
/// Maximum number of words of a query: each is looked for on its own.
const MAX_WORDS: usize = 64;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// A line with a match of any of them matches, and a section in which each of them has a match is found.
    parts: Vec<Regex>,
    /// All of them in one, where there are several.
    any: Option<Regex>,
}

/// A pattern that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There are no words.
    #[error("there is nothing to search for")]
    Empty,
    /// There are too many words.
    #[error("more than {MAX_WORDS} words")]
    TooManyWords,
    /// The regular expression is wrong.
    #[error("{0}")]
    Regex(String),
}

impl Pattern {
    /// Words, parted by white space. Every one of them must be in a section, as a part of a word too, in upper or lower case.
    ///
    /// # Errors
    /// There are none, or too many.
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

    /// A regular expression for a line, in the syntax of the `regex` crate; `(?i)` in front ignores the case.
    ///
    /// # Errors
    /// It is wrong or too large.
    pub fn regex(pattern: &str) -> Result<Self, PatternError> {
        let regex = RegexBuilder::new(pattern).build().map_err(|error| PatternError::Regex(error.to_string()))?;
        Ok(Self { parts: vec![regex], any: None })
    }

    fn find(&self, line: &[u8]) -> Option<Range<usize>> {
        let any = self.any.as_ref().or(self.parts.first())?;
        any.find(line).map(|found| found.range())
    }

    /// Which of the parts are in a line, as bits.
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

/// A section that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// The path of the log below the directory of the logs, with `/`.
    pub file: String,
    /// The id of the interaction.
    pub id: Option<String>,
    /// The section.
    #[serde(rename = "section")]
    pub name: Option<String>,
    /// The number of the phase, if it is one.
    pub phase: Option<u32>,
    /// The first line of the section, from 1.
    pub line_start: u64,
    /// The last line of the section.
    pub line_end: u64,
    /// How many lines of the section match.
    pub matching_lines: u64,
    /// The lines that match best, at most five, in their order.
    pub lines: Vec<MatchingLine>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchingLine {
    /// Its number, from 1.
    pub line: u64,
    /// Its text, or the part of a long line around the first match, with `…` where it is cut.
    pub text: String,
    /// Bytes of the first match in the text.
    #[serde(skip)]
    pub found: Range<usize>,
    #[serde(skip)]
    parts: u64,
}

impl LogDirectory {
    /// Searches one log; hands every section that is found to `emit`, which says whether to go on.
    ///
    /// # Errors
    /// The log cannot be read; what came before has been emitted. [`io::ErrorKind::NotFound`] if it is gone.
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

/// The search of the current section.
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

    /// Ends the section before the line that begins another one.
    fn begin(&mut self, section: Section, line: u64, emit: &mut dyn FnMut(SearchHit) -> bool) -> bool {
        let goes_on = self.finish(emit);
        (self.section, self.line_start, self.line_end) = (section, line, line);
        goes_on
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
            // The worst one gives way: that with the fewest words, of these the last one.
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
        // The header may not have ended yet.
        let id = self.id.clone().or_else(|| self.header.clone()?.finish().id);
        let Section { name, phase } = self.section.clone();
        let (line_start, line_end) = (self.line_start, self.line_end);
        emit(SearchHit { file: self.file.clone(), id, name, phase, line_start, line_end, matching_lines, lines })
    }
}

impl MatchingLine {
    fn new(number: u64, line: &[u8], found: Range<usize>, parts: u64) -> Self {
        let (start, end) = match line.len() {
            ..=SHOWN => (0, line.len()),
            length => {
                let start = found.start.saturating_sub(BEFORE).min(length - SHOWN);
                (start, start + SHOWN)
            }
        };
        let (start, end) = (boundary(line, start), boundary(line, end));
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

/// The nearest offset from `at` on at which a character begins.
fn boundary(line: &[u8], at: usize) -> usize {
    let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    at + line[at..].iter().take(3).take_while(|byte| is_inside(byte)).count()
}
