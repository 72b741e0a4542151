//! Classifies words: names of macros, operators and keywords.

/// Whether a word looks like the name of a macro.
pub(super) fn is_macro(word: &str) -> bool {
    word.len() > 1
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && word.bytes().filter(u8::is_ascii_uppercase).count() > 1
}

pub(super) fn is_builtin(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "bool"
            | "signed"
            | "unsigned"
            | "auto"
            | "size_t"
    )
}

/// Whether a word is an operator.
pub(super) fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "and" | "and_eq" | "bitand" | "bitor" | "compl" | "not" | "not_eq" | "or" | "or_eq" | "xor" | "xor_eq"
    )
}

/// Whether a word is a keyword that is neither a type nor a name.
pub(super) fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "switch"
            | "case"
            | "default"
            | "return"
            | "goto"
            | "break"
            | "continue"
            | "sizeof"
            | "typedef"
            | "static"
            | "extern"
            | "inline"
            | "const"
            | "volatile"
            | "register"
            | "virtual"
            | "explicit"
            | "friend"
            | "constexpr"
            | "struct"
            | "union"
            | "enum"
            | "class"
            | "public"
            | "private"
            | "protected"
            | "template"
            | "typename"
            | "using"
            | "namespace"
            | "new"
            | "delete"
            | "throw"
            | "catch"
            | "operator"
            | "co_return"
            | "co_await"
            | "not"
            | "and"
            | "or"
            | "assert"
    )
}
