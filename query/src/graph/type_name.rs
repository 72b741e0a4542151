//! Parses type expressions.

use std::ops::Range;

use super::tokens::{TokenKind, Tokens};

/// Maximum nesting of type arguments.
const MAX_NESTING: u32 = 4;
/// Maximum number of type arguments that are read.
const MAX_ARGUMENTS: usize = 8;
/// Maximum number of tokens from an opening to a closing angle bracket.
const MAX_TYPE_TOKENS: usize = 48;
/// Tokens before a type that do not change the definition to which the type refers.
#[rustfmt::skip]
const MODIFIERS: [&str; 28] = [
    "*", "&", "mut", "const", "final", "readonly", "volatile", "dyn", "impl", "ref", "out", "static", "private",
    "public", "protected", "internal", "abstract", "override", "unsigned", "struct", "typename", "@", "typeof",
    "keyof", "<-", "chan", "...", "?",
];
/// Words that cannot be types.
#[rustfmt::skip]
const NO_TYPES: [&str; 38] = [
    "return", "new", "throw", "else", "case", "await", "in", "of", "is", "as", "if", "while", "for", "func", "def",
    "fn", "function", "class", "interface", "enum", "import", "package", "yield", "not", "and", "or", "let", "var",
    "val", "auto", "extends", "implements", "goto", "delete", "co_await", "co_return", "co_yield", "sizeof",
];

/// A type with its arguments: `pkg.List<Item>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TypeName {
    pub(crate) path: Vec<String>,
    pub(crate) arguments: Vec<TypeName>,
}

impl TypeName {
    /// Returns a type without qualifiers and arguments.
    pub(crate) fn from_name(name: &str) -> Self {
        Self { path: vec![name.to_owned()], arguments: Vec::new() }
    }

    /// Returns whether a name occurs in the type or its arguments.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.path.iter().any(|part| part == name) || self.arguments.iter().any(|argument| argument.mentions(name))
    }

    fn list_of(element: Self) -> Self {
        Self { path: Vec::new(), arguments: vec![element] }
    }
}

/// Parses the type that begins at a token. Returns the type and the position after it.
pub(crate) fn read(tokens: &Tokens, at: usize) -> Option<(TypeName, usize)> {
    read_nested(tokens, at, 0)
}

fn read_nested(tokens: &Tokens, mut at: usize, depth: u32) -> Option<(TypeName, usize)> {
    if depth > MAX_NESTING {
        return None;
    }
    while tokens.at(at) == "'" || MODIFIERS.contains(&tokens.at(at)) || is_root(tokens, at) {
        // A lifetime consists of an apostrophe and a name.
        at += if tokens.at(at) == "'" { 2 } else { 1 };
    }
    if tokens.kind(at) == Some(TokenKind::String) {
        return quoted(tokens.at(at)).map(|name| (name, at + 1));
    }
    if tokens.at(at) == "[" {
        let closer = tokens.closer(at)?;
        // Go: []T, [4]T
        if tokens.is_glued(closer + 1) && (tokens.is_name(closer + 1) || matches!(tokens.at(closer + 1), "[" | "*")) {
            let (element, end) = read_nested(tokens, closer + 1, depth + 1)?;
            return Some((TypeName::list_of(element), end));
        }
        // Rust: [T], [T; 4]. Swift: [T], [Key: T]
        let (mut element, mut end) = read_nested(tokens, at + 1, depth + 1)?;
        if tokens.at(end) == ":" {
            (element, end) = read_nested(tokens, end + 1, depth + 1)?;
        }
        return (end == closer || tokens.at(end) == ";").then(|| (TypeName::list_of(element), closer + 1));
    }
    if tokens.at(at) == "map" && tokens.at(at + 1) == "[" {
        let (element, end) = read_nested(tokens, tokens.closer(at + 1)? + 1, depth + 1)?;
        return Some((TypeName::list_of(element), end));
    }
    if !tokens.is_name(at) || NO_TYPES.contains(&tokens.at(at)) {
        return None;
    }
    let mut path = vec![tokens.at(at).to_owned()];
    at += 1;
    while matches!(tokens.at(at), "." | "::" | "\\") && tokens.is_name(at + 1) {
        path.push(tokens.at(at + 1).to_owned());
        at += 2;
    }
    let mut found = TypeName { path, arguments: Vec::new() };
    if matches!(tokens.at(at), "<" | "[") && tokens.at(at + 1) != "]" {
        let (arguments, end) = read_arguments(tokens, at, depth)?;
        found.arguments = arguments;
        at = end;
    }
    while tokens.at(at) == "[" && tokens.at(at + 1) == "]" {
        found = TypeName::list_of(found);
        at += 2;
    }
    while matches!(tokens.at(at), "?" | "*" | "&" | "&&") && !tokens.is_first(at) {
        at += 1;
    }
    let is_nothing = |name: &TypeName| matches!(name.path.as_slice(), [one] if matches!(one.as_str(), "null" | "undefined" | "None" | "nil"));
    if tokens.at(at) == "|"
        && let Some((other, end)) = read_nested(tokens, at + 1, depth + 1)
    {
        return Some((if is_nothing(&found) { other } else { found }, end));
    }
    Some((found, at))
}

