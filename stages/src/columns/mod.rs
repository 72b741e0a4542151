//! The columns that the built-in stages read and write.

pub(crate) mod built_in;
pub(crate) mod display;

use std::borrow::Cow;
use std::sync::Arc;

use aurora_pipeline::{Cell, Column, ValueRef};
use aurora_storage::{Chunk, ChunkHistory, ChunkId, FileStamp, StoredTokens, TermVector};

pub use crate::definitions::Definitions;
pub use crate::document::Document;
use aurora_history::{HistorySummary, WorktreeBlame};
use aurora_languages::{Boundary, Constant, FileSymbols, Import, Symbol};
pub use display::{DisplayColumn, DisplayValue};

/// Path of a file relative to the indexed root, separated by `/`.
pub type RelativePath = Arc<str>;
/// Name of a language or document format.
pub type LanguageName = Arc<str>;

/// The change of a file since the index was last published.
#[derive(Debug, Clone, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum FileStatus {
    /// The path is not in the index.
    #[default]
    Added,
    /// The content differs from the indexed content, or everything is rebuilt.
    Modified,
    /// The path is not in the index, but its content is indexed under a path that no longer exists.
    Renamed {
        /// The path under which the content was indexed.
        from: RelativePath,
    },
    /// The content is unchanged, but its history or the output of a later stage has changed. Chunks are read from the
    /// index, and the file is not parsed again.
    Refreshed,
    /// The content is unchanged, but values of custom columns have changed. Chunks are read from the index, and only
    /// the changed values are stored.
    Revalued,
    /// The content is unchanged, but its size, modification time or git object id differs from the file row.
    Touched,
    /// The content cannot be indexed. Only the file's row is stored, with the reason.
    Skipped {
        /// The reason, as shown in the run report.
        reason: Arc<str>,
    },
    /// The path no longer exists, or is no longer indexed.
    Deleted,
}

impl Cell for FileStatus {
    fn value(&self) -> Option<ValueRef<'_>> {
        Some(ValueRef::from(self.as_str()))
    }
}

impl FileStatus {
    /// Returns the name of the status for custom stages.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    /// Whether the file's text has to be parsed.
    pub fn needs_parsing(&self) -> bool {
        matches!(self, Self::Added | Self::Modified | Self::Renamed { .. })
    }

    /// Whether the file has chunks after this run.
    pub fn has_chunks(&self) -> bool {
        self.stores_chunks() || *self == Self::Revalued
    }

    /// Whether the run stores the chunks of the file, and not only values of custom columns.
    pub fn stores_chunks(&self) -> bool {
        self.needs_parsing() || *self == Self::Refreshed
    }
}

/// The identity of a file's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentId {
    /// BLAKE3 hash of the bytes.
    pub hash: [u8; 32],
    /// Object id of the same bytes in git's index. Empty if unknown.
    pub blob: Vec<u8>,
}

impl Cell for ContentId {
    fn heap_bytes(&self) -> usize {
        self.blob.len()
    }

    fn value(&self) -> Option<ValueRef<'_>> {
        let text: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(ValueRef::String(Cow::Owned(text)))
    }
}

/// The identity of a file on disk and the time of its last status change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inode {
    /// See [`FileStamp::inode`].
    pub number: u64,
    /// See [`FileStamp::changed`].
    pub changed: i64,
}

impl Inode {
    /// Returns the stamp of the file with this inode and modification time.
    pub(crate) fn stamp(self, modified: i64) -> FileStamp {
        FileStamp { modified, changed: self.changed, inode: self.number }
    }
}

impl From<FileStamp> for Inode {
    fn from(stamp: FileStamp) -> Self {
        Self { number: stamp.inode, changed: stamp.changed }
    }
}

impl Cell for Inode {}

/// The original bytes of a file, if its text differs from them. The text differs if the file has another encoding or a
/// byte order mark, or contains secrets, which are masked in the text. Empty for all other files.
#[derive(Debug, Clone, Default)]
pub struct Original(pub Arc<[u8]>);

impl Cell for Original {
    fn heap_bytes(&self) -> usize {
        self.0.len()
    }
}

/// A part of a conversation log that does not fit into memory as a whole. The rows of all parts have the path of the
/// log. Their batches follow each other.
#[derive(Debug, Clone)]
pub struct LogPart {
    /// Number of the part, from 0.
    pub index: u32,
    /// Whether the log ends with this part.
    pub is_last: bool,
    /// Stat data of the log.
    pub stamp: FileStamp,
    /// Number of lines up to the end of the part.
    pub lines: u32,
    /// The chunks that end in the part.
    pub chunks: Arc<[Chunk]>,
}

impl Cell for LogPart {
    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.chunks) + self.chunks.iter().map(heap_bytes).sum::<usize>()
    }
}

