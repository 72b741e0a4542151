//! Stages that are programs, run as the executor runs them.
#![cfg(unix)]

mod example;
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
    assert!(outcome.report().incomplete.is_empty());
}
