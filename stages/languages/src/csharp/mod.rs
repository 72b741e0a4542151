//! Support for C#: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "csharp")]

use tree_sitter::Node;

use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

mod documentation;
mod masked;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// C#, including scripts.
pub(crate) static CSHARP: Language = Language {
    reserved: &[
        "break",
        "case",
        "catch",
        "class",
        "continue",
        "do",
        "else",
        "enum",
        "finally",
        "fixed",
        "for",
        "foreach",
        "if",
        "lock",
        "namespace",
        "return",
        "struct",
        "switch",
        "throw",
        "try",
        "using",
        "while",
    ],
    keeps_overloads: true,
    declared_name: Some(declared_name),
    doc_text: Some(documentation::text),
    masked: masked::masked,
    imports,
    exported,
    interpreters: &["dotnet-script"],
    aliases: &["c#"],
    ..Language::new(
        "csharp",
        &["cs", "csx", "cake"],
        || tree_sitter_c_sharp::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. The grammar has no name nodes for `~Name`, `operator +`, `operator int` and
/// `this[]`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let name = match node.kind() {
        "destructor_declaration" => format!("~{}", text_of(node.child_by_field_name("name")?, text)),
        "indexer_declaration" => "this[]".to_owned(),
        "conversion_operator_declaration" => {
            let name = without_white_space(text_of(node.child_by_field_name("type")?, text));
            format!("operator {name}")
        }
        "operator_declaration" => format!("operator {}", text_of(node.child_by_field_name("operator")?, text)),
        _ => without_white_space(text_of(node, text)),
    };
    Some(DeclaredName { name, owner: None })
}

/// Removes the white space from a qualified name or a type.
fn without_white_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Whether a definition is visible outside its file: it is an outermost type that is neither `file` nor `private`, or a
/// member that is not private and whose type is visible.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let has = |modifier: &str| visibility.signature.split(' ').take(6).any(|word| word == modifier);
    match visibility.parent {
        None => !has("file") && !has("private"),
        Some((SymbolKind::Interface | SymbolKind::Enum, exported)) => exported && !has("private"),
        Some((kind, exported)) => {
            exported && kind.is_container() && (has("public") || has("protected") || has("internal"))
        }
    }
}

/// Reads `using A.B;`, `using static A.B;` and `using Name = A.B;`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).last() else { return };
    let path = without_white_space(text_of(path, text).split('<').next().unwrap_or_default());
    let name = node.child_by_field_name("name").map_or("*", |alias| text_of(alias, text)).to_owned();
    found.push(import(node, &path, vec![name]));
}
