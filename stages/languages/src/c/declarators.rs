//! Reads the names in declarators: `*(*name(int))[3]`, `Type::name`, `operator ==`.

use tree_sitter::Node;

use crate::language::DeclaredName;
use crate::spans::text_of;

/// Returns the name that a declarator declares, with the types and namespaces that qualify it.
pub(crate) fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let mut owners: Vec<&str> = Vec::new();
    let mut node = node;
    let name = loop {
        node = match node.kind() {
            "qualified_identifier" => {
                owners.extend(node.child_by_field_name("scope").map(|scope| scope_name(scope, text)));
                node.child_by_field_name("name")?
            }
            "template_type" | "template_function" | "template_method" => node.child_by_field_name("name")?,
            "parenthesized_declarator"
            | "reference_declarator"
            | "struct_declarator"
            | "attributed_declarator"
            | "dependent_name" => last_declarator(node)?,
            "destructor_name" | "nested_namespace_specifier" => break compact(text_of(node, text)),
            "operator_name" | "operator_cast" => break operator(node, text),
            _ => match node.child_by_field_name("declarator") {
                Some(inner) => inner,
                None if node.named_child_count() == 0 => break text_of(node, text).to_owned(),
                None => return None,
            },
        };
    };
    Some(DeclaredName { name, owner: (!owners.is_empty()).then(|| owners.join("::")) })
}

/// Returns the name of a scope without template arguments.
fn scope_name<'t>(scope: Node<'_>, text: &'t str) -> &'t str {
    let name = scope.child_by_field_name("name").unwrap_or(scope);
    text_of(name, text)
}

/// Returns the declarator among the children of a node without fields. Attributes and qualifiers may precede it.
fn last_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let is_declarator = |child: &Node<'_>| {
        let kind = child.kind();
        kind.ends_with("declarator") || kind.ends_with("identifier") || kind.ends_with("_name")
    };
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(is_declarator).last()
}

/// Returns the normalized name of an operator: `operator==`, `operator()`, `operator new`, `operator bool`,
/// `operator""_kb`.
fn operator(node: Node<'_>, text: &str) -> String {
    let source = text_of(node, text);
    let parameters = node.child_by_field_name("declarator").and_then(|_| source.find('('));
    let source = &source[..parameters.unwrap_or(source.len())];
    let rest = source.trim_start().strip_prefix("operator").unwrap_or(source).trim();
    let space = if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') { " " } else { "" };
    let words: Vec<&str> = rest.split_whitespace().collect();
    format!("operator{space}{}", words.join(if space.is_empty() { "" } else { " " }))
}

fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}
