//! Support for YAML. Values are blocks that are named by their key paths. Documents and list items are also blocks.
//! Their names are derived from their keys.

#![cfg(feature = "yaml")]

use crate::language::{BlockLimits, FileDoc, Language, QueryCache};

mod entities;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// YAML: manifests, pipelines, playbooks, schemas and other configurations.
pub(crate) static YAML: Language = Language {
    file_names: &[".clang-format", ".clang-tidy", ".clangd", ".gemrc", ".prettierrc", ".yamllint", "CITATION.cff"],
    aliases: &["yaml-mode", "yaml-ts"],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    declared_name: Some(entities::declared_name),
    ends_at_token: true,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "yaml",
        &["yaml", "yml", "eyaml", "sublime-syntax"],
        || tree_sitter_yaml::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};
