//! Comments, strings and keywords of R.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"", true), ("'", true), ("`", false)],
    keywords: &[
        "FALSE", "Inf", "NA", "NULL", "NaN", "TRUE", "break", "else", "for", "function", "if", "in", "library", "next",
        "repeat", "require", "return", "source", "while",
    ],
};
