//! Long queries, damaged access histories, indexes of other users, and searches outside of a project.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::process::Outcome;
use crate::sandbox::{Sandbox, Start};
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

const ASK: &[&str] = &["mem", "search", "parse_token", "--format", "json"];

/// Returns a function that creates the command of a search with `text` on standard input.
fn search_with_input(arguments: &'static [&'static str], text: String) -> impl Fn(&Sandbox) -> Command {
    move |sandbox| {
        let file = sandbox.path("../home/query");
        fs::write(&file, &text).expect("the file can be written");
        let mut command = sandbox.aur(arguments);
        command.stdin(File::open(file).expect("the file can be opened"));
        command
    }
}

fn refused(_: &Sandbox, outcomes: &[Outcome]) -> Result<(), String> {
    let outcome = &outcomes[0];
    let says = ["long", "most", "limit", "bytes", "KiB"].iter().any(|word| outcome.err.contains(word));
    ensure(outcome.code == Some(2) && says, "exit code 2, and a message that names the limit")
}

/// Expects that one of several queries is answered with an error.
fn answered_with_an_error(_: &Sandbox, outcomes: &[Outcome]) -> Result<(), String> {
    let outcome = &outcomes[0];
    let has_error = outcome.out.contains("\"error\":\"the query is longer than 16384 bytes");
    ensure(outcome.code == Some(0) && has_error, "the answer is an object with an error")
}

#[test]
fn the_length_of_a_query_is_limited() {
    const STDIN: &[&str] = &["mem", "search", "--stdin", "--format", "jsonl"];
    let words = |bytes: usize| (0..bytes / 8).map(|n| format!("w{:06x} ", n % 0xff_ffff)).collect::<String>();
    let arguments = |bytes: usize| {
        move |sandbox: &Sandbox| {
            let query: Vec<String> = words(bytes).split(' ').map(str::to_owned).collect();
            let mut all = vec!["mem".to_owned(), "search".to_owned()];
            // A single argument can have at most 128 KiB.
            all.extend(query.chunks(8_000).map(|part| part.join(" ")));
            sandbox.aur(&all)
        }
    };
    assert_withstands([
        Attack::on_indexed("a query of 192 KB", |_| {})
            .run_with(search_with_input(STDIN, words(192_000)))
            .expect(answered_with_an_error),
        Attack::on_indexed("a query of 1 MB", |_| {})
            .run_with(search_with_input(STDIN, words(1_000_000)))
            .expect(answered_with_an_error),
        Attack::on_indexed("a query of 1 MB without a space", |_| {})
            .run_with(search_with_input(STDIN, "a".repeat(1_000_000)))
            .expect(answered_with_an_error),
        Attack::on_indexed("a query of 64 MB without an end", |_| {})
            .run_with(search_with_input(STDIN, "a".repeat(64_000_000)))
            .expect(answered_with_an_error),
        Attack::on_indexed("a query of 192 KB as arguments", |_| {}).run_with(arguments(192_000)).expect(refused),
        Attack::on_indexed("a query of 1 MB as arguments", |_| {}).run_with(arguments(1_000_000)).expect(refused),
        Attack::on_indexed("standard input without end", |_| {}).run_with(|sandbox| {
            let mut command = sandbox.aur(STDIN);
            command.stdin(File::open("/dev/zero").expect("/dev/zero can be opened"));
            command
        }),
        Attack::on_indexed("a pattern of 100 KB", |_| {})
            .run_with(|sandbox| sandbox.aur(&["mem", "search", "--grep", &"(a|b)*".repeat(16_000)])),
        Attack::on_indexed("a pattern that counts", |_| {}).run(&[
            "mem",
            "search",
            "--grep",
            "((a{1,1000}){1,1000}){1,1000}",
        ]),
        Attack::on_indexed("a pattern that nests", |_| {}).run_with(|sandbox| {
            sandbox.aur(&["mem", "search", "--grep", &format!("{}a{}", "(".repeat(20_000), ")".repeat(20_000))])
        }),
        Attack::on_indexed("a pattern of classes", |_| {}).run(&[
            "mem",
            "search",
            "--grep",
            "\\pL{500}\\pL{500}\\pL{500}",
        ]),
        Attack::on_indexed("a glob that nests", |_| {}).run_with(|sandbox| {
            sandbox.aur(&["mem", "search", "x", "--path", &format!("{}a{}", "{".repeat(10_000), "}".repeat(10_000))])
        }),
        Attack::on_indexed("a glob of alternatives", |_| {})
            .run_with(|sandbox| sandbox.aur(&["mem", "search", "x", "--path", &"{a,b}".repeat(2_000)])),
    ]);
}

