//! How much disk space do dictionary, postings and lengths take?
//!
//! Both indexes store the same information: one field with term frequencies, no positions, and the length of each
//! chunk. Tantivy rounds each length to one byte; our index stores two bytes for each of six fields. Our size is given
//! as bytes of values, and as pages that LMDB uses for them. It includes three labels that all chunks share.

use std::path::Path;

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::lab::Lab;
use crate::lmdb;
use crate::measure::{Unit, row, table};
use crate::ours::Fields;

/// Maximum ratio of our bytes to tantivy's.
const BAR: f64 = 1.15;
/// Extensions of tantivy's files with dictionary, postings and lengths.
const TANTIVY: [&str; 3] = ["term", "idx", "fieldnorm"];
/// Names of our tables with dictionary, postings and lengths.
const OURS: [&str; 3] = ["dict", "post", "lengths"];

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let bytes = bytes(lab.ours(Fields::One)?)? as f64;
    let [dictionary, postings, lengths] = pages(lab.ours(Fields::One)?)?.map(|bytes| bytes as f64);
    let directory = lab.tantivy()?;
    let tantivy: Vec<f64> =
        TANTIVY.iter().map(|part| Ok(file_bytes(directory, part)? as f64)).collect::<Outcome<_>>()?;
    let whole: f64 = tantivy.iter().sum();
    table("size", "ours", "tantivy");
    row("dictionary and postings, bytes of values", bytes, whole, Unit::Megabytes, Some(BAR));
    row("dictionary and postings, pages", dictionary + postings, whole, Unit::Megabytes, Some(BAR));
    row("with lengths, pages", dictionary + postings + lengths, whole, Unit::Megabytes, None);
    row("  dictionary, pages / .term", dictionary, tantivy[0], Unit::Megabytes, None);
    row("  postings, pages / .idx", postings, tantivy[1], Unit::Megabytes, None);
    row("  lengths, pages / .fieldnorm", lengths, tantivy[2], Unit::Megabytes, None);
    Ok(())
}

/// Returns the bytes of dictionary and postings according to the manifest.
pub fn bytes(directory: &Path) -> Outcome<u64> {
    let snapshot = Environment::open(directory, OpenMode::Existing)?.snapshot()?;
    Ok(snapshot.manifest().segments.iter().map(|segment| segment.bytes).sum())
}

/// Returns the bytes of the pages of each of our tables.
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

/// Returns the bytes of tantivy's files with an extension.
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
