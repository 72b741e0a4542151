//! The type of an expression, as far as declarations, constructors and signatures tell.

use std::rc::Rc;

use aurora_storage::StorageError;

use super::call_sites::arguments_open;
use super::declarations::{self, Declared, Place};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Index};
use super::meaning::{Meaning, Wanted};
use super::reason::Reason;
use super::scope;
use super::signature;
use super::syntax::{Declarations, Imports};
use super::tokens::{TokenKind, Tokens};
use super::type_name::{self, TypeName, angle_closer};

/// How many declarations, results and members are followed for one expression.
const DEEPEST: u32 = 12;
/// How deep expressions are nested.
const DEEPEST_NESTING: u32 = 64;
/// Most names, calls and indexes of one expression.
const MOST_STEPS: usize = 64;
/// Types that stand for their argument where a member is used that they do not have.
const TRANSPARENT: [&str; 18] = [
    "Optional",
    "Promise",
    "PromiseLike",
    "Awaitable",
    "Future",
    "Option",
    "Result",
    "Box",
    "Rc",
    "Arc",
    "Readonly",
    "Partial",
    "ClassVar",
    "Final",
    "Annotated",
    "Required",
    "NonNullable",
    "Self",
];

/// What an expression is.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// An object of a type that is written in the text of a definition.
    Instance(TypeName, Rc<Definition>),
    /// Several results, whose types are written in the text of a definition.
    Results(Vec<TypeName>, Rc<Definition>),
    /// An object of one of these types.
    Objects(Vec<Rc<Definition>>),
    /// These types themselves.
    Types(Vec<Rc<Definition>>, Reason),
    /// These functions.
    Functions(Vec<Rc<Definition>>, Reason),
    /// A module, as the file of the definition names it.
    Module(String, Rc<Definition>),
    /// Something outside of the repository.
    External,
    /// Nothing that is known.
    Unknown,
}

impl Value {
    fn of(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Definitions(found, reason) => Self::of_definitions(found, reason),
            Meaning::Module(path, from) => Self::Module(path, from),
            Meaning::Variable(..) | Meaning::Unknown => Self::Unknown,
            Meaning::External => Self::External,
        }
    }

    /// Types before functions: a name of both is a constructor.
    fn of_definitions(found: Vec<Rc<Definition>>, reason: Reason) -> Self {
        let (types, functions): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.is_type());
        match (types.is_empty(), functions.is_empty()) {
            (false, _) => Self::Types(types, reason),
            (true, false) => Self::Functions(functions, reason),
            (true, true) => Self::Unknown,
        }
    }
}

/// Reads expressions in the text of one definition.
#[derive(Clone)]
pub(crate) struct Reader<'i, 's> {
    pub(crate) index: &'i Index<'s>,
    pub(crate) from: Rc<Definition>,
    pub(crate) tokens: Rc<Tokens>,
    depth: u32,
    nesting: u32,
}

impl<'i, 's> Reader<'i, 's> {
    pub(crate) fn new(index: &'i Index<'s>, from: Rc<Definition>) -> Result<Self, StorageError> {
        Ok(Self { index, tokens: index.tokens(&from)?, from, depth: 0, nesting: 0 })
    }

    /// A reader of another definition, one step further; `None` when these were too many.
    fn at(&self, from: &Rc<Definition>) -> Result<Option<Self>, StorageError> {
        if self.depth >= DEEPEST {
            return Ok(None);
        }
        let (tokens, depth) = (self.index.tokens(from)?, self.depth + 1);
        Ok(Some(Self { from: Rc::clone(from), tokens, depth, ..self.clone() }))
    }

