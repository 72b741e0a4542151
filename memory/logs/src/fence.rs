//! Fenced code blocks. Headings in a block are plain text, and no text may end a block early.
//!
//! A line that begins with three or more backticks or tildes opens a block, and a line of at least as many of the same character
//! closes it.

/// Tracks the open fenced block line by line.
#[derive(Debug, Clone, Default)]
pub struct FenceTracker {
    open: Option<(u8, usize)>,
}

impl FenceTracker {
    /// Processes the next line. Returns whether no block was open before it, which is also true for an opening fence.
    pub fn line(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let was_open = self.open.is_some();
        let Some(mark) = line.first().copied().filter(|byte| matches!(byte, b'`' | b'~')) else { return !was_open };
        let length = line.iter().take_while(|byte| **byte == mark).count();
        match self.open {
            None if length >= 3 => self.open = Some((mark, length)),
            Some((open, min)) if mark == open && length >= min && line.len() == length => self.open = None,
            _ => {}
        }
        !was_open
    }

    /// Returns the line that closes the open block, if any.
    pub(crate) fn closing(&self) -> Option<String> {
        self.open.map(|(mark, length)| char::from(mark).to_string().repeat(length))
    }
}

/// Formats the text as a fenced block of a language, followed by a line end. The fence is longer than any run of backticks in
/// the text.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fenced("json", "{}"), "```json\n{}\n```\n");
        assert_eq!(fenced("text", "a\n````\nb\n"), "`````text\na\n````\nb\n`````\n");
        assert_eq!(fenced("text", ""), "```text\n```\n");
    }

    proptest! {
        #[test]
        fn a_block_ends_where_its_text_ends(text in "([`~ #a\n]|``)*") {
            let block = fenced("text", &text);
            let mut tracker = FenceTracker::default();
            let lines: Vec<&str> = block.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                prop_assert_eq!(tracker.line(line.as_bytes()), at == 0);
                prop_assert_eq!(tracker.closing().is_none(), at + 1 == lines.len());
            }
        }
    }
}
