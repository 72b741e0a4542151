//! Splits text into the terms of the keyword index, with the same rules for documents and queries.

use unicode_normalization::UnicodeNormalization;

use crate::tokenizer::{self, Class, Classes, compounds, parts};

/// Version of the splitting rules. It must change whenever the same text may result in different terms than before, so
/// that an index built with older rules can be recognised.
pub const ANALYZER_VERSION: u32 = 2;

/// Maximum length of a term in bytes of UTF-8. A longer term is replaced by its first 48 bytes and 16 hexadecimal
/// digits of the BLAKE3 hash of the whole term. Fewer than 48 bytes are used if the prefix would end inside a
/// character. Distinct names stay distinct, and keys stay short.
pub const MAX_TERM_BYTES: usize = 64;

/// Maximum length in bytes of an identifier or compound that becomes a term. Longer identifiers and compounds are
/// usually data (base64, long dotted literals), and only their parts become terms.
const MAX_WHOLE_BYTES: usize = 256;
/// Number of bytes of a long term that precede the digest.
const KEPT_PREFIX_BYTES: usize = 48;

/// Splits text into terms.
///
/// An *identifier* is a run of letters, digits, combining marks and underscores. A *compound* is several identifiers
/// joined by single dots or hyphens. The following strings become terms, lower-cased, in this order:
///
/// 1. the compound, if it joins several identifiers: `auth.oauth.client`, `user-manager`;
/// 2. in a dotted compound, every hyphenated section between dots: `my-file` of `my-file.test.ts`;
/// 3. every whole identifier: `getuserdata`, `user_manager`, `__init__`, `utf8`;
/// 4. the parts of the identifier, if they differ from the identifier: `get`, `user`, `data`; `user`, `manager`;
///    `init`; `utf`, `8`. A run of digits is a part.
///
/// A capital letter before `++` or `#` is the name of a programming language: `C++` also results in `cplusplus`, and
/// `C#` in `csharp`.
///
/// Common words are not dropped, and words are not stemmed. Non-ASCII text is normalised to NFKC, which maps full-width
/// and other compatibility characters to ordinary ones, and is lower-cased by Unicode's rules. Parts in Chinese,
/// Japanese, Korean, Thai and similar scripts have no word boundaries. If such a part has several characters, its last
/// character is also a term. If it has more than two, its overlapping pairs of characters are also terms. Any one or
/// two adjacent characters of the part therefore begin a term. Terms are at most [`MAX_TERM_BYTES`] long and consist of
/// letters, marks, digits, `_`, `.` and `-`. They never contain control characters or spaces.
#[derive(Debug, Clone, Copy, Default)]
pub struct Analyzer;

impl Analyzer {
    /// Calls `out` with every occurrence of a term in `text`, in order. Allocates one buffer per call, and more memory
    /// only for long terms and non-ASCII text.
    pub fn terms(&self, text: &str, out: &mut impl FnMut(&str)) {
        let mut lower = String::new();
        compounds(text, &mut |compound, classes| {
            if classes == Classes::UPPER && compound.len() == 1 {
                emit_language(text, compound, out);
            }
            if classes == Classes::LOWER || classes == Classes::DIGITS {
                emit(compound, out);
            } else if classes.is_ascii() {
                terms_of_compound(compound, classes, &mut lower, out);
            } else {
                let composed = composed(compound);
                terms_of_compound(&composed, Classes::from_text(&composed), &mut lower, out);
            }
        });
    }
}

/// Normalises a text in the same way as terms: full-width and other compatibility characters become ordinary
/// characters.
pub fn composed(text: &str) -> String {
    text.chars().flat_map(compatible).nfc().collect()
}

/// Returns the compatibility decomposition of a character, or the character itself if a part of the decomposition would
/// end a word. For example, `½` would become `1⁄2`.
fn compatible(character: char) -> impl Iterator<Item = char> {
    let is_word = character.nfkc().all(tokenizer::is_word_character);
    let ordinary = is_word.then(|| character.nfkc());
    ordinary.into_iter().flatten().chain((!is_word).then_some(character))
}

