//! The outline of a document that is read from its lines: headings, labels and code blocks.

use rustc_hash::FxHashMap;

use crate::embedded::{Embedded, MAX_PARTS};
use crate::symbols::{Constant, MAX_NAME_BYTES, bounded};

/// Maximum number of bytes of a heading that are read for its title.
const MAX_TITLE_BYTES: usize = 4 * MAX_NAME_BYTES;
/// Maximum level of a heading. Headings on lower levels get this level.
const MAX_LEVEL: usize = 6;

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Offset of the heading, or of its line if only white space precedes the heading on the line. Anchors directly
    /// before a heading belong to it.
    pub(crate) at: u32,
    /// Level of the heading. 1 is the highest level.
    pub(crate) level: u8,
    pub(crate) title: String,
}

/// The outline of a document. Everything is in document order.
#[derive(Debug, Default)]
pub(crate) struct Outline<'t> {
    pub(crate) headings: Vec<Heading>,
    /// Names by which other documents refer to a place, such as anchors.
    pub(crate) labels: Vec<Constant>,
    /// The contents of code blocks that name a language.
    pub(crate) code: Vec<Embedded<'t>>,
}

impl<'t> Outline<'t> {
    /// Adds a heading, unless its title is empty.
    pub(crate) fn push_heading(&mut self, at: usize, level: usize, title: String) {
        if !title.is_empty() {
            self.headings.push(Heading { at: at as u32, level: level.min(MAX_LEVEL) as u8, title });
        }
    }

    /// Adds a label, unless it is empty or too long for a name.
    pub(crate) fn push_label(&mut self, at: usize, label: &str) {
        let name = label.trim();
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES {
            self.labels.push(Constant { name: name.to_owned(), at: at as u32 });
        }
    }

    /// Adds a code block. Blocks beyond [`MAX_PARTS`] are omitted.
    pub(crate) fn push_code(&mut self, language: &'t str, bytes: std::ops::Range<usize>) {
        if !language.is_empty() && !bytes.is_empty() && self.code.len() < MAX_PARTS {
            self.code.push(Embedded { language, bytes });
        }
    }
}

/// Returns the beginning of the source of a title that is long enough for every name.
pub(crate) fn title_source(source: &str) -> &str {
    &source[..source.floor_char_boundary(MAX_TITLE_BYTES)]
}

/// Joins the words of a title with single spaces, and limits its length.
pub(crate) fn joined_words(title: &str) -> String {
    bounded(&title.split_whitespace().collect::<Vec<_>>().join(" ")).to_owned()
}

/// Returns the offsets of the texts between `open` and `close`, and the texts. The search takes linear time.
pub(crate) fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Vec<(usize, &'t str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find(open).map(|start| at + start)
        && let Some((inner, _)) = text[start + open.len()..].split_once(close)
    {
        found.push((start, inner));
        at = start + open.len() + inner.len() + close.len();
    }
    found
}

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'t> {
    /// Offset of the first byte.
    pub(crate) at: usize,
    /// Offset after the line feed.
    pub(crate) end: usize,
    /// The line without white space at the end.
    pub(crate) text: &'t str,
}

impl Line<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the width of the white space at the start, in characters.
    pub(crate) fn indent(&self) -> usize {
        self.text.chars().take_while(|character| character.is_whitespace()).count()
    }
}

/// Returns the lines of a text.
pub(crate) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    let line = |line: &'_ str| {
        at += line.len();
        (at - line.len(), at)
    };
    let spans: Vec<(usize, usize)> = text.split_inclusive('\n').map(line).collect();
    spans.into_iter().map(|(at, end)| Line { at, end, text: text[at..end].trim_end() }).collect()
}

/// The positions of the lines that may end a block, by a key such as the text of the delimiter. Finding the end of a
/// block takes logarithmic time, also if a text opens many blocks that are never closed.
#[derive(Debug, Default)]
pub(crate) struct Ends<K>(FxHashMap<K, Vec<usize>>);

impl<K: Eq + std::hash::Hash> Ends<K> {
    /// Creates the table from pairs of a key and the number of a line, in document order.
    pub(crate) fn new(lines: impl Iterator<Item = (K, usize)>) -> Self {
        let mut ends: FxHashMap<K, Vec<usize>> = FxHashMap::default();
        for (key, line) in lines {
            ends.entry(key).or_default().push(line);
        }
        Self(ends)
    }

    /// Returns the first line after `line` that has this key.
    pub(crate) fn after(&self, line: usize, key: &K) -> Option<usize> {
        let lines = self.0.get(key)?;
        lines.get(lines.partition_point(|end| *end <= line)).copied()
    }
}
