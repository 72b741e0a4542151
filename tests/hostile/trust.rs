//! Indexes that this user has not built, or that git tracks, are not used without a message.

use std::fs;
use std::process::Command;

use crate::process::Outcome;
use crate::sandbox::Sandbox;
use crate::{Attack, FORCE, INDEX, assert_withstands, ensure};

/// Name of a function that exists only in the planted index.
const PLANTED: &str = "planted_answer";
const ASK: &[&str] = &["mem", "search", PLANTED, "--show-content", "--format", "json", "--no-record"];
const ASK_REAL: &[&str] = &["mem", "search", "parse_token", "--format", "json", "--no-record"];
const ACCEPT: &[&str] = &["mem", "trust-index"];

/// Replaces the index of the repository by the index of another tree, which another user has built.
fn plant(sandbox: &Sandbox) {
    let root = sandbox.path("../attacker");
    fs::create_dir_all(root.join("src")).expect("the directory can be created");
    let text = format!(
        "def {PLANTED}():\n    \"\"\"Read the header of a token with {PLANTED}.\"\"\"\n    return eval(input())\n"
    );
    fs::write(root.join("src/token.py"), text).expect("the file can be written");
    let mut index = sandbox.aur(INDEX);
    index.current_dir(&root).env("HOME", root.join("home")).env("AURORA_HOME", root.join("home"));
    let made = sandbox.run(&mut index);
    assert_eq!(made.code, Some(0), "{}", made.summary());
    sandbox.remove(".aurora");
    fs::rename(root.join(".aurora"), sandbox.path(".aurora")).expect("the path can be renamed");
    fs::remove_dir_all(root).expect("the directory can be removed");
}

/// Plants the index and commits it.
fn commit(sandbox: &Sandbox) {
    plant(sandbox);
    for left in [".gitignore", "writer.lock", "index/lock.mdb"] {
        sandbox.remove(format!(".aurora/{left}"));
    }
    sandbox.git(&["add", "--force", ".aurora"]);
    sandbox.git(&["commit", "--quiet", "--message", "harmless"]);
}

fn shows(outcome: &Outcome) -> bool {
    outcome.out.contains("eval(input())") || outcome.out.contains(&format!("\"name\": \"{PLANTED}\""))
}

fn refused(outcome: &Outcome) -> Result<(), String> {
    ensure(!shows(outcome), "the answer contains nothing from the planted index")?;
    ensure(outcome.err.contains("trust-index"), "the message names `aur mem trust-index`")?;
    ensure(outcome.err.contains("aur mem index"), "the message names `aur mem index`")
}

type Plant = (&'static str, fn(&Sandbox));
const PLANTS: &[Plant] = &[("a planted index", plant), ("a committed index", commit)];

fn on_each(what: &str, attack: impl Fn(Attack) -> Attack) -> Vec<Attack> {
    PLANTS.iter().map(|(name, build)| attack(Attack::on_fresh(format!("{name}, {what}"), build))).collect()
}

#[test]
fn a_foreign_index_is_not_searched_silently() {
    let mut attacks = Vec::new();
    let queries: &[&[&str]] = &[
        ASK,
        &["mem", "search", "--grep", "eval", "--show-content"],
        &["mem", "search", "--fixed", "eval(input())", "--format", "jsonl"],
        &["mem", "search", PLANTED, "--budget", "4000"],
        &["mem", PLANTED],
        &["mem", "search", PLANTED, "--no-index"],
        &["mem", "search", PLANTED, "--mode", "dense", "--show-scores"],
    ];
    for query in queries {
        attacks.extend(on_each(&query.join(" "), |attack| {
            attack.run(query).expect(|_, outcomes| {
                refused(&outcomes[0])?;
                ensure(outcomes[0].code == Some(2), "exit code 2")
            })
        }));
    }
    assert_withstands(attacks);
}

#[test]
fn other_commands_report_a_foreign_index() {
    let mut attacks = Vec::new();
    let commands: &[&[&str]] = &[
        &["mem", "blame", "src/token.py"],
        &["mem", "feedback", "good", "src/token.py:1"],
        &["mem", "export", "-"],
        &["mem", "compact"],
        &["mem", "rebuild-bm25"],
        &["mem", "eval"],
        &["mem", "stats"],
        &["mem", "verify"],
    ];
    for command in commands {
        attacks.extend(on_each(&command.join(" "), |attack| {
            attack.run(command).run(ASK).expect(|_, outcomes| {
                ensure(!shows(&outcomes[0]), "no content is shown")?;
                // No other command may make the index trusted.
                refused(&outcomes[1])
            })
        }));
    }
    assert_withstands(attacks);
}

#[test]
fn a_foreign_index_can_be_trusted() {
    let trusting = |arguments: &'static [&'static str]| {
        move |sandbox: &Sandbox| -> Command {
            let mut command = sandbox.aur(arguments);
            command.env("AURORA_TRUST_INDEX", "1");
            command
        }
    };
    let mut attacks = on_each("AURORA_TRUST_INDEX=1", |attack| {
        attack.run_with(trusting(ASK)).run(ASK).expect(|_, outcomes| {
            ensure(
                outcomes[0].code == Some(0) && shows(&outcomes[0]),
                "the index is searched while the variable is set",
            )?;
            refused(&outcomes[1])
        })
    });
    attacks.extend(on_each("trust-index", |attack| {
        attack.run(ACCEPT).run(ASK).expect(|_, outcomes| {
            ensure(outcomes[0].code == Some(0), "the index can be trusted")?;
            ensure(outcomes[1].code == Some(0) && shows(&outcomes[1]), "the index is searched from then on")
        })
    }));
    assert_withstands(attacks);
}

