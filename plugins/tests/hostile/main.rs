//! Tests with programs that violate the protocol, crash, hang or waste resources. In every case the run ends, the
//! report contains the reason, all other rows keep their values, and no process is left running.
#![cfg(target_os = "linux")]

mod documents;
#[path = "../process/rows.rs"]
#[allow(dead_code, reason = "programs of this test are written without the Python module")]
mod rows;

use std::fs;
use std::time::{Duration, Instant};

use aurora_pipeline::{CancelToken, Outcome, RunOptions, Value};
use aurora_plugins::testkit::StageOutcome;
use rows::{Rows, text};

/// Paths of the files. They have ten chunks in total.
const FILES: [&str; 2] = ["a.rs", "b.rs"];
const CHUNKS: [u32; 10] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
/// The configuration of the stage, with short time-outs.
const STAGE: &str = "reads = ['chunk.title']\nwrites = { owner = 'string' }\ntimeout = 1\nrows = 5\n";
/// Name of the stage in reports.
const NAME: &str = "stage-under-test";

/// Start of a Python program that follows the protocol. The rest of a program may violate it.
const PROGRAM: &str = r#"
import json, os, sys, time
def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
def result(message, **more):
    owners = ["x " + title for title in message["chunks"]["columns"]["title"]]
    return dict({"type": "result", "id": message["id"], "chunks": {"columns": {"owner": owners}}}, **more)
def titles(message):
    return message["chunks"]["columns"]["title"]
hello = json.loads(sys.stdin.readline())
"#;

/// Returns a program that answers the handshake, and then runs `body` for each `message`.
fn program(body: &str) -> String {
    let body: String = body.trim().lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "{PROGRAM}say({{'type': 'hello', 'protocol': 'aurora-stage', 'version': 1}})\n\
         for line in sys.stdin:\n    message = json.loads(line)\n{body}"
    )
}

/// Runs a program with the rows, and checks that no process is left running.
fn run(source: &str, config: &str) -> StageOutcome {
    let rows = Rows::new(&FILES, &CHUNKS);
    rows.script("stage.py", source);
    let stage = if config.contains("timeout") { STAGE.replace("timeout = 1\n", "") } else { STAGE.to_owned() };
    let outcome = rows.run("python3", "stage.py", &format!("{stage}{config}")).expect("the run completes");
    let directory = rows.root.path().canonicalize().expect("exists");
    let deadline = Instant::now() + Duration::from_secs(2);
    while !processes_in(&directory).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(processes_in(&directory), Vec::<String>::new(), "a process is still running");
    outcome
}

/// Returns the processes whose working directory is the project.
fn processes_in(directory: &std::path::Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux has `/proc`").flatten();
    let is_here = |path: &std::path::PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == directory);
    processes.map(|process| process.path()).filter(is_here).map(|path| path.display().to_string()).collect()
}

/// Returns the expected values of all rows. The rows in `bad` have no values.
fn all_but(bad: &[usize]) -> Vec<Option<Value>> {
    (0..CHUNKS.len()).map(|row| text(&format!("x title {row}")).filter(|_| !bad.contains(&row))).collect()
}

/// Returns the reasons for failures, each with the number of failed rows.
fn failures(outcome: &StageOutcome) -> Vec<(String, u64)> {
    let tally = outcome.report().failures.get(NAME);
    tally.into_iter().flat_map(|tally| tally.iter()).map(|(reason, entry)| (reason.to_owned(), entry.count)).collect()
}

#[track_caller]
fn check(source: &str, config: &str, bad: &[usize], reason: &str) {
    let outcome = run(source, config);
    let found = failures(&outcome);
    assert_eq!(outcome.values("owner"), all_but(bad), "{found:?}");
    assert!(found.iter().any(|(found, _)| found.contains(reason)), "{found:?}");
    assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), bad.len() as u64, "{found:?}");
    assert!(found.iter().all(|(reason, _)| !reason.contains("gave up")), "{found:?}");
}

