//! The lexical table of HCL.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#", "//"],
    block_comment: Some(("/*", "*/")),
    strings: &[("\"", false)],
    keywords: &[
        "any",
        "bool",
        "dynamic",
        "else",
        "endfor",
        "endif",
        "false",
        "for",
        "if",
        "in",
        "list",
        "locals",
        "map",
        "module",
        "null",
        "number",
        "object",
        "output",
        "provider",
        "resource",
        "set",
        "string",
        "terraform",
        "true",
        "tuple",
        "variable",
    ],
};
