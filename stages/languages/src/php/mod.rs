//! Support for PHP, alone or inside HTML.

#![cfg(feature = "php")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// PHP. Everything outside `<?php … ?>` is text without symbols.
pub(crate) static PHP: Language = Language {
    reserved: &[
        "break", "case", "catch", "continue", "do", "else", "elseif", "finally", "for", "foreach", "function", "if",
        "return", "switch", "throw", "try", "while",
    ],
    has_reserved_members: true,
    keeps_overloads: true,
    separator: "\\",
    member_separator: Some("::"),
    imports,
    exported,
    file_names: &[".php_cs", ".php_cs.dist", "Phakefile"],
    interpreters: &["php"],
    claims: &[("inc", |text| text.contains("<?php"))],
    ..Language::new(
        "php",
        &["php", "phtml", "php3", "php4", "php5", "php7", "php8", "phps", "phpt", "ctp"],
        || tree_sitter_php::LANGUAGE_PHP.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file: it is neither private nor inside a function or a
/// private definition.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let declaration = visibility.signature.split('(').next().unwrap_or_default();
    let is_private = declaration.split(' ').take_while(|word| *word != "function").any(|word| word == "private");
    !is_private && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

/// Reads `use A\B as C, A\{D, E};` and included files.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() != "namespace_use_declaration" {
        let source = text_of(node, text);
        // The path is the literal part of an expression such as `__DIR__ . '/file.php'`.
        let path = source.split(['\'', '"']).nth(1).or_else(|| source.split_once(' ').map(|(_, path)| path));
        found.extend(path.map(|path| import(node, path.trim(), Vec::new())));
        return;
    }
    let mut cursor = node.walk();
    let mut prefix = "";
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "namespace_name" => prefix = text_of(child, text),
            "namespace_use_clause" => clause(child, "", text, found),
            "namespace_use_group" => {
                let mut clauses = child.walk();
                for child in child.named_children(&mut clauses) {
                    clause(child, prefix, text, found);
                }
            }
            _ => {}
        }
    }
}

/// Reads one clause `A\B as C` of a `use` declaration with the common `prefix`.
fn clause(node: Node<'_>, prefix: &str, text: &str, found: &mut Vec<Import>) {
    let alias = node.child_by_field_name("alias");
    let mut cursor = node.walk();
    let is_path = |child: &Node<'_>| matches!(child.kind(), "name" | "qualified_name" | "namespace_name");
    let Some(path) = node.named_children(&mut cursor).find(is_path) else { return };
    let path = text_of(path, text).trim_start_matches('\\');
    let bound = alias.map_or_else(|| path.rsplit('\\').next().unwrap_or(path), |alias| text_of(alias, text));
    let full = if prefix.is_empty() { path.to_owned() } else { format!("{prefix}\\{path}") };
    found.push(import(node, &full, vec![bound.to_owned()]));
}
