//! Prints the definitions of files: `cargo run --release -p aurora-languages --example definitions < LIST`.
//!
//! LIST has the path of a file in each line. For each of them, one JSON object is printed on a line of its own: `language`, and
//! `definitions`, the outer before the inner, each with `kind`, `name`, `scopes` (the qualified name without the name),
//! `signature`, `lines` (first and last, counted from 1), `doc`, `doc_lines` (empty if it has none), `code` (the text without its documentation and that of the
//! definitions inside), and `has_body`. A file in no programming language, and one that cannot be read as UTF-8, has none.
//!
//! With `--documented`, only definitions with documentation are printed. With `--extensions`, it prints the extensions of files in programming languages.

mod detection;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_languages::{LANGUAGES, Language, Parser, Symbol};
use serde_json::{Value, json};

use detection::language_of;

/// A larger file has no definitions, as one that cannot be read.
const LARGEST_FILE: u64 = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == "--extensions" {
        let programming = LANGUAGES.iter().filter(|language| is_programming(language));
        programming.flat_map(|language| language.extensions).for_each(|extension| println!("{extension}"));
        return Ok(());
    }
    let parser = Parser::new();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for path in io::stdin().lock().lines() {
        writeln!(out, "{}", definitions(&parser, Path::new(&path?), argument == "--documented"))?;
    }
    out.flush()?;
    Ok(())
}

fn definitions(parser: &Parser, path: &Path, only_documented: bool) -> Value {
    let Ok(text) = read_regular_to_string(path, LARGEST_FILE) else { return json!({ "definitions": [] }) };
    let Some(language) = language_of(path, &text).filter(|language| is_programming(language)) else {
        return json!({ "definitions": [] });
    };
    let symbols = parser.parse(Some(language), &text).symbols;
    let mut docs: Vec<Range<u32>> = symbols.iter().filter_map(|symbol| symbol.doc_bytes.clone()).collect();
    docs.sort_unstable_by_key(|doc| doc.start);
    let feeds: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let shown = symbols.iter().filter(|symbol| !(only_documented && symbol.doc.is_empty()));
    let found: Vec<Value> = shown.map(|symbol| definition(symbol, &docs, &text, &feeds)).collect();
    json!({ "language": language.family, "definitions": found })
}

fn is_programming(language: &Language) -> bool {
    !language.is_prose() && !language.is_declarative
}

fn definition(symbol: &Symbol, docs: &[Range<u32>], text: &str, feeds: &[usize]) -> Value {
    let line = |at: u32| feeds.partition_point(|feed| *feed < at as usize) + 1;
    let doc_lines: Vec<usize> = symbol.doc_bytes.iter().flat_map(|doc| [line(doc.start), line(doc.end - 1)]).collect();
    json!({
        "kind": symbol.kind.as_str(),
        "name": symbol.name,
        "scopes": symbol.qualified_name.strip_suffix(&symbol.name).unwrap_or(&symbol.qualified_name),
        "signature": symbol.signature,
        "lines": symbol.lines,
        "doc": symbol.doc,
        "doc_lines": doc_lines,
        "code": code(symbol, docs, text),
        "has_body": symbol.body.is_some(),
    })
}

/// The text of a definition without the documentation in it; `docs` are ordered by their start.
fn code(symbol: &Symbol, docs: &[Range<u32>], text: &str) -> String {
    let (mut at, end) = (symbol.bytes.start, symbol.bytes.end);
    let mut code = String::new();
    let first = docs.partition_point(|doc| doc.start < at);
    for doc in docs[first..].iter().take_while(|doc| doc.start < end) {
        if doc.start >= at && doc.end <= end {
            code.push_str(&text[at as usize..doc.start as usize]);
            at = doc.end;
        }
    }
    code.push_str(&text[at as usize..end as usize]);
    code
}
