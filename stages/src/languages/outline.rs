//! What the tests of the languages compare: the symbols of a source, one a line.

use std::fmt::Write;

use crate::parse::FileSymbols;
use crate::parse::parser::Parser;

/// Imports, then `kind qualified_name first-last signature | doc | calls`, with what is set of owner, bases,
/// branches, loops and visibility.
pub(crate) fn outline(format: &str, source: &str) -> String {
    let found = Parser::new().parse(format, source);
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{}", line.trim_end()).expect("strings take all");
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
        line(format!("values: {}", values(&found)));
    }
    if !found.calls.is_empty() {
        line(format!("outside: {}", found.calls.join(" ")));
    }
    if !found.doc.is_empty() {
        line(format!("doc: {}", found.doc.replace('\n', "⏎")));
    }
    if found.errors > 0 {
        line(format!("{} errors", found.errors));
    }
    text
}

/// The names of the constants and variables of a source, in its order.
pub(crate) fn values_of(format: &str, source: &str) -> String {
    values(&Parser::new().parse(format, source))
}

fn values(found: &FileSymbols) -> String {
    found.constants.iter().map(|constant| constant.name.as_str()).collect::<Vec<_>>().join(" ")
}
