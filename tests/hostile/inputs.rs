//! Hostile files, such as endless files and links to files outside the repository, in place of ignore files, git's own
//! files, and sources.

use std::path::Path;

use crate::sandbox::{SECRET, Sandbox};
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

/// Size of a sparse file. A run that reads the whole file exceeds its limits.
const HUGE: u64 = 100 << 30;

const IGNORE_FILES: &[&str] = &[
    ".gitignore",
    ".ignore",
    ".auroraignore",
    "src/.gitignore",
    "src/.ignore",
    "src/deep/.auroraignore",
    "../.gitignore",
    "../.ignore",
    "../.auroraignore",
    ".git/info/exclude",
];

const GIT_FILES: &[&str] = &[
    ".git",
    ".git/config",
    ".git/HEAD",
    ".git/index",
    ".git/commondir",
    ".git/objects/info/alternates",
    ".git/objects/info/commit-graph",
    ".git/objects/pack/pack-0123456789012345678901234567890123456789.idx",
    ".git/objects/pack/multi-pack-index",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/logs/HEAD",
    ".git/shallow",
    ".git/info/grafts",
    ".git/info/attributes",
    ".git/config.worktree",
    ".gitattributes",
    ".gitmodules",
    ".mailmap",
];

const SOURCES: &[&str] = &["src/token.py", "docs/guide.md", "docs/more.docx", "src", "Cargo.toml"];

/// A hostile file: its name, and a function that creates it.
type Thing = (&'static str, for<'s> fn(&'s Sandbox, &str) -> &'s Sandbox);

const THINGS: &[Thing] = &[
    ("a link to /dev/zero", |sandbox, at| sandbox.link(at, "/dev/zero")),
    ("a pipe", |sandbox, at| sandbox.fifo(at)),
    ("a file of 100 GiB", |sandbox, at| sandbox.sparse(at, HUGE)),
    ("a link to a secret", |sandbox, at| sandbox.link(at, sandbox.canary("secret.txt"))),
    ("a link to itself", |sandbox, at| sandbox.link(at, sandbox.path(at))),
    ("a socket", |sandbox, at| sandbox.socket(at)),
    ("a directory", |sandbox, at| sandbox.remove(at).write(format!("{at}/inside"), "x")),
];

fn product(places: &'static [&'static str], runs: &'static [&'static [&'static str]]) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for place in places {
        for (thing, put) in THINGS {
            let attack = Attack::on_fresh(format!("{place} is {thing}"), move |sandbox| {
                put(sandbox, place);
            });
            attacks.push(runs.iter().fold(attack, |attack, run| attack.run(run)));
        }
    }
    attacks
}

#[test]
fn hostile_ignore_files_do_no_harm() {
    assert_withstands(product(IGNORE_FILES, &[INDEX, SEARCH]));
}

#[test]
fn hostile_ignore_files_above_the_root_do_no_harm() {
    let attacks =
        product(&[".gitignore", ".ignore", ".auroraignore", ".git"], &[&["mem", "index", "src", "--format", "json"]]);
    // The runs create `.aurora` in `src`, which changes the modification time of `src`. This change is allowed.
    assert_withstands(attacks.into_iter().map(Attack::changing_sources).collect::<Vec<_>>());
}

#[test]
fn hostile_files_of_git_do_no_harm() {
    assert_withstands(product(GIT_FILES, &[INDEX, SEARCH]));
}

#[test]
fn hostile_sources_do_no_harm() {
    assert_withstands(product(SOURCES, &[INDEX, SEARCH]));
}

/// Appends lines to the git configuration of a sandbox.
fn configure_git(sandbox: &Sandbox, text: &str) {
    let config = sandbox.path(".git/config");
    let before = std::fs::read_to_string(&config).expect("the file can be read");
    sandbox.write(".git/config", format!("{before}{text}\n"));
}

/// Quotes a path for git's configuration.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

#[test]
fn hostile_paths_in_the_git_configuration_do_no_harm() {
    const KEYS: &[&str] = &[
        "[include]\npath = ",
        "[includeIf \"gitdir:**\"]\npath = ",
        "[mailmap]\nfile = ",
        "[blame]\nignoreRevsFile = ",
        "[core]\nexcludesFile = ",
        "[core]\nattributesFile = ",
        "[core]\nworktree = ",
        "[commit]\ntemplate = ",
        "[extensions]\nworktreeConfig = true\n[include]\npath = ",
    ];
    let mut attacks = Vec::new();
    for key in KEYS {
        for (thing, put) in THINGS {
            let name = format!("git's {} is {thing}", key.replace('\n', " "));
            let attack = Attack::on_fresh(name, move |sandbox| {
                put(sandbox, "target");
                configure_git(sandbox, &format!("{key}{}", quoted(&sandbox.path("target"))));
            });
            attacks.push(attack.run(INDEX).run(SEARCH));
        }
        let attack = Attack::on_fresh(format!("git's {} is outside", key.replace('\n', " ")), move |sandbox| {
            configure_git(sandbox, &format!("{key}{}", quoted(&sandbox.canary("secret.txt"))));
        });
        attacks.push(attack.run(INDEX).run(SEARCH));
    }
    assert_withstands(attacks);
}

