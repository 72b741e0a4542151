//! `aur mem search --rerank`: a model that the user has added scores the best results together with the query.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::run;

const QUERY: &str = "load the settings of the user";

/// Creates an indexed project with three functions, and adds a cross-encoder called `stripes` that prefers texts about
/// zebras.
fn project() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write(
        "src/settings.py",
        "def load_settings(user):\n    \"\"\"Load the settings of a user.\"\"\"\n    with open(user.path) as file:\n        return file.read()\n",
    );
    fixture.write(
        "src/window.py",
        "def draw_window(settings):\n    \"\"\"Draw a window.\"\"\"\n    for line in settings:\n        print(line, \"zebra zebra zebra\")\n",
    );
    fixture.write(
        "src/sum.py",
        "def add(numbers):\n    total = 0\n    for number in numbers:\n        total += number\n    return total\n",
    );
    let indexed = run(&fixture, &["mem", "index", "--quiet"]);
    assert_eq!((indexed.code, indexed.err.as_str()), (Some(0), ""), "{indexed:?}");
    let model = fixture.home().join("download");
    write_model(&model);
    let added = run(&fixture, &["model", "add", &model.display().to_string(), "--name", "stripes"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.out.contains("Added stripes: a cross-encoder, "), "{added:?}");
    assert!(added.out.contains("To use it: rerank = \"stripes\" below [search] of a config.toml"), "{added:?}");
    fixture
}

/// Returns the answer to the query as JSON. The rule `rerank` is strong enough to change the order.
fn answer(fixture: &Fixture, arguments: &[&str]) -> Value {
    let mut command = crate::command(fixture);
    command.env("AURORA_SEARCH_RULES_RERANK", "2").args(["mem", "search", QUERY, "--format", "json", "--no-record"]);
    let run = crate::fixture::Run::from_command(command.args(arguments));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    let mut answer = run.json();
    answer["took_ms"] = Value::Null;
    answer["phases"] = Value::Null;
    answer["index"]["age_seconds"] = Value::Null;
    answer
}

fn first(answer: &Value) -> &str {
    answer["results"][0]["name"].as_str().unwrap_or_default()
}

fn is_reranked(answer: &Value) -> bool {
    answer["results"][0]["scores"]["raw"].get("rerank").is_some()
}

#[test]
fn a_cross_encoder_changes_the_order_and_is_in_the_explanation() {
    let fixture = project();
    let plain = answer(&fixture, &[]);
    assert!(first(&plain) == "load_settings" && !is_reranked(&plain), "{plain}");

    let read = answer(&fixture, &["--rerank", "stripes"]);
    assert_eq!((first(&read), is_reranked(&read)), ("draw_window", true), "{read}");
    let rules = read["results"][0]["explanation"]["rules"].as_array().expect("the value is a list");
    let rule = rules.iter().find(|rule| rule["rule"] == "rerank").expect("the rule `rerank` raised the result");
    assert!(rule["effect"].as_f64() > Some(0.0), "{rule}");
    assert_eq!(rule["reason"], "the reranking model finds that it answers the query");

    let mut command = crate::command(&fixture);
    command.env("AURORA_SEARCH_RULES_RERANK", "2");
    let shown = crate::fixture::Run::from_command(command.args(["mem", QUERY, "--rerank", "stripes", "--show-scores"]));
    let line = shown.out.lines().find(|line| line.contains("─ rerank ")).unwrap_or_default();
    assert!(line.contains("(the reranking model finds that it answers the query)"), "{}", shown.out);
    assert!(shown.out.contains(", reranker "), "{}", shown.out);
}

