//! Finds how a text declares a name: with a type, or with a value whose type is to be inferred.

use super::syntax::{Declarations, Syntax};
use super::tokens::Tokens;
use super::type_name::{self, TypeName};

/// Words that introduce a variable or a field.
#[rustfmt::skip]
const INTRODUCERS: [&str; 19] = [
    "let", "const", "var", "val", "mut", "ref", "private", "public", "protected", "readonly", "static", "declare",
    "override", "final", "lateinit", "weak", "internal", "auto", "def",
];
/// Maximum number of names on the left of one assignment.
const MAX_TARGETS: usize = 8;

/// The declaration of a name. Expressions are given by the position of their first token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Declared {
    /// The type is written explicitly.
    Type(TypeName),
    /// The name is bound to a value. The second number is the index of the result if the value is a call with several
    /// results.
    Value(usize, usize),
    /// The name is bound to each element of a value in turn.
    Element(usize),
    /// The name is bound to a member of a value.
    Member(usize, String),
    /// The name is bound to the item at an index of a variant. The first position is the token of the variant's name.
    Item(usize, usize),
    /// The declaration has neither a type nor a value.
    Untyped,
}

/// The kind of declaration to search for: variables and parameters, or members in the text of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclarationKind {
    Local,
    Field,
}

/// Returns the first declaration of a name with a type, or otherwise the first declaration with a value.
pub(crate) fn declared(tokens: &Tokens, name: &str, kind: DeclarationKind, syntax: &Syntax) -> Option<Declared> {
    declared_at(tokens, name, usize::MAX, kind, syntax)
}

/// Returns the declaration that applies to the use of a name at `use_at`. Differs from [`declared`] if several patterns
/// bind the name, such as the arms of a `match`: the last pattern before the use applies.
pub(crate) fn declared_at(
    tokens: &Tokens,
    name: &str,
    use_at: usize,
    kind: DeclarationKind,
    syntax: &Syntax,
) -> Option<Declared> {
    let is_member = |at: usize| matches!(tokens.before(at), "." | "->" | "?." | "?->") || (tokens.before(at) == "::");
    let mut found = None;
    for at in tokens.positions(name).filter(|at| !is_member(*at)) {
        match declaration_at(tokens, at, kind, syntax) {
            Some(Declared::Type(name)) => return Some(Declared::Type(name)),
            Some(Declared::Untyped) => found = found.or(Some(Declared::Untyped)),
            Some(item @ Declared::Item(..)) if at < use_at && matches!(found, None | Some(Declared::Item(..))) => {
                found = Some(item);
            }
            Some(value) if matches!(found, None | Some(Declared::Untyped)) => found = Some(value),
            _ => {}
        }
    }
    found
}

/// Returns the declarations of a field by assignments such as `self.field = value`.
pub(crate) fn assigned(tokens: &Tokens, field: &str, syntax: &Syntax) -> Vec<Declared> {
    let found = tokens.positions(field).filter_map(|at| {
        // Ruby: @field = value, @field ||= value
        if field.starts_with('@') {
            let equals = if tokens.at(at + 1) == "||" { at + 2 } else { at + 1 };
            return (tokens.at(equals) == "=").then_some(Declared::Value(equals + 1, 0));
        }
        let owner = at.checked_sub(2)?;
        let is_own = matches!(tokens.before(at), "." | "->") && syntax.own.contains(&tokens.at(owner));
        if !is_own || matches!(tokens.before(owner), "." | "->") {
            return None;
        }
        match tokens.at(at + 1) {
            ":" => type_name::read(tokens, at + 2).map(|(name, _)| Declared::Type(name)),
            "=" => Some(Declared::Value(at + 2, 0)),
            _ => None,
        }
    });
    found.collect()
}

fn may_be_untyped(tokens: &Tokens, at: usize, syntax: &Syntax) -> bool {
    syntax.declarations != Declarations::NameType && is_parameter(tokens, at)
}

fn declaration_at(tokens: &Tokens, at: usize, kind: DeclarationKind, syntax: &Syntax) -> Option<Declared> {
    let typed = match syntax.declarations {
        Declarations::NameColonType => type_after_colon(tokens, at, kind, syntax),
        Declarations::NameType => type_after_name(tokens, at, kind),
        Declarations::TypeName => type_before_name(tokens, at, syntax),
        Declarations::Untyped => None,
    };
    typed.or_else(|| by_value(tokens, at)).or_else(|| may_be_untyped(tokens, at, syntax).then_some(Declared::Untyped))
}

