//! Indexes with synthetic chunks, and remotes in temporary directories.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use aurora_remote::{
    Listed, PullContext, Pulled, PushContext, PushProgress, Pushed, Remote, RemoteError, RemoteUrl, SigningKey, Trust,
    TrustedKeys,
};
use aurora_storage::{
    Chunk, ChunkHistory, ChunkType, ColumnDeclaration, Complexity, Environment, Field, FileOutcome, FileRecord,
    ImportContext, KnownIndexes, ManifestUpdate, NewChunk, OpenMode, TermVector, Terms, Workers, WriterOptions,
};
use tempfile::TempDir;

/// Name and version of the program that pushes.
const PROGRAM: &str = "test 1";

/// A tree: the texts of chunks by path.
pub(crate) type Tree = BTreeMap<String, Vec<String>>;

/// Returns a tree with `files` files of 30 chunks.
pub(crate) fn tree(files: usize) -> Tree {
    let text = |file: usize, chunk: usize| {
        let words = (0..30).map(|word| format!("w{:x}", (file * 7919 + chunk * 104_729 + word * 31) % 65_521));
        format!("fn f{file}_{chunk}() {{ {} }}", words.collect::<Vec<_>>().join(" "))
    };
    (0..files)
        .map(|file| (format!("src/m{}/f{file}.rs", file % 9), (0..30).map(|at| text(file, at)).collect()))
        .collect()
}

fn chunk(path: &str, at: usize, text: &str) -> Chunk {
    Chunk {
        key: format!("code:{path}:f{at}"),
        chunk_type: ChunkType::Function,
        path: path.to_owned(),
        language: "rust".to_owned(),
        name: format!("f{at}"),
        qualified_name: format!("f{at}"),
        line_start: at as u32 + 1,
        line_end: at as u32 + 1,
        byte_start: 0,
        byte_end: text.len() as u32,
        signature: String::new(),
        doc: String::new(),
        text: text.to_owned(),
        definitions: Vec::new(),
        tokens: Default::default(),
        calls: Vec::new(),
        imports: Vec::new(),
        bases: Vec::new(),
        bindings: Vec::new(),
        dependencies: Vec::new(),
        complexity: Complexity::default(),
        content_hash: [0; 16],
        git: ChunkHistory::None,
        metadata: Vec::new(),
        governance: None,
        parent: None,
        exported: true,
        date: None,
    }
}

/// Returns the terms of a chunk.
pub(crate) fn terms(chunk: &Chunk, _: &[ColumnDeclaration]) -> TermVector {
    let mut builder = TermVector::builder();
    for word in chunk.text.split(' ') {
        builder.add(Field::Body, word);
    }
    builder.finish()
}

/// A project directory with an index.
pub(crate) struct Project {
    pub(crate) directory: TempDir,
}

