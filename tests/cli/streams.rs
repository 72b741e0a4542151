//! Standard output and standard error: which output goes to which stream, and colours, closed pipes and interruptions.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::fixture::{Fixture, Run};
use crate::{command, indexed, repository, run};

#[test]
fn colours_are_off_unless_requested() {
    let fixture = indexed();
    let coloured = |extra: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(&fixture);
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        let found = Run::from_command(command.args(["mem", "UserManager", "--show-scores"]).args(extra));
        assert_eq!(found.code, Some(0), "{found:?}");
        found.out.contains('\x1b')
    };
    assert!(!coloured(&[], &[]), "output to a pipe has no colours");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&["--color=always"], &[("NO_COLOR", "1")]), "a flag overrides the environment");
    assert!(!coloured(&["--color", "never"], &[]));
}

#[test]
fn colours_do_not_change_the_text() {
    let fixture = indexed();
    let arguments = ["mem", "password", "--show-scores", "--show-content", "--no-record"];
    let plain = run(&fixture, &arguments).out;
    let coloured = Run::from_command(command(&fixture).args(arguments).args(["--color", "always"])).out;
    assert_ne!(plain, coloured);
    assert_eq!(without_times(&plain), without_times(&without_colours(&coloured)));
}

/// Removes the lines with the times of the search, which are above the line of the index.
fn without_times(text: &str) -> String {
    let (above, times) = text.split_once("\nTime: ").expect("the times are shown");
    format!("{above}{}", times.split_once("\nIndex: ").expect("the index is shown").1)
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    out
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let fixture = indexed();
    let mut child = command(&fixture)
        .args(["mem", "search", "--stdin", "--show-content", "--show-scores"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("the stream is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("the stream is piped"));
    writeln!(stdin, "UserManager").expect("the program reads");
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line can be read");
    drop(stdout);
    // Keep writing queries until the program ends: at some point it cannot write an answer.
    while writeln!(stdin, "UserManager").is_ok() {}
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn results_go_to_standard_output_and_messages_to_standard_error() {
    let fixture = repository();
    let found = run(&fixture, &["mem", "UserManager", "--format", "json"]);
    assert!(found.json()["results"].is_array(), "standard output contains only JSON");
    assert!(found.err.contains("indexing"), "{}", found.err);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_finished_work() {
    let fixture = Fixture::plain();
    for number in 0..2_000 {
        fixture.write(
            &format!("src/file_{number}.py"),
            format!("def function_{number}(a, b):\n    return a + b\n").repeat(3),
        );
    }
    let child = command(&fixture)
        .args(["mem", "index", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while !fixture.path(".aurora/index/data.mdb").exists() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    let output = child.wait_with_output().expect("the program ends");
    if sent.success() && output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(130));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("Interrupted: finished work is kept"), "{message}");
    }
    let rest = run(&fixture, &["mem", "index", "--format", "json"]);
    assert_eq!(rest.code, Some(0), "{rest:?}");
    assert_eq!(rest.json()["complete"], true);
    assert_eq!(run(&fixture, &["mem", "verify"]).code, Some(0));
}
