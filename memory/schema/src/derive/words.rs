//! Splits a text into words that can become keywords.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;

use crate::label;

/// Maximum length of a word in characters. Longer words are usually data, such as base64 or hashes.
const MAX_WORD_CHARS: usize = 40;

/// Maximum length of a sequence of ideographs in characters. Longer sequences are usually whole sentences, because
/// Chinese and Japanese have no spaces between words.
const MAX_HAN_CHARS: usize = 8;

/// Words that are never keywords, because they do not describe a subject.
static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/stopwords.txt").lines();
    lines.filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
});

/// Returns the words of a text that can become keywords, in lower case and in the order of the text. Identifiers are
/// not split.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    runs(text).filter_map(|(run, class)| word(run, class))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters, digits, combining marks, `_`, and apostrophes between letters.
    Word,
    Han,
    Katakana,
    /// All other characters, such as white space and punctuation, and also Hiragana, because Japanese uses it for
    /// endings and particles.
    Separator,
}

/// Splits a text into maximal sequences of characters of the same class. Omits separators.
fn runs(text: &str) -> impl Iterator<Item = (&str, Class)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut characters = rest.char_indices().peekable();
        let (_, first) = characters.next()?;
        let class = class(first);
        let mut before = first;
        let mut end = rest.len();
        while let Some((at, c)) = characters.next() {
            let is_apostrophe = matches!(c, '\'' | '’') && before.is_alphabetic();
            let joins = is_apostrophe && characters.peek().is_some_and(|(_, next)| next.is_alphabetic());
            if self::class(c) != class && !(class == Class::Word && joins) {
                end = at;
                break;
            }
            before = c;
        }
        let (run, following) = rest.split_at(end);
        rest = following;
        Some((run, class))
    })
    .filter(|(_, class)| *class != Class::Separator)
}

fn class(c: char) -> Class {
    match c {
        '\u{3040}'..='\u{309f}' => Class::Separator,
        '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' => Class::Katakana,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
            Class::Han
        }
        '_' => Class::Word,
        _ if c.is_alphanumeric() || is_combining_mark(c) => Class::Word,
        _ => Class::Separator,
    }
}

fn word(run: &str, class: Class) -> Option<String> {
    let max = if class == Class::Han { MAX_HAN_CHARS } else { MAX_WORD_CHARS };
    let length = run.chars().take(max + 1).count();
    if length > max {
        return None;
    }
    let lower = run.trim_matches('_').to_lowercase().replace('’', "'");
    let word = match lower.rsplit_once('\'') {
        Some((name, "s")) => name,
        // Contractions such as don't, we're and I'll are not keywords.
        Some((_, "t" | "re" | "ve" | "ll" | "d" | "m")) => return None,
        _ => &lower,
    };
    let is_word = word.chars().nth(1).is_some() && word.contains(char::is_alphabetic) && !is_version(word);
    (is_word && label::is_label(word) && !STOP_WORDS.contains(word)).then(|| word.to_owned())
}

/// Returns `true` if a word is a version number such as `v1` or `v20`.
fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the possible singulars of a word, from the most to the least likely.
pub(super) fn singulars(word: &str) -> impl Iterator<Item = String> {
    let stem = |suffix: &str, ending: &str| {
        word.strip_suffix(suffix).filter(|stem| stem.chars().nth(1).is_some()).map(|stem| format!("{stem}{ending}"))
    };
    [stem("ies", "y"), stem("es", ""), stem("s", "")].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_not_split_and_stop_words_are_dropped() {
        let check = |text: &str, expected: &[&str]| assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        check("Build the OAuth2 token_manager!", &["oauth2", "token_manager"]);
        check("oauth-impl-20251213 v2 __init__ a", &["oauth", "init"]);
        check("Don't use the user's O'Reilly book", &["user", "o'reilly", "book"]);
        check("API仕様書v2のトークン", &["api", "仕様書", "トークン"]);
        check("über größe e\u{301}tude", &["über", "größe", "e\u{301}tude"]);
        check(&"x".repeat(41), &[]);
        check("'' _ __ 42 1_000", &[]);
    }

    #[test]
    fn plurals_have_candidate_singulars() {
        let check = |word: &str, expected: &[&str]| assert_eq!(singulars(word).collect::<Vec<_>>(), expected, "{word}");
        check("policies", &["policy", "polici", "policie"]);
        check("tokens", &["token"]);
        check("is", &[]);
    }
}
