//! Comments, strings and keywords of Lua.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["--"],
    block_comment: None,
    strings: &[("\"", false), ("'", false)],
    keywords: &[
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "self", "then", "true", "until", "while",
    ],
};
