//! Detects `.h` files that contain C++.

/// Maximum number of lines that are searched, which is enough to skip a licence and the includes.
const MAX_LINES: usize = 2_000;

/// Beginnings of lines that occur only in C++.
const BEGINNINGS: &[&str] = &[
    "class ",
    "namespace ",
    "template<",
    "template <",
    "using ",
    "public:",
    "private:",
    "protected:",
    "virtual ",
    "friend ",
    "explicit ",
    "constexpr ",
    "enum class ",
];

/// Headers of the C++ standard library that do not exist in C.
const HEADERS: &[&str] = &[
    "algorithm",
    "array",
    "atomic",
    "bitset",
    "cassert",
    "cctype",
    "chrono",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "deque",
    "functional",
    "initializer_list",
    "iostream",
    "iterator",
    "limits",
    "list",
    "map",
    "memory",
    "mutex",
    "numeric",
    "optional",
    "ostream",
    "queue",
    "set",
    "sstream",
    "stdexcept",
    "string",
    "string_view",
    "thread",
    "tuple",
    "type_traits",
    "unordered_map",
    "unordered_set",
    "utility",
    "variant",
    "vector",
];

/// Whether a header is C++: no line is Objective-C, and at least one line outside of `#ifdef __cplusplus` is C++.
pub(super) fn is_cpp(text: &str) -> bool {
    let mut guards: Vec<bool> = Vec::new();
    let mut is_comment = false;
    let mut found = false;
    for line in text.lines().take(MAX_LINES) {
        let line = line.trim();
        if is_comment || line.starts_with("/*") {
            is_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("//") {
            continue;
        }
        if let Some(directive) = line.strip_prefix('#') {
            let directive = directive.trim_start();
            match directive {
                _ if directive.starts_with("if") => guards.push(directive.contains("__cplusplus")),
                _ if directive.starts_with("endif") => drop(guards.pop()),
                _ if directive.starts_with("import") => return false,
                _ => found |= includes_cpp(directive) && !guards.contains(&true),
            }
            continue;
        }
        if line.starts_with("@interface") || line.starts_with("@protocol") || line.starts_with("@class") {
            return false;
        }
        found |= !guards.contains(&true) && is_cpp_line(line);
    }
    found
}

fn includes_cpp(directive: &str) -> bool {
    let path = directive.strip_prefix("include").map(str::trim_start).and_then(|path| path.strip_prefix('<'));
    path.and_then(|path| path.split_once('>')).is_some_and(|(name, _)| HEADERS.contains(&name))
}

fn is_cpp_line(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    BEGINNINGS.iter().any(|beginning| code.starts_with(beginning)) || has_scope(code)
}

/// Whether a line contains `name::` before the first string.
fn has_scope(code: &str) -> bool {
    let code = code.split('"').next().unwrap_or(code);
    code.split_once("::").is_some_and(|(before, after)| {
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>')
            && after.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '~' || c == '*')
    })
}
