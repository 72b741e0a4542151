//! Support for INI files, property files and unit files. Named sections are symbols, and keys are constants.

#![cfg(feature = "ini")]

use crate::language::{BlockLimits, FileDoc, Language, QueryCache};
use crate::mask::Mask;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Files with `key = value` lines, with or without sections.
pub(crate) static INI: Language = Language {
    file_names: &[
        ".coveragerc",
        ".editorconfig",
        ".env.example",
        ".env.sample",
        ".env.template",
        ".flake8",
        ".gitconfig",
        ".gitmodules",
        ".pylintrc",
        "pylintrc",
    ],
    aliases: &["dosini", "conf-unix", "jproperties"],
    claims: &[("cfg", begins_with_section), ("cnf", begins_with_section), ("conf", begins_with_section)],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    masked,
    ends_at_token: true,
    doc_text: Some(doc_text),
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "ini",
        &["ini", "properties", "desktop", "service", "socket", "timer", "mount", "automount"],
        || tree_sitter_ini::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Whether the first line that is not blank or a comment is the header of a section.
fn begins_with_section(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';'])).is_some_and(|line| section(line).is_some())
}

/// Returns the text of comments without `#` or `;`.
fn doc_text(comments: &str) -> String {
    let lines = comments.lines().map(|line| line.trim().trim_start_matches(['#', ';']).trim());
    lines.collect::<Vec<_>>().join("\n")
}

/// Masks syntax that the grammar does not support: comments after `!` and after section headers, continuation lines,
/// and keys without a value. Replaces a colon after a key with `=`.
fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    let (mut start, mut continues) = (0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let at = start + line.len() - line.trim_start().len();
        let end = start + line.len();
        start = end;
        let is_comment = !continues && content.starts_with(['#', ';']);
        let is_continued = continues;
        continues = !is_comment && ends_in_backslash(content);
        if is_comment || content.is_empty() {
            continue;
        }
        if is_continued {
            mask.blank(at..end);
        } else if let Some(section) = section(content) {
            mask.blank(at + section..end);
        } else if let Some(separator) = separator(content) {
            mask.replace(at + separator..at + separator + 1, "=");
        } else {
            mask.blank(at..end);
        }
    }
    mask.text()
}

/// Returns the length of `[name]` at the start of a line.
fn section(line: &str) -> Option<usize> {
    let name = line.strip_prefix('[')?.split_once(']')?.0;
    (!name.trim().is_empty() && !name.contains('[')).then_some(name.len() + 2)
}

/// Returns the offset of the separator after a key.
fn separator(line: &str) -> Option<usize> {
    let at = line.find(['=', ':'])?;
    let key = line[..at].trim_end();
    (!key.is_empty() && !key.contains([';', '#', '[', '\t', '!'])).then_some(at)
}

/// Whether a line is continued on the next line: it ends with an odd number of backslashes. An even number denotes
/// literal backslashes.
fn ends_in_backslash(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
