//! Files that were cut short, or have flipped bits: errors, never a crash.

use std::fs;
use std::path::Path;

use aurora_storage::{ChunkId, Environment, Field, Label, OpenMode, StorageError, WriterOptions};

use crate::repository::{DIMENSIONS, directory, open, piece, replace, synthetic, update, write};

/// The data file of an index with two generations, and its digest.
fn sound() -> (Vec<u8>, String) {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(30, 10, 0), 64 << 20);
    write(&environment, &synthetic(10, 10, 3), 64 << 20);
    let digest = environment.snapshot().and_then(|snapshot| snapshot.digest()).expect("sound");
    drop(environment);
    (fs::read(directory.path().join("index/data.mdb")).expect("reads"), digest)
}

/// Reads everything that there is to read.
fn read_all(directory: &Path) -> Result<String, StorageError> {
    let snapshot = Environment::open(directory, OpenMode::Existing)?.snapshot()?;
    let report = snapshot.verify();
    let mut first = None;
    let mut note = |result: Result<(), StorageError>| {
        if let Err(error) = result {
            first.get_or_insert(error);
        }
    };
    for term in ["common", "term7", "term8", "missing"] {
        note(snapshot.postings(term).map(|postings| {
            assert!(postings.iter().count() <= postings.docs().len() as usize);
            assert!(postings.blocks().count() < 100_000);
        }));
    }
    note(snapshot.label(Label::Language("py")).map(drop));
    note(snapshot.files().try_for_each(|row| row.map(drop)));
    note(snapshot.terms_with_prefix("term").take(5000).try_for_each(|term| term.map(drop)));
    for id in snapshot.live().iter().take(5000).map(ChunkId) {
        note(snapshot.chunk(id).map(|chunk| drop(chunk.map(|chunk| chunk.to_chunk()))));
        note(snapshot.vector(id).map(drop));
        snapshot.field_lengths(id);
    }
    let dimensions = snapshot.manifest().model.as_ref().map_or(DIMENSIONS, |model| model.dimensions);
    if dimensions < 10_000 {
        note(snapshot.nearest(&vec![1.0; dimensions], 10, None).map(drop));
    }
    note(snapshot.chunk_by_key("code:src/file_001.py:function_11#1").map(drop));
    let digest = snapshot.digest();
    match first {
        Some(error) => Err(error),
        None if report.is_ok() => digest,
        None => Err(StorageError::Refused(report.problems.join("; "))),
    }
}

fn lay_out(directory: &Path, data: &[u8]) {
    fs::create_dir_all(directory.join("index")).expect("makes a directory");
    fs::write(directory.join("index/data.mdb"), data).expect("writes");
}

#[test]
fn truncated_files_are_recognised() {
    let (data, digest) = sound();
    let directory = directory();
    let pages = (0..data.len()).step_by(4096);
    let lengths = pages.flat_map(|page| [page, page + 1, page + 2000]).chain([10, 100, 150]);
    let mut refused = 0;
    for length in lengths.filter(|&length| length < data.len()) {
        lay_out(directory.path(), &data[..length]);
        match read_all(directory.path()) {
            // Only pages that are free were lost.
            Ok(read) => assert_eq!(read, digest, "{length}"),
            Err(error) => {
                let fitting = matches!(error, StorageError::Truncated { .. });
                assert!(fitting, "at {length}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 50);
}

#[test]
fn flipped_bits_are_errors_or_harmless() {
    let (data, digest) = sound();
    let mut state = 7u64;
    let mut random = move |below: usize| {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as usize % below
    };
    let directory = directory();
    let mut noticed = 0;
    let rounds = 240;
    for round in 0..rounds {
        let mut damaged = data.clone();
        for _ in 0..=round % 3 {
            // Some rounds aim at the heads of pages, where the structure is, and some at the meta pages.
            let near = if round % 3 == 1 { 64 } else { 4096 };
            let (pages, near) = if round % 5 == 0 { (2, 160) } else { (damaged.len() / 4096, near) };
            let at = random(pages) * 4096 + random(near);
            damaged[at] ^= 1 << random(8);
        }
        lay_out(directory.path(), &damaged);
        match read_all(directory.path()) {
            Ok(read) => noticed += usize::from(read != digest),
            Err(_) => noticed += 1,
        }
        write_to(directory.path());
    }
    assert!(noticed > rounds / 8, "{noticed}");
}

/// A writer on a damaged file ends with an error, or does its work.
fn write_to(directory: &Path) {
    let write = || -> Result<(), StorageError> {
        let environment = Environment::open(directory, OpenMode::Existing)?;
        let writer = environment.writer(WriterOptions::default())?;
        writer.remove_file("src/file_004.py")?;
        replace(&writer, "src/file_005.py", &[piece("new", &[(Field::Body, "common")])])?;
        writer.publish(update()).map(drop)
    };
    let _ = write();
}