/// `name: Type`
fn type_after_colon(tokens: &Tokens, at: usize, kind: DeclarationKind, syntax: &Syntax) -> Option<Declared> {
    let colon = if matches!(tokens.at(at + 1), "?" | "!") { at + 2 } else { at + 1 };
    if tokens.at(colon) != ":" {
        return None;
    }
    let before = tokens.before(at);
    let opener = tokens.opener(at).map_or("", |opener| tokens.at(opener));
    let is_parameter = opener == "("
        && !is_in_function_type(tokens, at)
        && (matches!(before, "(" | "," | "*" | "**" | "..." | "&") || tokens.is_first(at));
    let begins = tokens.is_first(at) || matches!(before, "{" | ";" | "," | "}");
    let is_annotation = syntax.languages.contains(&"python") && tokens.is_first(at) && opener != "{";
    let is_field = kind == DeclarationKind::Field && begins;
    if !(is_parameter || is_annotation || is_field || INTRODUCERS.contains(&before)) {
        return None;
    }
    type_name::read(tokens, colon + 1).map(|(name, _)| Declared::Type(name))
}

/// Returns whether a parameter belongs to a function type: `callback: (name: Type) => Type`.
fn is_in_function_type(tokens: &Tokens, at: usize) -> bool {
    let Some(opener) = tokens.opener(at) else { return false };
    let is_type = tokens.before(opener) == ":" && tokens.closer(opener).is_some_and(|end| tokens.at(end + 1) == "=>");
    is_type && tokens.opener(opener).is_some_and(|around| tokens.at(around) == "(")
}

/// `name Type`, `first, name Type`
fn type_after_name(tokens: &Tokens, at: usize, kind: DeclarationKind) -> Option<Declared> {
    let begins = tokens.is_first(at) || tokens.before(at) == "{" || tokens.before(at) == ";";
    let may_begin =
        matches!(tokens.before(at), "(" | "," | "var" | "const") || (kind == DeclarationKind::Field && begins);
    if !may_begin {
        return None;
    }
    let mut last = at;
    while tokens.at(last + 1) == "," && tokens.is_name(last + 2) && last - at < 2 * MAX_TARGETS {
        last += 2;
    }
    let is_type = tokens.is_name(last + 1) || matches!(tokens.at(last + 1), "*" | "[" | "...");
    if !is_type || tokens.is_first(last + 1) {
        return None;
    }
    type_name::read(tokens, last + 1).map(|(name, _)| Declared::Type(name))
}

/// `Type name`, and `Type name(arguments);` in C++
fn type_before_name(tokens: &Tokens, at: usize, syntax: &Syntax) -> Option<Declared> {
    let ends = matches!(tokens.at(at + 1), "=" | ";" | "," | ")" | ":" | "[" | "{" | "in" | "" | "=>")
        || tokens.is_first(at + 1);
    let constructs = syntax.languages.contains(&"cpp")
        && tokens.at(at + 1) == "("
        && tokens.closer(at + 1).is_some_and(|closer| tokens.at(closer + 1) == ";");
    if !(ends || constructs) || tokens.is_first(at) {
        return None;
    }
    type_name::before_name(tokens, at).map(Declared::Type)
}

/// `name = value`, `name := value`, `for name in values`, `with value as name`, `{ name } = value`
fn by_value(tokens: &Tokens, at: usize) -> Option<Declared> {
    let target = |at: usize| tokens.is_name(at) && !tokens.is_first(at + 1);
    let (mut first, mut position) = (at, 0);
    while tokens.before(first) == "," && first >= 2 && target(first - 2) && position < MAX_TARGETS {
        first -= 2;
        position += 1;
    }
    let mut last = at;
    while tokens.at(last + 1) == "," && tokens.is_name(last + 2) && last - at < 2 * MAX_TARGETS {
        last += 2;
    }
    let before = tokens.before(first);
    match tokens.at(last + 1) {
        _ if tokens.before(at) == "as" => with_binding(tokens, at),
        "=" | ":=" if tokens.at(last + 2) == "range" => Some(Declared::Element(last + 3)),
        "=" | ":=" if last == at && first == at => Some(Declared::Value(at + 2, 0)),
        ":=" => Some(Declared::Value(last + 2, position)),
        // R: name <- value
        "<" if tokens.at(at + 2) == "-" && tokens.is_glued(at + 2) && last == at && first == at => {
            Some(Declared::Value(at + 3, 0))
        }
        "of" if matches!(before, "const" | "let" | "var") => Some(Declared::Element(last + 2)),
        "in" if INTRODUCERS.contains(&before) || matches!(before, "for" | "(") => Some(Declared::Element(last + 2)),
        ":" if matches!(before, "var" | "final" | "auto") => Some(Declared::Element(last + 2)),
        "," if tokens.opener(at).is_some_and(|open| tokens.at(open) == "(") => variant_item(tokens, at),
        "}" | "," | ":" => destructured_member(tokens, at),
        // Rust: if let Some(name) = value
        ")" if matches!(tokens.before(at), "(" | "mut" | "ref") && tokens.at(at + 2) == "=" => {
            let open = tokens.opener(at)?;
            match tokens.before(open) {
                "Some" | "Ok" => Some(Declared::Value(at + 3, 0)),
                _ => variant_item(tokens, at),
            }
        }
        ")" => variant_item(tokens, at),
        _ => None,
    }
}

