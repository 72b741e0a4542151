//! Small indexes for tests. Tests give chunks as rows; terms and vectors are computed as in an indexing run.

use std::path::Path;
use std::sync::Mutex;

use std::hash::{DefaultHasher, Hash, Hasher};

use aurora_analysis::{Analyzer, EmbedError, Embedder, InferenceError, Passage, QueryEmbedder, Reranker};
use aurora_storage::{
    Chunk, ChunkHistory, ChunkType, ColumnDeclaration, Complexity, Environment, Field, FileOutcome, FileRecord,
    FileStamp, GitHistory, HistoryTier, ManifestUpdate, MetaValue, ModelInfo, OpenMode, Snapshot, StoredTokens,
    TermVector, Unfinished, WriterOptions,
};

pub(crate) const DAY: i64 = 86_400;
/// The current time of all searches.
pub(crate) const NOW: i64 = 20_000 * DAY;

/// A chunk of a test corpus.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) qualified_name: String,
    pub(crate) chunk_type: ChunkType,
    pub(crate) text: String,
    pub(crate) doc: String,
    pub(crate) calls: Vec<String>,
    pub(crate) definitions: Vec<String>,
    pub(crate) git: ChunkHistory,
    pub(crate) metadata: Vec<(String, MetaValue)>,
    pub(crate) embedded: bool,
}

impl Row {
    pub(crate) fn new(path: &str, qualified_name: &str, chunk_type: ChunkType, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            qualified_name: qualified_name.to_owned(),
            chunk_type,
            text: text.to_owned(),
            doc: String::new(),
            calls: Vec::new(),
            definitions: Vec::new(),
            git: ChunkHistory::None,
            metadata: Vec::new(),
            embedded: true,
        }
    }

    pub(crate) fn doc(mut self, doc: &str) -> Self {
        self.doc = doc.to_owned();
        self
    }

    pub(crate) fn calls(mut self, name: &str) -> Self {
        self.calls.push(name.to_owned());
        self
    }

    pub(crate) fn meta(mut self, key: &str, value: MetaValue) -> Self {
        self.metadata.push((key.to_owned(), value));
        self
    }

    pub(crate) fn defines(mut self, name: &str) -> Self {
        self.definitions.push(name.to_owned());
        self
    }

    pub(crate) fn without_embedding(mut self) -> Self {
        self.embedded = false;
        self
    }

    /// Sets a history of `commits` commits, each a day apart, the newest `newest_days_ago` days before [`NOW`].
    pub(crate) fn committed(mut self, commits: u32, newest_days_ago: i64) -> Self {
        let newest_time = NOW - newest_days_ago * DAY;
        let commit_times: Vec<i64> = (0..i64::from(commits)).map(|n| newest_time - n * DAY).collect();
        self.git = ChunkHistory::Tracked(GitHistory {
            tier: HistoryTier::Line,
            commits,
            touches: commits,
            newest_commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            newest_time,
            first_time: commit_times.last().copied().unwrap_or(newest_time),
            authors: vec!["Ada".to_owned()],
            commit_times,
        });
        self
    }

    pub(crate) fn key(&self) -> String {
        format!("code:{}:{}", self.path, self.qualified_name)
    }

    fn language(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("py") => "python",
            Some("go") => "go",
            _ => "markdown",
        }
    }

    /// Returns a digest of the key and the text, because in real code the text contains the name of the chunk.
    fn digest(&self) -> [u8; 16] {
        let mut hasher = DefaultHasher::new();
        (self.key(), &self.text).hash(&mut hasher);
        u128::from(hasher.finish()).to_le_bytes()
    }

    fn chunk(&self, line: u32) -> Chunk {
        let name = self.qualified_name.rsplit('.').next().unwrap_or_default().to_owned();
        Chunk {
            key: self.key(),
            chunk_type: self.chunk_type,
            path: self.path.clone(),
            language: self.language().to_owned(),
            signature: format!("def {name}()"),
            name,
            qualified_name: self.qualified_name.clone(),
            line_start: line,
            line_end: line + 4,
            byte_start: line * 100,
            byte_end: line * 100 + 99,
            doc: self.doc.clone(),
            text: self.text.clone(),
            calls: self.calls.clone(),
            definitions: self.definitions.clone(),
            bases: Vec::new(),
            bindings: Vec::new(),
            tokens: StoredTokens::default(),
            imports: Vec::new(),
            dependencies: Vec::new(),
            complexity: Complexity::default(),
            content_hash: self.digest(),
            git: self.git.clone(),
            metadata: self.metadata.clone(),
            governance: None,
            parent: None,
            exported: true,
            date: None,
        }
    }
}

/// Returns the terms of a chunk by field.
pub(crate) fn terms_by_field(chunk: &Chunk) -> Vec<(Field, Vec<String>)> {
    let fields = [
        (Field::Name, &chunk.name),
        (Field::QualifiedName, &chunk.qualified_name),
        (Field::Signature, &chunk.signature),
        (Field::Path, &chunk.path),
        (Field::Doc, &chunk.doc),
        (Field::Body, &chunk.text),
    ];
    fields.map(|(field, text)| (field, terms(text))).into()
}

/// Returns the terms of a text.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer.terms(text, &mut |term| terms.push(term.to_owned()));
    terms
}

