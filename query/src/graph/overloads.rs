//! Overload resolution: selects among the definitions of a name. The number of type arguments and the number and the
//! types of the arguments decide.

use std::rc::Rc;

use super::call_sites::{CallSite, arguments_open, parts};
use super::index::{Definition, Definitions, Index, Result, retain};
use super::infer::{Reader, Value};
use super::prototypes;
use super::scope;
use super::tokens::{TokenKind, Tokens};
use super::type_name::{self, TypeName};

/// Maximum number of definitions whose parameters are compared with the arguments of a call.
const MAX_OVERLOADS: usize = 32;
/// Built-in types of strings, characters and Booleans, which are not implicitly converted to other types.
const DISTINCT: [&str; 9] = ["string", "String", "str", "bool", "boolean", "Bool", "Boolean", "char", "Char"];

/// An argument of a call.
struct Argument {
    /// Name of the parameter, if the argument is named.
    name: Option<String>,
    kind: Kind,
}

enum Kind {
    Lambda(Lambda),
    Number,
    Value(Value),
}

struct Lambda {
    parameters: usize,
    is_async: bool,
    /// Whether the lambda returns a value; `None` if unknown.
    returns: Option<bool>,
}

/// Keeps the definitions that match a call best.
pub(super) fn select(reader: &Reader<'_, '_>, found: Definitions, site: &CallSite) -> Result<Definitions> {
    let found = prototypes::resolve_declarations(reader.index, found)?;
    let type_arguments = type_name::argument_count(&reader.tokens, site.name + 1);
    let found = match type_arguments {
        0 => found,
        count => reader.index.with_type_parameters(found, count)?,
    };
    let by_count = if found.len() > 1 { accepting(reader.index, found.clone(), site.arguments)? } else { Vec::new() };
    let found = if by_count.is_empty() { found } else { by_count };
    let syntax = reader.from.syntax;
    let open = arguments_open(&reader.tokens, site.name).filter(|_| syntax.fixed_members);
    match open {
        Some(open) if (2..=MAX_OVERLOADS).contains(&found.len()) => by_types(reader, found, site, open),
        _ => Ok(found),
    }
}

/// Keeps the definitions that accept a given number of arguments.
pub(super) fn accepting(index: &Index<'_>, mut found: Definitions, arguments: Option<usize>) -> Result<Definitions> {
    let Some(arguments) = arguments else { return Ok(found) };
    retain(&mut found, |of| Ok(index.signature(of)?.is_none_or(|signature| signature.takes(arguments))))?;
    Ok(found)
}

/// Removes the definitions with a parameter that cannot take its argument. Of the others, keeps the definitions with
/// the highest number of parameters that have the types of their arguments. Keeps all definitions if every definition
/// would be removed.
fn by_types(reader: &Reader<'_, '_>, found: Definitions, site: &CallSite, open: usize) -> Result<Definitions> {
    let mut arguments = Vec::new();
    for part in parts(&reader.tokens, open).unwrap_or_default() {
        arguments.push(argument(reader, part.start, part.end)?);
    }
    let is_explicit = reader.tokens.at(site.name + 1) == "<";
    let (mut best, mut most) = (Vec::new(), None);
    for of in &found {
        let Some(matches) = matches(reader, of, &arguments, is_explicit)? else { continue };
        if most < Some(matches) {
            best.clear();
            most = Some(matches);
        }
        if most == Some(matches) {
            best.push(Rc::clone(of));
        }
    }
    Ok(if best.is_empty() { found } else { best })
}

/// Returns the number of parameters that have the types of their arguments. `None` if a parameter cannot take its
/// argument, or if a type argument is neither given nor inferable.
fn matches(
    reader: &Reader<'_, '_>,
    of: &Rc<Definition>,
    arguments: &[Argument],
    is_explicit: bool,
) -> Result<Option<usize>> {
    let Some(read) = reader.index.signature(of)? else { return Ok(Some(0)) };
    let is_inferred = |name: &String| {
        let types = read.parameters.iter().map(|parameter| &parameter.of).chain([&read.receiver]);
        types.flatten().any(|of| of.mentions(name)) || read.parameters.iter().any(|parameter| parameter.of.is_none())
    };
    if of.syntax.generic_arity && !is_explicit && !read.type_parameters.iter().all(is_inferred) {
        return Ok(None);
    }
    let mut matches = 0;
    for (at, argument) in arguments.iter().enumerate() {
        let parameter = match &argument.name {
            Some(name) => match read.parameters.iter().find(|parameter| parameter.name == *name) {
                Some(parameter) => Some(parameter),
                None => return Ok(None),
            },
            None => read.parameters.get(at),
        };
        let Some(wanted) = parameter.and_then(|parameter| parameter.of.as_ref()) else { continue };
        match fits(reader, &argument.kind, wanted, &read.type_parameters)? {
            Some(true) => matches += 1,
            Some(false) => return Ok(None),
            None => {}
        }
    }
    Ok(Some(matches))
}