/// Returns whether a leading separator makes a path absolute: `::std::string`, `\App\User`.
fn is_root(tokens: &Tokens, at: usize) -> bool {
    matches!(tokens.at(at), "::" | "\\") && !(at > 0 && tokens.is_name(at - 1) && tokens.is_glued(at))
}

fn read_arguments(tokens: &Tokens, open: usize, depth: u32) -> Option<(Vec<TypeName>, usize)> {
    let (mut arguments, mut at) = (Vec::new(), open + 1);
    let close = if tokens.at(open) == "<" { ">" } else { "]" };
    for _ in 0..MAX_ARGUMENTS {
        if tokens.at(at) == "?" && tokens.at(at + 1) == close {
            return Some((arguments, at + 2));
        }
        while matches!(tokens.at(at), "?" | "extends" | "super" | "out" | "in") {
            at += 1;
        }
        // Rust: skip a lifetime.
        if tokens.at(at) == "'" && tokens.at(at + 2) == "," {
            at += 3;
        }
        let Some((argument, end)) = read_nested(tokens, at, depth + 1) else { break };
        arguments.push(argument);
        at = end;
        match tokens.at(at) {
            "," => at += 1,
            end if end == close => return Some((arguments, at + 1)),
            _ => break,
        }
    }
    let closer = if close == "]" { tokens.closer(open)? } else { angle_closer(tokens, open)? };
    Some((arguments, closer + 1))
}

/// Returns the `>` that closes a `<`, if the tokens between them can be types.
pub(crate) fn angle_closer(tokens: &Tokens, open: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = open;
    for _ in 0..MAX_TYPE_TOKENS {
        match tokens.at(at) {
            "<" => depth += 1,
            ">" => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            "[" | "(" | "{" => at = tokens.closer(at)?,
            "," | "." | "::" | "?" | "|" | "&" | "=>" | "*" | "'" | "]" | ":" => {}
            "" => return None,
            _ if tokens.is_name(at) || tokens.kind(at) == Some(TokenKind::String) => {}
            _ => return None,
        }
        at += 1;
    }
    None
}

/// Returns the number of type arguments or parameters in the angle brackets at a token; 0 without brackets.
pub(crate) fn argument_count(tokens: &Tokens, open: usize) -> usize {
    let Some(close) = angle_closer(tokens, open).filter(|_| tokens.at(open) == "<") else { return 0 };
    split_at_commas(tokens, open + 1..close).map_or(0, |parts| parts.len())
}

