//! Resolves types in a text to definitions.

use std::rc::Rc;

use aurora_storage::ChunkType;

use super::index::{Definition, Definitions, Result};
use super::infer::{MAX_INFERENCE_DEPTH, Reader, Value};
use super::meaning::Meaning;
use super::scope;
use super::type_name::{self, TypeName};

/// Wrapper types whose missing members are looked up in their type argument.
#[rustfmt::skip]
const TRANSPARENT: [&str; 39] = [
    "Optional", "Promise", "PromiseLike", "Awaitable", "Future", "Option", "Result", "Box", "Rc", "Arc", "Readonly",
    "Partial", "ClassVar", "Final", "Annotated", "Required", "NonNullable", "Self", "unique_ptr", "shared_ptr",
    "weak_ptr", "optional", "reference_wrapper", "Task", "ValueTask", "Lazy", "Nullable", "RefCell", "Mutex",
    "RwLock", "Cow", "Pin", "ManuallyDrop", "LazyLock", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "Ref",
    "RefMut",
];

impl Reader<'_, '_> {
    /// Returns the types of an object, or the types that a value denotes. `None` if the types are unknown; empty if the
    /// types are outside of the repository.
    pub(crate) fn types(&self, value: &Value) -> Result<Option<Definitions>> {
        match value {
            Value::Objects(types) | Value::Types(types, _) => Ok(Some(types.clone())),
            Value::External => Ok(Some(Vec::new())),
            Value::Instance(name, from) => self.types_named(name, from),
            Value::Results(names, from) => match names.as_slice() {
                [first, ..] => self.types_named(first, from),
                [] => Ok(None),
            },
            Value::Functions(..) | Value::Module(..) | Value::Holder(..) | Value::Unknown => Ok(None),
        }
    }

    pub(super) fn types_named(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Definitions>> {
        if let ([own], Some(of)) = (name.path.as_slice(), scope::enclosing_type(self.index, from)?)
            && (from.syntax.own.contains(&own.as_str()) || own == "Self")
        {
            return Ok(Some(vec![of]));
        }
        // An array: only its elements have members in the repository.
        if name.path.is_empty() {
            return Ok(Some(Vec::new()));
        }
        match scope::types_of_path(self.index, &name.path, from)? {
            Meaning::Definitions(types, _) => {
                let types = self.index.with_type_parameters(types, name.arguments.len())?;
                self.aliased(types).map(Some)
            }
            Meaning::External | Meaning::Unknown | Meaning::Variable(..) | Meaning::Module(..) => {
                match name.arguments.first().filter(|_| is_transparent(name) && self.depth < MAX_INFERENCE_DEPTH) {
                    Some(argument) => {
                        let deeper = Self { depth: self.depth + 1, ..self.clone() };
                        deeper.types_named(argument, from)
                    }
                    None => match self.nested(name, from)? {
                        Some(types) => Ok(Some(types)),
                        None => match self.bounds(name, from)? {
                            None if !is_variable(name) => Ok(Some(Vec::new())),
                            bounds => Ok(bounds),
                        },
                    },
                }
            }
        }
    }

    /// Resolves a path whose last name is a type inside the type that the rest of the path names. The outer type may be
    /// an alias: `typedef Map<A> Map; Map::Entry`.
    pub(super) fn nested(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Definitions>> {
        let Some((last, outer)) = name.path.split_last().filter(|(_, outer)| !outer.is_empty()) else {
            return Ok(None);
        };
        if self.depth >= MAX_INFERENCE_DEPTH || !self.index.may_step() {
            return Ok(None);
        }
        let deeper = Self { depth: self.depth + 1, ..self.clone() };
        let outer = TypeName { path: outer.to_vec(), arguments: Vec::new() };
        let mut found = Vec::new();
        for of in deeper.types_named(&outer, from)?.unwrap_or_default() {
            found.extend(self.index.own_members(&of, last)?.into_iter().filter(|one| one.is_type()));
        }
        Ok((!found.is_empty()).then_some(found))
    }

    /// Returns the types that bound a parameter of a generic definition: `T: Bound`, `T extends Bound`.
    pub(super) fn bounds(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Definitions>> {
        let [name] = name.path.as_slice() else { return Ok(None) };
        let mut around = Some(Rc::clone(from));
        while let Some(at) = around {
            let Some(reader) = self.reader_of(&at)? else { break };
            let tokens = &reader.tokens;
            // Unlike the key of an object or the label of a case, a type parameter is in a list or a `where` clause.
            let is_bound = |at: &usize| {
                matches!(tokens.at(at + 1), ":" | "extends")
                    && matches!(tokens.before(*at), "<" | "," | "where" | "in" | "out" | "reified")
            };
            let bound = tokens.positions(name).find(is_bound);
            if let Some((bound, _)) = bound.and_then(|at| type_name::read(tokens, at + 2)) {
                return reader.types_named(&bound, &at);
            }
            around = self.index.parent(&at)?;
        }
        Ok(None)
    }

    /// Adds the types that type aliases refer to: `using A = B`, `typedef B A`, `type A = B`.
    pub(super) fn aliased(&self, mut types: Definitions) -> Result<Definitions> {
        for of in types.clone().iter().filter(|of| of.kind == ChunkType::Type) {
            let Some(reader) = self.reader_of(of)?.filter(|_| self.index.may_step()) else { break };
            let tokens = &reader.tokens;
            let start = match tokens.at(0) {
                "typedef" => Some(1),
                _ => tokens.positions(&of.name).find(|at| tokens.at(at + 1) == "=").map(|at| at + 2),
            };
            if let Some((name, _)) = start.and_then(|start| type_name::read(tokens, start)) {
                let targets = reader.types_named(&name, of)?.unwrap_or_default();
                types.extend(targets.into_iter().filter(|target| target.id != of.id));
            }
        }
        Ok(types)
    }
}

/// Returns whether a type is a wrapper, such as `Option`, whose missing members are looked up in its type argument.
pub(super) fn is_transparent(name: &TypeName) -> bool {
    name.path.last().is_some_and(|last| TRANSPARENT.contains(&last.as_str()))
}

/// Returns whether a type is likely a parameter of a generic definition: `T`, `K2`.
pub(super) fn is_variable(name: &TypeName) -> bool {
    match name.path.as_slice() {
        [one] => one.len() <= 2 && one.starts_with(char::is_uppercase),
        _ => false,
    }
}
