//! Long lists, long terms, and models that change.

use aurora_inverted::{TfCode, WINDOW, WindowPostings, frequency_bound};
use aurora_storage::{ChunkId, Field, Label, ModelInfo, NewChunk, StorageError, TermVector, Threads, WriterOptions};
use proptest::prelude::*;

use crate::model::check;
use crate::repository::{
    DIMENSIONS, Tree, chunk, directory, file, fresh_digest, open, piece, replace, synthetic, terms, update, write,
};

/// Posting lists of many parts, with deleted chunks in the middle.
#[test]
fn long_lists_are_read_completely_and_by_window() {
    let directory = directory();
    let environment = open(directory.path());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let mut expected = Vec::new();
    for part in 0..50 {
        let path = format!("{part:02}.py");
        let chunks: Vec<_> = (0..1000).map(|index| chunk(&path, index, &piece("f", &[]))).collect();
        let ids = writer.replace_file(file(&path, 0), &chunks.iter().map(NewChunk::from).collect::<Vec<_>>());
        let ids = ids.expect("the file can be replaced");
        for id in ids {
            let mut builder = TermVector::builder();
            let count = 1 + id.0 % 3 + 400 * u32::from(id.0 % 997 == 0);
            for _ in 0..count {
                builder.add(Field::Body, "everywhere");
            }
            if id.0 % 7 == 0 {
                builder.add(Field::Name, "everywhere");
            }
            writer.add_terms([(id, &builder.finish())]).expect("the terms can be added");
            if !matches!(part, 3 | 8) {
                expected.push((id, [u16::from(id.0 % 7 == 0), 0, 0, 0, 0, 0, count as u16]));
            }
        }
    }
    writer.publish(update()).expect("the changes can be published");
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    writer.remove_file("03.py").expect("the file can be removed");
    writer.remove_file("08.py").expect("the file can be removed");
    writer.publish(update()).expect("the changes can be published");

    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.verify().is_ok());
    let postings = snapshot.postings("everywhere").expect("the index is valid");
    assert_eq!(postings.to_vec(), expected);
    assert_eq!(postings.doc_frequency() as usize, expected.len());
    let frequency = postings.doc_frequency();
    assert_eq!(snapshot.doc_frequency("everywhere").expect("the index is valid"), frequency);
    for (most, found) in [(frequency, Some(frequency)), (frequency - 1, None), (0, None)] {
        assert_eq!(snapshot.doc_frequency_up_to("everywhere", most).expect("the index is valid"), found);
    }
    assert_eq!(snapshot.doc_frequency_up_to("nowhere", 0).expect("the index is valid"), Some(0));
    assert_eq!(snapshot.label(Label::Language("py")).expect("the index is valid").len() as usize, expected.len());
    let windows = postings.windows(|impact| f32::from(frequency_bound(impact.body[0][0])));
    assert!(postings.parts() > 1 && windows.is_sorted_by(|a, b| a.number < b.number));
    let (mut found, mut room) = (Vec::new(), WindowPostings::default());
    for window in &windows {
        postings.read(window, 0, &mut room);
        let (mut rare, mut cursor) = (room.exceptions().iter().map(|(_, row)| row), postings.cursor(window));
        for (offset, code) in room.offsets().iter().zip(room.codes()) {
            let row = postings
                .tf_dictionary(window.part)
                .get(usize::from(*code))
                .or_else(|| rare.next())
                .expect("every posting has a tf vector");
            let coded = cursor.seek(*offset).expect("the cursor finds every posting");
            assert!(coded == TfCode::Frequent(*code) || coded == TfCode::Exception(*row));
            assert!(window.bound >= f32::from(row[Field::Body.index()]));
            found.push((ChunkId(window.number * WINDOW + u32::from(*offset)), *row));
        }
        assert_eq!((rare.next(), room.offsets().len()), (None, window.count as usize));
    }
    found.retain(|(id, _)| snapshot.live().contains(id.0));
    assert_eq!(found, expected);
    for (id, row) in expected.iter().step_by(37) {
        assert_eq!(postings.find(*id), Some(*row));
    }
    assert_eq!(postings.find(ChunkId(50_000)), None);
    assert_eq!(
        postings.find(ChunkId(3_500)),
        Some([u16::from(3_500 % 7 == 0), 0, 0, 0, 0, 0, 1 + 3_500 % 3]),
        "a deleted chunk"
    );
}

#[test]
fn very_long_terms_keys_and_paths_are_found() {
    let long = "x".repeat(3000);
    let path = format!("{}/a.py", "directory/".repeat(300));
    let tree = Tree::from([(
        path,
        vec![
            piece(&long, &[(Field::Body, &long), (Field::Body, &format!("{long}y"))]),
            piece("b", &[(Field::Name, &format!("{}é", "x".repeat(199)))]),
        ],
    )]);
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &tree, 64 << 20);
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.verify().is_ok());
    for (_, term) in tree.values().flatten().flat_map(|piece| &piece.terms) {
        assert_eq!(snapshot.postings(term).expect("the index is valid").doc_frequency(), 1);
    }
    assert_eq!(snapshot.label(Label::Defines(&long)).expect("the index is valid").len(), 1);
    let key = crate::repository::key(
        tree.keys().next().expect("the tree has one file"),
        0,
        &tree.values().next().expect("the tree has one file")[0],
    );
    assert!(snapshot.chunk_by_key(&key).expect("the index is valid").is_some());
}

