//! A single address space for the bytes of all files of a pipeline. A span in it identifies both a file and a range.

use std::ops::Range;

use aurora_diagnostics::Location;

/// A byte range in the address space of a [`SourceMap`].
pub(crate) type Span = Range<usize>;

/// The files of a pipeline, which follow one another in the address space.
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
        Some(Location::from_span(&file.name, &file.text, span.start - file.base..span.end - file.base))
    }

    /// Returns the position of a file in the order in which the files were added.
    pub(crate) fn rank(&self, name: &str) -> usize {
        self.files.iter().position(|file| file.name == name).unwrap_or(self.files.len())
    }
}
