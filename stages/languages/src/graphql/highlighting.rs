//! The lexical table of GraphQL.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"\"\"", true), ("\"", false)],
    keywords: &[
        "directive",
        "enum",
        "extend",
        "false",
        "fragment",
        "implements",
        "input",
        "interface",
        "mutation",
        "null",
        "on",
        "query",
        "repeatable",
        "scalar",
        "schema",
        "subscription",
        "true",
        "type",
        "union",
    ],
};