#[test]
fn another_model_replaces_all_vectors() {
    let directory = directory();
    let environment = open(directory.path());
    let mut tree = synthetic(20, 10, 0);
    write(&environment, &tree, 64 << 20);
    for pieces in tree.values_mut().flatten() {
        pieces.vector = Some(vec![0.25; 3 * DIMENSIONS]);
    }
    let mut wider = update();
    wider.model = Some(ModelInfo { id: "wide@1".to_owned(), dimensions: 3 * DIMENSIONS, tokens: String::new() });
    let rewrite = || {
        let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
        tree.iter().for_each(|(path, pieces)| replace(&writer, path, pieces).expect("the file can be replaced"));
        writer
    };
    // All old vectors stay readable before the publication, even if it never happens.
    let old = environment.snapshot().expect("the index can be opened").digest().expect("the index is valid");
    drop(rewrite());
    assert_eq!(environment.snapshot().expect("the index can be opened").digest().expect("the index is valid"), old);
    assert!(matches!(rewrite().publish(update()), Err(StorageError::Refused(_))));
    rewrite().publish(wider).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.verify().is_ok(), "{:?}", snapshot.verify());
    assert_eq!(snapshot.verify().vectors, 200);
    assert_eq!(snapshot.nearest(&[1.0; 3 * DIMENSIONS], 5, None, Threads::All).expect("the index is valid").len(), 5);
    assert!(snapshot.nearest(&[1.0; DIMENSIONS], 5, None, Threads::All).is_err());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let mixed = [
        (chunk("m.py", 0, &piece("a", &[])), Some(vec![0.5; 3 * DIMENSIONS])),
        (chunk("m.py", 1, &piece("b", &[])), Some(vec![0.5; DIMENSIONS])),
    ];
    let mixed: Vec<_> = mixed.iter().map(NewChunk::from).collect();
    assert!(matches!(writer.replace_file(file("m.py", 0), &mixed), Err(StorageError::Refused(_))));
}

#[test]
fn a_run_without_changes_writes_nothing() {
    let directory = directory();
    let environment = open(directory.path());
    let tree = synthetic(5, 5, 0);
    let first = write(&environment, &tree, 64 << 20);
    let bytes = || std::fs::read(directory.path().join("index/data.mdb")).expect("the file can be read");
    let before = bytes();
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    writer.remove_file("not/there.py").expect("a missing file is not an error");
    writer.update_file_record(file("src/file_001.py", 5)).expect("the row can be updated");
    let mut later = update();
    later.now += 1000;
    later.summary = serde_json::json!({ "took": 3 });
    assert_eq!(writer.publish(later.clone()).expect("the changes can be published"), first);
    assert!(before == bytes());
    later.head_commit = Some("abc".to_owned());
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let second = writer.publish(later.clone()).expect("the changes can be published");
    assert_eq!((second.generation, second.created), (2, first.created));
    assert_eq!(second.updated, later.now);
    check(&environment.snapshot().expect("the index can be opened"), &tree);
}

#[test]
fn terms_are_added_once_and_in_order() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(2, 2, 0), 64 << 20);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    let chunks: Vec<_> = (0..3).map(|index| chunk("a.py", index, &piece("f", &[]))).collect();
    let chunks: Vec<_> = chunks.iter().map(NewChunk::from).collect();
    let ids = writer.replace_file(file("a.py", 0), &chunks).expect("the file can be replaced");
    let vector = terms(&piece("f", &[(Field::Body, "a")]));
    let refused = |id| matches!(writer.add_terms([(id, &vector)]), Err(StorageError::Refused(_)));
    assert!(refused(ChunkId(0)) && refused(ChunkId(ids[2].0 + 1)));
    writer.add_terms([(ids[1], &vector)]).expect("the terms can be added");
    assert!(refused(ids[1]));
    let backwards = writer.add_terms([(ids[2], &vector), (ids[0], &vector)]);
    assert!(matches!(backwards, Err(StorageError::Refused(_))));
    assert!(writer.replace_file(file("", 0), &[]).is_err());
    writer.publish(update()).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.verify().is_ok());
    assert_eq!(snapshot.postings("a").expect("the index is valid").docs().iter().collect::<Vec<_>>(), [ids[1].0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn nearest_vectors_do_not_depend_on_ids(seed in any::<u64>(), k in 1..40usize) {
        // Many equal vectors, so that the last result equals vectors that are not returned.
        let vector = |number: u64| -> Vec<f32> {
            (0..DIMENSIONS as u64).map(|axis| ((number ^ seed) % 5 * (axis + 1) % 7) as f32).collect()
        };
        let mut tree = synthetic(8, 6, 1);
        for (number, piece) in tree.values_mut().flatten().enumerate() {
            piece.vector = Some(vector(number as u64));
        }
        let nearest = |reverse: bool| -> Vec<(String, u32)> {
            let directory = directory();
            let environment = open(directory.path());
            let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
            let mut paths: Vec<_> = tree.keys().collect();
            if reverse {
                paths.reverse();
            }
            paths.iter().for_each(|path| replace(&writer, path, &tree[*path]).expect("the file can be replaced"));
            writer.publish(update()).expect("the changes can be published");
            let snapshot = environment.snapshot().expect("the index can be opened");
            let found = snapshot.nearest(&vector(seed), k, None, Threads::All).expect("the index is valid");
            let key = |id| snapshot.chunk(id).expect("the index is valid").expect("the chunk is live").key().into_owned();
            found.into_iter().map(|(id, score)| (key(id), score.to_bits())).collect()
        };
        let forward = nearest(false);
        prop_assert_eq!(forward.len(), k);
        prop_assert_eq!(forward, nearest(true));
    }
}

#[test]
fn the_digest_depends_on_the_content() {
    let tree = synthetic(3, 3, 0);
    assert_eq!(fresh_digest(&tree, 0), fresh_digest(&tree, 64 << 20));
}
