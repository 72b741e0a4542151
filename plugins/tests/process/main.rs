//! Tests of stages that run a program.
#![cfg(unix)]

mod conformance;
mod example;
mod messages;
mod rows;

use std::process::Command;

use aurora_pipeline::Value;
use rows::{Rows, text};

#[test]
fn a_python_function_is_a_stage() {
    let rows = Rows::new(&["pay/a.rs", "web/b.rs", "c.rs"], &[0, 0, 1, 2]);
    let outcome = rows.python(
        "reads = ['file.path', 'chunk.title']\nwrites = { owner = 'string', length = 'integer' }\nconfig = { team = 'payments' }",
        "
def owner(path, title, config):
    if title == 'title 3':
        raise ValueError('odd title')
    return {'owner': config['team'] if path.startswith('pay/') else None, 'length': len(title)}
",
    );
    let team = text("payments");
    assert_eq!(outcome.values("owner"), [team.clone(), team, None, None]);
    assert_eq!(outcome.values("length").iter().flatten().count(), 3);
    let failures = &outcome.report().failures["stage-under-test"];
    assert_eq!(failures.get("ValueError: odd title").map(|entry| entry.count), Some(1));
}

#[test]
fn a_program_may_select_either_encoding() {
    let rows = Rows::new(&["a.rs", "b.rs"], &[0, 0, 1]);
    for encoding in ["jsonl", "msgpack"] {
        let config = "reads = ['chunk.title']\nwrites = { owner = 'string' }\nrows = 2";
        let outcome = rows.run(env!("CARGO_BIN_EXE_echo-stage"), encoding, config).expect("the run completes");
        assert_eq!(outcome.values("owner"), ["title 0", "title 1", "title 2"].map(text), "{encoding}");
        assert!(outcome.report().failures.is_empty());
    }
}

#[test]
fn a_row_with_a_surrogate_in_its_value_fails() {
    let rows = Rows::new(&["a.rs"], &[0, 0, 0]);
    let outcome = rows.python(
        "reads = ['chunk.title']\nwrites = { owner = 'strings' }",
        "def owner(title):\n    return ['a', '\\ud800'] if title == 'title 1' else [title]\n",
    );
    let texts = |title: &str| Some(Value::Strings(vec![title.to_owned()]));
    assert_eq!(outcome.values("owner"), [texts("title 0"), None, texts("title 2")]);
    let failures = &outcome.report().failures["stage-under-test"];
    let reason = "ValueError: a text of `owner` has a surrogate, which is not a valid character";
    assert_eq!(failures.get(reason).map(|entry| entry.count), Some(1), "{failures:?}");
}

/// Runs a stage whose values come from the module `lib/helper.py`.
fn values_of_module(rows: &Rows) -> Vec<Option<Value>> {
    let source = "import sys\nfrom aurora_stage import stage\nsys.path.insert(0, 'lib')\nimport helper\n\n@stage\ndef owner(path):\n    return helper.VALUE\n";
    rows.script("stage.py", source);
    let config = "reads = ['file.path']\nwrites = { owner = 'string' }";
    rows.run("python3", "stage.py", config).expect("the run completes").values("owner")
}

#[test]
fn the_source_text_of_a_module_runs_although_the_repository_has_a_compiled_module() {
    let rows = Rows::new(&["a.rs"], &[0]);
    std::fs::create_dir(rows.root.path().join("lib")).expect("the directory is created");
    rows.script("lib/helper.py", "VALUE = 'planted'\n");
    let compile =
        "import py_compile as p; p.compile('lib/helper.py', invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)";
    let compiled = Command::new("python3").args(["-c", compile]).current_dir(rows.root.path()).status();
    assert!(compiled.expect("python3 runs").success() && rows.root.path().join("lib/__pycache__").is_dir());
    rows.script("lib/helper.py", "VALUE = 'first'\n");
    assert_eq!(values_of_module(&rows), [text("first")]);
    // The new text has the same size and is usually written in the same second.
    rows.script("lib/helper.py", "VALUE = 'other'\n");
    assert_eq!(values_of_module(&rows), [text("other")]);
}