#[test]
fn programs_in_the_git_configuration_do_not_run() {
    const KEYS: &[&str] = &[
        "[core]\nfsmonitor = ",
        "[core]\nhooksPath = ",
        "[core]\nsshCommand = ",
        "[core]\npager = ",
        "[core]\neditor = ",
        "[diff]\nexternal = ",
        "[diff \"x\"]\ntextconv = ",
        "[filter \"x\"]\nclean = ",
        "[filter \"x\"]\nsmudge = ",
        "[filter \"x\"]\nprocess = ",
        "[credential]\nhelper = !",
        "[remote \"origin\"]\npromisor = true\npartialCloneFilter = blob:none\nurl = ext::",
        "[gpg]\nprogram = ",
    ];
    let attacks = KEYS.iter().map(|key| {
        Attack::on_fresh(format!("git's {}", key.replace('\n', " ")), move |sandbox| {
            sandbox.write("run.sh", format!("#!/bin/sh\necho run >> {}\n", sandbox.canary("ran").display()));
            sandbox.mode("run.sh", 0o755);
            sandbox.write(".gitattributes", "* diff=x filter=x\n");
            configure_git(sandbox, &format!("{key}{}", quoted(&sandbox.path("run.sh"))));
        })
        .run(INDEX)
        .run(SEARCH)
    });
    assert_withstands(attacks);
}

#[test]
fn hostile_alternate_object_stores_do_no_harm() {
    const STORE: &str = ".git/objects/info/alternates";
    let attacks = [
        Attack::on_fresh("an alternate that is the store itself", |sandbox| {
            sandbox.write(STORE, format!("{}\n", sandbox.path(".git/objects").display()));
        }),
        Attack::on_fresh("two alternates that name each other", |sandbox| {
            sandbox.write(
                "../canary/other/objects/info/alternates",
                format!("{}\n", sandbox.path(".git/objects").display()),
            );
            sandbox.write(STORE, format!("{}\n", sandbox.canary("other/objects").display()));
        }),
        Attack::on_fresh("an alternate outside", |sandbox| {
            sandbox.write(STORE, format!("{}\n", sandbox.canary("directory").display()));
        }),
        Attack::on_fresh("an alternate that is a device", |sandbox| {
            sandbox.write(STORE, "/dev/zero\n/dev/stdin\n/proc/self/fd\n");
        }),
        Attack::on_fresh("a hundred thousand alternates", |sandbox| {
            sandbox.write(STORE, (0..100_000).map(|n| format!("../../nowhere{n}\n")).collect::<String>());
        }),
        Attack::on_fresh("a chain of alternates", |sandbox| {
            for link in 0..200 {
                let next = sandbox.path(format!("store{}/objects", link + 1));
                sandbox.write(format!("store{link}/objects/info/alternates"), format!("{}\n", next.display()));
            }
            sandbox.write(STORE, format!("{}\n", sandbox.path("store0/objects").display()));
        }),
        Attack::on_fresh("a .git that names a file that names it", |sandbox| {
            sandbox.remove(".git").write(".git", "gitdir: sub/.git\n").write("sub/.git", "gitdir: ../.git\n");
        }),
        Attack::on_fresh("a .git of four MiB", |sandbox| {
            sandbox.remove(".git").write(".git", format!("gitdir: {}\n", "a/".repeat(2 << 20)));
        }),
        Attack::on_fresh("a commondir that is outside", |sandbox| {
            sandbox.write(".git/commondir", format!("{}\n", sandbox.canary("directory").display()));
        }),
        Attack::on_fresh("a reference that names itself", |sandbox| {
            sandbox.write(".git/refs/heads/main", "ref: refs/heads/main\n");
        }),
        Attack::on_fresh("a HEAD that leaves the repository", |sandbox| {
            sandbox.write(".git/HEAD", "ref: ../../canary/secret.txt\n");
        }),
        Attack::on_fresh("includes that name each other", |sandbox| {
            configure_git(sandbox, "[include]\npath = other");
            sandbox.write(".git/other", "[include]\npath = config\n[include]\npath = other\n");
        }),
        Attack::on_fresh("a configuration of sixteen MiB", |sandbox| {
            configure_git(sandbox, &"[a]\nb = c\n".repeat(1 << 20));
        }),
    ];
    assert_withstands(attacks.into_iter().map(|attack| attack.run(INDEX).run(SEARCH)));
}

#[test]
fn a_configured_work_tree_elsewhere_is_not_read() {
    assert_withstands([Attack::on_fresh("core.worktree names another project", |sandbox| {
        configure_git(sandbox, &format!("[core]\nworktree = {}", quoted(&sandbox.canary("project"))));
    })
    .run(INDEX)
    .run(&["mem", "search", "quokka", "--grep", "zanzibar", "--show-content"])
    .expect(|_, outcomes| ensure(!outcomes[1].out.contains(SECRET), "no file of the other project is found"))]);
}

#[test]
fn a_linked_configuration_does_not_reveal_its_target() {
    let runs: &[&[&str]] = &[&["pipeline", "check"], &["pipeline", "show"], INDEX, SEARCH, &["doctor"]];
    let attacks = ["pipeline.toml", "config.toml"].into_iter().map(|name| {
        let attack = Attack::on_fresh(format!("{name} is a link to /etc/passwd"), move |sandbox| {
            sandbox.link(format!(".aurora/{name}"), "/etc/passwd");
        });
        runs.iter().fold(attack, |attack, run| attack.run(run)).expect(|_, outcomes| {
            let shows = |text: &str| text.contains("root:") || text.contains("/bin/");
            ensure(
                !outcomes.iter().any(|outcome| shows(&outcome.err) || shows(&outcome.out)),
                "no line of the linked file is printed",
            )
        })
    });
    assert_withstands(attacks);
}
