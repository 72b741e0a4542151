//! A small repository in memory, and functions that write it to an index.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_storage::{
    Chunk, ChunkHistory, ChunkType, Complexity, Environment, Field, FileOutcome, FileRecord, FileStamp, Manifest,
    ManifestUpdate, MetaValue, ModelInfo, NewChunk, OpenMode, StorageError, StoredTokens, TermVector, Unfinished,
    WriterOptions,
};
use tempfile::TempDir;

/// Number of dimensions of the vectors.
pub(crate) const DIMENSIONS: usize = 8;

/// The content of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) chunk_type: ChunkType,
    pub(crate) terms: Vec<(Field, String)>,
    pub(crate) owner: Option<String>,
    pub(crate) vector: Option<Vec<f32>>,
}

/// Files with their chunks.
pub(crate) type Tree = BTreeMap<String, Vec<Piece>>;

/// Creates a chunk with little content.
pub(crate) fn piece(name: &str, terms: &[(Field, &str)]) -> Piece {
    Piece {
        name: name.to_owned(),
        chunk_type: ChunkType::Function,
        terms: terms.iter().map(|&(field, term)| (field, term.to_owned())).collect(),
        owner: None,
        vector: None,
    }
}

/// Returns the key of a chunk.
pub(crate) fn key(path: &str, index: usize, piece: &Piece) -> String {
    format!("code:{path}:{}#{index}", piece.name)
}

/// Returns the record of a chunk.
pub(crate) fn chunk(path: &str, index: usize, piece: &Piece) -> Chunk {
    Chunk {
        key: key(path, index, piece),
        chunk_type: piece.chunk_type,
        path: path.to_owned(),
        language: path.rsplit('.').next().unwrap_or_default().to_owned(),
        name: piece.name.clone(),
        qualified_name: format!("module.{}", piece.name),
        line_start: index as u32 * 10 + 1,
        line_end: index as u32 * 10 + 9,
        byte_start: 0,
        byte_end: 100,
        signature: format!("def {}()", piece.name),
        doc: String::new(),
        text: piece.terms.iter().map(|(_, term)| format!("{term} ")).collect(),
        calls: piece.terms.iter().take(2).map(|(_, term)| format!("self.{term}")).collect(),
        definitions: Vec::new(),
        bases: Vec::new(),
        bindings: Vec::new(),
        tokens: StoredTokens::default(),
        imports: vec!["os.path".to_owned()],
        dependencies: Vec::new(),
        complexity: Complexity::default(),
        content_hash: [7; 16],
        git: ChunkHistory::Untracked,
        metadata: piece.owner.iter().map(|owner| ("owner".to_owned(), MetaValue::String(owner.clone()))).collect(),
        governance: None,
        parent: (index > 0).then(|| format!("parent of {path}")),
        exported: true,
        date: None,
    }
}

/// Returns the terms of a chunk.
pub(crate) fn terms(piece: &Piece) -> TermVector {
    let mut builder = TermVector::builder();
    for (field, term) in &piece.terms {
        builder.add(*field, term);
    }
    builder.finish()
}

/// Returns the row of a file.
pub(crate) fn file(path: &str, mtime_ns: i64) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        size: path.len() as u64,
        stamp: FileStamp { modified: mtime_ns, ..FileStamp::default() },
        blob: Vec::new(),
        hash: [3; 32],
        language: "python".to_owned(),
        outcome: FileOutcome::Indexed,
        history_key: vec![1, 2, 3],
        chunks: Vec::new(),
        lines: 10,
        warnings: Vec::new(),
        unfinished: Vec::new(),
    }
}

/// The manifest fields of a publication.
pub(crate) fn update() -> ManifestUpdate {
    ManifestUpdate {
        model: Some(ModelInfo { id: "test@1".to_owned(), dimensions: DIMENSIONS, tokens: String::new() }),
        head_commit: None,
        root: "/repository".to_owned(),
        fingerprints: vec![("chunk".to_owned(), "1".to_owned())],
        unfinished: Unfinished::default(),
        complete: true,
        now: 1_700_000_000,
        summary: serde_json::Value::Null,
    }
}

/// Creates a directory for a test, in memory if possible, because waiting for the disk at every commit would take most
/// of the time.
pub(crate) fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    made.or_else(|_| TempDir::new()).expect("a temporary directory can be created")
}

/// Opens an index, and creates it if necessary.
pub(crate) fn open(directory: &Path) -> Environment {
    Environment::open(directory, OpenMode::Create).expect("the index can be opened")
}

/// Replaces one file.
pub(crate) fn replace(writer: &aurora_storage::IndexWriter, path: &str, pieces: &[Piece]) -> Result<(), StorageError> {
    let ids = with_chunks(path, pieces, |chunks| writer.replace_file(file(path, 5), chunks))?;
    for (id, piece) in ids.into_iter().zip(pieces) {
        writer.add_terms([(id, &terms(piece))])?;
    }
    Ok(())
}

/// Calls `store` with the chunks of a file.
pub(crate) fn with_chunks<T>(path: &str, pieces: &[Piece], store: impl FnOnce(&[NewChunk<'_>]) -> T) -> T {
    let chunks = pieces.iter().enumerate();
    let chunks: Vec<_> = chunks.map(|(index, piece)| (chunk(path, index, piece), piece.vector.clone())).collect();
    store(&chunks.iter().map(NewChunk::from).collect::<Vec<_>>())
}

/// Writes a whole tree to an index.
pub(crate) fn write(environment: &Environment, tree: &Tree, memory: usize) -> Manifest {
    let writer =
        environment.writer(WriterOptions { memory, ..WriterOptions::default() }).expect("there is no other writer");
    for (path, pieces) in tree {
        replace(&writer, path, pieces).expect("the file can be replaced");
    }
    writer.publish(update()).expect("the changes can be published")
}

/// Returns the digest of a tree that is written in one run.
pub(crate) fn fresh_digest(tree: &Tree, memory: usize) -> String {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, tree, memory);
    environment.snapshot().and_then(|snapshot| snapshot.digest()).expect("the digest can be computed")
}

/// Returns a tree of `files` files with `chunks` chunks each, in which some terms are widespread.
pub(crate) fn synthetic(files: usize, chunks: usize, salt: usize) -> Tree {
    let make = |file: usize| {
        let pieces = (0..chunks).map(|index| {
            let number = file * chunks + index;
            let mut piece = piece(&format!("function_{number}"), &[(Field::Body, "common")]);
            for step in 1..12usize {
                let term = format!("term{}", (number * 31 + step * step * 7 + salt) % 500);
                piece.terms.push((Field::ALL[(number + step) % Field::ALL.len()], term));
            }
            piece.chunk_type = ChunkType::ALL[number % ChunkType::ALL.len()];
            let value = |axis: usize| ((number * 7 + axis * 13 + salt) % 29) as f32 / 29.0 - 0.5;
            piece.vector = (!number.is_multiple_of(5)).then(|| (0..DIMENSIONS).map(value).collect());
            piece
        });
        (format!("src/file_{file:03}.py"), pieces.collect())
    };
    (0..files).map(make).collect()
}
