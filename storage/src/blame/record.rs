//! The blame of a file.

/// Which commit every line of a file came from: of the committed file, and how the indexed copy differs from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blame {
    /// Names and e-mail addresses of the authors.
    pub authors: Vec<(String, String)>,
    /// The commits, in the order of their first line.
    pub commits: Vec<BlamedCommit>,
    /// The lines of the committed file from first to last, without gaps.
    pub runs: Vec<BlamedRun>,
    /// How many commits touched ranges of the committed file's lines; sorted, each range once.
    pub touches: Vec<TouchedLines>,
    /// The lines of the indexed copy from first to last, without gaps; nothing where it is the committed file.
    pub copy: Option<Vec<CopiedRun>>,
    /// Whether objects were missing, so that some lines may be older than they look.
    pub incomplete: bool,
}

/// A commit that lines came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedCommit {
    /// Its object id: 20 bytes, or 32 in a SHA-256 repository.
    pub id: Vec<u8>,
    /// The position of its author in [`Blame::authors`].
    pub author: u32,
    /// When it was written, in Unix seconds.
    pub author_time: i64,
    /// When it was committed, in Unix seconds.
    pub committer_time: i64,
}

/// Neighbouring lines of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlamedRun {
    /// The number of lines.
    pub len: u32,
    /// The position in [`Blame::commits`].
    pub commit: u32,
}

/// How many commits touched a range of lines, whether or not anything of them is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TouchedLines {
    /// The first line, counted from 0.
    pub start: u32,
    /// The number of lines.
    pub len: u32,
    /// The number of commits.
    pub commits: u32,
}

/// Neighbouring lines of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedRun {
    /// The number of lines.
    pub len: u32,
    /// The first of them in the committed file, counted from 0; nothing where they are not committed yet.
    pub committed: Option<u32>,
}
