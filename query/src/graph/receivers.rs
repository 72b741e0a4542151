//! The types of the objects on which calls are made, which decide whether a call can reach an overriding method.

use std::rc::Rc;

use aurora_storage::ChunkId;
use rustc_hash::FxHashSet;

use super::call_sites::CallSite;
use super::index::{Definition, Index, Result};
use super::infer::{Reader, Value};
use super::relations::RelationIndex;
use super::scope;
use super::syntax::Imports;
use super::tokens::Tokens;
use super::type_name;
use crate::path_class::{PathClass, PathClasses};

/// Maximum number of subtypes that are compared with the type of a receiver.
const MAX_SUBTYPES: usize = 64;
/// Maximum number of texts that are searched for anonymous subclasses of one type.
const MAX_ANONYMOUS: usize = 256;
/// Maximum number of tokens between an annotation and the name of the field that it annotates.
const MAX_ANNOTATION_TOKENS: usize = 16;
/// Annotations of fields whose objects have no implementation.
const MOCK_ANNOTATIONS: [&str; 6] = ["Mock", "MockBean", "MockitoBean", "MockK", "RelaxedMockK", "Mocked"];
/// Functions that create objects without an implementation.
const MOCK_MAKERS: [&str; 7] =
    ["mock", "createMock", "createNiceMock", "createStrictMock", "mockk", "Mock", "MagicMock"];

/// The type of an object on which a call is made.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    pub(crate) of: Rc<Definition>,
    /// Whether the object has exactly this type, and not a subtype.
    pub(crate) is_exact: bool,
}

impl PartialEq for Receiver {
    fn eq(&self, other: &Self) -> bool {
        (self.of.id, self.is_exact) == (other.of.id, other.is_exact)
    }
}

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

impl RelationIndex<'_> {
    /// Returns the number of anonymous subclasses in Java that override the member `name` of a type: `new Type() { … }`.
    pub(super) fn anonymous_overrides(&self, of: &Rc<Definition>, name: &str) -> Result<usize> {
        let index = &self.index;
        if of.syntax.imports != Imports::Package {
            return Ok(0);
        }
        index.caches.anonymous.get_or(&(of.id, name.to_owned()), || {
            let chunks = index.snapshot.postings(&of.name.to_lowercase())?.docs();
            let naming = index.snapshot.postings(&name.to_lowercase())?.docs();
            let (mut count, mut seen) = (0, FxHashSet::default());
            for id in chunks.iter().filter(|id| naming.contains(*id)).take(MAX_ANONYMOUS).map(ChunkId) {
                if index.is_spent() {
                    break;
                }
                let Some(from) = index.definition(id)?.filter(|from| seen.insert(from.id)) else { continue };
                let tokens = index.tokens(&from)?;
                let bodies = tokens.positions(&of.name).filter(|at| tokens.before(*at) == "new");
                for body in bodies.filter_map(|at| anonymous_body(&tokens, at)) {
                    let is_here = |at: &usize| tokens.opener(*at) == Some(body) && tokens.at(at + 1) == "(";
                    let overrides = tokens.positions(name).any(|at| is_here(&at));
                    count +=
                        usize::from(overrides && scope::base(index, &from, &of.name)?.iter().any(|it| it.id == of.id));
                }
            }
            Ok(count)
        })
    }

    /// Returns whether a call on objects of the given types can reach a method of the type `own` that overrides the
    /// called method.
    pub(super) fn may_reach(&self, receivers: &[Receiver], own: &Rc<Definition>) -> Result<bool> {
        let index = &self.index;
        for receiver in receivers {
            let of = &receiver.of;
            if is_below(index, of, own)? || (!receiver.is_exact && is_below(index, own, of)?) {
                return Ok(true);
            }
            if receiver.is_exact {
                continue;
            }
            // The object may have a type that extends both types.
            let (mut queue, mut next) = (vec![Rc::clone(own)], 0);
            while let Some(at) = queue.get(next).cloned().filter(|_| next < MAX_SUBTYPES) {
                next += 1;
                for subtype in &self.subtypes(&at)?.0 {
                    if queue.iter().all(|known| known.id != subtype.definition.id) {
                        queue.push(Rc::clone(&subtype.definition));
                    }
                }
                if next > 1 && is_below(index, &at, of)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns the brace that opens the body of an anonymous subclass, given the position of the type's name: `new Type<A>(b)
/// {`.
fn anonymous_body(tokens: &Tokens, at: usize) -> Option<usize> {
    let (_, open) = type_name::read(tokens, at)?;
    let body = tokens.closer(open).filter(|_| tokens.at(open) == "(")? + 1;
    (tokens.at(body) == "{").then_some(body)
}

/// Returns whether a type is another type or extends it.
fn is_below(index: &Index<'_>, of: &Rc<Definition>, base: &Definition) -> Result<bool> {
    Ok(of.id == base.id || scope::lineage(index, of)?.iter().any(|one| one.id == base.id))
}
