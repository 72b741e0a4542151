//! Does a search for a name that a repository defines only once rank the definition first?
//!
//! Simple regular expressions find the definitions line by line, independently of the parser and the index that are
//! measured. They miss definitions that a single line does not reveal, such as methods with the same name in several
//! classes. With `--ctags`, names are omitted if Universal Ctags finds such further definitions. Baseline: the share of
//! names for which the first hit of `git grep -w` is the definition.

mod ctags;
mod definition;
mod grep;
mod patterns;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::Value;

use definition::Definition;
use grep::grep_finds;

/// Options of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Directories, each with an index.
    #[arg(required = true)]
    roots: Vec<PathBuf>,
    /// Number of names to search for in each language.
    #[arg(long, default_value_t = 200)]
    sample: usize,
    /// Measure only this language.
    #[arg(long)]
    language: Option<String>,
    /// Omit names for which Universal Ctags finds more than one definition. Ctags must be installed as `ctags`.
    #[arg(long)]
    ctags: bool,
    /// Path of `aur`.
    #[arg(long, default_value = "target/release/aur")]
    aur: PathBuf,
}

/// Minimum length of a name in bytes. Shorter names are often keywords or common words.
const MIN_NAME_BYTES: usize = 5;

/// Prints, for each language, the share of names whose definition ranks first, in searches and in `git grep`.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let mut names: BTreeMap<&str, Vec<Definition<'_>>> = BTreeMap::new();
    for root in &options.roots {
        let counts = options.ctags.then(|| ctags::counts(root)).transpose()?;
        let count = |name: &str| counts.as_ref().and_then(|counts| counts.get(&name.to_lowercase())).copied();
        let is_only = |definition: &Definition<'_>| count(&definition.name).is_none_or(|count| count == 1);
        for definition in unique(patterns::definitions(root)?).filter(is_only) {
            names.entry(definition.language).or_default().push(definition);
        }
    }
    names.retain(|language, _| options.language.as_deref().is_none_or(|only| only == *language));
    let (mut all, mut all_found, mut all_grep) = (0, 0, 0);
    for (language, names) in names {
        let names = sample(names, options.sample);
        let (mut found, mut grep) = (0, 0);
        for root in &options.roots {
            let names: Vec<_> = names.iter().filter(|definition| definition.root == root).collect();
            found += first(&options.aur, root, &names)?;
            grep += names.iter().filter(|definition| grep_finds(definition)).count();
        }
        print_shares(language, names.len(), found, grep);
        (all, all_found, all_grep) = (all + names.len(), all_found + found, all_grep + grep);
    }
    print_shares("all", all, all_found, all_grep);
    Ok(())
}

/// Returns the names of definitions in some files of a directory, except short names.
pub(crate) fn names(root: &Path, paths: Vec<String>) -> Result<Vec<String>, String> {
    let names = patterns::definitions_in(root, paths)?.into_iter().map(|definition| definition.name);
    Ok(names.filter(|name| name.len() >= MIN_NAME_BYTES).collect())
}

fn print_shares(what: &str, names: usize, found: usize, grep: usize) {
    let share = |count: usize| 100.0 * count as f64 / names.max(1) as f64;
    println!("{what:<12} {names:>5} names: first in {:>5.1} %; git grep -w: {:>5.1} %", share(found), share(grep));
}

/// Returns the definitions whose name is defined once in the directory.
fn unique(definitions: Vec<Definition<'_>>) -> impl Iterator<Item = Definition<'_>> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for definition in &definitions {
        *count.entry(definition.name.to_lowercase()).or_default() += 1;
    }
    definitions.into_iter().filter(move |definition| {
        definition.name.len() >= MIN_NAME_BYTES && count[&definition.name.to_lowercase()] == 1
    })
}

/// Returns a sample of the names, in an order that depends only on the names.
fn sample(mut names: Vec<Definition<'_>>, size: usize) -> Vec<Definition<'_>> {
    names.sort_by_cached_key(|definition| {
        let mut hasher = DefaultHasher::new();
        definition.name.hash(&mut hasher);
        (hasher.finish(), definition.name.clone())
    });
    names.truncate(size);
    names
}

/// Returns the number of names whose definition ranks first, and prints the other names.
fn first(aur: &Path, root: &Path, names: &[&Definition<'_>]) -> Result<usize, String> {
    if names.is_empty() {
        return Ok(0);
    }
    let queries: String = names.iter().map(|definition| format!("{}\n", definition.name)).collect();
    let answers = ask(aur, root, queries)?;
    let missed = names.iter().zip(&answers).filter(|(definition, answer)| !is_first(definition, answer));
    let missed = missed.inspect(|(definition, answer)| {
        let Definition { language, root, name, path, line } = definition;
        let id = &answer["results"][0]["id"];
        println!("missed {language} {name} at {}/{path}:{line}, first was {id}", root.display());
    });
    Ok(names.len() - missed.count())
}

fn ask(aur: &Path, root: &Path, queries: String) -> Result<Vec<Value>, String> {
    let mut search = Command::new(aur)
        .args(["mem", "search", "--stdin", "--format", "jsonl", "--limit", "1", "--no-record", "--root"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", aur.display()))?;
    let mut input = search.stdin.take().ok_or("no standard input")?;
    let feeder = std::thread::spawn(move || input.write_all(queries.as_bytes()));
    let output = search.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the search in {} failed with {}", root.display(), output.status));
    }
    feeder.join().map_err(|_| "the thread that writes the queries panicked")?.map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}

fn is_first(definition: &Definition<'_>, answer: &Value) -> bool {
    let first = &answer["results"][0];
    let lines = first["line_start"].as_u64().unwrap_or(u64::MAX)..=first["line_end"].as_u64().unwrap_or(0);
    first["file"] == definition.path.as_str() && lines.contains(&definition.line)
}
