//! Support for Haskell: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "haskell")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Haskell, without literate sources.
pub(crate) static HASKELL: Language = Language {
    interpreters: &["runghc", "runhaskell"],
    imports,
    exported,
    are_clauses: |_, _| true,
    name_in,
    doc_text: Some(|source| text_between(source, &["{-|", "{- |", "{-", "-- |", "-- ^", "-- *", "--"], &["-}"])),
    file_doc: FileDoc::Before("header"),
    ..Language::new(
        "haskell",
        &["hs", "hs-boot", "hsc"],
        || tree_sitter_haskell::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file: the export list of the module names it, or the module has no
/// export list. Members of classes and instances are as visible as the class or instance.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    match visibility.parent {
        Some((SymbolKind::Function | SymbolKind::Method, _)) => false,
        Some((_, exported)) => exported,
        None => visibility.exported || !visibility.file_exports || visibility.signature.starts_with("instance"),
    }
}

/// Returns `+++` for `(+++)`.
fn name_in(text: &str) -> &str {
    let operator = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    operator.filter(|name| !name.contains(|c: char| c.is_alphanumeric() || c.is_whitespace())).unwrap_or(text)
}

/// Reads `import A (f, T (..))`, `import qualified A as B` and `import A hiding (f)`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(module) = node.child_by_field_name("module") else { return };
    let path = text_of(module, text);
    let mut cursor = node.walk();
    let (mut is_qualified, mut hides) = (false, false);
    for child in node.children(&mut cursor) {
        is_qualified |= child.kind() == "qualified";
        hides |= child.kind() == "hiding";
    }
    let alias = node.child_by_field_name("alias").map(|alias| text_of(alias, text).to_owned());
    let mut names: Vec<String> = alias.into_iter().collect();
    match node.child_by_field_name("names").filter(|_| !hides) {
        Some(list) => {
            let mut cursor = list.walk();
            let listed = list.children_by_field_name("name", &mut cursor).filter_map(|name| name.named_child(0));
            names.extend(listed.map(|name| name_in(text_of(name, text)).to_owned()));
        }
        None if is_qualified && names.is_empty() => names.push(path.to_owned()),
        None if is_qualified => {}
        None => names.push("*".to_owned()),
    }
    found.push(import(node, path, names));
}
