//! Definitions that a custom stage supplies for a file, for example in a language without built-in support.

use std::sync::Arc;

use aurora_languages::{Boundary, FileSymbols, Symbol, SymbolKind};
use aurora_pipeline::{Cell, Value};
use serde::{Deserialize, Serialize};

/// Maximum number of definitions of a file.
const MAX_DEFINITIONS: usize = 50_000;
/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 1_024;

/// The definitions of a file. `None` if no custom stage supplies definitions. In this case, the symbols from the
/// `parse` stage are used.
#[derive(Clone, Debug, Default)]
pub struct Definitions(pub(crate) Option<Arc<[Definition]>>);

impl Cell for Definitions {
    fn heap_bytes(&self) -> usize {
        let texts = |definition: &Definition| {
            definition.name.len() + definition.qualified_name.len() + definition.signature.len() + definition.doc.len()
        };
        self.0.iter().flat_map(|all| all.iter()).map(|one| size_of::<Definition>() + texts(one)).sum()
    }
}

/// One definition. Lines count from 1, and the last line is inclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    name: String,
    /// `function`, `method`, `class`, `interface`, `type`, `struct`, `enum`, `module`, `block` or `section`.
    kind: String,
    line_start: u32,
    line_end: u32,
    /// The name with its qualifiers, or empty.
    #[serde(default)]
    qualified_name: String,
    #[serde(default)]
    signature: String,
    #[serde(default)]
    doc: String,
    /// Names that the definition calls, each reduced to its last identifier.
    #[serde(default)]
    calls: Vec<String>,
    /// Types that the definition extends or implements, each reduced to its last identifier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bases: Vec<String>,
    #[serde(default = "default_exported")]
    exported: bool,
}

impl Definition {
    /// Converts a symbol that `parse` found.
    pub(crate) fn from_symbol(symbol: &Symbol) -> Self {
        let (line_start, line_end) = symbol.lines;
        Self {
            name: symbol.name.clone(),
            kind: symbol.kind.as_str().to_owned(),
            line_start,
            line_end,
            qualified_name: symbol.qualified_name.clone(),
            signature: symbol.signature.clone(),
            doc: symbol.doc.clone(),
            calls: symbol.calls.clone(),
            bases: symbol.bases.clone(),
            exported: symbol.exported,
        }
    }

    /// Returns the kind, name and lines as text.
    pub(crate) fn in_words(&self) -> String {
        let Self { name, kind, line_start, line_end, qualified_name, .. } = self;
        let name = if qualified_name.is_empty() { name } else { qualified_name };
        if line_start == line_end {
            format!("{kind} {name}, line {line_start}")
        } else {
            format!("{kind} {name}, lines {line_start}–{line_end}")
        }
    }
}

fn default_exported() -> bool {
    true
}

/// Kinds that a definition may have.
const KINDS: [SymbolKind; 10] = [
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Interface,
    SymbolKind::Type,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Module,
    SymbolKind::Block,
    SymbolKind::Section,
];

/// Sets the definitions of a file from the list of objects that a custom stage returns.
///
/// # Errors
/// Fails if the value is not such a list, or if a definition is invalid. Only the first error is reported.
pub(crate) fn set(cell: &mut Definitions, value: Value) -> Result<(), String> {
    let Value::Json(json) = value else { return Err("definitions must be a list of objects".to_owned()) };
    let all: Vec<Definition> = serde_json::from_value(json).map_err(|error| error.to_string())?;
    if all.len() > MAX_DEFINITIONS {
        return Err(format!("more than {MAX_DEFINITIONS} definitions"));
    }
    for definition in &all {
        let Definition { name, kind, line_start, line_end, qualified_name, .. } = definition;
        if name.is_empty() || name.len() > MAX_NAME_BYTES || qualified_name.len() > MAX_NAME_BYTES {
            return Err(format!("the name of a definition must have between 1 and {MAX_NAME_BYTES} bytes"));
        }
        if kind_of(kind).is_none() {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.as_str()).collect();
            return Err(format!("unknown kind of definition `{kind}`; the known kinds are {}", known.join(", ")));
        }
        if *line_start == 0 || line_end < line_start {
            return Err(format!("`{name}` has invalid lines: {line_start} to {line_end}"));
        }
    }
    cell.0 = Some(all.into());
    Ok(())
}

fn kind_of(name: &str) -> Option<SymbolKind> {
    KINDS.into_iter().find(|kind| kind.as_str() == name)
}

