//! Language support: turns source text into symbols and highlights it.
//!
//! Each language has a directory in this crate. It contains the tree-sitter queries (`*.scm`) that give the nodes of
//! the grammar their meaning, and the rules for file extensions, visibility and imports. The other modules, called the
//! engine, depend on no particular language: `query` compiles and matches queries, `extract` turns captures into
//! symbols, and [`Parser`] runs both within limits. `highlight` needs no grammar, only the tables in `lexical_tables`.
//!
//! This crate does not access files (callers pass text as strings), knows neither chunks nor the pipeline nor colours,
//! and does not resolve names: a call is recorded by the name in the source, without a link to its definition.
//!
//! ```
//! use aurora_languages::{Parser, SymbolKind, by_extension};
//!
//! let source = "class Stack:\n    def push(self, item):\n        \"\"\"Add an item.\"\"\"\n        check(item)\n";
//! let found = Parser::new().parse(by_extension("py"), source);
//!
//! let push = &found.symbols[1];
//! assert_eq!((push.kind, push.qualified_name.as_str()), (SymbolKind::Method, "Stack.push"));
//! assert_eq!((push.signature.as_str(), push.lines), ("def push(self, item)", (2, 4)));
//! assert_eq!((push.doc.as_str(), push.calls.as_slice()), ("Add an item.", &["check".to_owned()][..]));
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "all"), allow(dead_code, reason = "code that only languages excluded from this build use"))]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod deadline;
mod detect;
mod embedded;
mod entity;
mod extract;
mod failure;
mod fences;
mod file_symbols;
mod highlight;
mod language;
mod lexical_tables;
pub mod lines;
mod mask;
mod outline;
mod parser;
mod query;
#[cfg(test)]
mod snapshot;
mod spans;
mod symbols;
#[cfg(test)]
mod tests;

mod asciidoc;
mod astro;
mod bash;
mod c;
mod cmake;
mod containerfile;
mod cpp;
mod csharp;
mod css;
mod dart;
mod elixir;
mod go;
mod graphql;
mod groovy;
mod haskell;
mod hcl;
mod html;
mod ini;
mod java;
mod javascript;
mod json;
mod kotlin;
mod lua;
mod make;
mod markdown;
mod objc;
mod org;
mod perl;
mod php;
mod powershell;
mod protobuf;
mod python;
mod r;
mod rst;
mod ruby;
mod rust;
mod scala;
mod sql;
mod svelte;
mod swift;
mod toml;
mod typescript;
mod vue;
mod xml;
mod yaml;
mod zig;

pub use detect::{by_alias, by_content, by_extension, by_file_name, by_name, by_word};
pub use failure::ParseFailure;
pub use file_symbols::{FileSymbols, Truncation};
pub use highlight::{Highlight, TokenClass};
pub use language::{Claim, Language};
pub use parser::{ParseLimits, Parser};
pub use query::QuerySyntaxError;
pub use symbols::{Boundary, Constant, Import, Symbol, SymbolKind};

/// Lists the languages whose cargo features are enabled. The `mod.rs` of each language names the same feature.
macro_rules! languages {
    ($($feature:literal => $directory:ident::$language:ident,)*) => {
        &[$(#[cfg(feature = $feature)] &$directory::$language,)*]
    };
}

/// Every language of this build. Names and extensions are unique.
pub static LANGUAGES: &[&Language] = languages! {
    "asciidoc" => asciidoc::ASCIIDOC,
    "astro" => astro::ASTRO,
    "bash" => bash::BASH,
    "c" => c::C,
    "cmake" => cmake::CMAKE,
    "containerfile" => containerfile::CONTAINERFILE,
    "cpp" => cpp::CPP,
    "csharp" => csharp::CSHARP,
    "css" => css::CSS,
    "dart" => dart::DART,
    "elixir" => elixir::ELIXIR,
    "go" => go::GO,
    "graphql" => graphql::GRAPHQL,
    "groovy" => groovy::GROOVY,
    "haskell" => haskell::HASKELL,
    "hcl" => hcl::HCL,
    "html" => html::HTML,
    "ini" => ini::INI,
    "java" => java::JAVA,
    "javascript" => javascript::JAVASCRIPT,
    "json" => json::JSON,
    "kotlin" => kotlin::KOTLIN,
    "lua" => lua::LUA,
    "make" => make::MAKE,
    "markdown" => markdown::MARKDOWN,
    "objc" => objc::OBJC,
    "org" => org::ORG,
    "perl" => perl::PERL,
    "php" => php::PHP,
    "powershell" => powershell::POWERSHELL,
    "protobuf" => protobuf::PROTOBUF,
    "python" => python::PYTHON,
    "r" => r::R,
    "rst" => rst::RST,
    "ruby" => ruby::RUBY,
    "rust" => rust::RUST,
    "scala" => scala::SCALA,
    "sql" => sql::SQL,
    "svelte" => svelte::SVELTE,
    "swift" => swift::SWIFT,
    "toml" => toml::TOML,
    "typescript" => typescript::TYPESCRIPT,
    "typescript" => typescript::TSX,
    "vue" => vue::VUE,
    "xml" => xml::XML,
    "yaml" => yaml::YAML,
    "zig" => zig::ZIG,
};
