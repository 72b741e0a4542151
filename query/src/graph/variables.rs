//! Values of names: variables, parameters, fields of enclosing types, and definitions in other scopes.

use std::rc::Rc;

use super::declarations::{self, DeclarationKind, Declared};
use super::imports::{self, ExportSearch};
use super::index::{Result, scope_around};
use super::infer::{MAX_INFERENCE_DEPTH, Reader, Value};
use super::meaning::{Meaning, NameRole};
use super::scope;
use super::syntax::Imports;
use super::type_name::TypeName;

impl Reader<'_, '_> {
    /// Returns the value of a bare name.
    pub(crate) fn name(&self, name: &str) -> Result<Value> {
        match self.local(name, usize::MAX)? {
            Some(value) => Ok(value),
            None => self.outer_name(name),
        }
    }

    /// Returns the value of a name that is not a local variable.
    pub(super) fn outer_name(&self, name: &str) -> Result<Value> {
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
        match scope::lookup(self.index, name, &self.from, NameRole::Callable)? {
            Meaning::Variable(path, name) => self.variable(&path, &name),
            Meaning::External | Meaning::Unknown => match self.package_variable(name)? {
                Value::Unknown => {
                    let imported = imports::imported(self.index, name, &self.from, &mut ExportSearch::default())?;
                    // A name that the file does not import may be a package variable whose declaration was not found.
                    Ok(if matches!(imported, Meaning::External) { Value::External } else { Value::Unknown })
                }
                value => Ok(value),
            },
            meaning => Ok(Value::from_meaning(meaning)),
        }
    }

    /// Returns the value of a variable or parameter that the token at `at` uses. `None` if neither the definition nor
    /// the enclosing functions declare the name.
    pub(crate) fn local(&self, name: &str, at: usize) -> Result<Option<Value>> {
        let (mut reader, mut at) = (self.clone(), at);
        while !reader.from.is_module {
            if !reader.from.is_type()
                && let Some(declared) =
                    declarations::declared_at(&reader.tokens, name, at, DeclarationKind::Local, self.from.syntax)
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
            let Some(next) = reader.reader_of(&parent)? else { break };
            (reader, at) = (next, usize::MAX);
        }
        Ok(None)
    }

    /// Returns the value of a variable at the top of a file.
    pub(super) fn variable(&self, path: &str, name: &str) -> Result<Value> {
        let file = self.index.file(path)?;
        if matches!(self.from.syntax.imports, Imports::Ecma | Imports::Lua) && file.has_members(name) {
            return Ok(Value::Holder(path.into(), name.to_owned()));
        }
        if name == "default" || name.starts_with("default ") {
            return self.default_variable(path);
        }
        for module in file.definitions.iter().filter(|definition| definition.is_module) {
            let Some(reader) = self.reader_of(module)? else { break };
            if let Some(declared) = declarations::declared(&reader.tokens, name, DeclarationKind::Local, module.syntax)
            {
                return reader.declared(declared);
            }
        }
        Ok(Value::Unknown)
    }

    /// Returns the value that a JavaScript module exports as its default: `export default { f() {} }`, `export default
    /// new Type()`, `export default variable`.
    pub(super) fn default_variable(&self, path: &str) -> Result<Value> {
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
            let Some(reader) = self.reader_of(module)? else { break };
            let tokens = &reader.tokens;
            let exported = tokens.positions("default").find(|at| tokens.before(*at) == "export").map(|at| at + 1);
            match exported.map(|at| (at, tokens.at(at))) {
                Some((_, "{")) => return Ok(Value::Holder(path.into(), String::new())),
                Some((at, "new")) => return reader.declared(Declared::Value(at, 0)),
                _ => {}
            }
        }
        Ok(Value::Unknown)
    }

    /// Returns the value of a variable at the top of the current file or, in Go, of any file in the current package.
    pub(super) fn package_variable(&self, name: &str) -> Result<Value> {
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

    /// Returns the value of a declared name.
    pub(super) fn declared(&self, declared: Declared) -> Result<Value> {
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
            Declared::Element(at) => Ok(deeper.expression(at, end)?.element()),
            Declared::Member(at, member) => {
                let value = deeper.expression(at, end)?;
                deeper.member(value, &member)
            }
            Declared::Item(variant, index) => deeper.item(variant, index),
            Declared::Untyped => Ok(Value::Unknown),
        }
    }

    /// Returns the value of the item at `index` of an enum variant. `variant` is the position of the variant's name.
    pub(super) fn item(&self, variant: usize, index: usize) -> Result<Value> {
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
}
