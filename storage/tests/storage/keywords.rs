//! Rebuilding the keyword index from the stored chunks restores its content, even if the old keyword index was damaged.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use aurora_storage::{
    Chunk, ColumnDeclaration, Environment, KnownIndexes, Manifest, OpenMode, StorageError, TermVector, VerifyReport,
    WriterOptions,
};

use crate::damage::{generator, write_data_file};
use crate::model::check;
use crate::repository::{Tree, directory, key, open, synthetic, terms, write};

/// Rebuilds the keyword index with the terms of the tree's chunks.
fn rebuild(directory: &Path, tree: &Tree, memory: usize) -> Result<Manifest, StorageError> {
    let pieces = tree.iter().flat_map(|(path, pieces)| pieces.iter().enumerate().map(move |piece| (path, piece)));
    let vectors: HashMap<String, TermVector> =
        pieces.map(|(path, (index, piece))| (key(path, index, piece), terms(piece))).collect();
    let terms = |chunk: &Chunk, _: &[ColumnDeclaration]| vectors[&chunk.key].clone();
    Environment::rebuild_keywords(
        directory,
        &KnownIndexes::none(),
        WriterOptions { memory, ..WriterOptions::default() },
        &terms,
    )
}

fn verify(directory: &Path) -> Result<VerifyReport, StorageError> {
    Ok(Environment::open(directory, OpenMode::Existing)?.snapshot()?.verify())
}

/// Writes an index of two generations with deleted chunks, and returns its tree.
fn written(directory: &Path) -> Tree {
    let environment = open(directory);
    write(&environment, &synthetic(30, 20, 0), 64 << 20);
    let mut tree = synthetic(30, 20, 0);
    let changed = synthetic(12, 20, 3);
    write(&environment, &changed, 64 << 20);
    tree.extend(changed);
    tree
}

#[test]
fn a_rebuilt_keyword_index_has_the_same_content() {
    for memory in [0, 64 << 20] {
        let directory = directory();
        let tree = written(directory.path());
        let digest =
            open(directory.path()).snapshot().and_then(|snapshot| snapshot.digest()).expect("the index is valid");
        let manifest = rebuild(directory.path(), &tree, memory).expect("the keywords can be rebuilt");
        assert_eq!((manifest.generation, manifest.segments.len()), (3, 1));
        let environment = open(directory.path());
        let snapshot = environment.snapshot().expect("the index can be opened");
        assert_eq!(snapshot.manifest(), &manifest);
        check(&snapshot, &tree);
        assert_eq!(snapshot.digest().expect("the index is valid"), digest, "with {memory} bytes");
        assert!(!directory.path().join("tmp").read_dir().is_ok_and(|mut files| files.next().is_some()));
    }
    let nothing = directory();
    assert!(matches!(rebuild(nothing.path(), &Tree::new(), 0), Err(StorageError::NoIndex { .. })));
}

#[test]
fn damage_to_only_the_keyword_index_is_recognised_and_repaired() {
    let made = directory();
    let tree = written(made.path());
    let digest = open(made.path()).snapshot().and_then(|snapshot| snapshot.digest()).expect("the index is valid");
    let data = fs::read(made.path().join("index/data.mdb")).expect("the file can be read");
    let mut random = generator();
    let (rounds, mut repaired, mut refused) = (120, 0, 0);
    for round in 0..rounds {
        let directory = directory();
        let mut damaged = data.clone();
        let at = random(damaged.len());
        damaged[at] ^= 1 << random(8);
        write_data_file(directory.path(), &damaged);
        let Ok(report) = verify(directory.path()) else { continue };
        let found = |environment: &Environment| environment.snapshot().and_then(|snapshot| snapshot.check_keywords());
        let is_noticed = found(&open(directory.path())).is_err();
        assert!(!is_noticed || report.keyword_problems > 0, "round {round}: {:?}", report.problems);
        match rebuild(directory.path(), &tree, 64 << 20) {
            Ok(_) => {
                let environment = open(directory.path());
                let snapshot = environment.snapshot().expect("the index can be opened");
                assert!(snapshot.verify().is_ok(), "round {round}");
                assert_eq!(snapshot.digest().expect("the index is valid"), digest, "round {round}");
                repaired += usize::from(report.has_only_keyword_problems());
            }
            Err(error) => {
                assert!(!report.is_ok() && !report.has_only_keyword_problems(), "round {round}: {error}");
                refused += 1;
            }
        }
    }
    assert!(repaired > rounds / 30 && refused > rounds / 10, "{repaired} repaired, {refused} refused");
}