#[test]
fn a_damaged_access_history_is_reported() {
    type Damage = (&'static str, fn(Vec<u8>) -> Vec<u8>);
    const DAMAGES: &[Damage] = &[
        ("garbage", |log| vec![0xa5; log.len()]),
        ("cut in half", |log| log[..log.len() / 2].to_vec()),
        ("pages of garbage", |mut log| {
            log[8192..].fill(0xa5);
            log
        }),
    ];
    assert_withstands(DAMAGES.iter().map(|(what, damage)| {
        Attack::on_indexed(format!("records of use: {what}"), move |sandbox| {
            let used = sandbox.run(&mut sandbox.aur(&["mem", "feedback", "good", "src/token.py:1"]));
            assert_eq!(used.code, Some(0), "{}", used.summary());
            let log = fs::read(sandbox.path(".aurora/access/data.mdb")).expect("the file can be read");
            sandbox.write(".aurora/access/data.mdb", damage(log));
        })
        .run(ASK)
        .expect(|_, outcomes| {
            let [search] = outcomes else { return Err("expected: one run".to_owned()) };
            ensure(search.code == Some(0) && search.out.contains("src/token.py"), "the search answers")?;
            let said = format!("{}{}", search.err, search.json()["notes"]);
            ensure(said.contains("access") || said.contains("use"), "a note reports that the access history is ignored")
        })
    }));
}

#[test]
fn other_users_can_search_a_readable_index() {
    let shared = |sandbox: &Sandbox| {
        let run = sandbox.run(&mut sandbox.aur_after("umask 022", INDEX));
        assert_eq!(run.code, Some(0), "{}", run.summary());
    };
    let made_private = |sandbox: &Sandbox| {
        sandbox.mode(".aurora/index/data.mdb", 0o600);
    };
    let nobody = |sandbox: &Sandbox| {
        let mut command = sandbox.aur(&["mem", "search", "parse_token", "--format", "json"]);
        let elsewhere = sandbox.path("../elsewhere");
        command.env("HOME", &elsewhere).env("AURORA_HOME", &elsewhere).env("AURORA_TRUST_INDEX", "1");
        // If the tests run as the superuser, the search must run as another user.
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            std::os::unix::process::CommandExt::uid(&mut command, 65_534);
        }
        command
    };
    assert_withstands([
        Attack::on_fresh("an index that another user has made", shared).run_with(nobody).expect(|sandbox, outcomes| {
            let data = fs::metadata(sandbox.path(".aurora/index/data.mdb")).expect("the metadata can be read");
            ensure(data.permissions().mode() & 0o044 == 0o044, "the mode follows the umask")?;
            ensure(outcomes[0].code == Some(0) && outcomes[0].out.contains("src/token.py"), "the search answers")
        }),
        Attack::on_fresh("an index that may not be read", move |sandbox| {
            shared(sandbox);
            made_private(sandbox);
        })
        .run_with(nobody)
        .expect(|_, outcomes| {
            let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
            ensure(!is_root || outcomes[0].code == Some(2), "exit code 2")?;
            ensure(!outcomes[0].err.contains("writ"), "the message is about reading")
        }),
    ]);
}

#[test]
fn an_export_to_standard_output_needs_no_temporary_directory() {
    assert_withstands([Attack::on_indexed("export - without TMPDIR", |_| {})
        .run_with(|sandbox| {
            let mut command = sandbox.aur(&["mem", "export", "-"]);
            command.env("TMPDIR", "/nonexistent");
            command
        })
        .expect(|_, outcomes| {
            ensure(outcomes[0].code == Some(0) && outcomes[0].out.starts_with("AURMEM"), "the artefact is written")
        })]);
}

/// Creates an attack that searches outside of a project without a terminal. The search must fail and index nothing.
fn outside(name: &str, build: impl Fn(&Sandbox) + 'static, prepare: impl Fn(&Sandbox) -> Command + 'static) -> Attack {
    Attack::on_fresh(name, build).run_with(prepare).expect(|sandbox, outcomes| {
        let [search] = outcomes else { return Err("expected: one run".to_owned()) };
        ensure(search.code == Some(2) && search.out.is_empty(), "exit code 2 without results")?;
        ensure(search.err.contains("aur mem index"), "the message says how to index the directory anyway")?;
        let made = [".aurora", "one/.aurora", "../home/.aurora/index", "../home/.aurora/index/data.mdb"];
        ensure(!made.iter().any(|path| sandbox.path(path).exists()), "nothing is indexed")
    })
}

