//! Hostile or broken environments: variables, arguments, streams, and system limits.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::sandbox::Sandbox;
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

const ASK: &[&str] = &["mem", "search", "parse_token", "--format", "json"];

/// Returns attacks that run the program with an environment variable set to a value, or unset.
fn with_variable(name: &'static str, value: Option<&'static [u8]>) -> Vec<Attack> {
    let commands: [&[&str]; 5] = [INDEX, ASK, &["doctor"], &["model", "list"], &["mem", "export", "-"]];
    let shown =
        value.map_or("unset".to_owned(), |value| String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned());
    commands
        .into_iter()
        .map(|arguments| {
            Attack::on_indexed(format!("{name}={shown}: {}", arguments.join(" ")), |_| {}).run_with(move |sandbox| {
                let mut command = sandbox.aur(arguments);
                match value {
                    Some(value) => command.env(name, OsStr::from_bytes(value)),
                    None => command.env_remove(name),
                };
                command
            })
        })
        .collect()
}

#[test]
fn environment_variables_break_no_command() {
    const LONG: &[u8] = &[b'a'; 100_000];
    const VARIABLES: &[(&str, Option<&[u8]>)] = &[
        ("HOME", None),
        ("HOME", Some(b"")),
        ("HOME", Some(b"/dev/null")),
        ("HOME", Some(b"/nonexistent/home")),
        ("HOME", Some(LONG)),
        ("HOME", Some(b"\xff\xfe")),
        ("AURORA_HOME", None),
        ("AURORA_HOME", Some(b"")),
        ("AURORA_HOME", Some(b"/dev/null")),
        ("AURORA_HOME", Some(b"/proc/self/mem")),
        ("AURORA_HOME", Some(b"/dev/zero")),
        ("AURORA_HOME", Some(b"/nonexistent/home")),
        ("AURORA_HOME", Some(LONG)),
        ("AURORA_HOME", Some(b"\xff\xfe")),
        ("AURORA_TRUST_INDEX", Some(b"\xff")),
        ("AURORA_TRUST_INDEX", Some(b"maybe")),
        ("AURORA_SEARCH_BM25_K1", Some(b"nan")),
        ("AURORA_SEARCH_BM25_K1", Some(b"\xff")),
        ("AURORA_SEARCH_HYBRID_STAGE1_TOP_K", Some(b"18446744073709551616")),
        ("AURORA_SEARCH_HYBRID_STAGE1_TOP_K", Some(LONG)),
        ("AURORA_SEARCH_UNKNOWN", Some(b"\x1b[2J")),
        ("AURORA_DIE_AT_POINT", Some(b"\xff")),
        ("PATH", None),
        ("PATH", Some(b"")),
        ("TMPDIR", None),
        ("TMPDIR", Some(b"")),
        ("TMPDIR", Some(b"/nonexistent")),
        ("TMPDIR", Some(b"/dev/null")),
        ("COLUMNS", Some(b"0")),
        ("COLUMNS", Some(b"1")),
        ("COLUMNS", Some(b"18446744073709551616")),
        ("COLUMNS", Some(b"-1")),
        ("LINES", Some(b"0")),
        ("LANG", Some(b"\xff")),
        ("LC_ALL", Some(b"tr_TR.ISO-8859-9")),
        ("TZ", Some(b"/dev/zero")),
        ("TZ", Some(b":../../../../dev/zero")),
        ("TERM", Some(LONG)),
        ("NO_COLOR", Some(b"\xff")),
        ("CLICOLOR_FORCE", Some(b"1")),
        ("RAYON_NUM_THREADS", Some(b"-1")),
        ("RUST_LOG", Some(b"trace")),
        ("XDG_STATE_HOME", Some(b"/dev/zero")),
    ];
    assert_withstands(VARIABLES.iter().flat_map(|(name, value)| with_variable(name, *value)));
}

