//! Support for JavaScript with JSX: ES modules, CommonJS and scripts.

#![cfg(feature = "javascript")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind, bounded};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// JavaScript and JSX.
pub(crate) static JAVASCRIPT: Language = Language {
    reserved: RESERVED,
    has_reserved_members: true,
    omitted_qualifiers: OMITTED_QUALIFIERS,
    owner_suffix: ".prototype",
    imports,
    exported,
    interpreters: &["node", "nodejs"],
    aliases: &["node", "ecmascript", "javascriptreact"],
    ..Language::new(
        "javascript",
        &["js", "jsx", "mjs", "cjs"],
        || tree_sitter_javascript::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("classes.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Owners that are omitted from qualified names: `exports.parse = …` defines `parse`, which is not a member.
pub(crate) const OMITTED_QUALIFIERS: &[&str] =
    &["exports", "module", "module.exports", "this", "self", "window", "globalThis", "prototype"];

/// Keywords that cannot be names of functions.
pub(crate) const RESERVED: &[&str] = &[
    "break", "case", "catch", "class", "const", "continue", "do", "else", "finally", "for", "function", "if", "return",
    "switch", "throw", "try", "var", "while", "with",
];

/// Whether a definition is visible outside its file. Members are as visible as their parent, unless `#` or a modifier
/// makes them private.
pub(crate) fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_private = visibility.name.starts_with('#')
        || ["private ", "protected ", "#"].iter().any(|prefix| visibility.signature.starts_with(prefix));
    match visibility.parent {
        Some((SymbolKind::Function | SymbolKind::Method, _)) => false,
        Some((SymbolKind::Module, _)) | None => visibility.exported,
        Some((_, parent)) => parent && !is_private,
    }
}

/// Maximum number of nodes that are read for one import.
const MAX_IMPORT_NODES: usize = 4_096;

/// Reads `import` statements, `export` statements that re-export, and calls of `require(…)` and `import(…)` with the
/// names to which their results are bound.
pub(crate) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    // TypeScript has the form `import fs = require("fs")`.
    let clause = node.named_children(&mut cursor).find(|child| child.kind() == "import_require_clause");
    let node = clause.unwrap_or(node);
    let source = node.child_by_field_name("source").or_else(|| required(node));
    let Some(source) = source else { return };
    let path = text_of(source, text).trim_matches(['"', '\'', '`']);
    let (mut names, mut members) = (Vec::new(), Vec::new());
    let mut cursor = node.walk();
    let mut descend = true;
    for _ in 0..MAX_IMPORT_NODES {
        let at = cursor.node();
        let is_module = at.id() == source.id();
        match at.kind() {
            "import_specifier" | "pair_pattern" | "export_specifier" => {
                let member = at.child_by_field_name("name").or_else(|| at.child_by_field_name("key"));
                let name = at
                    .child_by_field_name("alias")
                    .or_else(|| at.child_by_field_name("value"))
                    .or_else(|| at.child_by_field_name("name"));
                if at.kind() != "export_specifier" {
                    names.extend(name.map(|name| text_of(name, text).to_owned()));
                }
                members.extend(name.zip(member).map(|(name, member)| bound_member(name, member, text)));
                descend = false;
            }
            "namespace_import" | "namespace_export" | "*" => {
                let name = at.named_child(0).map_or("*", |name| bounded(text_of(name, text)));
                if at.kind() == "namespace_import" {
                    names.push(name.to_owned());
                }
                members.push((name.to_owned(), "*".to_owned()));
                descend = false;
            }
            "identifier" | "shorthand_property_identifier_pattern" => {
                let name = text_of(at, text);
                let is_destructured = at.kind() == "shorthand_property_identifier_pattern";
                let member = if is_destructured { bounded(name) } else { default_member(node, text) };
                members.push((bounded(name).to_owned(), member.to_owned()));
                names.push(name.to_owned());
            }
            "call_expression" | "await_expression" | "member_expression" => descend = false,
            _ => {}
        }
        if descend && !is_module && cursor.goto_first_child() {
            continue;
        }
        descend = true;
        let mut done = false;
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node().id() == node.id() {
                done = true;
                break;
            }
        }
        if done {
            break;
        }
    }
    found.push(Import { members, ..import(node, path, names) });
}

fn bound_member(name: Node<'_>, member: Node<'_>, text: &str) -> (String, String) {
    (bounded(text_of(name, text)).to_owned(), bounded(text_of(member, text)).to_owned())
}

/// Returns the member that a plain name in an import binds: the default export, or, in CommonJS, a member or the whole
/// module (`*`).
fn default_member<'t>(import: Node<'_>, text: &'t str) -> &'t str {
    if import.kind() == "import_statement" {
        return "default";
    }
    let value = import.child_by_field_name("value").filter(|value| value.kind() == "member_expression");
    let is_own =
        |value: &Node<'_>| value.child_by_field_name("object").is_some_and(|object| object.kind() == "call_expression");
    let member = value.filter(is_own).and_then(|value| value.child_by_field_name("property"));
    member.map_or("*", |member| bounded(text_of(member, text)))
}

/// Returns the argument of the `require` or `import` call in a declaration or expression statement.
fn required<'t>(node: Node<'t>) -> Option<Node<'t>> {
    let mut at = node.child_by_field_name("value").or_else(|| node.child_by_field_name("arguments").map(|_| node))?;
    loop {
        at = match at.kind() {
            "await_expression" => at.named_child(0)?,
            "member_expression" => at.child_by_field_name("object")?,
            "call_expression" => {
                let argument = at.child_by_field_name("arguments")?.named_child(0)?;
                return matches!(argument.kind(), "string" | "template_string").then_some(argument);
            }
            _ => return None,
        };
    }
}
