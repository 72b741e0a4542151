//! Support for Org. Headlines begin sections. Custom ids, targets and the definitions in source blocks become names of
//! their section.

#![cfg(feature = "org")]

use rustc_hash::FxHashSet;

use crate::highlight::TokenClass;
use crate::language::Language;
use crate::outline::{Ends, Line, Outline, enclosed, joined_words, lines_of, title_source};

#[cfg(test)]
mod tests;

/// Org documents.
pub(crate) static ORG: Language = Language {
    aliases: &["org-mode"],
    line_class: Some(class_of_line),
    ..Language::document("org", &["org"], outline, |text| outline(text).code)
};

fn outline(text: &str) -> Outline<'_> {
    let lines = lines_of(text);
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    for (row, line) in lines.iter().enumerate() {
        begins.extend(block_name(line.text, "#+begin_").map(|name| (name, row)));
        ends.extend(block_name(line.text, "#+end_").map(|name| (name, row)));
    }
    let (begins, ends) = (Ends::new(begins.into_iter()), Ends::new(ends.into_iter()));
    let keywords = todo_keywords(&lines);
    let mut found = Outline::default();
    // Level of the title of the document, which encloses all headlines.
    let mut title_level = 0;
    let mut row = 0;
    while let Some(line) = lines.get(row) {
        row += 1;
        if let Some(name) = block_name(line.text, "#+begin_") {
            // The end belongs to a later block if another block of this kind begins before it.
            let end = ends.after(row - 1, &name).filter(|end| begins.after(row - 1, &name).is_none_or(|b| b > *end));
            if let Some(end) = end {
                if name == "src" {
                    let language = line.text.split_whitespace().nth(1).unwrap_or_default();
                    found.push_code(language, line.end..lines[end].at);
                }
                row = end + 1;
            }
        } else if let Some((level, title)) = headline(line.text) {
            found.push_heading(line.at, level + title_level, plain_title(title, &keywords));
        } else if let Some(title) = keyword(line.text, "#+title:").filter(|_| found.headings.is_empty()) {
            found.push_heading(line.at, 1, plain_markup(title));
            title_level = found.headings.len();
        } else if let Some(id) = keyword(line.text, ":custom_id:").or_else(|| keyword(line.text, "#+name:")) {
            found.push_label(line.at, id);
        } else {
            for (at, target) in enclosed(line.text, "<<", ">>") {
                found.push_label(line.at + at, target.trim_start_matches('<'));
            }
        }
    }
    found
}

/// Returns the name of the block that a line begins or ends, in lower case.
fn block_name(line: &str, prefix: &str) -> Option<String> {
    let name = keyword(line, prefix)?.split_whitespace().next()?;
    Some(title_source(name).to_ascii_lowercase())
}

/// Returns the value after a keyword in lower case, ignoring the case and the indentation of the line.
fn keyword<'t>(line: &'t str, keyword: &str) -> Option<&'t str> {
    let line = line.trim_start();
    let (start, value) = line.split_at_checked(keyword.len())?;
    start.eq_ignore_ascii_case(keyword).then(|| value.trim())
}

/// Returns the level and the text of a headline.
fn headline(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('*');
    let level = line.len() - title.len();
    (level > 0 && title.starts_with([' ', '\t'])).then(|| (level, title.trim()))
}

/// Returns the keywords that mark the state of a headline: those that the document declares, or else `TODO` and `DONE`.
fn todo_keywords<'t>(lines: &[Line<'t>]) -> FxHashSet<&'t str> {
    let declared = |line: &Line<'t>| {
        let prefixes = ["#+todo:", "#+seq_todo:", "#+typ_todo:"];
        prefixes.iter().find_map(|prefix| keyword(line.text, prefix))
    };
    let words = lines.iter().filter_map(declared).flat_map(str::split_whitespace).filter(|word| *word != "|");
    let words: FxHashSet<&str> = words.map(|word| word.split_once('(').map_or(word, |(word, _)| word)).collect();
    if words.is_empty() { FxHashSet::from_iter(["TODO", "DONE"]) } else { words }
}

/// Returns the text of a headline without state, priority, tags, link targets and markup.
fn plain_title(source: &str, keywords: &FxHashSet<&str>) -> String {
    let mut title = title_source(source);
    if let Some((_, rest)) = title.split_once(' ').filter(|(state, _)| keywords.contains(state)) {
        title = rest.trim_start();
    } else if keywords.contains(title) {
        title = "";
    }
    if let Some((_, rest)) = title.strip_prefix("[#").and_then(|rest| rest.split_once(']')).filter(|(p, _)| p.len() < 3)
    {
        title = rest.trim_start();
    }
    if let Some((before, tags)) = title.rsplit_once([' ', '\t']).or(Some(("", title)))
        && is_tags(tags)
    {
        title = before;
    }
    plain_markup(title)
}

/// Whether a word is a list of tags, such as `:work:urgent:`.
fn is_tags(word: &str) -> bool {
    let inner = word.strip_prefix(':').and_then(|word| word.strip_suffix(':'));
    let is_tag = |tag: &str| !tag.is_empty() && tag.chars().all(|c| c.is_alphanumeric() || "_@#%".contains(c));
    inner.is_some_and(|inner| inner.split(':').all(is_tag))
}

/// Returns the visible text of links, and removes the markup of code.
fn plain_markup(source: &str) -> String {
    let mut title = String::new();
    let mut rest = title_source(source);
    while let Some((before, link)) = rest.split_once("[[") {
        title.push_str(before);
        let Some((link, after)) = link.split_once("]]") else {
            rest = link;
            break;
        };
        title.push_str(link.split_once("][").map_or(link, |(_, shown)| shown));
        rest = after;
    }
    title.push_str(rest);
    let words = title.split_whitespace().map(|word| match word.as_bytes() {
        [mark @ (b'=' | b'~' | b'*'), .., last] if mark == last && word.len() > 2 => &word[1..word.len() - 1],
        _ => word,
    });
    joined_words(&words.collect::<Vec<_>>().join(" "))
}

fn class_of_line(line: &str) -> Option<TokenClass> {
    if headline(line).is_some() {
        return Some(TokenClass::Heading);
    }
    (line.starts_with("# ") || line == "#").then_some(TokenClass::Comment)
}
