//! Support for Groovy, including Gradle builds and Jenkins pipelines.

#![cfg(feature = "groovy")]

use tree_sitter::Node;

use crate::java::RESERVED;
use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod declarations;
mod lexer;
mod outline;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Groovy. No tree-sitter grammar can read most Groovy sources, so each source is converted to an outline in Java,
/// which the Java grammar can read.
pub(crate) static GROOVY: Language = Language {
    reserved: RESERVED,
    keeps_overloads: true,
    declared_name: Some(declared_name),
    ends_at_token: true,
    masked: outline::outline,
    imports,
    exported,
    file_names: &["Jenkinsfile*"],
    interpreters: &["groovy"],
    aliases: &["jenkinsfile"],
    ..Language::new(
        "groovy",
        &["groovy", "gradle", "gvy", "gy", "gsh", "nf"],
        || tree_sitter_java::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. Reads it from the source, because the Java outline may lack its last
/// character.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let rest = &text[node.start_byte()..];
    let word = rest.find(|c| !lexer::is_word(c)).map_or(rest, |length| &rest[..length]);
    let name = if word.is_empty() { text_of(node, text) } else { word };
    Some(DeclaredName { name: name.to_owned(), owner: None })
}

/// Whether a definition is visible outside its file: it is not private, and it is not inside a function or a private
/// definition.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let declaration = visibility.signature.split('(').next().unwrap_or_default();
    let is_private = declaration.split(' ').any(|word| word == "private");
    !is_private && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

/// Reads `import a.b.C`, `import a.b.C as D` and `import static a.b.C.*`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let line = text[node.start_byte()..].split(['\n', ';']).next().unwrap_or_default();
    let mut words = line.split_whitespace().filter(|word| *word != "static").skip(1);
    let path = words.next().unwrap_or_default();
    let all = path.strip_suffix(".*");
    let last = if all.is_some() { "*" } else { path.rsplit('.').next().unwrap_or(path) };
    let name = words.next().filter(|word| *word == "as").and_then(|_| words.next()).unwrap_or(last);
    found.push(import(node, all.unwrap_or(path), vec![name.to_owned()]));
}
