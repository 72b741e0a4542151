//! The index of a repository on disk: one LMDB environment with chunk records, posting lists and vectors, written by
//! one writer and read by any number of readers.
//!
//! A run of the indexer opens an [`IndexWriter`], replaces and removes files, and publishes all changes as the next
//! generation. A [`Snapshot`] reads one generation, and later writes do not affect it. Chunk records are read in place.
//! Terms and filters are stored as posting lists with exact document frequencies. Vectors are signed bytes. All data
//! read from the file is checked, so that a damaged file results in an error and never in a crash.
//!
//! An index can be exported to one file ([`Snapshot::export`]) and imported from it ([`Environment::import`]).
//! Compaction ([`Environment::compact`]) replaces the index while readers keep reading the old one.
//!
//! Deliberately absent: text analysis and embedding (`aurora-analysis`), scoring of results (`aurora-query`), and any
//! knowledge of pipelines.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use aurora_storage::{Environment, Field, Label, ManifestUpdate, OpenMode, TermVector, WriterOptions};
//! # use aurora_storage::{Chunk, ChunkType, Complexity, FileOutcome, FileRecord, ChunkHistory, NewChunk};
//! # let directory = tempfile::tempdir()?;
//! # let chunk = Chunk {
//! #     key: "code:a.py:save".into(), chunk_type: ChunkType::Function, path: "a.py".into(),
//! #     language: "python".into(), name: "save".into(), qualified_name: "save".into(), line_start: 1,
//! #     line_end: 2, byte_start: 0, byte_end: 20, signature: "def save()".into(), doc: String::new(),
//! #     text: "def save(): flush()".into(), definitions: vec![], tokens: Default::default(), calls: vec!["flush".into()], imports: vec![], bases: vec![], bindings: vec![],
//! #     dependencies: vec![], complexity: Complexity::default(), content_hash: [0; 16],
//! #     git: ChunkHistory::None, metadata: vec![], governance: None, parent: None, exported: true, date: None,
//! # };
//! # let file = FileRecord {
//! #     path: "a.py".into(), size: 20, stamp: Default::default(), blob: vec![], hash: [0; 32], language: "python".into(),
//! #     outcome: FileOutcome::Indexed, history_key: vec![], chunks: vec![], lines: 2, warnings: vec![], unfinished: vec![],
//! # };
//! # let update = ManifestUpdate {
//! #     model: None, head_commit: None, root: "/".into(), fingerprints: vec![], complete: true, now: 0,
//! #     summary: serde_json::Value::Null, unfinished: Default::default(),
//! # };
//! let environment = Environment::open(&directory.path().join(".aurora"), OpenMode::Create)?;
//! let writer = environment.writer(WriterOptions::default())?;
//! let ids = writer.replace_file(file, &[NewChunk::from(&chunk)])?;
//! writer.add_terms([(ids[0], &TermVector::builder().add(Field::Body, "flush").finish())])?;
//! writer.publish(update)?;
//!
//! let snapshot = environment.snapshot()?;
//! assert_eq!(snapshot.postings("flush")?.doc_frequency(), 1);
//! assert_eq!(snapshot.label(Label::Calls("flush"))?.len(), 1);
//! assert!(snapshot.chunk(ids[0])?.is_some_and(|chunk| chunk.name() == "save"));
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod column;
mod environment;
mod error;
mod fault;
#[cfg(all(
    not(fuzzing),
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod heap;
mod index_id;
mod interrupted;
mod lock;
mod maintain;
mod manifest;
mod opening;
mod project;
mod read;
mod records;
#[cfg(test)]
#[path = "tests/sample.rs"]
mod sample;
mod store;
mod tables;
mod trust;
mod unfinished;
mod user;
mod workers;
mod write;

pub use aurora_inverted::{
    FIELDS, Field, FieldLengths, LengthCodes, LengthColumns, Postings, TermVector, TermVectorBuilder, Walk,
    length_code, length_from_code,
};
pub use column::{BUILT_IN_METADATA, ColumnDeclaration, ColumnKind};
pub use environment::Environment;
pub use error::{Distrust, StorageError};
pub use index_id::IndexId;
pub use maintain::artefact::{
    ArtefactManifest, ArtefactPart, DividedPart, ImportContext, MAX_SHARDS, Merged, Shard, is_artefact,
};
pub use maintain::compact::Compaction;
pub use maintain::rebuild::Terms;
pub use maintain::verify::VerifyReport;
pub use manifest::{CHUNK_STAGE_PREFIX, FORMAT_VERSION, Manifest, ManifestUpdate, ModelInfo, SegmentInfo};
pub use opening::OpenMode;
pub use project::ProjectDirectory;
pub use read::blame::{Blame, BlamedCommit, BlamedRun, CopiedRun, TouchedLines};
pub use read::chunk::{
    ArchivedGovernance, ArchivedMetaValue, Binding, Chunk, ChunkHistory, ChunkId, ChunkRecord, ChunkText, ChunkType,
    Complexity, GitHistory, GitState, Governance, HistoryTier, MetaValue, NewChunk, Relations, StoredTokens,
    UnknownChunkType, module_name,
};
pub use read::content::{CacheCounter, CacheCounts};
pub use read::files::{FileFinder, FileOutcome, FileRecord, FileRow, FileStamp, key as file_key};
pub use read::label::{Label, LabelKind};
pub use read::representation::FileRepresentation;
pub use read::sizes::TableSize;
pub use read::snapshot::Snapshot;
pub use read::vectors::Threads;
pub use records::access::{AccessLog, AccessRecord, Judgements, Verdict};
pub use records::annotations::Annotations;
pub use records::{Record, RecordReader, RecordStore, RecordTable, RecordWriter};
pub use trust::{IsTracked, KnownIndexes, Origin};
pub use unfinished::{RowExtent, StageFailure, Unfinished, UnfinishedRow, UnfinishedRows};
pub use user::UserDirectory;
pub use workers::Workers;
pub use write::options::WriterOptions;
pub use write::prepared::{FilePreparer, FirstChunk, PreparedFiles, ReservedIds};
pub use write::writer::IndexWriter;
