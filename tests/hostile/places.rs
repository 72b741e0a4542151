//! Hostile files and directories in place of each file and directory below `.aurora`, and of `.aurora` itself.

use crate::sandbox::Sandbox;
use crate::{Attack, FORCE, INDEX, SEARCH, assert_withstands};

/// Directories below `.aurora`. The empty name stands for `.aurora` itself.
const DIRECTORIES: &[&str] = &[
    "",
    "index",
    "access",
    "index.new",
    "index.old",
    "index.unusable",
    "tmp",
    "eval",
    "eval/trees",
    "eval/trees/head",
    "reasoning",
    "logs",
    "logs/conversations",
];

const FILES: &[&str] = &[
    ".gitignore",
    "pipeline.toml",
    "config.toml",
    "tuned.toml",
    "writer.lock",
    "history.walk",
    "history.walk.new",
    "history.comparisons",
    "history.comparisons.new",
    "tree.walk",
    "tree.walk.new",
    "tree.check",
    "index/data.mdb",
    "index/lock.mdb",
    "access/data.mdb",
    "access/lock.mdb",
    "reasoning/pattern.json",
    "eval/manifest.json",
    "eval/exact.jsonl",
    "eval/trees/.gitignore",
];

/// A hostile file, directory or link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    /// A link to a file outside of the repository.
    LinkToFile,
    /// A relative link to the same file of another project.
    LinkToTwin,
    /// A link to a file outside of the repository that does not exist.
    LinkToNothing,
    /// A link to a directory outside of the repository.
    LinkToDirectory,
    /// A link to an endless file.
    LinkToZeros,
    /// A link to itself.
    Loop,
    /// A pipe that nobody writes to.
    Fifo,
    /// A socket.
    Socket,
    /// A directory in place of a file, or a file in place of a directory.
    Wrong,
}

use Thing::{Fifo, LinkToDirectory, LinkToFile, LinkToNothing, LinkToTwin, LinkToZeros, Loop, Socket, Wrong};

const ALL: &[Thing] = &[LinkToFile, LinkToTwin, LinkToNothing, LinkToDirectory, LinkToZeros, Loop, Fifo, Socket, Wrong];
/// One example of each way in which a run may fail: it follows a link, creates the target of a link, does not end, or
/// finds a directory in place of a file.
const SOME: &[Thing] = &[LinkToTwin, LinkToNothing, LinkToZeros, Fifo, Wrong];

impl Thing {
    fn put(self, sandbox: &Sandbox, place: &str) {
        let at = if place.is_empty() { ".aurora".to_owned() } else { format!(".aurora/{place}") };
        match self {
            LinkToFile => sandbox.link(at, sandbox.canary(".bashrc")),
            LinkToTwin => {
                let up = "../".repeat(at.split('/').count());
                let twin = format!("{up}canary/project/{at}");
                sandbox.link(at, twin)
            }
            LinkToNothing => sandbox.link(at, sandbox.canary("made")),
            LinkToDirectory => sandbox.link(at, sandbox.canary("directory")),
            LinkToZeros => sandbox.link(at, "/dev/zero"),
            Loop => {
                let itself = sandbox.path(&at);
                sandbox.link(at, itself)
            }
            Fifo => sandbox.fifo(at),
            Socket => sandbox.socket(at),
            Wrong if DIRECTORIES.contains(&place) => sandbox.write(at, "a file\n"),
            Wrong => sandbox.remove(&at).write(format!("{at}/inside"), "in a directory\n"),
        };
    }
}

fn places() -> impl Iterator<Item = &'static str> {
    DIRECTORIES.iter().chain(FILES).copied()
}

/// A function that creates an attack from a name and a function that prepares the sandbox.
type Start = fn(String, Box<dyn Fn(&Sandbox)>) -> Attack;

/// Returns an attack for each combination of `places` and `things`. `runs` are the commands.
fn product(
    on: Start,
    places: impl IntoIterator<Item = &'static str>,
    things: &'static [Thing],
    runs: &'static [&'static [&'static str]],
) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for place in places {
        for thing in things {
            let shown = runs.first().map_or(String::new(), |run| run.join(" "));
            let name = format!(".aurora/{place} is {thing:?}, {shown}");
            let mut attack = on(name, Box::new(move |sandbox| thing.put(sandbox, place)));
            if place.starts_with("eval") || runs.iter().any(|run| run.contains(&"eval")) {
                attack = attack.mined();
            }
            attacks.push(runs.iter().fold(attack, |attack, run| attack.run(run)));
        }
    }
    attacks
}

fn fresh(name: String, build: Box<dyn Fn(&Sandbox)>) -> Attack {
    Attack::on_fresh(format!("fresh: {name}"), build)
}

fn indexed(name: String, build: Box<dyn Fn(&Sandbox)>) -> Attack {
    Attack::on_indexed(format!("indexed: {name}"), build)
}

/// Creates an attack on an index that is older than its sources, so that a run has to write.
fn edited(name: String, build: Box<dyn Fn(&Sandbox)>) -> Attack {
    Attack::on_indexed(format!("edited: {name}"), move |sandbox| {
        sandbox.write("src/token.py", "def parse_token(text):\n    return text.partition(':')\n");
        sandbox.git(&["commit", "--quiet", "--all", "--message", "second"]);
        build(sandbox);
    })
}

