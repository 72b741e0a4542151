//! The keywords of Groovy that are reserved everywhere.

use crate::lexical_tables::LexicalTable;

/// Keywords in some places, names in others.
const CONTEXTUAL: &[&str] = &["it", "record", "sealed", "trait", "var", "yield"];

/// Whether a word is a keyword and can be no name.
pub(super) fn is_keyword(word: &str) -> bool {
    LexicalTable::for_language("groovy").is_some_and(|table| table.is_keyword(word)) && !CONTEXTUAL.contains(&word)
}