#[test]
fn unusable_home_directories_break_no_command() {
    let home = |name: &str, build: fn(&Sandbox)| {
        let runs = [INDEX, ASK, &["mem", "feedback", "good", "src/token.py:1"], &["doctor"], &["model", "list"]];
        runs.into_iter().fold(
            Attack::on_indexed(format!("a home directory that is {name}"), build),
            |attack, arguments| {
                attack.run_with(move |sandbox| {
                    let mut command = sandbox.aur(arguments);
                    command.env("HOME", sandbox.home("other")).env("AURORA_HOME", sandbox.home("other"));
                    command
                })
            },
        )
    };
    const OTHER: &str = "../home/other";
    assert_withstands([
        home("a file", |sandbox| {
            sandbox.write(OTHER, "x");
        }),
        home("a link to nothing outside", |sandbox| {
            sandbox.link(OTHER, sandbox.canary("made"));
        }),
        home("a link to itself", |sandbox| {
            sandbox.link(OTHER, sandbox.path(OTHER));
        }),
        home("a pipe", |sandbox| {
            sandbox.fifo(OTHER);
        }),
        home("a directory with a pipe for a configuration", |sandbox| {
            sandbox.fifo(format!("{OTHER}/config.toml"));
        }),
        home("a directory with zeros for a configuration", |sandbox| {
            sandbox.link(format!("{OTHER}/config.toml"), "/dev/zero");
        }),
        home("a directory with pipes for models", |sandbox| {
            sandbox.fifo(format!("{OTHER}/models/a/aurora-model.json"));
        }),
        home("a directory that cannot be written", |sandbox| {
            sandbox.write(format!("{OTHER}/x"), "").mode(OTHER, 0o555);
        }),
    ]);
}

#[test]
fn arguments_of_arbitrary_bytes_end_in_a_message() {
    const RAW: &[u8] = b"\xff\xfe\x1b[2J";
    let commands: &[&[&str]] = &[
        &["mem", "search"],
        &["mem", "index"],
        &["mem", "blame"],
        &["mem", "import"],
        &["mem", "feedback", "good"],
        &["mem", "search", "x", "--root"],
        &["mem", "search", "x", "--path"],
        &["mem", "search", "x", "--grep"],
        &["mem", "index", "--pipeline"],
        &["pipeline", "check"],
        &["mem", "eval"],
        &["mem", "eval", "--config"],
        &["model", "add"],
        &["completions"],
        &["mem"],
        &[],
    ];
    let mut attacks = Vec::new();
    for arguments in commands {
        for (what, last) in
            [("bytes", RAW.to_vec()), ("100 KB", vec![b'a'; 100_000]), ("a path of zeros", b"/dev/zero".to_vec())]
        {
            let all: Vec<OsString> =
                arguments.iter().map(OsString::from).chain([OsStr::from_bytes(&last).to_owned()]).collect();
            let attack = Attack::on_indexed(format!("{} with {what}", arguments.join(" ")), |_| {});
            attacks.push(attack.run_with(move |sandbox| sandbox.aur(&all)));
        }
    }
    assert_withstands(attacks);
}

#[test]
fn closed_and_endless_streams_are_handled() {
    let shell = |name: &str, script: &'static str| {
        Attack::on_indexed(name, |_| {}).run_with(move |sandbox| {
            let mut shell = sandbox.aur_after(script, &[""; 0]);
            shell.env("AUR", crate::fixture::program());
            shell
        })
    };
    assert_withstands([
        shell("standard output is closed", "\"$AUR\" mem search parse_token >&-; exit 0"),
        shell("standard error is closed", "\"$AUR\" mem index 2>&-; exit $?"),
        shell("all streams are closed", "\"$AUR\" mem index <&- >&- 2>&-; exit $?"),
        shell("an export with all streams closed", "\"$AUR\" mem export - <&- >&- 2>&-; exit 0"),
        shell("the disk of standard output is full", "\"$AUR\" mem search parse_token > /dev/full; test $? -le 2"),
        shell("the disk of an export is full", "\"$AUR\" mem export - > /dev/full; test $? -eq 2"),
        shell("the disk of a help text is full", "\"$AUR\" mem --help > /dev/full; test $? -eq 2"),
        shell("the disk of a list is full", "\"$AUR\" mem list > /dev/full; test $? -eq 2"),
        shell("nobody reads", "\"$AUR\" mem export - | true; exit 0"),
        shell(
            "nobody reads JSON",
            "yes parse_token | head -n 2000 | \"$AUR\" mem search --stdin --format jsonl | head -n 1; exit 0",
        ),
        shell(
            "the directory is gone",
            "mkdir gone && cd gone && rmdir ../gone && \"$AUR\" mem search x; test $? -le 2",
        ),
        shell(
            "index where the directory is gone",
            "mkdir gone && cd gone && rmdir ../gone && \"$AUR\" mem index; test $? -le 2",
        ),
        Attack::on_indexed("an artefact without end on standard input", |_| {}).run_with(|sandbox| {
            let mut command = sandbox.aur(&["mem", "import", "-"]);
            command.stdin(File::open("/dev/zero").expect("/dev/zero can be opened"));
            command
        }),
        Attack::on_indexed("an artefact that begins well and does not end", |_| {}).run_with(|sandbox| {
            let file = sandbox.home("endless");
            fs::write(&file, [b"AURMEM\r\n".as_slice(), &2u32.to_le_bytes(), &u32::MAX.to_le_bytes()].concat())
                .expect("the file can be written");
            File::options()
                .append(true)
                .open(&file)
                .and_then(|file| file.set_len(100 << 30))
                .expect("the sparse file can be created");
            let mut command = sandbox.aur(&["mem", "import", "-"]);
            command.stdin(File::open(file).expect("the file can be opened"));
            command
        }),
    ]);
}

