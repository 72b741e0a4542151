//! Runs the browser tests in `browser/specs` in Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::client::Server;
use crate::repository;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Tools that the browser tests need.
struct Tools {
    directory: PathBuf,
    chromium: PathBuf,
}

/// Finds the tools, or returns a message about a missing tool.
fn tools() -> Result<Tools, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/browser");
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|output| output.status.success()) {
        return Err("there is no `node`".to_owned());
    }
    if !directory.join("node_modules/@playwright/test/cli.js").is_file() {
        return Err(format!("`npm ci` was not run in {}", directory.display()));
    }
    let named = std::env::var_os("AURORA_TEST_CHROMIUM").map(PathBuf::from);
    let chromium = named.unwrap_or_else(|| "/usr/bin/chromium".into());
    if !chromium.is_file() {
        return Err(format!("there is no {}", chromium.display()));
    }
    Ok(Tools { directory, chromium })
}

#[test]
fn people_can_use_the_page() {
    let Tools { directory, chromium } = match tools() {
        Ok(tools) => tools,
        Err(missing) if std::env::var("AURORA_TEST_BROWSER").is_ok_and(|value| value == "1") => panic!("{missing}"),
        Err(missing) => {
            eprintln!("The page was not tested in a browser: {missing}.");
            return;
        }
    };
    let fixture = repository::indexed();
    let other = repository::other(Some(&fixture));
    fixture.write_for_user("token", TOKEN);
    let token = fixture.user_directory().join("token");
    let roots =
        [fixture.root().to_str().expect("the path is UTF-8"), other.root().to_str().expect("the path is UTF-8")];
    // These servers do not update the index, so that one file stays newer than the index.
    let open = Server::start(&fixture, &["--read-only", "--root", roots[0], "--root", roots[1]]);
    let closed = Server::start(&fixture, &["--read-only", "--token-file", token.to_str().expect("the path is UTF-8")]);
    let growing = repository::growing();
    let writing = Server::start(&growing, &[]);
    let edited = repository::edited();
    let keeping = Server::start(&edited, &[]);
    let following = Server::start(&edited, &["--read-only"]);
    let output = TempDir::new().expect("a temporary directory can be created");
    let only = std::env::var("AURORA_TEST_ONLY").unwrap_or_default();
    let run = Command::new("node")
        .args(["node_modules/@playwright/test/cli.js", "test", "--grep", &only])
        .current_dir(directory)
        .env("AURORA_PAGE", format!("http://{}", open.address))
        .env("AURORA_PAGE_WITH_TOKEN", format!("http://{}", closed.address))
        .env("AURORA_PAGE_TOKEN", TOKEN)
        .env("AURORA_PAGE_THAT_WRITES", format!("http://{}", writing.address))
        .env("AURORA_PAGE_OF_EDITED", format!("http://{}", keeping.address))
        .env("AURORA_PAGE_THAT_FOLLOWS", format!("http://{}", following.address))
        .env("AURORA_EDITED_ROOT", edited.root())
        .env("AURORA_PAGE_OUTPUT", output.path())
        .env("AURORA_PAGE_CHROMIUM", chromium)
        .output()
        .expect("node runs");
    let output_text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{output_text}\n{}", String::from_utf8_lossy(&run.stderr));
}
