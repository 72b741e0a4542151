//! Does a name that a repository defines once stand first when it is searched for?
//!
//! The definitions are found by plain regular expressions, line by line, so that neither the parser
//! nor the index judges itself. The peer is `git grep -w`: the share of names whose first hit, in
//! the order in which it prints them, is the definition.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use regex::Regex;
use serde_json::Value;

/// What to measure, and where.
#[derive(Args)]
pub(crate) struct Options {
    /// Directory with an index.
    root: PathBuf,
    /// How many names to ask for.
    #[arg(long, default_value_t = 200)]
    sample: usize,
    /// The program.
    #[arg(long, default_value = "target/release/aur")]
    aur: PathBuf,
}

/// Where a name is defined.
struct UniqueDefinition {
    name: String,
    path: String,
    line: u64,
}

/// Definitions of functions, methods and types by the file's extension; the name is the last group.
const PATTERNS: &[(&[&str], &str)] = &[
    (&["py", "pyi"], r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)"),
    (&["go"], r"^(?:func\s+(?:\([^)]*\)\s*)?|type\s+)(\w+)"),
    (&["rs"], r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*(?:fn|struct|enum|trait)\s+(\w+)"),
    (
        &["java"],
        r"^\s*(?:(?:public|protected|private|static|final|abstract|sealed)\s+)*(?:class|interface|enum|record)\s+(\w+)",
    ),
    (
        &["java"],
        r"^\s+(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)+[\w<>\[\],.? ]+\s(\w+)\s*\([^;]*\{\s*$",
    ),
    (
        &["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"],
        r"^\s*(?:export\s+)?(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface)\s+(\w+)",
    ),
    (&["ts", "tsx", "js", "mjs"], r"^(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?\([^)]*\)\s*(?::[^=]+)?=>"),
];

/// Names shorter than this are words of the language or of everybody.
const SHORTEST: usize = 5;

/// Prints the share of names that stand first, and the peer's.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let names = sample(definitions(&options.root)?, options.sample);
    let queries: String = names.iter().map(|definition| format!("{}\n", definition.name)).collect();
    let answers = ask(options, &queries)?;
    let mut found = 0;
    for (definition, answer) in names.iter().zip(&answers) {
        if is_first(definition, answer) {
            found += 1;
        } else {
            println!(
                "missed {} at {}:{}, first was {}",
                definition.name, definition.path, definition.line, answer["results"][0]["id"]
            );
        }
    }
    let grep = names.iter().filter(|definition| grep_finds(&options.root, definition)).count();
    let share = |count: usize| 100.0 * count as f64 / names.len().max(1) as f64;
    println!("{} names: first in {:.1} %; git grep -w: {:.1} %", names.len(), share(found), share(grep));
    Ok(())
}

fn definitions(root: &Path) -> Result<Vec<UniqueDefinition>, String> {
    let patterns: Vec<_> = PATTERNS
        .iter()
        .map(|(extensions, pattern)| Regex::new(pattern).map(|regex| (*extensions, regex)))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let mut definitions = Vec::new();
    for path in indexed_files(root)? {
        let extension = path.rsplit('.').next().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let matching = patterns.iter().filter(|(extensions, _)| extensions.contains(&extension));
            let name = matching.filter_map(|(_, regex)| regex.captures(line)).next();
            let Some(name) = name.and_then(|groups| groups.get(1)) else { continue };
            definitions.push(UniqueDefinition {
                name: name.as_str().into(),
                path: path.clone(),
                line: number as u64 + 1,
            });
        }
    }
    Ok(definitions)
}

fn indexed_files(root: &Path) -> Result<Vec<String>, String> {
    let output =
        Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output().map_err(|error| error.to_string())?;
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Names that stand in one definition only, in an order that depends on nothing but the names.
fn sample(definitions: Vec<UniqueDefinition>, size: usize) -> Vec<UniqueDefinition> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for definition in &definitions {
        *count.entry(definition.name.to_lowercase()).or_default() += 1;
    }
    let is_fit = |definition: &UniqueDefinition| {
        definition.name.len() >= SHORTEST && count[&definition.name.to_lowercase()] == 1
    };
    let mut names: Vec<_> = definitions.into_iter().filter(is_fit).collect();
    names.sort_by_cached_key(|definition| {
        let mut hasher = DefaultHasher::new();
        definition.name.hash(&mut hasher);
        (hasher.finish(), definition.name.clone())
    });
    names.truncate(size);
    names
}

fn ask(options: &Options, queries: &str) -> Result<Vec<Value>, String> {
    let mut search = Command::new(&options.aur)
        .args(["mem", "search", "--stdin", "--format", "jsonl", "--limit", "1", "--no-record", "--root"])
        .arg(&options.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", options.aur.display()))?;
    let mut input = search.stdin.take().ok_or("no standard input")?;
    let queries = queries.to_owned();
    let feeder = std::thread::spawn(move || input.write_all(queries.as_bytes()));
    let output = search.wait_with_output().map_err(|error| error.to_string())?;
    feeder.join().map_err(|_| "the feeder stopped")?.map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}

fn is_first(definition: &UniqueDefinition, answer: &Value) -> bool {
    let first = &answer["results"][0];
    let lines = first["line_start"].as_u64().unwrap_or(u64::MAX)..=first["line_end"].as_u64().unwrap_or(0);
    first["file"] == definition.path.as_str() && lines.contains(&definition.line)
}

fn grep_finds(root: &Path, definition: &UniqueDefinition) -> bool {
    let output =
        Command::new("git").arg("-C").arg(root).args(["grep", "-n", "-w", "-F", "--", &definition.name]).output();
    let Ok(output) = output else { return false };
    let first = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
    first.starts_with(&format!("{}:{}:", definition.path, definition.line))
}
