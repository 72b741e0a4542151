//! The map from lines of a file in the working tree to lines of the committed file.

/// Maps the lines of a file in the working tree to lines of the committed file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LineMap {
    /// Non-empty runs of lines that cover the file in the working tree in order.
    pub runs: Vec<MappedLines>,
}

/// Consecutive lines in the working tree that are either consecutive in the committed file or all uncommitted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MappedLines {
    /// The number of lines, at least 1.
    pub len: u32,
    /// The first of these lines in the committed file, counted from 0. `None` if the lines are not committed.
    pub committed: Option<u32>,
}

impl LineMap {
    /// Creates the map of an unmodified file.
    pub fn identity(lines: u32) -> Self {
        let run = MappedLines { len: lines, committed: Some(0) };
        Self { runs: Vec::from_iter((lines > 0).then_some(run)) }
    }

    /// Whether the map is the map of an unmodified file with `lines` lines.
    pub fn is_identity(&self, lines: u32) -> bool {
        *self == Self::identity(lines)
    }
}
