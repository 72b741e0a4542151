//! Support for Elixir: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "elixir")]

use std::ops::Range;

use tree_sitter::Node;

use crate::extract::docs::{docstring_text, text_between};
use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, bounded};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static ELIXIR: Language = Language {
    interpreters: &["elixir", "iex"],
    aliases: &["elixir-ts"],
    imports,
    exported,
    are_clauses: |first, second| arity(first) == arity(second),
    name_in,
    docstring: Some(docstring),
    doc_text: Some(doc_text),
    ..Language::new(
        "elixir",
        &["ex", "exs"],
        || tree_sitter_elixir::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let keyword = visibility.signature.split([' ', '(']).next().unwrap_or_default();
    let is_private = matches!(keyword, "defp" | "defmacrop" | "defguardp" | "defnp" | "@typep");
    !is_private && visibility.parent.is_none_or(|(_, exported)| exported)
}

/// Returns `field` for `field: ` and `:field`, and `Inner` for `__MODULE__.Inner`.
fn name_in(text: &str) -> &str {
    let name = text.trim_end().trim_end_matches(':').trim_start_matches(':');
    name.strip_prefix("__MODULE__.").unwrap_or(name)
}

/// Returns the number of parameters in the signature of a function, from the commas inside the first parentheses.
fn arity(signature: &str) -> usize {
    let Some((_, parameters)) = signature.split_once('(') else { return 0 };
    let (mut depth, mut commas, mut quoted, mut previous) = (0_u32, 0, false, ' ');
    for c in parameters.chars() {
        match c {
            '"' if previous != '\\' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            '<' if previous == '<' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '>' if previous == '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
        previous = c;
    }
    let is_empty = parameters.trim_start().starts_with(')');
    if is_empty { 0 } else { commas + 1 }
}

/// Returns the literal of `@moduledoc` in the block of a module.
fn docstring(body: Node<'_>, text: &str) -> Option<Range<usize>> {
    let mut cursor = body.walk();
    let mut attributes = body.named_children(&mut cursor).filter(|child| child.kind() == "unary_operator");
    attributes.find_map(|attribute| {
        let call = attribute.child_by_field_name("operand")?;
        let name = call.child_by_field_name("target")?;
        let literal = call.named_child(1)?.named_child(0)?;
        let is_doc = text_of(name, text) == "moduledoc" && matches!(literal.kind(), "string" | "sigil");
        is_doc.then(|| literal.byte_range())
    })
}

/// Returns the text of `@doc """…"""`, of a literal, or of comments.
fn doc_text(source: &str) -> String {
    let literal = ["@doc", "@typedoc", "@shortdoc"].iter().find_map(|name| source.strip_prefix(name)).unwrap_or(source);
    let literal = literal.trim_start();
    let literal = literal.strip_prefix('~').unwrap_or(literal);
    let is_literal = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with(['"', '\'']);
    if is_literal { docstring_text(literal) } else { text_between(source, &["#"], &[]) }
}

/// Reads `alias A.B, as: C`, `alias A.{B, C}`, `import A, only: [f: 1]`, `require A` and `use A`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let keyword = node.child_by_field_name("target").map_or("", |target| text_of(target, text));
    let Some(arguments) = node.named_child(1) else { return };
    let Some(module) = arguments.named_child(0) else { return };
    let option = |name: &str| {
        let mut cursor = arguments.walk();
        let keywords = arguments.named_children(&mut cursor).find(|child| child.kind() == "keywords")?;
        let mut cursor = keywords.walk();
        keywords.named_children(&mut cursor).find_map(|pair| {
            let key = pair.child_by_field_name("key")?;
            if name_in(text_of(key, text)) == name { pair.child_by_field_name("value") } else { None }
        })
    };
    if module.kind() == "dot" {
        let prefix = module.child_by_field_name("left").map_or("", |left| text_of(left, text));
        let Some(members) = module.child_by_field_name("right").filter(|right| right.kind() == "tuple") else { return };
        let mut cursor = members.walk();
        for member in members.named_children(&mut cursor) {
            let name = text_of(member, text);
            found.push(import(node, &format!("{}.{name}", bounded(prefix)), vec![last_segment(name)]));
        }
        return;
    }
    let path = text_of(module, text);
    let names = match keyword {
        "use" => Vec::new(),
        "import" => option("only").map_or_else(|| vec!["*".to_owned()], |only| keys_of(only, text)),
        _ => vec![option("as").map_or_else(|| last_segment(path), |alias| text_of(alias, text).to_owned())],
    };
    found.push(import(node, path, names));
}

/// Returns the keys of `[f: 1, g: 2]`.
fn keys_of(list: Node<'_>, text: &str) -> Vec<String> {
    let Some(keywords) = list.named_child(0) else { return Vec::new() };
    let mut cursor = keywords.walk();
    let keys = keywords.named_children(&mut cursor).filter_map(|pair| pair.child_by_field_name("key"));
    keys.map(|key| name_in(text_of(key, text)).to_owned()).collect()
}

fn last_segment(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_owned()
}