#[test]
fn a_search_outside_a_project_indexes_nothing() {
    let projects = |sandbox: &Sandbox| {
        for name in ["one", "two", "three"] {
            sandbox.write(format!("{name}/a.py"), "def f(): pass\n");
            sandbox.git(&["init", "--quiet", name]);
        }
        sandbox.remove(".git");
    };
    let plain = |sandbox: &Sandbox| {
        sandbox.remove(".git");
    };
    let at_home = |sandbox: &Sandbox| {
        let mut command = sandbox.aur(SEARCH);
        command.env("HOME", sandbox.path("")).env("AURORA_HOME", sandbox.home(".aurora"));
        command
    };
    let below_home = move |sandbox: &Sandbox| {
        let mut command = at_home(sandbox);
        command.current_dir(sandbox.path("src"));
        command
    };
    assert_withstands([
        outside("a directory of projects", projects, |sandbox| sandbox.aur(SEARCH)),
        outside("a directory without a sign of a project", plain, |sandbox| sandbox.aur(SEARCH)),
        outside("a home directory", plain, at_home),
        outside("a directory below the home", plain, below_home),
        outside("a home directory that is asked by its path", plain, |sandbox| {
            let mut command = sandbox.aur(&["mem", "search", "x", "--root", "."]);
            command.env("HOME", sandbox.path(""));
            command
        }),
        outside("a home directory under git", |_| {}, at_home),
        outside("several queries in no project", plain, |sandbox| {
            let mut command = sandbox.aur(&["mem", "search", "--stdin", "--format", "jsonl"]);
            fs::write(sandbox.home("query"), "one\ntwo\n").expect("the file can be written");
            command.stdin(File::open(sandbox.home("query")).expect("the file can be opened"));
            command
        }),
    ]);
}

/// The root of the file system is mounted read-only.
#[test]
#[cfg(target_os = "linux")]
fn a_search_in_the_root_of_the_file_system_indexes_nothing() {
    let sandbox = Sandbox::new(Start::default());
    let script = "mount --make-rprivate / && mount -o remount,bind,ro / && cd / && exec \"$0\" mem search x";
    let mut shell = Command::new("unshare");
    crate::fixture::hermetic(&mut shell, &sandbox.home(""));
    shell.args(["--mount", "sh", "-c", script]).arg(crate::fixture::program());
    let outcome = sandbox.run(&mut shell);
    if outcome.err.contains("unshare:") || outcome.err.contains("mount:") {
        return eprintln!("skipped: no right to mount: {}", outcome.err);
    }
    assert!(outcome.code == Some(2) && outcome.err.contains("aur mem index"), "{}", outcome.summary());
}

/// Runs a search on a terminal on which `answer` is typed. Returns the exit code and the text on the terminal.
#[cfg(target_os = "linux")]
fn asked_at_a_terminal(sandbox: &Sandbox, answer: &str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal can be opened");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("the pseudo-terminal can be unlocked");
    let name = ptsname(&terminal, Vec::new()).expect("the pseudo-terminal has a name");
    let other_end = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().expect("the path is UTF-8"))
        .expect("the other end can be opened");
    let mut search = sandbox.aur(&["mem", "search", "parse_token"]);
    search
        .stdin(other_end.try_clone().expect("the terminal can be duplicated"))
        .stderr(other_end)
        .stdout(Stdio::null())
        .env("TERM", "xterm");
    let mut child = search.spawn().expect("the program starts");
    drop(search);
    let mut terminal = File::from(terminal);
    terminal.write_all(answer.as_bytes()).expect("an answer can be typed");
    let mut shown = Vec::new();
    // Reading fails when the other end of the terminal is closed.
    let _ = terminal.read_to_end(&mut shown);
    (child.wait().expect("the program ends").code(), String::from_utf8_lossy(&shown).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_search_outside_a_project_asks_on_a_terminal() {
    const END_OF_INPUT: &str = "\u{4}";
    for (answer, is_yes) in
        [("y\n", true), ("YES\n", true), ("n\n", false), ("\n", false), ("yes please\n", false), (END_OF_INPUT, false)]
    {
        let sandbox = Sandbox::new(Start::default());
        sandbox.remove(".git");
        let (code, shown) = asked_at_a_terminal(&sandbox, answer);
        assert!(shown.contains("is not a project. Index it (2 entries)? [y/N]"), "{answer:?}: {shown}");
        assert_eq!(code, Some(if is_yes { 0 } else { 2 }), "{answer:?}: {shown}");
        assert_eq!(sandbox.path(".aurora/index/data.mdb").exists(), is_yes, "{answer:?}: {shown}");
        assert_eq!(shown.contains("was not indexed"), !is_yes, "{answer:?}: {shown}");
    }
}
