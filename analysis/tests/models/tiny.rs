//! Writes BERT models of a few kilobytes with arbitrary weights, in the format of the `transformers` library.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{TestRunner, contextualize_config};
use safetensors::{Dtype, View};

pub(crate) const HIDDEN: usize = 24;
pub(crate) const MAX_TOKENS: usize = 40;
pub(crate) const HEADS: usize = 3;
pub(crate) const LAYERS: usize = 2;
const INNER: usize = 48;
const WORDS: &str =
    "[PAD] [UNK] [CLS] [SEP] read write file sky colour the of a token def return class ##s ##er ( ) : , .";

/// A tensor whose values are stored as numbers of type `dtype`.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
    pub(crate) dtype: Dtype,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let bytes = |value: &f32| match self.dtype {
            Dtype::F64 => f64::from(*value).to_le_bytes().to_vec(),
            Dtype::F32 => value.to_le_bytes().to_vec(),
            Dtype::F16 => half(*value).to_le_bytes().to_vec(),
            Dtype::BF16 => value.to_le_bytes()[2..].to_vec(),
            _ => vec![0; self.dtype.bitsize() / 8],
        };
        self.values.iter().flat_map(bytes).collect()
    }

    fn data_len(&self) -> usize {
        self.values.len() * self.dtype.bitsize() / 8
    }
}

/// Converts a value to a half-precision number. The value must be exactly representable and not subnormal.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = if value == 0.0 { 0 } else { ((bits & 0x7fff_ffff) >> 13) - (112 << 10) };
    (bits >> 31 << 15 | magnitude) as u16
}

/// Writes config.json, tokenizer.json and model.safetensors into `folder`. `seed` determines the weights.
pub(crate) fn write(folder: &Path, seed: u64) {
    fs::create_dir_all(folder).expect("the folder can be created");
    let vocabulary: serde_json::Map<_, _> =
        WORDS.split(' ').enumerate().map(|(id, word)| (word.to_owned(), id.into())).collect();
    write_json(&folder.join("config.json"), &config(vocabulary.len()));
    write_json(&folder.join("sentence_bert_config.json"), &serde_json::json!({ "max_seq_length": MAX_TOKENS }));
    let tokenizer = serde_json::json!({
        "version": "1.0",
        "truncation": { "max_length": 7, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
        "padding": { "strategy": { "Fixed": 9 }, "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]", "pad_to_multiple_of": null },
        "added_tokens": [],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }, { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": {
                "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] }
            }
        },
        "decoder": null,
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary }
    });
    write_json(&folder.join("tokenizer.json"), &tokenizer);
    write_weights(folder, &encoder_weights(seed));
}

/// Writes a model that also has a classification head with one label. Returns the weights.
pub(crate) fn write_cross_encoder(folder: &Path, seed: u64) -> HashMap<String, Tensor> {
    write(folder, seed);
    let mut config = config(WORDS.split(' ').count());
    config["architectures"] = serde_json::json!(["BertForSequenceClassification"]);
    write_json(&folder.join("config.json"), &config);
    let weights = cross_encoder_weights(seed);
    write_weights(folder, &weights);
    weights
}

pub(crate) fn cross_encoder_weights(seed: u64) -> HashMap<String, Tensor> {
    let mut tensors: HashMap<_, _> =
        encoder_weights(seed).into_iter().map(|(name, tensor)| (format!("bert.{name}"), tensor)).collect();
    let mut state = seed ^ 0x5eed;
    for (name, shape) in [
        ("bert.pooler.dense.weight", &[HIDDEN, HIDDEN][..]),
        ("bert.pooler.dense.bias", &[HIDDEN]),
        ("classifier.weight", &[1, HIDDEN]),
        ("classifier.bias", &[1]),
    ] {
        tensors.insert(name.to_owned(), arbitrary(&mut state, shape, 0.0));
    }
    tensors
}

pub(crate) fn write_weights(folder: &Path, weights: &HashMap<String, Tensor>) {
    safetensors::serialize_to_file(weights, None, &folder.join("model.safetensors"))
        .expect("the weights can be written");
}

/// Returns the token ids of `text`, whose words must be in the vocabulary.
pub(crate) fn ids(text: &str) -> Vec<u32> {
    let id =
        |word: &str| WORDS.split(' ').position(|known| known == word).expect("the word is in the vocabulary") as u32;
    text.split_whitespace().map(id).collect()
}

fn arbitrary(state: &mut u64, shape: &[usize], around: f32) -> Tensor {
    let mut value = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        around + ((*state >> 40) as f32 / (1u64 << 24) as f32 - 0.5)
    };
    let values = (0..shape.iter().product()).map(|_| value()).collect();
    Tensor { shape: shape.to_vec(), values, dtype: Dtype::F32 }
}

pub(crate) fn write_json(path: &Path, value: &serde_json::Value) {
    fs::write(path, value.to_string()).expect("the file can be written");
}

pub(crate) fn config(vocabulary: usize) -> serde_json::Value {
    serde_json::json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS, "vocab_size": vocabulary, "max_position_embeddings": 64, "layer_norm_eps": 1e-12
    })
}

pub(crate) fn encoder_weights(seed: u64) -> HashMap<String, Tensor> {
    let mut state = seed;
    let mut tensors = HashMap::new();
    let mut add = |name: String, shape: &[usize], around: f32| {
        tensors.insert(name, arbitrary(&mut state, shape, around));
    };
    add("embeddings.word_embeddings.weight".into(), &[WORDS.split(' ').count(), HIDDEN], 0.0);
    add("embeddings.position_embeddings.weight".into(), &[64, HIDDEN], 0.0);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN], 0.0);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let linears = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", HIDDEN, INNER),
            ("output.dense", INNER, HIDDEN),
        ];
        for (part, inputs, outputs) in linears {
            add(name(part) + ".weight", &[outputs, inputs], 0.0);
            add(name(part) + ".bias", &[outputs], 0.0);
        }
        norms.extend([name("attention.output.LayerNorm"), name("output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[HIDDEN], 1.0);
        add(format!("{norm}.bias"), &[HIDDEN], 0.0);
    }
    tensors
}

/// Checks a property for lists of fewer than forty texts that contain known and unknown words.
pub(crate) fn for_texts(file: &'static str, property: impl Fn(Vec<String>) -> Result<(), TestCaseError>) {
    let text =
        prop::collection::vec(prop::sample::select(vec!["read", "files", "the sky", "(", "unknown", "é", "."]), 0..60);
    let config = ProptestConfig { source_file: Some(file), ..ProptestConfig::with_cases(24) };
    let texts =
        prop::collection::vec(text, 0..40).prop_map(|texts| texts.iter().map(|words| words.join(" ")).collect());
    let checked = TestRunner::new(contextualize_config(config)).run(&texts, property);
    checked.expect("the property holds for all texts");
}
