//! Comments, strings and keywords of Ruby.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: Some(("=begin", "=end")),
    strings: &[("\"", false), ("'", false), ("`", false)],
    keywords: &[
        "BEGIN", "END", "alias", "and", "begin", "break", "case", "class", "def", "defined", "do", "else", "elsif",
        "end", "ensure", "false", "for", "if", "in", "module", "next", "nil", "not", "or", "redo", "rescue", "retry",
        "return", "self", "super", "then", "true", "undef", "unless", "until", "when", "while", "yield",
    ],
};
