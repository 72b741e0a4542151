//! Infers the type of an expression from declarations, constructors and signatures.

use std::rc::Rc;

use aurora_storage::ChunkType;

use super::call_sites::arguments_open;
use super::imports::{self, ExportSearch};
use super::index::{Definition, Definitions, Index, Result, scope_around};
use super::meaning::Meaning;
use super::reason::Reason;
use super::scope;
use super::syntax::{Declarations, Imports, Names};
use super::tokens::{TokenKind, Tokens};
use super::type_name::{self, TypeName, angle_closer};

/// Maximum number of declarations, results and members that are followed for one expression.
pub(super) const MAX_INFERENCE_DEPTH: u32 = 12;
/// Maximum nesting of expressions.
const MAX_NESTING: u32 = 64;
/// Maximum number of names, calls and indexes in one expression.
const MAX_STEPS: usize = 64;
/// Maximum number of names in a path of namespaces and types.
const MAX_PATH_NAMES: usize = 12;

/// The value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// An object of a type that is named in the text of the definition.
    Instance(TypeName, Rc<Definition>),
    /// Several results of types that are named in the text of the definition.
    Results(Vec<TypeName>, Rc<Definition>),
    /// An object whose type is one of the definitions.
    Objects(Definitions),
    /// Types, rather than objects of the types.
    Types(Definitions, Reason),
    /// Functions that are not called yet.
    Functions(Definitions, Reason),
    /// A module, by the name that the file of the definition uses for it.
    Module(String, Rc<Definition>),
    /// A table or object, as the path of its file and the name of the owner of its members.
    Holder(Rc<str>, String),
    /// A value that comes from outside of the repository.
    External,
    /// Unknown.
    Unknown,
}

impl Value {
    /// Returns the value of an element of a collection.
    pub(super) fn element(self) -> Self {
        match self {
            Self::Instance(mut name, from) => {
                name.arguments.pop().map_or(Self::Unknown, |element| Self::Instance(element, from))
            }
            Self::External => Self::External,
            _ => Self::Unknown,
        }
    }

    pub(super) fn from_meaning(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Definitions(found, reason) => Self::from_definitions(found, reason),
            Meaning::Module(path, from) => Self::Module(path, from),
            Meaning::Variable(..) | Meaning::Unknown => Self::Unknown,
            Meaning::External => Self::External,
        }
    }

    /// Creates the value of a name. If the name has both types and functions, the functions are constructors.
    pub(super) fn from_definitions(found: Definitions, reason: Reason) -> Self {
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
    pub(super) depth: u32,
    pub(super) nesting: u32,
}

impl<'i, 's> Reader<'i, 's> {
    pub(crate) fn new(index: &'i Index<'s>, from: Rc<Definition>) -> Result<Self> {
        Ok(Self { index, tokens: index.tokens(&from)?, from, depth: 0, nesting: 0 })
    }

    /// Returns a reader of another definition at the next inference depth; `None` if the maximum depth is reached.
    pub(super) fn reader_of(&self, from: &Rc<Definition>) -> Result<Option<Self>> {
        if self.depth >= MAX_INFERENCE_DEPTH {
            return Ok(None);
        }
        let (tokens, depth) = (self.index.tokens(from)?, self.depth + 1);
        Ok(Some(Self { from: Rc::clone(from), tokens, depth, ..self.clone() }))
    }

