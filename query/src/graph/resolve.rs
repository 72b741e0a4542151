//! Resolves the calls in a text to definitions.

use std::rc::Rc;

use aurora_storage::ChunkType;

use super::call_sites::{self, CallSite, calls_of};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Definitions, Index, Result, retain};
use super::infer::{Reader, Value};
use super::meaning::{Meaning, NameRole};
use super::overloads;
use super::parts;
use super::prototypes;
use super::reason::Reason;
use super::receivers;
use super::scope::{self, MAX_CANDIDATES};
use super::syntax::{Imports, Names, Syntax};
pub(crate) use super::target::Target;
use crate::path_class::{PathClass, PathClasses};

/// Resolves the calls of a name in the text of a definition. Returns every target once, with its best reason; empty if
/// no target is in the repository.
pub(crate) fn targets(index: &Index<'_>, from: &Rc<Definition>, name: &str) -> Result<Rc<[Target]>> {
    let key = (from.id, name.to_owned());
    let found = index.caches.targets.get_or(&key, || Ok(find_targets(index, from, name)?.into()))?;
    if index.is_spent() {
        // The targets may be incomplete.
        index.caches.targets.remove(&key);
    }
    Ok(found)
}

fn find_targets(index: &Index<'_>, from: &Rc<Definition>, name: &str) -> Result<Vec<Target>> {
    index.begin_calls();
    let reader = Reader::new(index, Rc::clone(from))?;
    // The last part of a qualified name is resolved as a name with a receiver.
    let name = match reader.tokens.positions(name).next() {
        None => name.rsplit("::").next().unwrap_or(name),
        Some(_) => name,
    };
    let own_name = if from.is_module { "" } else { from.name.as_str() };
    let mut found: Vec<Target> = Vec::new();
    for site in calls_of(&reader.tokens, name, own_name, from.syntax) {
        let mut targets = site_targets(&reader, &site)?;
        if let [first, ..] = targets.as_slice() {
            let part = parts::part_at(&reader, site.name)?;
            // A type without a member of this name holds the member, such as a method of a short interface.
            let is_member = first.definition.is_function() || first.definition.name != name;
            let receivers = if is_member { receivers::for_site(&reader, &site)? } else { None };
            for target in &mut targets {
                (target.receivers, target.parts) = (receivers.clone(), vec![part.clone()]);
            }
        }
        targets.into_iter().for_each(|target| add_target(&mut found, target));
    }
    if from.syntax.is_component && name.contains('-') {
        found = element(&reader, name)?;
    }
    if found.is_empty() && !from.syntax.is_known() {
        found = from_stage(index, from, name)?;
    }
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.definition.key.cmp(&b.definition.key)));
    Ok(found)
}

/// Adds a target, or replaces the known target with the same definition if the new confidence is higher.
pub(crate) fn add_target(targets: &mut Vec<Target>, target: Target) {
    let Some(known) = targets.iter_mut().find(|known| known.definition.id == target.definition.id) else {
        return targets.push(target);
    };
    let receivers = match (known.receivers.take(), &target.receivers) {
        (Some(mut all), Some(more)) => {
            all.extend(more.iter().filter(|one| !all.contains(one)).cloned().collect::<Vec<_>>());
            Some(all)
        }
        _ => None,
    };
    let mut parts = std::mem::take(&mut known.parts);
    parts.extend(target.parts.iter().filter(|part| !parts.contains(part)).cloned().collect::<Vec<_>>());
    if known.confidence < target.confidence {
        *known = target;
    }
    (known.receivers, known.parts) = (receivers, parts);
}

