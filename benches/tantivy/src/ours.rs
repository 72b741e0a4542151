//! Our index of the corpus.
//!
//! Chunks are written without text, names and vectors: all other fields of a record are the same few bytes for each
//! chunk, with three labels that all chunks share. The records are written before the measurement. The measurement adds
//! the terms: counting the terms of each chunk, building the posting lists, merging the runs that were written to disk,
//! and publishing dictionary, postings and field lengths in synchronised transactions. The postings of the three labels
//! are built as well.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use aurora_query::Bm25Config;
use aurora_storage::{
    Chunk, ChunkId, ChunkType, Environment, FIELDS, Field, FileOutcome, FileRecord, FileStamp, IndexWriter, Manifest,
    ManifestUpdate, NewChunk, OpenMode, TermVector, Unfinished, WriterOptions,
};

use crate::Outcome;
use crate::corpus::{Corpus, File};
use crate::lab::MEMORY;
use crate::measure::{Cost, Watch};

/// Number of chunks in a batch that the second thread counts.
const BATCH: u32 = 256;
/// Number of counted batches that may wait for the first thread.
const WAITING: usize = 8;
/// Weights with the constants k1 and b that are built into tantivy, for an index with one field.
pub const ONE_FIELD: Bm25Config = Bm25Config { k1: 1.2, b: 0.75, fields: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] };

/// Assignment of terms to fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// All terms belong to one field.
    One,
    /// Each term belongs to the field in which it occurs.
    Six,
}

/// Waiting time in which the committing thread writes the records that it has received.
const SETTLING: Duration = Duration::from_secs(2);

/// Builds an index, with one thread or two in addition to the thread that commits, and returns the cost of adding the
/// terms of its chunks.
pub fn build(directory: &Path, corpus: &Corpus, fields: Fields, threads: usize) -> Outcome<Cost> {
    let environment = Environment::open(directory, OpenMode::Create)?;
    let writer = environment.writer(WriterOptions { memory: MEMORY, ..WriterOptions::default() })?;
    for copy in 0..corpus.copies {
        for file in corpus.files_of(copy) {
            replace(&writer, &file)?;
        }
    }
    std::thread::sleep(SETTLING);
    let watch = Watch::start();
    let mut builder = TermVector::builder();
    let mut vector = |chunk| {
        for (field, term) in corpus.terms(chunk) {
            builder.add(if fields == Fields::One { Field::Body } else { field }, term);
        }
        builder.finish()
    };
    if threads == 1 {
        for first in (0..corpus.len()).step_by(BATCH as usize) {
            let chunks = first..(first + BATCH).min(corpus.len());
            add_batch(&writer, &chunks.map(|chunk| (chunk, vector(chunk))).collect::<Vec<_>>())?;
        }
        publish(writer)?;
        return Ok(watch.read());
    }
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        scope.spawn(move || {
            for first in (0..corpus.len()).step_by(BATCH as usize) {
                let chunks = first..(first + BATCH).min(corpus.len());
                if sender.send(chunks.map(|chunk| (chunk, vector(chunk))).collect::<Vec<_>>()).is_err() {
                    return;
                }
            }
        });
        for batch in receiver {
            add_batch(&writer, &batch)?;
        }
        publish(writer)?;
        Ok(watch.read())
    })
}

fn add_batch(writer: &IndexWriter, batch: &[(u32, TermVector)]) -> Outcome<()> {
    Ok(writer.add_terms(batch.iter().map(|(chunk, terms)| (ChunkId(*chunk), terms)))?)
}

/// Replaces the chunks of files with the same chunks: opens the writer, writes the chunks, and publishes.
pub fn update(environment: &Environment, corpus: &Corpus, files: &[&File]) -> Outcome<Manifest> {
    let writer = environment.writer(WriterOptions { memory: MEMORY, ..WriterOptions::default() })?;
    let mut builder = TermVector::builder();
    for file in files {
        for (id, chunk) in replace(&writer, file)?.into_iter().zip(file.chunks.clone()) {
            corpus.terms(chunk).for_each(|(_, term)| {
                builder.add(Field::Body, term);
            });
            writer.add_terms([(id, &builder.finish())])?;
        }
    }
    publish(writer)
}

/// Replaces the chunks of a file with chunks without terms.
fn replace(writer: &IndexWriter, file: &File) -> Outcome<Vec<ChunkId>> {
    let empty = Chunk { path: file.path.clone(), ..Chunk::empty(String::new(), ChunkType::Function) };
    let chunks = vec![NewChunk::from(&empty); file.chunks.len()];
    Ok(writer.replace_file(record(&file.path), &chunks)?)
}

/// Publishes the written data.
pub fn publish(writer: IndexWriter) -> Outcome<Manifest> {
    Ok(writer.publish(ManifestUpdate {
        model: None,
        head_commit: None,
        root: "/".to_owned(),
        fingerprints: Vec::new(),
        unfinished: Unfinished::default(),
        complete: true,
        now: 0,
        summary: serde_json::Value::Null,
    })?)
}

/// Returns the record of a file.
pub fn record(path: &str) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        size: 0,
        stamp: FileStamp::default(),
        blob: Vec::new(),
        hash: [0; 32],
        language: String::new(),
        outcome: FileOutcome::Indexed,
        history_key: Vec::new(),
        chunks: Vec::new(),
        lines: 0,
        warnings: Vec::new(),
        unfinished: Vec::new(),
    }
}

const _: () = assert!(FIELDS == ONE_FIELD.fields.len());