    /// The value of the expression that begins at a token and ends before `end`.
    pub(crate) fn expression(&self, mut at: usize, end: usize) -> Result<Value, StorageError> {
        if self.nesting > DEEPEST_NESTING || !self.index.may_read_expression() {
            return Ok(Value::Unknown);
        }
        let tokens = &self.tokens;
        while matches!(tokens.at(at), "await" | "&" | "*" | "yield" | "go" | "mut") && at < end {
            at += 1;
        }
        let (mut value, mut next) = self.first(at, end)?;
        for _ in 0..MOST_STEPS {
            if next >= end {
                break;
            }
            match tokens.at(next) {
                "." | "?." | "->" | "::" | "?->" | "&." | "\\" if tokens.at(next + 1) == "(" => {
                    // Go: x.(T)
                    value = self.written(next + 2);
                    next = tokens.closer(next + 1).map_or(end, |closer| closer + 1);
                }
                "." | "?." | "->" | "::" | "?->" | "&." | "\\" if tokens.is_name(next + 1) => {
                    value = self.member(value, tokens.at(next + 1))?;
                    next += 2;
                }
                "?." if tokens.at(next + 1) == "[" => next += 1,
                "(" => {
                    value = self.call(value)?;
                    next = tokens.closer(next).map_or(end, |closer| closer + 1);
                }
                "[" => {
                    let closer = tokens.closer(next).unwrap_or(end);
                    let is_generic = matches!(value, Value::Types(..) | Value::Functions(..));
                    value = if is_generic { value } else { self.element(value)? };
                    next = closer + 1;
                }
                "<" if arguments_open(tokens, next - 1).is_some() => {
                    next = angle_closer(tokens, next).map_or(end, |closer| closer + 1);
                }
                "{" if matches!(value, Value::Types(..)) => {
                    value = self.call(value)?;
                    next = tokens.closer(next).map_or(end, |closer| closer + 1);
                }
                "!" | "?" | "!!" if matches!(tokens.at(next + 1), "." | "?." | ")" | ";" | "[" | "" | ",") => next += 1,
                _ => break,
            }
        }
        if tokens.at(next) == "as" && next < end {
            return Ok(self.written(next + 1));
        }
        if let Some(either) = self.choice(&value, next, end)? {
            return Ok(either);
        }
        let is_operand = next < end && matches!(tokens.at(next), "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">");
        Ok(if is_operand && !tokens.is_first(next) { Value::External } else { value })
    }

    /// The value of an expression inside another one.
    pub(super) fn inner(&self, at: usize, end: usize) -> Result<Value, StorageError> {
        Self { nesting: self.nesting + 1, ..self.clone() }.expression(at, end)
    }

    /// An object of the type that is written at a token.
    fn written(&self, at: usize) -> Value {
        let found = type_name::read(&self.tokens, at);
        found.map_or(Value::Unknown, |(name, _)| Value::Instance(name, Rc::clone(&self.from)))
    }

    /// The value of the first operand, and the place behind it.
    fn first(&self, at: usize, end: usize) -> Result<(Value, usize), StorageError> {
        let tokens = &self.tokens;
        let syntax = self.from.syntax;
        let word = tokens.at(at);
        if matches!(tokens.kind(at), Some(TokenKind::String | TokenKind::Number)) {
            return Ok((Value::External, at + 1));
        }
        if word == "new" {
            let Some((name, next)) = type_name::read(tokens, at + 1) else { return Ok((Value::Unknown, end)) };
            let next = if tokens.at(next) == "(" { tokens.closer(next).map_or(end, |closer| closer + 1) } else { next };
            return Ok((Value::Instance(name, Rc::clone(&self.from)), next));
        }
        if word == "(" {
            let closer = tokens.closer(at).unwrap_or(end);
            if syntax.declarations == Declarations::TypeName
                && let Some((name, next)) = type_name::read(tokens, at + 1)
                && next == closer
                && (tokens.is_name(closer + 1) || tokens.at(closer + 1) == "(")
            {
                return Ok((Value::Instance(name, Rc::clone(&self.from)), end));
            }
            return Ok((self.inner(at + 1, closer)?, closer + 1));
        }
        if word == "[" && syntax.declarations == Declarations::NameType {
            return Ok((self.written(at), end));
        }
        if !tokens.is_name(at) {
            return Ok((Value::Unknown, at + 1));
        }
        let own = scope::enclosing_type(self.index, &self.from)?;
        if syntax.base.contains(&word) {
            let next =
                if tokens.at(at + 1) == "(" { tokens.closer(at + 1).map_or(end, |closer| closer + 1) } else { at + 1 };
            let Some(own) = own else { return Ok((Value::Unknown, next)) };
            let bases = scope::bases(self.index, &own)?;
            let value = match bases.types.is_empty() {
                false => Value::Objects(bases.types.to_vec()),
                true if bases.is_complete => Value::Unknown,
                true => Value::External,
            };
            return Ok((value, next));
        }
        if syntax.own.contains(&word)
            && let Some(own) = own
        {
            let is_type = matches!(word, "cls" | "Self" | "static");
            let value = if is_type { Value::Types(vec![own], Reason::Scope) } else { Value::Objects(vec![own]) };
            return Ok((value, at + 1));
        }
        Ok((self.name(word)?, at + 1))
    }

    /// What a bare name is.
    pub(crate) fn name(&self, name: &str) -> Result<Value, StorageError> {
        if let Some(value) = self.local(name)? {
            return Ok(value);
        }
        if self.from.syntax.implicit_members
            && let Some(own) = scope::enclosing_type(self.index, &self.from)?
            && let Some(value) = self.field(&own, name)?
        {
            return Ok(value);
        }
        match scope::lookup(self.index, name, &self.from, Wanted::Callable)? {
            Meaning::Variable(path, name) => self.variable(&path, &name),
            Meaning::External | Meaning::Unknown => match self.package_variable(name)? {
                Value::Unknown => {
                    let imported = imports::imported(self.index, name, &self.from, &mut ExportSearch::default())?;
                    // A variable of a package that no declaration shows is not known to be external.
                    Ok(if matches!(imported, Meaning::External) { Value::External } else { Value::Unknown })
                }
                value => Ok(value),
            },
            meaning => Ok(Value::of(meaning)),
        }
    }

    /// What a variable or parameter is; `None` if the definition and the functions around it declare none of this name.
    pub(crate) fn local(&self, name: &str) -> Result<Option<Value>, StorageError> {
        let mut reader = self.clone();
        while !reader.from.is_module {
            if !reader.from.is_type()
                && let Some(declared) = declarations::declared(&reader.tokens, name, Place::Local, self.from.syntax)
            {
                return reader.declared(declared).map(Some);
            }
            let Some(parent) = self.index.parent(&reader.from)?.filter(|parent| parent.is_function()) else { break };
            let Some(next) = reader.at(&parent)? else { break };
            reader = next;
        }
        Ok(None)
    }

    /// What a variable at the top of a file is.
    fn variable(&self, path: &str, name: &str) -> Result<Value, StorageError> {
        let file = self.index.file(path)?;
        for module in file.definitions.iter().filter(|definition| definition.is_module) {
            let Some(reader) = self.at(module)? else { break };
            match declarations::declared(&reader.tokens, name, Place::Local, module.syntax) {
                Some(declared) => return reader.declared(declared),
                None => continue,
            }
        }
        Ok(Value::Unknown)
    }

    /// The same for a variable of the own file, or of the own package in Go.
    fn package_variable(&self, name: &str) -> Result<Value, StorageError> {
        match self.variable(&self.from.path, name)? {
            Value::Unknown if self.from.syntax.imports == Imports::Go => {}
            value => return Ok(value),
        }
        let defining = self.index.defining(name)?;
        let near = defining.iter().filter(|other| other.directory() == self.from.directory() && other.is_module);
        for module in near {
            match self.variable(&module.path, name)? {
                Value::Unknown => {}
                value => return Ok(value),
            }
        }
        Ok(Value::Unknown)
    }

    /// The value of a declared name.
    fn declared(&self, declared: Declared) -> Result<Value, StorageError> {
        if self.depth >= DEEPEST {
            return Ok(Value::Unknown);
        }
        let deeper = Self { depth: self.depth + 1, nesting: self.nesting + 1, ..self.clone() };
        let end = self.tokens.len();
        match declared {
            Declared::Type(name) => Ok(Value::Instance(name, Rc::clone(&self.from))),
            Declared::Value(at, position) => Ok(match deeper.expression(at, end)? {
                Value::Results(types, from) => {
                    types.get(position).map_or(Value::Unknown, |name| Value::Instance(name.clone(), Rc::clone(&from)))
                }
                _ if position > 0 => Value::Unknown,
                value => value,
            }),
            Declared::Element(at) => {
                let value = deeper.expression(at, end)?;
                deeper.element(value)
            }
            Declared::Member(at, member) => {
                let value = deeper.expression(at, end)?;
                deeper.member(value, &member)
            }
            Declared::Untyped => Ok(Value::Unknown),
        }
    }

    /// The types of an object or of a type; `None` if they are not known, and nothing if they are outside of the repository.
    pub(crate) fn types(&self, value: &Value) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
        match value {
            Value::Objects(types) | Value::Types(types, _) => Ok(Some(types.clone())),
            Value::External => Ok(Some(Vec::new())),
            Value::Instance(name, from) => self.types_named(name, from),
            Value::Results(names, from) => match names.as_slice() {
                [first, ..] => self.types_named(first, from),
                [] => Ok(None),
            },
            Value::Functions(..) | Value::Module(..) | Value::Unknown => Ok(None),
        }
    }

