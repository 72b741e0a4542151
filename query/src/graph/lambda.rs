//! Values of the parameters of lambdas, inferred from the object or the method to which the lambda is passed.

use super::call_sites::{arguments_open, parts, start_of};
use super::index::Result;
use super::infer::{Reader, Value};
use super::tokens::Tokens;
use super::type_name::angle_opener;
use super::types::is_transparent;

/// Methods whose lambda receives each element of the collection on which the method is called, or the value that the
/// object wraps.
#[rustfmt::skip]
const EACH: [&str; 63] = [
    "all", "All", "allMatch", "and_then", "any", "Any", "anyMatch", "associateBy", "associateWith", "collect",
    "count", "Count", "detect", "each", "each_with_index", "every", "filter", "filterNot", "filter_map", "find",
    "findIndex", "findLast", "first", "First", "FirstOrDefault", "firstOrNull", "flatMap", "flat_map", "forEach",
    "ForEach", "for_each", "groupBy", "GroupBy", "group_by", "ifPresent", "inspect", "is_some_and", "lastOrNull",
    "map", "mapNotNull", "mapToInt", "mapToLong", "map_or", "max_by_key", "min_by_key", "none", "noneMatch", "onEach",
    "OrderBy", "partition", "peek", "position", "reject", "removeIf", "select", "Select", "SelectMany", "some",
    "sortedBy", "sort_by", "sumOf", "then", "Where",
];
/// Methods whose lambda receives the object on which the method is called.
const ITSELF: [&str; 6] = ["also", "let", "tap", "takeIf", "takeUnless", "yield_self"];

/// Types of functions, with the types of their parameters first: `Action<T>`, `Function<T, R>`.
#[rustfmt::skip]
const FUNCTION_TYPES: [&str; 10] = [
    "Action", "BiConsumer", "BiFunction", "BiPredicate", "Consumer", "Func", "Function", "Predicate", "ToIntFunction",
    "UnaryOperator",
];

impl Reader<'_, '_> {
    /// Returns the value of the lambda parameter `name` that the token at `at` uses: `list.map(x => …)`, `list.forEach
    /// { it … }`, `list.each do |x| … end`, `configure(x => …)`. `None` if no such lambda is found or the value cannot
    /// be inferred.
    pub(super) fn lambda_parameter(&self, name: &str, at: usize) -> Result<Option<Value>> {
        let tokens = &self.tokens;
        let parameter = match name {
            "it" if self.from.syntax.trailing_blocks => block_of(tokens, at).map(|method| (method, 0)),
            _ => tokens
                .positions(name)
                .take_while(|place| *place < at)
                .filter_map(|place| parameter(tokens, place))
                .last(),
        };
        let Some((method, position)) = parameter else { return Ok(None) };
        let receiver = match method {
            2.. if tokens.is_separator(method - 1) => Some(self.inner(start_of(tokens, method - 2), method - 1)?),
            _ => None,
        };
        let called = tokens.at(method);
        let value = match receiver.clone() {
            Some(value) if ITSELF.contains(&called) => value,
            Some(Value::Instance(of, from)) if EACH.contains(&called) && position == 0 && is_transparent(&of) => {
                of.arguments.into_iter().next().map_or(Value::Unknown, |argument| Value::Instance(argument, from))
            }
            Some(value) if EACH.contains(&called) && position == 0 => value.element(),
            _ => Value::Unknown,
        };
        Ok(match value {
            Value::Unknown | Value::External => self.declared_parameter(receiver, method, position, at)?,
            value => Some(value),
        })
    }

    /// Infers the value of a lambda's parameter from the type of the function parameter to which the lambda is passed.
    fn declared_parameter(
        &self,
        receiver: Option<Value>,
        method: usize,
        position: usize,
        at: usize,
    ) -> Result<Option<Value>> {
        let tokens = &self.tokens;
        let Some(open) = arguments_open(tokens, method) else { return Ok(None) };
        let Some(argument) = parts(tokens, open).and_then(|parts| parts.iter().position(|part| part.contains(&at)))
        else {
            return Ok(None);
        };
        let called = match receiver {
            Some(value) => self.member(value, tokens.at(method))?,
            None => self.name(tokens.at(method))?,
        };
        let Value::Functions(functions, _) = called else { return Ok(None) };
        for function in functions {
            let Some(read) = self.index.signature(&function)? else { continue };
            let Some(mut of) = read.parameters.get(argument).and_then(|parameter| parameter.of.clone()) else {
                continue;
            };
            let is_function = of.path.last().is_some_and(|last| FUNCTION_TYPES.contains(&last.as_str()));
            if is_function && position < of.arguments.len() {
                return Ok(Some(Value::Instance(of.arguments.swap_remove(position), function)));
            }
        }
        Ok(None)
    }
}

/// Returns the position of the name of the method whose block without declared parameters encloses a token.
fn block_of(tokens: &Tokens, at: usize) -> Option<usize> {
    let mut open = tokens.opener(at)?;
    while tokens.at(open) != "{" || !(tokens.is_name(open.checked_sub(1)?) || tokens.before(open) == ")") {
        open = tokens.opener(open)?;
    }
    name_before(tokens, open)
}

/// If the token at `place` declares a parameter of a lambda, returns the position of the name of the method to which
/// the lambda is passed, and the index of the parameter among the parameters of the lambda.
fn parameter(tokens: &Tokens, place: usize) -> Option<(usize, usize)> {
    let (mut first, mut position) = (place, 0);
    let after = tokens.at(place + 1);
    let is_in_block = tokens.opener(place).is_some_and(|open| tokens.at(open) == "{");
    let is_single = after == "=>" || (after == "->" && !is_in_block);
    loop {
        match tokens.before(first) {
            "&" | "mut" | "async" | "static" => first -= 1,
            "," if !is_single && first >= 2 && tokens.is_name(first - 2) => {
                first -= 2;
                position += 1;
            }
            _ => break,
        }
    }
    let open = match tokens.before(first) {
        // list.map(|x| …), list.each { |x| … }, list.each do |x|
        "|" if matches!(after, "|" | ",") => first.checked_sub(2)?,
        // list.map(x => …), list.forEach { x -> … }, list.forEach { x in … }
        "(" | "{" if matches!(after, "=>" | "->" | "in") => first - 1,
        "," if matches!(after, "=>" | "->") => first - 1,
        ":" if matches!(after, "=>" | "->") => first - 1,
        // list.map((x, index) => …)
        "(" if matches!(after, ")" | ",") && matches!(tokens.at(tokens.closer(first - 1)? + 1), "=>" | "->") => {
            let mut around = first - 1;
            while matches!(tokens.before(around), "async" | "static") {
                around -= 1;
            }
            around.checked_sub(1)?
        }
        _ => return None,
    };
    let open = match tokens.at(open) {
        "(" | "{" | "do" => open,
        "," | ":" => tokens.opener(open)?,
        _ => return None,
    };
    name_before(tokens, open).map(|method| (method, position))
}

/// Returns the position of the name before an opening bracket or `do`, skipping arguments and type arguments.
fn name_before(tokens: &Tokens, open: usize) -> Option<usize> {
    let mut before = open.checked_sub(1)?;
    if tokens.at(before) == ")" {
        before = tokens.opener(before)?.checked_sub(1)?;
    }
    if tokens.at(before) == ">" {
        before = angle_opener(tokens, before)?.checked_sub(1)?;
    }
    tokens.is_name(before).then_some(before)
}