#[track_caller]
fn check_all_fail(source: &str, config: &str, reason: &str) {
    let outcome = run(source, config);
    let found = failures(&outcome);
    assert!(outcome.values("owner").iter().all(Option::is_none), "{found:?}");
    assert!(found.iter().any(|(found, _)| found.contains(reason)), "{found:?}");
    assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), CHUNKS.len() as u64, "{found:?}");
}

#[test]
fn a_correct_program_has_no_failures() {
    let outcome = run(&program("say(result(message))"), "");
    assert_eq!(outcome.values("owner"), all_but(&[]));
    assert_eq!(failures(&outcome), []);
}

#[test]
fn only_the_row_that_hangs_fails() {
    let source = program("if 'title 3' in titles(message): time.sleep(1000)\nsay(result(message))");
    check(&source, "", &[3], "no answer within 1 s");
}

#[test]
fn only_the_rows_that_crash_the_program_fail() {
    let source =
        program("if {'title 0', 'title 3', 'title 9'} & set(titles(message)): os._exit(3)\nsay(result(message))");
    check(&source, "max_restarts = 4", &[0, 3, 9], "the process has ended (exit code 3)");
}

#[test]
fn no_row_fails_if_the_program_ends_after_each_answer() {
    let outcome = run(&program("say(result(message))\nos._exit(0)"), "max_restarts = 20");
    assert_eq!(outcome.values("owner"), all_but(&[]));
}

#[test]
fn all_rows_fail_if_the_program_ends_immediately() {
    check_all_fail("import sys\nsys.exit('no such luck')", "", "the process has ended (exit code 1)");
}

#[test]
fn the_first_message_must_arrive_in_time() {
    check_all_fail("import time\ntime.sleep(1000)", "max_restarts = 0", "no answer to `hello` within 15 s");
}

#[test]
fn output_before_the_handshake_is_rejected() {
    let source = program("say(result(message))").replacen("hello =", "print('Welcome!')\nhello =", 1);
    check_all_fail(&source, "", "its first line is not a `hello` of the protocol: \"Welcome!\"");
}

#[test]
fn an_unsupported_version_of_the_protocol_is_rejected() {
    let source = program("say(result(message))").replacen("'version': 1", "'version': 9", 1);
    check_all_fail(&source, "", "it speaks version 9 of the protocol");
}

#[test]
fn all_rows_fail_after_a_flood_of_output() {
    let source = program("while True: sys.stdout.write('x' * 65536)");
    check_all_fail(&source, "max_restarts = 0", "a message of more than 67108864 bytes");
}

#[test]
fn all_rows_fail_after_a_flood_of_heartbeats() {
    let source = program("while True: sys.stdout.write('{\"type\":\"heartbeat\"}\\n' * 1000)");
    check_all_fail(&source, "max_restarts = 0", "heartbeats without an answer");
}

#[test]
fn many_heartbeats_before_each_answer_are_allowed() {
    let source = program("for _ in range(900): say({'type': 'heartbeat'})\nsay(result(message))");
    let outcome = run(&source, "max_restarts = 0");
    assert_eq!(outcome.values("owner"), all_but(&[]));
    assert_eq!(failures(&outcome), []);
}

#[test]
fn only_the_row_with_a_flood_of_heartbeats_fails() {
    let source = program(
        "if 'title 3' in titles(message):\n    while True: sys.stdout.write('{\"type\":\"heartbeat\"}\\n' * 1000)\nsay(result(message))",
    );
    check(&source, "", &[3], "heartbeats without an answer");
}

#[test]
fn no_row_fails_because_of_a_flood_of_log_lines() {
    let source = program("sys.stderr.write('noise\\n' * 100000)\nsys.stderr.flush()\nsay(result(message))");
    let outcome = run(&source, "");
    assert_eq!(outcome.values("owner"), all_but(&[]));
    assert_eq!(failures(&outcome), []);
}

