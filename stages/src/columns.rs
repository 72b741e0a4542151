//! The columns that the built-in stages read and write.

use std::sync::Arc;

use aurora_pipeline::{Cell, Column};
use aurora_storage::{Chunk, ChunkId, GitSignal, TermVector, TokenSets};

use crate::chunk::heap_bytes;
use crate::git_signal::history::{ChunkHistory, WorktreeBlame};
use aurora_languages::{Boundary, Constant, FileSymbols, Import, Symbol};

/// Path of a file relative to the indexed root, separated by `/`.
pub type RelativePath = Arc<str>;

/// What has happened to a file since the index was last published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileStatus {
    /// The index does not know the path.
    Added,
    /// The content differs from what was indexed, or everything is built anew.
    Modified,
    /// An added path whose content the index knows under a path that is gone.
    Renamed {
        /// The path under which the content was indexed.
        from: RelativePath,
    },
    /// The content is what was indexed, but its history or a later stage has changed: chunks are
    /// taken from the index instead of being parsed again.
    Refreshed,
    /// Only the evidence by which the file is recognised has changed: its modification time, or the
    /// object id that git gives it.
    Touched,
    /// The content turned out to be nothing to index; only the file's row is kept, with the reason.
    Skipped {
        /// Why, as the run report shows it.
        reason: Arc<str>,
    },
    /// The path is gone, or no longer part of what is indexed.
    Deleted,
}

impl Cell for FileStatus {}

impl FileStatus {
    /// Whether the file's text has to be parsed.
    pub fn needs_parsing(&self) -> bool {
        matches!(self, Self::Added | Self::Modified | Self::Renamed { .. })
    }

    /// Whether the file has chunks after this run.
    pub fn has_chunks(&self) -> bool {
        self.needs_parsing() || *self == Self::Refreshed
    }
}

/// What is known of a file's bytes on disk, apart from the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentId {
    /// blake3 of the bytes.
    pub hash: [u8; 32],
    /// The object id under which git's index holds these very bytes, when git could tell.
    pub blob: Vec<u8>,
}

impl Cell for ContentId {
    fn heap_bytes(&self) -> usize {
        self.blob.len()
    }
}

/// `file.path`: relative path.
pub const PATH: Column<RelativePath> = Column::new("file.path");
/// `file.size`: bytes on disk.
pub const SIZE: Column<u64> = Column::new("file.size");
/// `file.mtime`: modification time, nanoseconds since the epoch.
pub const MTIME: Column<i64> = Column::new("file.mtime");
/// `file.status`: what has happened to the file.
pub const STATUS: Column<FileStatus> = Column::new("file.status");
/// `file.hash`: identity of the content.
pub const HASH: Column<ContentId> = Column::new("file.hash");
/// `file.text`: the decoded text; empty for deleted files.
pub const TEXT: Column<Arc<str>> = Column::new("file.text");
/// `file.language`: name of the language or document format.
pub const LANGUAGE: Column<&'static str> = Column::new("file.language");
/// `file.symbols`: what parsing found, for files that were parsed.
pub const SYMBOLS: Column<Option<Arc<ParsedFile>>> = Column::new("file.symbols");
/// `file.blame`: attribution of every line.
pub const BLAME: Column<Attribution> = Column::new("file.blame");
/// `chunk.record`: the chunk as it is stored.
pub const RECORD: Column<Record> = Column::new("chunk.record");
/// `chunk.terms`: its terms by field.
pub const TERMS: Column<Terms> = Column::new("chunk.terms");
/// `chunk.git`: what git says of its lines.
pub const SIGNAL: Column<Signal> = Column::new("chunk.git");
/// `chunk.embedding`: unit vector, or nothing where embedding failed or is off.
pub const EMBEDDING: Column<Option<Vec<f32>>> = Column::new("chunk.embedding");
/// `chunk.tokens`: its tokens in the table of the embedded model.
pub const TOKENS: Column<Tokens> = Column::new("chunk.tokens");
/// `chunk.id`: the number under which the chunk was stored.
pub const CHUNK_ID: Column<StoredId> = Column::new("chunk.id");

/// The tokens of a chunk.
#[derive(Debug, Clone)]
pub struct Tokens(pub TokenSets);

impl Cell for Tokens {
    fn heap_bytes(&self) -> usize {
        2 * (self.0.code.len() + self.0.doc.len())
    }
}

/// A chunk as it is stored.
#[derive(Debug, Clone)]
pub struct Record(pub Chunk);

impl Cell for Record {
    fn heap_bytes(&self) -> usize {
        heap_bytes(&self.0)
    }
}

/// The terms of a chunk by field.
#[derive(Debug, Clone)]
pub struct Terms(pub TermVector);

impl Cell for Terms {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// The number under which a chunk was stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredId(pub ChunkId);

impl Cell for StoredId {}

/// The symbols of a file.
#[derive(Debug, Clone)]
pub struct ParsedFile(pub FileSymbols);

impl Cell for ParsedFile {
    fn heap_bytes(&self) -> usize {
        let Self(file) = self;
        let text = |symbol: &Symbol| symbol.name.len() + symbol.qualified_name.len() + symbol.doc.len();
        let symbols = file.symbols.iter().map(|symbol| size_of::<Symbol>() + text(symbol)).sum::<usize>();
        symbols
            + file.imports.len() * size_of::<Import>()
            + file.constants.len() * size_of::<Constant>()
            + file.boundaries.len() * size_of::<Boundary>()
    }
}

/// What git says of a file's lines.
#[derive(Debug, Clone, Default)]
pub enum Attribution {
    /// There is no git repository.
    #[default]
    NoRepository,
    /// HEAD does not have the path.
    Untracked,
    /// Git has the path but could not be read.
    Unavailable(Arc<str>),
    /// The walk over the history takes longer than everything else, or was stopped: the file is attributed later.
    Pending,
    /// The commits that touched the file.
    File {
        /// All of them, summed up.
        history: Arc<ChunkHistory>,
        /// What they are a function of; see `FileRecord::history_key`.
        key: Vec<u8>,
    },
    /// Every line of the working tree's file with its commit.
    Lines {
        /// Per-line attribution.
        blame: Arc<WorktreeBlame>,
        /// How many commits touched the lines of each of the file's chunks.
        touches: Vec<u32>,
        /// What the attribution of the committed file is a function of; see `FileRecord::history_key`.
        key: Vec<u8>,
    },
}

impl Attribution {
    /// Every line with its commit, and how often the lines of each chunk were touched.
    pub(crate) fn lines(blame: WorktreeBlame, touches: Vec<u32>, key: Vec<u8>) -> Self {
        Self::Lines { blame: Arc::new(blame), touches, key }
    }
}

impl Cell for Attribution {}

/// What git says of a chunk's lines.
#[derive(Debug, Clone, Default)]
pub struct Signal(pub GitSignal);

impl Cell for Signal {}
