//! Generates random histories with branches, merges, renames and repeated lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::fixture::Repo;

/// The paths that may occur in a generated history.
pub(super) const NAMES: [&str; 12] = [
    "a.rs",
    "b.rs",
    "lib.rs",
    "x/a.rs",
    "x/lib.rs",
    "x/y/a.rs",
    "x/y/mod.rs",
    "x/mod.rs",
    "z/a.rs",
    "z/z.rs",
    "z",
    "x.rs",
];
const WORDS: [&str; 8] = ["{", "}", "", "    return value;", "fn run() {", "        }", "    let x = 1;", "// note"];

type Files = BTreeMap<&'static str, File>;

#[derive(Clone)]
struct File {
    mode: &'static str,
    lines: Vec<String>,
    newline: bool,
}

impl File {
    fn text(&self) -> String {
        let text = self.lines.join("\n");
        if self.newline && !self.lines.is_empty() { text + "\n" } else { text }
    }
}

/// The random number generator xorshift64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    pub(super) fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn line(&mut self) -> String {
        match self.below(3) {
            0 => WORDS[self.below(WORDS.len())].to_owned(),
            1 => format!("    call_{}({});", self.below(12), self.below(3)),
            _ => format!("    // a longer comment, number {} of many that the file has", self.below(5_000)),
        }
    }
}

