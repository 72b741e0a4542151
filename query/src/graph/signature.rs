//! Parses the parameters and results of a signature.

use super::syntax::{Declarations, Syntax};
use super::tokens::Tokens;
use super::type_name::{self, TypeName, angle_closer, angle_opener};

/// The parameters and results of a function, as far as its signature shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) type_parameters: Vec<String>,
    /// The type that a C# extension method extends.
    pub(crate) receiver: Option<TypeName>,
    /// The parameters without the receiver.
    pub(crate) parameters: Vec<Parameter>,
    /// Types of the results; more than one only in languages in which a function can have several results.
    pub(crate) results: Vec<TypeName>,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The name that a call can use for the parameter.
    pub(crate) name: String,
    /// The type, if it can be parsed.
    pub(crate) of: Option<TypeName>,
    is_optional: bool,
    /// Whether the parameter takes any number of arguments.
    is_rest: bool,
}

impl Signature {
    /// Returns the minimum and the maximum number of arguments.
    pub(crate) fn arguments(&self) -> (usize, usize) {
        let single = self.parameters.iter().filter(|parameter| !parameter.is_rest);
        let has_rest = self.parameters.iter().any(|parameter| parameter.is_rest);
        let least = single.clone().filter(|parameter| !parameter.is_optional).count();
        (least, if has_rest { usize::MAX } else { single.count() })
    }

    /// Returns whether a call can have this number of arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        let (least, most) = self.arguments();
        (least..=most).contains(&arguments)
    }
}

/// Parses the signature of the function `name`; `None` if it has no parameter list.
pub(crate) fn read(signature: &str, name: &str, syntax: &Syntax) -> Option<Signature> {
    let tokens = Tokens::read(signature.to_owned(), syntax);
    let (at, open) = tokens.positions(name).find_map(|at| {
        let next = if tokens.at(at + 1) == "<" { angle_closer(&tokens, at + 1)? + 1 } else { at + 1 };
        let next = if tokens.at(next) == "[" { tokens.closer(next)? + 1 } else { next };
        (tokens.at(next) == "(").then_some((at, next))
    })?;
    let close = tokens.closer(open)?;
    let (receiver, parameters) = parameters(&tokens, open, close, syntax);
    Some(Signature {
        type_parameters: type_name::parameters(&tokens, at + 1),
        receiver,
        parameters,
        results: results(&tokens, at, close, syntax),
    })
}

/// Returns the type of a property, whose signature has no parameters: `public int Count`, `val size: Int`.
pub(crate) fn property_type(signature: &str, name: &str, syntax: &Syntax) -> Option<TypeName> {
    let tokens = Tokens::read(signature.to_owned(), syntax);
    let at = tokens.positions(name).last()?;
    match syntax.declarations {
        Declarations::TypeName => type_name::before_name(&tokens, at),
        Declarations::NameColonType if tokens.at(at + 1) == ":" => {
            type_name::read(&tokens, at + 2).map(|(name, _)| name)
        }
        _ => None,
    }
}

/// Parses the receiver of an extension method and the parameters.
fn parameters(tokens: &Tokens, open: usize, close: usize, syntax: &Syntax) -> (Option<TypeName>, Vec<Parameter>) {
    if close == open + 2 && tokens.at(open + 1) == "void" {
        return (None, Vec::new());
    }
    let (mut receiver, mut parameters) = (None, Vec::new());
    let mut start = open + 1;
    while start < close {
        let (mut at, mut is_optional, mut is_rest) = (start, false, false);
        let mut end_of_name = None;
        while at < close && tokens.at(at) != "," {
            match tokens.at(at) {
                "(" | "[" | "{" => at = tokens.closer(at).unwrap_or(close),
                "<" => at = angle_closer(tokens, at).unwrap_or(at),
                "=" => {
                    is_optional = true;
                    end_of_name = end_of_name.or(Some(at));
                }
                "?" => is_optional |= tokens.at(at + 1) == ":",
                ":" => end_of_name = end_of_name.or(Some(at)),
                "..." | "vararg" | "params" | "**" => is_rest = true,
                // Python: *args
                "*" if at == start => is_rest = true,
                _ => {}
            }
            at += 1;
        }
        // C#: this T receiver
        let is_extended = tokens.at(start) == "this" && at > start + 1;
        let own = (start..at).any(|at| syntax.own.contains(&tokens.at(at))) && start == open + 1;
        let is_marker = matches!(tokens.at(start), "*" | "/") && at == start + 1;
        if is_extended {
            receiver = type_name::read(tokens, start + 1).map(|(name, _)| name);
        } else if at > start && !is_marker && !(own && at <= start + 4) {
            // Swift: calls use the label, which precedes the name.
            let has_label = syntax.languages.contains(&"swift");
            let mut names = (start..end_of_name.unwrap_or(at)).filter(|at| tokens.is_name(*at));
            let name = if has_label { names.next() } else { names.next_back() };
            parameters.push(Parameter {
                name: name.map(|at| tokens.at(at).to_owned()).unwrap_or_default(),
                of: parameter_type(tokens, start, at, syntax),
                is_optional,
                is_rest,
            });
        }
        start = at + 1;
    }
    (receiver, parameters)
}

