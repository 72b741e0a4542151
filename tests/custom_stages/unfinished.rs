//! Rows without a result, because the stage failed on them or did not run. `aur` always reports missing values,
//! and the next run that can compute them processes exactly these rows.

use aurora_pipeline::Silent;
use aurora_query::Mode;
use aurora_stages::index::{self, ColumnState, IndexOptions, Refresh, column_states, failed_rows};

use crate::fixture::Fixture;
use crate::{counter, digest, fresh_digest, notes, options, repository, run, snapshot, text, values};

/// A program that fails on some functions. The file `mode` selects how the program fails.
pub(crate) const PROGRAM: &str = "
import os, time
from aurora_stage import Retry, stage

@stage
def owner(name):
    mode = open('mode').read() if os.path.exists('mode') else ''
    if name in ('pay_1', 'web_2'):
        if mode == 'raise':
            raise ValueError('no owner')
        if mode == 'retry':
            raise Retry('the service is away')
        if mode == 'hang':
            time.sleep(600)
        if mode == 'crash':
            os._exit(3)
        if mode == 'type':
            return 7
    return 'team of ' + name
";

pub(crate) const STAGE: &str = "extends = \"default\"

[stage.owner]
use = \"process\"
command = [\"python3\", \"tools/owner.py\"]
reads = [\"chunk.name\"]
writes = { owner = { type = \"string\", terms = 2, embed = true } }
languages = [\"python\", \"javascript\"]
timeout = 1
";

pub(crate) fn with_program() -> Fixture {
    let fixture = repository();
    fixture.write("tools/owner.py", PROGRAM).write("mode", "").write(".aurora/pipeline.toml", STAGE);
    // The program and its mode are not indexed. Otherwise, changing them would change the number of chunks.
    fixture.write(".gitignore", "tools/\nmode\n.aurora/\n");
    fixture
}

pub(crate) fn owner(fixture: &Fixture) -> ColumnState {
    let states = column_states(&snapshot(fixture.root())).expect("the index can be read");
    states.into_iter().find(|state| state.name == "owner").expect("the column exists")
}

/// Returns the names of the functions without an owner.
fn without_owner(fixture: &Fixture) -> Vec<String> {
    let functions =
        values(fixture, "owner").into_iter().filter(|(name, _)| name.starts_with("pay") || name.starts_with("web"));
    functions.filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect()
}

#[test]
fn failed_rows_are_filled_by_the_next_run_that_succeeds() {
    for (mode, reason) in [
        ("raise", "ValueError: no owner"),
        ("retry", "the service is away"),
        ("hang", "no answer within 1 s"),
        ("crash", "the process has ended"),
        ("type", "column `owner`: integer instead of string"),
    ] {
        let fixture = with_program();
        fixture.write("mode", mode);
        let summary = run(&fixture);
        assert_eq!(without_owner(&fixture), ["pay_1", "web_2"], "{mode}");
        assert_eq!((owner(&fixture).failed, summary.violations.len()), (2, 1), "{mode}: {:?}", summary.violations);
        assert!(!summary.complete && summary.coverage < 1.0, "{mode}");
        let failed = failed_rows(&snapshot(fixture.root())).expect("the index can be read");
        let places: Vec<_> = failed.iter().map(|row| (row.path.as_str(), row.line_start, row.stage.as_str())).collect();
        assert_eq!(places, [("src/pay/f1.py", Some(1), "owner"), ("web/f2.js", Some(1), "owner")], "{mode}");
        assert!(failed.iter().all(|row| row.error.contains(reason)), "{mode}: {failed:?}");
        assert_eq!(failed[0].key.as_deref(), Some("code:src/pay/f1.py:pay_1"), "{mode}");

        let again = run(&fixture);
        assert!(!again.nothing_changed, "{mode}: the rows are tried again");
        assert_eq!(
            (counter(&again, "owner.rows"), again.violations.len()),
            (2, 1),
            "{mode}: no other rows are tried again"
        );
        let waits = IndexOptions { retries_failures: false, ..options(fixture.root()) };
        assert!(
            index::run(&waits, &Silent).expect("the index run succeeds").nothing_changed,
            "{mode}: a run without retries changes nothing"
        );

        fixture.write("mode", "");
        let repaired = run(&fixture);
        assert_eq!((counter(&repaired, "owner.rows"), repaired.lines), (2, 0), "{mode}: only failed rows");
        assert!(repaired.violations.is_empty() && repaired.complete && repaired.coverage == 1.0, "{mode}");
        assert!(without_owner(&fixture).is_empty(), "{mode}");
        assert_eq!((owner(&fixture).failed, owner(&fixture).stale), (0, 0), "{mode}");
        assert!(run(&fixture).nothing_changed, "{mode}");
        assert_eq!(digest(&fixture), fresh_digest(&fixture), "{mode}: terms and vectors are up to date");
    }
}

#[test]
fn stages_run_again_on_rows_whose_input_column_was_filled() {
    let fixture = with_program();
    fixture.write(
        "tools/copy.py",
        "from aurora_stage import stage\n\n@stage\ndef copy(owner):\n    return 'copy of %s' % owner\n",
    );
    let copy = "\n[stage.copy]\nuse = \"process\"\ncommand = [\"python3\", \"tools/copy.py\"]\nreads = [\"chunk.owner\"]\nwrites = { copy = \"string\" }\n";
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}{copy}")).write("mode", "raise");
    run(&fixture);
    assert!(values(&fixture, "copy").contains(&("pay_1".to_owned(), text("copy of None"))));
    fixture.write("mode", "");
    let repaired = run(&fixture);
    assert_eq!((counter(&repaired, "owner.rows"), counter(&repaired, "copy.rows")), (2, 2));
    assert!(values(&fixture, "copy").contains(&("pay_1".to_owned(), text("copy of team of pay_1"))));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn stages_of_files_and_stages_that_make_chunks_are_retried() {
    let fixture = repository();
    fixture
        .write(".gitignore", "tools/\nmode\n.aurora/\n")
        .write("a.note", "> one\ntext\n> two\n")
        .write("mode", "raise");
    let failing = |body: &str| {
        format!(
            "from aurora_stage import stage\n\n@stage\ndef value(text):\n    if open('mode').read():\n        raise ValueError('away')\n    {body}\n"
        )
    };
    fixture.write("tools/licence.py", failing("return 'MIT' if 'card' in text else None"));
    fixture.write(
        "tools/notes.py",
        failing(
            "return [{'name': line[2:], 'kind': 'function', 'line_start': at, 'line_end': at} for at, line in enumerate(text.splitlines(), 1) if line.startswith('> ')]",
        ),
    );
    fixture.write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n[stage.licence]\nuse = \"process\"\ncommand = [\"python3\", \"tools/licence.py\"]\nreads = [\"file.text\"]\n\
         writes = { \"file.licence\" = \"string\" }\nlanguages = [\"python\"]\n\
         [stage.discover]\nlanguages = { note = \"note\" }\n\
         [stage.notes]\nuse = \"process\"\ncommand = [\"python3\", \"tools/notes.py\"]\nreads = [\"file.text\"]\n\
         writes = { \"file.definitions\" = \"json\" }\nlanguages = [\"note\"]\n",
    );
    // For a stage that works on files, a file is one row, regardless of its number of chunks.
    fixture.write("src/pay/f1.py", "def pay_1(card):\n    return card\n\n\ndef refund(card):\n    return 1\n");
    let summary = run(&fixture);
    let violations = summary.violations.join("\n");
    let are_files = violations.contains("`licence` could not process 6 rows:");
    assert!(are_files && violations.contains("`notes` could not process 1 row:"), "{violations}");
    assert_eq!((summary.violations.len(), summary.columns[0].failed), (2, 6));
    assert_eq!(failed_rows(&snapshot(fixture.root())).expect("the index can be read").len(), 7);
    let noted = notes(&fixture, Mode::Sparse).join("\n");
    assert!(noted.contains("Stage `notes` failed on ") && noted.contains(", so chunks may be missing"), "{noted}");
    fixture.write("mode", "");
    let repaired = run(&fixture);
    assert_eq!((counter(&repaired, "licence.rows"), counter(&repaired, "notes.rows")), (6, 1));
    let names: Vec<String> = values(&fixture, "licence").into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"one".to_owned()) && names.contains(&"two".to_owned()), "{names:?}");
    assert!(values(&fixture, "licence").contains(&("pay_1".to_owned(), text("MIT"))));
    assert!(repaired.violations.is_empty());
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn a_failed_row_of_a_document_is_filled_though_its_source_lists_only_changes() {
    let fixture = with_program();
    fixture.write(
        "tools/tickets.py",
        "from aurora_stage import Partial, documents\n\n@documents\ndef tickets(state):\n    if state:\n        return Partial('1')\n    yield {'path': 'A-1.py', 'text': 'def pay_1(x):\\n    return x\\n', 'language': 'python'}\n    return '1'\n",
    );
    let tickets = "\n[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tools/tickets.py\"]\n";
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}{tickets}")).write("mode", "raise");
    assert_eq!(run(&fixture).violations.len(), 1);
    assert_eq!(owner(&fixture).failed, 3);
    fixture.write("mode", "");
    let repaired = run(&fixture);
    assert_eq!((counter(&repaired, "owner.rows"), owner(&fixture).failed), (3, 0));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn an_update_before_a_search_runs_no_program() {
    let fixture = with_program();
    // A search updates an index only if the index is recorded as built by this user.
    let options = || {
        let mut options = options(fixture.root());
        options.trust.known = aurora_storage::KnownIndexes::at(fixture.path("known"));
        options
    };
    fixture.write(".gitignore", "tools/\nmode\n.aurora/\nknown\n");
    index::run(&options(), &Silent).expect("the index run succeeds");
    fixture.write("src/pay/new.py", "def third(card):\n    return 3\n");
    fixture.write("tools/owner.py", "raise SystemExit('it must not run')\n");
    let published = snapshot(fixture.root());
    let refreshed =
        index::refresh(&options(), &published, std::time::Duration::from_secs(600)).expect("the update succeeds");
    assert!(
        matches!(refreshed, Refresh::Updated(updated) if updated.files == 1 && updated.without_programs),
        "{refreshed:?}"
    );
    assert_eq!(without_owner(&fixture), Vec::<String>::new(), "the other rows keep their values");
    let new = values(&fixture, "owner").into_iter().find(|(name, _)| name == "third").expect("the function is found");
    assert_eq!((new.1, owner(&fixture).waiting, owner(&fixture).stale), (None, 1, 0));
    fixture.write("tools/owner.py", PROGRAM);
    let next = index::run(&options(), &Silent).expect("the index run succeeds");
    assert_eq!(counter(&next, "owner.rows"), 1, "only the waiting row is processed");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn an_update_before_a_search_keeps_failed_rows_and_earlier_values() {
    let fixture = with_program();
    let options = || {
        let mut options = options(fixture.root());
        options.trust.known = aurora_storage::KnownIndexes::at(fixture.path("known"));
        options
    };
    let first = "def pay_1(card):\n    return card\n\n\ndef refund(card):\n    return 1\n";
    fixture.write(".gitignore", "tools/\nmode\n.aurora/\nknown\n").write("mode", "raise").write("src/pay/f1.py", first);
    index::run(&options(), &Silent).expect("the index run succeeds");
    let failed = || failed_rows(&snapshot(fixture.root())).expect("the index can be read");
    let before = failed();
    assert_eq!(before.len(), 2);
    fixture.write("src/pay/f1.py", format!("{first}\n\ndef third(card):\n    return 3\n"));
    let published = snapshot(fixture.root());
    let refreshed =
        index::refresh(&options(), &published, std::time::Duration::from_secs(600)).expect("the update succeeds");
    assert!(matches!(refreshed, Refresh::Updated(updated) if updated.files == 1), "{refreshed:?}");
    assert_eq!(failed(), before);
    let state = owner(&fixture);
    assert_eq!((state.values, state.failed, state.waiting, state.stale), (11, 2, 1, 0), "{state:?}");
    fixture.write("mode", "");
    assert!(index::run(&options(), &Silent).expect("the index run succeeds").complete);
    assert!(failed().is_empty());
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn serial_and_parallel_runs_leave_the_same_rows_unfinished() {
    let fixture = with_program();
    fixture.write("mode", "raise");
    run(&fixture);
    let (rows, index) = (failed_rows(&snapshot(fixture.root())).expect("the index can be read"), digest(&fixture));
    let serial = IndexOptions { jobs: Some(1), force: true, ..options(fixture.root()) };
    index::run(&serial, &Silent).expect("the index run succeeds");
    assert_eq!(
        (failed_rows(&snapshot(fixture.root())).expect("the index can be read"), digest(&fixture)),
        (rows, index)
    );
}

/// Trusts the program of the project, as a user would do.
pub(crate) fn trust(fixture: &Fixture) {
    let trusted = fixture.aur(&["plugin", "trust", "owner", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
}

#[test]
fn the_thresholds_of_a_job_apply_to_columns() {
    let fixture = with_program();
    trust(&fixture);
    fixture.write("mode", "raise");
    let index = |thresholds: &str| {
        fixture.write_for_user("ci.toml", thresholds);
        let path = fixture.user_directory().join("ci.toml");
        fixture.aur(&["mem", "index", "--quiet", "--thresholds", path.to_str().expect("the path is UTF-8")])
    };
    let tolerated = index("[column.owner]\nmax_failed_rows = 2\n");
    assert_eq!(tolerated.code, Some(0), "{tolerated:?}");
    let failed = index("[column.owner]\nmax_failed_rows = 1\n");
    assert!(failed.code == Some(1) && failed.err.contains("could not process 2 rows, more than 1"), "{failed:?}");
    let few = index("[column.owner]\nmax_failed_rows = 2\nmin_values = 99.5\n");
    assert!(few.code == Some(1) && few.err.contains("have a value in column `owner`, less than 99.5%"), "{few:?}");
    // The file takes precedence over the pipeline, which a change under test may weaken.
    let weakened = STAGE.replace("timeout = 1\n", "timeout = 1\nmax_failed_rows = 100\n");
    fixture.write(".aurora/pipeline.toml", weakened);
    trust(&fixture);
    let failed = index("[column.owner]\nmax_failed_rows = 0\n");
    assert!(failed.code == Some(1) && failed.err.contains("could not process 2 rows"), "{failed:?}");
    let unknown = index("[column.ownr]\nmin_values = 1\n");
    assert!(unknown.code == Some(2) && unknown.err.contains("did you mean"), "{unknown:?}");
}

#[test]
fn exit_codes_and_answers_report_failed_rows() {
    let fixture = with_program();
    trust(&fixture);
    fixture.write("mode", "raise");
    let failed = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.err.contains("`owner` could not process 2 rows"), "{}", failed.err);
    let columns = failed.json()["columns"].clone();
    assert_eq!(
        (&columns[0]["name"], &columns[0]["failed"], &columns[0]["stale"]),
        (&"owner".into(), &2.into(), &0.into())
    );
    let pipeline_check = |doctor: &serde_json::Value| {
        let checks = doctor["checks"].as_array().expect("the value is a list");
        let check = checks.iter().find(|check| check["name"] == "pipeline").expect("the pipeline is checked");
        (check["verdict"].to_string(), check["detail"].to_string())
    };
    let (verdict, detail) = pipeline_check(&fixture.aur(&["doctor", "--format", "json"]).json());
    assert_eq!(verdict, "\"warn\"", "{detail}");
    assert!(detail.contains("column `owner`: 2 failed rows") && detail.contains("stats --failed"), "{detail}");
    let tolerated = fixture.aur(&["mem", "index", "--quiet", "--max-failed-rows", "owner=2"]);
    assert_eq!(tolerated.code, Some(0), "{tolerated:?}");
    let completeness = || {
        let stats = fixture.aur(&["mem", "stats", "--format", "json"]).json();
        let found = fixture.aur(&["mem", "search", "pay card", "--format", "json"]).json();
        let exported = fixture.aur(&["mem", "export", "tools/index.aurora", "--format", "json"]).json();
        let doctor = fixture.aur(&["doctor", "--format", "json"]).json();
        let checks = doctor["checks"].as_array().expect("the value is a list");
        let index = checks.iter().find(|check| check["name"] == "index").expect("the index is checked");
        let is_incomplete = index["detail"].to_string().contains("incomplete");
        [stats["complete"] == true, found["index"]["complete"] == true, exported["complete"] == true, !is_incomplete]
    };
    assert_eq!((&failed.json()["complete"], completeness()), (&false.into(), [false; 4]));
    let listed = fixture.aur(&["mem", "stats", "--failed", "--format", "json"]).json();
    assert_eq!((&listed[0]["path"], &listed[0]["key"]), (&"src/pay/f1.py".into(), &"code:src/pay/f1.py:pay_1".into()));
    assert!(fixture.aur(&["mem", "stats", "--failed"]).out.contains("src/pay/f1.py:1-2: owner: ValueError: no owner"));
    for arguments in [&["--where", "owner=nobody"][..], &[], &["--grep", "card", "--where", "owner=nobody"]] {
        let mut words = vec!["mem", "search", "--format", "json"];
        if !arguments.contains(&"--grep") {
            words.push("pay card");
        }
        words.extend(arguments);
        let found = fixture.aur(&words).json();
        let notes = found["notes"].to_string();
        assert!(
            notes.contains("Column `owner` lacks values, because stage `owner` failed on 2 rows"),
            "{arguments:?}: {notes}"
        );
    }
    let few = fixture.aur(&["mem", "index", "--quiet", "--max-failed-rows", "owner=2", "--min-column", "owner=95"]);
    assert_eq!(few.code, Some(1), "{few:?}");
    assert!(few.err.contains("of the chunks have a value in column `owner`, less than 95%"), "{}", few.err);
    let pipeline = format!("{STAGE}max_failed_rows = 2\nmin_values = 50.5\n");
    fixture.write(".aurora/pipeline.toml", &pipeline);
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0), "the pipeline sets the thresholds");
    fixture.write(".aurora/pipeline.toml", pipeline.replace("= 50.5", "= 99"));
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(1));
    fixture.write(".aurora/pipeline.toml", STAGE).write("mode", "");
    let whole = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!((whole.code, &whole.json()["complete"], completeness()), (Some(0), &true.into(), [true; 4]));
    let found = fixture.aur(&["mem", "search", "pay card", "--format", "json"]).json();
    assert!(!found["notes"].to_string().contains("owner"), "{found}");
    let (verdict, detail) = pipeline_check(&fixture.aur(&["doctor", "--format", "json"]).json());
    assert_eq!(verdict, "\"ok\"", "{detail}");
    fixture.write("tools/owner.py", format!("# A comment.\n{PROGRAM}"));
    let (verdict, detail) = pipeline_check(&fixture.aur(&["doctor", "--format", "json"]).json());
    assert_eq!(verdict, "\"warn\"", "{detail}");
    assert!(detail.contains("aur plugin trust owner"), "{detail}");
}

#[test]
fn thresholds_for_unknown_names_are_reported_before_the_run() {
    let fixture = with_program();
    trust(&fixture);
    for (threshold, reason) in [
        (
            ["--max-failed-rows", "ownr=3"],
            "Error: the pipeline has no custom stage `ownr`\n  Help: did you mean `owner`?\n",
        ),
        (["--max-failed-rows", "chunk=3"], "Error: the pipeline has no custom stage `chunk`\n"),
        (["--min-column", "nope=3"], "Error: no stage of the pipeline writes a column `nope`\n"),
    ] {
        let refused = fixture.aur(&[&["mem", "index"][..], &threshold].concat());
        assert_eq!((refused.code, refused.out.as_str(), refused.err.as_str()), (Some(2), "", reason));
    }
    assert!(!fixture.path(".aurora/index").exists(), "nothing was indexed");
    for column in ["owner=1", "chunk.owner=1", "file.owner=1"] {
        let indexed = fixture.aur(&["mem", "index", "--quiet", "--min-column", column]);
        assert_eq!((indexed.code, indexed.err.as_str()), (Some(0), ""), "{column}");
    }
    fixture.write("mode", "raise");
    let short = fixture.aur(&["mem", "index", "--force", "--min-coverage", "100"]);
    assert_eq!(short.code, Some(1), "{short:?}");
    assert!(short.out.contains("% of the files that should be indexed, or of the rows of a custom stage"), "{short:?}");
    assert!(short.err.contains("below the required 100%: files could not be indexed, or rows"), "{short:?}");
}