/// Rust: `Type::Variant(name) =>`, `let Type::Variant(first, name) = value`
fn variant_item(tokens: &Tokens, at: usize) -> Option<Declared> {
    let open = tokens.opener(at).filter(|open| tokens.at(*open) == "(" && *open >= 3)?;
    let is_variant = tokens.is_name(open - 1) && tokens.at(open - 2) == "::";
    let is_pattern = matches!(tokens.at(tokens.closer(open)? + 1), "=>" | "=" | "|" | "if");
    let index = (open..at).filter(|at| tokens.at(*at) == "," && tokens.opener(*at) == Some(open)).count();
    (is_variant && is_pattern).then_some(Declared::Item(open - 1, index))
}

/// Returns the type at an index between the parentheses after a name: `Variant(First, Second)`, `struct Name<T>(pub First);`.
pub(crate) fn item_type(tokens: &Tokens, name: &str, index: usize) -> Option<TypeName> {
    let open = tokens.positions(name).find_map(|at| {
        match tokens.at(at + 1) {
            "<" => type_name::angle_closer(tokens, at + 1).map(|closer| closer + 1),
            _ => Some(at + 1),
        }
        .filter(|open| tokens.at(*open) == "(")
    })?;
    let closer = tokens.closer(open)?;
    let mut items =
        (open..closer).filter(|at| *at == open || (tokens.at(*at) == "," && tokens.opener(*at) == Some(open)));
    let mut at = items.nth(index)? + 1;
    if tokens.at(at) == "pub" {
        at = if tokens.at(at + 1) == "(" { tokens.closer(at + 1)? + 1 } else { at + 1 };
    }
    type_name::read(tokens, at).map(|(name, _)| name)
}

/// `const { name } = value`, `const { member: name } = value`
fn destructured_member(tokens: &Tokens, at: usize) -> Option<Declared> {
    let opener = tokens.opener(at)?;
    let closer = tokens.closer(opener)?;
    if tokens.at(opener) != "{" || tokens.at(closer + 1) != "=" || !INTRODUCERS.contains(&tokens.before(opener)) {
        return None;
    }
    let member = if tokens.before(at) == ":" { tokens.at(at.checked_sub(2)?) } else { tokens.at(at) };
    Some(Declared::Member(closer + 2, member.to_owned()))
}

/// `with value as name`
fn with_binding(tokens: &Tokens, at: usize) -> Option<Declared> {
    let mut start = at.checked_sub(2)?;
    while start > 0 && !matches!(tokens.before(start), "with" | "," | "(" | ":") && !tokens.is_first(start) {
        start = if matches!(tokens.at(start), ")" | "]") { tokens.opener(start)? } else { start - 1 };
    }
    (tokens.before(start) == "with").then_some(Declared::Value(start, 0))
}

