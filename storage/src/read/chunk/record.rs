//! The chunk record and the values inside it.

use serde::{Deserialize, Serialize};

use super::ChunkType;
use crate::column::ColumnKind;

/// One searchable piece of the repository with all of its stored data.
///
/// To read only the fields that ranking needs, in place, use [`super::ChunkRecord`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    /// Stable id, such as `code:src/users.py:User.save`; unique within an index.
    pub key: String,
    /// Type of the chunk.
    pub chunk_type: ChunkType,
    /// Path relative to the indexed root, with `/` as the separator.
    pub path: String,
    /// Language name, such as `python`.
    pub language: String,
    /// Simple name of the symbol or heading.
    pub name: String,
    /// Name with its enclosing scopes.
    pub qualified_name: String,
    /// First line, 1-based.
    pub line_start: u32,
    /// Last line, 1-based and inclusive.
    pub line_end: u32,
    /// First byte of the span in the file.
    pub byte_start: u32,
    /// Byte after the span.
    pub byte_end: u32,
    /// Declaration without its body.
    pub signature: String,
    /// Documentation text.
    pub doc: String,
    /// Full text of the span.
    pub text: String,
    /// Names that are defined inside the chunk and have no separate chunk: nested functions, constants, variables,
    /// members of enums.
    pub definitions: Vec<String>,
    /// Names of the functions and methods that the chunk calls.
    pub calls: Vec<String>,
    /// Types that the definition extends, implements or embeds, as the source names them.
    pub bases: Vec<String>,
    /// Modules and names that the chunk's file imports.
    pub imports: Vec<String>,
    /// The file's imports whose bound names cannot be derived from their paths. Only the first chunk of a file has
    /// them.
    pub bindings: Vec<Binding>,
    /// Other symbols that the chunk depends on.
    pub dependencies: Vec<String>,
    /// Numbers of branches and loops, and a score computed from them.
    pub complexity: Complexity,
    /// Digest of the text.
    pub content_hash: [u8; 16],
    /// The history of the chunk's lines in git.
    pub git: ChunkHistory,
    /// Columns of plugin stages and of the built-in document formats, in the given order.
    pub metadata: Vec<(String, MetaValue)>,
    /// Tags and lifespan, for types that have them.
    pub governance: Option<Governance>,
    /// Key of the enclosing chunk.
    pub parent: Option<String>,
    /// Whether the symbol can be used from outside its file.
    pub exported: bool,
    /// Unix seconds of the conversation or pattern, if the type has a date.
    pub date: Option<i64>,
    /// Tokens of the model named in [`crate::ModelInfo::tokens`]; empty if there is no such model.
    pub tokens: StoredTokens,
}

impl Chunk {
    /// Returns the digest of a text, which is the usual [`Chunk::content_hash`]: the first 16 bytes of BLAKE3.
    pub fn digest(text: &str) -> [u8; 16] {
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        digest
    }

    /// Returns the path as searchable words; empty if the path begins with `@@`. Such paths are ids, for example of
    /// articles and memory entries.
    pub fn path_words(&self) -> &str {
        if self.path.starts_with("@@") { "" } else { &self.path }
    }

    /// Creates a chunk with only a key and a type. All other fields are empty or 0.
    pub fn empty(key: String, chunk_type: ChunkType) -> Self {
        Self { key, chunk_type, ..Self::default() }
    }

    /// Sets the data that is not in the record of a chunk. `times` contains the time of the newest commit and the times
    /// of all commits.
    pub(crate) fn set_content(&mut self, texts: ChunkText, relations: Relations, times: Option<(i64, Vec<i64>)>) {
        self.content_hash = texts.content_hash();
        self.text = texts.text;
        self.doc = texts.doc;
        self.signature = texts.signature;
        (self.byte_start, self.byte_end) = (texts.byte_start, texts.byte_end);
        self.complexity = texts.complexity;
        self.git = texts.git;
        if let (ChunkHistory::Tracked(history), Some((newest, times))) = (&mut self.git, times) {
            (history.newest_time, history.commit_times) = (newest, times);
        }
        self.parent = relations.parent;
        self.calls = relations.calls;
        self.bases = relations.bases;
        self.imports = relations.imports;
        self.bindings = relations.bindings;
        self.dependencies = relations.dependencies;
    }
}

/// The texts of a stored chunk, and other data that a search reads only for the results that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkText {
    /// Full text of the span.
    pub text: String,
    /// Documentation text.
    pub doc: String,
    /// Declaration without its body.
    pub signature: String,
    /// First byte of the span in the file.
    pub byte_start: u32,
    /// Byte after the span.
    pub byte_end: u32,
    /// Numbers of branches and loops, and a score computed from them.
    pub complexity: Complexity,
    /// [`Chunk::content_hash`] of the chunk; `None` if it is [`Chunk::digest`] of the text.
    pub(crate) other_hash: Option<[u8; 16]>,
    /// The history of the chunk's lines in git, without the commit times and the time of the newest commit, which are
    /// in the record.
    pub git: ChunkHistory,
}

impl ChunkText {
    /// Digest of the text.
    pub fn content_hash(&self) -> [u8; 16] {
        self.other_hash.unwrap_or_else(|| Chunk::digest(&self.text))
    }
}

/// References from a stored chunk to other definitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relations {
    /// Key of the enclosing chunk.
    pub parent: Option<String>,
    /// Names of the functions and methods that the chunk calls.
    pub calls: Vec<String>,
    /// Types that the definition extends, implements or embeds, as the source names them.
    pub bases: Vec<String>,
    /// Modules and names that the chunk's file imports.
    pub imports: Vec<String>,
    /// See [`Chunk::bindings`].
    pub bindings: Vec<Binding>,
    /// Keys of other chunks that the chunk depends on.
    pub dependencies: Vec<String>,
}

