//! Support for Vue components: the definitions of their scripts and styles.
//!
//! The HTML grammar parses the text around these parts, to find where it can be split. Template syntax that the HTML
//! grammar cannot read does not count as a syntax error.

#![cfg(feature = "vue")]

use crate::embedded::scripts_and_styles;
use crate::language::{Language, QueryCache};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Single-file components.
pub(crate) static VUE: Language = Language {
    embedded: Some(|text| scripts_and_styles(text, "javascript")),
    ..Language::new(
        "vue",
        &["vue"],
        || tree_sitter_html::LANGUAGE.into(),
        &[include_str!("comments.scm"), include_str!("elements.scm")],
        &QUERY,
    )
};
