//! Support for Kotlin: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "kotlin")]

use tree_sitter::Node;

use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

mod masked;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Kotlin, including scripts.
pub(crate) static KOTLIN: Language = Language {
    reserved: &["class", "do", "else", "for", "fun", "if", "return", "throw", "try", "when", "while"],
    keeps_overloads: true,
    declared_name: Some(declared_name),
    masked: masked::masked,
    imports,
    exported,
    interpreters: &["kotlin", "kotlinc"],
    ..Language::new(
        "kotlin",
        &["kt", "kts", "ktm"],
        || tree_sitter_kotlin_ng::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. The owner of an extension function is its receiver, the type before the `.`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    if node.kind() != "function_declaration" {
        let name = if node.kind() == "companion" { "Companion" } else { text_of(node, text) };
        return Some(DeclaredName { name: name.to_owned(), owner: None });
    }
    let (mut receiver, mut owner) = (None, None);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "user_type" | "nullable_type" | "parenthesized_type" => receiver = Some(child),
            "." => owner = receiver.and_then(|receiver| type_name(text_of(receiver, text))),
            // Sometimes the grammar reads the name as part of the receiver, and then reports a missing name.
            "identifier" if child.is_missing() => {
                let (owner, name) = text_of(receiver?, text).rsplit_once('.')?;
                return Some(DeclaredName { name: name.to_owned(), owner: type_name(owner) });
            }
            "identifier" => return Some(DeclaredName { name: text_of(child, text).to_owned(), owner }),
            _ => {}
        }
    }
    None
}

/// Returns `a.B` for `a.B<T>?`, or `None` for function types.
fn type_name(source: &str) -> Option<String> {
    let name = source.trim_matches(['(', ')', '?']);
    let name = name.split('<').next().unwrap_or(name).trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '`'));
    is_name.then(|| name.to_owned())
}

/// Whether a definition is visible outside its file: it is neither private nor inside a function or a
/// private definition.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_keyword =
        |word: &&str| matches!(*word, "fun" | "val" | "var" | "class" | "interface" | "object" | "typealias");
    let is_private = visibility.signature.split(' ').take_while(|word| !is_keyword(word)).any(|word| word == "private");
    let is_inside = |(kind, exported): (SymbolKind, bool)| exported && kind.is_container();
    !is_private && visibility.parent.is_none_or(is_inside)
}

/// Reads `import a.b.C`, `import a.b.C as D` and `import a.b.*`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let (mut path, mut name) = ("", None);
    for child in node.children(&mut cursor) {
        match child.kind() {
            "qualified_identifier" => path = text_of(child, text),
            "identifier" => name = Some(text_of(child, text)),
            "*" => name = Some("*"),
            _ => {}
        }
    }
    let name = name.unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path));
    found.push(import(node, path, vec![name.to_owned()]));
}