    fn types_named(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
        if let ([own], Some(of)) = (name.path.as_slice(), scope::enclosing_type(self.index, from)?)
            && (from.syntax.own.contains(&own.as_str()) || own == "Self")
        {
            return Ok(Some(vec![of]));
        }
        match scope::types_of_path(self.index, &name.path, from)? {
            Meaning::Definitions(types, _) => Ok(Some(types)),
            Meaning::External | Meaning::Unknown | Meaning::Variable(..) | Meaning::Module(..) => {
                let is_transparent = name.path.last().is_some_and(|last| TRANSPARENT.contains(&last.as_str()));
                match name.arguments.first().filter(|_| is_transparent && self.depth < DEEPEST) {
                    Some(argument) => {
                        let deeper = Self { depth: self.depth + 1, ..self.clone() };
                        deeper.types_named(argument, from)
                    }
                    None if is_variable(name) => Ok(None),
                    None => Ok(Some(Vec::new())),
                }
            }
        }
    }

    /// A member of a value.
    pub(crate) fn member(&self, value: Value, name: &str) -> Result<Value, StorageError> {
        if let Value::Module(module, from) = &value {
            return Ok(match imports::of_module(self.index, module, name, from, &mut ExportSearch::default())? {
                Meaning::Variable(path, name) => self.variable(&path, &name)?,
                meaning => Value::of(meaning),
            });
        }
        let Some(types) = self.types(&value)? else { return Ok(Value::Unknown) };
        if self.from.syntax.own.contains(&name) && matches!(value, Value::Types(..)) {
            return Ok(Value::Objects(types));
        }
        if types.is_empty() {
            return Ok(Value::External);
        }
        let (mut found, mut reason, mut is_external) = (Vec::new(), Reason::Receiver, false);
        for of in &types {
            let members = scope::member(self.index, of, name)?;
            is_external |= members.has_external_base;
            if members.inherited {
                reason = Reason::Inherited;
            }
            found.extend(members.found);
        }
        if !found.is_empty() {
            let is_own = matches!(&value, Value::Objects(_)) && reason == Reason::Receiver;
            let own = scope::enclosing_type(self.index, &self.from)?;
            let is_own = is_own && own.is_some_and(|own| types.iter().any(|of| of.id == own.id));
            return Ok(Value::of_definitions(found, if is_own { Reason::Scope } else { reason }));
        }
        let mut holders = Vec::new();
        for of in &types {
            if let Some(value) = self.field(of, name)? {
                return Ok(value);
            }
            for of in scope::lineage(self.index, of)? {
                if self.index.inner_names(of.id)?.iter().any(|inner| inner == name) {
                    holders.push(of);
                }
            }
        }
        if !holders.is_empty() {
            return Ok(Value::Functions(holders, Reason::Receiver));
        }
        // In a type whose bases are all known, what is not found is not defined in the repository either.
        Ok(if is_external { Value::External } else { Value::Unknown })
    }

