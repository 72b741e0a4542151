//! Tests a program that was built without the feature `bert`: an error names the feature if a user requests a model
//! that needs it.
#![cfg(not(feature = "bert"))]

use aurora_analysis::{ModelDirectory, ModelError, STATIC, embedder, reranker};

#[test]
fn bert_models_cannot_be_loaded_and_the_built_in_model_works() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(folder.path().join(file), "{}").expect("the file can be written");
    }
    let models = ModelDirectory::at(folder.path().join("models"));
    let used = embedder("minilm", &models).err();
    let ranking = reranker("minilm", &models).err();
    let added = models.add(folder.path(), Some("minilm")).err();
    for error in [used, ranking, added] {
        let error = error.expect("loading fails");
        assert!(matches!(error, ModelError::NotCompiled { .. }));
        assert!(error.to_string().contains("`minilm` needs BERT, but this program was built without it"), "{error}");
    }
    assert!(!models.path().exists(), "nothing was copied");
    assert_eq!(embedder(STATIC, &models).expect("the built-in model needs no feature").dimensions(), 256);
}
