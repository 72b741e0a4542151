//! Stages whose programs are not trusted do not run. Earlier values stay in the index. After the program is trusted,
//! the next run computes missing values, and the values that other stages compute from them.

use aurora_pipeline::Silent;
use aurora_stages::index::{
    self, ColumnState, EarlierResults, IndexOptions, IndexSummary, StageNotRun, column_states, failed_rows,
};
use aurora_storage::MetaValue;

use crate::fixture::Fixture;
use crate::unfinished::{PROGRAM, STAGE, owner, trust, with_program};
use crate::{counter, digest, fresh_digest, options, repository, run, snapshot, text, values};

fn run_keeping(fixture: &Fixture) -> IndexSummary {
    let options = IndexOptions { untrusted: vec!["owner".to_owned()], ..options(fixture.root()) };
    index::run(&options, &Silent).expect("the index run succeeds")
}

#[test]
fn an_untrusted_program_keeps_the_values_of_unchanged_text() {
    let fixture = with_program();
    fixture.write("src/pay/two.py", "def first(card):\n    return card\n\n\ndef second(card):\n    return 2\n");
    run(&fixture);
    let before = values(&fixture, "owner");

    let kept = run_keeping(&fixture);
    assert_eq!((values(&fixture, "owner"), kept.changed_chunks), (before.clone(), 0), "nothing is written again");
    assert_eq!(owner(&fixture).stale, owner(&fixture).values);
    assert!(kept.warnings.iter().any(|warning| warning.contains("stage `owner` was not run")), "{:?}", kept.warnings);

    fixture.write("src/pay/two.py", "def first(card):\n    return card\n\n\ndef second(card):\n    return 3\n");
    fixture.write("src/pay/new.py", "def third(card):\n    return 3\n");
    let kept = run_keeping(&fixture);
    let value = |name: &str| {
        values(&fixture, "owner").into_iter().find(|(known, _)| known == name).expect("the function is indexed").1
    };
    assert_eq!(value("first"), text("team of first"), "its text is unchanged");
    assert_eq!((value("second"), value("third")), (None, None), "changed and new text has no value");
    assert_eq!((owner(&fixture).waiting, kept.complete), (2, false), "stale values do not wait");
    assert!(run_keeping(&fixture).nothing_changed, "rows that wait for a program are not touched without it");
    let (kept_digest, state) = (digest(&fixture), owner(&fixture));
    let forced = index::run(
        &IndexOptions { force: true, untrusted: vec!["owner".to_owned()], ..options(fixture.root()) },
        &Silent,
    )
    .expect("the index run succeeds");
    assert_eq!(kept_digest, digest(&fixture), "a forced run gives the same index");
    assert_eq!(value("first"), text("team of first"), "all chunks were stored again, but the text is unchanged");
    assert_eq!((owner(&fixture), forced.coverage), (state, kept.coverage), "no additional rows wait");

    let allowed = run(&fixture);
    assert!(allowed.complete && owner(&fixture).stale + owner(&fixture).waiting == 0);
    assert_eq!((value("second"), value("third")), (text("team of second"), text("team of third")));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn reindexing_without_a_program_keeps_the_index_complete() {
    let fixture = with_program();
    run(&fixture);
    let keeping = |force| {
        let options = IndexOptions { force, untrusted: vec!["owner".to_owned()], ..options(fixture.root()) };
        index::run(&options, &Silent).expect("the index run succeeds")
    };
    for force in [false, true] {
        let (kept, state) = (keeping(force), owner(&fixture));
        assert_eq!((kept.complete, kept.coverage), (true, 1.0), "forced: {force}");
        assert_eq!((state.waiting, state.stale), (0, state.values), "forced: {force}");
    }
    // The same texts are divided into different chunks.
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}\n[stage.chunk]\nmax_size = 900\n"));
    let (kept, state) = (keeping(false), owner(&fixture));
    assert_eq!((state.waiting, state.stale > 0), (0, true), "{state:?}");
    assert!(kept.complete, "{kept:?}");
    assert!(counter(&run(&fixture), "owner.rows") >= state.values, "the program runs on all rows again");
}

