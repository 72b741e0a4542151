//! Comments, strings and keywords of Rust.

use crate::highlight::LexicalTable;

/// An apostrophe may begin a lifetime, so character literals are not highlighted.
pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    strings: &[("\"", true)],
    keywords: &[
        "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
        "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
        "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
    ],
};