#[test]
fn a_line_that_is_not_complete_is_an_error() {
    let source =
        program("if 'title 3' in titles(message):\n    os.write(1, b'{\"type\":'); os._exit(0)\nsay(result(message))");
    check(&source, "", &[3], "");
}

#[test]
fn output_that_is_not_text_is_an_error() {
    let source = program(
        "if 'title 3' in titles(message): os.write(1, b'{\"type\":\"\\xff\\xfe\"}\\n')\nelse: say(result(message))",
    );
    check(&source, "", &[3], "an invalid message");
}

#[test]
fn json_that_is_nested_too_deeply_is_an_error() {
    let source = program(
        "if 'title 3' in titles(message): os.write(1, b'{\"type\":\"result\",\"chunks\":' + b'[' * 1000000 + b'\\n')\nelse: say(result(message))",
    );
    check(&source, "", &[3], "an invalid message");
}

#[test]
fn rows_with_values_of_the_wrong_type_fail() {
    let source = program(
        "answer = result(message)\nowners = answer['chunks']['columns']['owner']\nfor at, title in enumerate(titles(message)):\n    if title == 'title 3': owners[at] = 7\n    if title == 'title 4': owners[at] = {'deep': [1]}\nsay(answer)",
    );
    check(&source, "", &[3, 4], "column `owner`: integer instead of string");
}

#[test]
fn a_row_with_a_huge_value_fails() {
    let source = program(
        "answer = result(message)\nowners = answer['chunks']['columns']['owner']\nfor at, title in enumerate(titles(message)):\n    if title == 'title 3': owners[at] = 'x' * 2000000\nsay(answer)",
    );
    check(&source, "", &[3], "more than 1048576 bytes");
}

#[test]
fn a_row_with_a_number_that_json_cannot_represent_fails() {
    let source = program(
        "answer = result(message)\nowners = answer['chunks']['columns']['owner']\nfor at, title in enumerate(titles(message)):\n    if title == 'title 3': owners[at] = float('nan')\nsay(answer)",
    );
    check(&source, "", &[3], "an invalid message");
}

#[test]
fn too_few_values_do_not_cause_a_restart() {
    let source = program(
        "answer = result(message)\nif 'title 3' in titles(message): answer['chunks']['columns']['owner'].pop()\nsay(answer)",
    );
    check(&source, "max_restarts = 0", &[3], "0 values for 1 rows in column `chunk.owner`");
}

#[test]
fn a_column_that_is_missing_is_reported() {
    let source =
        program("answer = result(message)\nanswer['chunks']['columns'] = {'ownr': titles(message)}\nsay(answer)");
    check_all_fail(&source, "max_restarts = 0", "column `chunk.owner` is missing");
}

#[test]
fn columns_that_are_not_declared_are_reported_and_not_stored() {
    let source =
        program("answer = result(message)\nanswer['chunks']['columns']['colour'] = titles(message)\nsay(answer)");
    let outcome = run(&source, "max_restarts = 0");
    assert_eq!(outcome.values("owner"), all_but(&[]));
    let warnings: Vec<&str> = outcome.report().warnings.iter().map(|(reason, _)| reason).collect();
    assert_eq!(
        warnings,
        ["stage `stage-under-test` gives column `chunk.colour`, which `writes` does not list; it is not stored"]
    );
}

#[test]
fn a_row_fails_if_it_is_dropped_without_a_declaration() {
    let source = program(
        "drops = [{'entity': 'chunk', 'row': at, 'reason': 'dull'} for at, title in enumerate(titles(message)) if title == 'title 3']\nsay(result(message, drops=drops))",
    );
    check(&source, "", &[3], "which the key `drops` of the stage does not allow");
}

