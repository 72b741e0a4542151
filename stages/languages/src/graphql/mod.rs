//! Support for GraphQL schemas and queries.

#![cfg(feature = "graphql")]

use std::ops::Range;

use tree_sitter::Node;

use crate::language::{FileDoc, Language, QueryCache};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// GraphQL: types, directives, operations and fragments.
pub(crate) static GRAPHQL: Language = Language {
    is_declarative: true,
    is_schema: true,
    exported: |_| true,
    docstring: Some(description),
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "graphql",
        &["graphql", "gql", "graphqls"],
        || tree_sitter_graphql::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Returns the description at the start of the definition with this body.
fn description(body: Node<'_>, _: &str) -> Option<Range<usize>> {
    let first = body.parent()?.named_child(0)?;
    (first.kind() == "description").then(|| first.byte_range())
}
