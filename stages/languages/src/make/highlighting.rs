//! The lexical table of Makefiles.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"", false), ("'", false)],
    keywords: &[
        "-include", "define", "else", "endef", "endif", "export", "ifdef", "ifeq", "ifndef", "ifneq", "include",
        "override", "private", "sinclude", "undefine", "unexport", "vpath",
    ],
};
