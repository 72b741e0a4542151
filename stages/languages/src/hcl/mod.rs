//! Support for HCL: the blocks of Terraform, Packer, Nomad and other tools.

#![cfg(feature = "hcl")]

use tree_sitter::Node;

use crate::language::{DeclaredName, FileDoc, Language, QueryCache};
use crate::spans::text_of;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// HCL, the configuration language of Terraform and other tools.
pub(crate) static HCL: Language = Language {
    aliases: &["opentofu", "terraform"],
    is_declarative: true,
    declared_name: Some(declared_name),
    exported: |_| true,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new(
        "hcl",
        &["hcl", "nomad", "tf", "tfvars", "tofu"],
        || tree_sitter_hcl::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Returns the name of a block: `web`, owned by `resource.aws_instance`, for `resource "aws_instance" "web" {`.
fn declared_name(block: Node<'_>, text: &str) -> Option<DeclaredName> {
    let mut cursor = block.walk();
    let labels = block.named_children(&mut cursor).take_while(|child| child.kind() != "block_start");
    let labels = labels.filter(|child| matches!(child.kind(), "identifier" | "string_lit"));
    let mut labels: Vec<&str> = labels.map(|label| text_of(label, text).trim_matches('"')).collect();
    let name = labels.pop()?.to_owned();
    let owner = (!labels.is_empty()).then(|| labels.join("."));
    Some(DeclaredName { name, owner })
}
