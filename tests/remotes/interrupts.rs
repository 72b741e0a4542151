//! Transfers on a terminal: their progress, and Ctrl-C while the store does not answer.

use std::process::Command;

use crate::fixture::{Fixture, Run};
use crate::s3_server::S3Server;
use crate::tty::Tty;
use crate::{clone_with_url, digest, repository, run_ok};

const URL: &str = "s3://bucket/app";
const PULL: [&str; 5] = ["remote", "pull", "nightly", "--allow-unsigned", "--no-update"];

fn command(fixture: &Fixture, server: &S3Server, arguments: &[&str]) -> Command {
    let mut command = fixture.command();
    command.args(arguments).envs(server.environment());
    command
}

fn transfer(fixture: &Fixture, server: &S3Server, arguments: &[&str]) -> serde_json::Value {
    let run = Run::from_command(command(fixture, server, arguments).args(["--format", "json"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.err.contains("Pushing") && !run.err.contains("Pulling"), "no progress without a terminal: {run:?}");
    run.json()
}

/// Returns the number of files in the cache of downloaded parts.
fn cached(fixture: &Fixture) -> u64 {
    std::fs::read_dir(fixture.path(".aurora/parts")).map_or(0, |entries| entries.count() as u64)
}

fn stored(server: &S3Server, text: &str) -> u64 {
    server.objects().keys().filter(|key| key.contains(text)).count() as u64
}

#[test]
fn ctrl_c_stops_a_transfer_and_the_next_one_continues() {
    let (origin, server) = (repository(), S3Server::start(true));
    run_ok(&origin, &["remote", "add", "nightly", URL, "--user"]);
    run_ok(&origin, &["mem", "index", "-q"]);

    server.answer_parts(3);
    let push = Tty::start(command(&origin, &server, &["remote", "push", "nightly"]), 100, 24);
    push.shows("Pushing").until("three parts", |_| stored(&server, "/parts/") == 3).types("\u{3}");
    let (code, screen) = push.wait_for_exit();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("uploaded parts stay") && screen.contains("Interrupted"), "{screen}");
    assert_eq!((stored(&server, "/locks/"), stored(&server, "/manifests/")), (0, 0));
    server.answer_parts(i64::MAX);
    let pushed = transfer(&origin, &server, &["remote", "push", "nightly"]);
    assert_eq!(pushed["uploaded_parts"].as_u64(), Some(stored(&server, "/parts/") - 3), "{pushed}");

    let clone = clone_with_url(&origin, URL);
    // The first two requests read the list.
    server.answer_parts(4);
    let pull = Tty::start(command(&clone, &server, &PULL), 100, 24);
    pull.shows("Pulling").until("the list and two parts", |_| cached(&clone) == 4).shows("iB of ").types("\u{3}");
    let (code, screen) = pull.wait_for_exit();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("downloaded parts are kept") && screen.contains("Interrupted"), "{screen}");
    assert!(!clone.path(".aurora/index/data.mdb").exists());
    server.answer_parts(i64::MAX);
    let pulled = transfer(&clone, &server, &PULL);
    let missing = stored(&server, "/parts/") - 4;
    assert_eq!(pulled["transfer"]["downloaded_parts"].as_u64(), Some(missing), "{pulled}");
    assert_eq!(digest(&clone), digest(&origin));

    let quiet = Tty::start(command(&clone, &server, &[&PULL[..], &["--force", "--quiet"]].concat()), 100, 24);
    let (code, screen) = quiet.wait_for_exit();
    assert_eq!((code, screen.trim()), (0, ""));
}
