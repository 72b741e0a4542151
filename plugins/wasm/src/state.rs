//! What the host keeps for one instance.

use crate::limits::{Limits, MemoryLimiter};

/// Longest message of a module that is shown, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 500;
/// Longest line of a log, in bytes.
const LONGEST_LINE: usize = 2 << 10;
/// Most lines that one call may log.
const MOST_LINES: usize = 200;

/// State of one instance.
pub(crate) struct State {
    pub(crate) memory: MemoryLimiter,
    lines: Vec<String>,
    random: u64,
}

impl State {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { memory: MemoryLimiter::new(limits), lines: Vec::new(), random: 0 }
    }

    /// Keeps a line of the log until the call has returned. Further lines of the same call are dropped.
    pub(crate) fn log(&mut self, line: &str) {
        if self.lines.len() < MOST_LINES {
            self.lines.push(printable(line, LONGEST_LINE));
        }
    }

    /// The lines that were logged since the last call of this method.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// The next number of a fixed sequence (SplitMix64: Steele, Lea, Flood 2014), for guests that ask for random numbers.
    pub(crate) fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A text of a module as a message may show it: at most `longest` bytes, without control characters.
pub(crate) fn printable(text: &str, longest: usize) -> String {
    let is_cut = text.len() > longest;
    let kept = &text[..text.floor_char_boundary(longest)];
    let shown = kept.trim_end().chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c });
    shown.chain(is_cut.then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_control_characters_and_end() {
        assert_eq!(printable("red \u{1b}[31m\nnext\n", 100), "red  [31m next");
        assert_eq!(printable("äöü", 3), "ä…");
    }
}