#[test]
fn a_run_replaces_a_foreign_index() {
    let mut attacks = Vec::new();
    for run in [INDEX, FORCE] {
        attacks.extend(on_each(&run.join(" "), |attack| {
            attack.run(run).run(ASK).run(ASK_REAL).expect(|_, outcomes| {
                ensure(outcomes[0].code == Some(0), "the run succeeds")?;
                ensure(!shows(&outcomes[1]), "nothing of the planted index is left")?;
                ensure(outcomes[2].out.contains("src/token.py") && outcomes[2].code == Some(0), "the sources are found")
            })
        }));
    }
    assert_withstands(attacks);
}

#[test]
fn an_index_of_the_user_stays_trusted() {
    let moved = |sandbox: &Sandbox| {
        fs::rename(sandbox.path(""), sandbox.home("../moved")).expect("the path can be renamed");
        fs::rename(sandbox.home("../moved"), sandbox.path("")).expect("the path can be renamed");
    };
    let found = |_: &Sandbox, outcomes: &[Outcome]| {
        let last = outcomes.last().expect("there was a run");
        ensure(last.code == Some(0) && last.out.contains("src/token.py"), "the index is searched")
    };
    assert_withstands([
        Attack::on_indexed("an unchanged index", |_| {}).run(ASK_REAL).expect(found),
        Attack::on_indexed("an index in a project that was moved", moved).run(ASK_REAL).expect(found),
        Attack::on_indexed("an index that was rebuilt", |_| {}).run(FORCE).run(ASK_REAL).expect(found),
        Attack::on_indexed("an index that was compacted", |_| {}).run(&["mem", "compact"]).run(ASK_REAL).expect(found),
        Attack::on_indexed("an index whose keyword index was rebuilt", |_| {})
            .run(&["mem", "rebuild-bm25"])
            .run(ASK_REAL)
            .expect(found),
        Attack::on_indexed("an index that was imported", |_| {})
            .run(&["mem", "export", ".aurora/own.aur"])
            .run(&["mem", "import", ".aurora/own.aur"])
            .run(ASK_REAL)
            .expect(found),
    ]);
}

/// Files below `.aurora` that an attacker has committed, with damaged or misleading content.
#[test]
fn committed_index_files_change_no_answer() {
    const FILES: &[&str] = &[
        "history.walk",
        "history.comparisons",
        "tree.walk",
        "tree.check",
        "history.walk.new",
        "tree.walk.new",
        "writer.lock",
        "access/data.mdb",
        "access/lock.mdb",
        "index/lock.mdb",
        "index.old/data.mdb",
        "index.new/data.mdb",
        "index.unusable/data.mdb",
        "tmp/run-0",
        "eval/exact.jsonl",
        "eval/manifest.json",
        "tuned.toml",
    ];
    type Content = (&'static str, fn(Vec<u8>) -> Vec<u8>);
    const CONTENTS: &[Content] = &[
        ("empty", |_| Vec::new()),
        ("garbage", |_| (0..100_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()),
        ("zeros", |_| vec![0; 1 << 20]),
        ("the right beginning", |kept| [&kept[..kept.len().min(64)], &[0xff; 4096]].concat()),
        ("cut in half", |kept| kept[..kept.len() / 2].to_vec()),
        ("lengths without end", |kept| {
            let head = kept.len().min(52);
            [&kept[..head], &u64::MAX.to_le_bytes(), &kept[head..]].concat()
        }),
        ("twice as long", |kept| [&kept[..], &kept[..]].concat()),
    ];
    let mut attacks = Vec::new();
    for file in FILES {
        for (what, change) in CONTENTS {
            let attack = Attack::on_indexed(format!("committed .aurora/{file}: {what}"), move |sandbox| {
                let kept = fs::read(sandbox.path(".aurora").join(file)).unwrap_or_default();
                sandbox.write(format!(".aurora/{file}"), change(kept));
                sandbox.write("src/token.py", "def parse_token(text):\n    return text.partition(':')\n");
                sandbox.git(&["add", "--force", "src", &format!(".aurora/{file}")]);
                sandbox.git(&["commit", "--quiet", "--message", "second"]);
            });
            let attack = if file.starts_with("eval") { attack.mined() } else { attack };
            attacks.push(
                attack.run(INDEX).run(ASK_REAL).run(&["mem", "verify"]).run(&["mem", "blame", "src/token.py"]).expect(
                    |sandbox, outcomes| {
                        ensure(outcomes[0].code == Some(0), "the run succeeds")?;
                        ensure(
                            outcomes[1].code == Some(0) && outcomes[1].out.contains("src/token.py"),
                            "the source is found",
                        )?;
                        ensure(outcomes[2].code == Some(0), "the index is valid")?;
                        let head = sandbox.git(&["rev-parse", "HEAD"]);
                        ensure(
                            outcomes[3].code == Some(0) && outcomes[3].out.contains(&head),
                            "lines are attributed to the commit",
                        )
                    },
                ),
            );
        }
    }
    assert_withstands(attacks);
}
