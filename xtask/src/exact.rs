//! Does a name that a repository defines once stand first when it is searched for?
//!
//! The definitions are found by plain regular expressions, line by line, so that neither the parser nor the index judges
//! itself. The peer is `git grep -w`: the share of names whose first hit, in the order in which it prints them, is the
//! definition.

use std::collections::{BTreeMap, HashMap};
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
    /// Directories with an index each.
    #[arg(required = true)]
    roots: Vec<PathBuf>,
    /// How many names to ask for in each language.
    #[arg(long, default_value_t = 200)]
    sample: usize,
    /// Only this language.
    #[arg(long)]
    language: Option<String>,
    /// The program.
    #[arg(long, default_value = "target/release/aur")]
    aur: PathBuf,
}

/// Where a name is defined.
struct UniqueDefinition<'a> {
    language: &'static str,
    root: &'a Path,
    name: String,
    path: String,
    line: u64,
}

/// Definitions of functions, methods and types by language and file extensions; the name is the group.
const PATTERNS: &[(&str, &[&str], &str)] = &[
    ("bash", &["sh", "bash"], r"^(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{"),
    ("c", &["c"], r"^(?:static\s+|inline\s+|const\s+|unsigned\s+|struct\s+)*\w+[\s*]+(\w+)\([^;()]*\)\s*\{?$"),
    ("cpp", &["cc", "cpp", "cxx", "hpp"], r"^\s*(?:class|struct|enum class)\s+(\w+)(?:\s+final)?(?:\s*:[^;]*)?\s*\{"),
    ("cpp", &["cc", "cpp", "cxx"], r"^[\w:<>]+[\s*&]+\w+::(\w+)\([^;]*\{$"),
    ("cmake", &["cmake"], r"(?i)^\s*(?:function|macro)\s*\(\s*(\w+)"),
    (
        "csharp",
        &["cs"],
        r"^\s*(?:(?:public|internal|private|protected|static|sealed|abstract|partial|readonly)\s+)+(?:class|interface|enum|struct|record)\s+(\w+)",
    ),
    (
        "csharp",
        &["cs"],
        r"^\s*(?:(?:public|internal|private|protected|static|override|virtual|async)\s+)+[\w<>\[\],.?]+\s(\w+)\s*\([^;]*\)\s*$",
    ),
    ("dart", &["dart"], r"^(?:abstract\s+|final\s+|base\s+|sealed\s+)*(?:class|mixin|enum|extension)\s+(\w+)"),
    ("elixir", &["ex", "exs"], r"^\s*(?:def|defp|defmacro)\s+(\w+)"),
    ("go", &["go"], r"^(?:func\s+(?:\([^)]*\)\s*)?|type\s+)(\w+)"),
    ("graphql", &["graphql", "gql"], r"^(?:type|input|enum|interface|union|scalar)\s+(\w+)"),
    (
        "groovy",
        &["groovy", "gradle"],
        r"^\s*(?:(?:public|private|protected|static|abstract|final)\s+)*(?:class|interface|trait|enum)\s+(\w+)",
    ),
    (
        "groovy",
        &["groovy"],
        r"^\s*(?:(?:public|private|protected|static|final)\s+)*(?:def|void|String|boolean|int|List|Map)\s+(\w+)\s*\([^)]*\)\s*\{\s*$",
    ),
    ("haskell", &["hs"], r"^(?:data|newtype|class)\s+(\w+)"),
    ("haskell", &["hs"], r"^([a-z]\w*)\s+::\s"),
    ("hcl", &["tf"], r#"^(?:variable|output|module)\s+"(\w+)"\s*\{"#),
    (
        "java",
        &["java"],
        r"^\s*(?:(?:public|protected|private|static|final|abstract|sealed)\s+)*(?:class|interface|enum|record)\s+(\w+)",
    ),
    (
        "java",
        &["java"],
        r"^\s+(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)+[\w<>\[\],.? ]+\s(\w+)\s*\([^;]*\{\s*$",
    ),
    (
        "javascript",
        &["js", "mjs", "cjs", "jsx"],
        r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|class)\s+(\w+)",
    ),
    (
        "kotlin",
        &["kt", "kts"],
        r"^\s*(?:(?:public|internal|private|open|abstract|data|sealed|inline|override|suspend|operator|annotation|enum)\s+)*(?:class|interface|object|fun)\s+(?:<[^>]*>\s+)?(\w+)\s*[<({:]",
    ),
    ("lua", &["lua"], r"^\s*(?:local\s+)?function\s+(?:\w+[.:])*(\w+)\s*\("),
    ("make", &["mk"], r"^([a-z][\w-]+):(?:[^=]|$)"),
    ("objc", &["h", "m", "mm"], r"^@(?:interface|protocol)\s+(\w+)\s*(?:<[^>]*>\s*)?(?::.*)?$"),
    ("objc", &["m", "mm"], r"^[-+]\s*\([^)]*\)\s*(\w+)\s*\{?\s*$"),
    ("perl", &["pl", "pm"], r"^sub\s+(\w+)"),
    (
        "php",
        &["php"],
        r"^\s*(?:(?:public|private|protected|static|abstract|final|readonly)\s+)*(?:function|class|interface|trait|enum)\s+&?(\w+)",
    ),
    ("powershell", &["ps1", "psm1"], r"(?i)^\s*function\s+(?:\w+:)?([\w-]+)"),
    ("protobuf", &["proto"], r"^\s*(?:message|enum|service|rpc)\s+(\w+)"),
    ("python", &["py", "pyi"], r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)"),
    ("r", &["R", "r"], r"^([A-Za-z_]\w*)\s*(?:<-|=)\s*function\s*\("),
    ("ruby", &["rb"], r"^\s*(?:def\s+(?:self\.)?|class\s+|module\s+)(?:\w+::)*(\w+[?!]?)"),
    ("rust", &["rs"], r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*(?:fn|struct|enum|trait)\s+(\w+)"),
    (
        "scala",
        &["scala"],
        r"^\s*(?:(?:private|protected|final|sealed|abstract|implicit|override|lazy|case|inline)(?:\[\w+\])?\s+)*(?:class|trait|object|def)\s+(\w+)",
    ),
    (
        "sql",
        &["sql"],
        r#"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function)\s+(?:if\s+not\s+exists\s+)?[`"]?(?:\w+\.)?(\w+)"#,
    ),
    (
        "swift",
        &["swift"],
        r"^\s*(?:(?:public|internal|private|fileprivate|open|final|static|override|mutating|indirect)\s+)*(?:func|class|struct|enum|protocol|actor)\s+(\w+)",
    ),
    (
        "typescript",
        &["ts", "tsx", "mts", "cts"],
        r"^\s*(?:export\s+)?(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface)\s+(\w+)",
    ),
    ("typescript", &["ts", "tsx"], r"^(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?\([^)]*\)\s*(?::[^=]+)?=>"),
    ("zig", &["zig"], r"^\s*(?:pub\s+)?(?:inline\s+|export\s+|extern\s+)*fn\s+(\w+)"),
];

/// Names shorter than this are words of the language or of everybody.
const SHORTEST: usize = 5;

/// Prints the share of names that stand first, and the peer's, for each language.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let mut names: BTreeMap<&str, Vec<UniqueDefinition<'_>>> = BTreeMap::new();
    for root in &options.roots {
        for definition in unique(definitions(root)?) {
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

fn print_shares(what: &str, names: usize, found: usize, grep: usize) {
    let share = |count: usize| 100.0 * count as f64 / names.max(1) as f64;
    println!("{what:<12} {names:>5} names: first in {:>5.1} %; git grep -w: {:>5.1} %", share(found), share(grep));
}

fn definitions(root: &Path) -> Result<Vec<UniqueDefinition<'_>>, String> {
    let patterns: Vec<_> = PATTERNS
        .iter()
        .map(|(language, extensions, pattern)| Regex::new(pattern).map(|regex| (*language, *extensions, regex)))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let mut definitions = Vec::new();
    for path in files(root)? {
        let extension = path.rsplit('.').next().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let mut matching = patterns.iter().filter(|(_, extensions, _)| extensions.contains(&extension));
            let found = matching.find_map(|(language, _, regex)| Some((language, regex.captures(line)?)));
            let Some((language, name)) = found.and_then(|(language, groups)| Some((language, groups.get(1)?))) else {
                continue;
            };
            definitions.push(UniqueDefinition {
                language,
                root,
                name: name.as_str().into(),
                path: path.clone(),
                line: number as u64 + 1,
            });
        }
    }
    Ok(definitions)
}

/// The text files of a directory, which need not be a repository.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let listing = git_grep(root, &["-l", "-z", "-e", "", "--", ".", ":!.aurora"])?;
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn git_grep(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut grep = Command::new("git");
    grep.arg("-C").arg(root).args(["grep", "--no-index", "--exclude-standard", "-I"]).args(arguments);
    let output = grep.output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names that stand in one definition of the directory.
fn unique(definitions: Vec<UniqueDefinition<'_>>) -> impl Iterator<Item = UniqueDefinition<'_>> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for definition in &definitions {
        *count.entry(definition.name.to_lowercase()).or_default() += 1;
    }
    definitions
        .into_iter()
        .filter(move |definition| definition.name.len() >= SHORTEST && count[&definition.name.to_lowercase()] == 1)
}

/// Some of the names, in an order that depends on nothing but the names.
fn sample(mut names: Vec<UniqueDefinition<'_>>, size: usize) -> Vec<UniqueDefinition<'_>> {
    names.sort_by_cached_key(|definition| {
        let mut hasher = DefaultHasher::new();
        definition.name.hash(&mut hasher);
        (hasher.finish(), definition.name.clone())
    });
    names.truncate(size);
    names
}

/// How many names stand first; the others are printed.
fn first(aur: &Path, root: &Path, names: &[&UniqueDefinition<'_>]) -> Result<usize, String> {
    if names.is_empty() {
        return Ok(0);
    }
    let queries: String = names.iter().map(|definition| format!("{}\n", definition.name)).collect();
    let answers = ask(aur, root, queries)?;
    let missed = names.iter().zip(&answers).filter(|(definition, answer)| !is_first(definition, answer));
    let missed = missed.inspect(|(definition, answer)| {
        let UniqueDefinition { language, root, name, path, line } = definition;
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
        return Err(format!("the search in {} ends with {}", root.display(), output.status));
    }
    feeder.join().map_err(|_| "the feeder stopped")?.map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}

fn is_first(definition: &UniqueDefinition<'_>, answer: &Value) -> bool {
    let first = &answer["results"][0];
    let lines = first["line_start"].as_u64().unwrap_or(u64::MAX)..=first["line_end"].as_u64().unwrap_or(0);
    first["file"] == definition.path.as_str() && lines.contains(&definition.line)
}

fn grep_finds(definition: &UniqueDefinition<'_>) -> bool {
    let arguments = ["-n", "-w", "-F", "-e", &definition.name, "--", ".", ":!.aurora"];
    let Ok(hits) = git_grep(definition.root, &arguments) else { return false };
    let first = hits.lines().next().unwrap_or_default();
    first.starts_with(&format!("{}:{}:", definition.path, definition.line))
}