fn terms_of_compound(compound: &str, classes: Classes, lower: &mut String, out: &mut impl FnMut(&str)) {
    if !classes.is_word() {
        return;
    }
    if !classes.has(Class::Joint) {
        terms_of_identifier(compound, classes, lower, out);
        return;
    }
    emit_whole(compound, classes, lower, out);
    let dotted = compound.contains('.');
    for stretch in compound.split('.') {
        let hyphenated = stretch.contains('-');
        if hyphenated && dotted && Classes::from_text(stretch).is_word() {
            emit_whole(stretch, classes, lower, out);
        }
        for identifier in stretch.split('-') {
            terms_of_identifier(identifier, Classes::from_text(identifier), lower, out);
        }
    }
}

fn terms_of_identifier(identifier: &str, classes: Classes, lower: &mut String, out: &mut impl FnMut(&str)) {
    if !classes.is_word() {
        return;
    }
    emit_whole(identifier, classes, lower, out);
    let whole_was_emitted = identifier.len() <= MAX_WHOLE_BYTES;
    parts(identifier, &mut |range, class| {
        let part = &identifier[range];
        if part.len() < identifier.len() || !whole_was_emitted {
            emit_lower(part, classes, lower, out);
        }
        if class == Class::Unspaced {
            emit_characters(part, out);
        }
    });
}

fn emit_whole(text: &str, classes: Classes, lower: &mut String, out: &mut impl FnMut(&str)) {
    if text.len() <= MAX_WHOLE_BYTES {
        emit_lower(text, classes, lower, out);
    }
}

fn emit_lower(text: &str, classes: Classes, lower: &mut String, out: &mut impl FnMut(&str)) {
    if classes.is_ascii() {
        if !classes.has(Class::Upper) {
            return emit(text, out);
        }
        lower.clear();
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.clear();
        lower.extend(text.chars().flat_map(char::to_lowercase).nfc());
    }
    emit(lower, out);
}

/// Emits the name of a language such as `C++`. `letter` is a slice of `text`.
fn emit_language(text: &str, letter: &str, out: &mut impl FnMut(&str)) {
    let end = letter.as_ptr() as usize - text.as_ptr() as usize + letter.len();
    let name = match text.as_bytes()[end..] {
        [b'+', b'+', ..] => "plusplus",
        [b'#', next, ..] if next.is_ascii_alphanumeric() => return,
        [b'#', ..] => "sharp",
        _ => return,
    };
    emit(&[&letter.to_ascii_lowercase(), name].concat(), out);
}

/// Emits the overlapping character pairs of a part with more than two characters, and the last character of a part with
/// more than one.
fn emit_characters(part: &str, out: &mut impl FnMut(&str)) {
    let starts = || part.char_indices().map(|(at, _)| at);
    if starts().nth(2).is_some() {
        let ends = starts().skip(2).chain([part.len()]);
        for (start, end) in starts().zip(ends) {
            emit(&part[start..end], out);
        }
    }
    if let Some(last) = starts().skip(1).last() {
        emit(&part[last..], out);
    }
}