    /// A field of a type or of its bases.
    fn field(&self, of: &Rc<Definition>, name: &str) -> Result<Option<Value>, StorageError> {
        for of in &scope::lineage(self.index, of)? {
            let Some(reader) = self.at(of)? else { break };
            let declared = declarations::declared(&reader.tokens, name, Place::Field, of.syntax);
            if let Some(declared) = declared.filter(|declared| *declared != Declared::Untyped) {
                return reader.declared(declared).map(Some);
            }
            let mut untyped = false;
            for constructor in of.syntax.constructors {
                for constructor in scope::own_members(self.index, of, constructor)? {
                    let Some(reader) = self.at(&constructor)? else { break };
                    if let Some(declared) = declarations::assigned(&reader.tokens, name, of.syntax) {
                        match reader.declared(declared)? {
                            Value::Unknown => untyped = true,
                            value => return Ok(Some(value)),
                        }
                    }
                }
            }
            if untyped {
                return Ok(Some(Value::Unknown));
            }
        }
        Ok(None)
    }

    /// The result of a call.
    fn call(&self, value: Value) -> Result<Value, StorageError> {
        Ok(match value {
            Value::Types(types, _) => Value::Objects(types),
            Value::Functions(functions, _) => self.result(&functions)?,
            Value::Module(module, from) => match self.default_of(&module, &from)? {
                Value::Module(..) => Value::Unknown,
                value => self.call(value)?,
            },
            Value::External => Value::External,
            Value::Instance(..) | Value::Results(..) | Value::Objects(_) | Value::Unknown => Value::Unknown,
        })
    }

