//! The lexical table of Containerfiles.

use crate::highlight::LexicalTable;

pub(super) static TABLE: LexicalTable = LexicalTable {
    line_comments: &["#"],
    block_comment: None,
    strings: &[("\"", false), ("'", false)],
    keywords: &[
        "ADD",
        "ARG",
        "AS",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "NONE",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ],
};
