//! Groovy, with the builds of Gradle and the pipelines of Jenkins.

#![cfg(feature = "groovy")]

use tree_sitter::Node;

use crate::java::RESERVED;
use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod calls;
mod declarations;
mod keywords;
mod lexer;
mod masked;
mod output;
mod statements;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Groovy.
pub(crate) static GROOVY: Language = Language {
    reserved: RESERVED,
    keeps_overloads: true,
    declared_name: Some(declared_name),
    ends_at_token: true,
    masked: masked::masked,
    imports,
    exported,
    file_names: &["Jenkinsfile*"],
    interpreters: &["groovy"],
    aliases: &["jenkinsfile"],
    ..Language::new(
        "groovy",
        &["groovy", "gradle", "gvy", "gy", "gsh", "nf"],
        || tree_sitter_groovy::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// `name` in `task name(type: Copy)`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let source = text_of(node, text);
    let named = source.split_once(' ').filter(|(word, _)| statements::NAMED_BLOCKS.contains(word));
    let name = named.map_or(source, |(_, rest)| rest.split('(').next().unwrap_or(rest).trim());
    Some(DeclaredName { name: name.to_owned(), owner: None })
}

/// Everything but private definitions, and what is inside functions.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let declaration = visibility.signature.split('(').next().unwrap_or_default();
    let is_private = declaration.split(' ').any(|word| word == "private");
    !is_private && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

/// `import a.b.C`, `import a.b.C as D`, `import static a.b.C.*`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let (mut path, mut name) = ("", None);
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "scoped_identifier" => path = text_of(child, text),
            "identifier" if path.is_empty() => path = text_of(child, text),
            "identifier" => name = Some(text_of(child, text)),
            "asterisk" => name = Some("*"),
            _ => {}
        }
    }
    let name = name.unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path));
    found.push(import(node, path, vec![name.to_owned()]));
}
