//! One address space for the bytes of all files of a pipeline, so that a span identifies its file.

use std::ops::Range;

use serde::Serialize;

/// A location in a pipeline's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Name of the file as it was given.
    pub file: String,
    /// Byte range in the file.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text of the line.
    pub excerpt: String,
}

/// A byte range in the address space of a [`SourceMap`].
pub(crate) type Span = Range<usize>;

/// The files of a pipeline, one after the other.
#[derive(Default)]
pub(crate) struct SourceMap {
    files: Vec<MappedFile>,
}

struct MappedFile {
    name: String,
    text: String,
    base: usize,
}

impl SourceMap {
    /// Adds a file and returns the offset of its first byte.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        let base = self.files.last().map_or(0, |file| file.base + file.text.len() + 1);
        self.files.push(MappedFile { name: name.to_owned(), text: text.to_owned(), base });
        base
    }

    pub(crate) fn locate(&self, span: &Span) -> Option<Location> {
        let file = self.files.iter().rev().find(|file| file.base <= span.start)?;
        let start = file.text.floor_char_boundary(span.start - file.base);
        let end = (span.end - file.base).clamp(start, file.text.len());
        let line_start = file.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = file.text[line_start..].find('\n').map_or(file.text.len(), |at| line_start + at);
        Some(Location {
            file: file.name.clone(),
            span: start..end,
            line: file.text[..start].matches('\n').count() + 1,
            column: file.text[line_start..start].chars().count() + 1,
            excerpt: file.text[line_start..line_end].trim_end().to_owned(),
        })
    }

    /// Position of a file in the order in which files were added.
    pub(crate) fn rank(&self, name: &str) -> usize {
        self.files.iter().position(|file| file.name == name).unwrap_or(self.files.len())
    }
}
