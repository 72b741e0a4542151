//! Finds the calls of a name in a text, with their receivers.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::syntax::{Imports, Names, Syntax};
use super::tokens::{TokenKind, Tokens};
use super::type_name::{angle_closer, angle_opener, split_at_commas};

/// Maximum number of tokens in a receiver.
const MAX_RECEIVER_TOKENS: usize = 256;
/// Maximum number of tokens of a receiver and arguments that are compared to tell calls apart.
const MAX_SHAPE_TOKENS: usize = 512;
/// Keywords after which a name is defined, not called.
const DEFINERS: [&str; 13] =
    ["def", "fn", "func", "fun", "function", "class", "interface", "struct", "enum", "sub", "trait", "record", "type"];

/// One call of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallSite {
    /// Position of the token of the name.
    pub(crate) name: usize,
    /// Position of the first token of the receiver, the expression before the name and its separator; `None` without a
    /// receiver.
    pub(crate) receiver: Option<usize>,
    /// Number of arguments; `None` if the text does not show the number.
    pub(crate) arguments: Option<usize>,
    /// Whether the keyword `new` precedes the call.
    pub(crate) is_new: bool,
    /// Whether the call is a Rust macro.
    pub(crate) is_macro: bool,
}

/// Returns the calls of a name in the text of a definition named `own_name`. In that text, the first occurrence of
/// `own_name` is the definition itself and not a call. Of calls with the same [`shape`], only the first is returned.
pub(crate) fn calls_of(tokens: &Tokens, name: &str, own_name: &str, syntax: &Syntax) -> Vec<CallSite> {
    let skipped = usize::from(name == own_name);
    let sites = tokens.positions(name).skip(skipped).filter_map(|at| call_at(tokens, at, syntax));
    let mut seen = FxHashSet::default();
    sites.filter(|site| seen.insert(shape(tokens, site, syntax))).collect()
}

/// Returns the call whose name is the token at a position, if the token is called.
pub(crate) fn call_at(tokens: &Tokens, at: usize, syntax: &Syntax) -> Option<CallSite> {
    let before = tokens.before(at);
    if DEFINERS.contains(&before) || (syntax.literals && is_base(tokens, at)) {
        return None;
    }
    let open = arguments_open(tokens, at);
    let is_literal = syntax.literals && tokens.at(at + 1) == "{" && !is_in_header(tokens, at);
    let has_block = syntax.trailing_blocks && block_open(tokens, at).is_some() && !ends_header(tokens, at, syntax);
    let is_template = tokens.kind(at + 1) == Some(TokenKind::String) && tokens.at(at + 1).starts_with('`');
    let is_called = open.is_some() || is_literal || has_block || is_template;
    let may_be_bare = syntax.bare_calls && is_bare_call(tokens, at, syntax);
    let has_call_prefix = matches!(before, "new" | "@")
        || (before == "::" && !syntax.bare_calls)
        || (before == "<" && syntax.imports == Imports::Ecma && is_element(tokens, at, at));
    if !(is_called || may_be_bare || has_call_prefix || (before == "." && is_dotted_call(tokens, at))) {
        return None;
    }
    let separator = at.checked_sub(1).filter(|before| tokens.is_separator(*before));
    let receiver = separator.and_then(|separator| separator.checked_sub(1)).map(|end| start_of(tokens, end));
    let is_cascade = before == ".." && syntax.languages.contains(&"dart");
    let cascade = at.checked_sub(2).filter(|_| is_cascade).map(|end| start_of_cascade(tokens, end));
    let receiver = receiver.or(cascade);
    let first = receiver.unwrap_or(at);
    let is_new = tokens.before(first) == "new" || tokens.at(first) == "new";
    // C#: new Type { Property = value }
    let is_initialized = is_new && tokens.at(at + 1) == "{";
    Some(CallSite {
        name: at,
        receiver,
        arguments: count_arguments(tokens, at, first, open).or(is_initialized.then_some(0)),
        is_new,
        is_macro: syntax.imports == Imports::Rust && tokens.at(at + 1) == "!",
    })
}

/// Returns whether a name is in the header of a type or of a block of methods: `class A : public B {`, `impl A for B
/// {`.
fn is_in_header(tokens: &Tokens, at: usize) -> bool {
    let before = (at.saturating_sub(MAX_RECEIVER_TOKENS)..at).rev().map(|at| tokens.at(at));
    before
        .take_while(|token| !matches!(*token, ";" | "{" | "}" | "(" | ")" | "=" | ":="))
        .any(|token| matches!(token, "class" | "struct" | "union" | "enum" | "trait" | "impl"))
}

