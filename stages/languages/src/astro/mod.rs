//! Support for Astro components: the definitions of their front matter, scripts and styles.
//!
//! The HTML grammar parses the text around these parts, to find where it can be split. Template syntax that the HTML
//! grammar cannot read does not count as a syntax error.

#![cfg(feature = "astro")]

use std::ops::Range;

use crate::embedded::{Embedded, scripts_and_styles};
use crate::language::{Language, QueryCache};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Components and pages.
pub(crate) static ASTRO: Language = Language {
    embedded: Some(embedded),
    ..Language::new(
        "astro",
        &["astro"],
        || tree_sitter_html::LANGUAGE.into(),
        &[include_str!("comments.scm"), include_str!("elements.scm")],
        &QUERY,
    )
};

/// Returns the front matter between `---` lines, and the scripts and styles after it. All scripts are TypeScript.
fn embedded(text: &str) -> Vec<Embedded<'_>> {
    let Some(front_matter) = front_matter(text) else { return scripts_and_styles(text, "typescript") };
    let end = front_matter.end;
    let mut parts = vec![Embedded { language: "typescript", bytes: front_matter }];
    parts.extend(
        scripts_and_styles(&text[end..], "typescript")
            .into_iter()
            .map(|part| Embedded { bytes: part.bytes.start + end..part.bytes.end + end, ..part }),
    );
    parts
}

fn front_matter(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().strip_prefix("---")?.len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some(start..end);
        }
        end += line.len();
    }
    None
}
