//! The lexical table of TOML.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
    keywords: &["false", "inf", "nan", "true"],
};
