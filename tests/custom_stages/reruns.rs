//! Stages run again after a change of the stage, its program or its inputs.

use aurora_stages::index::{Trust, rebuild_bm25};
use aurora_storage::{KnownIndexes, Snapshot};

use crate::fixture::Fixture;
use crate::{counter, digest, fresh_digest, repository, run, snapshot, text, values};

const STAGE: &str = "
from aurora_stage import stage

@stage
def value(path, config):
    return config['prefix'] + path.split('/')[0]
";

/// Returns a pipeline with two stages that run programs.
fn pipeline(prefix: &str, version: &str) -> String {
    format!(
        "extends = \"default\"

[stage.owner]
use = \"process\"
command = [\"python3\", \"tools/owner.py\"]
reads = [\"file.path\"]
writes = {{ owner = \"string\" }}
config = {{ prefix = \"{prefix}\" }}
inputs = [\"OWNERS\"]

[stage.copy]
use = \"process\"
command = [\"python3\", \"tools/copy.py\"]
reads = [\"chunk.owner\", \"chunk.name\"]
writes = {{ copy = \"string\" }}
version = \"{version}\"
"
    )
}

fn with_programs() -> Fixture {
    let fixture = repository();
    fixture.write("tools/owner.py", STAGE);
    fixture.write(
        "tools/copy.py",
        "from aurora_stage import stage\n\n@stage\ndef value(owner, name):\n    return '%s/%s' % (owner, name)\n",
    );
    fixture.write(".aurora/pipeline.toml", pipeline("", "1"));
    fixture
}

const BATCH: &str = "
import os
from aurora_stage import Retry, stage

@stage(batch=True)
def owner(path):
    if os.path.exists('named'):
        late = [at for at, one in enumerate(path) if one.endswith('f1.py')]
        if late:
            raise Retry('not yet', rows=late)
    wrong = lambda one: os.path.exists('down') and one.startswith('web/')
    return [Retry('no service') if wrong(one) else one.split('/')[0] for one in path]
";

#[test]
fn a_batch_can_mark_rows_for_a_retry() {
    let fixture = repository();
    let pipeline = pipeline("", "1");
    let (only, _) = pipeline.split_once("[stage.copy]").expect("the pipeline has two stages");
    fixture.write("tools/owner.py", BATCH).write(".aurora/pipeline.toml", only);
    fixture.write("down", "").write("named", "");
    let summary = run(&fixture);
    let chunks = summary.chunks.total;
    let failures = &summary.report.failures["owner"];
    let without = |owners: Vec<(String, Option<aurora_storage::MetaValue>)>| {
        let mut names: Vec<String> =
            owners.into_iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        names.sort();
        names
    };
    let missing = without(values(&fixture, "owner"));
    assert!(missing.contains(&"pay_1".to_owned()) && missing.contains(&"web_0".to_owned()), "{missing:?}");
    assert_eq!(failures.total(), missing.len() as u64, "{failures:?}");
    assert!(failures.get("not yet").is_some() && failures.get("no service").is_some(), "{failures:?}");
    assert!((missing.len() as u64) < chunks, "all other rows have values");
    fixture.remove("down").remove("named");
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    assert_eq!(counter(&summary, "owner.rows"), missing.len() as u64, "only rows without a value are tried again");
    assert_eq!((without(values(&fixture, "owner")).len(), digest(&fixture)), (0, fresh_digest(&fixture)));
    fixture.write("tools/owner.py", BATCH.replace("rows=late", "rows=[len(path)]")).write("named", "");
    let failures = format!("{:?}", run(&fixture).report.failures["owner"]);
    assert!(failures.contains("`Retry` names rows that the function did not get"), "{failures}");
}

const BY_FILE: &str = "
from aurora_stage import stage

@stage
def owner(path):
    return 'payments' if path in open('OWNERS').read().split() else 'others'
";

#[test]
fn a_run_counts_the_chunks_whose_values_have_changed() {
    let fixture = repository();
    let pipeline = pipeline("", "1");
    let (only, _) = pipeline.split_once("[stage.copy]").expect("the pipeline has two stages");
    fixture.write("tools/owner.py", BY_FILE).write(".aurora/pipeline.toml", only);
    fixture.write(".gitignore", "OWNERS\ntools/\n.aurora/\n").write("OWNERS", "");
    let chunks = run(&fixture).chunks.total;
    fixture.write("OWNERS", "src/pay/f0.py");
    let summary = run(&fixture);
    assert_eq!(counter(&summary, "owner.rows"), chunks, "the stage runs on every chunk");
    assert_eq!(summary.changed_chunks, 1, "{summary:?}");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn a_wrong_number_of_values_fails_the_whole_batch() {
    let fixture = repository();
    let pipeline = pipeline("", "1");
    let (only, _) = pipeline.split_once("[stage.copy]").expect("the pipeline has two stages");
    fixture.write(".aurora/pipeline.toml", only);
    for (answer, reason) in [
        ("['x']", "ValueError: 1 values of `owner` for"),
        ("'x'", "ValueError: `owner` is not a list of values but `str`"),
        ("{'owner': ['x']}", "ValueError: 1 values of `owner` for"),
        ("None", "ValueError: `owner` is not a list of values but `NoneType`"),
        ("{}", "ValueError: no list of values for `owner`"),
    ] {
        let program =
            format!("from aurora_stage import stage\n\n@stage(batch=True)\ndef owner(path):\n    return {answer}\n");
        fixture.write("tools/owner.py", program);
        let summary = run(&fixture);
        let failures = &summary.report.failures["owner"];
        assert_eq!(failures.total(), summary.chunks.total, "{answer}: {failures:?}");
        assert!(failures.iter().all(|(failure, _)| failure.starts_with(reason)), "{answer}: {failures:?}");
        assert!(values(&fixture, "owner").iter().all(|(_, value)| value.is_none()), "{answer}");
    }
}

#[test]
fn a_program_runs_again_only_where_necessary() {
    let fixture = with_programs();
    let summary = run(&fixture);
    let chunks = summary.chunks.total;
    assert_eq!((counter(&summary, "owner.rows"), counter(&summary, "copy.rows")), (chunks, chunks));
    assert!(values(&fixture, "copy").contains(&("pay_0".to_owned(), text("src/pay_0"))));

    fixture.write("src/pay/f0.py", "def pay_0(card, amount):\n    return card\n");
    let summary = run(&fixture);
    assert_eq!((counter(&summary, "owner.rows"), counter(&summary, "copy.rows")), (1, 1), "one file has changed");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));

    let before = snapshot(fixture.root());
    fixture.write(".aurora/pipeline.toml", pipeline("", "2"));
    let summary = run(&fixture);
    assert_eq!((counter(&summary, "owner.rows"), counter(&summary, "copy.rows")), (0, chunks), "`copy` has changed");
    assert_eq!((counter(&summary, "owner.reused"), counter(&summary, "embeddings.reused")), (chunks, chunks));
    assert_eq!(summary.lines, 0, "nothing is parsed again");
    let after = snapshot(fixture.root());
    let chunks_and_terms = |snapshot: &Snapshot| (snapshot.live().clone(), snapshot.manifest().segments.clone());
    assert_eq!(chunks_and_terms(&after), chunks_and_terms(&before), "only values are stored again");
    assert!(after.verify().is_ok(), "{:?}", after.verify().problems);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));

    fixture.write(".aurora/pipeline.toml", pipeline("team-", "2"));
    let summary = run(&fixture);
    assert_eq!(counter(&summary, "owner.rows"), chunks, "`owner` has changed");
    assert_eq!(counter(&summary, "copy.rows"), chunks, "`copy` reads the column of `owner`");
    assert_eq!(counter(&summary, "embeddings.reused"), chunks);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    assert!(values(&fixture, "copy").contains(&("web_0".to_owned(), text("team-web/web_0"))));
}

#[test]
fn a_changed_program_or_input_reruns_the_stage() {
    let fixture = with_programs();
    let chunks = run(&fixture).chunks.total;
    assert!(run(&fixture).nothing_changed);
    fixture.write("OWNERS", "src pay\n");
    // The input is also an indexed file of the project, which adds a chunk.
    assert_eq!(counter(&run(&fixture), "owner.rows"), chunks + 1, "the input was created");
    fixture.write("tools/owner.py", STAGE.replace("[0]", "[-1]"));
    let summary = run(&fixture);
    // The program is also an indexed file of the project, so its new text adds chunks.
    assert!(counter(&summary, "owner.rows") >= chunks);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn changing_the_uses_of_a_column_runs_no_program() {
    let fixture = with_programs();
    let chunks = run(&fixture).chunks.total;
    let uses = |uses: &str| {
        pipeline("", "1").replace("owner = \"string\"", &format!("owner = {{ type = \"string\", {uses} }}"))
    };
    for (text, reused) in
        [("filter = false", 0), ("terms = 3", chunks), ("embed = true", 0), ("terms = 2, embed = true", chunks)]
    {
        fixture.write(".aurora/pipeline.toml", uses(text));
        let summary = run(&fixture);
        assert_eq!(counter(&summary, "owner.rows") + counter(&summary, "copy.rows"), 0, "{text}");
        assert_eq!(counter(&summary, "embeddings.reused"), reused, "{text}");
        assert_eq!(digest(&fixture), fresh_digest(&fixture), "{text}");
    }
}

#[test]
fn a_program_that_always_exits_is_tried_again_by_the_next_run() {
    let fixture = with_programs();
    fixture.write("tools/owner.py", "import sys\nsys.exit(3)\n");
    let summary = run(&fixture);
    let failures = &summary.report.failures["owner"];
    let (reason, rows) = failures.iter().next().expect("the failure has a reason");
    assert_eq!(
        (reason, rows.count),
        ("gave up on the program: the process has ended (exit code 3)", summary.chunks.total)
    );
    assert!(
        values(&fixture, "owner").iter().all(|(_, value)| value.is_none()),
        "the chunks are indexed without values"
    );
    let again = run(&fixture);
    assert_eq!(counter(&again, "owner.rows"), again.chunks.total, "the next run tries again");
}

#[test]
fn a_rebuilt_keyword_index_has_the_terms_of_columns() {
    let fixture = with_programs();
    let text = pipeline("", "1").replace("owner = \"string\"", "owner = { type = \"string\", terms = 3 }");
    fixture.write(".aurora/pipeline.toml", text);
    run(&fixture);
    let before = digest(&fixture);
    let postings = |term: &str| snapshot(fixture.root()).doc_frequency(term).expect("the index can be read");
    let frequency = postings("src");
    assert!(frequency >= 6, "the values are terms: {frequency}");
    let known = KnownIndexes::at(fixture.path(".aurora/records"));
    rebuild_bm25(fixture.root(), &Trust { known, accepts_unknown: true }).expect("the keyword index can be rebuilt");
    assert_eq!((digest(&fixture), postings("src")), (before, frequency));
}
