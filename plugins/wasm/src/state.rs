//! The state of the host during one call.

use std::time::Instant;

use crate::limits::{Limits, MemoryLimiter};

/// Maximum length of a module's message in reports, in bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 500;
/// Maximum length of a logged line, in bytes.
const MAX_LINE_BYTES: usize = 2 << 10;
/// Maximum number of lines that one call may log.
const MAX_LINES: usize = 200;

/// A standard stream to which a module can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

/// The host state of one call.
pub(crate) struct State {
    pub(crate) memory: MemoryLimiter,
    /// Start of the call, which is time zero of its monotonic clock.
    pub(crate) started: Instant,
    lines: Vec<String>,
    /// The unfinished line of each [`Stream`].
    unfinished: [Vec<u8>; 2],
    random: u64,
}

impl State {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            memory: MemoryLimiter::new(limits),
            started: Instant::now(),
            lines: Vec::new(),
            unfinished: Default::default(),
            random: 0,
        }
    }

    /// Stores a log line until the call has returned. Lines beyond the maximum number are dropped.
    pub(crate) fn log(&mut self, line: &str) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(printable(line, MAX_LINE_BYTES));
        }
    }

    /// Splits the bytes that were written to a stream into lines and logs them.
    pub(crate) fn write(&mut self, stream: Stream, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = &mut self.unfinished[stream as usize];
            // Stores one byte more than the maximum, so that a truncated line can be detected.
            let room = (MAX_LINE_BYTES + 1).saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.finish_line(stream);
            }
        }
    }

    /// Returns the lines that were logged since the last call of this method, including unfinished lines.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        for stream in [Stream::Output, Stream::Error] {
            if !self.unfinished[stream as usize].is_empty() {
                self.finish_line(stream);
            }
        }
        std::mem::take(&mut self.lines)
    }

    fn finish_line(&mut self, stream: Stream) {
        let line = std::mem::take(&mut self.unfinished[stream as usize]);
        self.log(&String::from_utf8_lossy(&line));
    }

    /// Returns the next number of a fixed sequence, for modules that request random numbers (SplitMix64; Steele, Lea,
    /// Flood 2014).
    pub(crate) fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Prepares a text of a module for messages: shortens it to at most `longest` bytes and replaces control characters.
pub(crate) fn printable(text: &str, longest: usize) -> String {
    let text = text.trim_end();
    let is_cut = text.len() > longest;
    let kept = &text[..text.floor_char_boundary(longest)];
    let shown = kept.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c });
    shown.chain(is_cut.then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_control_characters_and_a_maximum_length() {
        assert_eq!(printable("red \u{1b}[31m\nnext\n", 100), "red  [31m next");
        assert_eq!(printable("äöü", 3), "ä…");
    }

    #[test]
    fn written_bytes_become_lines() {
        let mut state = State::new(Limits::new(1, 1));
        state.write(Stream::Output, b"one\ntw");
        state.write(Stream::Error, b"error");
        state.write(Stream::Output, b"o\n\nthree");
        assert_eq!(state.take_lines(), ["one", "two", "", "three", "error"]);
        assert!(state.take_lines().is_empty());
        for _ in 0..MAX_LINE_BYTES {
            state.write(Stream::Output, b"long");
        }
        state.write(Stream::Output, b"\nnext\n");
        let lines = state.take_lines();
        assert_eq!((lines.len(), lines[0].chars().last(), lines[1].as_str()), (2, Some('…'), "next"));
        assert!(lines[0].len() <= MAX_LINE_BYTES + '…'.len_utf8());
        state.write(Stream::Error, &b"\n".repeat(1 << 20));
        assert_eq!(state.take_lines().len(), MAX_LINES);
    }
}
