//! Compares a cross-encoder with a straightforward reference implementation, and tests properties that must hold for
//! any weights.

use std::path::Path;

use aurora_analysis::{CrossEncoder, ModelDirectory, Passage, Reranker};
use proptest::prelude::*;
use safetensors::Dtype;

use crate::plain::PlainModel;
use crate::tiny::{self, Tensor};

fn model(folder: &tempfile::TempDir) -> CrossEncoder {
    tiny::write_cross_encoder(folder.path(), 1);
    CrossEncoder::load(folder.path(), "tiny").expect("the tiny model is valid")
}

fn bodies<'a>(bodies: &'a [impl AsRef<str>]) -> Vec<Passage<'a>> {
    bodies.iter().map(|body| Passage { body: body.as_ref(), ..Passage::default() }).collect()
}

/// Returns `[CLS] query [SEP] passage [SEP]`, each token with its type.
fn pair(query: &str, passage: &str) -> Vec<(u32, u32)> {
    let first = tiny::ids(&format!("[CLS] {query} [SEP]")).into_iter().map(|id| (id, 0));
    first.chain(tiny::ids(&format!("{passage} [SEP]")).into_iter().map(|id| (id, 1))).collect()
}

#[test]
fn scores_agree_with_the_reference_implementation() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let plain = PlainModel::new(&tiny::write_cross_encoder(folder.path(), 1));
    let model = CrossEncoder::load(folder.path(), "tiny").expect("the tiny model is valid");
    let passages =
        ["read the file", "sky", "", "the colour of a sky : class token , return the sky .", "write file ( )"];
    for query in ["read file", "colour of the sky", "token"] {
        let scores = model.scores(query, &bodies(&passages)).expect("the tiny model does not fail");
        assert_eq!(scores.len(), passages.len());
        for (passage, score) in passages.iter().zip(scores) {
            let expected = plain.logit(&pair(query, passage));
            assert!((f64::from(score) - expected).abs() < 1e-4, "{query} | {passage}: {score} and {expected}");
            let one_type: Vec<_> = pair(query, passage).into_iter().map(|(id, _)| (id, 0)).collect();
            assert!((plain.logit(&one_type) - expected).abs() > 1e-2, "types of tokens matter: {query} | {passage}");
        }
    }
}

#[test]
fn the_fields_of_a_passage_are_joined_in_order_from_path_to_body() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let plain = PlainModel::new(&tiny::write_cross_encoder(folder.path(), 1));
    let model = CrossEncoder::load(folder.path(), "tiny").expect("the tiny model is valid");
    let passage = Passage {
        kind: "class",
        path: "file",
        name: "token",
        qualified_name: "class . token",
        signature: "def token ( )",
        doc: "the colour",
        body: "return sky",
    };
    let scores = model.scores("read", &[passage]).expect("the tiny model does not fail");
    let expected = plain.logit(&pair("read", "file class . token def token ( ) the colour return sky"));
    assert!((f64::from(scores[0]) - expected).abs() < 1e-4, "{scores:?} and {expected}");
}

#[test]
fn the_passage_is_truncated_first_and_the_query_to_half_the_limit() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    let score =
        |query: &str, passage: &str| model.scores(query, &bodies(&[passage])).expect("the tiny model does not fail")[0];
    let repeated = |word: &str, count: usize| vec![word; count].join(" ");
    let room = tiny::MAX_TOKENS - 3 - 2;
    let full = repeated("sky", room);
    assert_eq!(score("read file", &full), score("read file", &format!("{full} token class")));
    assert_ne!(score("read file", &full), score("read file", &repeated("sky", room - 1)));
    assert_ne!(score("read file", &full), score("file read", &full));
    let half = repeated("file", (tiny::MAX_TOKENS - 3) / 2);
    assert_eq!(score(&half, "sky token"), score(&format!("{half} read"), "sky token"));
    assert_ne!(score(&half, "sky token"), score(&half, "token sky"));
    assert_ne!(score(&half, "sky token"), score(&repeated("file", (tiny::MAX_TOKENS - 3) / 2 - 1), "sky token"));
}

#[test]
fn other_passages_do_not_change_a_score() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let model = model(&folder);
    tiny::for_texts(file!(), |texts| {
        let passages = bodies(&texts);
        let together = model.scores("read the sky", &passages).expect("the tiny model does not fail");
        prop_assert_eq!(together.len(), texts.len());
        prop_assert_eq!(&together, &model.scores("read the sky", &passages).expect("the tiny model does not fail"));
        for (passage, score) in passages.iter().zip(together) {
            let alone = model.scores("read the sky", &[*passage]).expect("the tiny model does not fail")[0];
            prop_assert_eq!(score, alone);
        }
        Ok(())
    });
}

#[test]
fn errors_for_invalid_weights_name_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let models = ModelDirectory::at(folder.path().join("models"));
    let refused = |what: &str, part: &str, change: &dyn Fn(&Path)| {
        let source = folder.path().join(what);
        tiny::write_cross_encoder(&source, 1);
        change(&source);
        let message = models.add(&source, Some("x")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{what}: {message}");
        assert_eq!(std::fs::read_dir(models.path()).map(|entries| entries.count()).unwrap_or(0), 0, "{what}");
    };
    let with = |name: &'static str, shape: Option<&'static [usize]>, value: f32| {
        move |source: &Path| {
            let mut weights = tiny::cross_encoder_weights(1);
            weights.remove(name).expect("the model has this tensor");
            if let Some(shape) = shape {
                let values = vec![value; shape.iter().product()];
                let tensor = Tensor { shape: shape.to_vec(), values, dtype: Dtype::F32 };
                weights.insert(name.to_owned(), tensor);
            }
            tiny::write_weights(source, &weights);
        }
    };
    let weights = "model.safetensors: ";
    let check = |what: &str, part: &str, change: &dyn Fn(&Path)| refused(what, &format!("{weights}{part}"), change);
    check("no-pooler", "it has no tensor `bert.pooler.dense.weight`", &with("bert.pooler.dense.weight", None, 0.0));
    check("no-classifier", "it has no tensor `classifier.weight`", &with("classifier.weight", None, 0.0));
    check("labels", "the number of labels is 3, but only 1", &with("classifier.weight", Some(&[3, 24]), 0.1));
    check(
        "width",
        "tensor `classifier.weight` has shape [1, 12], but config.json requires [1, 24]",
        &with("classifier.weight", Some(&[1, 12]), 0.1),
    );
    check("bias", "tensor `classifier.bias` has shape [2]", &with("classifier.bias", Some(&[2]), 0.1));
    let types = "bert.embeddings.token_type_embeddings.weight";
    check("types", "tensor `bert.embeddings.token_type", &with(types, Some(&[1, 24]), 0.1));
    refused("not-finite", "not finite", &with("classifier.bias", Some(&[1]), f32::NAN));
    refused("constant", "two different texts the same score", &with("classifier.weight", Some(&[1, 24]), 0.0));
    refused("special-tokens", "tokenizer.json: it has no token `[SEP]`", &|source| {
        let path = source.join("tokenizer.json");
        let text = std::fs::read_to_string(&path).expect("the test has written the file");
        std::fs::write(&path, text.replace("\"[SEP]\":3", "\"[END]\":3")).expect("the file can be written");
    });
    refused("short", "config.json: a pair of texts does not fit into its 4 tokens", &|source| {
        tiny::write_json(&source.join("sentence_bert_config.json"), &serde_json::json!({ "max_seq_length": 4 }));
    });
}