/// Splits a range of tokens at the commas outside of nested brackets. `None` if a bracket is not closed.
pub(crate) fn split_at_commas(tokens: &Tokens, range: Range<usize>) -> Option<Vec<Range<usize>>> {
    let (mut at, mut start, mut found) = (range.start, range.start, Vec::new());
    while at < range.end {
        match tokens.at(at) {
            "," => {
                found.push(start..at);
                start = at + 1;
            }
            "(" | "[" | "{" => at = tokens.closer(at)?,
            "<" => at = angle_closer(tokens, at).unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
    found.push(start..range.end);
    Some(found)
}

/// Returns the names of the type parameters in the angle brackets at a token.
pub(crate) fn parameters(tokens: &Tokens, open: usize) -> Vec<String> {
    let Some(close) = angle_closer(tokens, open).filter(|_| tokens.at(open) == "<") else { return Vec::new() };
    let begins = |at: &usize| matches!(tokens.before(*at), "<" | "," | "in" | "out" | "reified" | "const");
    let names = (open + 1..close).filter(|at| tokens.is_name(*at) && begins(at));
    names.map(|at| tokens.at(at).to_owned()).collect()
}

/// Returns the `<` that a `>` closes.
pub(crate) fn angle_opener(tokens: &Tokens, close: usize) -> Option<usize> {
    (close.saturating_sub(MAX_TYPE_TOKENS)..close)
        .rev()
        .filter(|open| tokens.at(*open) == "<")
        .find(|open| angle_closer(tokens, *open) == Some(close))
}

/// Returns the type directly before a name: `List<Item> items`.
pub(crate) fn before_name(tokens: &Tokens, name: usize) -> Option<TypeName> {
    let mut at = name.checked_sub(1)?;
    while matches!(tokens.at(at), "*" | "&" | "&&" | "..." | "?" | "const" | "final") {
        at = at.checked_sub(1)?;
    }
    while tokens.at(at) == "]" {
        at = tokens.opener(at)?.checked_sub(1)?;
    }
    if tokens.at(at) == ">" {
        at = angle_opener(tokens, at)?.checked_sub(1)?;
    }
    while tokens.is_name(at) && at >= 2 && tokens.is_separator(at - 1) && tokens.is_name(at - 2) {
        at -= 2;
    }
    let (found, mut end) = read(tokens, at)?;
    while matches!(tokens.at(end), "..." | "const" | "final") {
        end += 1;
    }
    (end == name).then_some(found)
}

/// Parses a type in a string, which is a forward reference in Python.
fn quoted(string: &str) -> Option<TypeName> {
    let path: Vec<String> = string.trim_matches(['"', '\'']).split('.').map(str::to_owned).collect();
    let is_name = |part: &String| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    path.iter().all(is_name).then_some(TypeName { path, arguments: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax;

    fn display(name: &TypeName) -> String {
        let arguments: Vec<String> = name.arguments.iter().map(display).collect();
        if arguments.is_empty() {
            name.path.join(".")
        } else {
            format!("{}<{}>", name.path.join("."), arguments.join(","))
        }
    }

    fn check(language: &str, text: &str, expected: &str) {
        let tokens = Tokens::read(text.to_owned(), syntax::for_language(language));
        assert_eq!(read(&tokens, 0).map(|(name, _)| display(&name)).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn types_of_several_languages() {
        check("typescript", "Map<string, a.Item[]> | undefined", "Map<string,<a.Item>>");
        check("python", "'pkg.Item' | None", "pkg.Item");
        check("python", "Optional[List[Item]]", "Optional<List<Item>>");
        check("go", "map[string][]*pkg.Item", "<<pkg.Item>>");
        check("rust", "&'a mut Vec<Item>", "Vec<Item>");
        check("java", "final List<? extends Item> x", "List<Item>");
        check("php", "?\\M\\P0 $x", "M.P0");
        check("cpp", "const ::n::K<int>& x", "n.K<int>");
        check("rust", "&'a [Item]", "<Item>");
        check("rust", "[Item; 4]", "<Item>");
        check("swift", "[Key: [Item]]", "<<Item>>");
        check("go", "[4]Item", "<Item>");
        check("typescript", "[A, B]", "");
        check("typescript", "(x: number) => void", "");
    }

    #[test]
    fn a_type_in_front_of_a_name() {
        let in_front = |text: &str| {
            let tokens = Tokens::read(text.to_owned(), syntax::for_language("java"));
            before_name(&tokens, tokens.len() - 1).map(|name| display(&name)).unwrap_or_default()
        };
        assert_eq!(in_front("private final Map<String, Item[]> items"), "Map<String,<Item>>");
        assert_eq!(in_front("a.b.Item item"), "a.b.Item");
        assert_eq!(in_front("return item"), "");
        assert_eq!(in_front("a < item"), "");
        assert_eq!(in_front("private ::n::K* item"), "n.K");
    }
}
