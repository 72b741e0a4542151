//! The expected answers of an index, computed only from the tree.

use std::collections::{BTreeMap, BTreeSet};

use aurora_inverted::{TfVector, WINDOW, frequency_bound};
use aurora_storage::{
    ChunkId, ChunkType, FIELDS, Field, Label, LabelKind, LengthCodes, Snapshot, Threads, length_code, length_from_code,
};

use crate::repository::{DIMENSIONS, Piece, Tree, key};

/// Frequencies by chunk key.
type Frequencies = BTreeMap<String, [u16; FIELDS]>;

fn pieces(tree: &Tree) -> impl Iterator<Item = (String, &Piece)> {
    tree.iter().flat_map(|(path, pieces)| {
        pieces.iter().enumerate().map(move |(index, piece)| (key(path, index, piece), piece))
    })
}

fn key_of(snapshot: &Snapshot, id: ChunkId) -> String {
    let chunk = snapshot.chunk(id).expect("the index is valid").expect("the chunk is live");
    chunk.key().into_owned()
}

/// Compares every answer of a snapshot with the tree from which it was written.
pub(crate) fn check(snapshot: &Snapshot, tree: &Tree) {
    let report = snapshot.verify();
    assert!(report.is_ok(), "{:?}", report.problems);
    assert_eq!(snapshot.live().len() as usize, pieces(tree).count());
    assert_eq!(snapshot.manifest().chunk_count as usize, pieces(tree).count());
    check_files(snapshot, tree);
    check_postings(snapshot, tree);
    check_labels(snapshot, tree);
    check_vectors(snapshot, tree);
    check_representations(snapshot);
}

fn check_files(snapshot: &Snapshot, tree: &Tree) {
    let rows: Vec<_> = snapshot.files().map(|row| row.expect("the index is valid")).collect();
    let paths: Vec<_> = rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, tree.keys().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(snapshot.manifest().file_count as usize, tree.len());
    for (row, (path, pieces)) in rows.iter().zip(tree) {
        assert_eq!(snapshot.file(path).expect("the index is valid").as_ref(), Some(row));
        let keys: Vec<_> = row.chunks.iter().map(|&id| key_of(snapshot, id)).collect();
        let expected = pieces.iter().enumerate().map(|(index, piece)| key(path, index, piece));
        assert_eq!(keys, expected.collect::<Vec<_>>());
    }
}

fn check_postings(snapshot: &Snapshot, tree: &Tree) {
    let mut expected: BTreeMap<&str, Frequencies> = BTreeMap::new();
    let mut lengths: BTreeMap<String, [u32; FIELDS]> = BTreeMap::new();
    for (key, piece) in pieces(tree) {
        for (field, term) in &piece.terms {
            let row = expected.entry(term).or_default().entry(key.clone()).or_default();
            row[field.index()] += 1;
            lengths.entry(key.clone()).or_default()[field.index()] += 1;
        }
    }
    lengths.values_mut().flatten().for_each(|length| *length = length_from_code(length_code(*length)));
    let total = |field: usize| lengths.values().map(|lengths| u64::from(lengths[field])).sum::<u64>();
    assert_eq!(snapshot.field_totals(), std::array::from_fn(total));
    for id in snapshot.live().iter().map(ChunkId) {
        let expected = lengths.get(&key_of(snapshot, id)).copied().unwrap_or_default();
        assert_eq!(snapshot.field_lengths(id).expect("the index is valid"), expected);
    }
    for (term, rows) in &expected {
        let postings = snapshot.postings(term).expect("the index is valid");
        assert_eq!(postings.doc_frequency() as usize, rows.len(), "{term}");
        let read = postings.to_vec();
        assert!(read.is_sorted_by_key(|(id, _)| *id));
        let docs: Vec<u32> = postings.docs().iter().collect();
        assert_eq!(docs, read.iter().map(|(id, _)| id.0).collect::<Vec<_>>());
        let by_key: Frequencies = read.iter().map(|&(id, row)| (key_of(snapshot, id), row)).collect();
        assert_eq!(&by_key, rows, "{term}");
        let lengths = snapshot.all_field_lengths().expect("the index is valid");
        let weight = |row: &TfVector, lengths: &LengthCodes| {
            let parts = row.iter().zip(lengths).map(|(&count, &length)| f32::from(count) / (1.0 + f32::from(length)));
            parts.sum::<f32>()
        };
        let windows = postings.windows(|impact| {
            let body = impact.body.iter().map(|&[step, length]| {
                let (mut frequencies, mut lengths) = ([0; FIELDS], [u8::MAX; FIELDS]);
                for (field, [code, length]) in impact.other_fields.into_iter().flatten().enumerate() {
                    (frequencies[field], lengths[field]) = (frequency_bound(*code), *length);
                }
                (frequencies[Field::Body.index()], lengths[Field::Body.index()]) = (frequency_bound(step), length);
                weight(&frequencies, &lengths)
            });
            body.fold(0.0, f32::max)
        });
        for (id, row) in read {
            let bound = windows.iter().filter(|window| window.number == id.0 / WINDOW).map(|window| window.bound);
            assert!(bound.fold(0.0, f32::max) >= weight(&row, &lengths.of(id)));
        }
    }
    let listed: Vec<_> = snapshot.terms_with_prefix("").map(|term| term.expect("the index is valid")).collect();
    let counts = expected.iter().map(|(term, rows)| ((*term).to_owned(), rows.len() as u32));
    assert_eq!(listed, counts.collect::<Vec<_>>());
    let some: Vec<_> = snapshot.terms_with_prefix("te").map(|term| term.expect("the index is valid").0).collect();
    let starting = expected.keys().filter(|term| term.starts_with("te"));
    assert_eq!(some, starting.map(|term| (*term).to_owned()).collect::<Vec<_>>());
    assert_eq!(snapshot.postings("nowhere").expect("the index is valid").doc_frequency(), 0);
}

