//! Extracts imports from source texts.

use super::import::Import;
use super::language::Language;
use super::paths::{join, normal};

/// Names that occur on a line if the line changes the search path of Python or Ruby.
pub(super) const SEARCH_PATHS: [&str; 4] = ["sys.path", "addsitedir", "$:", "$LOAD_PATH"];
/// Placeholder for the name of the file in a Ruby path that is relative to the file. In such a path, `..` means the
/// directory of the file.
const FILE: &str = "_";

pub(super) fn python(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.split('#').next().unwrap_or_default().to_owned();
        while (line.trim_end().ends_with('\\') || line.contains('(') && !line.contains(')'))
            && line.trim_start().starts_with("from")
        {
            let Some(next) = lines.next() else { break };
            line = format!("{} {}", line.trim_end().trim_end_matches('\\'), next.split('#').next().unwrap_or_default());
        }
        for statement in line.split([';', ':']).map(str::trim) {
            if let Some(names) = statement.strip_prefix("import ") {
                let modules = names.split(',').filter_map(|name| name.split_whitespace().next());
                imports.extend(modules.map(|module| Import::Python { level: 0, module: module.to_owned() }));
            } else if let Some((module, names)) =
                statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import"))
            {
                let module = module.trim();
                let name = module.trim_start_matches('.');
                let level = module.len() - name.len();
                imports.push(Import::Python { level, module: name.to_owned() });
                let names = names.trim_matches(|char: char| "() ".contains(char)).split(',');
                for member in names.filter_map(|name| name.split_whitespace().next()).filter(|name| *name != "*") {
                    let module = if name.is_empty() { member.to_owned() } else { format!("{name}.{member}") };
                    imports.push(Import::Python { level, module });
                }
            }
        }
    }
    for (at, call) in ["import_module", "__import__"].into_iter().flat_map(|call| text.match_indices(call)) {
        let argument = text[at + call.len()..].trim_start().strip_prefix('(').map(str::trim_start);
        let literal = argument.and_then(|argument| argument.strip_prefix(['"', '\'']));
        if let Some(module) = literal.and_then(|rest| rest.split(['"', '\'']).next()) {
            let name = module.trim_start_matches('.');
            imports.push(Import::Python { level: module.len() - name.len(), module: name.to_owned() });
        }
    }
    let is_name = |module: &str| module.split('.').all(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_'));
    imports.retain(|import| matches!(import, Import::Python { module, .. } if is_name(module)));
    imports
}

pub(super) fn javascript(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for keyword in ["require", "import", "from"] {
        for (at, _) in text.match_indices(keyword) {
            let rest = text[at + keyword.len()..].trim_start();
            let rest = if keyword == "from" { rest } else { rest.trim_start_matches('(').trim_start() };
            let Some(path) = rest.strip_prefix(['"', '\'', '`']).and_then(|rest| rest.split(['"', '\'', '`']).next())
            else {
                continue;
            };
            imports.push(Import::node(path));
        }
    }
    imports.retain(|import| {
        let (Import::Package(name) | Import::NodePackage(name)) = import else { return true };
        !name.is_empty() && !name.contains([' ', '\n'])
    });
    imports
}

pub(super) fn ruby(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for statement in text.lines().flat_map(|line| line.split(';')).map(str::trim_start) {
        let statement = statement.strip_prefix("Kernel.").unwrap_or(statement);
        let calls = ["require_relative", "require", "load", "autoload"];
        let Some((call, rest)) = calls.iter().find_map(|call| Some((*call, statement.strip_prefix(call)?))) else {
            continue;
        };
        if !rest.starts_with([' ', '\t', '(', '"', '\'']) {
            continue;
        }
        let literals = quoted(rest);
        let literal = if call == "autoload" { literals.last() } else { literals.first() };
        let Some(&path) = literal else { continue };
        imports.push(if rest.contains("__FILE__") {
            Import::Relative { path: join(FILE, path), language: Language::Ruby }
        } else if call == "require_relative" || rest.contains("__dir__") {
            Import::Relative { path: path.to_owned(), language: Language::Ruby }
        } else {
            Import::Searched(path.to_owned())
        });
    }
    imports
}

/// Returns the directories that a line with one of [`SEARCH_PATHS`] may add, for a file in `directory`. Each literal
/// may be relative to the root, to the directory, or to the file as in `File.expand_path("../lib", __FILE__)`.
pub(super) fn search_path(line: &str, directory: &str) -> Vec<String> {
    let literals = quoted(line).into_iter().flat_map(|path| {
        let relative_to_file = line.contains("__FILE__").then(|| join(&join(directory, FILE), path));
        [Some(path.to_owned()), Some(join(directory, path)), relative_to_file]
    });
    let paths = literals.flatten().chain([directory.to_owned()]);
    paths.filter_map(|path| normal(&path)).collect()
}

/// Returns the quoted strings on a line.
pub(super) fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let inner = &rest[start + 1..];
        // A quote without a closing quote is an apostrophe.
        let Some(end) = inner.find(quote) else {
            rest = inner;
            continue;
        };
        found.push(&inner[..end]);
        rest = &inner[end + 1..];
    }
    found
}
