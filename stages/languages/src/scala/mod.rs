//! Support for Scala: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "scala")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Scala 2 and 3, including build definitions and worksheets.
pub(crate) static SCALA: Language = Language {
    reserved: &[
        "case", "catch", "class", "def", "do", "else", "finally", "for", "if", "match", "return", "throw", "try",
        "while",
    ],
    keeps_overloads: true,
    ends_at_token: true,
    imports,
    exported,
    interpreters: &["scala", "scala-cli", "amm"],
    ..Language::new(
        "scala",
        &["scala", "sc", "sbt", "mill"],
        || tree_sitter_scala::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file. `private` and `private[scope]` definitions and definitions inside
/// functions are not visible.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_keyword = |word: &&str| matches!(*word, "def" | "val" | "var" | "class" | "trait" | "object" | "type");
    let mut modifiers = visibility.signature.split(' ').take_while(|word| !is_keyword(word));
    let is_private = modifiers.any(|word| word == "private" || word.starts_with("private["));
    let is_inside = |(kind, exported): (SymbolKind, bool)| exported && kind.is_container();
    !is_private && visibility.parent.is_none_or(is_inside)
}

/// Reads `import a.b.C`, `import a.b.{C, D => E, F as G, _}` and `import a.*, b.C`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let source = text_of(node, text).trim_start_matches("import").trim();
    let mut rest = source;
    while !rest.is_empty() {
        let end = clause_end(rest);
        let clause = rest[..end].trim();
        rest = rest.get(end + 1..).unwrap_or_default().trim_start();
        match clause.split_once('{') {
            Some((prefix, selectors)) => {
                let prefix = prefix.trim().trim_end_matches('.');
                for selector in selectors.trim_end_matches('}').split(',') {
                    found.extend(selected(node, prefix, selector.trim()));
                }
            }
            None => {
                let (path, name) = clause.split_once(" as ").unwrap_or((clause, ""));
                let (prefix, last) = path.trim().rsplit_once('.').unwrap_or(("", path.trim()));
                let selector = if name.is_empty() { last.to_owned() } else { format!("{last} as {name}") };
                found.extend(selected(node, prefix, &selector));
            }
        }
    }
}

/// Returns the end of the first clause: the first comma outside braces, or the end of the text.
fn clause_end(source: &str) -> usize {
    let mut depth = 0;
    for (at, c) in source.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    source.len()
}

/// Reads one selector of an import: `C`, `C as D`, `C => D`, `_`, `*` or `given`.
fn selected(node: Node<'_>, prefix: &str, selector: &str) -> Option<Import> {
    let (name, alias) = selector.split_once("=>").or_else(|| selector.split_once(" as ")).unwrap_or((selector, ""));
    let (name, alias) = (name.trim(), alias.trim());
    let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    match name {
        "" => None,
        "_" | "*" => Some(import(node, prefix, vec!["*".to_owned()])),
        _ if alias == "_" => None,
        _ if alias.is_empty() => Some(import(node, &join(name), vec![name.to_owned()])),
        _ => Some(import(node, &join(name), vec![alias.to_owned()])),
    }
}
