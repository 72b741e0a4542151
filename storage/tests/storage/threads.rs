//! The number of threads affects no written byte, no digest and no report.

use std::fs;
use std::path::Path;

use aurora_storage::{
    Blame, BlamedCommit, BlamedRun, ColumnDeclaration, ColumnKind, Environment, KnownIndexes, MetaValue, NewChunk,
    OpenMode, Snapshot, VerifyReport, Workers, WriterOptions,
};

use crate::artefacts::{artefact_by, import_by};
use crate::damage::{generator, values, write_data_file};
use crate::repository::{DIMENSIONS, Piece, Tree, chunk, directory, file, open, synthetic, terms, update};

const THREADS: [usize; 3] = [1, 2, 5];

/// The data file of an index with several segments, deleted chunks, values of a custom column, and blames.
fn index() -> Vec<u8> {
    let directory = directory();
    let environment = open(directory.path());
    let mut first = synthetic(60, 40, 0);
    // The chunks of this file are in several batches.
    let common = first["src/file_000.py"][0].clone();
    first.insert("src/long.py".to_owned(), vec![common; 1500]);
    write(&environment, &first);
    for salt in 1..4 {
        let mut change = synthetic(60, 40, salt);
        change.retain(|path, _| path.bytes().map(usize::from).sum::<usize>() % 5 == salt);
        write(&environment, &change);
    }
    let writer = environment.writer(WriterOptions { columns: columns(), ..WriterOptions::default() });
    let writer = writer.expect("there is no other writer");
    writer.remove_file("src/file_007.py").expect("the file can be removed");
    writer.publish(update()).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.manifest().segments.len() > 1 && !snapshot.live().contains(300));
    drop((snapshot, environment));
    fs::read(directory.path().join("index/data.mdb")).expect("the file can be read")
}

fn columns() -> Vec<ColumnDeclaration> {
    let (name, stage) = ("owner".to_owned(), "stage".to_owned());
    vec![ColumnDeclaration {
        name,
        stage,
        kind: ColumnKind::String,
        filter: true,
        terms: None,
        embed: false,
        boost: None,
    }]
}

/// Writes files with their terms, owners and blames.
fn write(environment: &Environment, tree: &Tree) {
    let options = WriterOptions { columns: columns(), ..WriterOptions::default() };
    let writer = environment.writer(options).expect("there is no other writer");
    let blame = |commit: u8| Blame {
        authors: vec![("Ada".to_owned(), "ada@example.org".to_owned())],
        commits: vec![BlamedCommit { id: vec![commit; 20], author: 0, author_time: 7, committer_time: 8 }],
        runs: vec![BlamedRun { len: 10, commit: 0 }],
        ..Blame::default()
    };
    for (number, (path, pieces)) in (0u8..).zip(tree) {
        let chunks: Vec<_> = pieces.iter().enumerate().map(|(index, piece)| whole_chunk(path, index, piece)).collect();
        let new: Vec<_> = chunks.iter().map(NewChunk::from).collect();
        let ids = writer.reserve(new.len(), Some(DIMENSIONS)).expect("enough ids are left");
        let mut preparer = writer.prepare(ids);
        let ids = preparer.replace_file(file(path, 0), &new).expect("the chunks are valid");
        preparer.add_blame(ids[0], &blame(number)).expect("the blame is valid");
        writer.apply(preparer.finish().expect("the rows can be finished")).expect("the files can be written");
        let terms: Vec<_> = pieces.iter().map(terms).collect();
        writer.add_terms(ids.into_iter().zip(&terms)).expect("the terms can be added");
    }
    writer.publish(update()).expect("the changes can be published");
}

fn whole_chunk(path: &str, index: usize, piece: &Piece) -> (aurora_storage::Chunk, Option<Vec<f32>>) {
    let mut chunk = chunk(path, index, piece);
    let owner = MetaValue::String(format!("team {}", index % 7));
    chunk.metadata = if index.is_multiple_of(3) { Vec::new() } else { vec![("owner".to_owned(), owner)] };
    (chunk, piece.vector.clone())
}