/// Returns whether a name without a type is a parameter: it is enclosed by the brackets or commas of a parameter list.
fn is_parameter(tokens: &Tokens, at: usize) -> bool {
    let Some(opener) = tokens.opener(at).filter(|opener| tokens.at(*opener) == "(") else { return false };
    let Some(closer) = tokens.closer(opener) else { return false };
    let is_enclosed = matches!(tokens.before(at), "(" | "," | "*" | "**" | "...")
        && matches!(tokens.at(at + 1), ")" | "," | "=" | "?");
    let is_list = matches!(tokens.at(closer + 1), "=>" | "{" | "->")
        || (tokens.at(closer + 1) == ":" && opener >= 2 && tokens.at(opener - 2) == "def");
    is_enclosed && is_list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax;

    fn check(language: &str, text: &str, name: &str, kind: DeclarationKind, expected: &str) {
        let syntax = syntax::for_language(language);
        let tokens = Tokens::read(text.to_owned(), syntax);
        let shown = match declared(&tokens, name, kind, syntax) {
            None => "none".to_owned(),
            Some(Declared::Type(name)) => name.path.join("."),
            Some(Declared::Value(at, position)) => format!("value {position} {}", tokens.at(at)),
            Some(Declared::Element(at)) => format!("element of {}", tokens.at(at)),
            Some(Declared::Member(at, member)) => format!("{member} of {}", tokens.at(at)),
            Some(Declared::Item(at, index)) => format!("item {index} of {}", tokens.at(at)),
            Some(Declared::Untyped) => "untyped".to_owned(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn declarations_with_types() {
        check("typescript", "function f(a: A, b?: B) { }", "b", DeclarationKind::Local, "B");
        check("typescript", "class C {\n  private a: A\n  b: B\n}", "b", DeclarationKind::Field, "B");
        check("typescript", "const f = (g: (a: A) => void) => a()", "a", DeclarationKind::Local, "none");
        check("typescript", "g({ a: b })", "a", DeclarationKind::Local, "none");
        check("python", "def f(self, a: pkg.A = None):", "a", DeclarationKind::Local, "pkg.A");
        check("python", "x = {\n  a: b,\n}", "a", DeclarationKind::Local, "none");
        check("go", "func (s *Server) Run(a, b int, c *http.Client) {", "s", DeclarationKind::Local, "Server");
        check("go", "func (s *Server) Run(a, b int, c *http.Client) {", "c", DeclarationKind::Local, "http.Client");
        check("go", "type S struct {\n\tmu sync.Mutex\n\tnext *S\n}", "next", DeclarationKind::Field, "S");
        check("java", "for (Map.Entry<K, V> entry : entries) {", "entry", DeclarationKind::Local, "Map.Entry");
        check("java", "return item;", "item", DeclarationKind::Local, "none");
        check("cpp", "n::K k(1); k.move();", "k", DeclarationKind::Local, "n.K");
        check("cpp", "x = 1; return k(1);", "k", DeclarationKind::Local, "none");
        check("cpp", "int k(int a) { co_return k(1); }", "k", DeclarationKind::Local, "none");
    }

    #[test]
    fn types_of_items() {
        let syntax = syntax::for_language("rust");
        let item = |text: &str, name: &str, index: usize| {
            item_type(&Tokens::read(text.to_owned(), syntax), name, index).map(|name| name.path.join("::"))
        };
        assert_eq!(item("pub struct S<'a, T>(pub(crate) &'a T, Vec<(A, B)>);", "S", 0).as_deref(), Some("T"));
        assert_eq!(item("pub struct S<'a, T>(pub(crate) &'a T, Vec<(A, B)>);", "S", 1).as_deref(), Some("Vec"));
        assert_eq!(item("enum E { A(x::B, C), D }", "A", 1).as_deref(), Some("C"));
        assert_eq!(item("enum E { A(x::B, C), D }", "D", 0), None);
    }

    #[test]
    fn declarations_by_value() {
        check("go", "conn, err := dial(addr)", "err", DeclarationKind::Local, "value 1 dial");
        check("go", "for _, x := range s.items {", "x", DeclarationKind::Local, "element of s");
        check("python", "with open(p) as f:", "f", DeclarationKind::Local, "value 0 open");
        check("typescript", "for (const x of this.items) {}", "x", DeclarationKind::Local, "element of this");
        check("typescript", "const { a, b: c } = load()", "c", DeclarationKind::Local, "b of load");
        check("java", "var x = new A();", "x", DeclarationKind::Local, "value 0 new");
        check("typescript", "const f = (x) => x", "x", DeclarationKind::Local, "untyped");
        check("dart", "static A of(int x) => A(x);", "A", DeclarationKind::Local, "none");
        check("r", "s <- Stack$new()", "s", DeclarationKind::Local, "value 0 Stack");
        check("ruby", "@a ||= A.new", "@a", DeclarationKind::Local, "none");
        check("ruby", "return x unless ready?\n", "ready?", DeclarationKind::Local, "none");
        check("lua", "local o = M.new()", "o", DeclarationKind::Local, "value 0 M");
        check("rust", "match x { E::A(a, ref b) => b.f() }", "b", DeclarationKind::Local, "item 1 of A");
        check("rust", "if let E::A(a) = x {}", "a", DeclarationKind::Local, "item 0 of A");
        check("rust", "let x = E::A(a);", "a", DeclarationKind::Local, "none");
    }
}