/// Returns the number of arguments of a call, if the arguments are in parentheses or piped in, or if the arity is
/// given: `value |> f(x)`, `&f/2`.
fn count_arguments(tokens: &Tokens, at: usize, first: usize, open: Option<usize>) -> Option<usize> {
    if tokens.before(first) == "&" && tokens.at(at + 1) == "/" && tokens.kind(at + 2) == Some(TokenKind::Number) {
        return tokens.at(at + 2).parse().ok();
    }
    let written = open.and_then(|open| parts(tokens, open)).map(|parts| parts.len());
    match tokens.before(first) {
        "|>" => Some(written.unwrap_or_default() + 1),
        _ => written,
    }
}

/// Returns whether a name without parentheses can be a call, because it is neither a symbol nor a key nor the name of a
/// type that is not instantiated.
fn is_bare_call(tokens: &Tokens, at: usize, syntax: &Syntax) -> bool {
    if matches!(syntax.names, Names::Ruby | Names::Elixir) {
        let is_key = tokens.at(at + 1) == ":" && tokens.is_glued(at + 1);
        let is_symbol = tokens.before(at) == ":" && tokens.is_glued(at);
        if is_key || is_symbol {
            return false;
        }
    }
    let is_constant = tokens.at(at).starts_with(char::is_uppercase);
    let makes = tokens.is_separator(at + 1) && Some(tokens.at(at + 2)) == syntax.maker;
    syntax.maker.is_none() || !is_constant || makes
}

/// Returns whether the dotted name from `first` to `last`, which follows `<`, is the tag of a markup element. Such an
/// element has attributes or an end tag.
fn is_element(tokens: &Tokens, first: usize, last: usize) -> bool {
    angle_closer(tokens, first - 1).is_none() || tokens.positions(tokens.at(last)).any(|end| ends_element(tokens, end))
}

/// Returns whether a name, or the dotted name that ends with it, follows `</`.
fn ends_element(tokens: &Tokens, mut at: usize) -> bool {
    for _ in 0..MAX_RECEIVER_TOKENS {
        match tokens.before(at) {
            "</" => return true,
            "." if at >= 2 => at -= 2,
            _ => return false,
        }
    }
    false
}

/// Returns whether a dotted name is called without brackets: `@a.b`, `new a.b`, `<a.b>`.
fn is_dotted_call(tokens: &Tokens, at: usize) -> bool {
    let mut first = at;
    while tokens.before(first) == "." && first >= 2 && tokens.is_name(first - 2) && at - first < MAX_RECEIVER_TOKENS {
        first -= 2;
    }
    matches!(tokens.before(first), "new" | "@") || (tokens.before(first) == "<" && is_element(tokens, first, at))
}

/// Returns the opening parenthesis of the arguments of a call. Between the name and the parenthesis, there may be type
/// arguments and operators such as `?.`.
pub(crate) fn arguments_open(tokens: &Tokens, name: usize) -> Option<usize> {
    let mut at = name + 1;
    if matches!(tokens.at(at), "!" | "?." | "::") {
        at += 1;
    }
    match tokens.at(at) {
        "<" => at = angle_closer(tokens, at)? + 1,
        "[" if tokens.closer(at).is_some_and(|closer| tokens.at(closer + 1) == "(") => at = tokens.closer(at)? + 1,
        _ => {}
    }
    (tokens.at(at) == "(").then_some(at)
}

/// Returns the brace of a block after a name and its type arguments, on the same line.
fn block_open(tokens: &Tokens, name: usize) -> Option<usize> {
    let at = if tokens.at(name + 1) == "<" { angle_closer(tokens, name + 1)? + 1 } else { name + 1 };
    (tokens.at(at) == "{" && !tokens.is_first(at)).then_some(at)
}

