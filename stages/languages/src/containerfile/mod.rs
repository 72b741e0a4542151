//! Support for Dockerfiles and Containerfiles. Each build stage (`FROM … AS name`) is a symbol.

#![cfg(feature = "containerfile")]

use crate::language::{FileDoc, Language, QueryCache};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// The recipe of a container image.
pub(crate) static CONTAINERFILE: Language = Language {
    file_names: &["Containerfile*", "Dockerfile*", "dockerfile"],
    aliases: &["docker", "dockerfile-mode"],
    is_declarative: true,
    exported: |_| true,
    ends_at_token: true,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "containerfile",
        &["dockerfile", "containerfile"],
        || tree_sitter_containerfile::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};
