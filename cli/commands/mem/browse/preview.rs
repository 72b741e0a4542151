//! The code of the selected result, read and highlighted on a separate thread.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use aurora_languages::Highlight;
use aurora_project::file_report;
use aurora_query::{FileState, Marker, Searcher};
use aurora_storage::{FileRecord, StorageError};

use crate::commands::mem::browse::latest::Latest;
use crate::commands::mem::browse::row::{Marks, Row};
use crate::output::{Role, code};

/// Maximum size of a file in bytes. For a larger file, only the chunk is shown.
const MAX_FILE_BYTES: u64 = 512 << 10;
/// Maximum number of bytes that are shown of a line.
const MAX_LINE_BYTES: usize = 2_000;
/// Number of bytes that are shown before the first match of a line that is longer than [`MAX_LINE_BYTES`].
const BYTES_BEFORE_MATCH: usize = 200;
/// Interval at which the thread wakes up while it waits for a request.
const WAKE_INTERVAL: Duration = Duration::from_secs(3_600);

/// A request for the code of a result.
pub(super) struct PreviewRequest {
    pub(super) searcher: Arc<Searcher>,
    pub(super) row: Row,
    /// The terms and patterns to highlight, from the answer.
    pub(super) marks: Marks,
}

/// A highlighted text.
#[derive(Debug, Clone, Default)]
pub(super) struct Preview {
    /// Key of the result.
    pub(super) key: String,
    /// Note for the user about the text.
    pub(super) note: &'static str,
    pub(super) lines: Vec<PreviewLine>,
    /// Line indexes of the chunk, counted from 0.
    pub(super) chunk: Range<usize>,
}

/// A line of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct PreviewLine {
    /// Line number in the file, if the line is part of the file.
    pub(super) number: Option<u32>,
    pub(super) text: String,
    pub(super) highlights: Vec<Highlight>,
    pub(super) matches: Vec<(usize, usize)>,
}

/// The slot for the next request.
pub(super) type PreviewRequests = Latest<PreviewRequest>;

/// Passes the preview for every request to `send`, until `send` returns false because the receiver is gone.
pub(super) fn serve_requests(requests: &PreviewRequests, send: &impl Fn(Preview) -> bool) {
    let mut colours = Colours::default();
    loop {
        let Some(request) = requests.take(WAKE_INTERVAL) else { continue };
        let unreadable = |_| Preview { note: "the index cannot be read", ..Preview::default() };
        let preview = request.preview(&mut colours).unwrap_or_else(unreadable);
        let preview = Preview { key: request.row.key, ..preview };
        if !send(preview) {
            return;
        }
    }
}

impl PreviewRequest {
    /// Returns the preview without its key: the whole file if it still has the first line of the chunk at the indexed
    /// line, or else the chunk alone.
    fn preview(&self, colours: &mut Colours) -> Result<Preview, StorageError> {
        let snapshot = self.searcher.snapshot();
        let Some(chunk) = snapshot.chunk_with_text(self.row.chunk)? else { return Ok(Preview::default()) };
        let text = chunk.text.trim_end_matches('\n');
        let record = snapshot.file(&self.row.file)?;
        let (note, file) = match &record {
            Some(record) => self.file(record)?,
            None => ("", None),
        };
        let of_file = |file: String| {
            let (first, last) = self.row.card.lines?;
            let (from, to) = (first.checked_sub(1)? as usize, last as usize);
            let is_there = file.lines().nth(from).map(str::trim) == text.lines().next().map(str::trim);
            (is_there && to > from).then_some((file, from..to))
        };
        Ok(match file.and_then(of_file) {
            Some((file, lines)) => self.build(&file, Some(1), lines, note, colours),
            None => {
                let count = text.lines().count();
                let is_whole = |&(first, last): &(u32, u32)| (last + 1).saturating_sub(first) as usize == count;
                let first = self.row.card.lines.filter(is_whole).map(|(first, _)| first);
                self.build(text, first, 0..count, note, colours)
            }
        })
    }

