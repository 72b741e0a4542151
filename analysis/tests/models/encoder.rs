//! What must hold of the encoder whatever the weights.

use aurora_analysis::{BertEmbedder, Embedder, Passage, QueryEmbedder};
use proptest::prelude::*;

use crate::tiny;

fn model(folder: &tempfile::TempDir) -> BertEmbedder {
    tiny::write(folder.path(), 1);
    BertEmbedder::load(folder.path(), "tiny").expect("the tiny model is whole")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn passages(bodies: &[String]) -> Vec<Passage<'_>> {
    bodies.iter().map(|body| Passage { kind: "class", qualified_name: "file", body, ..Passage::default() }).collect()
}

#[test]
fn neighbours_in_a_batch_do_not_change_a_vector() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let model = model(&folder);
    tiny::for_texts(file!(), |bodies| {
        let together = model.embed(&passages(&bodies));
        prop_assert_eq!(together.len(), bodies.len());
        for (passage, vector) in passages(&bodies).iter().zip(together) {
            let vector = vector.expect("the tiny model does not fail");
            let alone = model.embed_query(&passage.full()).expect("the tiny model does not fail");
            prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
            prop_assert!(cosine(&vector, &alone) > 0.99999, "{}", cosine(&vector, &alone));
        }
        Ok(())
    });
}

#[test]
fn the_order_of_words_matters_and_what_is_beyond_the_limit_does_not() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let model = model(&folder);
    let embed = |text: &str| model.embed_query(text).expect("the tiny model does not fail");
    assert!(cosine(&embed("read the file"), &embed("file the read")) < 0.9999);
    assert!(cosine(&embed("sky"), &embed("sky sky sky")) < 0.9999);
    let limit = vec!["sky"; tiny::MAX_TOKENS - 2].join(" ");
    assert_eq!(embed(&limit), embed(&format!("{limit} read the file")));
    assert_ne!(embed(&limit), embed("sky"));
}

#[test]
fn threads_get_the_same_vectors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let model = model(&folder);
    let bodies: Vec<String> = (0..50).map(|i| "read the files of a sky ".repeat(i % 7)).collect();
    let embed = || {
        model
            .embed(&passages(&bodies))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .expect("the tiny model does not fail")
    };
    let expected = embed();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(embed)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no thread panics"), expected);
        }
    });
}

#[test]
fn issue_15_a_call_that_is_stopped_ends_before_the_next_layer() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let model = model(&folder);
    let bodies: Vec<String> = (0..40).map(|n| format!("read files {n} the sky ").repeat(20)).collect();
    let asked = AtomicUsize::new(0);
    let stops_after = |most: usize| {
        asked.store(0, Relaxed);
        model.embed_unless(&passages(&bodies), &|| asked.fetch_add(1, Relaxed) >= most)
    };
    assert_eq!(stops_after(usize::MAX).map(|vectors| vectors.len()), Some(bodies.len()));
    let in_all = asked.load(Relaxed);
    assert!(in_all > bodies.len() + 2, "asked {in_all} times");
    for most in [0, bodies.len() + 1, in_all - 1] {
        assert!(stops_after(most).is_none(), "is_stopped was true at call {} of {in_all}", most + 1);
        assert_eq!(asked.load(Relaxed), most + 1);
    }
}
