//! How much disk do dictionary, postings and lengths take?
//!
//! The same information on both sides: one field with its frequencies, no positions, and the length of each chunk. The
//! peer rounds lengths to a byte, ours keeps two for each of six fields. Ours is given as the bytes of its values, and as
//! the pages that LMDB takes for them. Three labels that all chunks share are in ours.

use std::path::Path;

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::lab::Lab;
use crate::lmdb;
use crate::measure::{Unit, row, table};
use crate::ours::Fields;

/// The most that ours is to take of the peer's bytes.
const BAR: f64 = 1.15;
/// The peer's dictionary, postings and lengths by the names of its files.
const PEER: [&str; 3] = ["term", "idx", "fieldnorm"];
/// Our tables of the same.
const OURS: [&str; 3] = ["dict", "post", "lengths"];

/// Prints the table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let bytes = bytes(lab.ours(Fields::One)?)? as f64;
    let [dictionary, postings, lengths] = pages(lab.ours(Fields::One)?)?.map(|bytes| bytes as f64);
    let directory = lab.peer()?;
    let peer: Vec<f64> = PEER.iter().map(|part| Ok(file_bytes(directory, part)? as f64)).collect::<Outcome<_>>()?;
    let whole: f64 = peer.iter().sum();
    table("size", "ours", "tantivy");
    row("dictionary and postings, bytes of values", bytes, whole, Unit::Megabytes, Some(BAR));
    row("dictionary and postings, pages", dictionary + postings, whole, Unit::Megabytes, Some(BAR));
    row("with lengths, pages", dictionary + postings + lengths, whole, Unit::Megabytes, None);
    row("  dictionary, pages / .term", dictionary, peer[0], Unit::Megabytes, None);
    row("  postings, pages / .idx", postings, peer[1], Unit::Megabytes, None);
    row("  lengths, pages / .fieldnorm", lengths, peer[2], Unit::Megabytes, None);
    Ok(())
}

/// Bytes of dictionary and postings, as the manifest says.
pub fn bytes(directory: &Path) -> Outcome<u64> {
    let snapshot = Environment::open(directory, OpenMode::Existing)?.snapshot()?;
    Ok(snapshot.manifest().segments.iter().map(|segment| segment.bytes).sum())
}

/// Bytes of the pages of our tables.
pub fn pages(directory: &Path) -> Outcome<[u64; OURS.len()]> {
    let environment = lmdb::open(&directory.join("index"))?;
    let mut pages = [0; OURS.len()];
    for (name, pages) in OURS.iter().zip(&mut pages) {
        let table = lmdb::table(&environment, name)?;
        let transaction = environment.read_txn()?;
        let stat = table.stat(&transaction)?;
        let count = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
        *pages = count as u64 * u64::from(stat.page_size);
    }
    Ok(pages)
}

/// Bytes of the peer's files of a kind.
fn file_bytes(directory: &Path, extension: &str) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|found| found == extension) {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}