    /// Returns a note about the file, and its current text with masked secrets.
    fn file(&self, record: &FileRecord) -> Result<(&'static str, Option<String>), StorageError> {
        if record.size > MAX_FILE_BYTES {
            return Ok(("", None));
        }
        let report = file_report(&self.searcher, record)?;
        let note = match report.file_state {
            FileState::Changed => "changed since it was indexed",
            FileState::Gone => "deleted since it was indexed",
            FileState::Unchanged | FileState::Unknown => "",
        };
        Ok((note, report.content))
    }

    /// Builds the preview of a file or chunk whose first line has the number `first`. The range `chunk` contains the
    /// line indexes of the chunk in the text.
    fn build(
        &self,
        text: &str,
        first: Option<u32>,
        chunk: Range<usize>,
        note: &'static str,
        colours: &mut Colours,
    ) -> Preview {
        let marker = Marker::new(&self.marks.terms, Some(&self.marks.patterns));
        let mut highlights = colours.highlights(text, &self.row.language).iter();
        let mut matches = marker.matches(text).into_iter();
        let lines = text.lines().enumerate().map(|(at, line)| {
            let number = first.map(|first| first + at as u32);
            let highlights = highlights.next().map_or(&[][..], Vec::as_slice);
            let matches = matches.next().unwrap_or_default();
            PreviewLine { number, ..PreviewLine::new(line, highlights, &matches) }
        });
        Preview { note, lines: lines.collect(), chunk, ..Preview::default() }
    }
}

/// A cache of the last text and its highlights, because the next result is often in the same file.
#[derive(Default)]
struct Colours {
    text: String,
    language: String,
    highlights: Vec<Vec<Highlight>>,
}

impl Colours {
    fn highlights(&mut self, text: &str, language: &str) -> &[Vec<Highlight>] {
        if self.text != text || self.language != language {
            let highlights = code::highlight(text, language);
            *self = Self { text: text.to_owned(), language: language.to_owned(), highlights };
        }
        &self.highlights
    }
}

impl Preview {
    /// Returns the first line to show in a pane of `height` lines: the start of the chunk, or the first match if it is
    /// farther down.
    pub(super) fn top(&self, height: usize) -> usize {
        let start = self.chunk.start;
        let matching = self.lines.get(self.chunk.clone()).unwrap_or_default();
        let first = matching.iter().position(|line| !line.matches.is_empty()).map_or(start, |at| start + at);
        let top = if first < start + height.saturating_sub(2) { start } else { first };
        top.saturating_sub(height / 6)
    }
}

impl PreviewLine {
    /// Creates a line. A very long line is cut to the part around its first match.
    fn new(line: &str, highlights: &[Highlight], matches: &[(usize, usize)]) -> Self {
        let first = matches.first().map_or(0, |&(start, _)| start);
        let from = if line.len() <= MAX_LINE_BYTES {
            0
        } else {
            line.floor_char_boundary(first.saturating_sub(BYTES_BEFORE_MATCH))
        };
        let to = line.floor_char_boundary(from + MAX_LINE_BYTES);
        let within = |start: usize, end: usize| {
            let (start, end) = (start.max(from), end.min(to));
            (start < end).then(|| (start - from, end - from))
        };
        let highlights = highlights.iter().filter_map(|highlight| {
            let (start, end) = within(highlight.bytes.start, highlight.bytes.end)?;
            Some(Highlight { bytes: start..end, class: highlight.class })
        });
        Self {
            number: None,
            text: line[from..to].to_owned(),
            highlights: highlights.collect(),
            matches: matches.iter().filter_map(|&(start, end)| within(start, end)).collect(),
        }
    }

    /// Splits the line into pieces of one colour each. The pieces fit into `columns`.
    pub(super) fn runs(&self, columns: usize) -> Vec<(Option<Role>, String)> {
        let line = code::CodeLine { text: &self.text, highlights: &self.highlights, matches: &self.matches };
        line.runs(0, Some(columns))
    }
}