#[test]
fn a_second_answer_to_a_message_is_an_error() {
    let source = program("say(result(message))\nif 'title 3' in titles(message): say(result(message))");
    let outcome = run(&source, "max_restarts = 20");
    assert!(outcome.values("owner").iter().flatten().count() >= 9, "{:?}", failures(&outcome));
}

#[test]
fn an_answer_to_an_unknown_message_is_an_error() {
    let source = program("if 'title 3' in titles(message): message['id'] += 1000\nsay(result(message))");
    check(&source, "", &[3], "which is not in flight");
}

#[test]
fn all_rows_fail_if_the_program_does_not_read_its_input() {
    let source =
        format!("{PROGRAM}say({{'type': 'hello', 'protocol': 'aurora-stage', 'version': 1}})\ntime.sleep(1000)");
    check_all_fail(&source, "max_restarts = 1", "no answer within 1 s");
}

#[test]
fn a_program_that_closes_its_output_and_keeps_running_is_killed() {
    let source = program("os.close(1)\ntime.sleep(1000)");
    check_all_fail(&source, "max_restarts = 1", "the process has closed its output");
}

#[test]
fn a_descendant_that_leaves_the_process_group_is_killed() {
    let source = program(
        "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 1000 & sleep 1000'], start_new_session=True)\nsay(result(message))",
    );
    let outcome = run(&source, "");
    assert_eq!(outcome.values("owner"), all_but(&[]));
}

#[test]
fn memory_is_limited() {
    let source = program("if 'title 3' in titles(message): hog = bytearray(1 << 30)\nsay(result(message))");
    check(&source, "memory = '256MiB'", &[3], "the process has ended (exit code 1)");
}

#[test]
fn a_child_that_keeps_the_output_open_does_not_hide_the_end_of_the_program() {
    let source = program(
        "import subprocess\nif 'title 3' in titles(message):\n    subprocess.Popen(['sleep', '1000'], start_new_session=True)\n    os._exit(4)\nsay(result(message))",
    );
    check(&source, "timeout = 300", &[3], "the process has ended (exit code 4)");
}

#[test]
fn a_row_with_a_list_of_millions_of_items_fails() {
    let source = program(
        "answer = result(message)\nowners = answer['chunks']['columns']['owner']\nfor at, title in enumerate(titles(message)):\n    if title == 'title 3': owners[at] = [0] * 5000000\nsay(answer)",
    );
    check(&source, "timeout = 60", &[3], "a list of more than 65536 items");
}

#[test]
fn a_program_cannot_control_the_terminal_through_reports() {
    let source = program(
        "if 'title 3' in titles(message): say({'type': 'error', 'id': message['id'], 'message': '\\x1b[2Jgone\\x07'})\nelse: say(result(message))",
    );
    check(&source, "", &[3], "[2Jgone");
    let found = failures(&run(&source, ""));
    assert!(!found[0].0.contains(char::is_control), "{found:?}");
}

#[test]
fn a_cancelled_run_ends_although_the_program_does_not() {
    for body in ["time.sleep(1000)", "while True:\n    say({'type': 'heartbeat'})\n    time.sleep(0.01)"] {
        let rows = Rows::new(&FILES, &CHUNKS);
        rows.script("stage.py", &program(&format!("open('started', 'w').close()\n{body}")));
        let cancel = CancelToken::new();
        let started = rows.root.path().join("started");
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                let deadline = Instant::now() + Duration::from_secs(30);
                while !started.exists() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(10));
                }
                cancel.cancel();
            });
            let options = RunOptions { cancel: cancel.clone(), ..RunOptions::default() };
            let config = format!("{STAGE}max_restarts = 0").replace("timeout = 1", "timeout = 1000");
            rows.run_with("python3", "stage.py", &config, options).expect("the run completes")
        });
        assert_eq!(outcome.report().outcome, Outcome::Cancelled);
        assert_eq!(processes_in(&rows.root.path().canonicalize().expect("exists")), Vec::<String>::new());
    }
}
