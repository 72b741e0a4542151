//! Stages that leave files or chunks out.

use crate::{digest, fresh, repository, run, values};

/// A stage that leaves out what a word is in.
fn pipeline(drops: &str, reads: &str, word: &str) -> String {
    format!(
        "extends = \"default\"
[stage.sieve]
use = \"process\"
command = [\"python3\", \"tools/sieve.py\"]
reads = [\"{reads}\"]
drops = \"{drops}\"
config = {{ word = \"{word}\" }}
"
    )
}

const SIEVE: &str = "
from aurora_stage import Drop, stage

@stage
def value(row, config):
    if any(config['word'] in text for text in row.values()):
        raise Drop('has ' + config['word'])
";

#[test]
fn files_that_a_stage_leaves_out_are_listed_as_skipped() {
    let fixture = repository();
    fixture.write("tools/sieve.py", SIEVE).write(".aurora/pipeline.toml", "extends = \"default\"\n");
    let all = run(&fixture).chunks.total;
    fixture.write(".aurora/pipeline.toml", pipeline("files", "file.path", "web/"));
    let summary = run(&fixture);
    assert_eq!(summary.files.skipped["stage `sieve`: has web/"].count, 6);
    assert_eq!((summary.chunks.total, summary.files.indexed), (all - 6, 7));
    assert_eq!(digest(&fixture), fresh(&fixture));
    assert!(run(&fixture).nothing_changed);
    fixture.write("web/f0.js", "function other() { return 2 }\n");
    assert_eq!(run(&fixture).chunks.total, all - 6, "the changed file is left out too");
    assert_eq!(digest(&fixture), fresh(&fixture));
    fixture.write(".aurora/pipeline.toml", pipeline("files", "file.path", "pay/f1"));
    run(&fixture);
    assert_eq!(digest(&fixture), fresh(&fixture));
    assert!(values(&fixture, "none").iter().all(|(name, _)| name != "pay_1"));
}

#[test]
fn chunks_that_a_stage_leaves_out_come_back_with_it() {
    let fixture = repository();
    fixture.write("tools/sieve.py", SIEVE).write(".aurora/pipeline.toml", pipeline("chunks", "chunk.name", "pay_2"));
    let summary = run(&fixture);
    assert_eq!(summary.report.counters["sieve: has pay_2"], 1);
    assert!(values(&fixture, "none").iter().all(|(name, _)| name != "pay_2"));
    fixture.write("src/pay/f3.py", "def pay_3():\n    return 3\n");
    run(&fixture);
    assert_eq!(digest(&fixture), fresh(&fixture));
    fixture.write(".aurora/pipeline.toml", pipeline("chunks", "chunk.name", "pay_3"));
    run(&fixture);
    assert_eq!(digest(&fixture), fresh(&fixture));
    assert!(values(&fixture, "none").iter().any(|(name, _)| name == "pay_2"));
}