/// Resolves a hyphenated element to its component: `<my-card>` to `MyCard`.
fn element(reader: &Reader<'_, '_>, name: &str) -> Result<Vec<Target>> {
    let part = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    let name: String = name.split('-').map(part).collect();
    match bare_name(reader, &name)? {
        Value::Functions(found, reason) | Value::Types(found, reason) => {
            into_targets(reader.index, found, reason, None)
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the definitions of a called name that a custom stage provides, in a language whose calls cannot be parsed.
fn from_stage(index: &Index<'_>, from: &Rc<Definition>, name: &str) -> Result<Vec<Target>> {
    // The index counts base types as called names, but a base type is not called.
    if index.snapshot.relations(from.id)?.is_some_and(|relations| relations.bases.iter().any(|base| base == name)) {
        return Ok(Vec::new());
    }
    let found = scope::from_stage(index, from, name, |_| true)?;
    let reason = if found.iter().any(|one| one.path == from.path) { Reason::Scope } else { Reason::Global };
    into_targets(index, found, reason, None)
}

/// Returns the constructors that a constructor calls by `super(…)` or `this(…)`, and the methods that a bare `super`
/// calls.
pub(crate) fn delegates(index: &Index<'_>, from: &Rc<Definition>) -> Result<Vec<Target>> {
    if from.syntax.base_calls {
        return overridden(index, from);
    }
    let Some(own) = scope::enclosing_type(index, from)?.filter(|own| is_constructor(from, own)) else {
        return Ok(Vec::new());
    };
    let tokens = index.tokens(from)?;
    let mut found = Vec::new();
    for word in from.syntax.base.iter().chain(from.syntax.own) {
        let open = tokens.positions(word).map(|at| at + 1).find(|at| tokens.at(*at) == "(");
        let Some(open) = open.filter(|open| tokens.closer(*open).is_some_and(|close| tokens.at(close + 1) != "."))
        else {
            continue;
        };
        let is_base = from.syntax.base.contains(word);
        let types = if is_base { scope::bases(index, &own)?.types.to_vec() } else { vec![Rc::clone(&own)] };
        let mut constructors = Vec::new();
        for of in types.into_iter().filter(|of| of.kind != ChunkType::Interface) {
            let declared = own_constructors(index, &of)?;
            // A type without constructors is itself the target.
            constructors.extend(if declared.is_empty() { vec![of] } else { declared });
        }
        constructors.retain(|constructor| constructor.id != from.id);
        let reason = if is_base { Reason::Inherited } else { Reason::Scope };
        let count = call_sites::parts(&tokens, open).map(|parts| parts.len());
        found.extend(into_targets(index, constructors, reason, count)?);
    }
    Ok(found)
}

/// Returns the overridden methods that a method calls by a word for its base types, such as `super`.
fn overridden(index: &Index<'_>, from: &Rc<Definition>) -> Result<Vec<Target>> {
    let tokens = index.tokens(from)?;
    let calls = from.is_function() && from.syntax.base.iter().any(|word| tokens.positions(word).next().is_some());
    let own = if calls { scope::enclosing_type(index, from)? } else { None };
    let mut found = Vec::new();
    for base in own.iter().map(|own| scope::bases(index, own)).collect::<Result<Vec<_>>>()? {
        for of in base.types.iter() {
            found.extend(scope::member(index, of, &from.name)?.found);
        }
    }
    found.retain(|other| other.id != from.id);
    into_targets(index, found, Reason::Inherited, None)
}

/// Returns whether a definition is a constructor of a type.
pub(crate) fn is_constructor(of: &Definition, own: &Definition) -> bool {
    let names = of.syntax.constructors;
    of.is_function() && (names.contains(&of.name.as_str()) || (names.contains(&"") && of.name == own.name))
}

fn site_targets(reader: &Reader<'_, '_>, site: &CallSite) -> Result<Vec<Target>> {
    let name = reader.tokens.at(site.name);
    if is_assigned(reader, site) {
        let targets = resolve_site(reader, site, &format!("{name}="))?;
        if !targets.is_empty() {
            return Ok(targets);
        }
    }
    resolve_site(reader, site, name)
}

fn resolve_site(reader: &Reader<'_, '_>, site: &CallSite, name: &str) -> Result<Vec<Target>> {
    if site.is_macro {
        return macro_targets(reader, name);
    }
    let syntax = reader.from.syntax;
    let value = match site.receiver {
        None if syntax.is_own_type(name)
            || syntax.maker == Some(name)
            || (site.is_new && syntax.own.contains(&name)) =>
        {
            let own = scope::enclosing_type(reader.index, &reader.from)?;
            own.map_or(Value::Unknown, |own| Value::Types(vec![own], Reason::Scope))
        }
        Some(start) => {
            // In `new a.b.Type()`, `new` precedes the path; in `new Type().member()`, it belongs to the receiver.
            let is_path = (start..site.name).all(|at| reader.tokens.at(at) != "(");
            let start = if reader.tokens.at(start) == "new" && is_path { start + 1 } else { start };
            let receiver = reader.expression(start, site.name.saturating_sub(1))?;
            // The call site of the type's name already refers to the type.
            let makes = syntax.maker == Some(name) && matches!(receiver, Value::Types(..));
            match reader.member(receiver, name)? {
                Value::Unknown | Value::External if makes => return Ok(Vec::new()),
                // The receiver and the name may form the path of a type: new a.b.Type()
                Value::Unknown => match reader.path(start, site.name + 1)? {
                    Some((types, end)) if end > site.name => types,
                    _ => return by_name(reader, site, name),
                },
                value => value,
            }
        }
        None => match reader.local(name, site.name)?.filter(|_| !syntax.sigil_variables) {
            Some(value) => value,
            None => bare_name(reader, name)?,
        },
    };
    match reader.with_type_arguments(value, site.name)? {
        Value::Functions(found, reason) => {
            let found = overloads::select(reader, found, site)?;
            into_targets(reader.index, found, reason, None)
        }
        Value::Types(types, reason) => {
            let (mut found, mut without) = (Vec::new(), Vec::<Rc<Definition>>::new());
            for of in types.into_iter().filter(|of| !of.is_namespace()) {
                match own_constructors(reader.index, &of)? {
                    // Of the parts of a partial type, only one is a target.
                    own if own.is_empty() => {
                        let is_known = |known: &Rc<Definition>| known.qualified_name == of.qualified_name;
                        if !(syntax.partial_types && without.iter().any(is_known)) {
                            without.push(of);
                        }
                    }
                    own => found.extend(own),
                }
            }
            found.extend(without);
            let found = overloads::select(reader, found, site)?;
            into_targets(reader.index, found, reason, None)
        }
        Value::Module(module, from) => match reader.default_of(&module, &from)? {
            Value::Types(found, reason) | Value::Functions(found, reason) => {
                into_targets(reader.index, found, reason, site.arguments)
            }
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

/// Returns whether a call in Ruby assigns a value: `object.name = value`.
fn is_assigned(reader: &Reader<'_, '_>, site: &CallSite) -> bool {
    let is_ruby = reader.from.syntax.names == Names::Ruby;
    is_ruby && site.receiver.is_some() && site.arguments.is_none() && reader.tokens.at(site.name + 1) == "="
}

/// Returns whether a definition calls the variable `variable` at the top of the file `path` by the name `name`.
pub(crate) fn calls_variable(
    index: &Index<'_>,
    from: &Rc<Definition>,
    name: &str,
    path: &str,
    variable: &str,
) -> Result<bool> {
    index.begin_calls();
    let reader = Reader::new(index, Rc::clone(from))?;
    for site in calls_of(&reader.tokens, name, "", from.syntax) {
        let meaning = match site.receiver {
            None if reader.local(name, site.name)?.is_some() => continue,
            None => scope::lookup(index, name, from, NameRole::Callable)?,
            Some(start) => match reader.expression(start, site.name.saturating_sub(1))? {
                Value::Module(module, from) => {
                    imports::module_export(index, &module, name, &from, &mut ExportSearch::default())?
                }
                _ => continue,
            },
        };
        let is_it = match meaning {
            Meaning::Variable(file, found) => file == path && found == variable,
            Meaning::External | Meaning::Unknown => {
                let imported = imports::imported(index, name, from, &mut ExportSearch::default())?;
                site.receiver.is_none()
                    && *from.path == *path
                    && name == variable
                    && matches!(imported, Meaning::Unknown)
            }
            _ => false,
        };
        if is_it {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the macros with a given name, preferring macros in the same file, because a call does not show where its
/// macro is defined.
fn macro_targets(reader: &Reader<'_, '_>, name: &str) -> Result<Vec<Target>> {
    let mut found = reader.index.named_in(name, reader.from.syntax.group)?;
    retain(&mut found, |other| Ok(reader.index.signature_text(other)?.contains("macro_rules!")))?;
    let is_near = |other: &Rc<Definition>| other.path == reader.from.path;
    let reason = if found.iter().any(is_near) { Reason::Scope } else { Reason::Global };
    if reason == Reason::Scope {
        found.retain(is_near);
    }
    into_targets(reader.index, found, reason, None)
}

/// Returns the value of a name without a receiver.
fn bare_name(reader: &Reader<'_, '_>, name: &str) -> Result<Value> {
    let meaning = scope::lookup(reader.index, name, &reader.from, NameRole::Callable)?;
    if !matches!(meaning, Meaning::Definitions(_, Reason::Scope | Reason::Inherited))
        && let Some(holder) = own_holder(reader, name)?
    {
        return Ok(holder);
    }
    match meaning {
        Meaning::Definitions(found, reason) => {
            let called = found.into_iter().filter(|one| !one.is_namespace());
            let (types, functions): (Vec<_>, Vec<_>) = called.partition(|one| one.is_type());
            Ok(if types.is_empty() { Value::Functions(functions, reason) } else { Value::Types(types, reason) })
        }
        _ => reader.name(name),
    }
}

/// Returns the type that declares a bare name as a member without a separate chunk, such as an abstract method. `None`
/// in languages where a bare name cannot be a member of the enclosing type.
fn own_holder(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Value>> {
    let own = match reader.from.syntax.implicit_members {
        true => scope::enclosing_type(reader.index, &reader.from)?,
        false => None,
    };
    let Some(own) = own else { return Ok(None) };
    let holder = scope::holders(reader.index, &own, name)?.into_iter().next();
    Ok(holder.filter(|holder| holder.id != reader.from.id).map(|holder| {
        let reason = if holder.id == own.id { Reason::Scope } else { Reason::Inherited };
        Value::Functions(vec![holder], reason)
    }))
}

/// Returns the constructors that a type declares. If the language has several names for constructors, returns only the
/// constructors with the first name that the type uses.
pub(crate) fn own_constructors(index: &Index<'_>, of: &Definition) -> Result<Definitions> {
    for name in of.syntax.constructors {
        let name = if name.is_empty() { of.name.as_str() } else { name };
        let mut found = index.own_members(of, name)?;
        found.retain(|found| found.is_function());
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Resolves a call whose receiver is unknown to the members with its name.
fn by_name(reader: &Reader<'_, '_>, site: &CallSite, name: &str) -> Result<Vec<Target>> {
    let syntax = reader.from.syntax;
    let group = syntax.group;
    if syntax.members.contains(&name) || syntax.maker == Some(name) {
        return Ok(Vec::new());
    }
    let is_test = |path: &str| PathClasses::for_path(path).contains(PathClass::Test);
    let calls_tests = is_test(&reader.from.path);
    let key = (name.to_owned(), group, calls_tests, site.arguments);
    let members = reader.index.caches.members.get_or(&key, || {
        let namesakes = reader.index.named(name)?;
        // Functions in namespaces and modules need no receiver.
        let is_free = |other: &Definition| other.kind != ChunkType::Method && has_paths(syntax);
        let members = namesakes.iter().filter(|other| {
            let is_member = other.is_function() && !other.owner().is_empty() && !is_free(other);
            other.syntax.group == group && is_member && (calls_tests || !is_test(&other.path))
        });
        let members = prototypes::resolve_declarations(reader.index, members.cloned().collect())?;
        Ok(Rc::new(overloads::accepting(reader.index, members, site.arguments)?))
    })?;
    // A method that calls a method of the same name on an unknown receiver delegates to another type, so it does not
    // call itself.
    let members: Definitions = members.iter().filter(|other| other.id != reader.from.id).cloned().collect();
    match members.len() {
        0 => Ok(Vec::new()),
        1 => into_targets(reader.index, members, Reason::OnlyMember, site.arguments),
        2..=MAX_CANDIDATES => into_targets(reader.index, members, Reason::Namesakes, site.arguments),
        _ => Ok(Vec::new()),
    }
}

/// Returns whether functions outside of types have qualified names.
fn has_paths(syntax: &Syntax) -> bool {
    syntax.namespaces || syntax.imports == Imports::Rust
}

/// Converts the definitions that match a call to targets. The confidence of the reason is divided among the targets.
fn into_targets(
    index: &Index<'_>,
    found: Definitions,
    reason: Reason,
    arguments: Option<usize>,
) -> Result<Vec<Target>> {
    let found = prototypes::resolve_declarations(index, found)?;
    let by_arguments =
        if found.len() > 1 { overloads::accepting(index, found.clone(), arguments)? } else { Vec::new() };
    let found = if by_arguments.is_empty() { found } else { by_arguments };
    let confidence = reason.precision() / found.len().max(1) as f32;
    Ok(found.into_iter().map(|definition| Target::new(definition, reason, confidence)).collect())
}