/// A name that an import binds in its file, or a name under which the file exports a definition. Names that equal the
/// last component of the import's path need no binding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The name in the file; `*` means every name that the module exports.
    pub name: String,
    /// Path of the module or definition, in the form of [`Chunk::imports`].
    pub path: String,
    /// The name under which the module exports the definition; empty if this name is the last component of `path`.
    pub member: String,
}

impl Binding {
    /// Returns the name of the imported definition or module. For a wildcard or default export, this is the name of the
    /// module. If `member` is empty, it is the last component of the path.
    pub fn target(&self) -> &str {
        match self.member.as_str() {
            "" => last_component(&self.path),
            "*" | "default" => module_name(&self.path),
            member => member,
        }
    }

    /// Whether the name in the file differs from [`Binding::target`].
    pub fn is_renamed(&self) -> bool {
        self.name != "*" && self.name != self.target()
    }
}

/// Returns the name of the module in a file: the file name without extensions. For an `index` file, returns the name of
/// the nearest directory above it that is not called `src`.
pub fn module_name(path: &str) -> &str {
    let without_ending = |part| -> &str { str::split(part, '.').next().unwrap_or(part) };
    let mut parts = path.rsplit('/');
    let name = match parts.next().map(without_ending).unwrap_or_default() {
        "index" => parts.find(|part| *part != "src").map(without_ending).unwrap_or_default(),
        name => name,
    };
    if name.is_empty() { "index" } else { name }
}

/// Returns the last nonempty component of a name or path with the separators `.`, `:` and `/`.
pub(crate) fn last_component(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).find(|part| !part.is_empty()).unwrap_or(name)
}

/// The tokens of a chunk, for re-ranking with late interaction. A token is a row number in a model's table. Each list
/// is ascending and has no duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredTokens {
    /// Tokens of name, scopes, path, signature and body.
    pub code: Vec<u16>,
    /// Tokens of the documentation.
    pub doc: Vec<u16>,
}

/// Syntactic complexity of a chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Complexity {
    /// Number of branches.
    pub branches: u32,
    /// Number of loops.
    pub loops: u32,
    /// Score from 0 (no branches or loops) to 1.
    pub score: f32,
}

/// The history of a chunk's lines in git, or the reason why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, strum::EnumDiscriminants)]
#[strum_discriminants(
    name(GitState),
    derive(strum::VariantArray),
    doc = "The state of a chunk's lines in git: a [`ChunkHistory`] without its details."
)]
pub enum ChunkHistory {
    /// The root is not in a git repository.
    #[default]
    None,
    /// The file is not tracked.
    Untracked,
    /// The history has not been traversed yet.
    Pending,
    /// History exists but could not be read.
    Unavailable {
        /// The reason, as a message for users.
        reason: String,
    },
    /// The lines have a history.
    Tracked(GitHistory),
}

/// The part of the repository that the commits of a [`GitHistory`] have changed.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryTier {
    /// The file that the chunk is in.
    File,
    /// The lines of the chunk.
    #[default]
    Line,
}

/// The commits that are the origins of a chunk's lines, or that changed its file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GitHistory {
    /// Whether the commits have changed the chunk's lines or its file.
    pub tier: HistoryTier,
    /// Number of distinct commits.
    pub commits: u32,
    /// Number of commits that ever touched the lines or the file, including commits that no remaining line comes from.
    pub touches: u32,
    /// Hash of the newest commit, in hexadecimal.
    pub newest_commit: String,
    /// Unix seconds of the newest commit. Stored with the numbers of the chunk.
    #[serde(skip)]
    pub newest_time: i64,
    /// Unix seconds of the oldest commit.
    pub first_time: i64,
    /// Names of the authors.
    pub authors: Vec<String>,
    /// Unix seconds of the commits. Stored with the numbers of the chunk.
    #[serde(skip)]
    pub commit_times: Vec<i64>,
}

/// A value of a chunk's metadata.
#[derive(Debug, Clone, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize, Serialize, Deserialize)]
#[rkyv(derive(Debug))]
#[serde(untagged)]
pub enum MetaValue {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// Text.
    String(String),
    /// A list of texts; a filter matches any of them.
    Strings(Vec<String>),
}

/// The JSON of a [`MetaValue`]. In JSON, a whole number is a number as well, so the schema has one case for both.
#[cfg(feature = "schema")]
#[derive(utoipa::ToSchema, Serialize)]
#[schema(description = "A value of a chunk's metadata.")]
#[serde(untagged)]
#[allow(dead_code, reason = "it is only a schema")]
enum MetaValueSchema {
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    String(String),
    /// A list of texts; a filter matches any of them.
    Strings(Vec<String>),
}

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for MetaValue {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        <MetaValueSchema as utoipa::PartialSchema>::schema()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for MetaValue {}

impl MetaValue {
    /// The type of the value.
    pub const fn kind(&self) -> ColumnKind {
        match self {
            Self::Bool(_) => ColumnKind::Bool,
            Self::Integer(_) => ColumnKind::Integer,
            Self::Float(_) => ColumnKind::Float,
            Self::String(_) => ColumnKind::String,
            Self::Strings(_) => ColumnKind::Strings,
        }
    }
}

/// Tags and lifespan policy of a chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize, Serialize, Deserialize,
)]
#[rkyv(derive(Debug))]
pub struct Governance {
    /// Free tags.
    pub tags: Vec<String>,
    /// Name of the lifespan policy.
    pub lifespan: Option<String>,
}
