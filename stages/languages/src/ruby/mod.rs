//! Support for Ruby: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "ruby")]

use tree_sitter::Node;

use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

mod heredoc;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Ruby, including files in Ruby syntax for builds and tests.
pub(crate) static RUBY: Language = Language {
    keeps_overloads: true,
    separator: "::",
    name_in: |text| text.trim_matches(['"', '\'', '`', ':']),
    member_separator: Some("."),
    omitted_qualifiers: &["self"],
    declared_name: Some(declared_name),
    imports,
    exported,
    breaks_scanner: heredoc::has_long_word,
    file_names: &[
        ".irbrc",
        ".pryrc",
        ".simplecov",
        "Appfile",
        "Appraisals",
        "Berksfile",
        "Brewfile",
        "Capfile",
        "Cheffile",
        "Dangerfile",
        "Deliverfile",
        "Fastfile",
        "Gemfile",
        "Guardfile",
        "Gymfile",
        "Matchfile",
        "Podfile",
        "Puppetfile",
        "Rakefile",
        "Scanfile",
        "Snapfile",
        "Steepfile",
        "Thorfile",
        "Vagrantfile",
    ],
    interpreters: &["ruby", "jruby", "truffleruby", "rake"],
    aliases: &["jruby", "macruby"],
    ..Language::new(
        "ruby",
        &[
            "rb", "rbi", "rbw", "rake", "gemspec", "podspec", "ru", "builder", "jbuilder", "rabl", "thor", "god",
            "mspec", "axlsx", "arb", "prawn",
        ],
        || tree_sitter_ruby::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. The colon of symbols is removed, and white space in strings is collapsed.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let name = text_of(node, text);
    let name = match node.kind() {
        "simple_symbol" | "delimited_symbol" => name.trim_start_matches(':').to_owned(),
        "string" => name.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => name.to_owned(),
    };
    Some(DeclaredName { name, owner: None })
}

/// Whether a definition is visible outside its file. Private and protected methods and definitions inside methods are
/// not visible. Singleton methods are public even in a private section.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let signature = visibility.signature;
    let has_modifier = signature.starts_with("private") || signature.starts_with("protected ");
    let is_in_section = matches!(visibility.section, Some("private" | "protected"))
        && signature.starts_with("def ")
        && !signature.starts_with("def self.");
    let is_open = !(has_modifier || is_in_section);
    is_open && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

/// Reads `require "path"`, and `autoload :Name, "path"`, which binds a name.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let (mut path, mut names) = (None, Vec::new());
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        match argument.kind() {
            "string" => path = path.or(Some(argument)),
            "simple_symbol" => names.push(text_of(argument, text).trim_start_matches(':').to_owned()),
            _ => {}
        }
    }
    if let Some(path) = path {
        found.push(import(node, text_of(path, text).trim_matches(['"', '\'']), names));
    }
}
