//! Selects the keywords of a query. The name of a log begins with the keywords of its query.

use aurora_redact::masked;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::weak_words::{is_generic, is_stop_word, is_weak_verb};

/// Maximum length of a keyword in bytes. Longer words are truncated, so that a file name with several keywords, a
/// number and an extension has at most 255 bytes.
const MAX_KEYWORD_BYTES: usize = 40;
/// Minimum length of a keyword in characters.
const MIN_KEYWORD_CHARS: usize = 2;
/// Minimum number of letters before a trailing digit for the digit to be removed: `OAuth2` becomes `oauth`, but `utf8`
/// is unchanged.
const MIN_LETTERS_BEFORE_DIGIT: usize = 4;

/// Classes of words, from the most to the least specific class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordClass {
    Specific,
    Generic,
    WeakVerb,
}

/// Returns up to `count` of the most specific words of a query, in lower case and in the order of the query.
///
/// 1. Secrets are masked first, because the name of a log cannot be masked later. A mask does not count as a word.
/// 2. The query is normalised (NFC) and converted to lower case. Words are sequences of letters, digits and combining
///    marks. Apostrophes are removed, and all other characters, such as `_`, `-`, `.` and `/`, separate words.
/// 3. Stop words, numbers and single characters are not keywords. A single digit after four or more letters is removed:
///    `OAuth2` becomes `oauth`.
/// 4. Specific words are preferred to generic words (`issue`, `component`), and generic words to weak verbs (`fix`,
///    `implement`). Within a class, earlier words of the query are preferred. A repeated word counts once.
///
/// ```
/// use aurora_logs::keywords;
/// assert_eq!(keywords("Implement OAuth2 authentication for our API", 2), ["oauth", "authentication"]);
/// assert_eq!(keywords("Fix database migration issue", 2), ["database", "migration"]);
/// assert_eq!(keywords("Optimize React component rendering", 2), ["react", "rendering"]);
/// assert_eq!(keywords("Fix the bug", 2), ["fix", "bug"]);
/// assert!(keywords("what is this?", 2).is_empty());
/// ```
pub fn keywords(query: &str, count: usize) -> Vec<String> {
    let mut found: Vec<(WordClass, usize, String)> = Vec::new();
    for word in words(&masked(query.to_owned())) {
        if !found.iter().any(|(_, _, other)| *other == word) {
            found.push((class_of(&word), found.len(), word));
        }
        // A later word cannot replace a specific word, so the remaining words are not needed.
        if found.iter().filter(|(class, ..)| *class == WordClass::Specific).count() >= count {
            break;
        }
    }
    found.sort();
    found.truncate(count);
    found.sort_by_key(|(_, at, _)| *at);
    found.into_iter().map(|(_, _, word)| word).collect()
}

/// Returns the words of a query that can be keywords, in order.
fn words(query: &str) -> impl Iterator<Item = String> {
    let text = query.nfc().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase).collect::<String>();
    let is_part = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let runs: Vec<String> = text.split(|c| !is_part(c)).map(|run| run.nfc().collect()).collect();
    runs.into_iter().filter_map(|run| {
        let word = truncate(without_digit(run.trim_start_matches(is_combining_mark)));
        let is_word = word.chars().count() >= MIN_KEYWORD_CHARS && !word.chars().all(char::is_numeric);
        (is_word && !is_stop_word(word)).then(|| word.to_owned())
    })
}

fn class_of(word: &str) -> WordClass {
    if is_weak_verb(word) {
        WordClass::WeakVerb
    } else if is_generic(word) {
        WordClass::Generic
    } else {
        WordClass::Specific
    }
}

/// Removes a trailing digit, such as a version number: `oauth2` becomes `oauth`.
fn without_digit(word: &str) -> &str {
    let Some(stem) = word.strip_suffix(|c: char| c.is_ascii_digit()) else { return word };
    let is_word = stem.chars().count() >= MIN_LETTERS_BEFORE_DIGIT && stem.chars().all(char::is_alphabetic);
    if is_word { stem } else { word }
}

fn truncate(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_KEYWORD_BYTES)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(query: &str, expected: &str) {
        assert_eq!(keywords(query, 2).join("-"), expected, "{query}");
    }

    #[test]
    fn specific_words_are_preferred() {
        check("Implement OAuth2 authentication for our API", "oauth-authentication");
        check("Fix database migration issue", "database-migration");
        check("Optimize React component rendering", "react-rendering");
        check("How do we implement OAuth2?", "implement-oauth");
        check("why does `UserManager.login` fail with a 500?", "usermanager-login");
        check("What's the best way to cache pages in src/http/cache.rs", "cache-pages");
        check("don't touch the settings of utf8 and sha256", "touch-settings");
        check("refactor the code", "refactor-code");
        check("Größe der Übersicht ändern", "größe-der");
        check("データベース の 移行", "データベース-移行");
        check("fix fix fix", "fix");
        check("", "");
        check("is it?", "");
        check("1 2 3", "");
        check("../../etc/passwd", "passwd");
        check("a/b\\c:d*e", "");
    }

    #[test]
    fn no_part_of_a_secret_is_a_keyword() {
        let token = ["shpat", "_", "3f9a1c77e0b24d58", "a6c1d2094be87f35"].concat();
        assert_ne!(masked(token.clone()), token);
        check(&format!("rotate {token} soon"), "rotate-shpat");
        check(&token, "shpat");
        let password = ["k3Jd82mXq0PzL5vR", "t7NcY1wBs9HfGa4e"].concat();
        for query in [format!("postgres://me:{password}@db"), format!("password = {password:?}")] {
            assert!(!keywords(&query, 4).concat().contains("k3jd"), "{query}");
        }
    }

    #[test]
    fn the_number_and_length_of_keywords_are_limited() {
        assert_eq!(keywords("retry the http client with backoff", 4), ["retry", "http", "client", "backoff"]);
        assert_eq!(keywords(&"x".repeat(500), 1), ["x".repeat(MAX_KEYWORD_BYTES)]);
        assert_eq!(keywords(&"é".repeat(500), 1), ["é".repeat(MAX_KEYWORD_BYTES / 2)]);
    }

    proptest! {
        #[test]
        fn keywords_are_words_of_the_query(query in any::<String>(), count in 1_usize..5) {
            let found = keywords(&query, count);
            prop_assert!(found.len() <= count);
            for word in &found {
                prop_assert!(word.len() <= MAX_KEYWORD_BYTES && word.chars().count() >= MIN_KEYWORD_CHARS, "{word}");
                prop_assert!(word.chars().all(|c| c.is_alphanumeric() || is_combining_mark(c)), "{word:?}");
                prop_assert!(word.chars().next().is_some_and(char::is_alphanumeric), "{word:?}");
            }
        }
    }
}
