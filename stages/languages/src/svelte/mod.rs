//! Svelte components: the definitions of their scripts and styles.
//!
//! The grammar of HTML finds where the text around them can be split. What it cannot read of the template is no syntax error.

#![cfg(feature = "svelte")]

use crate::embedded::scripts_and_styles;
use crate::language::{Language, QueryCache};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Components, and modules in components.
pub(crate) static SVELTE: Language = Language {
    embedded: Some(|text| scripts_and_styles(text, "javascript")),
    ..Language::new(
        "svelte",
        &["svelte"],
        || tree_sitter_html::LANGUAGE.into(),
        &[include_str!("comments.scm"), include_str!("elements.scm")],
        &QUERY,
    )
};