/// Returns whether an argument has the type of a parameter; `None` if unknown.
fn fits(
    reader: &Reader<'_, '_>,
    argument: &Kind,
    parameter: &TypeName,
    type_parameters: &[String],
) -> Result<Option<bool>> {
    let Some(wanted) = parameter.path.last() else { return Ok(None) };
    let is_distinct = DISTINCT.contains(&wanted.as_str());
    let is_delegate = matches!(wanted.as_str(), "Func" | "Action");
    let is_generic = type_parameters.contains(wanted);
    Ok(match argument {
        Kind::Lambda(lambda) if is_delegate => Some(lambda.fits(parameter)),
        // The type of a lambda cannot be inferred.
        Kind::Lambda(_) => (is_distinct || is_generic).then_some(false),
        Kind::Number if matches!(wanted.as_str(), "int" | "Int") => Some(true),
        Kind::Number => (is_distinct || is_delegate).then_some(false),
        Kind::Value(value) => {
            if let Value::Instance(name, _) = value
                && let Some(last) = name.path.last()
            {
                let is_text = DISTINCT.contains(&last.as_str());
                if last == wanted {
                    let has_arity =
                        !reader.from.syntax.generic_arity || name.arguments.len() == parameter.arguments.len();
                    return Ok(Some(has_arity));
                }
                if is_text && (is_distinct || is_delegate) {
                    return Ok(Some(false));
                }
            }
            let types = reader.types(value)?.unwrap_or_default();
            for of in &types {
                for of in scope::lineage(reader.index, of)? {
                    if of.name == *wanted && has_arity(reader.index, &of, parameter)? {
                        return Ok(Some(true));
                    }
                }
            }
            let is_defined = !is_generic && reader.index.is_defined(wanted, reader.from.syntax.group)?;
            (!types.is_empty() && (is_distinct || is_delegate || is_defined)).then_some(false)
        }
    })
}

/// Returns whether a type has as many type parameters as a type expression has arguments. Always true in languages
/// where the number of type parameters does not distinguish types.
pub(super) fn has_arity(index: &Index<'_>, of: &Definition, written: &TypeName) -> Result<bool> {
    Ok(!of.syntax.generic_arity || index.type_parameters(of)? == written.arguments.len())
}

impl Lambda {
    /// Returns whether the lambda can be converted to a `Func` or `Action` in C#.
    fn fits(&self, delegate: &TypeName) -> bool {
        let is_action = delegate.path.last().is_some_and(|last| last == "Action");
        let (parameters, result) = match delegate.arguments.split_last() {
            _ if is_action => (delegate.arguments.len(), None),
            Some((result, parameters)) => (parameters.len(), Some(result)),
            None => return true,
        };
        let is_task = |result: &TypeName| matches!(result.path.last().map(String::as_str), Some("Task" | "ValueTask"));
        let returns = match result {
            None if self.is_async => return false,
            None => false,
            Some(result) if self.is_async && is_task(result) => !result.arguments.is_empty(),
            Some(_) if self.is_async => return false,
            Some(_) => true,
        };
        parameters == self.parameters && self.returns.is_none_or(|known| known == returns)
    }
}

fn argument(reader: &Reader<'_, '_>, mut start: usize, end: usize) -> Result<Argument> {
    let tokens = &reader.tokens;
    let mut name = None;
    if tokens.is_name(start) && tokens.at(start + 1) == ":" && start + 2 < end {
        name = Some(tokens.at(start).to_owned());
        start += 2;
    }
    let is_single = end == start + 1;
    let kind = if let Some(lambda) = lambda(tokens, start, end) {
        Kind::Lambda(lambda)
    } else if tokens.kind(start) == Some(TokenKind::Number) && is_single {
        Kind::Number
    } else if matches!(tokens.at(start), "true" | "false") && is_single {
        Kind::Value(Value::Instance(TypeName::from_name("bool"), Rc::clone(&reader.from)))
    } else {
        Kind::Value(reader.expression(start, end)?)
    };
    Ok(Argument { name, kind })
}

/// Reads a lambda: `x => …`, `async (x, y) => …`, `() -> …`.
fn lambda(tokens: &Tokens, start: usize, end: usize) -> Option<Lambda> {
    let mut at = start;
    while matches!(tokens.at(at), "async" | "static") && at < end {
        at += 1;
    }
    let (parameters, arrow) = match tokens.at(at) {
        "(" => (parts(tokens, at)?.len(), tokens.closer(at)? + 1),
        _ if tokens.is_name(at) => (1, at + 1),
        _ => return None,
    };
    if arrow >= end || !matches!(tokens.at(arrow), "=>" | "->") {
        return None;
    }
    let is_async = (start..at).any(|at| tokens.at(at) == "async");
    Some(Lambda { parameters, is_async, returns: returns(tokens, arrow + 1, end) })
}

/// Returns whether the body of a lambda returns a value; `None` if the body does not show this, for example because it
/// is a call.
fn returns(tokens: &Tokens, body: usize, end: usize) -> Option<bool> {
    let is_thrown = |at: usize| matches!(tokens.at(at), "throw");
    if tokens.at(body) == "{" {
        let returned = (body..end).find(|at| tokens.at(*at) == "return").map(|at| tokens.at(at + 1) != ";");
        return if is_thrown(body + 1) { None } else { Some(returned.unwrap_or(false)) };
    }
    let last = end.checked_sub(1)?;
    let is_statement = matches!(tokens.at(last), ")" | "++" | "--" | "}" | "+") || is_thrown(body);
    let is_assignment = (body..end).any(|at| tokens.at(at) == "=" && tokens.opener(at) == tokens.opener(body));
    (is_assignment || !is_statement).then_some(true)
}
