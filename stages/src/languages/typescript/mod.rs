//! TypeScript, and as a second grammar TSX.

use super::javascript::{OMITTED_QUALIFIERS, exported, imports};
use super::{Language, QueryCache, defaults};

const SYMBOLS: &str = include_str!("symbols.scm");
const CONSTANTS: &str = include_str!("../javascript/constants.scm");
const CALLS: &str = include_str!("calls.scm");
const IMPORTS: &str = include_str!("../javascript/imports.scm");
static QUERIES: [&str; 4] = [SYMBOLS, CONSTANTS, CALLS, IMPORTS];
static QUERIES_WITH_JSX: [&str; 5] = [SYMBOLS, CONSTANTS, CALLS, IMPORTS, include_str!("jsx.scm")];

static TYPESCRIPT_QUERY: QueryCache = QueryCache::new();
static TSX_QUERY: QueryCache = QueryCache::new();

/// TypeScript and its declaration files.
pub static TYPESCRIPT: Language = Language {
    omitted_qualifiers: OMITTED_QUALIFIERS,
    owner_suffix: ".prototype",
    imports,
    exported,
    ..defaults(
        "typescript",
        &["ts", "mts", "cts"],
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        &QUERIES,
        &TYPESCRIPT_QUERY,
    )
};

/// TypeScript with JSX.
pub static TSX: Language = Language {
    family: "typescript",
    omitted_qualifiers: OMITTED_QUALIFIERS,
    owner_suffix: ".prototype",
    imports,
    exported,
    ..defaults("tsx", &["tsx"], || tree_sitter_typescript::LANGUAGE_TSX.into(), &QUERIES_WITH_JSX, &TSX_QUERY)
};

#[cfg(test)]
mod tests;
