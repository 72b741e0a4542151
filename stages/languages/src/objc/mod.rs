//! Support for Objective-C: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "objc")]

use tree_sitter::Node;

use crate::c::{self, declarators, masked};
use crate::language::{DeclaredName, Language, QueryCache, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Objective-C, including `.h` files that contain Objective-C.
pub(crate) static OBJC: Language = Language {
    reserved: c::RESERVED,
    keeps_overloads: true,
    declared_name: Some(declared_name),
    terminator: Some(';'),
    masked: masked::masked,
    imports,
    exported: c::exported,
    aliases: &["objective-c", "objectivec", "objc++", "objcpp", "objective-c++"],
    claims: &[("h", is_objc)],
    ..Language::new(
        "objc",
        &["m", "mm"],
        || tree_sitter_objc::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("../c/symbols.scm"),
            include_str!("../c/declarations.scm"),
            include_str!("../c/constants.scm"),
            include_str!("../c/calls.scm"),
            include_str!("calls.scm"),
            include_str!("../c/imports.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the selector of a method, such as `initWithFrame:style:`, or the name in a declarator.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    if !matches!(node.kind(), "method_definition" | "method_declaration") {
        return declarators::declared_name(node, text);
    }
    let mut name = String::new();
    // A word without a parameter is either the whole selector or a macro after the selector.
    let mut word = "";
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "identifier" if name.is_empty() && word.is_empty() || name.ends_with(':') => word = text_of(child, text),
            "method_parameter" => {
                name.push_str(std::mem::take(&mut word));
                name.push(':');
            }
            _ => {}
        }
    }
    if name.is_empty() {
        name.push_str(word);
    }
    Some(DeclaredName { name, owner: None })
}

/// Reads `#import <path>` and `@import Module;`, which bind all names.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "preproc_include" {
        return c::imports(node, text, found);
    }
    let path: String =
        text_of(node, text).trim_start_matches("@import").trim_end_matches(';').split_whitespace().collect();
    found.push(import(node, &path, vec!["*".to_owned()]));
}

/// Whether a `.h` file contains Objective-C.
fn is_objc(text: &str) -> bool {
    let beginnings = ["@interface ", "@protocol ", "@class ", "@import ", "#import ", "NS_ASSUME_NONNULL_BEGIN"];
    text.lines().take(2_000).any(|line| beginnings.iter().any(|beginning| line.starts_with(beginning)))
}