fn snapshot(directory: &Path) -> Option<Snapshot> {
    Environment::open(directory, OpenMode::Existing).and_then(|environment| environment.snapshot()).ok()
}

/// The results of all commands on an index with a number of threads.
fn answers(directory: &Path, threads: usize) -> Option<(VerifyReport, Option<String>, Option<Vec<u8>>)> {
    // Every command opens the index.
    let workers = Workers::new(threads);
    let report = snapshot(directory)?.verify_with(workers);
    let digest = snapshot(directory)?.digest_with(workers).ok();
    let environment = Environment::open(directory, OpenMode::Existing).ok()?;
    Some((report, digest, artefact_by(&environment, workers).ok()))
}

#[test]
fn artefacts_digests_and_reports_are_the_same_for_any_number_of_threads() {
    let (data, directory) = (index(), directory());
    write_data_file(directory.path(), &data);
    let (report, digest, artefact) = answers(directory.path(), 1).expect("the index can be opened");
    assert!(report.is_ok() && report.chunks > 3000, "{report:?}");
    let artefact = artefact.expect("the index can be exported");
    let mut rows = Vec::new();
    for threads in THREADS {
        let found = answers(directory.path(), threads);
        assert!(found == Some((report.clone(), digest.clone(), Some(artefact.clone()))), "{threads} threads");
        let (imported, compacted) = (crate::repository::directory(), crate::repository::directory());
        import_by(imported.path(), &artefact, Workers::new(threads)).expect("the artefact can be imported");
        write_data_file(compacted.path(), &data);
        let workers = Workers::new(threads);
        assert!(
            Environment::compact(compacted.path(), &KnownIndexes::none(), workers)
                .expect("the index can be compacted")
                .written
        );
        for home in [&imported, &compacted] {
            let (report, again, _) = answers(home.path(), threads).expect("the index can be opened");
            assert!(report.is_ok(), "{report:?}");
            assert_eq!(again, digest);
        }
        let for_index = |home: &tempfile::TempDir| {
            let mut values = values(&fs::read(home.path().join("index/data.mdb")).expect("the file can be read")).0;
            // The id of an index is random.
            values.retain(|(table, _)| *table != "meta");
            values
        };
        rows.push([for_index(&imported), for_index(&compacted)]);
    }
    assert!(rows.iter().all(|other| *other == rows[0]));
}

#[test]
fn a_damaged_index_gives_the_same_report_and_no_wrong_answer_for_any_number_of_threads() {
    let (data, directory) = (index(), directory());
    write_data_file(directory.path(), &data);
    let (_, digest, artefact) = answers(directory.path(), 1).expect("the index can be opened");
    let mut random = generator();
    let (mut problems, rounds) = (0, 15);
    for round in 0..rounds {
        let mut damaged = data.clone();
        let pages = damaged.len() / 4096;
        for _ in 0..1 + round % 4 {
            let (from, to) = (2 + random(pages - 2), 2 + random(pages - 2));
            match round % 3 {
                0 => damaged[to * 4096 + random(4096)] ^= 1 << random(8),
                1 => damaged.copy_within(from * 4096..(from + 1) * 4096, to * 4096),
                _ => {
                    // The copied page has the number of the page that it replaces.
                    damaged.copy_within(from * 4096 + 8..(from + 1) * 4096, to * 4096 + 8);
                }
            }
        }
        write_data_file(directory.path(), &damaged);
        let found = [1, 5].map(|threads| answers(directory.path(), threads));
        assert!(found.iter().all(|other| *other == found[0]), "round {round}: {found:?}");
        for (_, found_digest, found_artefact) in found.iter().flatten() {
            assert!(found_digest.is_none() || *found_digest == digest, "round {round}: another digest");
            assert!(found_artefact.is_none() || *found_artefact == artefact, "round {round}: another artefact");
        }
        problems += found[0].as_ref().map_or(1, |(report, ..)| report.problem_count.min(1));
    }
    assert!(problems > rounds / 2, "{problems}");
}
