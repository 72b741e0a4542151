//! Support for TypeScript, and for TSX with a second grammar.

#![cfg(feature = "typescript")]

use crate::javascript::{OMITTED_QUALIFIERS, RESERVED, exported, imports};
use crate::language::{Language, QueryCache};

mod masked;
#[cfg(test)]
mod tests;

const SHARED_SYMBOLS: &str = include_str!("../javascript/symbols.scm");
const SYMBOLS: &str = include_str!("symbols.scm");
const CONSTANTS: &str = include_str!("../javascript/constants.scm");
const CALLS: &str = include_str!("calls.scm");
const IMPORTS: &str = include_str!("../javascript/imports.scm");

static TYPESCRIPT_QUERY: QueryCache = QueryCache::new();
static TSX_QUERY: QueryCache = QueryCache::new();

/// TypeScript, including declaration files.
pub(crate) static TYPESCRIPT: Language = Language {
    masked: masked::masked,
    omitted_qualifiers: OMITTED_QUALIFIERS,
    reserved: RESERVED,
    has_reserved_members: true,
    owner_suffix: ".prototype",
    imports,
    exported,
    ..Language::new(
        "typescript",
        &["ts", "mts", "cts"],
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        &[SHARED_SYMBOLS, SYMBOLS, CONSTANTS, CALLS, IMPORTS],
        &TYPESCRIPT_QUERY,
    )
};

/// TypeScript with JSX.
pub(crate) static TSX: Language = Language {
    family: "typescript",
    aliases: &["typescriptreact"],
    omitted_qualifiers: OMITTED_QUALIFIERS,
    reserved: RESERVED,
    has_reserved_members: true,
    owner_suffix: ".prototype",
    imports,
    exported,
    ..Language::new(
        "tsx",
        &["tsx"],
        || tree_sitter_typescript::LANGUAGE_TSX.into(),
        &[SHARED_SYMBOLS, SYMBOLS, CONSTANTS, CALLS, IMPORTS, include_str!("jsx.scm")],
        &TSX_QUERY,
    )
};
