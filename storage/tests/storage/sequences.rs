//! After any sequence of changes, the index equals that of a fresh run.

use std::collections::BTreeMap;

use aurora_storage::{ChunkType, FileRecord, FirstChunk, WriterOptions};
use proptest::prelude::*;

use crate::model::{check, field};
use crate::repository::{
    DIMENSIONS, Piece, Tree, directory, file, fresh_digest, open, piece, replace, synthetic, terms, update,
    with_chunks, write,
};

#[derive(Debug, Clone)]
enum Step {
    Replace(u8, Vec<Piece>),
    Remove(u8),
    Touch(u8, i64),
    Publish,
    Abandon,
}

/// Generates any chunk.
pub(crate) fn any_piece() -> impl Strategy<Value = Piece> {
    let term = prop::sample::select(vec!["get", "user", "term", "test", "tea", "é", "naïve", "x"]);
    let terms = prop::collection::vec((0..aurora_storage::FIELDS, term), 0..12);
    let owner = prop::option::of(prop::sample::select(vec!["payments", "core"]));
    let vector = prop::option::of(prop::collection::vec(-1f32..1.0, DIMENSIONS));
    let name = prop::sample::select(vec!["load", "Save", "parse", "load_all"]);
    (name, 0..ChunkType::ALL.len(), terms, owner, vector).prop_map(|(name, kind, terms, owner, vector)| Piece {
        name: name.to_owned(),
        chunk_type: ChunkType::ALL[kind],
        terms: terms.into_iter().map(|(number, term)| (field(number), term.to_owned())).collect(),
        owner: owner.map(str::to_owned),
        vector,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let pieces = || prop::collection::vec(any_piece(), 0..5);
    prop_oneof![
        6 => (0..6u8, pieces()).prop_map(|(path, pieces)| Step::Replace(path, pieces)),
        2 => (0..6u8).prop_map(Step::Remove),
        1 => (0..6u8, any::<i64>()).prop_map(|(path, mtime)| Step::Touch(path, mtime)),
        4 => Just(Step::Publish),
        1 => Just(Step::Abandon),
    ]
}

/// Returns a different path for each number. Two of the paths are longer than LMDB's keys, and have a common prefix.
pub(crate) fn path(number: u8) -> String {
    match number {
        4 | 5 => format!("deep/{}{number}.py", "long_directory_name/".repeat(25)),
        _ => format!("src/{number}.py"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_incremental_index_equals_a_fresh_one(steps in prop::collection::vec(any_step(), 1..24), memory in prop::sample::select(vec![0usize, 64 << 20])) {
        let directory = directory();
        let environment = open(directory.path());
        let options = WriterOptions { memory, ..WriterOptions::default() };
        let mut writer = Some(environment.writer(options.clone()).expect("there is no other writer"));
        let (mut published, mut pending) = (Tree::new(), Tree::new());
        let mut generation = 0;
        for step in steps.into_iter().chain([Step::Publish]) {
            let open_writer = match writer.take() {
                Some(writer) => writer,
                None => environment.writer(options.clone()).expect("there is no other writer"),
            };
            match step {
                Step::Replace(number, pieces) => {
                    replace(&open_writer, &path(number), &pieces).expect("the file can be replaced");
                    pending.insert(path(number), pieces);
                }
                Step::Remove(number) => {
                    open_writer.remove_file(&path(number)).expect("the file can be removed");
                    pending.remove(&path(number));
                }
                Step::Touch(number, mtime) => {
                    if pending.contains_key(&path(number)) {
                        open_writer.update_file_record(file(&path(number), mtime)).expect("the row can be updated");
                    }
                }
                Step::Publish => {
                    let manifest = open_writer.publish(update()).expect("the changes can be published");
                    prop_assert!(manifest.generation <= generation + 1);
                    prop_assert!(manifest.segments.len() <= 4);
                    generation = manifest.generation;
                    published.clone_from(&pending);
                    let snapshot = environment.snapshot().expect("the index can be opened");
                    check(&snapshot, &published);
                    prop_assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&published, memory));
                    continue;
                }
                Step::Abandon => {
                    open_writer.abandon().expect("the rows can be removed");
                    pending.clone_from(&published);
                    check(&environment.snapshot().expect("the index can be opened"), &published);
                    continue;
                }
            }
            writer = Some(open_writer);
        }
    }
}

#[test]
fn many_small_runs_keep_few_segments() {
    let directory = directory();
    let environment = open(directory.path());
    let mut tree = synthetic(30, 12, 0);
    write(&environment, &tree, 64 << 20);
    for round in 1..40 {
        let change = synthetic(30, 12, round);
        let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
        for path in tree.keys().skip(round % 29).take(2).cloned().collect::<Vec<_>>() {
            replace(&writer, &path, &change[&path]).expect("the file can be replaced");
            tree.insert(path.clone(), change[&path].clone());
        }
        let manifest = writer.publish(update()).expect("the changes can be published");
        assert!(manifest.segments.len() <= 4);
    }
    let snapshot = environment.snapshot().expect("the index can be opened");
    check(&snapshot, &tree);
    assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, 64 << 20));
}

#[test]
fn the_memory_limit_does_not_change_the_index() {
    let tree = synthetic(40, 20, 3);
    assert_eq!(fresh_digest(&tree, 1 << 17), fresh_digest(&tree, 1 << 30));
}

#[test]
fn the_order_of_files_does_not_change_the_index() {
    let tree = synthetic(20, 10, 5);
    let directory = directory();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    for (path, pieces) in tree.iter().rev() {
        replace(&writer, path, pieces).expect("the file can be replaced");
    }
    writer.publish(update()).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, 64 << 20));
}

