//! Support for makefiles: targets, macros and variables.

#![cfg(feature = "make")]

use tree_sitter::Node;

use crate::language::{FileDoc, Language, QueryCache, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod masked;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Makefiles of GNU make and of compatible programs, and Kbuild.
pub(crate) static MAKE: Language = Language {
    file_names: &["BSDmakefile", "GNUmakefile", "Kbuild", "Makefile", "Makefile.*", "makefile", "makefile.*"],
    interpreters: &["make"],
    aliases: &["makefile", "makefile-gmake"],
    is_declarative: true,
    imports,
    name_in,
    exported: |_| true,
    ends_at_token: true,
    is_flat: true,
    masked: masked::masked,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "make",
        &["mk", "mak", "make"],
        || tree_sitter_make::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Special targets, which are instructions to `make`.
const SPECIAL_TARGETS: &[&str] = &[
    ".DEFAULT",
    ".DEFAULT_GOAL",
    ".DELETE_ON_ERROR",
    ".EXPORT_ALL_VARIABLES",
    ".IGNORE",
    ".INTERMEDIATE",
    ".NOTPARALLEL",
    ".ONESHELL",
    ".PHONY",
    ".POSIX",
    ".PRECIOUS",
    ".SECONDARY",
    ".SECONDEXPANSION",
    ".SILENT",
    ".SUFFIXES",
];

/// Returns the first of several targets, or the whole line if it refers to a variable or function, because such a
/// reference may contain spaces.
fn name_in(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('\\').trim();
    let name = if line.contains('$') { line } else { line.split_whitespace().next().unwrap_or_default() };
    if SPECIAL_TARGETS.contains(&name) { "" } else { name }
}

fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let files = node.child_by_field_name("filenames").map(|files| text_of(files, text)).unwrap_or_default();
    let files = files.split_whitespace().filter(|file| *file != "\\");
    found.extend(files.map(|file| import(node, file, vec!["*".to_owned()])));
}
