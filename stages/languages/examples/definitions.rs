//! Prints the definitions of files: `cargo run --release -p aurora-languages --example definitions < LIST`.
//!
//! Each line of LIST is the path of a file. The program prints one line for each file: a JSON object with `language`
//! and `definitions`. An outer definition precedes the definitions inside it. Each definition has these fields:
//!
//! * `kind`, `name` and `signature`
//! * `scopes`: the qualified name without the name
//! * `lines`: the first and the last line, 1-based
//! * `doc`: the documentation
//! * `doc_lines`: the first and the last line of the documentation, empty without documentation
//! * `code`: the text without the documentation of the definition and of the definitions inside it
//! * `has_body`: whether the definition has a body
//!
//! `definitions` is empty for a file that is not in a programming language, is larger than 4 MiB, or cannot be read as
//! UTF-8.
//!
//! With `--documented`, only definitions with documentation are printed. With `--extensions`, the program prints the
//! extensions of files in programming languages.

mod detection;

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_languages::{LANGUAGES, Language, Parser, Symbol};
use serde_json::{Value, json};

use detection::language_of;

/// Maximum size of a file. Larger files are treated as unreadable.
const MAX_FILE_BYTES: u64 = 4 << 20;

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
    let Ok(text) = read_regular_to_string(path, MAX_FILE_BYTES) else { return json!({ "definitions": [] }) };
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

/// Returns the text of a definition without the documentation in it. `docs` must be ordered by start.
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