#[test]
fn a_digest_reveals_small_differences() {
    let tree = synthetic(6, 4, 1);
    let digest = fresh_digest(&tree, 64 << 20);
    let path = "src/file_002.py";
    let mut others: BTreeMap<&str, Tree> = BTreeMap::new();
    for what in ["term", "field", "vector", "owner", "file"] {
        let mut other = tree.clone();
        let piece = &mut other.get_mut(path).expect("the tree has the file")[1];
        match what {
            "term" => piece.terms[3].1.push('s'),
            "field" => piece.terms[3].0 = field(piece.terms[3].0.index() + 1),
            "vector" => piece.vector = None,
            "owner" => piece.owner = Some("core".to_owned()),
            _ => drop(other.remove(path)),
        }
        others.insert(what, other);
    }
    for (what, other) in others {
        assert_ne!(fresh_digest(&other, 64 << 20), digest, "{what}");
    }
}

#[test]
fn files_prepared_in_any_order_are_written_in_id_order() {
    let tree = synthetic(12, 6, 0);
    let bytes = |order: &[usize]| {
        let directory = directory();
        let writer = open(directory.path()).writer(WriterOptions::default()).expect("there is no other writer");
        let reserve = |(path, pieces): (&String, &Vec<Piece>)| {
            let ids = writer.reserve(pieces.len(), Some(DIMENSIONS)).expect("enough ids are left");
            (path.clone(), pieces.clone(), ids)
        };
        let reserved: Vec<_> = tree.iter().map(reserve).collect();
        for &at in order {
            let (path, pieces, ids) = &reserved[at];
            let mut preparer = writer.prepare(*ids);
            let stored = with_chunks(path, pieces, |chunks| preparer.replace_file(file(path, 0), chunks));
            assert_eq!(stored.expect("the chunks are valid"), ids.iter().collect::<Vec<_>>());
            writer.apply(preparer.finish().expect("the rows can be finished")).expect("the files can be written");
        }
        writer.publish(update()).expect("the changes can be published");
        let snapshot = open(directory.path()).snapshot().expect("the index can be opened");
        (
            snapshot.digest().expect("the index is valid"),
            std::fs::read(directory.path().join("index/data.mdb")).expect("the file can be read"),
        )
    };
    let (digest, expected) = bytes(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let (other_digest, found) = bytes(&[5, 3, 11, 0, 1, 2, 9, 4, 10, 8, 7, 6]);
    assert_eq!(other_digest, digest);
    assert_eq!(found.len(), expected.len());
}

#[test]
fn a_file_that_is_stored_in_parts_equals_a_file_that_is_stored_at_once() {
    let tree = synthetic(2, 9, 0);
    let directory = directory();
    let environment = open(directory.path());
    // The parts replace chunks of an earlier generation.
    write(&environment, &synthetic(2, 5, 1), 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let mut reserved = Vec::new();
    for (path, pieces) in &tree {
        let mut first = None;
        // The third part has no chunks.
        for range in [0..4, 4..5, 5..5, 5..9] {
            let part = &pieces[range.clone()];
            let ids = writer.reserve(part.len().max(1), Some(DIMENSIONS)).expect("enough ids are left");
            reserved.push((path, pieces, range, ids, first.clone()));
            let key = || with_chunks(path, pieces, |chunks| chunks[0].key.clone());
            first = first.or_else(|| ids.iter().next().map(|id| FirstChunk { id, key: key() }));
        }
    }
    // Later parts are prepared first.
    let mut stored = BTreeMap::new();
    for (path, pieces, range, ids, first) in reserved.iter().rev() {
        let is_last = range.end == pieces.len();
        let record = FileRecord { hash: if is_last { [3; 32] } else { [0; 32] }, ..file(path, 5) };
        let mut preparer = writer.prepare(*ids);
        let added =
            with_chunks(path, pieces, |chunks| preparer.add_part(record, &chunks[range.clone()], first.as_ref()));
        stored.insert(ids.iter().next(), (added.expect("the chunks are valid"), &pieces[range.clone()]));
        writer.apply(preparer.finish().expect("the rows can be finished")).expect("the part can be written");
    }
    for (ids, pieces) in stored.values() {
        for (id, piece) in ids.iter().zip(*pieces) {
            writer.add_terms([(*id, &terms(piece))]).expect("the chunk was added");
        }
    }
    writer.publish(update()).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");
    check(&snapshot, &tree);
    assert_eq!(snapshot.verify().problems, Vec::<String>::new());
    assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, 64 << 20));
}

#[test]
fn reserved_ids_of_unwritten_files_prevent_a_publication() {
    let directory = directory();
    let writer = open(directory.path()).writer(WriterOptions::default()).expect("there is no other writer");
    writer.reserve(2, None).expect("enough ids are left");
    let ids = writer.reserve(0, None).expect("enough ids are left");
    assert_eq!(ids.iter().len(), 0);
    let later = writer.reserve(1, None).expect("enough ids are left");
    let mut preparer = writer.prepare(later);
    let piece = piece("save", &[]);
    with_chunks("a.py", std::slice::from_ref(&piece), |chunks| preparer.replace_file(file("a.py", 0), chunks))
        .expect("the chunks are valid");
    writer.apply(preparer.finish().expect("the rows can be finished")).expect("the files can be written later");
    let error = writer.publish(update()).expect_err("an earlier file is missing");
    assert!(error.to_string().contains("were not written"), "{error}");
}