/// Returns the number of histories to try: `usual`, unless the environment variable `AURORA_BLAME_SEEDS` sets it.
pub(super) fn seeds(usual: u64) -> u64 {
    std::env::var("AURORA_BLAME_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(usual)
}

/// Creates a repository with `commits` random commits.
pub(super) fn repository(random: &mut Random, commits: usize) -> Repo {
    import(&generate(random, commits))
}

/// Like [`repository`], but with regular files instead of symbolic links.
pub(super) fn repository_without_links(random: &mut Random, commits: usize) -> Repo {
    import(&generate(random, commits).replace("\nM 120000 inline ", "\nM 100644 inline "))
}

fn import(stream: &str) -> Repo {
    let repo = Repo::new();
    repo.git_with_input(&["fast-import", "--quiet", "--done"], stream.as_bytes());
    repo
}

/// Generates a history as a stream for `git fast-import`.
fn generate(random: &mut Random, commits: usize) -> String {
    let mut stream = String::new();
    let mut history: Vec<Files> = Vec::new();
    for commit in 0..commits {
        let parents = choose_parents(random, history.len());
        let mut files = parents.first().map_or_else(Files::new, |&parent| history[parent].clone());
        for &other in parents.iter().skip(1) {
            merge(random, &mut files, &history[other]);
        }
        let is_plain_merge = parents.len() > 1 && !random.one_in(3);
        for _ in 0..if is_plain_merge { 0 } else { 1 + random.below(3) } {
            edit(random, &mut files);
        }
        if random.one_in(8) && history.len() > 3 {
            revert(random, &mut files, &history[history.len() - 3]);
        }
        write_commit(&mut stream, random, commit, &parents, &files);
        history.push(files);
    }
    writeln!(stream, "done").unwrap();
    stream
}

/// Chooses the parents of the next commit: mostly the last commit, sometimes an older commit, sometimes two or three
/// commits.
fn choose_parents(random: &mut Random, commits: usize) -> Vec<usize> {
    let Some(last) = commits.checked_sub(1) else { return Vec::new() };
    let recent = |random: &mut Random| last - random.below(7.min(commits));
    let mut parents = match random.below(10) {
        0..5 => vec![last],
        5..7 => vec![recent(random)],
        7..9 => vec![recent(random), last],
        _ => vec![last, recent(random), recent(random)],
    };
    let mut seen = Vec::new();
    parents.retain(|parent| {
        !seen.contains(parent) && {
            seen.push(*parent);
            true
        }
    });
    parents
}

/// Copies whole files, or their last lines, from the other parent.
fn merge(random: &mut Random, files: &mut Files, other: &Files) {
    for (&path, theirs) in other {
        match (files.get_mut(path), random.below(4)) {
            (None, 0..2) => insert(files, path, theirs.clone()),
            (Some(ours), 0) => *ours = theirs.clone(),
            (Some(ours), 1..3) => {
                let cut = random.below(ours.lines.len().min(theirs.lines.len()) + 1);
                ours.lines.truncate(cut);
                ours.lines.extend_from_slice(&theirs.lines[cut..]);
            }
            _ => {}
        }
    }
}

fn edit(random: &mut Random, files: &mut Files) {
    let paths: Vec<&'static str> = files.keys().copied().collect();
    let name = NAMES[random.below(NAMES.len())];
    let Some(&path) = paths.get(random.below(paths.len())).filter(|_| !random.one_in(6)) else {
        let lines = (0..random.below(70)).map(|_| random.line()).collect();
        return insert(files, name, File { mode: "100644", lines, newline: !random.one_in(6) });
    };
    match random.below(12) {
        0 => drop(files.remove(path)),
        1..4 => {
            let mut moved = files.remove(path).unwrap();
            edit_lines(random, &mut moved.lines);
            insert(files, name, moved);
        }
        4 => {
            let copy = files[path].clone();
            insert(files, name, copy);
        }
        5 => {
            let file = files.get_mut(path).unwrap();
            file.mode = ["100644", "100755", "120000"][random.below(3)];
            file.newline = !file.newline;
        }
        _ => edit_lines(random, &mut files.get_mut(path).unwrap().lines),
    }
}

fn edit_lines(random: &mut Random, lines: &mut Vec<String>) {
    for _ in 0..random.below(4) {
        let at = random.below(lines.len() + 1);
        let end = (at + random.below(5)).min(lines.len());
        match random.below(4) {
            0 => drop(lines.drain(at..end)),
            1 => {
                let block: Vec<String> = lines[at..end].to_vec();
                let to = random.below(lines.len() + 1);
                lines.splice(to..to, block);
            }
            _ => {
                let new: Vec<String> = (0..random.below(5)).map(|_| random.line()).collect();
                lines.splice(at..end, new);
            }
        }
    }
}

/// Restores an old version of a file.
fn revert(random: &mut Random, files: &mut Files, old: &Files) {
    let paths: Vec<&'static str> = old.keys().copied().collect();
    if let Some(&path) = paths.get(random.below(paths.len())) {
        insert(files, path, old[path].clone());
    }
}

/// Inserts a file and removes the files whose paths conflict with it.
fn insert(files: &mut Files, path: &'static str, file: File) {
    let clashes = |other: &&str| {
        let below = |outer: &str, inner: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
        below(other, path) || below(path, other)
    };
    let in_the_way: Vec<&'static str> = files.keys().copied().filter(|other| clashes(other)).collect();
    in_the_way.iter().for_each(|other| drop(files.remove(other)));
    files.insert(path, file);
}

fn write_commit(stream: &mut String, random: &mut Random, commit: usize, parents: &[usize], files: &Files) {
    // Clocks differ, so some commits look older than their parents.
    let time = 1_700_000_000 + commit * 60 - random.below(200);
    writeln!(stream, "commit refs/heads/main\nmark :{}", commit + 1).unwrap();
    writeln!(stream, "author A{} <a{}@example.com> {time} +0000", commit % 4, commit % 4).unwrap();
    writeln!(stream, "committer C <c@example.com> {time} +0000\ndata 0").unwrap();
    for (position, parent) in parents.iter().enumerate() {
        writeln!(stream, "{} :{}", if position == 0 { "from" } else { "merge" }, parent + 1).unwrap();
    }
    writeln!(stream, "deleteall").unwrap();
    for (path, file) in files {
        let text = file.text();
        let (mode, text) = if file.mode == "120000" && text.is_empty() { ("100644", text) } else { (file.mode, text) };
        writeln!(stream, "M {mode} inline {path}\ndata {}\n{text}", text.len()).unwrap();
    }
}
