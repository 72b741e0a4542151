//! Here-documents without an end.

use std::collections::VecDeque;

/// The scanner of the grammar does not return from a here-document that interpolates and has no end.
pub(super) fn has_open_heredoc(text: &str) -> bool {
    if memchr::memmem::find(text.as_bytes(), b"<<").is_none() {
        return false;
    }
    let mut open = VecDeque::new();
    let mut is_pod = false;
    for line in text.lines() {
        if let Some(word) = open.front() {
            if line.trim() == *word {
                open.pop_front();
            }
        } else if is_pod {
            is_pod = !line.starts_with("=cut");
        } else if line.strip_prefix('=').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())) {
            is_pod = true;
        } else if !line.trim_start().starts_with('#') {
            open.extend(line.match_indices("<<").filter_map(|(at, _)| word_of(&line[at + 2..])));
        }
    }
    !open.is_empty()
}

/// The word that ends a here-document, from what follows its `<<`.
fn word_of(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('~').unwrap_or(rest);
    for quote in ['"', '\'', '`'] {
        if let Some(quoted) = rest.strip_prefix(quote) {
            return quoted.split_once(quote).map(|(word, _)| word.trim());
        }
    }
    let rest = rest.strip_prefix('\\').unwrap_or(rest);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    word.starts_with(|c: char| !c.is_numeric()).then_some(word)
}
