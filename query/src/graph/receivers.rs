//! The types of the objects on which calls are made, which decide whether a call can reach an overriding method.

use std::rc::Rc;

use super::call_sites::CallSite;
use super::index::{Definition, Result};
use super::infer::{Reader, Value};
use super::scope;
use super::syntax::Imports;
pub(super) use super::target::Receiver;
use super::tokens::Tokens;
use super::type_name;
use crate::path_class::{PathClass, PathClasses};

/// Maximum number of tokens between an annotation and the name of the field that it annotates.
const MAX_ANNOTATION_TOKENS: usize = 16;
/// Annotations of fields whose objects have no implementation.
const MOCK_ANNOTATIONS: [&str; 6] = ["Mock", "MockBean", "MockitoBean", "MockK", "RelaxedMockK", "Mocked"];
/// Functions that create objects without an implementation.
const MOCK_MAKERS: [&str; 7] =
    ["mock", "createMock", "createNiceMock", "createStrictMock", "mockk", "Mock", "MagicMock"];

/// Returns the types of the object on which a call is made; `None` if they are unknown. The list is empty if the call
/// cannot reach an overriding method.
pub(crate) fn for_site(reader: &Reader<'_, '_>, site: &CallSite) -> Result<Option<Vec<Receiver>>> {
    let (index, tokens, syntax) = (reader.index, &reader.tokens, reader.from.syntax);
    if syntax.base.is_empty() && syntax.imports != Imports::Rust {
        return Ok(None);
    }
    let own = || scope::enclosing_type(index, &reader.from);
    let inexact = |of: Option<Rc<Definition>>| of.map(|of| vec![Receiver { of, is_exact: false }]);
    let Some(start) = site.receiver else {
        return Ok(if syntax.implicit_members { inexact(own()?) } else { None });
    };
    let (word, end) = (tokens.at(start), site.name.saturating_sub(1));
    if syntax.base.contains(&word) {
        // In Python, `super()` is the next type in the order of the object's type.
        return Ok(if syntax.imports == Imports::Python { inexact(own()?) } else { Some(Vec::new()) });
    }
    let is_name = start + 1 == end && tokens.is_name(start);
    let is_field = start + 3 == end && syntax.own.contains(&word) && tokens.is_separator(start + 1);
    if (is_name || is_field) && is_mock(reader, tokens.at(end.saturating_sub(1)))? {
        return Ok(Some(Vec::new()));
    }
    if is_name && let Some(made) = only_construction(tokens, word, &reader.from.name) {
        let types = match tokens.at(made) {
            "new" => match type_name::read(tokens, made + 1) {
                Some((name, _)) => reader.types_named(&name, &reader.from)?.unwrap_or_default(),
                None => Vec::new(),
            },
            _ => match reader.expression(made, made + 1)? {
                Value::Types(types, _) => types,
                _ => Vec::new(),
            },
        };
        if !types.is_empty() {
            return Ok(Some(types.into_iter().map(|of| Receiver { of, is_exact: true }).collect()));
        }
    }
    let value = reader.expression(start, end)?;
    // `Type.method()` names the method, unless the type is the type of the object.
    let is_exact =
        matches!(value, Value::Types(..)) && !syntax.own.contains(&word) && syntax.imports != Imports::Rust && is_name;
    let types = reader.types(&value)?.filter(|types| !types.is_empty());
    Ok(types.map(|types| types.into_iter().map(|of| Receiver { of, is_exact }).collect()))
}

/// Returns the position of the expression that constructs the only value of a local variable: `T name = new U(…);`,
/// `name = U(…)`.
fn only_construction(tokens: &Tokens, name: &str, own_name: &str) -> Option<usize> {
    let assigns = |at: usize| matches!(tokens.at(at + 1), "=" | ":=") && tokens.before(at) != ".";
    let first = tokens.positions(name).next().filter(|_| name != own_name)?;
    let is_declared = assigns(first) || (tokens.at(first + 1) == ":" && tokens.at(first + 3) == "=");
    if !is_declared || tokens.positions(name).skip(1).any(assigns) || tokens.before(first) == "," {
        return None;
    }
    let value = if assigns(first) { first + 2 } else { first + 4 };
    let opener = tokens.opener(first).map_or("", |opener| tokens.at(opener));
    if matches!(opener, "(" | "[") || !(tokens.at(value) == "new" || tokens.at(value + 1) == "(") {
        return None;
    }
    let after = match tokens.at(value) {
        "new" => match type_name::read(tokens, value + 1)? {
            (_, open) if tokens.at(open) == "(" => tokens.closer(open)? + 1,
            (_, end) => end,
        },
        _ => tokens.closer(value + 1)? + 1,
    };
    let ends = matches!(tokens.at(after), ";" | "" | "}") || (tokens.is_first(after) && tokens.at(after) != ".");
    (ends && tokens.at(after) != "{").then_some(value)
}

/// Returns whether a name in a test is a mock object: a field with an annotation such as `@Mock`, or a variable with
/// the value `mock(…)`.
fn is_mock(reader: &Reader<'_, '_>, name: &str) -> Result<bool> {
    let from = &reader.from;
    let classes = PathClasses::for_path(&from.path).with_scopes(&from.qualified_name);
    if !classes.contains(PathClass::Test) {
        return Ok(false);
    }
    if mocks(&reader.tokens, name) {
        return Ok(true);
    }
    let own = scope::enclosing_type(reader.index, from)?;
    Ok(match own.filter(|own| own.id != from.id) {
        Some(own) => mocks(&*reader.index.tokens(&own)?, name),
        None => false,
    })
}

fn mocks(tokens: &Tokens, name: &str) -> bool {
    tokens.positions(name).any(|at| {
        if matches!(tokens.at(at + 1), "=" | ":=") {
            let call = (at + 2..at + 8).find(|at| tokens.at(at + 1) == "(");
            return call.is_some_and(|call| MOCK_MAKERS.contains(&tokens.at(call)));
        }
        let words = (at.saturating_sub(MAX_ANNOTATION_TOKENS)..at).rev();
        let mut declaration = words.take_while(|at| !matches!(tokens.at(*at), ";" | "{" | "}"));
        declaration.any(|at| tokens.before(at) == "@" && MOCK_ANNOTATIONS.contains(&tokens.at(at)))
    })
}
