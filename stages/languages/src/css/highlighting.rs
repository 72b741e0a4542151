//! The lexical table of CSS.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &[],
    block_comment: Some(("/*", "*/")),
    strings: &[("\"", false), ("'", false)],
    keywords: &[
        "and",
        "auto",
        "charset",
        "from",
        "i",
        "import",
        "important",
        "inherit",
        "initial",
        "keyframes",
        "layer",
        "media",
        "none",
        "not",
        "only",
        "or",
        "supports",
        "to",
        "unset",
        "var",
    ],
};
