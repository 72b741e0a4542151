//! Groovy, with the builds of Gradle and the pipelines of Jenkins.

#![cfg(feature = "groovy")]

use std::ops::Range;

use tree_sitter::Node;

use crate::highlight::Highlighting;
use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod highlighting;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Groovy.
pub(crate) static GROOVY: Language = Language {
    keeps_overloads: true,
    declared_name: Some(declared_name),
    ends_at_token: true,
    masked,
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
        Highlighting::Tokens(&highlighting::TABLE),
    )
};

/// Operators that the grammar does not know, with some that it does.
const OPERATORS: &[(&str, &str)] = &[
    ("?.", " ."),
    ("*.", " ."),
    (".@", " ."),
    (".&", " ."),
    ("?:", "||"),
    ("<=>", "== "),
    ("==~", "== "),
    ("=~", "=="),
];

/// Words that may stand before `def` or `trait`.
const MODIFIERS: &[&str] = &["public", "private", "protected", "static", "final", "abstract"];

/// Replaces what the grammar does not know: `def "name"()` gets an identifier for a name, `trait` becomes `class`,
/// `task name { }` a call of `task_name` with a block, and operators become others.
fn masked(text: &str) -> Option<String> {
    let mut masked = text.to_owned();
    for (operator, known) in OPERATORS {
        if masked.contains(operator) {
            masked = masked.replace(operator, known);
        }
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((range, word)) = masked_word(line) {
            let filled = format!("{word:_<length$}", length = range.len());
            masked.replace_range(start + range.start..start + range.end, &filled);
        }
        start += line.len();
    }
    (masked != text).then_some(masked)
}

/// The bytes of a line that an identifier of the same length replaces, and how that begins.
fn masked_word(line: &str) -> Option<(Range<usize>, &'static str)> {
    let mut at = line.len() - line.trim_start().len();
    loop {
        let rest = &line[at..];
        let end = rest.find(' ')?;
        let after = at + end + rest[end..].len() - rest[end..].trim_start().len();
        match &rest[..end] {
            modifier if MODIFIERS.contains(&modifier) => at = after,
            "trait" => return Some((at..at + end, "class")),
            "task" => {
                let name = line[after..].find(|c: char| !c.is_alphanumeric() && c != '_')?;
                let block = after + line[after..].find('{')?;
                let header = line[..block].trim_end().len();
                let is_header = |rest: &str| rest.is_empty() || rest.starts_with('(') && rest.ends_with(')');
                return (name > 0 && is_header(line[after + name..header].trim())).then_some((at + end..header, "_"));
            }
            "def" | "void" => {
                let quote = line[after..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
                let close = after + 2 + line[after + 1..].find(quote)?;
                return line[close..].starts_with('(').then_some((after..close, "_"));
            }
            _ => return None,
        }
    }
}

/// `name` in `task name(type: Copy)`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let name = text_of(node, text);
    let name = name.strip_prefix("task ").map_or(name, |rest| rest.split('(').next().unwrap_or(rest).trim());
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
