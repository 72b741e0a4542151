//! Members of values: methods, fields and properties.

use std::rc::Rc;

use aurora_storage::ChunkType;

use super::declarations::{self, DeclarationKind, Declared};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Definitions, Result};
use super::infer::{Reader, Value};
use super::meaning::{Meaning, NameRole};
use super::reason::Reason;
use super::scope;
use super::signature;
use super::syntax::{Declarations, Imports, Names, Syntax};
use super::type_name::{self, TypeName};
use super::types::{is_transparent, is_variable};

/// Members that return the receiver or the value that the receiver wraps, if the type of the receiver is external.
#[rustfmt::skip]
const RETURN_RECEIVER: [&str; 36] = [
    "clone", "cloned", "copied", "as_ref", "as_mut", "as_deref", "as_deref_mut", "to_owned", "borrow", "borrow_mut",
    "lock", "read", "write", "unwrap", "expect", "unwrap_or", "unwrap_or_else", "unwrap_or_default", "ok", "ok_or",
    "ok_or_else", "iter", "iter_mut", "into_iter", "filter", "reverse", "rev", "skip", "slice", "sorted", "stream",
    "take", "OrderBy", "ToArray", "ToList", "Where",
];
/// Members that return an element of the receiver, if the receiver is an external collection.
#[rustfmt::skip]
const ELEMENTS: [&str; 16] = [
    "get", "get_mut", "first", "last", "pop", "next", "front", "back", "at", "peek", "poll", "find", "First", "Last",
    "Single", "FirstOrDefault",
];

impl Reader<'_, '_> {
    /// Returns the value of a property, which is defined as a function and read without parentheses.
    pub(super) fn property(&self, found: &[Rc<Definition>]) -> Result<Option<Value>> {
        let [of, ..] = found else { return Ok(None) };
        let result = match self.index.signature(of)?.as_deref() {
            None => signature::property_type(&self.index.signature_text(of)?, &of.name, of.syntax),
            Some(read) => {
                let tokens = self.index.tokens(of)?;
                let is_getter = tokens.positions(&of.name).next().is_some_and(|at| tokens.before(at) == "get");
                let is_decorated = ["property", "cached_property"]
                    .iter()
                    .any(|decorator| tokens.positions(decorator).any(|at| tokens.before(at) == "@"));
                if is_getter || is_decorated { read.results.first().cloned() } else { None }
            }
        };
        Ok(result.map(|name| Value::Instance(name, Rc::clone(of))))
    }

    /// Returns a member of a value.
    pub(crate) fn member(&self, value: Value, name: &str) -> Result<Value> {
        if let Value::Module(module, from) = &value {
            return Ok(match imports::module_export(self.index, module, name, from, &mut ExportSearch::default())? {
                Meaning::Variable(path, name) => self.variable(&path, &name)?,
                meaning => Value::from_meaning(meaning),
            });
        }
        if let Some(value) = self.holder_member(&value, name)? {
            return Ok(value);
        }
        let Some(types) = self.types(&value)? else { return Ok(Value::Unknown) };
        if self.from.syntax.base.contains(&name) {
            let mut bases = Vec::new();
            for of in &types {
                bases.extend(scope::bases(self.index, of)?.types.iter().cloned());
            }
            return Ok(if bases.is_empty() { Value::External } else { Value::Objects(bases) });
        }
        if name == "class" && self.from.syntax.names == Names::Ruby {
            return Ok(Value::Types(types, Reason::Receiver));
        }
        if self.from.syntax.own.contains(&name) && matches!(value, Value::Types(..)) {
            return Ok(Value::Objects(types));
        }
        if types.is_empty() {
            return Ok(self.extension(&value, name)?.unwrap_or(Value::External));
        }
        let (mut found, mut reason, mut is_external) = (Vec::new(), Reason::Receiver, false);
        for of in &types {
            let members = scope::member(self.index, of, name)?;
            if members.inherited && self.declares(of, name)? {
                return Ok(match self.field(of, name)? {
                    None | Some(Value::Unknown) => Value::External,
                    Some(value) => value,
                });
            }
            is_external |= members.has_external_base;
            if members.inherited {
                reason = Reason::Inherited;
            }
            let is_new = |member: &Rc<Definition>| found.iter().all(|known: &Rc<Definition>| known.id != member.id);
            let added: Vec<_> = members.found.into_iter().filter(is_new).collect();
            found.extend(added);
        }
        if !found.is_empty() {
            let is_own = matches!(&value, Value::Objects(_)) && reason == Reason::Receiver;
            let own = scope::enclosing_type(self.index, &self.from)?;
            let is_own = is_own && own.is_some_and(|own| types.iter().any(|of| of.id == own.id));
            return Ok(Value::from_definitions(found, if is_own { Reason::Scope } else { reason }));
        }
        if matches!(value, Value::Types(..)) && types.iter().all(|of| of.kind == ChunkType::Enum) {
            return Ok(Value::Objects(types));
        }
        let mut holders = Vec::new();
        for of in &types {
            if let Some(value) = self.field(of, name)? {
                return Ok(value);
            }
            holders.extend(scope::holders(self.index, of, name)?);
        }
        if !holders.is_empty() {
            return Ok(Value::Functions(holders, Reason::Receiver));
        }
        if let Some((inner, reader)) = self.deref_target(&value, &types)? {
            return reader.member(inner, name);
        }
        if let Some(extensions) = self.extension(&value, name)? {
            return Ok(extensions);
        }
        // In languages with fixed members, a member that was not found is defined outside of the repository.
        Ok(if is_external || self.from.syntax.fixed_members { Value::External } else { Value::Unknown })
    }