/// Returns whether a name is the base type in the header of a class in C++: `struct A final : public n::B {`.
fn is_base(tokens: &Tokens, at: usize) -> bool {
    let mut first = at;
    while first >= 2 && tokens.is_separator(first - 1) && tokens.is_name(first - 2) {
        first -= 2;
    }
    if tokens.before(first) == "::" {
        first -= 1;
    }
    match tokens.before(first) {
        "public" | "private" | "protected" | "virtual" => true,
        ":" => {
            let word = |back: usize| first.checked_sub(back).map_or("", |at| tokens.at(at));
            word(2) == "final" || matches!(word(3), "class" | "struct")
        }
        _ => false,
    }
}

/// Returns whether a name is the result type or a base type before a body: `fun f(): Type { … }`.
fn ends_header(tokens: &Tokens, at: usize, syntax: &Syntax) -> bool {
    let is_argument = tokens.opener(at).is_some_and(|opener| matches!(tokens.at(opener), "(" | "["));
    match tokens.before(at) {
        ":" | "," => !is_argument,
        "->" => syntax.languages.contains(&"swift"),
        word => matches!(word, "extends" | "with" | "by" | "object" | "extension" | "protocol"),
    }
}

/// Returns the non-empty parts between commas in brackets.
pub(crate) fn parts(tokens: &Tokens, open: usize) -> Option<Vec<Range<usize>>> {
    let mut found = split_at_commas(tokens, open + 1..tokens.closer(open)?)?;
    found.retain(|part| !part.is_empty());
    Some(found)
}

/// Returns the first token of the expression that ends at a position. An expression is a chain of names, calls and
/// indexes.
pub(crate) fn start_of(tokens: &Tokens, end: usize) -> usize {
    let first = end.saturating_sub(MAX_RECEIVER_TOKENS);
    let mut at = end;
    loop {
        while matches!(tokens.at(at), "!" | "?" | "!!") && at > first {
            at -= 1;
        }
        // Brackets after a value belong to the value.
        while matches!(tokens.at(at), ")" | "]" | "}") {
            let Some(opener) = tokens.opener(at).filter(|opener| *opener > first) else { return at };
            let before = opener - 1;
            let is_value = tokens.is_name(before) && !is_keyword(tokens.at(before));
            if is_value || matches!(tokens.at(before), ")" | "]" | ">" | "!" | "?.") {
                at = before;
            } else {
                return opener;
            }
            if matches!(tokens.at(at), "!" | "?.") {
                at -= 1;
            }
        }
        if tokens.at(at) == ">" {
            let Some(open) = angle_opener(tokens, at) else { return at };
            match open.checked_sub(1).filter(|before| *before > first) {
                Some(before) if tokens.at(before) == "::" => at = before - 1,
                Some(before) if tokens.is_name(before) && !is_keyword(tokens.at(before)) => at = before,
                // Rust: <T as Trait>::f
                _ => return open,
            }
        }
        if at >= 2 && at - 2 >= first && tokens.is_separator(at - 1) {
            at -= 2;
            continue;
        }
        return if tokens.before(at) == "new" { at - 1 } else { at };
    }
}

/// Returns the first token of the receiver of a cascade: `object..first()..second()`.
fn start_of_cascade(tokens: &Tokens, end: usize) -> usize {
    let mut start = start_of(tokens, end);
    while tokens.before(start) == ".." && start >= 2 && end - start < MAX_RECEIVER_TOKENS {
        start = start_of(tokens, start - 2);
    }
    start
}

/// Returns whether a word is a keyword or an operator. Brackets after such a word do not belong to it.
pub(crate) fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 26] = [
        "return", "if", "while", "for", "switch", "case", "in", "of", "and", "or", "not", "await", "yield", "throw",
        "else", "elif", "typeof", "is", "as", "lambda", "range", "match", "assert", "del", "go", "defer",
    ];
    WORDS.contains(&word)
}