#[test]
fn a_new_untrusted_stage_leaves_all_rows_waiting() {
    let fixture = with_program();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n");
    run(&fixture);
    fixture.write(".aurora/pipeline.toml", STAGE);
    for _ in 0..2 {
        let kept = run_keeping(&fixture);
        let state = owner(&fixture);
        assert_eq!((state.values, state.stale, state.waiting), (0, 0, 12), "the functions of both languages");
        assert_eq!((kept.complete, kept.coverage < 0.5), (false, true), "{kept:?}");
        let warnings = kept.warnings.join("\n");
        assert!(warnings.contains("is not allowed: 12 rows wait for it") && !warnings.contains("stale"), "{warnings}");
    }
    assert_eq!(counter(&run(&fixture), "owner.rows"), 12);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

/// Returns the stage with other columns in `writes`, none of which adds terms to the keyword index.
fn writing(columns: &str) -> String {
    STAGE.replace("{ owner = { type = \"string\", terms = 2, embed = true } }", columns)
}

#[test]
fn redeclared_columns_wait_for_an_untrusted_program() {
    for (columns, name) in [
        ("{ boss = \"string\" }", "boss"),
        ("{ owner = \"strings\" }", "owner"),
        ("{ owner = \"string\", team = \"string\" }", "team"),
    ] {
        let fixture = with_program();
        let before = writing("{ owner = \"string\" }");
        fixture.write(".aurora/pipeline.toml", &before);
        run(&fixture);
        fixture.write(".aurora/pipeline.toml", writing(columns));
        for is_first in [true, false] {
            let kept = run_keeping(&fixture);
            let states = column_states(&snapshot(fixture.root())).expect("the index can be read");
            let state = states.iter().find(|state| state.name == name).expect("the column exists");
            assert_eq!((state.values, state.stale, state.failed, state.waiting), (0, 0, 0, 12), "{columns}");
            assert_eq!((kept.not_run[0].waiting, kept.complete, kept.coverage < 1.0), (12, false, true), "{columns}");
            assert!(!is_first || !kept.nothing_changed, "{columns}");
        }
        fixture.write(".aurora/pipeline.toml", &before);
        let allowed = run(&fixture);
        assert_eq!((allowed.complete, owner(&fixture).values, owner(&fixture).waiting), (true, 12, 0), "{columns}");
        assert_eq!(digest(&fixture), fresh_digest(&fixture), "{columns}");
    }
}

#[test]
fn answers_note_redeclared_columns() {
    let fixture = with_program();
    fixture.write(".aurora/pipeline.toml", writing("{ owner = \"string\" }"));
    trust(&fixture);
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
    fixture.write("tools/owner.py", format!("# A comment.\n{PROGRAM}"));
    fixture.write(".aurora/pipeline.toml", writing("{ boss = \"string\" }"));
    let kept = fixture.aur(&["mem", "index", "--untrusted", "keep", "--format", "json"]).json();
    assert_eq!((&kept["complete"], &kept["nothing_changed"]), (&false.into(), &false.into()), "{kept}");
    let found = fixture.aur(&["mem", "search", "pay card", "--format", "json"]).json();
    let note =
        "Column `boss` is not complete, because stage `owner` was not run on 12 rows, and its program is not allowed";
    assert!(found["notes"].to_string().contains(note), "{found}");
}

/// Creates a project with a second stage, which computes its column from the column of the first stage.
fn with_copy() -> Fixture {
    let fixture = with_program();
    fixture.write(
        "tools/copy.py",
        "from aurora_stage import stage\n\n@stage\ndef copy(owner):\n    return owner and 'copy of ' + owner\n",
    );
    let copy = "\n[stage.copy]\nuse = \"process\"\ncommand = [\"python3\", \"tools/copy.py\"]\nreads = [\"chunk.owner\"]\nwrites = { copy = \"string\" }\n";
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}{copy}"));
    fixture
}

