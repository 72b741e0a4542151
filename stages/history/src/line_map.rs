//! The map from lines of a file in the working tree to lines of the committed file.

/// Maps the lines of a file in the working tree to lines of the committed file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LineMap {
    /// Non-empty runs of lines that cover the file in the working tree in order.
    pub runs: Vec<MappedLines>,
}

/// Consecutive lines in the working tree that are also consecutive in the committed file, or that are all not
/// committed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MappedLines {
    /// The number of lines, at least 1.
    pub len: u32,
    /// The first of these lines in the committed file, counted from 0; `None` if they are not committed.
    pub committed: Option<u32>,
}

impl LineMap {
    /// The map of an unmodified file.
    pub fn identity(lines: u32) -> Self {
        let run = MappedLines { len: lines, committed: Some(0) };
        Self { runs: Vec::from_iter((lines > 0).then_some(run)) }
    }

    /// Whether the file has all of the `lines` committed lines and no others.
    pub fn is_identity(&self, lines: u32) -> bool {
        *self == Self::identity(lines)
    }
}
