//! Determines terms that every chunk with a match of a pattern contains, so that the dictionary can exclude chunks
//! before any text is read.
//!
//! A word of the pattern is a term if the characters before and after it cannot be part of an identifier, as in
//! `(config)`. The text around the match does not change such a term. In a case-sensitive pattern, parts of identifiers
//! count as well: in `handleRequest`, the analyzer splits before the `R`, so some term begins with `request`.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Maximum length of a term in bytes. The index may store a digest in place of a longer identifier.
const MAX_TERM_BYTES: usize = 48;
/// The long s. In a case-insensitive pattern, an `s` also matches a long s, but the dictionary has different terms for
/// the two letters.
const LONG_S: char = 'ſ';
/// Maximum number of letters `s` for which spellings with a long s are looked up.
const MAX_LONG_S: usize = 3;

/// Minimum length of a prefix in bytes. Too many terms share a shorter prefix.
const MIN_PREFIX_BYTES: usize = 4;

/// A requirement that every chunk with a match meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequiredTerm {
    /// The chunk contains one of these terms, which are spellings of one word.
    Term(Vec<String>),
    /// The chunk contains a term that begins with this prefix.
    Prefix(String),
}

/// An element of a pattern, from left to right.
enum PatternItem {
    /// The character `c`; if `folded` is true, in either case.
    Char { c: char, folded: bool },
    /// At least one character that cannot be part of an identifier, or the start or end of a line.
    Edge,
    /// Anything else.
    Unknown,
}

/// Returns the requirements that every chunk with a match of the pattern meets.
pub(crate) fn required_terms(pattern: &Hir) -> Vec<RequiredTerm> {
    let mut items = Vec::new();
    walk(pattern, &mut items);
    let mut required_terms = Vec::new();
    let is_char = |item: &PatternItem| matches!(item, PatternItem::Char { .. });
    let runs = items.chunk_by(|a, b| is_char(a) && is_char(b)).collect::<Vec<_>>();
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| is_char(&run[0])) {
        let is_edge =
            |at: Option<usize>| at.and_then(|at| runs.get(at)).is_some_and(|run| matches!(run[0], PatternItem::Edge));
        let (starts, ends) = (is_edge(at.checked_sub(1)), is_edge(Some(at + 1)));
        let chars = run.iter().filter_map(|item| match item {
            PatternItem::Char { c, folded } => Some((*c, *folded)),
            _ => None,
        });
        let (text, folded): (String, Vec<bool>) = chars.unzip();
        let folded = folded.contains(&true);
        if !text.is_ascii() {
            continue;
        }
        if starts && ends {
            required_terms.extend(spellings(&text.to_ascii_lowercase(), folded).map(RequiredTerm::Term));
        }
        if !folded {
            parts(text.as_bytes(), starts, ends, &mut required_terms);
        }
    }
    required_terms
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Lower,
    Upper,
    Digit,
    Underscore,
}

fn char_class(byte: u8) -> CharClass {
    match byte {
        b'a'..=b'z' => CharClass::Lower,
        b'A'..=b'Z' => CharClass::Upper,
        b'_' => CharClass::Underscore,
        _ => CharClass::Digit,
    }
}