/// Returns the terms of a chunk, including the terms in columns with the use `terms`.
fn vector_of(chunk: &Chunk, columns: &[ColumnDeclaration]) -> TermVector {
    let mut builder = TermVector::builder();
    for (field, terms) in terms_by_field(chunk) {
        for term in &terms {
            builder.add(field, term);
        }
    }
    for (name, value) in &chunk.metadata {
        let weight = columns.iter().find(|column| column.name == *name).and_then(|column| column.terms);
        if let (Some(weight), MetaValue::String(text)) = (weight, value) {
            let repeated = terms(text).into_iter().flat_map(|term| vec![term; usize::from(weight)]);
            repeated.for_each(|term| _ = builder.add(Field::Custom, &term));
        }
    }
    builder.finish()
}

/// Returns the chunks of the rows, in the order of the rows.
pub(crate) fn chunks(rows: &[Row]) -> Vec<Chunk> {
    rows.iter().enumerate().map(|(at, row)| row.chunk(at as u32 * 10 + 1)).collect()
}

/// Writes `rows` as one run, with the files in the order of their first rows.
pub(crate) fn write(directory: &Path, rows: &[Row], model: Option<&Bag>) -> Snapshot {
    write_columns(directory, rows, model, &[])
}

/// Writes `rows` as one run, with custom columns.
pub(crate) fn write_columns(
    directory: &Path,
    rows: &[Row],
    model: Option<&Bag>,
    columns: &[ColumnDeclaration],
) -> Snapshot {
    let environment = Environment::open(directory, OpenMode::Create).expect("a fresh directory");
    let options = WriterOptions { columns: columns.to_vec(), ..WriterOptions::default() };
    let writer = environment.writer(options).expect("no other writer");
    let chunks = chunks(rows);
    let mut paths: Vec<&str> = Vec::new();
    for row in rows {
        if !paths.contains(&row.path.as_str()) {
            paths.push(&row.path);
        }
    }
    for path in paths {
        let of_file: Vec<(Chunk, Option<Vec<f32>>)> = rows
            .iter()
            .zip(&chunks)
            .filter(|(row, _)| row.path == path)
            .map(|(row, chunk)| (chunk.clone(), model.filter(|_| row.embedded).map(|model| model.vector(&chunk.text))))
            .collect();
        let vectors: Vec<TermVector> = of_file.iter().map(|(chunk, _)| vector_of(chunk, columns)).collect();
        let chunks: Vec<_> = of_file.iter().map(aurora_storage::NewChunk::from).collect();
        let ids = writer.replace_file(record(path), &chunks).expect("a valid file");
        for (id, terms) in ids.into_iter().zip(&vectors) {
            writer.add_terms([(id, terms)]).expect("the chunk was just written");
        }
    }
    writer
        .publish(ManifestUpdate {
            model: model.map(|model| ModelInfo {
                id: model.id().to_owned(),
                dimensions: model.dimensions(),
                tokens: String::new(),
            }),
            head_commit: None,
            root: "/project".to_owned(),
            fingerprints: Vec::new(),
            unfinished: Unfinished::default(),
            complete: true,
            now: NOW,
            summary: serde_json::Value::Null,
        })
        .expect("no other writer publishes");
    environment.snapshot().expect("a generation was just published")
}

pub(crate) fn record(path: &str) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        size: 1,
        stamp: FileStamp { modified: 1, ..FileStamp::default() },
        blob: Vec::new(),
        hash: [0; 32],
        language: "python".to_owned(),
        outcome: FileOutcome::Indexed,
        history_key: Vec::new(),
        chunks: Vec::new(),
        lines: 1,
        warnings: Vec::new(),
        unfinished: Vec::new(),
    }
}

/// A model that counts terms in buckets, so that texts with the same words have similar vectors.
#[derive(Debug, Clone)]
pub(crate) struct Bag {
    pub(crate) id: String,
}

impl Default for Bag {
    fn default() -> Self {
        Self { id: "bag@1".to_owned() }
    }
}

impl Bag {
    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0f32; 32];
        for term in terms(text) {
            let bucket = term.bytes().fold(7usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
            vector[bucket % 32] += 1.0;
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        vector
    }
}

impl QueryEmbedder for Bag {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.vector(text))
    }
}

impl Embedder for Bag {
    fn embed_unless(
        &self,
        passages: &[Passage<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        passages.iter().map(|passage| (!is_stopped()).then(|| Ok(self.vector(passage.body)))).collect()
    }
}

/// A reranker that records what it reads.
pub(crate) struct Judge {
    pub(crate) judge: fn(&Passage<'_>) -> f32,
    /// Qualified names and texts of passages, in reading order.
    pub(crate) read: Mutex<Vec<(String, String)>>,
}

impl Default for Judge {
    /// Scores passages pseudo-randomly. Equal texts have equal scores.
    fn default() -> Self {
        Self::with_score(|passage| {
            let mut hasher = DefaultHasher::new();
            passage.located().hash(&mut hasher);
            (hasher.finish() % 1_000) as f32 / 100.0 - 5.0
        })
    }
}

impl Judge {
    pub(crate) fn with_score(judge: fn(&Passage<'_>) -> f32) -> Self {
        Self { judge, read: Mutex::default() }
    }

    pub(crate) fn read(&self) -> Vec<(String, String)> {
        self.read.lock().expect("no test panics while holding the lock").clone()
    }
}

impl Reranker for Judge {
    fn id(&self) -> &str {
        "judge@1"
    }

    fn scores(&self, _: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        let texts = passages.iter().map(|passage| (passage.qualified_name.to_owned(), passage.located()));
        self.read.lock().expect("no test panics while holding the lock").extend(texts);
        Ok(passages.iter().map(|passage| (self.judge)(passage)).collect())
    }
}
