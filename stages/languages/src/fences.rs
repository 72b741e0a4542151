//! Finds fenced code in Markdown.

use std::ops::Range;

use crate::embedded::{Embedded, MAX_PARTS};

/// Returns the contents of code fences that name a language, in document order. A fence without an end extends to the
/// end of the text. The search takes linear time.
pub(crate) fn fences(text: &str) -> Vec<Embedded<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        match open.take() {
            Some(fence) if fence.is_closed_by(line) => found.extend(fence.part(start)),
            Some(fence) => open = Some(fence),
            None => open = Fence::opened_by(line, at),
        }
        if found.len() == MAX_PARTS {
            return found;
        }
    }
    found.extend(open.and_then(|fence| fence.part(text.len())));
    found
}

/// An open fence.
struct Fence<'t> {
    mark: u8,
    length: usize,
    language: &'t str,
    content: usize,
}

impl<'t> Fence<'t> {
    /// Returns the fence that a line opens. The content of the fence starts at byte `content` of the text.
    fn opened_by(line: &'t str, content: usize) -> Option<Self> {
        let line = line.trim();
        let mark = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run(line, mark);
        let info = line[length..].trim();
        if length < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        let info = info.trim_start_matches(['{', '.']);
        let language = info.split(|character: char| character.is_whitespace() || ",{}:".contains(character)).next()?;
        Some(Self { mark, length, language, content })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        run(line, self.mark) == line.len() && line.len() >= self.length
    }

    fn part(self, end: usize) -> Option<Embedded<'t>> {
        let bytes: Range<usize> = self.content..end;
        (!self.language.is_empty()).then_some(Embedded { language: self.language, bytes })
    }
}

/// Returns the number of consecutive `mark` bytes at the start of a line.
fn run(line: &str, mark: u8) -> usize {
    line.bytes().take_while(|byte| *byte == mark).count()
}
