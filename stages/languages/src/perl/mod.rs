//! Support for Perl 5: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "perl")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Number of lines at the beginning of a text that are searched for evidence that it is or is not Perl.
const PROBED_LINES: usize = 200;

pub(crate) static PERL: Language = Language {
    separator: "::",
    has_absolute_modules: true,
    file_names: &[".latexmkrc", "Rexfile", "cpanfile", "latexmkrc"],
    interpreters: &["perl"],
    aliases: &["cperl", "perl5"],
    rejects,
    imports,
    exported,
    doc_text: Some(doc_text),
    distant_doc: Some("="),
    ..Language::new(
        "perl",
        &["pl", "ph", "plx", "pm", "psgi", "t"],
        || ts_parser_perl::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a text is not Perl: Prolog in `.pl`, or Raku or a shell transcript in `.t`.
fn rejects(text: &str) -> bool {
    let is_perl = |line: &str| {
        [
            "package ",
            "use strict",
            "use warnings",
            "use lib",
            "use Test",
            "use v5",
            "use 5",
            "my ",
            "our ",
            "sub ",
            "=pod",
            "=head",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    };
    let is_clause = |line: &str| line.starts_with(":- ") || line.starts_with(":-\t") || line.trim_end().ends_with(":-");
    let is_transcript = |line: &str| line.starts_with("  $ ");
    let is_raku = |line: &str| line.starts_with("use v6");
    let decisive = text.lines().take(PROBED_LINES).find_map(|line| {
        let is_other = is_clause(line) || is_transcript(line) || is_raku(line);
        (is_other || is_perl(line)).then_some(is_other)
    });
    decisive.unwrap_or(false)
}

/// Whether a definition is visible outside its file. Definitions inside functions and definitions whose names begin
/// with an underscore are not visible.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_nested = matches!(visibility.parent, Some((SymbolKind::Function | SymbolKind::Method, _)));
    !is_nested && !visibility.name.starts_with('_')
}

/// Returns the text of comments or of POD, without the names of POD commands.
fn doc_text(source: &str) -> String {
    if !source.starts_with('=') {
        return text_between(source, &["#"], &[]);
    }
    let lines = source.lines().filter_map(|line| match line.strip_prefix('=') {
        Some(command) => {
            let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
            let has_text = name.starts_with("head") || name == "item";
            has_text.then_some(rest)
        }
        None => Some(line.strip_prefix("# ").unwrap_or(line)),
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Reads `use A::B qw(f g)`, `require A::B`, `require "file"`, and the classes in `use parent`. Pragmas import nothing.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(module) = node.child_by_field_name("module") else {
        let path = node.named_child(0).map_or("", |path| text_of(path, text));
        if !path.is_empty() && !path.starts_with('$') {
            found.push(import(node, path.trim_matches(['"', '\'']), Vec::new()));
        }
        return;
    };
    let path = text_of(module, text);
    let names = words(node, text);
    if matches!(path, "parent" | "base") {
        let classes = names.iter().filter(|name| !name.starts_with('-'));
        found.extend(classes.map(|class| import(node, class, Vec::new())));
    } else if path.starts_with(char::is_uppercase) || path.contains("::") {
        found.push(import(node, path, names));
    }
}

/// Returns the words in the strings and word lists of a statement.
fn words(node: Node<'_>, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "string_literal" | "interpolated_string_literal" | "quoted_word_list" => {
                let content = node.child_by_field_name("content").map_or("", |content| text_of(content, text));
                words.extend(content.split_whitespace().map(str::to_owned));
            }
            "use_statement" | "list_expression" | "parenthesized_expression" => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                pending.extend(children.into_iter().rev());
            }
            _ => {}
        }
    }
    words
}
