//! Validation and derivation of ids.

use aurora_diagnostics::document::{is_blank, quoted};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::kind::Kind;
use crate::limit::ID_BYTES;

/// Maximum length of a slug in bytes.
const MAX_SLUG_BYTES: usize = 64;

/// Number of hexadecimal digits in an id that is derived from a hash of the content.
const HASH_DIGITS: usize = 12;

/// The reason why a text is not a valid id.
pub(crate) struct Problem {
    /// The part of the message that follows the name of the field, such as `must …, not …`.
    pub(crate) message: String,
    /// A suggestion for a valid id.
    pub(crate) help: Option<String>,
}

/// Checks the id of a new entry. Returns `None` if the id is valid. An id with a secret is rejected instead of masked,
/// because the user could not find the entry by a masked id.
pub(crate) fn new_problem(kind: Kind, id: &str) -> Option<Problem> {
    let secret = aurora_redact::has_secret(id).then(|| Problem {
        message: "must have no secret, such as a token or a password".to_owned(),
        help: Some("name the entry after the service that the secret is for".to_owned()),
    });
    secret.or_else(|| problem(kind, id))
}

/// Checks the id of an entry of a kind. Returns `None` if the id is valid.
pub(crate) fn problem(kind: Kind, id: &str) -> Option<Problem> {
    let prefix = kind.prefix();
    let without_help = |message: String| Some(Problem { message, help: None });
    if let Some(problem) = general_problem(id) {
        return without_help(problem);
    }
    match id.strip_prefix(prefix) {
        Some(name) if is_blank(name) => without_help(format!("must have a name after `{prefix}`")),
        Some(_) => None,
        None => {
            let has_prefix = Kind::from_id(id).is_some();
            let message = format!("must begin with `{prefix}`, and {} does not", quoted(id));
            let help = (!has_prefix).then(|| format!("write {}", quoted(&format!("{prefix}{id}"))));
            Some(Problem { message, help })
        }
    }
}

/// Checks the target of a link. Returns `None` if it is a valid id of an entry or a chunk of any kind.
pub(crate) fn target_problem(id: &str) -> Option<String> {
    general_problem(id).or_else(|| {
        let is_complete = id.split_once(':').is_some_and(|(kind, name)| !kind.is_empty() && !is_blank(name));
        (!is_complete).then(|| format!("must be an id such as `know:stripe-api`, not {}", quoted(id)))
    })
}

fn general_problem(id: &str) -> Option<String> {
    if is_blank(id) {
        return Some("must not be empty".to_owned());
    }
    if id.len() > ID_BYTES {
        return Some(format!("must have at most {ID_BYTES} bytes, not {}", id.len()));
    }
    id.contains(char::is_control).then(|| format!("must not contain control characters: {}", quoted(id)))
}

/// Derives the id of an entry, which consists of the prefix of the kind and a slug of the title. A hash of the content
/// replaces the slug if there is no title, or if the slug is empty or looks like a secret.
pub(crate) fn derive(kind: Kind, title: Option<&str>, content: &Value) -> String {
    let with_prefix = |name: String| format!("{}{name}", kind.prefix());
    let slug = title.map(slug).filter(|slug| !slug.is_empty()).map(with_prefix);
    slug.filter(|id| new_problem(kind, id).is_none())
        .unwrap_or_else(|| with_prefix(format!("entry-{}", &hash(content)[..HASH_DIGITS])))
}

/// Converts a title to lower-case ASCII letters and digits, and replaces each sequence of other characters with a
/// hyphen. Removes accents. If a title has no ASCII letters or digits, the slug contains its letters of other scripts.
fn slug(title: &str) -> String {
    let plain = join_words(title.nfd().map(|c| if c.is_ascii() || is_accent(c) { c } else { ' ' }));
    if plain.is_empty() { join_words(title.nfc()) } else { plain }
}

fn is_accent(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

fn join_words(characters: impl Iterator<Item = char>) -> String {
    let mut slug = String::new();
    let mut is_separated = false;
    for c in characters.flat_map(char::to_lowercase) {
        if is_accent(c) && slug.is_ascii() {
            continue;
        }
        if !c.is_alphanumeric() && !is_accent(c) {
            is_separated = true;
            continue;
        }
        let hyphen = if is_separated && !slug.is_empty() { "-" } else { "" };
        if slug.len() + hyphen.len() + c.len_utf8() > MAX_SLUG_BYTES {
            return drop_partial_word(slug, is_separated);
        }
        slug.push_str(hyphen);
        slug.push(c);
        is_separated = false;
    }
    slug
}

/// Removes an incomplete last word from a slug. `is_between_words` is `true` if the slug ends with a complete word.
fn drop_partial_word(mut slug: String, is_between_words: bool) -> String {
    if let Some(end) = slug.rfind('-').filter(|_| !is_between_words) {
        slug.truncate(end);
    }
    slug
}

/// Returns the hash of a value in hexadecimal digits. Keys are hashed in alphabetical order, so that the hash depends
/// neither on the order in the document nor on the order of a `serde_json` map.
fn hash(value: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    update(&mut hasher, value);
    hasher.finalize().to_hex().to_string()
}

fn update(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            hasher.update(b"{");
            for key in keys {
                update(hasher, &Value::String(key.clone()));
                hasher.update(b":");
                update(hasher, &object[key]);
                hasher.update(b",");
            }
            hasher.update(b"}");
        }
        Value::Array(values) => {
            hasher.update(b"[");
            for value in values {
                update(hasher, value);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        scalar => {
            hasher.update(scalar.to_string().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn slugs_are_derived_from_titles() {
        let check = |title: &str, expected: &str| assert_eq!(slug(title), expected, "{title}");
        check("OAuth2 provider comparison", "oauth2-provider-comparison");
        check("  --Rotate `keys`!! ", "rotate-keys");
        check("Über Größe", "uber-gro-e");
        check("日本語 API", "api");
        check("日本語、メモ", "日本語-メモ");
        check("ΑΒΓ δ", "αβγ-δ");
        check("!?", "");
        check(&"word ".repeat(20), &["word"; 13].join("-"));
        check(&"x".repeat(100), &"x".repeat(64));
    }

    #[test]
    fn a_slug_that_looks_like_a_secret_is_not_used() {
        let content = serde_json::json!({"text": "x"});
        let id = derive(Kind::Note, Some("a_Xoxé'A本0_0A0 0Aé_Aトa,A0a1"), &content);
        assert_eq!(id, derive(Kind::Note, None, &content));
    }

    #[test]
    fn ids_without_a_title_are_hashes_of_the_content() {
        let id = |content: Value| derive(Kind::Turn, None, &content);
        insta::assert_snapshot!(id(json!({"text": "a", "x": [1, {"y": null}]})), @"turn:entry-5c0fcaf4263b");
        assert_ne!(id(json!({"text": "a"})), id(json!({"text": "b"})));
        assert_ne!(id(json!(["a", "b"])), id(json!(["a,\"b"])));
        assert_eq!(derive(Kind::Note, Some("!"), &json!(1)).len(), "note:entry-".len() + HASH_DIGITS);
    }

    proptest! {
        #[test]
        fn derived_ids_are_valid(title in "\\PC{0,120}") {
            for &kind in Kind::ALL {
                let id = derive(kind, Some(&title), &json!({}));
                prop_assert!(problem(kind, &id).is_none(), "{}", id);
                prop_assert!(id.len() <= 5 + MAX_SLUG_BYTES);
            }
        }
    }
}
