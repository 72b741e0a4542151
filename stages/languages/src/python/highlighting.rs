//! Comments, strings and keywords of Python.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def",
        "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "match", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while", "with", "yield",
    ],
};
