//! Support for Lua: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "lua")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind, bounded};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Lua 5.1 to 5.4 and LuaJIT.
pub(crate) static LUA: Language = Language {
    file_names: &[".busted", ".luacheckrc"],
    interpreters: &["lua", "luajit", "texlua"],
    imports,
    exported,
    doc_text: Some(|source| text_between(source, &["--[==[", "--[=[", "--[[", "---", "--"], &["]==]", "]=]", "]]"])),
    file_doc: FileDoc::Prefix("--"),
    ..Language::new(
        "lua",
        &["lua", "rockspec"],
        || tree_sitter_lua::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file. Local functions, definitions inside functions and definitions
/// whose names begin with a single underscore are not visible.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_private = visibility.name.starts_with('_') && !visibility.name.starts_with("__");
    let is_nested = matches!(visibility.parent, Some((SymbolKind::Function | SymbolKind::Method, _)));
    !visibility.signature.starts_with("local ") && !is_private && !is_nested
}

/// Reads `local a, b = require("x"), require("y").z`, or a `require` that binds no name.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "function_call" {
        if !is_value_of_declaration(node) {
            found.extend(required(node, text).map(|path| import(node, path, Vec::new())));
        }
        return;
    }
    let Some(assignment) = node.named_child(0) else { return };
    let (Some(names), Some(values)) = (assignment.named_child(0), assignment.named_child(1)) else { return };
    let (mut names_cursor, mut values_cursor) = (names.walk(), values.walk());
    let mut names = names.named_children(&mut names_cursor);
    for value in values.named_children(&mut values_cursor) {
        let name = names.next().map(|name| text_of(name, text).to_owned());
        let call =
            if value.kind() == "dot_index_expression" { value.child_by_field_name("table") } else { Some(value) };
        let member = value.child_by_field_name("field").map_or("*", |member| bounded(text_of(member, text)));
        if let Some(path) = call.and_then(|call| required(call, text)) {
            let members = name.iter().map(|name| (bounded(name).to_owned(), member.to_owned())).collect();
            found.push(Import { members, ..import(node, path, name.into_iter().collect()) });
        }
    }
}

/// Whether a call is a value of a `local` statement. The whole statement is then the import.
fn is_value_of_declaration(call: Node<'_>) -> bool {
    let field = call.parent().filter(|parent| parent.kind() == "dot_index_expression");
    let values = field.unwrap_or(call).parent().filter(|parent| parent.kind() == "expression_list");
    let assignment = values.and_then(|values| values.parent());
    let statement = assignment.and_then(|assignment| assignment.parent());
    statement.is_some_and(|statement| statement.kind() == "variable_declaration")
}

/// Returns the module in a call such as `require("x")`. Returns `None` for all other functions, and if the argument is
/// not a string literal.
fn required<'t>(call: Node<'_>, text: &'t str) -> Option<&'t str> {
    let function = call.child_by_field_name("name").map(|name| text_of(name, text))?;
    let argument = call.child_by_field_name("arguments")?.named_child(0)?;
    let is_literal = matches!(function, "require" | "dofile" | "loadfile") && argument.kind() == "string";
    is_literal.then(|| argument.child_by_field_name("content").map_or("", |content| text_of(content, text)))
}