/// Adds requirements for the parts of an identifier fragment that the analyzer splits off in any context. `starts` is
/// true if the identifier starts with the fragment, and `ends` is true if the identifier ends with it.
fn parts(text: &[u8], starts: bool, ends: bool, required_terms: &mut Vec<RequiredTerm>) {
    let end_of =
        |from: usize, of: CharClass| from + text[from..].iter().take_while(|byte| char_class(**byte) == of).count();
    let mut at = 0;
    while at < text.len() {
        let first = char_class(text[at]);
        let start = at;
        at = end_of(at, first);
        // The analyzer always splits where the class changes. Only the first part may continue to the left of the
        // fragment.
        let is_cut = start > 0 || starts;
        let mut add = |part: std::ops::Range<usize>, is_cut: bool| {
            let is_whole = part.end < text.len() || ends;
            required_terms.extend(is_cut.then(|| part_term(&text[part], is_whole)).flatten());
        };
        match first {
            CharClass::Underscore => {}
            CharClass::Lower | CharClass::Digit => add(start..at, is_cut),
            CharClass::Upper => {
                let end = end_of(at, CharClass::Lower);
                match end - at {
                    0 if at < text.len() || ends => add(start..at, is_cut),
                    // Without a lower-case letter, some may follow the fragment. A single lower-case letter may be the
                    // `s` of a plural, which does not form a word with the last upper-case letter.
                    count if count == 0 || count == 1 && text[at] == b's' => {
                        required_terms.extend(is_cut.then(|| part_term(&text[start..at], false)).flatten());
                    }
                    // The last upper-case letter and the lower-case letters after it form a part, even if the fragment
                    // continues to the left.
                    _ => {
                        if at - start > 1 {
                            required_terms.extend(is_cut.then(|| part_term(&text[start..at - 1], true)).flatten());
                        }
                        let is_whole = end < text.len() || ends;
                        required_terms.extend(part_term(&text[at - 1..end], is_whole));
                    }
                }
                at = end;
            }
        }
    }
}

/// Converts a part to a term, or to a prefix if the part may continue. A prefix omits the last character, because a
/// following combining mark may change it.
fn part_term(part: &[u8], is_whole: bool) -> Option<RequiredTerm> {
    let text = String::from_utf8_lossy(part).to_ascii_lowercase();
    if is_whole {
        return (text.len() <= MAX_TERM_BYTES).then(|| RequiredTerm::Term(vec![text]));
    }
    let known = &text[..text.len().saturating_sub(1).min(MAX_TERM_BYTES)];
    (known.len() >= MIN_PREFIX_BYTES).then(|| RequiredTerm::Prefix(known.to_owned()))
}

fn walk(pattern: &Hir, items: &mut Vec<PatternItem>) {
    match pattern.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => items.extend(text.chars().map(|c| item_of(c, false))),
            Err(_) => items.push(PatternItem::Unknown),
        },
        HirKind::Class(class) => items.push(item_of_class(class)),
        HirKind::Look(look) => items.push(match look {
            Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => {
                PatternItem::Edge
            }
            _ => PatternItem::Unknown,
        }),
        HirKind::Repetition(repetition) if repetition.min == 0 => items.push(PatternItem::Unknown),
        HirKind::Repetition(repetition) => {
            let from = items.len();
            walk(&repetition.sub, items);
            if items[from..].iter().all(|item| matches!(item, PatternItem::Edge)) {
                items.truncate(from);
                items.push(PatternItem::Edge);
            } else {
                items.push(PatternItem::Unknown);
            }
        }
        HirKind::Capture(capture) => walk(&capture.sub, items),
        HirKind::Concat(parts) => parts.iter().for_each(|part| walk(part, items)),
        HirKind::Alternation(_) => items.push(PatternItem::Unknown),
    }
}

fn item_of(c: char, folded: bool) -> PatternItem {
    match c {
        c if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' => PatternItem::Edge,
        c if c.is_whitespace() => PatternItem::Edge,
        c => PatternItem::Char { c, folded },
    }
}

/// Converts a character class. A class is [`PatternItem::Unknown`] unless it is one letter in both cases or a small set
/// of characters that cannot be part of an identifier.
fn item_of_class(class: &Class) -> PatternItem {
    const FEW: usize = 64;
    let class = match class {
        Class::Unicode(class) => Some(class.clone()),
        Class::Bytes(class) => class.to_unicode_class(),
    };
    let Some(class) = class else { return PatternItem::Unknown };
    let chars: Vec<char> = class.iter().flat_map(|range| range.start()..=range.end()).take(FEW + 1).collect();
    if chars.is_empty() || chars.len() > FEW {
        return PatternItem::Unknown;
    }
    if chars.iter().all(|c| matches!(item_of(*c, false), PatternItem::Edge)) {
        return PatternItem::Edge;
    }
    let letter = chars.iter().copied().find(char::is_ascii_alphabetic);
    let folds_to = |c: char, letter: char| {
        c.eq_ignore_ascii_case(&letter) || matches!((c, letter.to_ascii_lowercase()), (LONG_S, 's') | ('\u{212a}', 'k'))
    };
    match letter {
        Some(letter) if chars.iter().all(|c| folds_to(*c, letter)) => PatternItem::Char { c: letter, folded: true },
        _ => PatternItem::Unknown,
    }
}

