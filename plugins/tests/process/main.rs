//! Stages that are programs, run as the executor runs them.
#![cfg(unix)]

mod conformance;
mod example;
mod messages;
mod rows;

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
fn a_program_may_ask_for_messagepack() {
    let rows = Rows::new(&["a.rs", "b.rs"], &[0, 0, 1]);
    for encoding in ["jsonl", "msgpack"] {
        let config = "reads = ['chunk.title']\nwrites = { owner = 'string' }\nrows = 2";
        let outcome = rows.run(env!("CARGO_BIN_EXE_echo-stage"), encoding, config).expect("the run goes to its end");
        assert_eq!(outcome.values("owner"), ["title 0", "title 1", "title 2"].map(text), "{encoding}");
        assert!(outcome.report().failures.is_empty());
    }
}
