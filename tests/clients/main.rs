//! Third-party clients use the servers: the MCP SDKs for Python and TypeScript, the MCP Inspector, and a client that
//! was generated from the OpenAPI document.
//!
//! The clients need packages from the Python and Node registries. `tests/clients/install` installs them into a
//! directory, and the variable `AURORA_TEST_CLIENTS` names this directory. Without the variable, the tests do nothing.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fixture::{CACHE, Fixture};

/// Returns the directory of the installed packages, or `None` if clients are not tested.
fn packages() -> Option<PathBuf> {
    let directory = std::env::var_os("AURORA_TEST_CLIENTS").filter(|directory| !directory.is_empty());
    if directory.is_none() {
        eprintln!("AURORA_TEST_CLIENTS is not set: third-party clients were not tested");
    }
    directory.map(PathBuf::from)
}

fn project() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n").write("src/cache.py", CACHE).commit("first");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}

/// Returns the path of a script in this directory.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Runs a client, asserts that it succeeds, and returns its output.
fn run_client(command: &mut Command) -> String {
    let output = command.output().expect("the client starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

/// A running `aur serve` in a fixture.
struct Server {
    child: Child,
    address: String,
}

/// The token of servers that have one.
const TOKEN: &str = "token-of-the-owner";

impl Server {
    fn start(fixture: &Fixture) -> Self {
        Self::start_with(fixture, &[])
    }

    /// Starts a server with a token.
    fn start_with_token(fixture: &Fixture) -> Self {
        fixture.write_for_user("token", TOKEN);
        let file = fixture.user_directory().join("token").display().to_string();
        Self::start_with(fixture, &["--token-file", &file])
    }

    fn start_with(fixture: &Fixture, arguments: &[&str]) -> Self {
        let mut child = fixture
            .command()
            .arg("serve")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("the stream is piped"))
            .read_line(&mut line)
            .expect("a line can be read");
        let address = line.trim().strip_prefix("Listening on ").expect("the program prints its address").to_owned();
        Self { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a command that runs a client in a fixture, with the same environment as the program.
fn client(fixture: &Fixture, program: &Path) -> Command {
    let mut command = fixture.command();
    let mut client = Command::new(program);
    for (name, value) in command.current_dir(fixture.root()).get_envs() {
        match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    client.current_dir(fixture.root());
    client
}

#[test]
fn the_python_sdk_uses_every_tool() {
    let Some(packages) = packages() else { return };
    let (fixture, python) = (project(), packages.join("python/bin/python"));
    run_client(client(&fixture, &python).arg(script("sdk.py")).arg("stdio").arg(fixture::program()));
    let server = Server::start(&fixture);
    run_client(client(&fixture, &python).arg(script("sdk.py")).arg("http").arg(format!("{}/mcp", server.address)));
    let server = Server::start_with_token(&fixture);
    let mut with_token = client(&fixture, &python);
    with_token.arg(script("sdk.py")).arg("http").arg(format!("{}/mcp", server.address)).arg(TOKEN);
    run_client(&mut with_token);
}

#[test]
fn the_typescript_sdk_uses_every_tool() {
    let Some(packages) = packages() else { return };
    let fixture = project();
    let mut node = client(&fixture, Path::new("node"));
    run_client(node.arg(script("sdk.mjs")).arg(packages.join("node")).arg("stdio").arg(fixture::program()));
    let server = Server::start(&fixture);
    let mut node = client(&fixture, Path::new("node"));
    run_client(
        node.arg(script("sdk.mjs")).arg(packages.join("node")).arg("http").arg(format!("{}/mcp", server.address)),
    );
    let server = Server::start_with_token(&fixture);
    let mut node = client(&fixture, Path::new("node"));
    node.arg(script("sdk.mjs")).arg(packages.join("node")).arg("http").arg(format!("{}/mcp", server.address));
    run_client(node.arg(TOKEN));
}

#[test]
fn the_inspector_uses_every_tool() {
    let Some(packages) = packages() else { return };
    let fixture = project();
    let calls: [(&str, &[&str], &str); 9] = [
        ("search", &["query=remove the oldest page"], "evict_oldest"),
        ("read", &["place=src/cache.py:12-14"], "def drop_page"),
        ("grep", &["pattern=def .*page"], "src/cache.py:12"),
        ("graph", &["name=drop_page", "relation=callers"], "evict_oldest"),
        ("history", &["place=src/cache.py"], "lines by author"),
        ("status", &[], "1 files"),
        ("remember", &["kind=note", "content=Zebras sleep on Fridays"], "stored"),
        ("recall", &["query=when do zebras sleep", "session=s1"], "Fridays"),
        ("outcome", &["session=s1", "result=success"], "Recorded."),
    ];
    let inspect = |arguments: &[&str]| {
        let mut inspector = client(&fixture, &packages.join("node/node_modules/.bin/mcp-inspector"));
        run_client(inspector.arg("--cli").arg(fixture::program()).arg("mcp").args(arguments))
    };
    let listed = inspect(&["--method", "tools/list"]);
    for (tool, arguments, expected) in calls {
        assert!(listed.contains(&format!("\"name\": \"{tool}\"")), "{listed}");
        let mut whole = vec!["--method", "tools/call", "--tool-name", tool];
        arguments.iter().for_each(|argument| whole.extend(["--tool-arg", argument]));
        let answer = inspect(&whole);
        assert!(answer.contains(expected) && answer.contains("\"isError\": false"), "{tool}: {answer}");
    }
}

#[test]
fn a_generated_client_calls_every_endpoint() {
    let Some(packages) = packages() else { return };
    let (fixture, python) = (project(), packages.join("python/bin/python"));
    let server = Server::start_with_token(&fixture);
    let work = tempfile::tempdir().expect("a temporary directory can be created");
    run_client(client(&fixture, &python).arg(script("generated.py")).arg(&server.address).arg(work.path()).arg(TOKEN));
}
