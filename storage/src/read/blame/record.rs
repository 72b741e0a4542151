//! The blame of a file.

/// The origin commit of every line of the committed file, and the differences between the committed file and the
/// indexed copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blame {
    /// Names and e-mail addresses of the authors.
    pub authors: Vec<(String, String)>,
    /// The commits, in the order of their first lines.
    pub commits: Vec<BlamedCommit>,
    /// The lines of the committed file from first to last, without gaps.
    pub runs: Vec<BlamedRun>,
    /// Number of commits that touched each range of lines of the committed file. Sorted, with each range once.
    pub touches: Vec<TouchedLines>,
    /// The lines of the indexed copy from first to last, without gaps; `None` if the copy equals the committed file.
    pub copy: Option<Vec<CopiedRun>>,
    /// Whether git objects were missing, so that some lines may be older than their commits indicate.
    pub incomplete: bool,
}

/// A commit that is the origin of one or more lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedCommit {
    /// Object id of the commit: 20 bytes, or 32 in a SHA-256 repository.
    pub id: Vec<u8>,
    /// Position of the commit's author in [`Blame::authors`].
    pub author: u32,
    /// Author time in Unix seconds.
    pub author_time: i64,
    /// Committer time in Unix seconds.
    pub committer_time: i64,
}

/// Consecutive lines with the same origin commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlamedRun {
    /// Number of lines.
    pub len: u32,
    /// Position in [`Blame::commits`].
    pub commit: u32,
}

/// Number of commits that touched a range of lines, including commits that no remaining line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TouchedLines {
    /// First line, counted from 0.
    pub start: u32,
    /// Number of lines.
    pub len: u32,
    /// Number of commits.
    pub commits: u32,
}

/// Consecutive lines of the indexed copy that are also consecutive in the committed file, or that are not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedRun {
    /// Number of lines.
    pub len: u32,
    /// The first of these lines in the committed file, counted from 0; `None` if the lines are not committed yet.
    pub committed: Option<u32>,
}
