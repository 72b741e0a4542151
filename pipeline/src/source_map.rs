//! One numbering of bytes over all files of a pipeline, so that a span says which file it is in.

use std::ops::Range;

use crate::diagnostics::Location;

/// A byte range in the numbering of a [`SourceMap`].
pub(crate) type Span = Range<usize>;

/// The files which a pipeline is made of, one after the other.
#[derive(Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
}

struct SourceFile {
    name: String,
    text: String,
    base: usize,
}

impl SourceMap {
    /// Adds a file and says where its bytes begin.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> usize {
        let base = self.files.last().map_or(0, |file| file.base + file.text.len() + 1);
        self.files.push(SourceFile { name: name.to_owned(), text: text.to_owned(), base });
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

    /// Position of a file among the others.
    pub(crate) fn rank(&self, name: &str) -> usize {
        self.files.iter().position(|file| file.name == name).unwrap_or(self.files.len())
    }
}
