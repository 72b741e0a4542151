//! The keywords of Groovy that are reserved everywhere.

use crate::groovy::highlighting;

/// Keywords in some places, names in others.
const CONTEXTUAL: &[&str] = &["it", "record", "sealed", "trait", "var", "yield"];

/// Whether a word is a keyword and can be no name.
pub(super) fn is_keyword(word: &str) -> bool {
    highlighting::TABLE.keywords.binary_search(&word).is_ok() && !CONTEXTUAL.contains(&word)
}