#[test]
fn a_first_search_stays_inside_the_repository() {
    assert_withstands(product(fresh, places(), ALL, &[SEARCH]));
}

#[test]
fn a_run_on_an_existing_index_stays_inside_the_repository() {
    assert_withstands(product(edited, places(), ALL, &[INDEX, SEARCH]));
}

/// Files and directories of the index.
const DATA: &[&str] = &["", "index", "index/data.mdb", "index/lock.mdb"];
const ACCESS: &[&str] = &["access", "access/data.mdb", "access/lock.mdb"];
/// Files and directories that are used when an index is replaced.
const REPLACING: &[&str] =
    &["", "index", "index.new", "index.old", "index.unusable", "tmp", "writer.lock", "index/lock.mdb"];

#[test]
fn commands_that_read_stay_inside_the_repository() {
    const READERS: &[&[&str]] = &[
        SEARCH,
        &["mem", "stats"],
        &["mem", "verify"],
        &["mem", "verify", "--digest"],
        &["mem", "blame", "src/token.py"],
        &["mem", "search", "--grep", "zanzibar", "--show-content"],
        &["mem", "export", "-"],
        &["pipeline", "run", "--dry", "src/token.py"],
        &["doctor"],
    ];
    const FEEDBACK: &[&[&str]] = &[&["mem", "feedback", "good", "src/token.py:1"], SEARCH];
    const EVALUATION: &[&[&str]] = &[&["mem", "eval"], &["mem", "tune", "--budget", "3", "--force"]];
    const SHOWS: &[&[&str]] =
        &[&["pipeline", "check"], &["pipeline", "show"], &["pipeline", "graph"], &["doctor"], SEARCH];
    let mut attacks = product(indexed, DATA.iter().copied(), SOME, READERS);
    attacks.extend(product(indexed, ACCESS.iter().chain(DATA).copied(), SOME, FEEDBACK));
    attacks.extend(product(
        indexed,
        ["eval", "eval/exact.jsonl", "eval/manifest.json", "tuned.toml"],
        SOME,
        EVALUATION,
    ));
    attacks.extend(product(indexed, ["pipeline.toml", "config.toml", "tuned.toml"], ALL, SHOWS));
    assert_withstands(attacks);
}

#[test]
fn commands_that_write_stay_inside_the_repository() {
    let mut attacks = Vec::new();
    attacks.extend(product(edited, REPLACING.iter().copied(), SOME, &[FORCE, SEARCH]));
    attacks.extend(product(edited, REPLACING.iter().copied(), SOME, &[&["mem", "compact"], SEARCH]));
    attacks.extend(product(edited, REPLACING.iter().copied(), SOME, &[&["mem", "rebuild-bm25"], SEARCH]));
    let kept = [
        "history.walk",
        "history.walk.new",
        "history.comparisons",
        "history.comparisons.new",
        "tree.walk",
        "tree.walk.new",
        "tree.check",
    ];
    attacks.extend(product(edited, kept, SOME, &[FORCE]));
    for place in REPLACING {
        for thing in SOME {
            let attack = Attack::on_indexed(format!(".aurora/{place} is {thing:?}, mem import"), move |sandbox| {
                let export = sandbox.run(&mut sandbox.aur(&["mem", "export", "valid.aur"]));
                assert_eq!(export.code, Some(0), "{}", export.summary());
                thing.put(sandbox, place);
            });
            attacks.push(attack.run(&["mem", "import", "valid.aur"]).run(SEARCH));
        }
    }
    assert_withstands(attacks);
}

#[test]
fn mining_questions_stays_inside_the_repository() {
    let places = [
        "",
        "eval",
        "eval/trees",
        "eval/trees/head",
        "eval/manifest.json",
        "eval/exact.jsonl",
        "eval/trees/.gitignore",
    ];
    assert_withstands(product(indexed, places, ALL, &[&["mem", "eval", "mine"]]));
}

/// Links that are committed to a repository, which is then cloned.
#[test]
fn links_checked_out_by_git_are_not_followed() {
    let places = [
        "history.walk.new",
        "tree.walk.new",
        "writer.lock",
        "index/lock.mdb",
        "access/lock.mdb",
        ".gitignore",
        "index",
        "reasoning",
    ];
    let attacks = places.into_iter().map(|place| {
        Attack::on_fresh(format!("cloned with .aurora/{place}"), move |sandbox| {
            let target = if ["index", "reasoning"].contains(&place) { "project/.aurora/index" } else { ".bashrc" };
            sandbox.link(format!(".aurora/{place}"), sandbox.canary(target));
            sandbox.git(&["add", "--force", ".aurora"]);
            sandbox.git(&["commit", "--quiet", "--message", "harmless"]);
            sandbox.git(&["clone", "--quiet", ".", "../clone"]);
            sandbox.remove("");
            std::fs::rename(sandbox.home("../clone"), sandbox.path("")).expect("the path can be renamed");
        })
        .run(SEARCH)
        .run(INDEX)
        .run(SEARCH)
    });
    assert_withstands(attacks);
}
