//! Comments, strings and keywords of the shells.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"", true), ("'", true), ("`", false)],
    keywords: &[
        "alias", "break", "case", "cd", "continue", "coproc", "declare", "do", "done", "echo", "elif", "else", "esac",
        "eval", "exec", "exit", "export", "false", "fi", "for", "function", "if", "in", "local", "printf", "read",
        "readonly", "return", "select", "set", "shift", "source", "then", "time", "trap", "true", "typeset", "unset",
        "until", "while",
    ],
};
