//! `aur pipeline` and `--pipeline`.

use insta::assert_snapshot;

use crate::fixture::Fixture;
use crate::{repository, run, settings};

#[test]
fn the_shipped_pipelines_are_valid() {
    let fixture = Fixture::plain();
    for name in ["default", "lexical", "nightly"] {
        let checked = run(&fixture, &["pipeline", "check", name]);
        assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""), "{checked:?}");
        let shown = run(&fixture, &["pipeline", "show", name]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        fixture.write("again.toml", &shown.out);
        let again = run(&fixture, &["pipeline", "show", "again.toml"]);
        assert_eq!(
            (again.code, &again.out),
            (Some(0), &shown.out),
            "the output of `show` is a valid pipeline: {}",
            again.err
        );
        for format in ["text", "dot"] {
            let graph = run(&fixture, &["pipeline", "graph", name, "--format", format]);
            assert_eq!(graph.code, Some(0), "{graph:?}");
            assert!(graph.out.contains("discover") && graph.out.contains("bm25"), "{}", graph.out);
        }
    }
}

#[test]
fn every_error_is_reported_with_its_location() {
    let fixture = Fixture::plain();
    fixture.write(
        "team.toml",
        "extends = \"default\"\n\n[run]\nmemory = \"lots\"\n\n[stage.embed]\nmodle = \"minilm\"\n\n[stage.parze]\n",
    );
    let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(2), ""), "{checked:?}");
    settings(&fixture).bind(|| {
        assert_snapshot!(checked.err, @r#"
    error[A0103]: `memory` must be a size such as "512MiB", not the string "lots"
     --> team.toml:4:10
    4 | memory = "lots"

    error[A0102]: unknown key `modle` in stage `embed`
     --> team.toml:7:1
    7 | modle = "minilm"
      = help: did you mean `model`?

    error[A0101]: unknown stage type `parze`
     --> team.toml:9:1
    9 | [stage.parze]
      = help: did you mean `parse`?
    Error: the pipeline has 3 errors
    "#)
    });
}

#[test]
fn a_check_continues_after_an_unknown_type_and_looks_for_programs() {
    let fixture = Fixture::plain();
    fixture.write(
        "team.toml",
        "extends = \"default\"

[stage.owner]
use = \"proces\"
comand = [\"python3\", \"tools/owner.py\"]
reads = [\"file.path\"]
writes = { owner = \"string\" }
after = [\"chunck\"]

[stage.team]
use = \"process\"
command = [\"python3\", \"tools/none.py\"]
reads = [\"chunk.owner\", \"file.pth\"]
writes = { query = \"string\" }

[stage.churn]
use = \"documents\"
command = [\"aurora-no-such-program\"]
",
    );
    let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(2), ""), "{checked:?}");
    for expected in [
        "unknown stage type `proces`",
        "unknown key `comand` in stage `owner`",
        "stage `owner` comes after `chunck`, which this pipeline does not have",
        "stage `team` reads column `file.pth`, which no earlier stage writes",
        "stage `team` writes column `query`, which is built-in metadata of documents",
        "stage `team` cannot run: there is no file `tools/none.py`",
        "stage `churn` cannot run: there is no program `aurora-no-such-program`",
    ] {
        assert!(checked.err.contains(expected), "{expected} in {}", checked.err);
    }
    assert!(
        !checked.err.contains("column `chunk.owner`"),
        "the stage with the misspelt type writes the column: {}",
        checked.err
    );
    assert!(checked.err.ends_with("Error: the pipeline has 7 errors\n"), "{}", checked.err);
}

#[test]
fn unknown_columns_of_stages_with_other_mistakes_are_reported() {
    let fixture = Fixture::plain();
    fixture.write(
        "team.toml",
        "extends = \"default\"
rum = 3

[run]
memory = \"lots\"

[stage.owner]
use = \"proces\"
reads = [\"chunk.alpha\", \"chunk.text\", \"chunk.team\"]
writes = { owner = \"string\" }

[stage.team]
use = \"process\"
reads = [\"chunk.beta\", \"chunk.owner\"]
writes = { team = \"string\" }
wrong = 1
min_values = 200
max_failed_rows = -1
timeout = 0
",
    );
    let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
    assert_eq!(checked.code, Some(2), "{checked:?}");
    for expected in [
        "unknown key `rum`",
        "stage `owner` reads column `chunk.alpha`, which no earlier stage writes\n --> team.toml:9:9",
        "stage `team` reads column `chunk.beta`, which no earlier stage writes\n  --> team.toml:14:9",
    ] {
        assert!(checked.err.contains(expected), "{expected} in {}", checked.err);
    }
    assert_eq!(checked.err.matches("which no earlier stage writes").count(), 2, "{}", checked.err);
    fixture.write(
        "team.toml",
        "extends = \"default\"\n[stages.alpha]\n[stage.copy]\nuse = \"process\"\nreads = [\"chunk.alpha\"]\n",
    );
    let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
    assert!(!checked.err.contains("no earlier stage"), "`stages.alpha` may write the column: {}", checked.err);
}

#[test]
fn a_missing_pipeline_is_reported() {
    let fixture = Fixture::plain();
    settings(&fixture).bind(|| {
        assert_snapshot!(run(&fixture, &["pipeline", "check", "lexcal"]).err, @r"
        Error: there is no pipeline `lexcal`
          Help: did you mean `lexical`?
        ");
        assert_snapshot!(run(&fixture, &["mem", "index", "--pipeline", "nowhere.toml"]).err, @r"
        Error: there is no pipeline `nowhere.toml`
          Help: give a file, or one of the pipelines that ship with aur: default, lexical, nightly
        ");
    });
}

#[test]
fn the_pipeline_of_a_project_is_used() {
    let fixture = repository();
    fixture.write(".aurora/pipeline.toml", "extends = \"lexical\"\n");
    let summary = run(&fixture, &["mem", "index", "--format", "json"]);
    assert_eq!(summary.code, Some(0), "{summary:?}");
    assert_eq!(summary.json()["embeddings"]["model"], serde_json::Value::Null);
    let found = run(&fixture, &["mem", "hash_password", "--limit", "1"]);
    assert_eq!(found.code, Some(0));
    assert!(found.err.contains("Note:"), "a note reports missing vectors: {}", found.err);
    let dense = run(&fixture, &["mem", "hash_password", "--mode", "dense"]);
    assert_eq!((dense.code, dense.out.as_str()), (Some(2), ""), "{dense:?}");
}