#[test]
fn system_limits_end_in_a_message() {
    let limited = |limit: &'static str, arguments: &'static [&'static str]| {
        Attack::on_indexed(format!("{limit}: {}", arguments.join(" ")), |sandbox| {
            sandbox.write("src/token.py", "def parse_token(text):\n    return text.partition(':')\n");
        })
        .run_with(move |sandbox| {
            let mut command = sandbox.aur_after(limit, arguments);
            sandbox.as_nobody(&mut command);
            command
        })
        .run_with(|sandbox| {
            let mut command = sandbox.aur(INDEX);
            sandbox.as_nobody(&mut command);
            command
        })
        .expect(|_, outcomes| ensure(outcomes[1].code == Some(0), "the next run succeeds"))
    };
    let mut attacks = Vec::new();
    for limit in [
        "ulimit -u 1",
        "ulimit -s 256",
        "ulimit -n 5",
        "ulimit -t 60",
        "ulimit -l 0",
        "ulimit -i 0",
        "umask 777",
        "umask 0",
    ] {
        for arguments in [INDEX, ASK, &["mem", "export", "-"], &["mem", "compact"]] {
            attacks.push(limited(limit, arguments));
        }
    }
    assert_withstands(attacks);
}

/// Limits the address space to several amounts, from 300 MiB to the amount that a run needs. Each thread and each memory
/// map of a store needs address space.
#[test]
fn an_address_space_limit_ends_in_a_message() {
    const REMEMBER: &[&str] = &["mem", "turn", "add", "--session", "s1", "--speaker", "user", "parse_token is slow"];
    const COMMANDS: &[&[&str]] = &[
        INDEX,
        ASK,
        &["mem", "search", "parse_token", "--session", "s1"],
        &["mem", "recall", "parse_token", "--session", "s1"],
        REMEMBER,
    ];
    let limited = |mebibytes: usize| {
        let first = Attack::on_indexed(format!("{mebibytes} MiB of address space"), |_| {}).run(REMEMBER).run(ASK);
        COMMANDS.iter().fold(first, |attack, &arguments| {
            attack.run_with(move |sandbox| {
                let mut command = sandbox.aur_after(&format!("ulimit -v {}", mebibytes << 10), arguments);
                command.env("RAYON_NUM_THREADS", "8");
                command
            })
        })
    };
    // With less than 300 MiB, an unoptimised build cannot be loaded.
    assert_withstands((300..=1_050).step_by(75).map(limited));
}

