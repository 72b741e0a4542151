//! How much slower is writing chunk records than writing the same bytes to a bare LMDB table?
//!
//! The bench writes the records of real chunks, with their full text and the labels of every chunk. The measurement
//! starts with opening the writer and ends with the publication. It includes encoding the records, building the posting
//! lists of the labels, and a synchronised transaction for every batch. The baseline appends the same keys and values
//! to an LMDB table, in one synchronised transaction.

use std::path::Path;

use aurora_storage::{Chunk, Environment, NewChunk, OpenMode, WriterOptions};
use heed::PutFlags;

use crate::Outcome;
use crate::corpus::{self, Corpus};
use crate::lab::{Lab, MEMORY};
use crate::lmdb;
use crate::measure::{Cost, Unit, cost, row, table};
use crate::ours::{publish, record};

/// Maximum number of chunks that are written.
const CHUNKS: usize = 100_000;
/// Keys and values of a table.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Runs this part and prints its table.
pub fn run(lab: &Lab, root: &Path) -> Outcome<()> {
    let files = records(&lab.corpus, root)?;
    let (mut ours, mut bare) = (Cost::MAX, Cost::MAX);
    let (mut bytes, mut count) = (0, 0);
    for _ in 0..lab.rounds {
        let directory = lab.scratch("appended")?;
        let given = files.clone();
        let (written, took) = cost(|| append(&directory, given));
        written?;
        ours = ours.min(took);
        let rows = rows(&directory)?;
        (count, bytes) = (rows.len(), rows.iter().map(|(key, value)| key.len() + value.len()).sum());
        let directory = lab.scratch("bare")?;
        std::fs::create_dir_all(&directory)?;
        let (written, took) = cost(|| append_bare(&directory, &rows));
        written?;
        bare = bare.min(took);
    }
    table("append: chunk records per second; more is better", "ours", "bare LMDB");
    let rate = |time: std::time::Duration| bytes as f64 / time.as_secs_f64();
    let name = format!("{count} records, {} MB", bytes / 1_000_000);
    row(&format!("{name}, processor time"), rate(ours.cpu), rate(bare.cpu), Unit::MegabytesPerSecond, None);
    row(&format!("{name}, wall"), rate(ours.wall), rate(bare.wall), Unit::MegabytesPerSecond, None);
    Ok(())
}

/// Returns real chunks by file, without the fields from which the writer would derive further labels.
fn records(corpus: &Corpus, root: &Path) -> Outcome<Vec<(String, Vec<Chunk>)>> {
    let snapshot = corpus::open(root)?;
    let (mut files, mut count) = (Vec::new(), 0);
    for file in corpus.files.iter().take_while(|file| (file.chunks.end as usize) <= CHUNKS) {
        let mut chunks = Vec::new();
        for chunk in file.chunks.clone() {
            let stored = snapshot.whole_chunk(corpus.source(chunk))?.ok_or("the index has changed")?;
            let (calls, imports, definitions) = Default::default();
            chunks.push(Chunk { path: file.path.clone(), calls, imports, definitions, ..stored });
        }
        count += chunks.len();
        files.push((file.path.clone(), chunks));
    }
    if count == 0 { Err("no chunks".into()) } else { Ok(files) }
}

fn append(directory: &Path, files: Vec<(String, Vec<Chunk>)>) -> Outcome<()> {
    let environment = Environment::open(directory, OpenMode::Create)?;
    let writer = environment.writer(WriterOptions { memory: MEMORY, ..WriterOptions::default() })?;
    for (path, chunks) in files {
        writer.replace_file(record(&path), &chunks.iter().map(NewChunk::from).collect::<Vec<_>>())?;
    }
    publish(writer)?;
    Ok(())
}

/// Returns the stored records.
fn rows(directory: &Path) -> Outcome<Rows> {
    let environment = lmdb::open(&directory.join("index"))?;
    let table = lmdb::table(&environment, "chunks")?;
    let transaction = environment.read_txn()?;
    let rows = table.iter(&transaction)?.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())));
    Ok(rows.collect::<Result<_, _>>()?)
}

fn append_bare(directory: &Path, rows: &Rows) -> Outcome<()> {
    let environment = lmdb::open(directory)?;
    let table = lmdb::new_table(&environment, "chunks")?;
    let mut transaction = environment.write_txn()?;
    for (key, value) in rows {
        table.put_with_flags(&mut transaction, PutFlags::APPEND, key, value)?;
    }
    Ok(transaction.commit()?)
}
