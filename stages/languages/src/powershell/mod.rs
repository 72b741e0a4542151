//! Support for PowerShell: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "powershell")]

use std::ops::Range;

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// PowerShell: scripts, modules and their manifests.
pub(crate) static POWERSHELL: Language = Language {
    interpreters: &["powershell", "pwsh"],
    aliases: &["posh", "pwsh"],
    imports,
    exported,
    name_in,
    docstring: Some(docstring),
    doc_text: Some(|source| text_between(source, &["<#", "#>", "#"], &["#>"])),
    file_doc: FileDoc::Prefix("<#"),
    ..Language::new(
        "powershell",
        &["ps1", "psd1", "psm1"],
        || tree_sitter_powershell::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file: it is neither a hidden member nor inside a function.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_hidden = visibility.signature.split(' ').any(|word| word.eq_ignore_ascii_case("hidden"));
    let is_nested = matches!(visibility.parent, Some((SymbolKind::Function | SymbolKind::Method, _)));
    !is_hidden && !is_nested
}

/// Returns `name` for `$name`, `${name}`, `$script:name` and `global:name`.
fn name_in(text: &str) -> &str {
    let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
    match name.split_once(':') {
        Some((scope, name)) if scope.bytes().all(|byte| byte.is_ascii_alphabetic()) && !name.is_empty() => name,
        _ => name,
    }
}

/// Returns the block comment (`<# … #>`) before the body of a function, or at the start of the body.
fn docstring(body: Node<'_>, text: &str) -> Option<Range<usize>> {
    let before = body.prev_sibling().filter(|node| node.kind() == "comment");
    let comment = before.or_else(|| body.named_child(0).filter(|node| node.kind() == "comment"))?;
    text_of(comment, text).starts_with("<#").then(|| comment.byte_range())
}

/// Reads `Import-Module NAME`, `using module NAME`, `using namespace NAME` and `. FILE`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(command) = node.child_by_field_name("command_name") else { return };
    let command = text_of(command, text);
    let mut cursor = node.walk();
    if node.named_children(&mut cursor).any(|child| child.kind() == "command_invokation_operator") {
        let path = command.trim_matches(['"', '\'']);
        if path.contains(['/', '\\']) || path.ends_with(".ps1") {
            found.push(import(node, path, vec!["*".to_owned()]));
        }
        return;
    }
    let Some(elements) = node.child_by_field_name("command_elements") else { return };
    let mut cursor = elements.walk();
    let is_argument = |child: &Node<'_>| !matches!(child.kind(), "command_argument_sep" | "command_parameter");
    let mut arguments = elements.named_children(&mut cursor).filter(is_argument);
    // The first argument of `using module NAME` is the kind.
    let skipped = usize::from(command.eq_ignore_ascii_case("using"));
    if let Some(path) = arguments.nth(skipped) {
        found.push(import(node, text_of(path, text).trim_matches(['"', '\'']), vec!["*".to_owned()]));
    }
}
