//! The parts of a type whose members have no chunks of their own.

use super::index::Result;
use super::infer::Reader;
use super::syntax::Imports;
pub(crate) use super::target::Part;
use super::tokens::Tokens;

/// Maximum number of tokens in the header of a member.
const MAX_HEADER_TOKENS: usize = 256;

/// Returns the part of a definition to which a token belongs. Only types have parts.
pub(crate) fn part_at(reader: &Reader<'_, '_>, at: usize) -> Result<Part> {
    let from = &reader.from;
    if !from.is_type() || from.is_namespace() {
        return Ok(Part::Whole);
    }
    let inner = reader.index.inner_names(from.id)?;
    let kind = |name: &str| {
        let constructors = from.syntax.constructors;
        let is_constructor = constructors.contains(&name) || (constructors.contains(&"") && name == from.name);
        if is_constructor {
            return Some(Part::Constructor);
        }
        inner.iter().any(|inner| inner == name).then(|| Part::Member(name.to_owned()))
    };
    let tokens = &reader.tokens;
    if from.syntax.imports == Imports::Python {
        let defined = (0..at).rev().filter(|at| tokens.before(*at) == "def").find_map(|at| kind(tokens.at(at)));
        return Ok(defined.unwrap_or(Part::Constructor));
    }
    // The outermost brace is the body of the type.
    let mut statement = at;
    let mut body = tokens.opener(at);
    while let Some(outer) = body.and_then(|body| tokens.opener(body)) {
        (statement, body) = (body.unwrap_or_default(), Some(outer));
    }
    let Some(body) = body.filter(|body| tokens.at(*body) == "{" && *body < at) else { return Ok(Part::Declaration) };
    Ok(match member_at(tokens, body, statement, at, &kind) {
        // An expression with the values of all fields constructs the type.
        Part::Declaration if from.syntax.literals => Part::Constructor,
        part => part,
    })
}

/// Returns the member in whose header or body a token is. `statement` is a token of the member directly in the body of
/// the type.
fn member_at(tokens: &Tokens, body: usize, statement: usize, at: usize, kind: &impl Fn(&str) -> Option<Part>) -> Part {
    let is_boundary = |at: usize| {
        let ends = match tokens.at(at) {
            ";" => true,
            "}" => tokens.opener(at).is_none_or(|opener| tokens.opener(opener) == Some(body)),
            _ => false,
        };
        ends && (tokens.at(at) == "}" || tokens.opener(at) == Some(body))
    };
    let first = (body + 1..statement).rev().find(|at| is_boundary(*at)).map_or(body + 1, |at| at + 1);
    let mut is_value = false;
    let mut next = first;
    while next < (first + MAX_HEADER_TOKENS).min(tokens.len()) {
        match tokens.at(next) {
            ";" => break,
            _ if next > at && tokens.is_first(next) => break,
            // The initialiser of a type, or a type inside the type.
            "{" => return Part::Constructor,
            "=" => is_value = true,
            "(" | "[" => next = tokens.closer(next).unwrap_or(next),
            name if tokens.is_name(next) && !is_value && tokens.before(next) != "@" => {
                let follows = tokens.at(next + 1);
                let is_function = matches!(follows, "(" | "<") || (follows == "?" && tokens.at(next + 2) == "(");
                let is_property = follows == "=" && (next + 2..next + 12).any(|at| tokens.at(at) == "=>");
                match kind(name).filter(|_| is_function || is_property) {
                    Some(part) => return part,
                    // A member with its own chunk is followed on its own.
                    None if follows == "(" => return Part::Declaration,
                    None => {}
                }
            }
            _ => {}
        }
        next += 1;
    }
    if is_value { Part::Constructor } else { Part::Declaration }
}
