//! Formats the symbols of a source as text, for the tests of the languages.

use std::fmt::Write;

use crate::{FileSymbols, Language, Parser};

/// Formats the imports, then each symbol as `kind qualified_name first-last signature | doc | calls`, followed by
/// owner, bases, branches, loops and visibility where present. Lines for the constants, for the calls outside symbols,
/// for the documentation of the file and for the number of errors follow, unless they would be empty.
pub(crate) fn outline(language: &'static Language, source: &str) -> String {
    let found = Parser::new().parse(Some(language), source);
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{}", line.trim_end()).expect("writing to a string cannot fail");
    for import in &found.imports {
        line(format!("import {} {}", import.path, import.names.join(" ")));
    }
    for symbol in &found.symbols {
        let (first, last) = symbol.lines;
        let mut rest = vec![symbol.signature.clone(), symbol.doc.replace('\n', "⏎"), symbol.calls.join(" ")];
        rest.extend(symbol.owner.as_ref().map(|owner| format!("of {owner}")));
        rest.extend((!symbol.bases.is_empty()).then(|| format!("is {}", symbol.bases.join(" "))));
        rest.extend((symbol.branches > 0).then(|| format!("{} branches", symbol.branches)));
        rest.extend((symbol.loops > 0).then(|| format!("{} loops", symbol.loops)));
        rest.extend(symbol.exported.then(|| "exported".to_owned()));
        line(format!("{} {} {first}-{last} {}", symbol.kind.as_str(), symbol.qualified_name, rest.join(" | ")));
    }
    if !found.constants.is_empty() {
        line(format!("constants: {}", constant_names(&found)));
    }
    if !found.calls.is_empty() {
        line(format!("calls outside symbols: {}", found.calls.join(" ")));
    }
    if !found.doc.is_empty() {
        line(format!("doc: {}", found.doc.replace('\n', "⏎")));
    }
    if found.errors > 0 {
        line(format!("{} errors", found.errors));
    }
    text
}

/// Returns the names of the constants and variables of a source, in document order.
pub(crate) fn constants_of(language: &'static Language, source: &str) -> String {
    constant_names(&Parser::new().parse(Some(language), source))
}

fn constant_names(found: &FileSymbols) -> String {
    found.constants.iter().map(|constant| constant.name.as_str()).collect::<Vec<_>>().join(" ")
}