fn copy(fixture: &Fixture) -> ColumnState {
    let states = column_states(&snapshot(fixture.root())).expect("the index can be read");
    states.into_iter().find(|state| state.name == "copy").expect("the column exists")
}

#[test]
fn a_computed_column_inherits_missing_and_stale_values() {
    let fixture = with_copy();
    fixture.write("mode", "raise");
    run(&fixture);
    assert_eq!((copy(&fixture).failed, copy(&fixture).stale), (2, 0));
    fixture.write("mode", "");
    assert!(run(&fixture).complete);
    assert_eq!(copy(&fixture).shortfall(), None);

    fixture.write("src/pay/f0.py", "def pay_0(card, amount):\n    return card\n");
    let kept = run_keeping(&fixture);
    let state = copy(&fixture);
    assert_eq!((state.waiting, state.values, state.stale), (1, 11, 11));
    assert_eq!((kept.complete, owner(&fixture).stale), (false, 11));
    let other = fixture.duplicate();
    let pipeline = std::fs::read(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
    other.write(".aurora/pipeline.toml", pipeline);
    run_keeping(&other);
    assert_eq!(digest(&fixture), digest(&other), "the index equals one built without the program");

    assert!(run(&fixture).complete);
    assert_eq!(copy(&fixture).shortfall(), None);
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn answers_note_failures_in_the_input_of_a_computed_column() {
    let fixture = with_copy();
    for stage in ["owner", "copy"] {
        let trusted = fixture.aur(&["plugin", "trust", stage, "--yes"]);
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
    }
    fixture.write("mode", "raise");
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(1));
    let notes = || {
        let found = fixture.aur(&["mem", "search", "pay card", "--where", "copy=copy of nobody", "--format", "json"]);
        found.json()["notes"].to_string()
    };
    assert!(notes().contains("Column `copy` lacks values, because stage `owner` failed on 2 rows"), "{}", notes());
    fixture.write("mode", "");
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
    assert!(!notes().contains("Column `copy`"), "{}", notes());
    fixture.write("tools/owner.py", format!("# A comment.\n{PROGRAM}"));
    assert_eq!(fixture.aur(&["mem", "index", "--quiet", "--untrusted", "keep"]).code, Some(0));
    let stale = "Column `copy` has stale values, because the program of stage `owner` is not allowed";
    assert!(notes().contains(stale), "{}", notes());
}

#[test]
fn stages_that_depend_on_a_skipped_stage_are_skipped() {
    let fixture = with_copy();
    fixture.aur(&["plugin", "trust", "copy", "--yes"]);
    let run = fixture.aur(&["mem", "index", "--quiet", "--untrusted", "skip"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("a program is not allowed: `owner`, `copy`"), "{}", run.err);
    let check = fixture.aur(&["mem", "search", "pay card", "--format", "json"]);
    assert_eq!(check.code, Some(0), "{check:?}");
}

#[test]
fn a_program_that_is_trusted_again_runs_on_waiting_rows() {
    let fixture = with_program();
    run(&fixture);
    fixture.write("src/pay/f0.py", "def pay_0(card, amount):\n    return card\n");
    run_keeping(&fixture);
    assert_eq!(owner(&fixture).waiting, 1);
    let allowed = run(&fixture);
    assert_eq!((counter(&allowed, "owner.rows"), allowed.lines), (1, 0));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn inputs_of_an_untrusted_stage_may_change() {
    let fixture = with_program();
    let area = |prefix: &str| {
        format!("{}\n[stage.area]\nprefix = \"{prefix}\"\n", STAGE.replace("chunk.name", "chunk.name\", \"file.area"))
    };
    fixture.write(
        "tools/owner.py",
        PROGRAM.replace("(name)", "(name, area)").replace("'team of ' + name", "'%s %s' % (area, name)"),
    );
    fixture.write(".aurora/pipeline.toml", area("x-"));
    run(&fixture);
    fixture.write(".aurora/pipeline.toml", area("y-"));
    run_keeping(&fixture);
    assert!(values(&fixture, "owner").contains(&("pay_1".to_owned(), text("x-src pay_1"))), "the value is kept");
    run(&fixture);
    assert!(values(&fixture, "owner").contains(&("pay_1".to_owned(), text("y-src pay_1"))));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn documents_of_an_untrusted_program_are_kept() {
    let fixture = with_program();
    fixture.write(
        "tools/tickets.py",
        "from aurora_stage import documents\n\n@documents\ndef tickets():\n    yield {'path': 'A-1.md', 'text': '# Cards\\n\\nThey fail.'}\n",
    );
    let tickets = "\n[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tools/tickets.py\"]\n";
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}{tickets}"));
    run(&fixture);
    let all = digest(&fixture);
    let is_there = |path: &str| snapshot(fixture.root()).file(path).expect("the index can be read").is_some();
    let keeping = |force| {
        let options = IndexOptions { untrusted: vec!["tickets".to_owned()], force, ..options(fixture.root()) };
        index::run(&options, &Silent).expect("the index run succeeds")
    };
    let kept = keeping(false);
    assert_eq!((kept.files.deleted, kept.complete), (0, true));
    let not_run = |results| StageNotRun { stage: "tickets".to_owned(), results, waiting: 0 };
    assert_eq!(kept.not_run, [not_run(EarlierResults::KeptDocuments)]);
    assert!(is_there("@tickets/A-1.md"));
    // The declaration of a column has changed, so all chunks are stored again.
    fixture.write(".aurora/pipeline.toml", format!("{}{tickets}", STAGE.replace("terms = 2", "terms = 3")));
    keeping(false);
    keeping(true);
    assert!(is_there("@tickets/A-1.md"));
    fixture.write(".aurora/pipeline.toml", format!("{STAGE}{tickets}"));
    let allowed = run(&fixture);
    assert_eq!((digest(&fixture), allowed.not_run), (all, Vec::new()));

    let options = IndexOptions { left_out: vec!["tickets".to_owned()], ..options(fixture.root()) };
    let skipped = index::run(&options, &Silent).expect("the index run succeeds");
    assert_eq!((skipped.not_run, skipped.complete), (vec![not_run(EarlierResults::Removed)], false));
    assert!(!is_there("@tickets/A-1.md"));
    let never = keeping(false);
    assert_eq!((never.not_run, never.complete), (vec![not_run(EarlierResults::NoDocuments)], false));
}

#[test]
fn definitions_of_an_untrusted_program_are_listed_as_waiting() {
    let fixture = repository();
    fixture.write(".gitignore", "tools/\n.aurora/\n").write("a.note", "> one\ntext\n");
    fixture.write(
        "tools/notes.py",
        "from aurora_stage import stage\n\n@stage\ndef value(text):\n    return [{'name': 'one', 'kind': 'function', 'line_start': 1, 'line_end': 2}]\n",
    );
    let discover = "extends = \"default\"\n[stage.discover]\nlanguages = { note = \"note\" }\n";
    fixture.write(".aurora/pipeline.toml", discover);
    run(&fixture);
    fixture.write(
        ".aurora/pipeline.toml",
        format!(
            "{discover}[stage.notes]\nuse = \"process\"\ncommand = [\"python3\", \"tools/notes.py\"]\nreads = [\"file.text\"]\n\
             writes = {{ \"file.definitions\" = \"json\" }}\nlanguages = [\"note\"]\n"
        ),
    );
    let keeping = IndexOptions { untrusted: vec!["notes".to_owned()], ..options(fixture.root()) };
    for _ in 0..2 {
        let kept = index::run(&keeping, &Silent).expect("the index run succeeds");
        let expected = StageNotRun { stage: "notes".to_owned(), results: EarlierResults::None, waiting: 1 };
        assert_eq!((kept.not_run, kept.complete), (vec![expected], false));
    }
    let allowed = run(&fixture);
    assert!(allowed.complete && allowed.not_run.is_empty());
    let kept = index::run(&keeping, &Silent).expect("the index run succeeds");
    let expected = StageNotRun { stage: "notes".to_owned(), results: EarlierResults::Kept, waiting: 0 };
    assert_eq!((kept.not_run, kept.complete), (vec![expected], true));
}

#[test]
fn an_imported_index_keeps_its_values_by_default() {
    let fixture = with_program();
    trust(&fixture);
    fixture.write("mode", "raise");
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(1));
    let exported = fixture.aur(&["mem", "export", "index.aurora", "--format", "json"]);
    assert_eq!((exported.code, &exported.json()["complete"]), (Some(0), &false.into()), "{exported:?}");
    let value = |fixture: &Fixture| {
        let owners = values(fixture, "owner");
        owners.into_iter().find(|(name, _)| name == "pay_0").and_then(|(_, value)| value)
    };
    let import = || {
        let other = with_program();
        let artefact = std::fs::read(fixture.path("index.aurora")).expect("the file can be read");
        other.write("index.aurora", artefact).write(".gitignore", "tools/\nmode\n.aurora/\nindex.aurora\n");
        let imported = other.aur(&["mem", "import", "index.aurora"]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        assert_eq!(
            failed_rows(&snapshot(other.root())).expect("the index can be read").len(),
            2,
            "an artefact contains the failed rows"
        );
        other
    };
    let kept = import();
    let found = kept.aur(&["mem", "search", "pay card", "--where", "owner=team of pay_0", "--format", "json"]).json();
    assert!(found["notes"].to_string().contains("Column `owner` has stale values"), "before any run: {found}");
    let run = kept.aur(&["mem", "index", "--format", "json", "--max-failed-rows", "owner=2"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(value(&kept), text("team of pay_0"));
    assert_eq!(run.json()["columns"][0]["stale"], run.json()["columns"][0]["values"]);
    let again = kept.aur(&["mem", "index", "--format", "json", "--max-failed-rows", "owner=2"]);
    assert_eq!(again.code, Some(0), "the next run keeps the values as well: {again:?}");
    assert_eq!(again.json()["nothing_changed"], true, "{again:?}");
    let found = kept.aur(&["mem", "search", "pay card", "--where", "owner=team of pay_0", "--format", "json"]).json();
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(found["notes"].to_string().contains("Column `owner` has stale values"), "{found}");
    assert_eq!(kept.aur(&["mem", "verify"]).code, Some(0));

    trust(&kept);
    assert_eq!(kept.aur(&["mem", "index", "--quiet"]).code, Some(0));
    kept.write("tools/owner.py", format!("# A comment.\n{PROGRAM}"));
    assert_eq!(kept.aur(&["mem", "index", "--quiet"]).code, Some(2), "its values no longer come from the import");

    let refused = import();
    assert_eq!(refused.aur(&["mem", "index", "--quiet", "--untrusted", "fail"]).code, Some(2));
    assert_eq!(value(&refused), text("team of pay_0"), "nothing was written");

    let skipped = import();
    let run = skipped.aur(&["mem", "index", "--untrusted", "skip", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let summary = run.json();
    assert_eq!((&summary["removed_columns"][0], &summary["complete"]), (&"owner".into(), &false.into()));
    assert_eq!(
        summary["not_run"],
        serde_json::json!([{ "stage": "owner", "results": "removed", "waiting": 0 }]),
        "{summary}"
    );
    assert!(run.err.contains("removed from the index with all values: `owner`"), "{}", run.err);
    assert_eq!(value(&skipped), None::<MetaValue>);
}