#[inline]
fn emit(term: &str, out: &mut impl FnMut(&str)) {
    if term.len() <= MAX_TERM_BYTES {
        out(term);
    } else {
        let digest = blake3::hash(term.as_bytes()).to_hex();
        let prefix = &term[..term.floor_char_boundary(KEPT_PREFIX_BYTES)];
        out(&[prefix, &digest[..MAX_TERM_BYTES - KEPT_PREFIX_BYTES]].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        Analyzer.terms(text, &mut |term| found.push(term.to_owned()));
        found
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text}");
    }

    #[test]
    fn identifiers_are_kept_whole_and_split() {
        check("getUserData", &["getuserdata", "get", "user", "data"]);
        check("HTTPSConnection", &["httpsconnection", "https", "connection"]);
        check("user_manager", &["user_manager", "user", "manager"]);
        check("auth.oauth.client", &["auth.oauth.client", "auth", "oauth", "client"]);
        check("user-manager", &["user-manager", "user", "manager"]);
        check("my-file.test.ts", &["my-file.test.ts", "my-file", "my", "file", "test", "ts"]);
        check("utf8", &["utf8", "utf", "8"]);
        check("__init__", &["__init__", "init"]);
        check("the USER", &["the", "user"]);
        check("v1.2", &["v1.2", "v1", "v", "1", "2"]);
        check("_ __ _._ -", &[]);
        check("x += y;\n\tz\0", &["x", "y", "z"]);
    }

    #[test]
    fn non_ascii_text_is_normalised_and_lower_cased() {
        check("GRÖSSE", &["grösse"]);
        assert_eq!(terms("cafe\u{301}"), terms("café"));
        check("naïveBayes", &["naïvebayes", "naïve", "bayes"]);
        check("仕様書", &["仕様書", "仕様", "様書", "書"]);
        check("検索Index", &["検索index", "検索", "索", "index"]);
        check("ชาวโลก", &["ชาวโลก", "ชา", "าว", "วโ", "โล", "ลก", "ก"]);
        check("Ｔｏｔａｌ＿ｐｏｓｔｓ ﬁle", &["total_posts", "total", "posts", "file"]);
        // Only `½` stays unchanged, because it does not map to word characters. The other character is still
        // normalised.
        check("½ǅ", &["½dž", "½", "dž"]);
        check("пользователь", &["пользователь"]);
    }

    #[test]
    fn languages_with_symbols_in_their_names_have_terms() {
        check("C++", &["cplusplus", "c"]);
        check("in C# and C++17", &["in", "csharp", "c", "and", "cplusplus", "c", "17"]);
        check("while (*c++) #C C#x FooC++", &["while", "c", "c", "c", "x", "fooc", "foo", "c"]);
    }

    #[test]
    fn long_names_stay_distinct_and_short() {
        let (a, b) = (format!("{}a", "x".repeat(200)), format!("{}b", "x".repeat(200)));
        assert_ne!(terms(&a), terms(&b));
        assert_eq!(terms(&a)[0].len(), MAX_TERM_BYTES);
        assert_eq!(terms(&format!("{}.y", "ab.".repeat(100))).iter().filter(|t| t.contains('.')).count(), 0);
    }

    /// Random text that often looks like code.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-zA-Z0-9_.-]{1,12}",
            "[ \t\n(){}=+,;:/\"'<>\\x00-\\x1f]{1,3}",
            "[a-z]{1,4}[A-Z]{1,4}[a-z]{0,4}[0-9]{0,2}",
            "[äÖéßİǅσΣΔ仕様書検かなカナ한글\u{301}\u{307}½²٣]{1,5}",
            "\\PC{1,4}",
            "[a-zé]{60,140}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_first_term_of_a_term_is_the_term_itself(text in text()) {
            for term in terms(&text) {
                let again = terms(&term);
                prop_assert_eq!(again.first(), Some(&term), "of {:?}", text);
            }
        }

        #[test]
        fn terms_contain_no_control_characters_and_are_bounded(text in text()) {
            for term in terms(&text) {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
                prop_assert!(!term.chars().any(|c| c.is_control() || c.is_whitespace()), "{:?}", term);
                // Some upper-case letters, such as mathematical letters, have no lower case.
                prop_assert!(!term.chars().any(|c| c.to_lowercase().ne([c])), "{:?}", term);
            }
        }

        #[test]
        fn every_word_of_a_name_is_found_in_any_naming_style(words in prop::collection::vec("[a-z]{2,8}", 1..5)) {
            let capitalised = |w: &String| w[..1].to_uppercase() + &w[1..];
            let camel: String = words.iter().map(capitalised).collect();
            for name in [words.join("_"), words.join("-"), words.join("."), words.join("_").to_uppercase(), camel.clone()] {
                let found = terms(&name);
                prop_assert_eq!(&found[0], &name.to_lowercase());
                for word in &words {
                    prop_assert!(found.contains(word), "{} in {:?} of {}", word, found, name);
                }
            }
        }

        #[test]
        fn adjacent_texts_do_not_affect_each_other(left in text(), right in text()) {
            let apart = [terms(&left), terms(&right)].concat();
            prop_assert_eq!(terms(&format!("{left} {right}")), apart);
        }
    }
}
