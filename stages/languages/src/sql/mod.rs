//! Support for SQL: tables, views, functions and other objects of a schema.

#![cfg(feature = "sql")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{DeclaredName, Language, QueryCache};
use crate::spans::text_of;

mod columns;
mod head;
mod lexer;
mod masked;
mod output;
mod routines;
mod statements;
mod tables;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// SQL in the dialects of PostgreSQL, MySQL, SQLite and others.
pub(crate) static SQL: Language = Language {
    aliases: &["mysql", "plpgsql", "postgresql", "sqlite"],
    is_declarative: true,
    declared_name: Some(declared_name),
    name_in: unquoted,
    exported: |_| true,
    terminator: Some(';'),
    masked: masked::masked,
    doc_text: Some(|source| text_between(source, &["--", "/**", "/*", "*/", "*"], &["*/"])),
    ..Language::new(
        "sql",
        &["sql", "ddl", "pgsql", "psql"],
        || tree_sitter_sequel::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Returns the name of an identifier, or of a reference, whose schema is the owner.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let part = |field| node.child_by_field_name(field).map(|part| unquoted(text_of(part, text)).to_owned());
    let name = part("name").unwrap_or_else(|| unquoted(text_of(node, text)).to_owned());
    Some(DeclaredName { name, owner: part("schema") })
}

fn unquoted(identifier: &str) -> &str {
    identifier.trim_matches(['"', '`', '[', ']'])
}