/// Returns a key that is equal for calls of one name that must resolve to the same definition. The key contains the
/// tokens of the receiver, the tokens and the number of the arguments, whose types select an overload, and the arm of a
/// `match`, which may bind the receiver.
fn shape<'t>(tokens: &'t Tokens, site: &CallSite, syntax: &Syntax) -> (Vec<&'t str>, Option<usize>, bool, bool, usize) {
    let start = site.receiver.unwrap_or(site.name);
    let open = arguments_open(tokens, site.name).filter(|_| syntax.fixed_members);
    let end = open.and_then(|open| tokens.closer(open)).unwrap_or(site.name).min(start + MAX_SHAPE_TOKENS);
    let arms =
        |start: usize| (start.saturating_sub(MAX_RECEIVER_TOKENS)..start).rev().find(|at| tokens.at(*at) == "=>");
    let arm = site.receiver.filter(|_| syntax.imports == Imports::Rust).and_then(arms).unwrap_or_default();
    ((start..end).map(|at| tokens.at(at)).collect(), site.arguments, site.is_new, site.is_macro, arm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax;

    fn check(language: &str, text: &str, name: &str, expected: &[&str]) {
        let syntax = syntax::for_language(language);
        let tokens = Tokens::read(text.to_owned(), syntax);
        let shown = calls_of(&tokens, name, "", syntax).into_iter().map(|site| {
            let receiver: String =
                site.receiver.into_iter().flat_map(|start| (start..site.name).map(|at| tokens.at(at))).collect();
            let arguments = site.arguments.map_or("-".to_owned(), |count| count.to_string());
            format!("{}{receiver}{arguments}", if site.is_new { "new " } else { "" })
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn receivers_include_the_whole_expression() {
        check("python", "x = self.queue.send(a, b)", "send", &["self.queue.2"]);
        check("python", "return foo(a)[0].send()", "send", &["foo(a)[0].0"]);
        check("typescript", "await (await f<A>(x)).send?.(1)", "send", &["(awaitf<A>(x)).1"]);
        check("go", "s.mu.Lock(); Lock{}", "Lock", &["s.mu.0", "-"]);
        check("java", "list.forEach(this::send)", "send", &["this::-"]);
        check("rust", "Vec::<u8>::new()", "new", &["Vec::<u8>::0"]);
        check("rust", "return <T as Shape>::area(x)", "area", &["<TasShape>::1"]);
        check("php", "return \\M\\P1::st(\\f(1))", "st", &["M\\P1::1"]);
        check("php", "return \\f(1)", "f", &["1"]);
        check("cpp", "return ::n::max(1, 2)", "max", &["n::2"]);
    }

    #[test]
    fn definitions_are_not_calls() {
        check("typescript", "function send(a) {} send(1, f(2, 3))", "send", &["2"]);
        check("java", "list.forEach(x -> send(x))", "send", &["1"]);
        check("kotlin", "when (x) { 1 -> send(); else -> send(2) }", "send", &["0", "1"]);
        check("c", "p->send(1)", "send", &["p->1"]);
        check("java", "new a.b.Send<>(x)", "Send", &["new newa.b.1"]);
        check("java", "new Send(x)", "Send", &["new 1"]);
        check("python", "@app.route('/')\ndef f(): pass", "route", &["app.1"]);
        check("typescript", "const send = 1", "send", &[]);
        check("cpp", "struct A final : ::n::Send {}; class B : public Send {};", "Send", &[]);
        check("cpp", "x = y ? z : Send{1};", "Send", &["-"]);
        check("ruby", "f(send: 1, a: :send) if x.is_a?(Send)", "send", &[]);
        check("ruby", "f(send: 1, a: :send) if x.is_a?(Send)", "Send", &[]);
    }

    #[test]
    fn markup_elements_are_calls() {
        check("javascript", "return <Card>x</Card>;", "Card", &["-"]);
        check("javascript", "return <p>it's <ui.Card a={1}/></p>;", "Card", &["ui.-"]);
        check("javascript", "return <ui.Card><b/></ui.Card>;", "Card", &["ui.-"]);
        check("typescript", "f<Card>(x); const a: Map<Card>", "Card", &[]);
    }

    #[test]
    fn calls_without_parentheses_are_found() {
        check("ruby", "x = send if ready?", "send", &["-"]);
        check("ruby", "a.send b; A::Send.new(1).go", "Send", &["A::-"]);
        check("elixir", "x |> M.send(1) |> send", "send", &["M.2", "1"]);
        check("elixir", "map(x, &send/2)", "send", &["2"]);
        check("dart", "a..open(1)..send()", "send", &["a..open(1)..0"]);
        check("rust", "for x in 0..send() {}", "send", &["0"]);
        check("kotlin", "a.send { it.go() }; send<Int> { 1 }", "send", &["a.-", "-"]);
        check("kotlin", "fun f(): Send { }; object O : Send { }", "Send", &[]);
        check("kotlin", "when (x) { 1 -> send { 2 } }; f(1, send { 3 })", "send", &["-"]);
        check("swift", "queue.send { go() }", "send", &["queue.-"]);
    }
}
