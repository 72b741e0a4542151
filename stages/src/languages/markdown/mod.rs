//! Markdown: headings make sections.

use super::{Language, QueryCache, defaults};

static QUERY: QueryCache = QueryCache::new();

/// CommonMark with front matter and tables.
pub static MARKDOWN: Language = defaults(
    "markdown",
    &["md", "markdown", "mdx"],
    || tree_sitter_md::LANGUAGE.into(),
    &[include_str!("sections.scm")],
    &QUERY,
);

#[cfg(test)]
mod tests;