/// Returns the type of the parameter between two tokens.
fn parameter_type(tokens: &Tokens, start: usize, end: usize, syntax: &Syntax) -> Option<TypeName> {
    let at = match syntax.declarations {
        Declarations::TypeName if tokens.at(start) == "params" => start + 1,
        Declarations::TypeName => start,
        Declarations::NameColonType => (start..end).find(|at| tokens.at(*at) == ":")? + 1,
        Declarations::NameType | Declarations::Untyped => return None,
    };
    type_name::read(tokens, at).filter(|(_, next)| *next <= end).map(|(name, _)| name)
}

fn results(tokens: &Tokens, name: usize, close: usize, syntax: &Syntax) -> Vec<TypeName> {
    let read = |at: usize| type_name::read(tokens, at).map(|(name, _)| name);
    match (syntax.declarations, tokens.at(close + 1)) {
        (_, "->" | ":") => read(close + 2).into_iter().collect(),
        (Declarations::NameType, "(") => {
            let mut found = Vec::new();
            let (mut at, end) = (close + 2, tokens.closer(close + 1).unwrap_or(close + 1));
            while at < end {
                let named = tokens.is_name(at + 1) || matches!(tokens.at(at + 1), "*" | "[");
                let Some((result, next)) = type_name::read(tokens, if named { at + 1 } else { at }) else { break };
                found.push(result);
                at = next + 1;
            }
            found
        }
        (Declarations::NameType, _) => read(close + 1).into_iter().collect(),
        (Declarations::TypeName, _) => {
            type_name::before_name(tokens, first_of_path(tokens, name)).into_iter().collect()
        }
        (Declarations::NameColonType | Declarations::Untyped, _) => Vec::new(),
    }
}

/// Returns the first token of a qualified name: `n` in `n::K<T>::f`.
fn first_of_path(tokens: &Tokens, mut at: usize) -> usize {
    while at >= 2 && tokens.before(at) == "::" {
        let before = match tokens.at(at - 2) {
            ">" => angle_opener(tokens, at - 2).and_then(|open| open.checked_sub(1)),
            _ => Some(at - 2),
        };
        match before.filter(|before| tokens.is_name(*before)) {
            Some(before) => at = before,
            None => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax;

    fn check(language: &str, signature: &str, name: &str, arguments: (usize, usize), results: &[&str]) {
        let read = read(signature, name, syntax::for_language(language)).expect("a signature");
        assert_eq!(read.arguments(), arguments, "{signature}");
        assert_eq!(read.results.iter().map(|name| name.path.join(".")).collect::<Vec<_>>(), results, "{signature}");
    }

    #[test]
    fn parameters_and_results() {
        check("python", "def f(self, a, b: int = 1) -> pkg.A", "f", (1, 2), &["pkg.A"]);
        check("python", "def f(cls, *args, **kwargs)", "f", (0, usize::MAX), &[]);
        check("typescript", "async f<T>(a: Map<string, T>, b?: number): Promise<A>", "f", (1, 2), &["Promise"]);
        check(
            "go",
            "func (s *Server) Dial(ctx context.Context, addr string) (*Conn, error)",
            "Dial",
            (2, 2),
            &["Conn", "error"],
        );
        check("java", "public static <T> List<T> of(T... items)", "of", (0, usize::MAX), &["List"]);
        check("cpp", "const K& n::Box<T>::self(int a) const", "self", (1, 1), &["K"]);
        check("cpp", "n::K *K::make()", "make", (0, 0), &["n.K"]);
        check("cpp", "K::K(int a)", "K", (1, 1), &[]);
        check("java", "Foo(int a, Map<K, V> b)", "Foo", (2, 2), &[]);
        check("rust", "pub fn send(&mut self, item: Item) -> Option<Item>", "send", (1, 1), &["Option"]);
    }
}
