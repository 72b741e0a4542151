//! Remotes in Garage, an S3 server. The tests run only if `AURORA_TEST_GARAGE` names its program.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::fixture::{Fixture, Run};
use crate::{clone_with_url, digest, module, repository, run_ok};

const URL: &str = "s3://aurora/team/app";
const KEY_ID: &str = "GK31c2f218a2e44f485b94239e";
const SECRET: &str = "b892c0665f0ada8a4755dae98baa3b133590e11dae3bcc1f9d769d67f16c3835";
/// Time after which a test stops waiting for the server and fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with one node and the bucket `aurora`, which ends with the test.
struct Garage {
    child: Child,
    endpoint: String,
    _directory: TempDir,
}

impl Garage {
    /// Starts the server; `None` if the tests should not use it.
    fn start() -> Option<Self> {
        let program = std::env::var_os("AURORA_TEST_GARAGE")?;
        let directory = TempDir::new().expect("a directory can be created");
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
        let [s3, rpc, admin] = listeners.map(|listener| listener.local_addr().expect("the listener has an address"));
        let at = directory.path().display();
        let config = format!(
            "metadata_dir = '{at}/meta'\ndata_dir = '{at}/data'\nreplication_factor = 1\nrpc_bind_addr = '{rpc}'\n\
             rpc_secret = '{}'\n[s3_api]\ns3_region = 'garage'\napi_bind_addr = '{s3}'\n[admin]\napi_bind_addr = '{admin}'\n",
            "17".repeat(32)
        );
        let file = directory.path().join("garage.toml");
        fs::write(&file, config).expect("the file can be written");
        let child = Command::new(program)
            .arg("--config")
            .arg(&file)
            .args(["server", "--single-node", "--default-bucket"])
            .envs([("GARAGE_DEFAULT_ACCESS_KEY", KEY_ID), ("GARAGE_DEFAULT_SECRET_KEY", SECRET)])
            .env("GARAGE_DEFAULT_BUCKET", "aurora")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let server = Self { child, endpoint: format!("http://{s3}"), _directory: directory };
        let begun = Instant::now();
        while TcpStream::connect(s3).is_err() {
            assert!(begun.elapsed() < PATIENCE, "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    fn command(&self, fixture: &Fixture, arguments: &[&str]) -> Command {
        let mut command = fixture.command();
        command.args(arguments).envs([
            ("AWS_ENDPOINT", self.endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "garage"),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ]);
        command
    }

    fn aur(&self, fixture: &Fixture, arguments: &[&str]) -> Run {
        let run = Run::from_command(&mut self.command(fixture, arguments));
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        assert!(!run.out.contains(SECRET) && !run.err.contains(SECRET), "{run:?}");
        run
    }
}

impl Drop for Garage {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn indexes_are_shared_through_garage() {
    let Some(server) = Garage::start() else { return };
    let origin = repository();
    run_ok(&origin, &["remote", "add", "nightly", URL, "--user"]);
    run_ok(&origin, &["mem", "index", "-q"]);
    let first = server.aur(&origin, &["remote", "push", "nightly", "--format", "json"]).json();
    assert_eq!(first["manifest"]["sequence"], 1, "{first}");
    let again = server.aur(&origin, &["remote", "push", "nightly", "--format", "json"]).json();
    assert_eq!((&again["written"], again["uploaded_parts"].as_u64()), (&false.into(), Some(0)), "{again}");

    // Several machines push different indexes at the same time, three times.
    let machines: Vec<Fixture> = (0..4).map(|_| clone_with_url(&origin, URL)).collect();
    for round in 0..3 {
        for (number, machine) in machines.iter().enumerate() {
            machine.write("own.py", module(1000 + number, &format!("round{round}"))).commit("own");
            run_ok(machine, &["mem", "index", "-q"]);
        }
        let start = |machine| {
            let mut push = server.command(machine, &["remote", "push", "nightly", "--quiet"]);
            push.stderr(Stdio::piped()).spawn().expect("the program starts")
        };
        let pushes: Vec<Child> = machines.iter().map(start).collect();
        for push in pushes {
            let output = push.wait_with_output().expect("the program ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let list = server.aur(&origin, &["remote", "list", "nightly", "--format", "json"]).json();
    let manifests = list.as_array().expect("the report is a list");
    let sequences: Vec<Option<u64>> = manifests.iter().map(|manifest| manifest["sequence"].as_u64()).collect();
    assert_eq!(sequences, (1..=13).rev().map(Some).collect::<Vec<_>>());
    let mut commits: Vec<&str> = manifests.iter().filter_map(|manifest| manifest["commit"].as_str()).collect();
    commits.sort_unstable();
    commits.dedup();
    assert_eq!(commits.len(), 13, "no manifest was overwritten: {commits:?}");

    let pruned = server.aur(&origin, &["remote", "prune", "nightly", "--keep", "1"]).out;
    assert!(pruned.starts_with("Deleted 0 manifests and 0 parts"), "everything is new: {pruned}");
    let verified = server.aur(&origin, &["remote", "verify", "nightly", "--read-data", "--allow-unsigned"]).out;
    assert!(verified.ends_with("No problems found\n"), "{verified}");

    let clone = clone_with_url(&machines[2], URL);
    server.aur(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--quiet"]);
    assert_eq!(digest(&clone), digest(&machines[2]));
    server.aur(&origin, &["remote", "pull", "nightly", "--allow-unsigned", "--force", "--no-update"]);
}

#[test]
fn garage_refuses_wrong_credentials_and_the_message_does_not_repeat_them() {
    let Some(server) = Garage::start() else { return };
    let fixture = Fixture::git();
    run_ok(&fixture, &["remote", "add", "nightly", URL, "--user"]);
    for (name, value) in [("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_ACCESS_KEY_ID", "hunter2")] {
        let run = Run::from_command(server.command(&fixture, &["remote", "list", "nightly"]).env(name, value));
        assert_eq!(run.code, Some(2), "{run:?}");
        let message = "Error: cannot read format: the store has refused access (AccessDenied)\n  Help: set AWS_";
        assert!(run.err.starts_with(message), "{run:?}");
        assert!(!run.err.contains("hunter2") && !run.err.contains(SECRET), "{run:?}");
    }
}