/// Returns the spellings of a word as terms; `None` if the word has no letter or digit, is too long or has too many
/// spellings.
fn spellings(word: &str, folded: bool) -> Option<Vec<String>> {
    let is_word = word.bytes().any(|b| b.is_ascii_alphanumeric());
    let places: Vec<usize> = word.match_indices('s').map(|(at, _)| at).filter(|_| folded).collect();
    if !is_word || word.len() > MAX_TERM_BYTES || places.len() > MAX_LONG_S {
        return None;
    }
    let spelling = |long: u32| {
        let is_long = |at: usize| places.iter().position(|place| *place == at).is_some_and(|n| long & (1 << n) != 0);
        word.char_indices().map(|(at, c)| if is_long(at) { LONG_S } else { c }).collect()
    };
    Some((0..1_u32 << places.len()).map(spelling).collect())
}

#[cfg(test)]
mod tests {
    use regex_syntax::ParserBuilder;

    use super::*;

    fn requirements(pattern: &str, insensitive: bool) -> Vec<String> {
        let hir = ParserBuilder::new().case_insensitive(insensitive).multi_line(true).build().parse(pattern);
        let mut shown: Vec<String> = required_terms(&hir.expect("a pattern"))
            .into_iter()
            .map(|need| match need {
                RequiredTerm::Term(spellings) => spellings.join("|"),
                RequiredTerm::Prefix(prefix) => format!("{prefix}…"),
            })
            .collect();
        shown.dedup();
        shown
    }

    #[test]
    fn words_between_characters_outside_of_identifiers_are_required() {
        for (pattern, expected) in [
            ("config", &[][..]),
            ("(config)", &[]),
            (r"\(config\)", &["config"]),
            (r"def\s+pars\(", &["pars"]),
            (r"return self\.name", &["self"]),
            ("^import os$", &["import", "os"]),
            ("^fn (new|open)\\(", &["fn"]),
            (r"\bconfig\b", &[]),
            (" a+ ", &[]),
            (" (one )?two ", &[]),
            (" one (two )+", &["one", "two"]),
            (" café ", &[]),
            ("_ _ 1 ", &["1"]),
            (r"\Wname\W", &[]),
        ] {
            assert_eq!(requirements(pattern, false), expected, "{pattern}");
        }
        assert_eq!(requirements(r"raise keyError\(", true), ["keyerror"]);
        assert_eq!(requirements(" sassafras ", true), [""; 0]);
        assert_eq!(requirements(" As ", true), ["as|aſ"], "an `s` in either case can be a long s");
    }

    #[test]
    fn parts_of_identifiers_are_required_in_any_context() {
        for (pattern, expected) in [
            ("handleRequest", &["reques…"][..]),
            ("Request", &["reques…"]),
            ("UserManager", &["user", "manage…"]),
            ("my_long_name", &["long"]),
            ("xHTTPServer", &["http", "serve…"]),
            ("HTTPServer", &["serve…"]),
            ("MAX_RETRIES", &["retrie…"]),
            ("_URLs", &[]),
            ("parseURLsOf", &[]),
            ("utf8Reader_", &["8", "reader"]),
            (r"\(parseIt\(", &["parseit", "parse", "it"]),
            ("ABC", &[]),
        ] {
            assert_eq!(requirements(pattern, false), expected, "{pattern}");
        }
    }
}
