//! The terms of real chunks, in memory and in the order in which they occur in the chunks.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use aurora_analysis::Analyzer;
use aurora_storage::{Chunk, ChunkId, ChunkRecord, Environment, FIELDS, Field, OpenMode, ProjectDirectory, Snapshot};

use crate::Outcome;

/// Number of consecutive terms in a stretch. With `--copies`, each copy of the corpus omits some stretches as a whole.
const STRETCH: usize = 8;
/// Number of every ten stretches that a copy omits, on average.
const OMITTED: u64 = 3;

/// Chunks with their terms. The chunks of one file are consecutive.
pub struct Corpus {
    /// The terms of all chunks, concatenated.
    text: String,
    /// Length of each term in bytes.
    lengths: Vec<u8>,
    chunks: Vec<ChunkTerms>,
    /// Files in the order of their paths.
    pub files: Vec<File>,
    /// Number of copies of the chunks.
    pub copies: u32,
}

/// Position of the terms of a chunk.
struct ChunkTerms {
    /// Start of the first term in [`Corpus::text`].
    text: usize,
    /// Index of the first term in [`Corpus::lengths`].
    term: usize,
    /// Number of terms up to the end of each field.
    ends: [u32; FIELDS],
    /// Id of the chunk in the project's index.
    source: ChunkId,
}

/// A file with its chunks.
pub struct File {
    /// Path within the project.
    pub path: String,
    /// Range of the chunks of the file.
    pub chunks: std::ops::Range<u32>,
}

impl Corpus {
    /// Reads at least `count` chunks of source code from the index of a project, or all if there are fewer.
    pub fn read(root: &Path, count: usize, copies: u32) -> Outcome<Self> {
        let snapshot = open(root)?;
        let mut found = Vec::new();
        for file in snapshot.files() {
            let file = file?;
            let mut ids = Vec::new();
            for id in file.chunks {
                let is_code = |chunk: &ChunkRecord<'_>| chunk.chunk_type().is_source_code();
                ids.extend(snapshot.chunk(id)?.as_ref().is_some_and(is_code).then_some(id));
            }
            if !ids.is_empty() {
                found.push((digest(&file.path), file.path, ids));
            }
        }
        found.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut taken = 0;
        let enough = |(_, _, ids): &(u64, String, Vec<ChunkId>)| {
            let before = taken;
            taken += ids.len();
            before < count
        };
        let mut drawn: Vec<_> = found.into_iter().take_while(enough).collect();
        drawn.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let mut corpus =
            Self { text: String::new(), lengths: Vec::new(), chunks: Vec::new(), files: Vec::new(), copies };
        for (_, path, ids) in drawn {
            let first = corpus.chunks.len() as u32;
            for id in ids {
                if let Some(chunk) = snapshot.whole_chunk(id)?.filter(|_| corpus.chunks.len() < count) {
                    corpus.push(id, &chunk);
                }
            }
            corpus.files.push(File { path, chunks: first..corpus.chunks.len() as u32 });
        }
        Ok(corpus)
    }

    /// Adds the terms of a chunk as the indexer counts them. Words of the documentation count once, although the
    /// documentation is also part of the text.
    fn push(&mut self, source: ChunkId, chunk: &Chunk) {
        let (text, term) = (self.text.len(), self.lengths.len());
        let mut doc_terms: HashMap<String, u32> = HashMap::new();
        Analyzer.terms(&chunk.doc, &mut |term| *doc_terms.entry(term.to_owned()).or_default() += 1);
        let mut ends = [0; FIELDS];
        for field in Field::ALL {
            let field_text: &str = match field {
                Field::Name => &chunk.name,
                Field::QualifiedName => &chunk.qualified_name,
                Field::Signature => &chunk.signature,
                Field::Path => &chunk.path,
                Field::Doc => &chunk.doc,
                Field::Custom => "",
                Field::Body => &chunk.text,
            };
            Analyzer.terms(field_text, &mut |term| match doc_terms.get_mut(term) {
                Some(left @ 1..) if field == Field::Body => *left -= 1,
                _ => {
                    self.text.push_str(term);
                    self.lengths.push(term.len() as u8);
                }
            });
            ends[field.index()] = (self.lengths.len() - term) as u32;
        }
        self.chunks.push(ChunkTerms { text, term, ends, source });
    }

    /// Returns the number of chunks in all copies.
    pub fn len(&self) -> u32 {
        self.chunks.len() as u32 * self.copies
    }

    /// Returns the number of terms of the chunk in the first copy, including repetitions.
    pub fn length(&self, chunk: u32) -> u32 {
        self.chunks[chunk as usize % self.chunks.len()].ends[FIELDS - 1]
    }

    /// Returns the id of the chunk in the project's index.
    pub fn source(&self, chunk: u32) -> ChunkId {
        self.chunks[chunk as usize % self.chunks.len()].source
    }

    /// Returns the files of a copy, with the numbers that their chunks have in the copy.
    pub fn files_of(&self, copy: u32) -> impl Iterator<Item = File> + '_ {
        let first = copy * self.chunks.len() as u32;
        self.files.iter().map(move |file| File {
            path: format!("{copy}/{}", file.path),
            chunks: first + file.chunks.start..first + file.chunks.end,
        })
    }

    /// Returns the terms of a chunk with their fields, in order.
    pub fn terms(&self, chunk: u32) -> Terms<'_> {
        let terms = &self.chunks[chunk as usize % self.chunks.len()];
        let count = terms.ends[FIELDS - 1] as usize;
        Terms {
            text: &self.text[terms.text..],
            lengths: &self.lengths[terms.term..terms.term + count],
            ends: &terms.ends,
            next: 0,
            field: 0,
            chunk,
            is_copy: chunk as usize >= self.chunks.len(),
        }
    }
}

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chunks, files, terms) = (self.chunks.len(), self.files.len(), self.lengths.len());
        write!(f, "{chunks} chunks of {files} files, {terms} terms, {} bytes of them", self.text.len())?;
        match self.copies {
            1 => Ok(()),
            copies => write!(f, "; {copies} copies"),
        }
    }
}

/// Iterator over the terms of a chunk.
pub struct Terms<'c> {
    text: &'c str,
    lengths: &'c [u8],
    ends: &'c [u32; FIELDS],
    next: usize,
    field: usize,
    chunk: u32,
    is_copy: bool,
}

impl<'c> Iterator for Terms<'c> {
    type Item = (Field, &'c str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let length = usize::from(*self.lengths.get(self.next)?);
            let (term, rest) = self.text.split_at(length);
            self.text = rest;
            while self.ends[self.field] as usize <= self.next {
                self.field += 1;
            }
            let stretch = self.next / STRETCH;
            self.next += 1;
            if !self.is_copy || mixed(u64::from(self.chunk) << 32 | stretch as u64) % 10 >= OMITTED {
                return Some((Field::ALL[self.field], term));
            }
        }
    }
}

/// Opens the newest generation of a project's index.
pub fn open(root: &Path) -> Outcome<Snapshot> {
    Ok(Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing)?.snapshot()?)
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns a pseudorandom number that depends only on `number`.
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