    /// The default export of a module.
    pub(super) fn default_of(&self, module: &str, from: &Rc<Definition>) -> Result<Value, StorageError> {
        let mut search = ExportSearch::default();
        Ok(Value::of(imports::of_module(self.index, module, "default", from, &mut search)?))
    }

    fn result(&self, functions: &[Rc<Definition>]) -> Result<Value, StorageError> {
        for function in functions {
            let Some(text) = self.index.snapshot.text(function.id)? else { continue };
            let Some(read) = signature::read(&text.signature, &function.name, function.syntax) else { continue };
            return Ok(match read.results.as_slice() {
                [] => Value::Unknown,
                [one] => Value::Instance(one.clone(), Rc::clone(function)),
                _ => Value::Results(read.results, Rc::clone(function)),
            });
        }
        Ok(Value::Unknown)
    }

    /// An element of a value.
    fn element(&self, value: Value) -> Result<Value, StorageError> {
        Ok(match value {
            Value::Instance(name, from) => match name.arguments.last() {
                Some(element) => Value::Instance(element.clone(), from),
                None => Value::Unknown,
            },
            Value::External => Value::External,
            _ => Value::Unknown,
        })
    }
}

/// Whether a type is likely a parameter of a generic definition: `T`, `K2`.
fn is_variable(name: &TypeName) -> bool {
    match name.path.as_slice() {
        [one] => one.len() <= 2 && one.starts_with(char::is_uppercase),
        _ => false,
    }
}
