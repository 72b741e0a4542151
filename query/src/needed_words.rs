//! Words that every match of a pattern is known to hold whole, for looking up in the dictionary before any text is read.
//!
//! A word counts only where the pattern itself has something before and after it that can be no part of an identifier,
//! as both ends of `config` in `(config)`: then the analyzer gave it as a term, whatever stood around the match.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// A longer identifier may be stored under a digest.
const LONGEST: usize = 48;
/// The long s, which a pattern without regard to case takes for an `s`, stays itself in a term.
const LONG_S: char = 'ſ';
/// Beyond so many, the spellings with a long s are not worth looking up.
const MOST_LONG_S: usize = 3;

/// The terms that stand for one word, of which every match holds at least one.
pub(crate) type Spellings = Vec<String>;

/// What a match is made of, from left to right.
enum Item {
    /// This character; in either case where `folded`.
    Char { c: char, folded: bool },
    /// At least one character that is no part of an identifier, or the end of a line.
    Edge,
    /// Anything.
    Unknown,
}

/// The words that every match of a pattern holds.
pub(crate) fn needed_words(pattern: &Hir) -> Vec<Spellings> {
    let mut items = vec![Item::Unknown];
    walk(pattern, &mut items);
    items.push(Item::Unknown);
    let mut words = Vec::new();
    let mut word: Option<(String, bool)> = None;
    for item in items {
        match item {
            Item::Char { c, folded } => match &mut word {
                Some((text, any)) if c.is_ascii() => {
                    text.push(c.to_ascii_lowercase());
                    *any |= folded;
                }
                _ => word = None,
            },
            Item::Edge => {
                let before = word.replace((String::new(), false));
                words.extend(before.and_then(|(text, folded)| spellings(&text, folded)));
            }
            Item::Unknown => word = None,
        }
    }
    words
}

fn walk(pattern: &Hir, items: &mut Vec<Item>) {
    match pattern.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => items.extend(text.chars().map(|c| item_of(c, false))),
            Err(_) => items.push(Item::Unknown),
        },
        HirKind::Class(class) => items.push(item_of_class(class)),
        HirKind::Look(look) => items.push(match look {
            Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF => Item::Edge,
            _ => Item::Unknown,
        }),
        HirKind::Repetition(repetition) if repetition.min == 0 => items.push(Item::Unknown),
        HirKind::Repetition(repetition) => {
            let from = items.len();
            walk(&repetition.sub, items);
            if items[from..].iter().all(|item| matches!(item, Item::Edge)) {
                items.truncate(from);
                items.push(Item::Edge);
            } else {
                items.push(Item::Unknown);
            }
        }
        HirKind::Capture(capture) => walk(&capture.sub, items),
        HirKind::Concat(parts) => parts.iter().for_each(|part| walk(part, items)),
        HirKind::Alternation(_) => items.push(Item::Unknown),
    }
}

fn item_of(c: char, folded: bool) -> Item {
    match c {
        c if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' => Item::Edge,
        c if c.is_whitespace() => Item::Edge,
        c => Item::Char { c, folded },
    }
}

/// A class is known where it is one letter in both cases, or a few characters that all end identifiers.
fn item_of_class(class: &Class) -> Item {
    const FEW: usize = 64;
    let chars: Vec<char> = match class {
        Class::Unicode(class) => class.iter().flat_map(|range| range.start()..=range.end()).take(FEW + 1).collect(),
        Class::Bytes(class) => match class.to_unicode_class() {
            Some(class) => class.iter().flat_map(|range| range.start()..=range.end()).take(FEW + 1).collect(),
            None => return Item::Unknown,
        },
    };
    if chars.is_empty() || chars.len() > FEW {
        return Item::Unknown;
    }
    if chars.iter().all(|c| matches!(item_of(*c, false), Item::Edge)) {
        return Item::Edge;
    }
    let letter = chars.iter().copied().find(char::is_ascii_alphabetic);
    let folds_to = |c: char, letter: char| {
        c.eq_ignore_ascii_case(&letter) || matches!((c, letter.to_ascii_lowercase()), (LONG_S, 's') | ('\u{212a}', 'k'))
    };
    match letter {
        Some(letter) if chars.iter().all(|c| folds_to(*c, letter)) => Item::Char { c: letter, folded: true },
        _ => Item::Unknown,
    }
}

/// The terms of a word; nothing where it says too little or could be stored in too many ways.
fn spellings(word: &str, folded: bool) -> Option<Spellings> {
    let is_word = word.bytes().any(|b| b.is_ascii_alphanumeric());
    let places: Vec<usize> = word.match_indices('s').map(|(at, _)| at).filter(|_| folded).collect();
    if !is_word || word.len() > LONGEST || places.len() > MOST_LONG_S {
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

    fn words(pattern: &str, insensitive: bool) -> Vec<String> {
        let hir = ParserBuilder::new().case_insensitive(insensitive).multi_line(true).build().parse(pattern);
        needed_words(&hir.expect("a pattern")).into_iter().map(|spellings| spellings[0].clone()).collect()
    }

    #[test]
    fn words_with_both_ends_known() {
        for (pattern, expected) in [
            ("config", &[][..]),
            ("(config)", &[]),
            (r"\(config\)", &["config"]),
            (r"def\s+parse_config\(", &["parse_config"]),
            ("return self.name", &["self"]),
            ("^import os$", &["import", "os"]),
            ("^import.*os$", &[]),
            ("^fn (new|open)\\(", &["fn"]),
            (r"\bconfig\b", &[]),
            (" a+ ", &[]),
            (" (one )?two ", &[]),
            (" one (two )+", &["one", "two"]),
            (" café ", &[]),
            ("_ _ 1 ", &["1"]),
            ("[(,]userId[),]", &["userid"]),
            (r"\Wname\W", &[]),
        ] {
            assert_eq!(words(pattern, false), expected, "{pattern}");
        }
        assert_eq!(words(r"raise keyError\(", true), ["keyerror"]);
        assert_eq!(words(" sassafras ", true), [""; 0]);
    }

    #[test]
    fn a_long_s_is_looked_up_too() {
        let hir = ParserBuilder::new().case_insensitive(true).build().parse(" As ").expect("a pattern");
        assert_eq!(needed_words(&hir), [["as", "aſ"]]);
    }
}
