//! Tests properties of the encoder that must hold for any weights.

use aurora_analysis::{BertEmbedder, Embedder, Passage, QueryEmbedder};
use proptest::prelude::*;
use safetensors::Dtype;

use crate::plain::PlainModel;
use crate::tiny;

fn model(folder: &tempfile::TempDir) -> BertEmbedder {
    tiny::write(folder.path(), 1);
    BertEmbedder::load(folder.path(), "tiny").expect("the tiny model is valid")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn passages(bodies: &[String]) -> Vec<Passage<'_>> {
    bodies.iter().map(|body| Passage { kind: "class", qualified_name: "file", body, ..Passage::default() }).collect()
}

#[test]
fn other_passages_in_a_batch_do_not_change_a_vector() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    tiny::for_texts(file!(), |bodies| {
        let together = model.embed(&passages(&bodies));
        prop_assert_eq!(together.len(), bodies.len());
        for (passage, vector) in passages(&bodies).iter().zip(together) {
            let vector = vector.expect("the tiny model does not fail");
            let alone = model.embed_query(&passage.full()).expect("the tiny model does not fail");
            prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
            prop_assert_eq!(vector, alone);
        }
        Ok(())
    });
}

#[test]
fn word_order_matters_and_words_after_the_limit_do_not() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    let embed = |text: &str| model.embed_query(text).expect("the tiny model does not fail");
    assert!(cosine(&embed("read the file"), &embed("file the read")) < 0.9999);
    assert!(cosine(&embed("sky"), &embed("sky sky sky")) < 0.9999);
    let limit = vec!["sky"; tiny::MAX_TOKENS - 2].join(" ");
    assert_eq!(embed(&limit), embed(&format!("{limit} read the file")));
    assert_ne!(embed(&limit), embed("sky"));
}

#[test]
fn vectors_agree_with_a_plain_computation() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    let plain = PlainModel::new(&tiny::cross_encoder_weights(1));
    for text in ["sky", "read the file", "the colour of a sky : class token , return the sky ."] {
        let tokens: Vec<_> = tiny::ids(&format!("[CLS] {text} [SEP]")).into_iter().map(|id| (id, 0)).collect();
        let hidden = plain.hidden(&tokens);
        let sums: Vec<f64> = (0..tiny::HIDDEN).map(|at| hidden.iter().map(|token| token[at]).sum()).collect();
        let norm = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
        for (found, sum) in model.embed_query(text).expect("the tiny model does not fail").into_iter().zip(sums) {
            assert!((f64::from(found) - sum / norm).abs() < 1e-5, "{text}: {found} and {}", sum / norm);
        }
    }
}

#[test]
fn weights_are_read_from_floats_of_every_width() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    tiny::write(folder.path(), 1);
    let vector = |dtype| {
        let mut weights = tiny::encoder_weights(1);
        for tensor in weights.values_mut() {
            // Every number type can represent the rounded values.
            tensor.values.iter_mut().for_each(|value| *value = (*value * 128.0).round() / 128.0);
            tensor.dtype = dtype;
        }
        tiny::write_weights(folder.path(), &weights);
        let model = BertEmbedder::load(folder.path(), "tiny").map_err(|error| error.to_string())?;
        Ok::<_, String>(model.embed_query("read the sky").expect("the tiny model does not fail"))
    };
    let expected = vector(Dtype::F32).expect("the weights can be read");
    for dtype in [Dtype::F64, Dtype::F16, Dtype::BF16] {
        assert_eq!(vector(dtype).as_ref(), Ok(&expected), "{dtype}");
    }
    let message = vector(Dtype::I32).err().unwrap_or_default();
    assert!(
        message.contains("model.safetensors: tensor `embeddings.word_embeddings.weight` has type I32"),
        "{message}"
    );
}

#[test]
fn weights_that_are_not_finite_give_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    tiny::write(folder.path(), 1);
    for name in ["attention.self.key.bias", "attention.self.value.weight", "output.dense.bias"] {
        for value in [f32::NAN, f32::INFINITY] {
            let mut weights = tiny::encoder_weights(1);
            let tensor = weights.get_mut(&format!("encoder.layer.0.{name}")).expect("the model has this tensor");
            tensor.values[5] = value;
            tiny::write_weights(folder.path(), &weights);
            let model = BertEmbedder::load(folder.path(), "tiny").expect("the shapes are unchanged");
            let message = model.embed_query("read").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains("a vector that is not finite"), "{name}: {message}");
        }
    }
}

#[test]
fn all_threads_get_the_same_vectors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
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
fn a_stopped_call_ends_before_the_next_layer() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    let bodies: Vec<String> = (0..40).map(|n| format!("read files {n} the sky ").repeat(20)).collect();
    let calls = AtomicUsize::new(0);
    let embed_and_stop_after = |count: usize| {
        calls.store(0, Relaxed);
        model.embed_unless(&passages(&bodies), &|| calls.fetch_add(1, Relaxed) >= count)
    };
    assert_eq!(embed_and_stop_after(usize::MAX).map(|vectors| vectors.len()), Some(bodies.len()));
    let total = calls.load(Relaxed);
    assert!(total > bodies.len() + 2, "{total} calls");
    for count in [0, bodies.len() + 1, total - 1] {
        assert!(embed_and_stop_after(count).is_none(), "is_stopped was true at call {} of {total}", count + 1);
        assert_eq!(calls.load(Relaxed), count + 1);
    }
}