fn check_labels(snapshot: &Snapshot, tree: &Tree) {
    let keys = |label: Label<'_>| {
        let ids = snapshot.label(label).expect("the index is valid");
        let mut keys: Vec<_> = ids.iter().map(|id| key_of(snapshot, ChunkId(id))).collect();
        keys.sort();
        keys
    };
    let matching = |holds: &dyn Fn(&Piece) -> bool| {
        let mut keys: Vec<_> = pieces(tree).filter(|(_, piece)| holds(piece)).map(|(key, _)| key).collect();
        keys.sort();
        keys
    };
    let mut types = 0;
    for &kind in ChunkType::ALL {
        let expected = matching(&|piece| piece.chunk_type == kind);
        types += usize::from(!expected.is_empty());
        assert_eq!(keys(Label::Type(kind)), expected);
    }
    assert_eq!(snapshot.labels(LabelKind::Type).count(), types);
    for owner in ["payments", "core"] {
        let expected = matching(&|piece| piece.owner.as_deref() == Some(owner));
        assert_eq!(keys(Label::Meta { key: "owner", value: owner }), expected);
    }
    for (key, piece) in pieces(tree).take(20) {
        let (id, chunk) = snapshot.chunk_by_key(&key).expect("the index is valid").expect("the chunk exists");
        assert_eq!((&*chunk.key(), key_of(snapshot, id)), (key.as_str(), key.clone()));
        let same_name = matching(&|other| other.name == piece.name);
        assert_eq!(keys(Label::Defines(&piece.name.to_uppercase())), same_name);
        if let Some((_, term)) = piece.terms.first() {
            let callers = matching(&|other| other.terms.iter().take(2).any(|(_, called)| called == term));
            assert_eq!(keys(Label::Calls(term)), callers);
        }
    }
    assert!(snapshot.chunk_by_key("code:nowhere").expect("the index is valid").is_none());
}

fn check_vectors(snapshot: &Snapshot, tree: &Tree) {
    let with: BTreeMap<_, _> = pieces(tree).filter_map(|(key, piece)| Some((key, piece.vector.as_ref()?))).collect();
    for id in snapshot.live().iter().map(ChunkId) {
        let stored = snapshot.vector(id).expect("the index is valid");
        let given = with.get(&key_of(snapshot, id));
        assert_eq!(stored.is_some(), given.is_some());
        for (stored, given) in stored.iter().flatten().zip(given.into_iter().copied().flatten()) {
            assert!((stored - given).abs() < 0.01);
        }
    }
    let query: Vec<f32> = (0..DIMENSIONS).map(|axis| axis as f32 - 3.0).collect();
    let mut all: Vec<_> = snapshot
        .live()
        .iter()
        .filter_map(|id| {
            let vector = snapshot.vector(ChunkId(id)).expect("the index is valid")?;
            let sum: f32 = vector.iter().zip(&query).map(|(a, b)| a * b).sum();
            let score = snapshot.similarity(ChunkId(id), &query).expect("the index is valid")?;
            assert!((score - sum).abs() < 1e-4 * sum.abs().max(1.0));
            Some((score, key_of(snapshot, ChunkId(id))))
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let nearest = snapshot.nearest(&query, all.len() + 1, None, Threads::All).expect("the index is valid");
    let nearest: Vec<_> = nearest.into_iter().map(|(id, score)| (score, key_of(snapshot, id))).collect();
    assert_eq!(nearest, all);
    let functions = snapshot.label(Label::Type(ChunkType::Function)).expect("the index is valid");
    for (id, _) in snapshot.nearest(&query, 3, Some(&functions), Threads::All).expect("the index is valid") {
        assert!(functions.contains(id.0));
    }
}

/// Checks that the id range of each file contains exactly its chunks, and that its representation contains the mean of
/// the chunks' vectors and the tokens of their documentation.
fn check_representations(snapshot: &Snapshot) {
    let mut files: BTreeMap<String, Vec<ChunkId>> = BTreeMap::new();
    for id in snapshot.live().iter().map(ChunkId) {
        let path = snapshot.chunk(id).expect("the index is valid").expect("the chunk is live").path().to_owned();
        files.entry(path).or_default().push(id);
    }
    let query: Vec<f32> = (0..DIMENSIONS).map(|axis| if axis == 1 { 1.0 } else { 0.0 }).collect();
    for chunks in files.values() {
        for &chunk in chunks {
            let range = snapshot.file_range(chunk).expect("the index is valid");
            assert_eq!(&snapshot.live().range(range).map(ChunkId).collect::<Vec<_>>(), chunks);
        }
        let vectors = chunks.iter().filter_map(|&chunk| snapshot.vector(chunk).expect("the index is valid"));
        let sum = vectors
            .fold(vec![0.0; DIMENSIONS], |sum: Vec<f32>, vector| sum.iter().zip(&vector).map(|(a, b)| a + b).collect());
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        let file = snapshot.representation(chunks[0]).expect("the index is valid");
        let cosine = file.cosine(&query);
        assert_eq!(cosine.is_some(), length > 0.0);
        assert!(cosine.is_none_or(|cosine| (cosine - sum[1] / length).abs() < 0.02));
        let records = chunks.iter().filter_map(|&chunk| snapshot.chunk(chunk).expect("the index is valid"));
        let tokens: BTreeSet<u16> = records.flat_map(|record| record.doc_tokens()).collect();
        assert!(file.doc_tokens().eq(tokens));
    }
}

/// Returns the field with a number, modulo the number of fields.
pub(crate) fn field(number: usize) -> Field {
    Field::ALL[number % FIELDS]
}
