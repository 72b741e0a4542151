//! The lexical table of YAML.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"", true), ("'", true)],
    keywords: &["false", "no", "null", "off", "on", "true", "yes"],
};