    /// Returns the target of an object whose type implements `Deref`, and a reader at the next inference depth.
    pub(super) fn deref_target(&self, value: &Value, types: &[Rc<Definition>]) -> Result<Option<(Value, Self)>> {
        for of in types {
            for block in scope::implementations(self.index, of)? {
                let Some(reader) = self.reader_of(&block)? else { return Ok(None) };
                let tokens = &reader.tokens;
                let is_deref = tokens.positions("Deref").next().is_some();
                let target = tokens.positions("Target").find(|at| tokens.at(at + 1) == "=").filter(|_| is_deref);
                let Some((target, _)) = target.and_then(|at| type_name::read(tokens, at + 2)) else { continue };
                let inner = match value {
                    Value::Instance(name, from) if is_variable(&target) && !name.arguments.is_empty() => {
                        let argument = name.arguments.last().cloned().unwrap_or(target);
                        Value::Instance(argument, Rc::clone(from))
                    }
                    _ => Value::Instance(target, Rc::clone(&block)),
                };
                return Ok(Some((inner, Self { depth: self.depth + 1, ..self.clone() })));
            }
        }
        Ok(None)
    }

    /// Replaces the type of a value if the type is a type parameter of the receiver's type. For example, if a method of
    /// `List<Item>` has the result `T`, the value is an `Item`.
    pub(super) fn with_type_argument(&self, value: Value, receiver: &Value) -> Result<Value> {
        let (Value::Instance(of, _), Value::Instance(owner, from)) = (&value, receiver) else { return Ok(value) };
        let named = if is_transparent(of) { of.arguments.first() } else { Some(of) };
        let Some([name]) = named.map(|named| named.path.as_slice()) else { return Ok(value) };
        if owner.arguments.is_empty() || !name.starts_with(char::is_uppercase) {
            return Ok(value);
        }
        for of in self.types(receiver)?.unwrap_or_default() {
            let tokens = self.index.tokens(&of)?;
            let parameters = tokens.positions(&of.name).map(|at| type_name::parameters(&tokens, at + 1));
            let position = parameters.take(1).flatten().position(|parameter| parameter == *name);
            if let Some(argument) = position.and_then(|position| owner.arguments.get(position)) {
                return Ok(Value::Instance(argument.clone(), Rc::clone(from)));
            }
        }
        Ok(value)
    }

    /// Returns the result of a member that returns its receiver or an element of the receiver: `list.iter()`,
    /// `option.unwrap()`, `pointer.get()`.
    pub(super) fn receiver_or_element(&self, value: &Value, name: &str) -> Result<Option<Value>> {
        let (is_same, is_element) = (RETURN_RECEIVER.contains(&name), ELEMENTS.contains(&name));
        if !(is_same || is_element) || self.holder_member(value, name)?.is_some() {
            return Ok(None);
        }
        for of in self.types(value)?.unwrap_or_default() {
            if !scope::member(self.index, &of, name)?.found.is_empty() || self.field(&of, name)?.is_some() {
                return Ok(None);
            }
        }
        let found = match value {
            Value::Instance(of, _) if is_element && is_transparent(of) => Some(value.clone()),
            Value::Instance(of, _) if is_element && !of.arguments.is_empty() => Some(value.clone().element()),
            Value::Instance(..) | Value::Objects(_) if is_same => Some(value.clone()),
            _ => None,
        };
        Ok(found)
    }

