//! Extension members: functions outside of a type that are called as its members.

use std::rc::Rc;

use super::index::{Definition, Definitions, Index, Result};
use super::infer::{Reader, Value};
use super::overloads::has_arity;
use super::reason::Reason;
use super::scope;
use super::tokens::Tokens;
use super::type_name::{self, TypeName};
use super::types::is_variable;

/// The type whose extension members are searched for.
struct Extended<'v> {
    /// The type and its base types, as far as the repository defines them.
    types: Definitions,
    /// The name of a type that the repository does not define.
    external: Option<&'v TypeName>,
}

impl Reader<'_, '_> {
    /// Returns the extension members of a value with a given name: `impl Trait for String`, `extension String`, `fun
    /// String.name()`, `static void Name(this string text)`. Returns an extension of another external type only if
    /// there is no other result, because that type may be a base type of the value's type.
    pub(super) fn extension(&self, value: &Value, name: &str) -> Result<Option<Value>> {
        let mut extended = Extended { types: Vec::new(), external: None };
        for of in self.types(value)?.unwrap_or_default() {
            extended.types.extend(scope::lineage(self.index, &of)?);
        }
        // A name counts as external only if the repository does not define it.
        if let Value::Instance(of, from) = value
            && let Some(last) = of.path.last()
            && !self.index.is_defined(last, from.syntax.group)?
        {
            extended.external = Some(of);
        }
        let is_builtin = extended.external.and_then(|of| of.path.last()).is_some_and(|last| {
            self.from.syntax.builtins.contains(&last.as_str()) || is_variable(&TypeName::from_name(last))
        });
        let may_be_base = extended.types.is_empty() && extended.external.is_some() && !is_builtin;
        let (mut found, mut possible) = (Vec::new(), Vec::new());
        for other in self.index.named(name)?.iter().filter(|other| other.is_function()) {
            if other.syntax.group != self.from.syntax.group {
                continue;
            }
            let owner = other.owner().rsplit(['.', ':']).next().unwrap_or_default();
            if extended.has_name(owner) {
                found.push(Rc::clone(other));
            } else if let Some(receiver) = receiver(self.index, other)? {
                if extended.is(self.index, &receiver)? {
                    found.push(Rc::clone(other));
                } else if may_be_base
                    && let Some(last) = receiver.path.last()
                    && !self.from.syntax.builtins.contains(&last.as_str())
                    && !self.index.is_defined(last, other.syntax.group)?
                {
                    possible.push(Rc::clone(other));
                }
            }
        }
        Ok(match (found.is_empty(), possible.is_empty()) {
            (false, _) => Some(Value::Functions(found, Reason::Receiver)),
            (true, false) => Some(Value::Functions(possible, Reason::Global)),
            (true, true) => None,
        })
    }
}

impl Extended<'_> {
    fn has_name(&self, name: &str) -> bool {
        self.types.iter().any(|of| of.name == name)
            || self.external.is_some_and(|of| of.path.last().is_some_and(|last| last == name))
    }

    /// Returns whether the extended type matches the receiver type of an extension method.
    fn is(&self, index: &Index<'_>, receiver: &TypeName) -> Result<bool> {
        let Some(wanted) = receiver.path.last() else { return Ok(false) };
        if is_variable(receiver) {
            return Ok(true);
        }
        for of in self.types.iter().filter(|of| of.name == *wanted) {
            if has_arity(index, of, receiver)? {
                return Ok(true);
            }
        }
        Ok(self
            .external
            .is_some_and(|of| of.path.last() == Some(wanted) && of.arguments.len() == receiver.arguments.len()))
    }
}

/// Returns the type that a C# extension method extends. If the receiver has a type parameter as its type, this is the
/// constraint of the type parameter.
fn receiver(index: &Index<'_>, function: &Rc<Definition>) -> Result<Option<TypeName>> {
    if !function.syntax.languages.contains(&"csharp") {
        return Ok(None);
    }
    let Some(read) = index.signature(function)? else { return Ok(None) };
    let Some(receiver) = read.receiver.clone() else { return Ok(None) };
    let [name] = receiver.path.as_slice() else { return Ok(Some(receiver)) };
    if !read.type_parameters.contains(name) {
        return Ok(Some(receiver));
    }
    let tokens = Tokens::read(index.signature_text(function)?, function.syntax);
    let constraint = tokens.positions(name).find(|at| tokens.before(*at) == "where" && tokens.at(at + 1) == ":");
    let constraint = constraint.and_then(|at| type_name::read(&tokens, at + 2)).map(|(name, _)| name);
    Ok(Some(constraint.unwrap_or_else(|| TypeName::from_name("T"))))
}