/// The sandbox is mounted read-only, which also restricts the superuser.
#[test]
fn on_a_read_only_disk_searches_work_and_changes_fail() {
    if !can_mount() {
        return;
    }
    const CHANGES: &[&[&str]] = &[
        INDEX,
        &["mem", "turn", "add", "--session", "s1", "--speaker", "user", "hello"],
        &["mem", "add", "note", "-m", "A second note"],
        &["mem", "feedback", "good", "src/token.py:1"],
        &["mem", "feedback", "--outcome", "success", "--session", "s1"],
        &["mem", "export", "out"],
        &["mem", "compact"],
        &["mem", "eval", "mine"],
        &["logs", "maintain"],
        &["init", "claude-code", "--yes"],
        &["plugin", "new", "stage"],
        &["mem", "trust-index"],
    ];
    const SEARCHES: &[&[&str]] = &[
        ASK,
        &["mem", "search", "parse_token", "--session", "s1"],
        &["mem", "recall", "parse_token", "--session", "s1"],
        &["logs", "search", "retry"],
    ];
    let read_only = |arguments: &'static [&'static str]| {
        move |sandbox: &Sandbox| {
            let mounted = r#"exec unshare -m sh -c 'mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT" && cd "$ROOT/repo" && exec "$@"' sh "$@""#;
            let mut command = sandbox.aur_after(mounted, arguments);
            command.env("ROOT", sandbox.path("..").canonicalize().expect("the path exists"));
            command
        }
    };
    let attack = |arguments: &'static [&'static str], expected: i32| {
        Attack::on_indexed(format!("read-only: {}", arguments.join(" ")), |_| {})
            .run(&["mem", "add", "note", "-m", "A note about parse_token"])
            .run(&["mem", "turn", "add", "--session", "s1", "--speaker", "user", "hello"])
            .run_with(|sandbox| sandbox.aur_after("exec < src/token.py", &["log", "write", "--query", "retry"]))
            .run(&["mem", "search", "parse_token", "--session", "s1"])
            // Now the index of the memory does not contain the newest entries.
            .run(&["mem", "add", "note", "-m", "Another note about parse_token"])
            .run_with(read_only(arguments))
            .expect(move |_, outcomes| {
                let code = outcomes.last().and_then(|outcome| outcome.code);
                ensure(code == Some(expected), &format!("the exit code {expected}"))
            })
    };
    let changes = CHANGES.iter().map(|&arguments| attack(arguments, 2));
    assert_withstands(changes.chain(SEARCHES.iter().map(|&arguments| attack(arguments, 0))));
}

/// Returns whether this process may mount file systems.
fn can_mount() -> bool {
    let tried = Command::new("unshare").args(["-m", "mount", "--bind", "/tmp", "/tmp"]).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Files, directories and links are replaced while a run reads them.
#[test]
fn a_tree_that_changes_during_a_run_cannot_lead_outside() {
    let script = "n=0
        while [ $n -lt 60 ]; do n=$((n+1))
            rm -rf swap; ln -s \"$CANARY/directory\" swap; rm swap; mkdir swap; echo 'def swapped(): pass' > swap/pattern.md
            rm -f file.md; ln -s \"$CANARY/secret.txt\" file.md; rm file.md; mkfifo file.md; rm file.md; echo '# file' > file.md
            mv src src2; mv src2 src; rm -f .gitignore; mkfifo .gitignore; rm .gitignore; echo x > .gitignore
            mv .aurora/reasoning .aurora/r2; ln -s \"$CANARY/directory\" .aurora/reasoning; rm .aurora/reasoning; mv .aurora/r2 .aurora/reasoning
        done 2> /dev/null";
    let attack = Attack::on_indexed("a tree that changes", |_| {}).changing_sources().run_with(move |sandbox| {
        let script = format!("( {script} ) & n=0; while kill -0 $! 2> /dev/null && [ $n -lt 12 ]; do n=$((n+1)); \"$AUR\" mem index --format json > /dev/null || [ $? -le 2 ] || exit 3; done; kill $!; wait; exit 0");
        let mut shell = sandbox.aur_after(&script, &[""; 0]);
        shell.env("AUR", crate::fixture::program()).env("CANARY", sandbox.canary(""));
        shell
    });
    assert_withstands([attack
        .run_with(|sandbox| {
            // Removes the files that the loop left when it was stopped.
            let mut shell = Command::new("sh");
            shell
                .arg("-c")
                .arg("rm -rf swap file.md .gitignore src2; test ! -L .aurora/reasoning || rm .aurora/reasoning");
            shell.current_dir(sandbox.path(""));
            shell
        })
        .run(SEARCH)
        .run(INDEX)
        .run(SEARCH)
        .run(&["mem", "verify"])
        .expect(|_, outcomes| {
            ensure(outcomes[3].code == Some(0) && outcomes[5].code == Some(0), "the next run succeeds")
        })]);
}
