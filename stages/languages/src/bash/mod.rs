//! Support for shell scripts: Bash, and the syntax that other shells share with Bash.

#![cfg(feature = "bash")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod masked;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Bash, POSIX shell, Zsh and Ksh.
pub(crate) static BASH: Language = Language {
    file_names: &[
        ".bash_aliases",
        ".bash_functions",
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".envrc",
        ".kshrc",
        ".profile",
        ".shrc",
        ".xinitrc",
        ".xprofile",
        ".xsession",
        ".zlogin",
        ".zlogout",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "APKBUILD",
        "PKGBUILD",
        "bash.bashrc",
        "bashrc",
        "zshrc",
    ],
    interpreters: &["ash", "bash", "bats", "dash", "ksh", "mksh", "rbash", "sh", "zsh"],
    aliases: &["bash-ts", "shell", "shell-script", "shellscript"],
    imports,
    exported: |visibility| !visibility.name.starts_with('_'),
    name_in,
    doc_text: Some(doc_text),
    masked: masked::masked,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "bash",
        &["sh", "bash", "bats", "ebuild", "eclass", "ksh", "zsh", "zsh-theme"],
        || tree_sitter_bash::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name in an argument of `alias`: `ll` for `ll=ls`. Returns an empty string for an option of `alias`.
fn name_in(text: &str) -> &str {
    let name = text.split('=').next().unwrap_or_default();
    if name.starts_with('-') { "" } else { name }
}

/// Returns the text of comments without the `#!` line.
fn doc_text(source: &str) -> String {
    let comments = match source.strip_prefix("#!") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, comments)| comments),
        None => source,
    };
    text_between(comments, &["###", "##", "#"], &[])
}

/// Reads the file in commands such as `source FILE`, and all names in `inherit A B` of an ebuild.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let is_inherit = node.child_by_field_name("name").is_some_and(|name| text_of(name, text) == "inherit");
    let mut cursor = node.walk();
    let arguments = node.children_by_field_name("argument", &mut cursor);
    for argument in arguments.take(if is_inherit { usize::MAX } else { 1 }) {
        let path = text_of(argument, text).trim_matches(['"', '\'']);
        found.push(import(node, path, vec!["*".to_owned()]));
    }
}
