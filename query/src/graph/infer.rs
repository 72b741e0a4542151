//! The type of an expression, as far as declarations, constructors and signatures tell.

use std::rc::Rc;

use aurora_storage::{ChunkType, StorageError};

use super::call_sites::arguments_open;
use super::declarations::{self, Declared, Place};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Index, scope_around};
use super::meaning::{Meaning, Wanted};
use super::reason::Reason;
use super::scope;
use super::signature;
use super::syntax::{Declarations, Imports, Names, Syntax};
use super::tokens::{TokenKind, Tokens};
use super::type_name::{self, TypeName, angle_closer};

/// Maximum number of declarations, results and members that are followed for one expression.
const MAX_INFERENCE_DEPTH: u32 = 12;
/// Maximum nesting of expressions.
const MAX_NESTING: u32 = 64;
/// Maximum number of names, calls and indexes of one expression.
const MAX_STEPS: usize = 64;
/// Maximum number of names in a path of namespaces and types.
const MAX_PATH_NAMES: usize = 12;
/// Wrapper types whose missing members are looked up in their type argument.
const TRANSPARENT: [&str; 39] = [
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
    "unique_ptr",
    "shared_ptr",
    "weak_ptr",
    "optional",
    "reference_wrapper",
    "Task",
    "ValueTask",
    "Lazy",
    "Nullable",
    "RefCell",
    "Mutex",
    "RwLock",
    "Cow",
    "Pin",
    "ManuallyDrop",
    "LazyLock",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Ref",
    "RefMut",
];
/// Members of external types that return the receiver or the value that it wraps.
const PASSED_ON: [&str; 36] = [
    "clone",
    "cloned",
    "copied",
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "to_owned",
    "borrow",
    "borrow_mut",
    "lock",
    "read",
    "write",
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
    "ok",
    "ok_or",
    "ok_or_else",
    "iter",
    "iter_mut",
    "into_iter",
    "filter",
    "reverse",
    "rev",
    "skip",
    "slice",
    "sorted",
    "stream",
    "take",
    "OrderBy",
    "ToArray",
    "ToList",
    "Where",
];
/// Members of external collections that return an element.
const ELEMENTS: [&str; 16] = [
    "get",
    "get_mut",
    "first",
    "last",
    "pop",
    "next",
    "front",
    "back",
    "at",
    "peek",
    "poll",
    "find",
    "First",
    "Last",
    "Single",
    "FirstOrDefault",
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
    /// A table or object in a file, with the owner of its members.
    Holder(Rc<str>, String),
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
        // A function and a namespace may share a name.
        let types =
            if functions.is_empty() { types } else { types.into_iter().filter(|of| !of.is_namespace()).collect() };
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
        if self.depth >= MAX_INFERENCE_DEPTH {
            return Ok(None);
        }
        let (tokens, depth) = (self.index.tokens(from)?, self.depth + 1);
        Ok(Some(Self { from: Rc::clone(from), tokens, depth, ..self.clone() }))
    }

    /// The value of the expression that begins at a token and ends before `end`.
    pub(crate) fn expression(&self, mut at: usize, end: usize) -> Result<Value, StorageError> {
        if self.nesting > MAX_NESTING || !self.index.may_read_expression() {
            return Ok(Value::Unknown);
        }
        let tokens = &self.tokens;
        while matches!(tokens.at(at), "await" | "&" | "*" | "yield" | "go" | "mut") && at < end {
            at += 1;
        }
        let (value, mut next) = self.first(at, end)?;
        let mut value = self.named_value(value, next)?;
        for _ in 0..MAX_STEPS {
            if next >= end {
                break;
            }
            match tokens.at(next) {
                _ if tokens.is_separator(next) && tokens.at(next + 1) == "(" => {
                    // Go: x.(T)
                    value = self.written(next + 2);
                    next = tokens.closer(next + 1).map_or(end, |closer| closer + 1);
                }
                _ if tokens.is_separator(next) && self.is_member(next + 1) => {
                    let name = tokens.at(next + 1);
                    next += 2;
                    let held = match self.constructed(&value, name) {
                        Some(made) => Some(made),
                        None => self.passed_on(&value, name)?,
                    };
                    if let Some(held) = held {
                        value = held;
                        next = call_end(tokens, next);
                        continue;
                    }
                    let receiver = value.clone();
                    value = self.named_value(self.member(value, name)?, next)?;
                    if let Value::Functions(functions, _) = &value
                        && let Some(open) = arguments_open(tokens, next - 1)
                        && self.returns_receiver(functions)?
                    {
                        value = receiver;
                        next = tokens.closer(open).map_or(end, |closer| closer + 1);
                        continue;
                    }
                    if self.from.syntax.bare_calls && matches!(value, Value::Functions(..)) && tokens.at(next) != "(" {
                        value = self.call(value)?;
                    }
                }
                "?." if tokens.at(next + 1) == "[" => next += 1,
                "(" => {
                    value = self.call(value)?;
                    next = tokens.closer(next).map_or(end, |closer| closer + 1);
                }
                // Ruby: `Type.new [1]` has an argument.
                "[" if self.from.syntax.names == Names::Ruby && !tokens.is_glued(next) => break,
                "[" => {
                    let closer = tokens.closer(next).unwrap_or(end);
                    let is_generic = matches!(value, Value::Types(..) | Value::Functions(..));
                    value = if is_generic { value } else { self.element(value)? };
                    next = closer + 1;
                }
                "<" if arguments_open(tokens, next - 1).is_some() => {
                    let function = tokens.before(next);
                    // C#: services.GetService<T>()
                    let is_external = self.from.syntax.generic_arity
                        && !matches!(value, Value::Types(..))
                        && type_name::argument_count(tokens, next) == 1;
                    let makes = function.starts_with("make_") || function.ends_with("_cast") || is_external;
                    let made = type_name::read(tokens, next + 1).filter(|_| makes);
                    next = angle_closer(tokens, next).map_or(end, |closer| closer + 1);
                    // C++: std::make_unique<T>(…), static_cast<T>(…)
                    if let Some((name, _)) = made.filter(|_| !matches!(value, Value::Functions(..))) {
                        value = Value::Instance(name, Rc::clone(&self.from));
                        next = call_end(tokens, next);
                    }
                }
                // C#: Type<T>.Member
                "<" if matches!(value, Value::Types(..))
                    && let Some(closer) = angle_closer(tokens, next)
                    && tokens.is_separator(closer + 1) =>
                {
                    next = closer + 1;
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

    /// Returns what a name before the token `next` is, which may have type arguments, or be a property.
    fn named_value(&self, value: Value, next: usize) -> Result<Value, StorageError> {
        let Some(name) = next.checked_sub(1) else { return Ok(value) };
        let value = self.of_type_arguments(value, name)?;
        match &value {
            Value::Functions(found, _) if arguments_open(&self.tokens, name).is_none() => {
                Ok(self.property(found)?.unwrap_or(value))
            }
            _ => Ok(value),
        }
    }

    /// Keeps the types or functions that have as many type parameters as there are type arguments behind a name.
    pub(super) fn of_type_arguments(&self, value: Value, name: usize) -> Result<Value, StorageError> {
        let count = type_name::argument_count(&self.tokens, name + 1);
        Ok(match value {
            Value::Types(types, reason) => Value::Types(self.index.with_type_parameters(types, count)?, reason),
            Value::Functions(functions, reason) if count > 0 => {
                Value::Functions(self.index.with_type_parameters(functions, count)?, reason)
            }
            value => value,
        })
    }

    /// Returns the value of a property, which is defined as a function and read without parentheses.
    fn property(&self, found: &[Rc<Definition>]) -> Result<Option<Value>, StorageError> {
        let [of, ..] = found else { return Ok(None) };
        let Some(text) = self.index.snapshot.text(of.id)? else { return Ok(None) };
        let result = match signature::read(&text.signature, &of.name, of.syntax) {
            None => signature::property_type(&text.signature, &of.name, of.syntax),
            Some(read) => {
                let tokens = self.index.tokens(of)?;
                let is_getter = tokens.places(&of.name).next().is_some_and(|at| tokens.before(at) == "get");
                let is_decorated = ["property", "cached_property"]
                    .iter()
                    .any(|decorator| tokens.places(decorator).any(|at| tokens.before(at) == "@"));
                if is_getter || is_decorated { read.results.into_iter().next() } else { None }
            }
        };
        Ok(result.map(|name| Value::Instance(name, Rc::clone(of))))
    }

    /// Whether a token can name a member. Items of tuples have numbers in Rust.
    fn is_member(&self, at: usize) -> bool {
        let has_numbers = self.from.syntax.imports == Imports::Rust;
        self.tokens.is_name(at) || (has_numbers && self.tokens.kind(at) == Some(TokenKind::Number))
    }

    /// The value of an expression inside another one.
    pub(super) fn inner(&self, at: usize, end: usize) -> Result<Value, StorageError> {
        Self { nesting: self.nesting + 1, ..self.clone() }.expression(at, end)
    }

    /// Returns the object that a type's constructing member creates, if `name` is that member.
    fn constructed(&self, value: &Value, name: &str) -> Option<Value> {
        if self.from.syntax.maker != Some(name) {
            return None;
        }
        match value {
            Value::Types(types, _) => Some(Value::Objects(types.clone())),
            Value::Module(..) | Value::Holder(..) => Some(value.clone()),
            _ => None,
        }
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
        let is_string = |at: usize| tokens.kind(at) == Some(TokenKind::String);
        // With a prefix: f"…", @"…"
        let has_prefix = is_string(at + 1) && tokens.is_glued(at + 1) && (word.len() <= 2 || word == "$");
        if is_string(at) || has_prefix || tokens.kind(at) == Some(TokenKind::Number) {
            let is_number = tokens.kind(at) == Some(TokenKind::Number);
            let value = match syntax.string.filter(|_| !is_number) {
                Some(name) => Value::Instance(TypeName::from_name(name), Rc::clone(&self.from)),
                None => Value::External,
            };
            return Ok((value, at + 1 + usize::from(has_prefix)));
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
        // Objective-C: [object message]
        if word == "[" && !syntax.languages.contains(&"objc") {
            return Ok((Value::External, tokens.closer(at).map_or(end, |closer| closer + 1)));
        }
        if word == "<" && syntax.imports == Imports::Rust {
            return self.qualified_self(at, end);
        }
        if !tokens.is_name(at) {
            return Ok((Value::Unknown, at + 1));
        }
        if let Some(module) = self.required(at) {
            let closer = tokens.closer(at + 1).unwrap_or(at + 1);
            return Ok((module, if tokens.at(at + 1) == "(" { closer + 1 } else { at + 2 }));
        }
        if syntax.imports == Imports::Ecma {
            let is_module = word == "module" && tokens.at(at + 1) == "." && tokens.at(at + 2) == "exports";
            let behind = at + if is_module { 3 } else { 1 };
            if is_module || word == "exports" {
                let file = self.from.path.rsplit('/').next().unwrap_or_default();
                return Ok((Value::Module(format!("./{file}"), Rc::clone(&self.from)), behind));
            }
        }
        if syntax.imports == Imports::Modules && (word.starts_with(char::is_uppercase) || tokens.at(at + 1) == "::") {
            let (mut path, mut next) = (vec![word.to_owned()], at + 1);
            let joins = |at: usize| match tokens.at(at) {
                "::" => true,
                "." => tokens.at(at + 1).starts_with(char::is_uppercase),
                _ => false,
            };
            while joins(next) && tokens.is_name(next + 1) && next + 1 < end && path.len() < MAX_STEPS {
                path.push(tokens.at(next + 1).to_owned());
                next += 2;
            }
            return Ok((Value::of(scope::module(self.index, &path, &self.from)?), next));
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
            let is_type = syntax.is_own_type(word) || (syntax.names == Names::Ruby && self.is_singleton());
            let value = if is_type { Value::Types(vec![own], Reason::Scope) } else { Value::Objects(vec![own]) };
            return Ok((value, at + 1));
        }
        if syntax.own.contains(&word)
            && let Some(holder) = self.holder()?
        {
            return Ok((holder, at + 1));
        }
        if let Some(value) = self.local(word, at)? {
            return Ok((value, at + 1));
        }
        let is_path = matches!(tokens.at(at + 1), "::" | "\\");
        if is_path && syntax.imports == Imports::Rust && matches!(word, "crate" | "self" | "super") {
            return Ok((Value::Module(word.to_owned(), Rc::clone(&self.from)), at + 1));
        }
        match self.outer_name(word)? {
            Value::Unknown => {}
            value => return Ok((value, at + 1)),
        }
        if let Some(found) = self.path(at, end)? {
            return Ok(found);
        }
        if is_path && (syntax.namespaces || syntax.imports == Imports::Rust) {
            return Ok((Value::Module(word.to_owned(), Rc::clone(&self.from)), at + 1));
        }
        Ok((if self.is_outside(at)? { Value::External } else { Value::Unknown }, at + 1))
    }

    /// Resolves the type in `<Type as Trait>::member`, or the trait if the type is not in the repository.
    fn qualified_self(&self, at: usize, end: usize) -> Result<(Value, usize), StorageError> {
        let tokens = &self.tokens;
        let next = angle_closer(tokens, at).map_or(end, |closer| closer + 1);
        let Some((of, behind)) = type_name::read(tokens, at + 1) else { return Ok((Value::External, next)) };
        let mut types = self.types_named(&of, &self.from)?.unwrap_or_default();
        if types.is_empty()
            && tokens.at(behind) == "as"
            && let Some((of, _)) = type_name::read(tokens, behind + 1)
        {
            types = self.types_named(&of, &self.from)?.unwrap_or_default();
        }
        Ok((if types.is_empty() { Value::External } else { Value::Types(types, Reason::Receiver) }, next))
    }

    /// Resolves a type with its namespaces or package. Returns it with the position after the path.
    pub(crate) fn path(&self, at: usize, end: usize) -> Result<Option<(Value, usize)>, StorageError> {
        let tokens = &self.tokens;
        let syntax = self.from.syntax;
        if !(syntax.namespaces || syntax.imports == Imports::Package) {
            return Ok(None);
        }
        let mut names = vec![tokens.at(at).to_owned()];
        let mut next = at + 1;
        while next + 1 < end && tokens.is_separator(next) && tokens.is_name(next + 1) && names.len() < MAX_PATH_NAMES {
            names.push(tokens.at(next + 1).to_owned());
            next += 2;
        }
        while names.len() > 1 {
            if let Meaning::Definitions(types, reason) = scope::types_of_path(self.index, &names, &self.from)? {
                return Ok(Some((Value::of_definitions(types, reason), at + 2 * names.len() - 1)));
            }
            names.pop();
        }
        Ok(None)
    }

    /// Whether the name at `at` can only mean an external type, function or module: it is not a variable, and the
    /// repository does not define it.
    fn is_outside(&self, at: usize) -> Result<bool, StorageError> {
        let (tokens, syntax) = (&self.tokens, self.from.syntax);
        let word = tokens.at(at);
        if syntax.builtins.contains(&word) {
            return Ok(true);
        }
        let is_type = word.starts_with(char::is_uppercase) && (word.len() > 2 || syntax.names == Names::Ruby);
        let is_outer = is_type || matches!(tokens.at(at + 1), "::" | "\\") || arguments_open(tokens, at).is_some();
        Ok(syntax.is_known() && is_outer && !self.index.is_defined(word, syntax.group)?)
    }

    /// Returns the module in a call of `require` or `import` with a literal: `require("a").f()`.
    fn required(&self, at: usize) -> Option<Value> {
        let tokens = &self.tokens;
        let is_call = match self.from.syntax.imports {
            Imports::Ecma => matches!(tokens.at(at), "require" | "import") && tokens.at(at + 1) == "(",
            Imports::Lua => tokens.at(at) == "require",
            _ => false,
        };
        let literal = if tokens.at(at + 1) == "(" { at + 2 } else { at + 1 };
        let is_literal = is_call && tokens.kind(literal) == Some(TokenKind::String);
        let path = tokens.at(literal).trim_matches(['"', '\'', '`']);
        is_literal.then(|| Value::Module(path.to_owned(), Rc::clone(&self.from)))
    }

    /// Whether the definition is a singleton method: `def self.name`.
    fn is_singleton(&self) -> bool {
        let tokens = &self.tokens;
        tokens
            .places(&self.from.name)
            .next()
            .is_some_and(|at| at >= 2 && tokens.before(at) == "." && tokens.at(at - 2) == "self")
    }

    /// Returns the table or object that contains the definition, in languages where it need not be a type.
    fn holder(&self) -> Result<Option<Value>, StorageError> {
        if !matches!(self.from.syntax.imports, Imports::Ecma | Imports::Lua) {
            return Ok(None);
        }
        let file = self.index.file(&self.from.path)?;
        let is_function = |scope: &str| {
            let name = scope.rsplit('.').next().unwrap_or(scope);
            file.named(name).any(|other| other.qualified_name == scope && other.kind == ChunkType::Method)
        };
        let mut owner = self.from.owner();
        // A function inside a method has the owner of the method.
        while is_function(owner) {
            owner = scope_around(owner);
        }
        let is_object = !owner.is_empty() || self.from.kind == ChunkType::Method;
        Ok(is_object.then(|| Value::Holder(Rc::clone(&self.from.path), owner.to_owned())))
    }

    /// What a bare name is.
    pub(crate) fn name(&self, name: &str) -> Result<Value, StorageError> {
        match self.local(name, usize::MAX)? {
            Some(value) => Ok(value),
            None => self.outer_name(name),
        }
    }

    /// Returns the value of a name that is not a local variable.
    fn outer_name(&self, name: &str) -> Result<Value, StorageError> {
        let mut own = match self.from.syntax.implicit_members {
            true => scope::enclosing_type(self.index, &self.from)?,
            false => None,
        };
        while let Some(of) = own {
            if let Some(value) = self.field(&of, name)? {
                return Ok(value);
            }
            own = match scope_around(&of.qualified_name) {
                "" => None,
                around => scope::type_named(self.index, around, &of)?,
            };
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

    /// Returns the value of a variable or parameter that the token at `at` uses; `None` if neither the definition nor the functions
    /// around it declare the name.
    pub(crate) fn local(&self, name: &str, at: usize) -> Result<Option<Value>, StorageError> {
        let (mut reader, mut at) = (self.clone(), at);
        while !reader.from.is_module {
            if !reader.from.is_type()
                && let Some(declared) =
                    declarations::declared_at(&reader.tokens, name, at, Place::Local, self.from.syntax)
            {
                match reader.declared(declared)? {
                    Value::Unknown => {}
                    value => return Ok(Some(value)),
                }
                return Ok(Some(reader.lambda_parameter(name, at)?.unwrap_or(Value::Unknown)));
            }
            if let Some(value) = reader.lambda_parameter(name, at)? {
                return Ok(Some(value));
            }
            let Some(parent) = self.index.parent(&reader.from)?.filter(|parent| parent.is_function()) else { break };
            let Some(next) = reader.at(&parent)? else { break };
            (reader, at) = (next, usize::MAX);
        }
        Ok(None)
    }

    /// What a variable at the top of a file is.
    fn variable(&self, path: &str, name: &str) -> Result<Value, StorageError> {
        let file = self.index.file(path)?;
        if matches!(self.from.syntax.imports, Imports::Ecma | Imports::Lua) && file.has_members(name) {
            return Ok(Value::Holder(path.into(), name.to_owned()));
        }
        if name == "default" || name.starts_with("default ") {
            return self.default_variable(path);
        }
        for module in file.definitions.iter().filter(|definition| definition.is_module) {
            let Some(reader) = self.at(module)? else { break };
            match declarations::declared(&reader.tokens, name, Place::Local, module.syntax) {
                Some(declared) => return reader.declared(declared),
                None => continue,
            }
        }
        Ok(Value::Unknown)
    }

    /// Returns the value that a module of JavaScript exports as its default: `export default { f() {} }`, `export default
    /// new Type()`, `export default variable`.
    fn default_variable(&self, path: &str) -> Result<Value, StorageError> {
        if self.from.syntax.imports != Imports::Ecma {
            return Ok(Value::Unknown);
        }
        let aliases = imports::aliases(self.index, path)?;
        if let Some(alias) = aliases.iter().find(|alias| alias.exported == "default" && alias.local != "default") {
            match self.variable(path, &alias.local)? {
                Value::Unknown => {}
                value => return Ok(value),
            }
        }
        let file = self.index.file(path)?;
        for module in file.definitions.iter().filter(|definition| definition.is_module) {
            let Some(reader) = self.at(module)? else { break };
            let tokens = &reader.tokens;
            let exported = tokens.places("default").find(|at| tokens.before(*at) == "export").map(|at| at + 1);
            match exported.map(|at| (at, tokens.at(at))) {
                Some((_, "{")) => return Ok(Value::Holder(path.into(), String::new())),
                Some((at, "new")) => return reader.declared(Declared::Value(at, 0)),
                _ => {}
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
        if self.depth >= MAX_INFERENCE_DEPTH {
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
            Declared::Item(variant, index) => deeper.item(variant, index),
            Declared::Untyped => Ok(Value::Unknown),
        }
    }

    /// Returns the item at an index of the variant that a path names.
    fn item(&self, variant: usize, index: usize) -> Result<Value, StorageError> {
        let mut start = variant;
        while start >= 2 && self.tokens.is_separator(start - 1) && self.tokens.is_name(start - 2) {
            start -= 2;
        }
        let path: Vec<String> = (start..variant).step_by(2).map(|at| self.tokens.at(at).to_owned()).collect();
        let of = TypeName { path, arguments: Vec::new() };
        for of in self.types_named(&of, &self.from)?.unwrap_or_default() {
            let tokens = self.index.tokens(&of)?;
            if let Some(item) = declarations::item_type(&tokens, self.tokens.at(variant), index) {
                return Ok(Value::Instance(item, of));
            }
        }
        Ok(Value::Unknown)
    }

    /// The types of an object or of a type; `None` if they are not known, and nothing if they are outside of the
    /// repository.
    pub(crate) fn types(&self, value: &Value) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
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

    fn types_named(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
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

    /// Returns the types inside the type that an alias refers to: `typedef Map<A> Map; Map::Entry`.
    fn nested(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
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
    fn bounds(&self, name: &TypeName, from: &Rc<Definition>) -> Result<Option<Vec<Rc<Definition>>>, StorageError> {
        let [name] = name.path.as_slice() else { return Ok(None) };
        let mut around = Some(Rc::clone(from));
        while let Some(at) = around {
            let Some(reader) = self.at(&at)? else { break };
            let tokens = &reader.tokens;
            // Unlike the key of an object or the label of a case, a parameter is in a list or a `where` clause.
            let is_bound = |at: &usize| {
                matches!(tokens.at(at + 1), ":" | "extends")
                    && matches!(tokens.before(*at), "<" | "," | "where" | "in" | "out" | "reified")
            };
            let bound = tokens.places(name).find(is_bound);
            if let Some((bound, _)) = bound.and_then(|at| type_name::read(tokens, at + 2)) {
                return reader.types_named(&bound, &at);
            }
            around = self.index.parent(&at)?;
        }
        Ok(None)
    }

    /// Adds the types that type aliases refer to: `using A = B`, `typedef B A`, `type A = B`.
    fn aliased(&self, mut types: Vec<Rc<Definition>>) -> Result<Vec<Rc<Definition>>, StorageError> {
        for of in types.clone().iter().filter(|of| of.kind == ChunkType::Type) {
            let Some(reader) = self.at(of)?.filter(|_| self.index.may_step()) else { break };
            let tokens = &reader.tokens;
            let start = match tokens.at(0) {
                "typedef" => Some(1),
                _ => tokens.places(&of.name).find(|at| tokens.at(at + 1) == "=").map(|at| at + 2),
            };
            if let Some((name, _)) = start.and_then(|start| type_name::read(tokens, start)) {
                let meant = reader.types_named(&name, of)?.unwrap_or_default();
                types.extend(meant.into_iter().filter(|meant| meant.id != of.id));
            }
        }
        Ok(types)
    }

    /// A member of a value.
    pub(crate) fn member(&self, value: Value, name: &str) -> Result<Value, StorageError> {
        if let Value::Module(module, from) = &value {
            return Ok(match imports::of_module(self.index, module, name, from, &mut ExportSearch::default())? {
                Meaning::Variable(path, name) => self.variable(&path, &name)?,
                meaning => Value::of(meaning),
            });
        }
        if let Some(value) = self.held(&value, name)? {
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
            return Ok(Value::of_definitions(found, if is_own { Reason::Scope } else { reason }));
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
        if let Some((inner, reader)) = self.dereferenced(&value, &types)? {
            return reader.member(inner, name);
        }
        if let Some(extensions) = self.extension(&value, name)? {
            return Ok(extensions);
        }
        // If all members of a type are known, the repository does not define a missing one.
        Ok(if is_external || self.from.syntax.fixed_members { Value::External } else { Value::Unknown })
    }

    /// Returns the target of an object whose type implements `Deref`, and a reader one step further.
    fn dereferenced(&self, value: &Value, types: &[Rc<Definition>]) -> Result<Option<(Value, Self)>, StorageError> {
        for of in types {
            for block in scope::implementations(self.index, of)? {
                let Some(reader) = self.at(&block)? else { return Ok(None) };
                let tokens = &reader.tokens;
                let is_deref = tokens.places("Deref").next().is_some();
                let target = tokens.places("Target").find(|at| tokens.at(at + 1) == "=").filter(|_| is_deref);
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

    /// Returns the result of a member that returns its receiver or an element of it: `list.iter()`, `option.unwrap()`,
    /// `pointer.get()`.
    fn passed_on(&self, value: &Value, name: &str) -> Result<Option<Value>, StorageError> {
        let (is_same, is_element) = (PASSED_ON.contains(&name), ELEMENTS.contains(&name));
        if !(is_same || is_element) || self.held(value, name)?.is_some() {
            return Ok(None);
        }
        for of in self.types(value)?.unwrap_or_default() {
            if !scope::member(self.index, &of, name)?.found.is_empty() || self.field(&of, name)?.is_some() {
                return Ok(None);
            }
        }
        let held = match value {
            Value::Instance(of, _) if is_element && is_transparent(of) => Some(value.clone()),
            Value::Instance(of, _) if is_element && !of.arguments.is_empty() => Some(self.element(value.clone())?),
            Value::Instance(..) | Value::Objects(_) if is_same => Some(value.clone()),
            _ => None,
        };
        Ok(held)
    }

    /// Returns a member of a table, an untyped object or a function; `None` for any other value.
    fn held(&self, value: &Value, name: &str) -> Result<Option<Value>, StorageError> {
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
                match scope::lookup(self.index, &of.path[0], from, Wanted::Callable)? {
                    Meaning::Definitions(found, reason) if found.iter().all(|one| one.is_function()) => {
                        return self.held(&Value::Functions(found, reason), name);
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
        let found: Vec<Rc<Definition>> = file.named(name).filter(is_member).cloned().collect();
        if !found.is_empty() {
            let reason = if path == self.from.path { Reason::Scope } else { Reason::Receiver };
            return Ok(Some(Value::of_definitions(found, reason)));
        }
        let inner = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
        Ok(Some(if file.has_members(&inner) { Value::Holder(path, inner) } else { Value::Unknown }))
    }

    /// A field of a type or of its bases.
    fn field(&self, of: &Rc<Definition>, name: &str) -> Result<Option<Value>, StorageError> {
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
            let Some(reader) = self.at(of)? else { break };
            let declared = declarations::declared(&reader.tokens, &own, Place::Field, of.syntax);
            let mut first = None;
            if let Some(declared) = declared.filter(|declared| *declared != Declared::Untyped) {
                match reader.declared(declared)? {
                    Value::Unknown if has_free_fields(of.syntax) => first = Some(Value::Unknown),
                    value => return Ok(Some(value)),
                }
            }
            for method in self.assigning(of)? {
                let Some(reader) = self.at(&method)?.filter(|_| self.index.may_step()) else { break };
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

    /// The methods of a type that may assign its fields: its constructors, and all others where fields are not declared.
    fn assigning(&self, of: &Rc<Definition>) -> Result<Vec<Rc<Definition>>, StorageError> {
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
            // The text of a short type contains its methods.
            found.extend(file.definitions.iter().filter(is_other).chain([of]).cloned());
        }
        Ok(found)
    }

    /// The result of a call.
    fn call(&self, value: Value) -> Result<Value, StorageError> {
        Ok(match value {
            Value::Types(types, _) => Value::Objects(types),
            Value::Functions(functions, _) => self.result(&functions)?,
            // A path of Rust that the repository does not define: String::from(text)
            Value::Module(_, from) if from.syntax.imports == Imports::Rust => Value::External,
            Value::Module(module, from) => match self.default_of(&module, &from)? {
                Value::Module(..) => Value::Unknown,
                value => self.call(value)?,
            },
            Value::External => Value::External,
            Value::Instance(..) | Value::Results(..) | Value::Objects(_) | Value::Holder(..) | Value::Unknown => {
                Value::Unknown
            }
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

    /// Whether the result of an extension method is its receiver: `TBuilder Add<TBuilder>(this TBuilder builder)`.
    fn returns_receiver(&self, functions: &[Rc<Definition>]) -> Result<bool, StorageError> {
        let [function, ..] = functions else { return Ok(false) };
        if !function.syntax.generic_arity {
            return Ok(false);
        }
        let Some(text) = self.index.snapshot.text(function.id)? else { return Ok(false) };
        let Some(read) = signature::read(&text.signature, &function.name, function.syntax) else { return Ok(false) };
        let is_receiver = |of: &TypeName| {
            read.receiver.as_ref() == Some(of) && read.type_parameters.iter().any(|name| of.mentions(name))
        };
        Ok(read.results.first().is_some_and(is_receiver))
    }

    /// An element of a value.
    pub(super) fn element(&self, value: Value) -> Result<Value, StorageError> {
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

/// Whether any method of a type may give it a field.
fn has_free_fields(syntax: &Syntax) -> bool {
    syntax.declarations == Declarations::Untyped || syntax.imports.are_files()
}

/// Whether a type is a transparent wrapper of its argument.
pub(super) fn is_transparent(name: &TypeName) -> bool {
    name.path.last().is_some_and(|last| TRANSPARENT.contains(&last.as_str()))
}

/// Returns the position after the arguments that begin at `at`, or `at` if no arguments begin there.
fn call_end(tokens: &Tokens, at: usize) -> usize {
    if tokens.at(at) == "(" { tokens.closer(at).map_or(tokens.len(), |closer| closer + 1) } else { at }
}

/// Whether a type is likely a parameter of a generic definition: `T`, `K2`.
pub(super) fn is_variable(name: &TypeName) -> bool {
    match name.path.as_slice() {
        [one] => one.len() <= 2 && one.starts_with(char::is_uppercase),
        _ => false,
    }
}