    /// Returns a member of a table, an untyped object or a function; `None` for any other value.
    pub(super) fn holder_member(&self, value: &Value, name: &str) -> Result<Option<Value>> {
        let (path, owner) = match value {
            Value::Holder(path, owner) => (Rc::clone(path), owner.clone()),
            Value::Functions(functions, _) => match functions.as_slice() {
                [one] if self.index.file(&one.path)?.has_members(&one.qualified_name) => {
                    (Rc::clone(&one.path), one.qualified_name.clone())
                }
                _ => return Ok(None),
            },
            // An object that a function constructs: new f()
            Value::Instance(of, from) if from.syntax.imports == Imports::Ecma && of.path.len() == 1 => {
                match scope::lookup(self.index, &of.path[0], from, NameRole::Callable)? {
                    Meaning::Definitions(found, reason) if found.iter().all(|one| one.is_function()) => {
                        return self.holder_member(&Value::Functions(found, reason), name);
                    }
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let file = self.index.file(&path)?;
        let is_member = |other: &&Rc<Definition>| {
            other.owner() == owner && !other.is_module && (!owner.is_empty() || other.kind == ChunkType::Method)
        };
        let found: Definitions = file.named(name).filter(is_member).cloned().collect();
        if !found.is_empty() {
            let reason = if path == self.from.path { Reason::Scope } else { Reason::Receiver };
            return Ok(Some(Value::from_definitions(found, reason)));
        }
        let inner = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
        Ok(Some(if file.has_members(&inner) { Value::Holder(path, inner) } else { Value::Unknown }))
    }

    /// Returns whether a type in JavaScript or TypeScript declares a property with a name, which hides the members of
    /// its base types.
    fn declares(&self, of: &Rc<Definition>, name: &str) -> Result<bool> {
        let reader = if of.syntax.imports == Imports::Ecma { self.reader_of(of)? } else { None };
        Ok(reader.is_some_and(|reader| {
            declarations::declared(&reader.tokens, name, DeclarationKind::Field, of.syntax).is_some()
        }))
    }

    /// Returns the value of a field of a type or of its base types.
    pub(super) fn field(&self, of: &Rc<Definition>, name: &str) -> Result<Option<Value>> {
        let own = if of.syntax.own.contains(&"$this") { format!("${name}") } else { name.to_owned() };
        if let Ok(index) = name.parse() {
            let tokens = self.index.tokens(of)?;
            return Ok(
                declarations::item_type(&tokens, &of.name, index).map(|item| Value::Instance(item, Rc::clone(of)))
            );
        }
        let mut parts = Vec::new();
        for of in scope::lineage(self.index, of)? {
            let others = self.index.other_parts(&of)?;
            parts.push(of);
            parts.extend(others);
        }
        for of in &parts {
            let Some(reader) = self.reader_of(of)? else { break };
            let declared = declarations::declared(&reader.tokens, &own, DeclarationKind::Field, of.syntax);
            let mut first = None;
            if let Some(declared) = declared.filter(|declared| *declared != Declared::Untyped) {
                match reader.declared(declared)? {
                    Value::Unknown if has_free_fields(of.syntax) => first = Some(Value::Unknown),
                    value => return Ok(Some(value)),
                }
            }
            for method in self.assigning_methods(of)? {
                let Some(reader) = self.reader_of(&method)?.filter(|_| self.index.may_step()) else { break };
                for declared in declarations::assigned(&reader.tokens, name, of.syntax) {
                    match reader.declared(declared)? {
                        value @ (Value::Unknown | Value::External) => first = first.or(Some(value)),
                        value => return Ok(Some(value)),
                    }
                }
            }
            if first.is_some() {
                return Ok(first);
            }
        }
        Ok(None)
    }

    /// Returns the methods of a type that may assign its fields. These are the constructors and, in languages that do
    /// not require declarations of fields, all other methods.
    pub(super) fn assigning_methods(&self, of: &Rc<Definition>) -> Result<Definitions> {
        let names = of.syntax.constructors;
        let mut found = Vec::new();
        for constructor in names {
            found.extend(self.index.own_members(of, constructor)?);
        }
        if has_free_fields(of.syntax) {
            let file = self.index.file(&of.path)?;
            let is_other = |other: &&Rc<Definition>| {
                other.is_function() && other.owner() == of.qualified_name && !names.contains(&other.name.as_str())
            };
            // The methods of a short type are in the chunk of the type itself.
            found.extend(file.definitions.iter().filter(is_other).chain([of]).cloned());
        }
        Ok(found)
    }

    /// Returns the result of the first function whose signature can be parsed.
    pub(super) fn result(&self, functions: &[Rc<Definition>]) -> Result<Value> {
        for function in functions {
            let Some(read) = self.index.signature(function)? else { continue };
            return Ok(match read.results.as_slice() {
                [] => Value::Unknown,
                [one] => Value::Instance(one.clone(), Rc::clone(function)),
                results => Value::Results(results.to_vec(), Rc::clone(function)),
            });
        }
        Ok(Value::Unknown)
    }

    /// Returns whether the result of an extension method is its receiver: `TBuilder Add<TBuilder>(this TBuilder
    /// builder)`.
    pub(super) fn returns_receiver(&self, functions: &[Rc<Definition>]) -> Result<bool> {
        let [function, ..] = functions else { return Ok(false) };
        if !function.syntax.generic_arity {
            return Ok(false);
        }
        let Some(read) = self.index.signature(function)? else { return Ok(false) };
        let is_receiver = |of: &TypeName| {
            read.receiver.as_ref() == Some(of) && read.type_parameters.iter().any(|name| of.mentions(name))
        };
        Ok(read.results.first().is_some_and(is_receiver))
    }
}

/// Returns whether every method of a type can add fields to the type.
fn has_free_fields(syntax: &Syntax) -> bool {
    syntax.declarations == Declarations::Untyped || syntax.imports.are_files()
}
