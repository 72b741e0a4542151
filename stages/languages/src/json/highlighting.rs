//! The lexical table of JSON.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    strings: &[("\"", false)],
    keywords: &["false", "null", "true"],
};