/// `file.path`: relative path.
pub const PATH: Column<RelativePath> = Column::new("file.path");
/// `file.size`: size on disk, in bytes.
pub const SIZE: Column<u64> = Column::new("file.size");
/// `file.mtime`: modification time, in nanoseconds since the epoch.
pub const MTIME: Column<i64> = Column::new("file.mtime");
/// `file.inode`: the inode of a file found by the walk.
pub const INODE: Column<Inode> = Column::new("file.inode");
/// `file.status`: the change of the file since the last run.
pub const STATUS: Column<FileStatus> = Column::new("file.status");
/// `file.hash`: identity of the content.
pub const HASH: Column<ContentId> = Column::new("file.hash");
/// `file.text`: the decoded text. Empty for deleted files.
pub const TEXT: Column<Arc<str>> = Column::new("file.text");
/// `file.original`: the bytes of the file, if they differ from the text. Used only for the comparison with git.
pub const ORIGINAL: Column<Original> = Column::new("file.original");
/// `file.language`: name of the language or document format.
pub const LANGUAGE: Column<LanguageName> = Column::new("file.language");
/// `file.symbols`: the symbols of files that were parsed.
pub const SYMBOLS: Column<Option<Arc<ParsedFile>>> = Column::new("file.symbols");
/// `file.document`: a document from a custom stage, in rows that are not files of the tree.
pub const DOCUMENT: Column<Option<Document>> = Column::new("file.document");
/// `file.log_part`: the part of a log, in rows of logs that are processed in parts.
pub const LOG_PART: Column<Option<LogPart>> = Column::new("file.log_part");
/// `file.definitions`: the definitions from a custom stage, which replace `file.symbols`.
pub const DEFINITIONS: Column<Definitions> = Column::new("file.definitions");
/// `file.blame`: attribution of every line.
pub const BLAME: Column<Attribution> = Column::new("file.blame");
/// `chunk.record`: the chunk as it is stored.
pub const RECORD: Column<Record> = Column::new("chunk.record");
/// `chunk.terms`: the terms of the chunk by field.
pub const TERMS: Column<Terms> = Column::new("chunk.terms");
/// `chunk.git`: the history of the chunk's lines.
pub const SIGNAL: Column<Signal> = Column::new("chunk.git");
/// `chunk.embedding`: unit vector, or `None` if embedding failed.
pub const EMBEDDING: Column<Option<Vec<f32>>> = Column::new("chunk.embedding");
/// `chunk.tokens`: the tokens of the chunk according to the built-in model.
pub const TOKENS: Column<Tokens> = Column::new("chunk.tokens");
/// `chunk.previous`: the id under which the last run stored the chunk, or `None` if the chunk was rebuilt.
pub const PREVIOUS: Column<Option<StoredId>> = Column::new("chunk.previous");
/// `chunk.id`: the id of the stored chunk.
pub const CHUNK_ID: Column<StoredId> = Column::new("chunk.id");

/// The tokens of a chunk.
#[derive(Debug, Clone)]
pub struct Tokens(pub StoredTokens);

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

/// Returns the heap size of a chunk without terms and vectors, in bytes.
pub(crate) fn heap_bytes(chunk: &Chunk) -> usize {
    let texts = [&chunk.key, &chunk.path, &chunk.language, &chunk.name, &chunk.qualified_name, &chunk.signature];
    let lists = [&chunk.definitions, &chunk.calls, &chunk.bases, &chunk.imports, &chunk.dependencies];
    let listed = lists.into_iter().flatten().map(|text| text.len() + LIST_ITEM_BYTES).sum::<usize>();
    let texts = texts.into_iter().chain([&chunk.text, &chunk.doc]).chain(&chunk.parent).map(String::len).sum::<usize>();
    let bindings = chunk.bindings.iter().flat_map(|binding| [&binding.name, &binding.path, &binding.member]);
    texts + listed + bindings.map(|text| text.len() + LIST_ITEM_BYTES).sum::<usize>()
}

/// Memory that a string in a list needs in addition to its text, in bytes: the `String` and the overhead of its
/// allocation.
const LIST_ITEM_BYTES: usize = size_of::<String>() + 16;

/// The terms of a chunk by field.
#[derive(Debug, Clone)]
pub struct Terms(pub TermVector);

impl Cell for Terms {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// The id of a stored chunk.
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

/// The attribution of a file's lines to commits.
#[derive(Debug, Clone, Default)]
pub enum Attribution {
    /// There is no git repository.
    #[default]
    NoRepository,
    /// The path is not in HEAD.
    Untracked,
    /// The path is in HEAD, but its history could not be read.
    Unavailable(Arc<str>),
    /// The walk over the history is not finished, so a later run attributes the file.
    Pending,
    /// The commits that touched the file, without attribution of lines.
    File {
        /// Summary of the commits.
        history: Arc<HistorySummary>,
        /// The history key, see `FileRecord::history_key`.
        key: Vec<u8>,
    },
    /// A commit for every line of the file in the working tree.
    Lines {
        /// Per-line attribution.
        blame: Arc<WorktreeBlame>,
        /// Number of commits that touched the lines of each chunk of the file.
        touches: Vec<u32>,
        /// The history key of the committed file, see `FileRecord::history_key`.
        key: Vec<u8>,
    },
}

impl Attribution {
    /// Returns the attribution of lines, with the touch count of each chunk.
    pub(crate) fn lines(blame: WorktreeBlame, touches: Vec<u32>, key: Vec<u8>) -> Self {
        Self::Lines { blame: Arc::new(blame), touches, key }
    }
}

impl Cell for Attribution {}

/// The history of a chunk's lines.
#[derive(Debug, Clone, Default)]
pub struct Signal(pub ChunkHistory);

impl Cell for Signal {}
