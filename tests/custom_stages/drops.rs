//! Stages that drop files or chunks.

use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexOptions, IndexSummary, failed_rows};

use crate::fixture::Fixture;
use crate::{digest, fresh_digest, options, repository, run, snapshot, values};

/// Returns a pipeline with a stage that drops all files or chunks whose column `reads` contains `word`.
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
import os
from aurora_stage import Drop, stage

@stage
def value(row, config):
    if os.path.exists('down') and any('pay_1' in text or 'pay/f1' in text for text in row.values()):
        raise ValueError('away')
    if any(config['word'] in text for text in row.values()):
        raise Drop('has ' + config['word'])
";

#[test]
fn files_that_a_stage_drops_are_listed_as_skipped() {
    let fixture = repository();
    fixture.write("tools/sieve.py", SIEVE).write(".aurora/pipeline.toml", "extends = \"default\"\n");
    let all = run(&fixture).chunks.total;
    fixture.write(".aurora/pipeline.toml", pipeline("files", "file.path", "web/"));
    let summary = run(&fixture);
    assert_eq!(summary.files.skipped["stage `sieve`: has web/"].count, 6);
    assert_eq!((summary.chunks.total, summary.files.indexed), (all - 6, 7));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    assert!(run(&fixture).nothing_changed);
    fixture.write("web/f0.js", "function other() { return 2 }\n");
    assert_eq!(run(&fixture).chunks.total, all - 6, "the changed file is dropped too");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    fixture.write(".aurora/pipeline.toml", pipeline("files", "file.path", "pay/f1"));
    run(&fixture);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    assert!(values(&fixture, "none").iter().all(|(name, _)| name != "pay_1"));
}

#[test]
fn dropped_chunks_return_when_the_stage_drops_other_chunks() {
    let fixture = repository();
    fixture.write("tools/sieve.py", SIEVE).write(".aurora/pipeline.toml", pipeline("chunks", "chunk.name", "pay_2"));
    let summary = run(&fixture);
    assert_eq!(summary.report.counters["sieve: has pay_2"], 1);
    assert!(values(&fixture, "none").iter().all(|(name, _)| name != "pay_2"));
    fixture.write("src/pay/f3.py", "def pay_3():\n    return 3\n");
    run(&fixture);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    fixture.write(".aurora/pipeline.toml", pipeline("chunks", "chunk.name", "pay_3"));
    run(&fixture);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    assert!(values(&fixture, "none").iter().any(|(name, _)| name == "pay_2"));
}

/// Returns the names of the indexed functions that begin with `pay`.
fn payments(fixture: &Fixture) -> Vec<String> {
    values(fixture, "none").into_iter().map(|(name, _)| name).filter(|name| name.starts_with("pay")).collect()
}

/// Indexes without running the program of the stage, and keeps earlier results.
fn run_keeping(fixture: &Fixture, force: bool) -> IndexSummary {
    let options = IndexOptions { untrusted: vec!["sieve".to_owned()], force, ..options(fixture.root()) };
    index::run(&options, &Silent).expect("the index run succeeds")
}

const IGNORED: &str = "tools/\ndown\n.aurora/\n";

#[test]
fn rows_on_which_a_dropping_stage_fails_are_not_indexed() {
    for (drops, reads) in [("chunks", "chunk.name"), ("files", "file.path")] {
        let fixture = repository();
        fixture.write(".gitignore", IGNORED).write("tools/sieve.py", SIEVE).write("down", "");
        fixture.write(".aurora/pipeline.toml", pipeline(drops, reads, "nothing"));
        for _ in 0..2 {
            let summary = run(&fixture);
            assert_eq!(payments(&fixture), ["pay_0", "pay_2", "pay_3", "pay_4", "pay_5"], "{drops}");
            assert_eq!((summary.complete, summary.violations.len()), (false, 1), "{drops}: the next run tries again");
        }
        let failed = failed_rows(&snapshot(fixture.root())).expect("the index can be read");
        let failed: Vec<_> = failed.iter().map(|row| (row.path.as_str(), row.error.as_str())).collect();
        assert_eq!(failed, [("src/pay/f1.py", "ValueError: away")], "{drops}");
        fixture.remove("down");
        assert!(run(&fixture).complete, "{drops}");
        assert_eq!(payments(&fixture).len(), 6, "{drops}");
        assert_eq!(digest(&fixture), fresh_digest(&fixture), "{drops}");
    }
}

#[test]
fn dropped_rows_stay_dropped_when_the_stage_does_not_run() {
    for (drops, reads, word) in [("chunks", "chunk.name", "pay_2"), ("files", "file.path", "pay/f2")] {
        let fixture = repository();
        fixture.write(".gitignore", IGNORED).write("tools/sieve.py", SIEVE);
        fixture.write(".aurora/pipeline.toml", pipeline(drops, reads, word));
        run(&fixture);
        let others = ["pay_0", "pay_1", "pay_3", "pay_4", "pay_5"];
        for force in [false, true] {
            let kept = run_keeping(&fixture, force);
            assert_eq!((payments(&fixture), kept.complete), (others.map(str::to_owned).to_vec(), true), "{drops}");
        }
        fixture.write("src/pay/f2.py", "def pay_2(card, amount):\n    return amount\n");
        fixture.write("src/pay/new.py", "def pay_new(card):\n    return card\n");
        for force in [false, true] {
            let kept = run_keeping(&fixture, force);
            assert_eq!(payments(&fixture), others, "{drops}: changed and new files have no results");
            assert!(!kept.complete && kept.not_run[0].waiting > 0, "{drops}: {:?}", kept.not_run);
        }
        assert!(run(&fixture).complete, "{drops}");
        assert_eq!(payments(&fixture), ["pay_0", "pay_1", "pay_3", "pay_4", "pay_5", "pay_new"], "{drops}");
        assert_eq!(digest(&fixture), fresh_digest(&fixture), "{drops}");
    }
}
