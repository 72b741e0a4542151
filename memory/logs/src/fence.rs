//! Fenced code blocks in Markdown. A heading inside a block is plain text.
//!
//! A line that begins with three or more backticks or tildes opens a block. A line that consists of at least as many of
//! the same character closes the block.

/// Tracks line by line whether a fenced block is open.
#[derive(Debug, Clone, Default)]
pub struct FenceTracker {
    /// The character and the length of the fence that opened the block.
    open: Option<(u8, usize)>,
}

impl FenceTracker {
    /// Processes the next line. Returns `true` if no block was open before the line. The result for an opening fence is
    /// therefore `true`.
    pub fn line(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let was_open = self.open.is_some();
        let Some(fence) = line.first().copied().filter(|byte| matches!(byte, b'`' | b'~')) else { return !was_open };
        let length = line.iter().take_while(|byte| **byte == fence).count();
        match self.open {
            None if length >= 3 => self.open = Some((fence, length)),
            Some((open, min)) if fence == open && length >= min && line.len() == length => self.open = None,
            _ => {}
        }
        !was_open
    }

    /// Returns the line that would close the open block; `None` if no block is open.
    pub(crate) fn closing(&self) -> Option<String> {
        self.open.map(|(fence, length)| char::from(fence).to_string().repeat(length))
    }
}

/// Formats a text as a fenced block with a language, followed by a line break. The fence is longer than every sequence
/// of backticks in the text, so that the text cannot close the block.
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
    fn a_fence_is_longer_than_the_fences_in_its_text() {
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