/// Converts the definitions of a text to symbols. Definitions beyond the end of the text are omitted. A
/// definition that begins inside another one and ends after it is truncated.
pub(crate) fn symbols_of(definitions: &[Definition], text: &str) -> FileSymbols {
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let lines = starts.len() - usize::from(text.is_empty() || text.ends_with('\n'));
    let mut sorted: Vec<&Definition> = definitions.iter().filter(|one| one.line_start as usize <= lines).collect();
    sorted.sort_by_key(|one| (one.line_start, std::cmp::Reverse(one.line_end)));
    let mut symbols: Vec<Symbol> = Vec::with_capacity(sorted.len());
    let mut open: Vec<u32> = Vec::new();
    for definition in sorted {
        while open.last().is_some_and(|at| symbols[*at as usize].lines.1 < definition.line_start) {
            open.pop();
        }
        let parent = open.last().copied();
        let last = (definition.line_end as usize).min(lines);
        let last = parent.map_or(last, |at| last.min(symbols[at as usize].lines.1 as usize));
        let (start, end) =
            (starts[definition.line_start as usize - 1], starts.get(last).map_or(text.len(), |next| next - 1));
        let qualified = |at: u32| format!("{}.{}", symbols[at as usize].qualified_name, definition.name);
        symbols.push(Symbol {
            kind: kind_of(&definition.kind).unwrap_or(SymbolKind::Type),
            name: definition.name.clone(),
            qualified_name: if definition.qualified_name.is_empty() {
                parent.map_or_else(|| definition.name.clone(), qualified)
            } else {
                definition.qualified_name.clone()
            },
            parent,
            owner: None,
            bytes: offset(start)..offset(end.max(start)),
            lines: (definition.line_start, last as u32),
            // Every symbol needs a body, because a definition without a body would be merged into its parent.
            body: Some(offset(end.max(start))),
            signature: definition.signature.clone(),
            doc: definition.doc.clone(),
            doc_bytes: None,
            calls: definition.calls.clone(),
            bases: definition.bases.clone(),
            branches: 0,
            loops: 0,
            exported: definition.exported,
            heading_level: 0,
        });
        open.push(symbols.len() as u32 - 1);
    }
    let boundaries = starts.iter().skip(1).map(|at| Boundary { at: offset(*at), depth: 0 }).collect();
    FileSymbols { symbols, boundaries, lines: lines as u32, ..FileSymbols::default() }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn symbols(definitions: serde_json::Value, text: &str) -> Vec<(String, (u32, u32), String)> {
        let mut cell = Definitions::default();
        set(&mut cell, Value::Json(definitions)).expect("valid definitions");
        let found = symbols_of(&cell.0.expect("the definitions were set"), text).symbols;
        found
            .into_iter()
            .map(|symbol| {
                let bytes = symbol.bytes.start as usize..symbol.bytes.end as usize;
                (symbol.qualified_name, symbol.lines, text[bytes].to_owned())
            })
            .collect()
    }

    #[test]
    fn lines_become_spans_and_nesting_becomes_names() {
        let text = "message A {\n  enum B {\n  }\n}\nservice C {}";
        let given = json!([
            { "name": "C", "kind": "interface", "line_start": 5, "line_end": 9 },
            { "name": "B", "kind": "enum", "line_start": 2, "line_end": 3 },
            { "name": "A", "kind": "struct", "line_start": 1, "line_end": 4 },
            { "name": "late", "kind": "type", "line_start": 6, "line_end": 6 },
        ]);
        assert_eq!(
            symbols(given, text),
            [
                ("A".to_owned(), (1, 4), "message A {\n  enum B {\n  }\n}".to_owned()),
                ("A.B".to_owned(), (2, 3), "  enum B {\n  }".to_owned()),
                ("C".to_owned(), (5, 5), "service C {}".to_owned()),
            ]
        );
        assert!(symbols(json!([{ "name": "a", "kind": "type", "line_start": 1, "line_end": 1 }]), "").is_empty());
    }

    #[test]
    fn invalid_definitions_are_rejected() {
        for (given, reason) in [
            (json!({}), "invalid type"),
            (json!([{ "name": "a" }]), "missing field `kind`"),
            (
                json!([{ "name": "a", "kind": "thing", "line_start": 1, "line_end": 1 }]),
                "unknown kind of definition `thing`",
            ),
            (json!([{ "name": "", "kind": "type", "line_start": 1, "line_end": 1 }]), "the name of a definition"),
            (json!([{ "name": "a", "kind": "type", "line_start": 3, "line_end": 2 }]), "`a` has invalid lines: 3 to 2"),
            (json!([{ "name": "a", "kind": "type", "line_start": 0, "line_end": 2 }]), "`a` has invalid lines: 0 to 2"),
        ] {
            let error = set(&mut Definitions::default(), Value::Json(given)).expect_err("the definitions are invalid");
            assert!(error.contains(reason), "{error}");
        }
    }
}