    /// Returns the value of the expression that begins at the token `at` and ends before `end`.
    pub(crate) fn expression(&self, mut at: usize, end: usize) -> Result<Value> {
        if self.nesting > MAX_NESTING || !self.index.may_read_expression() {
            return Ok(Value::Unknown);
        }
        let tokens = &self.tokens;
        while matches!(tokens.at(at), "await" | "&" | "*" | "yield" | "go" | "mut") && at < end {
            at += 1;
        }
        let (value, mut next) = self.first_operand(at, end)?;
        let mut value = self.named_value(value, next)?;
        // The object or type of the last member.
        let mut owner = None;
        for _ in 0..MAX_STEPS {
            if next >= end {
                break;
            }
            match tokens.at(next) {
                _ if tokens.is_separator(next) && tokens.at(next + 1) == "(" => {
                    // Go: x.(T)
                    value = self.instance_at(next + 2);
                    next = tokens.after_closer(next + 1, end);
                }
                _ if tokens.is_separator(next) && self.is_member(next + 1) => {
                    let name = tokens.at(next + 1);
                    next += 2;
                    let next_value = match self.constructed(&value, name) {
                        Some(made) => Some(made),
                        None => self.receiver_or_element(&value, name)?,
                    };
                    if let Some(next_value) = next_value {
                        value = next_value;
                        next = call_end(tokens, next);
                        continue;
                    }
                    let receiver = value.clone();
                    value = self.with_type_argument(self.named_value(self.member(value, name)?, next)?, &receiver)?;
                    if let Value::Functions(functions, _) = &value
                        && let Some(open) = arguments_open(tokens, next - 1)
                        && self.returns_receiver(functions)?
                    {
                        value = receiver;
                        next = tokens.after_closer(open, end);
                        continue;
                    }
                    owner = Some(receiver);
                    if self.from.syntax.bare_calls && matches!(value, Value::Functions(..)) && tokens.at(next) != "(" {
                        value = self.call(value)?;
                    }
                }
                "?." if tokens.at(next + 1) == "[" => next += 1,
                "(" => {
                    value = self.call(value)?;
                    if let Some(receiver) = owner.take() {
                        value = self.with_type_argument(value, &receiver)?;
                    }
                    next = tokens.after_closer(next, end);
                }
                // Ruby: `Type.new [1]` has an argument.
                "[" if self.from.syntax.names == Names::Ruby && !tokens.is_glued(next) => break,
                "[" => {
                    let closer = tokens.closer(next).unwrap_or(end);
                    let is_generic = matches!(value, Value::Types(..) | Value::Functions(..));
                    value = if is_generic { value } else { value.element() };
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
                    next = tokens.after_closer(next, end);
                }
                "!" | "?" | "!!" if matches!(tokens.at(next + 1), "." | "?." | ")" | ";" | "[" | "" | ",") => next += 1,
                _ => break,
            }
        }
        if tokens.at(next) == "as" && next < end {
            return Ok(self.instance_at(next + 1));
        }
        if let Some(either) = self.choice(&value, next, end)? {
            return Ok(either);
        }
        let is_operand = next < end && matches!(tokens.at(next), "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | ">");
        Ok(if is_operand && !tokens.is_first(next) { Value::External } else { value })
    }

    /// Refines the value of a name before the token `next`: the name may have type arguments or be a property.
    pub(super) fn named_value(&self, value: Value, next: usize) -> Result<Value> {
        let Some(name) = next.checked_sub(1) else { return Ok(value) };
        let value = self.with_type_arguments(value, name)?;
        match &value {
            Value::Functions(found, _) if arguments_open(&self.tokens, name).is_none() => {
                Ok(self.property(found)?.unwrap_or(value))
            }
            _ => Ok(value),
        }
    }

    /// Keeps the types or functions whose number of type parameters equals the number of type arguments after a name.
    /// Keeps all types or functions if none matches.
    pub(super) fn with_type_arguments(&self, value: Value, name: usize) -> Result<Value> {
        let count = type_name::argument_count(&self.tokens, name + 1);
        Ok(match value {
            Value::Types(types, reason) => Value::Types(self.index.with_type_parameters(types, count)?, reason),
            Value::Functions(functions, reason) if count > 0 => {
                Value::Functions(self.index.with_type_parameters(functions, count)?, reason)
            }
            value => value,
        })
    }

    /// Returns whether a token can name a member. In Rust, items of tuples have numbers.
    pub(super) fn is_member(&self, at: usize) -> bool {
        let has_numbers = self.from.syntax.imports == Imports::Rust;
        self.tokens.is_name(at) || (has_numbers && self.tokens.kind(at) == Some(TokenKind::Number))
    }

    /// Returns the value of an expression inside another expression.
    pub(super) fn inner(&self, at: usize, end: usize) -> Result<Value> {
        Self { nesting: self.nesting + 1, ..self.clone() }.expression(at, end)
    }

    /// Returns the object that a type's constructing member creates, if `name` is that member.
    pub(super) fn constructed(&self, value: &Value, name: &str) -> Option<Value> {
        if self.from.syntax.maker != Some(name) {
            return None;
        }
        match value {
            Value::Types(types, _) => Some(Value::Objects(types.clone())),
            Value::Module(..) | Value::Holder(..) => Some(value.clone()),
            _ => None,
        }
    }

    /// Returns an object of the type at a token.
    pub(super) fn instance_at(&self, at: usize) -> Value {
        let found = type_name::read(&self.tokens, at);
        found.map_or(Value::Unknown, |(name, _)| Value::Instance(name, Rc::clone(&self.from)))
    }

    /// Returns the value of the first operand, and the position after it.
    pub(super) fn first_operand(&self, at: usize, end: usize) -> Result<(Value, usize)> {
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
            let next = if tokens.at(next) == "(" { tokens.after_closer(next, end) } else { next };
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
            return Ok((self.instance_at(at), end));
        }
        // Objective-C: [object message]
        if word == "[" && !syntax.languages.contains(&"objc") {
            return Ok((Value::External, tokens.after_closer(at, end)));
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
            let next = at + if is_module { 3 } else { 1 };
            if is_module || word == "exports" {
                let file = self.from.path.rsplit('/').next().unwrap_or_default();
                return Ok((Value::Module(format!("./{file}"), Rc::clone(&self.from)), next));
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
            return Ok((Value::from_meaning(scope::module(self.index, &path, &self.from)?), next));
        }
        let own = scope::enclosing_type(self.index, &self.from)?;
        if syntax.base.contains(&word) {
            let next = if tokens.at(at + 1) == "(" { tokens.after_closer(at + 1, end) } else { at + 1 };
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
    pub(super) fn qualified_self(&self, at: usize, end: usize) -> Result<(Value, usize)> {
        let tokens = &self.tokens;
        let next = angle_closer(tokens, at).map_or(end, |closer| closer + 1);
        let Some((of, after)) = type_name::read(tokens, at + 1) else { return Ok((Value::External, next)) };
        let mut types = self.types_named(&of, &self.from)?.unwrap_or_default();
        if types.is_empty()
            && tokens.at(after) == "as"
            && let Some((of, _)) = type_name::read(tokens, after + 1)
        {
            types = self.types_named(&of, &self.from)?.unwrap_or_default();
        }
        Ok((if types.is_empty() { Value::External } else { Value::Types(types, Reason::Receiver) }, next))
    }

    /// Resolves the path of a type, which consists of namespaces or a package and the type's name. Returns the type and
    /// the position after the path.
    pub(crate) fn path(&self, at: usize, end: usize) -> Result<Option<(Value, usize)>> {
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
                return Ok(Some((Value::from_definitions(types, reason), at + 2 * names.len() - 1)));
            }
            names.pop();
        }
        Ok(None)
    }

    /// Returns whether the name at `at` can only mean an external type, function or module: it is not a variable, and
    /// the repository does not define it.
    pub(super) fn is_outside(&self, at: usize) -> Result<bool> {
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
    pub(super) fn required(&self, at: usize) -> Option<Value> {
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

    /// Returns whether the definition is a singleton method: `def self.name`.
    pub(super) fn is_singleton(&self) -> bool {
        let tokens = &self.tokens;
        tokens
            .positions(&self.from.name)
            .next()
            .is_some_and(|at| at >= 2 && tokens.before(at) == "." && tokens.at(at - 2) == "self")
    }

    /// Returns the table or object that contains the definition, in languages where members need not belong to a type.
    pub(super) fn holder(&self) -> Result<Option<Value>> {
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

    /// Returns the result of a call.
    pub(super) fn call(&self, value: Value) -> Result<Value> {
        Ok(match value {
            Value::Types(types, _) => Value::Objects(types),
            Value::Functions(functions, _) => self.result(&functions)?,
            // A Rust path that the repository does not define: String::from(text)
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

    /// Returns the default export of a module.
    pub(super) fn default_of(&self, module: &str, from: &Rc<Definition>) -> Result<Value> {
        let mut search = ExportSearch::default();
        Ok(Value::from_meaning(imports::module_export(self.index, module, "default", from, &mut search)?))
    }
}

/// Returns the position after the arguments that begin at `at`, or `at` if no arguments begin there.
fn call_end(tokens: &Tokens, at: usize) -> usize {
    if tokens.at(at) == "(" { tokens.after_closer(at, tokens.len()) } else { at }
}
