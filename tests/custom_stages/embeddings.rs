//! A program that computes the vectors of an index in place of the built-in stage `embed`.

use aurora_analysis::QueryEmbedder as _;
use aurora_pipeline::Silent;
use aurora_query::Mode;
use aurora_stages::index::{self, EarlierResults, IndexOptions};

use crate::fixture::Fixture;
use crate::{counter, digest, error_message, fresh_digest, notes, options, repository, run, snapshot};

/// A pipeline in which a program replaces the built-in stage `embed`. The built-in stage `tokens` prepares late
/// interaction.
const WITH_EMBEDDINGS: &str = "extends = \"default\"

[stage.embed]
use = \"process\"
command = [\"python3\", \"tools/embed.py\"]
reads = [\"chunk.text\"]
writes = { \"chunk.embedding\" = { type = \"vector\", dimensions = 3 } }
rows = 4

[stage.tokens]
";

const EMBED: &str = "
import os
from aurora_stage import Retry, stage

@stage(batch=True)
def embedding(text):
    if os.path.exists('down'):
        raise Retry('no service')
    return [[part.count('a'), 1, len(part)] for part in text]
";

/// Returns the number of chunks that have a vector, and the third component of the first vector.
fn vectors(fixture: &Fixture) -> (usize, f32) {
    let snapshot = snapshot(fixture.root());
    let ids: Vec<_> = snapshot.files().flat_map(|file| file.expect("the index can be read").chunks).collect();
    let vectors: Vec<_> = ids.iter().filter_map(|id| snapshot.vector(*id).expect("the index can be read")).collect();
    let length = |vector: &Vec<f32>| vector.iter().map(|x| x * x).sum::<f32>();
    assert!(vectors.iter().all(|vector| (length(vector) - 1.0).abs() < 0.02), "all vectors have length 1");
    (vectors.len(), vectors[0][2])
}

#[test]
fn vectors_of_a_program_are_reused_and_missing_ones_retried() {
    let fixture = repository();
    fixture.write("tools/embed.py", EMBED).write(".aurora/pipeline.toml", WITH_EMBEDDINGS);
    let summary = run(&fixture);
    let chunks = summary.chunks.total as usize;
    assert_eq!((counter(&summary, "embed.rows"), vectors(&fixture).0), (chunks as u64, chunks));
    let model = snapshot(fixture.root()).manifest().model.clone().expect("the pipeline has an embedder");
    assert_eq!((model.dimensions, index::embedding_stage(&model.id)), (3, Some("embed")));
    assert!(!model.tokens.is_empty(), "`tokens` prepares late interaction");

    fixture.write("down", "").write("src/pay/f0.py", "def pay_0(card, amount):\n    return amount\n");
    let summary = run(&fixture);
    assert_eq!(summary.report.failures["embed"].get("no service").map(|entry| entry.count), Some(1));
    assert_eq!(vectors(&fixture).0, chunks - 1);
    let note = "Stage `embed` failed on 1 row, so vectors may be missing".to_owned();
    assert!(notes(&fixture, Mode::Hybrid).contains(&note) && !notes(&fixture, Mode::Sparse).contains(&note));

    fixture.remove("down");
    let summary = run(&fixture);
    assert_eq!((counter(&summary, "embed.rows"), summary.files.refreshed), (1, 1), "no other file is processed");
    assert_eq!((summary.lines, vectors(&fixture).0), (0, chunks), "nothing is parsed again");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    assert!(run(&fixture).report.counters.get("embed.rows").is_none_or(|rows| *rows == 0));
    fixture.write("src/pay/f0.py", "def pay_0(card, amount):\n    return card\n");
    let untrusted = vec!["embed".to_owned()];
    let kept = index::run(&IndexOptions { untrusted, ..options(fixture.root()) }, &Silent)
        .expect("the index run succeeds")
        .not_run;
    assert_eq!((kept[0].results, kept[0].waiting), (EarlierResults::Kept, 1), "the other vectors are kept");
    run(&fixture);

    fixture.write(".aurora/pipeline.toml", WITH_EMBEDDINGS.replace("dimensions = 3", "dimensions = 4"));
    let summary = run(&fixture);
    let reason = "column `embedding`: 3 numbers instead of 4";
    assert_eq!(summary.report.failures["embed"].get(reason).map(|entry| entry.count), Some(chunks as u64));
    fixture.write("tools/embed.py", EMBED.replace("len(part)", "len(part), 0"));
    assert_eq!(counter(&run(&fixture), "embed.rows"), chunks as u64);
    assert_eq!(vectors(&fixture).0, chunks);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn queries_are_embedded_by_the_stage_that_embedded_the_chunks() {
    let fixture = repository();
    let program =
        EMBED.replace("(text)", "(text, language)").replace("len(part)", "len(part) if language[0] != 'query' else -1");
    fixture.write("tools/embed.py", &program);
    let reading = WITH_EMBEDDINGS.replace("\"chunk.text\"", "\"chunk.text\", \"chunk.language\", \"file.area\"");
    let with_area = format!("{reading}\n[stage.area]\nprefix = \"\"\n");
    fixture.write(".aurora/pipeline.toml", with_area);
    run(&fixture);
    let model = snapshot(fixture.root()).manifest().model.clone().expect("the pipeline has an embedder");
    let embedder =
        index::query_embedder(&options(fixture.root())).unwrap_or_else(|error| panic!("{}", error_message(&error)));
    let embedder = embedder.expect("the pipeline has an embedder");
    assert_eq!((embedder.id(), embedder.dimensions()), (model.id.as_str(), 3));
    let root = 1.0 / 3f32.sqrt();
    assert_eq!(embedder.embed_query("a").expect("the query can be embedded"), [root, root, -root]);
    assert_eq!(embedder.embed_query("").expect("the query can be embedded"), [0.0, 0.5f32.sqrt(), -0.5f32.sqrt()]);
    fixture.write("down", "");
    let failed = embedder.embed_query("a").expect_err("the program reports an error").to_string();
    assert!(failed.ends_with("no service"), "{failed}");
    fixture.remove("down");
    assert!(embedder.embed_query("a").is_ok(), "the program is started again");
    embedder.stop();
    assert!(embedder.embed_query("a").is_err());
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n");
    assert!(index::query_embedder(&options(fixture.root())).is_ok_and(|embedder| embedder.is_none()));
}
