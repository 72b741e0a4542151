//! Support for CMake: functions, macros and targets.

#![cfg(feature = "cmake")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// CMake scripts.
pub(crate) static CMAKE: Language = Language {
    file_names: &["CMakeLists.txt"],
    aliases: &["cmake-mode"],
    imports,
    name_in,
    exported: |visibility| !visibility.name.starts_with('_'),
    doc_text: Some(doc_text),
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "cmake",
        &["cmake"],
        || tree_sitter_cmake::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. The name is empty if it begins with a variable, as in functions that add targets.
fn name_in(text: &str) -> &str {
    let name = text.trim_matches('"');
    if name.starts_with('$') { "" } else { name }
}

/// Returns the text of line comments, or of a bracket comment such as `#[==[.rst: … #]==]`.
fn doc_text(source: &str) -> String {
    let bracket = source.strip_prefix("#[").map(|rest| rest.trim_start_matches('='));
    let Some(inner) = bracket.and_then(|rest| rest.strip_prefix('[')) else {
        return text_between(source, &["##", "#"], &[]);
    };
    let inner = inner.strip_prefix(".rst:").unwrap_or(inner).trim_end_matches([']', '=', '#']);
    text_between(inner, &[], &[])
}

/// Reads the first argument of `include`, `find_package` and `add_subdirectory`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let arguments = node.named_child(1);
    if let Some(path) = arguments.and_then(|arguments| arguments.named_child(0)) {
        found.push(import(node, text_of(path, text).trim_matches('"'), vec!["*".to_owned()]));
    }
}
