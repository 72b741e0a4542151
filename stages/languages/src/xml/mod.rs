//! Support for XML. Blocks are elements, named by their paths.

#![cfg(feature = "xml")]

use tree_sitter::Node;

use crate::entity::{Entity, plain};
use crate::extract::docs::text_between;
use crate::language::{BlockLimits, DeclaredName, Language, QueryCache};
use crate::spans::text_of;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// XML: project files, configurations, schemas, style sheets and documents.
pub(crate) static XML: Language = Language {
    file_names: &[
        "App.config",
        "NuGet.Config",
        "Web.config",
        "app.config",
        "nuget.config",
        "packages.config",
        "web.config",
    ],
    aliases: &["nxml", "xml-mode"],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    declared_name: Some(declared_name),
    doc_text: Some(|source| text_between(source, &["<!--"], &["-->"])),
    separator: "/",
    ..Language::new(
        "xml",
        &[
            "xml",
            "csproj",
            "dbk",
            "ditamap",
            "fsproj",
            "fxml",
            "iml",
            "launch",
            "nuspec",
            "plist",
            "pom",
            "props",
            "rng",
            "storyboard",
            "targets",
            "ui",
            "vbproj",
            "vcxproj",
            "wsdl",
            "xaml",
            "xib",
            "xmi",
            "xsd",
            "xsl",
            "xslt",
        ],
        || tree_sitter_xml::LANGUAGE_XML.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Returns the name of an element. If [`Entity`] derives a name from the attributes and child elements, the tag is the
/// owner of this name. Otherwise, the tag is the name.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    if node.kind() == "Name" {
        return Some(DeclaredName { name: text_of(node, text).to_owned(), owner: None });
    }
    let start = node.named_child(0)?;
    let tag = text_of(start.named_child(0)?, text);
    let mut entity = Entity::default();
    let mut cursor = start.walk();
    for attribute in start.named_children(&mut cursor).skip(1).take(Entity::MAX_KEYS) {
        if let (Some(name), Some(value)) = (attribute.named_child(0), attribute.named_child(1)) {
            entity.set(text_of(name, text), text_of(value, text));
        }
    }
    let mut cursor = node.walk();
    let content = node.named_children(&mut cursor).find(|child| child.kind() == "content");
    if let Some(content) = content {
        let mut cursor = content.walk();
        // The limit is doubled because white space between elements is also a node.
        for child in content.named_children(&mut cursor).take(2 * Entity::MAX_KEYS) {
            set_element(&mut entity, child, text);
        }
    }
    Some(match entity.item() {
        Some(item) => DeclaredName { name: item.name, owner: Some(tag.to_owned()) },
        None => DeclaredName { name: tag.to_owned(), owner: None },
    })
}

/// Records a child element that contains only text.
fn set_element<'t>(entity: &mut Entity<'t>, element: Node<'_>, text: &'t str) {
    let (Some(start), Some(content)) = (element.named_child(0), element.named_child(1)) else { return };
    let is_text = content.kind() == "content" && content.named_child_count() == 1;
    let Some(tag) = start.named_child(0).filter(|_| is_text && start.kind() == "STag") else { return };
    entity.set(text_of(tag, text), plain(text_of(content, text)));
}
