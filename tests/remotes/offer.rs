//! A search in a clone without an index: the remotes that the project names, and those that the user trusts.

use std::process::Command;

use crate::fixture::{Fixture, Run};
use crate::s3_server::S3Server;
use crate::{digest, repository, run_ok};

const URL: &str = "s3://bucket/team/app";
const SEARCH: [&str; 6] = ["mem", "search", "first_3_3", "--format", "json", "--no-record"];

/// A server with a signed index of a repository.
struct Shared {
    origin: Fixture,
    server: S3Server,
    key: String,
}

impl Shared {
    fn new() -> Self {
        let (origin, server) = (repository(), S3Server::start(true));
        run_ok(&origin, &["remote", "add", "nightly", URL, "--user"]);
        let file = origin.home().join("ci.key").display().to_string();
        let key = run_ok(&origin, &["remote", "keygen", &file, "--format", "json"]).json();
        let key = key["public_key"].as_str().expect("there is a public key").to_owned();
        run_ok(&origin, &["mem", "index", "-q"]);
        let mut push = origin.command();
        push.args(["remote", "push", "nightly"]).envs(server.environment()).env("AURORA_SIGNING_KEY", file);
        let pushed = Run::from_command(&mut push);
        assert_eq!(pushed.code, Some(0), "{pushed:?}");
        Self { origin, server, key }
    }

    /// Returns a clone whose project names the remote. `remotes` is the table `remotes` of its user.
    fn clone_with(&self, remotes: &str) -> Fixture {
        let clone = Fixture::git();
        clone.run_git(&["pull", "--quiet", self.origin.root().to_str().expect("the path is UTF-8"), "HEAD"]);
        clone.write(".aurora/config.toml", format!("[remote.nightly]\nurl = \"{URL}\"\n"));
        clone.write_for_user("config.toml", format!("[remotes]\n{}\n", remotes.replace("KEY", &self.key)));
        clone
    }

    fn search(&self, clone: &Fixture) -> Command {
        let mut command = clone.command();
        command.args(SEARCH).envs(self.server.environment());
        command
    }

    /// Searches without a terminal. Asserts that the search finds a function. Returns its messages, and whether it has
    /// connected to the server.
    fn searched(&self, clone: &Fixture) -> (String, bool) {
        let before = self.server.connections();
        let run = Run::from_command(&mut self.search(clone));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.json()["results"][0]["name"], "first_3_3", "{run:?}");
        (run.err, self.server.connections() > before)
    }
}

#[test]
fn a_remote_that_the_user_does_not_trust_is_named_but_not_contacted() {
    let shared = Shared::new();
    for (remotes, expected) in [
        ("pull = \"always\"", "its URL is not trusted"),
        ("pull = \"always\"\ntrusted_keys = [\"KEY\"]", "its URL is not trusted"),
        ("pull = \"always\"\ntrusted_keys = [\"KEY\"]\ntrusted_urls = [\"s3://bucket/tea\"]", "its URL is not trusted"),
        ("pull = \"always\"\ntrusted_urls = [\"s3://bucket/team\"]", "no key is trusted"),
    ] {
        let clone = shared.clone_with(remotes);
        let (messages, is_contacted) = shared.searched(&clone);
        assert!(!is_contacted, "{messages}");
        assert_eq!(messages.matches(expected).count(), 1, "{messages}");
        assert!(messages.contains(URL) && messages.contains("no index yet; indexing"), "{messages}");
        assert!(!shared.searched(&clone).0.contains("nightly"), "the note is printed only without an index");
    }
    let clone = shared.clone_with("pull = \"never\"\ntrusted_keys = [\"KEY\"]\ntrusted_urls = [\"s3://bucket/team\"]");
    let (messages, is_contacted) = shared.searched(&clone);
    assert!(!is_contacted && !messages.contains("nightly"), "{messages}");
}

#[test]
fn a_trusted_remote_is_mentioned_without_a_terminal_and_pulled_if_the_user_wants_that_always() {
    let shared = Shared::new();
    let trusting = "trusted_keys = [\"KEY\"]\ntrusted_urls = [\"s3://bucket/team\"]";
    let clone = shared.clone_with(trusting);
    let (messages, is_contacted) = shared.searched(&clone);
    assert!(!is_contacted && messages.matches("`aur remote pull nightly`").count() == 1, "{messages}");
    assert!(messages.contains("no index yet; indexing"), "{messages}");

    let clone = shared.clone_with(&format!("{trusting}\npull = \"always\""));
    clone.write("own.py", "def own_function():\n    return 1\n");
    let (messages, is_contacted) = shared.searched(&clone);
    assert!(is_contacted && messages.contains("pulled the index of 2"), "{messages}");
    assert!(!messages.contains("no index yet"), "{messages}");
    let own = run_ok(&clone, &["mem", "search", "own_function", "--format", "json", "--no-refresh"]).json();
    assert_eq!(own["results"][0]["file"], "own.py", "the pulled index is updated: {own}");
    clone.remove("own.py");
    run_ok(&clone, &["mem", "index", "-q"]);
    assert_eq!(digest(&clone), digest(&shared.origin));

    // The objects are gone or of another key: the index is built, with one warning.
    let other = shared.clone_with(
        "pull = \"always\"\ntrusted_keys = [\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\"]\n\
         trusted_urls = [\"s3://bucket/team\"]",
    );
    let empty = shared.clone_with(&format!("{trusting}\npull = \"always\""));
    for (clone, reason) in [(other, "is not trusted"), (empty, "there is no remote at")] {
        if reason.contains("no remote") {
            shared.server.objects().clear();
        }
        let (messages, is_contacted) = shared.searched(&clone);
        assert!(is_contacted && messages.contains(reason), "{messages}");
        assert_eq!(messages.matches("Warning: ").count(), 1, "{messages}");
        assert!(messages.contains("no index yet; indexing"), "{messages}");
    }
}

#[cfg(unix)]
#[test]
fn a_search_on_a_terminal_asks_before_it_pulls() {
    use crate::tty::Tty;

    let shared = Shared::new();
    for (answer, is_pulled) in [("\r", true), ("y\r", true), ("n\r", false), ("\u{4}", false)] {
        let clone = shared.clone_with("trusted_keys = [\"KEY\"]\ntrusted_urls = [\"s3://bucket\"]");
        let before = shared.server.connections();
        let search = Tty::start(shared.search(&clone), 120, 2000);
        search.shows("Pull the index of ").shows(" from s3://bucket/team/app? [Y/n]");
        assert_eq!(shared.server.connections(), before, "nothing is contacted before the answer");
        search.types(answer);
        let (code, screen) = search.wait_for_exit();
        assert_eq!(code, 0, "{screen}");
        assert_eq!(screen.contains("pulled the index of"), is_pulled, "{screen}");
        assert_eq!(screen.contains("no index yet"), !is_pulled, "{screen}");
        assert!(screen.contains("first_3_3"), "{screen}");
    }
}
