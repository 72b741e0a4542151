//! Vue components: the definitions of their scripts and styles.
//!
//! The grammar of HTML finds where the text around them can be split. What it cannot read of the template is no syntax error.

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