#[test]
fn the_flag_overrides_the_reranker_of_the_configuration() {
    let fixture = project();
    let (plain, sparse) = (answer(&fixture, &[]), answer(&fixture, &["--mode", "sparse"]));
    fixture.write(".aurora/config.toml", "[search]\nrerank = \"stripes\"\nrerank_results = 2\n");
    let read = answer(&fixture, &[]);
    assert_eq!(first(&read), "draw_window");
    let results = read["results"].as_array().expect("the value is a list");
    assert_eq!(results.iter().filter(|hit| hit["scores"]["raw"].get("rerank").is_some()).count(), 2);
    assert_eq!(answer(&fixture, &["--rerank", "off"]), plain);
    assert_eq!(answer(&fixture, &["--mode", "sparse"]), sparse);
    assert_eq!(answer(&fixture, &["--rerank", "stripes", "--mode", "sparse"]), sparse);

    let well = run(&fixture, &["doctor"]);
    assert!(well.code == Some(0) && well.out.contains(" stripes@"), "{well:?}");
    fixture.write(".aurora/config.toml", "[search]\nrerank = \"absent\"\n");
    let ill = run(&fixture, &["doctor"]);
    assert!(ill.code == Some(1) && ill.out.contains("FAIL  reranker"), "{ill:?}");
}

#[test]
fn a_search_without_a_usable_reranker_succeeds_with_a_note() {
    let fixture = project();
    let plain = answer(&fixture, &[]);
    for (name, reason) in [
        ("absent", "there is no reranking model `absent` in "),
        ("static", "`static` cannot be used for reranking: it produces vectors and does not score results"),
    ] {
        let mut found = answer(&fixture, &["--rerank", name]);
        let notes = found["notes"].as_array().expect("the value is a list").clone();
        let start = format!("Ranked without the reranker `{name}`: {reason}");
        assert!(notes.len() == 1 && notes[0].as_str().is_some_and(|note| note.starts_with(&start)), "{notes:?}");
        found["notes"] = plain["notes"].clone();
        assert_eq!(found, plain);
    }
    let missing = answer(&fixture, &["--rerank", "absent"])["notes"].to_string();
    assert!(missing.contains("; available models: stripes. Get its files"), "{missing}");
    assert!(missing.contains("run `aur model add DIR --name absent`\""), "{missing}");
    let path = run(&fixture, &["mem", "search", QUERY, "--rerank", "../stripes"]);
    assert_eq!(path.code, Some(2), "{path:?}");
    assert!(path.err.contains("`search.rerank` must be `off` or the name of a model, not ../stripes"), "{path:?}");

    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.embed]\nmodel = \"stripes\"\n");
    let indexed = run(&fixture, &["mem", "index"]);
    assert_eq!(indexed.code, Some(2), "{indexed:?}");
    assert!(indexed.err.contains("`stripes` cannot be used for embedding: it scores results"), "{indexed:?}");
}

#[test]
fn models_are_listed_with_their_use() {
    let fixture = project();
    let listed = run(&fixture, &["model", "list"]);
    let words: Vec<Vec<&str>> = listed.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0][..4], ["static", "embedding", "256", "dimensions"], "{listed:?}");
    assert_eq!(words[1][..3], ["stripes", "reranking", "cross-encoder"], "{listed:?}");
    let json = run(&fixture, &["model", "list", "--format", "json"]).json();
    let uses = ["use", "built_in"].map(|key| (0..2).map(|at| json[at][key].clone()).collect::<Vec<_>>());
    assert_eq!(uses, [vec![json!("embedding"), json!("reranking")], vec![json!(true), json!(false)]]);
}

