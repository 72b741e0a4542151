//! Does the parser find the definitions that Universal Ctags finds?
//!
//! Corpus: the directories given on the command line. Compared with: `ctags` on the same files, in the same run. A tag
//! counts as found if there is a definition with the same name whose header contains the tag's line. The header extends
//! from the first line, including decorators, to the line where the body begins. Tags are grouped by language and by
//! their ctags kind.
//!
//! `cargo xtask bench definitions DIR... [--misses N] [--language NAME]`

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use aurora_languages::{FileSymbols, Language, Parser, SymbolKind, by_content, by_extension, by_file_name};
use serde_json::Value;
use tree_sitter::{Point, Tree};

/// The ctags kinds of functions, methods, classes and types.
const KINDS: &[&str] = &[
    "class",
    "constructor",
    "delegate",
    "enum",
    "func",
    "function",
    "interface",
    "method",
    "module",
    "object",
    "protocol",
    "record",
    "singletonMethod",
    "struct",
    "subroutine",
    "trait",
    "type",
    "typealias",
    "typedef",
    "union",
];

/// Kinds that have a different meaning in some languages, with the language. In the order of the entries, the meanings
/// are: `using A = B`, `module A where`, the parameters of a block type, `mod a;`.
const OTHERS: &[(&str, &str)] =
    &[("C#", "typedef"), ("Haskell", "module"), ("ObjectiveC", "typedef"), ("Rust", "module")];

/// The arguments of the command line.
struct Options {
    roots: Vec<PathBuf>,
    misses: usize,
    language: Option<String>,
}

/// The tags of one kind in one language.
#[derive(Default)]
struct Count {
    tags: usize,
    found: usize,
    /// Number of tags in string literals and comments, which are not definitions. Such tags exist because ctags does
    /// not recognize, for example, here-documents.
    quoted: usize,
    misses: Vec<String>,
}

/// A tag, which is a definition that ctags has found.
struct Tag {
    name: String,
    line: u32,
    kind: String,
    language: String,
}

fn main() {
    let Some(options) = options() else {
        return println!("usage: cargo xtask bench definitions DIR... [--misses N] [--language NAME]");
    };
    for root in &options.roots {
        compare(root, &options);
    }
}

fn options() -> Option<Options> {
    let mut options = Options { roots: Vec::new(), misses: 0, language: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--misses" => options.misses = arguments.next()?.parse().ok()?,
            "--language" => options.language = arguments.next(),
            _ => options.roots.push(PathBuf::from(argument)),
        }
    }
    (!options.roots.is_empty()).then_some(options)
}

fn compare(root: &Path, options: &Options) {
    let mut counts: BTreeMap<(String, String), Count> = BTreeMap::new();
    let mut alone: BTreeMap<String, usize> = BTreeMap::new();
    let parser = Parser::new();
    for (path, tags) in tags(root) {
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        let Some(language) = language_of(&path, &text) else { continue };
        let wanted = options.language.as_deref().is_none_or(|wanted| wanted == language.family);
        // Excludes tags for which ctags has detected a different language.
        let tags: Vec<Tag> = tags.into_iter().filter(|tag| is_same_language(&tag.language, language)).collect();
        if !wanted || tags.is_empty() {
            continue;
        }
        let quotes = Quotes::new(language, &text);
        let found = Definitions::new(&parser.parse(Some(language), &text), &text);
        for tag in &tags {
            let count = counts.entry((language.family.to_owned(), tag.kind.clone())).or_default();
            count.tags += 1;
            if found.contains(tag) {
                count.found += 1;
            } else if quotes.contain(tag.line) {
                count.tags -= 1;
                count.quoted += 1;
            } else {
                count.misses.push(format!("{path}:{} {}", tag.line, tag.name));
            }
        }
        let known: HashSet<String> = tags.iter().map(|tag| plain(&tag.name)).collect();
        *alone.entry(language.family.to_owned()).or_default() += found.missing_in(&known);
    }
    print(root, &counts, &alone, options.misses);
}

