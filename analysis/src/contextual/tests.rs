use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::contextual::encoder::Encoded;

/// Texts as the training's floats encode them; `xtask/model` writes them with the model.
const REFERENCE: &str = include_str!("../../models/context-code-v1.reference.json");

#[derive(Deserialize)]
struct ReferenceText {
    segment: usize,
    ids: Vec<u32>,
    mean: Vec<f32>,
    /// The first tokens, projected.
    late: Vec<Vec<f32>>,
    weights: Vec<f32>,
}

fn model() -> Arc<ContextualReranker> {
    ContextualReranker::built_in().expect("it is whole")
}

fn encoded(model: &ContextualReranker, text: &ReferenceText) -> Encoded {
    let segment = [Segment::Query, Segment::Passage][text.segment];
    model.encoder.encode(&[&text.ids], segment).remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn bytes_encode_as_the_floats_of_the_training_do() {
    let model = model();
    let texts: Vec<ReferenceText> = serde_json::from_str(REFERENCE).expect("texts");
    for text in &texts {
        let Encoded { mean, tokens, weights } = encoded(&model, text);
        assert!(cosine(&mean, &text.mean) > 0.99, "{} tokens", text.ids.len());
        for (token, expected) in tokens.chunks_exact(text.late[0].len()).zip(&text.late) {
            assert!(cosine(token, expected) > 0.99, "{} tokens", text.ids.len());
        }
        assert!(weights.iter().zip(&text.weights).all(|(a, b)| (a - b).abs() < 0.02));
    }
}

fn passage<'a>(path: &'a str, name: &'a str, body: &'a str) -> Passage<'a> {
    Passage { path, name, qualified_name: name, body, ..Passage::default() }
}

#[test]
fn what_answers_scores_higher_and_alike_beside_others() {
    let model = model();
    let passages = [
        passage(
            "src/retry.py",
            "backoff_delay",
            "def backoff_delay(attempt):\n    return min(2 ** attempt, 60) * random()",
        ),
        passage(
            "src/files.py",
            "read_lines",
            "def read_lines(path):\n    with open(path) as file:\n        return file.readlines()",
        ),
        passage("", "", ""),
    ];
    let query = "how long to wait before the next attempt";
    let scores = model.scores(query, &passages).expect("scores");
    assert!(scores[0] > scores[1] && scores.iter().all(|score| score.is_finite()), "{scores:?}");
    for (passage, score) in passages.iter().zip(&scores) {
        assert_eq!(model.scores(query, std::slice::from_ref(passage)).expect("a score"), [*score]);
    }
    assert_eq!(model.scores("", &passages).expect("scores").len(), 3);
    assert!(model.scores(query, &[]).expect("scores").is_empty());
}

#[test]
fn damaged_files_are_refused() {
    let refused = |bytes: Vec<u8>| matches!(ContextualReranker::from_bytes(bytes), Err(ModelError::Damaged { .. }));
    assert!(refused(Vec::new()) && refused(b"AURCTX01".to_vec()) && refused(BUILT_IN[..BUILT_IN.len() - 1].to_vec()));
    let json = BUILT_IN[12..].iter().position(|&byte| byte == b'}').expect("the end of the JSON");
    for (from, to) in
        [("\"layers\": 3", "\"layers\": 4"), ("\"rows\": ", "\"rows\": 1"), ("\"inner\": 1536", "\"inner\": 1537")]
    {
        let mut bytes = BUILT_IN.to_vec();
        let at = BUILT_IN[..json + 12].windows(from.len()).position(|window| window == from.as_bytes()).expect("a key");
        bytes.splice(at..at + from.len(), to.bytes());
        assert!(refused(bytes), "{from}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_text_has_a_score(query in "\\PC{0,80}", body in "\\PC{0,400}", path in "[a-z/.]{0,40}") {
        let scores = model().scores(&query, &[passage(&path, "f", &body)]).expect("scores");
        prop_assert!(scores.len() == 1 && scores[0].is_finite());
    }
}