#[test]
fn an_evaluation_uses_the_configured_reranker() {
    let fixture = project();
    fixture.write(
        "questions.jsonl",
        format!("{{\"query\": \"{QUERY}\", \"relevant\": [{{\"path\": \"src/window.py\"}}]}}\n"),
    );
    fixture.write("trial.toml", "[search]\nrerank = \"stripes\"\n[search.rules]\nrerank = 2.0\n");
    fixture.write("missing.toml", "[search]\nrerank = \"absent\"\n");
    let eval = |arguments: &[&str]| {
        let run = run(&fixture, &[&["mem", "eval", "questions.jsonl", "--format", "json"], arguments].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        let metrics = run.json()["sets"][0]["metrics"].as_array().expect("the value is a list").clone();
        let reciprocal = metrics.iter().find(|report| report["metric"] == "mrr@10").expect("the metric is measured");
        (reciprocal["mean"].as_f64().expect("the value is a number"), run.err)
    };
    let (plain, silent) = eval(&[]);
    assert!(plain < 1.0 && silent.is_empty(), "{plain}: {silent}");
    assert_eq!(eval(&["--config", "trial.toml", "--against", "default"]), (1.0, String::new()));
    let (missing, said) = eval(&["--config", "missing.toml"]);
    assert_eq!(missing, plain);
    assert!(said.contains("ranking without the reranker `absent`: there is no reranking model"), "{said}");
}

/// Writes a `BertForSequenceClassification` model with one layer. The first token attends to all tokens equally, and
/// the score grows with the share of `zebra` tokens.
fn write_model(folder: &std::path::Path) {
    fs::create_dir_all(folder).expect("the directory can be created");
    let write =
        |name: &str, value: Value| fs::write(folder.join(name), value.to_string()).expect("the file can be written");
    write(
        "config.json",
        json!({
            "architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": 4,
            "intermediate_size": 4, "num_attention_heads": 1, "num_hidden_layers": 1, "vocab_size": 5,
            "max_position_embeddings": 128, "layer_norm_eps": 1e-12
        }),
    );
    write(
        "tokenizer.json",
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
            "pre_tokenizer": { "type": "BertPreTokenizer" }, "post_processor": null, "decoder": null,
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                "vocab": { "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "zebra": 4 }
            }
        }),
    );
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let words =
        [&[0.0; 4][..], &[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0], &[0.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 0.0]];
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = vec![
        ("bert.embeddings.word_embeddings.weight".into(), vec![5, 4], words.concat()),
        ("bert.embeddings.position_embeddings.weight".into(), vec![128, 4], vec![0.0; 512]),
        ("bert.embeddings.token_type_embeddings.weight".into(), vec![2, 4], vec![0.0; 8]),
        // The weights separate the token `zebra` from all other tokens, but hardly separate the other tokens from each
        // other.
        ("bert.embeddings.LayerNorm.weight".into(), vec![4], vec![1.0, 0.1, 0.1, 0.1]),
        ("bert.embeddings.LayerNorm.bias".into(), vec![4], vec![0.0, 10.0, 0.0, 0.0]),
        ("classifier.weight".into(), vec![1, 4], vec![10.0, 0.0, 0.0, 0.0]),
        ("classifier.bias".into(), vec![1], vec![0.0]),
    ];
    let layer = "bert.encoder.layer.0";
    for (name, weights) in [
        (format!("{layer}.attention.self.query"), [0.0; 16]),
        (format!("{layer}.attention.self.key"), [0.0; 16]),
        (format!("{layer}.attention.self.value"), identity),
        (format!("{layer}.attention.output.dense"), identity),
        (format!("{layer}.intermediate.dense"), [0.0; 16]),
        (format!("{layer}.output.dense"), [0.0; 16]),
        ("bert.pooler.dense".to_owned(), identity),
    ] {
        tensors.push((format!("{name}.weight"), vec![4, 4], weights.to_vec()));
        tensors.push((format!("{name}.bias"), vec![4], vec![0.0; 4]));
    }
    for name in [format!("{layer}.attention.output"), format!("{layer}.output")] {
        tensors.push((format!("{name}.LayerNorm.weight"), vec![4], vec![1.0; 4]));
        tensors.push((format!("{name}.LayerNorm.bias"), vec![4], vec![0.0; 4]));
    }
    fs::write(folder.join("model.safetensors"), safetensors(&tensors)).expect("the file can be written");
}

/// Formats a `safetensors` file: length of the header, header, numbers.
fn safetensors(tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert(name.clone(), json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()] }));
    }
    let header = Value::from(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}