fn print(root: &Path, counts: &BTreeMap<(String, String), Count>, alone: &BTreeMap<String, usize>, misses: usize) {
    println!("{}", root.display());
    for (language, only_here) in alone {
        let kinds = || counts.iter().filter(|((of, _), _)| of == language);
        let tags: usize = kinds().map(|(_, count)| count.tags).sum();
        let found: usize = kinds().map(|(_, count)| count.found).sum();
        println!(
            "  {language:<12} {tags:>8} tags, {:>6.2} % found, {only_here} definitions unknown to ctags",
            share(found, tags)
        );
        for ((_, kind), count) in kinds() {
            println!("    {kind:<18} {:>8} tags, {:>6.2} %", count.tags, share(count.found, count.tags));
            let step = count.misses.len().checked_div(misses).unwrap_or(usize::MAX).max(1);
            for miss in count.misses.iter().step_by(step).take(misses) {
                println!("      {miss}");
            }
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// Returns the tags of each file by its path.
fn tags(root: &Path) -> BTreeMap<String, Vec<Tag>> {
    let mut command = Command::new("ctags");
    command.args(["-R", "--output-format=json", "--fields=+nKl", "--links=no", "-f", "-", "."]);
    let output = command.current_dir(root).output().expect("Universal Ctags is installed as `ctags`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files: BTreeMap<String, Vec<Tag>> = BTreeMap::new();
    for line in output.stdout.split(|&byte| byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let tag = Tag {
            name: text("name"),
            line: value["line"].as_u64().unwrap_or(0) as u32,
            kind: text("kind"),
            language: text("language"),
        };
        if is_definition(&tag, &text("pattern")) {
            files.entry(text("path").trim_start_matches("./").to_owned()).or_default().push(tag);
        }
    }
    files
}

/// Whether a tag is a function, method, class or type. `pattern` contains the line of the tag.
fn is_definition(tag: &Tag, pattern: &str) -> bool {
    let has_keyword = |keyword: &str| pattern.split(|c: char| !c.is_alphanumeric()).any(|word| word == keyword);
    let is_wanted = match (tag.language.as_str(), tag.kind.as_str()) {
        // Excludes objects with functions, and type parameters after `where`.
        ("JavaScript" | "C#", "class") => has_keyword("class") || has_keyword("record"),
        ("TypeScript", "alias") => pattern.contains("type ") && !has_keyword("import") && pattern.contains('='),
        ("Lua", "function") => ["function ".to_owned() + &tag.name, tag.name.clone() + " = function"]
            .iter()
            .any(|definition| pattern.contains(definition)),
        ("Haskell", "function") => !is_keyword_or_type(&tag.name),
        ("Haskell", "type") => !matches!(tag.name.as_str(), "family" | "instance" | "role"),
        // Excludes parameters of lambdas and `catch`.
        ("Kotlin", "method") => has_keyword("fun"),
        // Excludes macros such as `TEST_F(Suite, Name)`.
        ("C" | "C++" | "ObjectiveC", "function") => tag.name.bytes().any(|byte| byte.is_ascii_lowercase()),
        (_, kind) => KINDS.contains(&kind) && !OTHERS.contains(&(tag.language.as_str(), kind)),
    };
    is_wanted && !is_made_up(&tag.name)
}

/// Whether ctags has misread a different kind of Haskell declaration as a function.
fn is_keyword_or_type(name: &str) -> bool {
    matches!(name, "class" | "deriving" | "instance" | "infix" | "infixl" | "infixr" | "pattern" | "type")
        || name.starts_with(|first: char| first.is_uppercase() || !first.is_alphabetic() && first != '_')
}

/// Whether ctags invented a name: it numbers definitions without a name, and misreads `name=(` in shell scripts as a
/// function.
fn is_made_up(name: &str) -> bool {
    let prefixes = ["__anon", "anonFunc", "anonymous", "Anonymous", "<lambda>"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || name.len() > 1 && name.ends_with('=') && !name.contains("operator")
}

fn language_of(path: &str, text: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next()?;
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    by_file_name(name).or_else(|| by_content(extension, text)).or_else(|| by_extension(extension))
}

/// Whether ctags uses this name for the language.
fn is_same_language(name: &str, language: &Language) -> bool {
    let name = match name {
        "C#" => "csharp".to_owned(),
        "C++" => "cpp".to_owned(),
        "ObjectiveC" => "objc".to_owned(),
        "Sh" => "bash".to_owned(),
        _ => name.to_ascii_lowercase(),
    };
    name == language.family
}

/// Finds the lines of a file that begin inside a string literal or a comment.
struct Quotes<'t> {
    text: &'t str,
    tree: Option<Tree>,
}

impl<'t> Quotes<'t> {
    fn new(language: &Language, text: &'t str) -> Self {
        let mut parser = tree_sitter::Parser::new();
        parser
            .set_language(&language.grammar.expect("programming languages have grammars")())
            .expect("the grammar has a supported version");
        Self { text, tree: parser.parse(text, None) }
    }

    fn contain(&self, line: u32) -> bool {
        let Some(tree) = &self.tree else { return false };
        let Some(content) = self.text.lines().nth(line as usize - 1) else { return false };
        let column = content.len() - content.trim_start().len();
        let at = Point::new(line as usize - 1, column);
        let mut node = tree.root_node().descendant_for_point_range(at, at);
        while let Some(inner) = node {
            let is_quote =
                ["string", "heredoc", "comment", "quoted", "raw_text"].iter().any(|word| inner.kind().contains(word));
            if is_quote && inner.start_position().row < at.row {
                return true;
            }
            node = inner.parent();
        }
        false
    }
}

/// The lines of all definitions of a file, by name.
struct Definitions(HashMap<String, Vec<DefinitionLines>>);

/// The lines of one definition.
struct DefinitionLines {
    first: u32,
    /// The line where the body begins.
    header_end: u32,
    last: u32,
    is_function: bool,
}

impl Definitions {
    fn new(symbols: &FileSymbols, text: &str) -> Self {
        let feeds: Vec<usize> =
            text.bytes().enumerate().filter_map(|(at, byte)| (byte == b'\n').then_some(at)).collect();
        let line_of = |at: u32| feeds.partition_point(|&feed| feed < at as usize) as u32 + 1;
        let mut definitions: HashMap<String, Vec<DefinitionLines>> = HashMap::new();
        for symbol in &symbols.symbols {
            let (first, last) = symbol.lines;
            let header_end = symbol.body.map_or(last, line_of).max(first);
            let is_function = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
            // The name of an implementation symbol is its header, such as `@interface Name (Category)`.
            let is_name = |word: &&str| !word.is_empty();
            let words = symbol.name.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_name);
            let names: Vec<String> = match symbol.kind {
                SymbolKind::Implementation => words.map(str::to_owned).collect(),
                _ => vec![plain(&symbol.name)],
            };
            for name in names {
                definitions.entry(name).or_default().push(DefinitionLines { first, header_end, last, is_function });
            }
        }
        for constant in &symbols.constants {
            let line = line_of(constant.at);
            let lines = DefinitionLines { first: line, header_end: line, last: line, is_function: false };
            definitions.entry(plain(&constant.name)).or_default().push(lines);
        }
        Self(definitions)
    }

    /// Whether a definition with the tag's name contains the tag in its header. A function may contain the tag
    /// anywhere, because ctags lists each clause of a function separately.
    fn contains(&self, tag: &Tag) -> bool {
        self.0.get(&plain(&tag.name)).into_iter().flatten().any(|lines| {
            let end = if lines.is_function && tag.kind == "function" { lines.last } else { lines.header_end };
            // In `typedef struct { … } name;`, the name is on the last line.
            let is_at_end = tag.kind == "typedef" && tag.line == lines.last;
            (lines.first..=end).contains(&tag.line) || is_at_end
        })
    }

    /// Returns the number of definitions whose names are not in `names`.
    fn missing_in(&self, names: &HashSet<String>) -> usize {
        self.0.iter().filter(|(name, _)| !names.contains(*name)).map(|(_, lines)| lines.len()).sum()
    }
}

/// Returns the last segment of a qualified name without quotes, white space and the `#` of private members. Without
/// white space, `operator ==` equals `operator==`.
fn plain(name: &str) -> String {
    let last = name.rsplit(['.', ':']).next().filter(|last| !last.is_empty()).unwrap_or(name);
    last.chars().filter(|character| !character.is_whitespace() && !['`', '#'].contains(character)).collect()
}