impl Project {
    /// Creates a directory without an index.
    pub(crate) fn empty() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory can be created") }
    }

    /// Creates the index of a tree.
    pub(crate) fn with(tree: &Tree, commit: &str) -> Self {
        let project = Self::empty();
        project.write(tree, commit);
        project
    }

    /// Path of the `.aurora` directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join(".aurora")
    }

    /// Publishes files as the state of a commit.
    pub(crate) fn write(&self, tree: &Tree, commit: &str) {
        let environment = Environment::open(&self.home(), OpenMode::Create).expect("the index can be opened");
        let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
        for (path, texts) in tree {
            let chunks: Vec<Chunk> = texts.iter().enumerate().map(|(at, text)| chunk(path, at, text)).collect();
            let file = FileRecord {
                path: path.clone(),
                size: 1,
                stamp: Default::default(),
                blob: Vec::new(),
                hash: *blake3::hash(texts.concat().as_bytes()).as_bytes(),
                language: "rust".to_owned(),
                outcome: FileOutcome::Indexed,
                history_key: Vec::new(),
                chunks: Vec::new(),
                lines: 1,
                warnings: Vec::new(),
                unfinished: Vec::new(),
            };
            let new: Vec<NewChunk<'_>> = chunks.iter().map(NewChunk::from).collect();
            let ids = writer.replace_file(file, &new).expect("the file can be written");
            let vectors: Vec<TermVector> = chunks.iter().map(|chunk| terms(chunk, &[])).collect();
            writer.add_terms(ids.into_iter().zip(&vectors)).expect("the terms can be written");
        }
        let update = ManifestUpdate {
            model: None,
            head_commit: Some(commit.to_owned()),
            root: "/".to_owned(),
            fingerprints: Vec::new(),
            complete: true,
            now: 0,
            summary: serde_json::Value::Null,
            unfinished: Default::default(),
        };
        writer.publish(update).expect("the changes can be published");
    }

    /// Returns the digest of the index; `None` without an index.
    pub(crate) fn digest(&self) -> Option<String> {
        let environment = Environment::open(&self.home(), OpenMode::Existing).ok()?;
        Some(environment.snapshot().and_then(|snapshot| snapshot.digest()).expect("the index is valid"))
    }

    /// Pushes the index.
    pub(crate) fn push(&self, remote: &Remote, key: Option<&SigningKey>) -> Result<Pushed, RemoteError> {
        self.push_with(remote, key, &|_| {})
    }

    /// Pushes the index, and calls `progress` meanwhile.
    pub(crate) fn push_with(
        &self,
        remote: &Remote,
        key: Option<&SigningKey>,
        progress: &(dyn Fn(PushProgress) + Sync),
    ) -> Result<Pushed, RemoteError> {
        let environment = Environment::open(&self.home(), OpenMode::Existing)?;
        let workers = Workers::new(2);
        let directory = &self.home();
        let context = PushContext { directory, program: PROGRAM, now: 7, key, workers, progress };
        remote.push(&environment.snapshot()?, context)
    }

    /// Pulls a manifest.
    pub(crate) fn pull(&self, remote: &Remote, listed: &Listed) -> Result<Pulled, RemoteError> {
        self.pull_as(PROGRAM, &terms, remote, listed)
    }

    /// Pulls a manifest with a version of the program that computes these terms.
    pub(crate) fn pull_as(
        &self,
        program: &str,
        terms: Terms<'_>,
        remote: &Remote,
        listed: &Listed,
    ) -> Result<Pulled, RemoteError> {
        let known = KnownIndexes::none();
        let name = Path::new("the manifest");
        let import = ImportContext { name, root: "/", now: 5, known: &known, workers: Workers::new(2) };
        let context = PullContext { directory: &self.home(), program, import, terms, progress: &|_, _| {} };
        remote.pull(listed, context)
    }

    /// Pulls the newest manifest.
    pub(crate) fn pull_newest(&self, remote: &Remote) -> Result<Pulled, RemoteError> {
        self.pull(remote, &remote.manifests()?[0])
    }
}

/// A remote in a temporary directory, and the records of a user.
pub(crate) struct Share {
    pub(crate) directory: TempDir,
    pub(crate) records: TempDir,
}

impl Share {
    pub(crate) fn new() -> Self {
        let new = || tempfile::tempdir().expect("a directory can be created");
        Self { directory: new(), records: new() }
    }

    /// Opens the remote for a user who trusts `keys`. `allows_unsigned` also accepts unsigned manifests.
    pub(crate) fn open_with(&self, keys: &[&str], allows_unsigned: bool) -> Remote {
        let url = RemoteUrl::parse(&format!("file://{}/remote", self.directory.path().display()));
        let keys = TrustedKeys::parse(keys.iter().copied()).expect("the keys are valid");
        let records = self.records.path().join("records");
        let url = url.expect("the URL is valid");
        Remote::open(url, Trust { keys, allows_unsigned }, Some(records), true).expect("the remote can be opened")
    }

    pub(crate) fn open(&self) -> Remote {
        self.open_with(&[], true)
    }

    /// Path of an object.
    pub(crate) fn object(&self, name: &str) -> PathBuf {
        self.directory.path().join("remote").join(name)
    }

    /// Returns the paths of all parts.
    pub(crate) fn parts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.object("parts")).expect("the directory exists");
        let mut parts: Vec<_> = entries.map(|entry| entry.expect("the entry can be read").path()).collect();
        parts.sort_unstable();
        parts
    }

    /// Makes an object look old to the store.
    pub(crate) fn age(&self, path: &Path, days: u64) {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 3600);
        let file = fs::File::options().write(true).open(path).expect("the object can be opened");
        file.set_modified(time).expect("the time can be set");
    }
}

/// Returns a tree in which one chunk of each of the first `files` files has another text.
pub(crate) fn changed_tree(files: usize, word: &str) -> Tree {
    let mut tree = tree(files);
    tree.values_mut().for_each(|texts| texts[0].push_str(&format!(" {word}")));
    tree
}

/// Returns a commit id.
pub(crate) fn commit(number: u32) -> String {
    format!("{number:040x}")
}

/// Creates a key pair. Returns the secret key and the public key.
pub(crate) fn key() -> (SigningKey, String) {
    let directory = tempfile::tempdir().expect("a directory can be created");
    let key = SigningKey::create(&directory.path().join("key"), None).expect("the key can be created");
    let public = key.public_key();
    (key, public)
}
