//! Resolves a name at a position: by enclosing scopes, imports, the package, and definitions that need no import.

use std::rc::Rc;

use aurora_storage::ChunkType;

use super::crates::{self, Reach};
use super::imports::{self, ExportSearch};
use super::index::{Bases, Definition, Definitions, Index, Result, retain, scope_around};
use super::meaning::{Meaning, NameRole};
use super::modules;
use super::reason::Reason;
use super::syntax::{Imports, Names};
use super::tokens::Tokens;
use super::type_name;

/// Maximum number of base types that are examined for one member.
const MAX_BASES: usize = 64;
/// Maximum number of definitions to which a name can refer if only the name is known.
pub(crate) const MAX_CANDIDATES: usize = 8;

/// Resolves a bare name in the text of `from`.
pub(crate) fn lookup(index: &Index<'_>, name: &str, from: &Rc<Definition>, role: NameRole) -> Result<Meaning> {
    match in_scopes(index, name, from, role)? {
        Meaning::Unknown => {}
        meaning => return Ok(meaning),
    }
    match imports::imported(index, name, from, &mut ExportSearch::default())? {
        Meaning::Unknown => {}
        meaning => return Ok(meaning),
    }
    let namesakes = index.named(name)?;
    let is_visible = |other: &Definition| !other.is_local || other.path == from.path;
    let candidates = namesakes
        .iter()
        .filter(|other| other.syntax.group == from.syntax.group && role.accepts(other) && is_visible(other));
    // In Ruby, a method without an owner is defined in a block, where `self` is another object.
    let is_top = |other: &Definition| {
        other.owner().is_empty() && !(from.syntax.names == Names::Ruby && other.kind == ChunkType::Method)
    };
    let top: Definitions = candidates.clone().filter(|other| is_top(other)).cloned().collect();
    if matches!(from.syntax.imports, Imports::Go | Imports::Package) {
        let mut found = top.clone();
        retain(&mut found, |other| same_package(index, other, from))?;
        if !found.is_empty() {
            return Ok(Meaning::Definitions(found, Reason::Package));
        }
        for package in imports::wildcards(index, from)? {
            let mut found = top.clone();
            retain(&mut found, |other| match from.syntax.imports {
                Imports::Go => modules::names(index, &package, from, other),
                _ => modules::is_in_package(index, &package, other),
            })?;
            // Members of a type: import static a.b.Type.*
            if found.is_empty() && from.syntax.imports == Imports::Package {
                let path = format!("{package}.{name}");
                found = candidates.clone().filter(|other| !other.owner().is_empty()).cloned().collect();
                retain(&mut found, |other| modules::names(index, &path, from, other))?;
            }
            if !found.is_empty() {
                return Ok(Meaning::Definitions(found, Reason::Import));
            }
        }
        return Ok(Meaning::External);
    }
    match from.syntax.imports {
        Imports::Python | Imports::Ecma => {
            let modules = imports::wildcards(index, from)?;
            let found = imports::exported_by(index, &modules, from, name, &mut ExportSearch::default())?;
            Ok(if matches!(found, Meaning::Definitions(..)) { found } else { Meaning::External })
        }
        Imports::Modules => {
            for module in imports::wildcards(index, from)? {
                match imports::from_named_module(index, &module, name, from)? {
                    Meaning::Unknown => {}
                    meaning => return Ok(meaning),
                }
            }
            Ok(Meaning::from_found(top, Reason::Global, Meaning::External))
        }
        Imports::Lua => {
            let found = globals(index, top)?;
            Ok(Meaning::from_found(found, Reason::Global, Meaning::External))
        }
        Imports::Rust => {
            for module in imports::wildcards(index, from)? {
                if !crates::is_open(index, &module, from)? {
                    continue;
                }
                let module = module.trim_end_matches('*').trim_end_matches(':');
                let path = format!("{module}::{name}");
                let found = imports::named_by(index, &path, from, &mut ExportSearch::default())?;
                let Meaning::Definitions(mut found, reason) = found else { continue };
                retain(&mut found, |other| match crates::reach(index, &path, from, other)? {
                    Reach::Exactly => Ok(true),
                    _ => crates::exports(index, module, from, other, 0),
                })?;
                if !found.is_empty() {
                    return Ok(Meaning::Definitions(found, reason));
                }
            }
            Ok(Meaning::External)
        }
        _ => {
            if from.syntax.namespaces {
                match in_namespaces(index, from, &candidates.clone().cloned().collect::<Vec<_>>())? {
                    Meaning::Unknown => {}
                    meaning => return Ok(meaning),
                }
            }
            let near = top.iter().filter(|other| other.directory() == from.directory());
            let near: Definitions = near.cloned().collect();
            // Another file or the type of an argument may bring a namespace into scope. Methods are excluded, because
            // they need a receiver.
            let all = candidates.clone().filter(|other| !from.syntax.namespaces || other.kind != ChunkType::Method);
            // In Ruby, a method can be called without a receiver only inside its type.
            let all = all.filter(|other| from.syntax.names != Names::Ruby || other.is_type());
            // In PHP, an unqualified name that the file does not import is in the file's namespace or in no namespace.
            let all = all.filter(|_| !from.syntax.languages.contains(&"php"));
            let all: Definitions = all.cloned().collect();
            let found = if near.is_empty() { top } else { near };
            let mut found = if found.is_empty() { all } else { found };
            match found.iter().all(|other| other.is_namespace()) {
                // The definitions are parts of one module, whose members may be in any file.
                true => found.truncate(MAX_CANDIDATES),
                false => found.retain(|other| !other.is_namespace()),
            }
            if found.is_empty() && from.syntax.generic_arity {
                // C#: `global using static Type` in another file.
                found = candidates.cloned().collect();
                retain(&mut found, |other| Ok(index.signature_text(other)?.split(' ').any(|word| word == "static")))?;
            }
            Ok(Meaning::from_found(found, Reason::Global, Meaning::External))
        }
    }
}

/// Keeps at most [`MAX_CANDIDATES`] definitions, without the functions that are local to a file.
fn globals(index: &Index<'_>, mut found: Definitions) -> Result<Definitions> {
    found.truncate(MAX_CANDIDATES);
    retain(&mut found, |other| {
        Ok(index.snapshot.text(other.id)?.is_some_and(|text| !text.signature.starts_with("local ")))
    })?;
    Ok(found)
}

/// Selects the candidates in the innermost enclosing namespace of `from`, or otherwise in a namespace that the file of
/// `from` imports.
fn in_namespaces(index: &Index<'_>, from: &Rc<Definition>, candidates: &[Rc<Definition>]) -> Result<Meaning> {
    let owned_by = |scope: &str| -> Definitions {
        candidates.iter().filter(|other| modules::dotted(other.owner()) == scope).cloned().collect()
    };
    let around = if from.is_module { String::new() } else { modules::dotted(from.owner()) };
    let mut scope = around.as_str();
    while !scope.is_empty() {
        let found = owned_by(scope);
        if !found.is_empty() {
            return Ok(Meaning::Definitions(found, Reason::Package));
        }
        scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
    }
    for namespace in imports::wildcards(index, from)? {
        let found = owned_by(&modules::dotted(&namespace));
        if !found.is_empty() {
            return Ok(Meaning::Definitions(found, Reason::Import));
        }
    }
    Ok(Meaning::Unknown)
}

/// Returns whether two files are in one package: they are in one directory or in the same directory below `main` and
/// `test`, or they declare the same package.
fn same_package(index: &Index<'_>, one: &Definition, other: &Definition) -> Result<bool> {
    let (here, there) = (one.directory(), other.directory());
    if here == there || here.replace("/test/", "/main/") == there.replace("/test/", "/main/") {
        return Ok(true);
    }
    if one.syntax.imports != Imports::Package {
        return Ok(false);
    }
    let package = index.package(&one.path)?;
    Ok(package.is_some() && package == index.package(&other.path)?)
}

/// Resolves a name in the innermost enclosing scope that contains it. The scope of a type includes inherited members.
fn in_scopes(index: &Index<'_>, name: &str, from: &Rc<Definition>, role: NameRole) -> Result<Meaning> {
    let file = index.file(&from.path)?;
    let named: Vec<&Rc<Definition>> = file.named(name).filter(|other| role.accepts(other)).collect();
    let mut scope = from.qualified_name.as_str();
    if from.is_module {
        scope = "";
    }
    loop {
        let is_own = |other: &&&Rc<Definition>| other.owner() == scope;
        let scope_type = if scope.is_empty() { None } else { type_named(index, scope, from)? };
        let sees_members = from.syntax.implicit_members || scope_type.as_ref().is_none_or(|scope| scope.is_namespace());
        if sees_members {
            let found: Definitions = named.iter().filter(is_own).map(|other| Rc::clone(other)).collect();
            if !found.is_empty() {
                return Ok(Meaning::Definitions(found, Reason::Scope));
            }
            // A type's own members cannot be its base types.
            let is_itself = role == NameRole::Base && scope == from.qualified_name;
            if let Some(of) = scope_type.filter(|_| from.syntax.implicit_members && !is_itself) {
                let mut found = member(index, &of, name)?;
                found.found.retain(|member| role.accepts(member));
                if !found.found.is_empty() {
                    let reason = if found.inherited { Reason::Inherited } else { Reason::Scope };
                    return Ok(Meaning::Definitions(found.found, reason));
                }
            }
        }
        if scope.is_empty() {
            return Ok(Meaning::Unknown);
        }
        scope = scope_around(scope);
    }
}

/// Returns the type with a given qualified name to which members in the file of `from` can belong. Prefers a type in
/// the same file, then in the same directory.
pub(crate) fn type_named(index: &Index<'_>, qualified_name: &str, from: &Definition) -> Result<Option<Rc<Definition>>> {
    let name = qualified_name.rsplit(['.', ':', '\\', '#', '/']).next().unwrap_or(qualified_name);
    let is_it = |other: &&Rc<Definition>| other.is_type() && other.qualified_name == qualified_name;
    let file = index.file(&from.path)?;
    // The name of a module may be a whole qualified name.
    if let Some(found) = file.named(name).chain(file.named(qualified_name)).find(is_it) {
        return Ok(Some(Rc::clone(found)));
    }
    if matches!(from.syntax.imports, Imports::Python | Imports::Ecma | Imports::Package | Imports::Modules) {
        return Ok(None);
    }
    let namesakes = index.named(name)?;
    let mut others = namesakes.iter().filter(|other| other.syntax.group == from.syntax.group).filter(is_it);
    Ok(others.clone().find(|other| other.directory() == from.directory()).or_else(|| others.next()).cloned())
}

/// Returns the innermost type that encloses a definition.
pub(crate) fn enclosing_type(index: &Index<'_>, from: &Rc<Definition>) -> Result<Option<Rc<Definition>>> {
    if from.is_type() {
        return Ok(Some(Rc::clone(from)));
    }
    let mut scope = from.owner();
    while !scope.is_empty() {
        if from.syntax.generic_arity
            && let Some(parent) =
                index.parent(from)?.filter(|parent| parent.is_type() && parent.qualified_name == scope)
        {
            return Ok(Some(parent));
        }
        if let Some(found) = type_named(index, scope, from)? {
            return Ok(Some(found));
        }
        scope = scope_around(scope);
    }
    Ok(None)
}

/// The members of a type with a given name.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) found: Definitions,
    /// Whether the members belong to a base type.
    pub(crate) inherited: bool,
    /// Whether a base type is outside of the repository.
    pub(crate) has_external_base: bool,
}

/// Returns the members of a type with a given name, or otherwise the members of the nearest base type that has such
/// members.
pub(crate) fn member(index: &Index<'_>, of: &Rc<Definition>, name: &str) -> Result<Members> {
    let mut above = Lineage::new(of);
    while let Some(at) = above.next(index)? {
        let found = index.own_members(&at, name)?;
        if !found.is_empty() {
            return Ok(Members { found, inherited: at.id != of.id, has_external_base: !above.is_complete });
        }
    }
    Ok(Members { has_external_base: !above.is_complete, ..Members::default() })
}

/// Returns the definitions, among a type and its base types, that define a member without a separate chunk; nearest
/// first.
pub(crate) fn holders(index: &Index<'_>, of: &Rc<Definition>, name: &str) -> Result<Definitions> {
    let mut found = Vec::new();
    for of in lineage(index, of)? {
        if index.inner_names(of.id)?.iter().any(|inner| inner == name) {
            found.push(of);
        }
    }
    Ok(found)
}

/// Returns a type and its base types, nearest first.
pub(crate) fn lineage(index: &Index<'_>, of: &Rc<Definition>) -> Result<Definitions> {
    let mut above = Lineage::new(of);
    while above.next(index)?.is_some() {}
    Ok(above.types)
}

/// A traversal of a type and its base types, nearest first.
struct Lineage {
    types: Definitions,
    next: usize,
    /// Whether all base types so far are in the repository.
    is_complete: bool,
}

impl Lineage {
    fn new(of: &Rc<Definition>) -> Self {
        Self { types: vec![Rc::clone(of)], next: 0, is_complete: true }
    }

    /// Returns the next type, after adding the base types of the previous type to the queue.
    fn next(&mut self, index: &Index<'_>) -> Result<Option<Rc<Definition>>> {
        if let Some(before) = self.next.checked_sub(1).and_then(|before| self.types.get(before).cloned()) {
            let bases = bases(index, &before)?;
            self.is_complete &= bases.is_complete;
            for base in bases.types.iter() {
                if self.types.len() < MAX_BASES && self.types.iter().all(|known| known.id != base.id) {
                    self.types.push(Rc::clone(base));
                }
            }
        }
        self.next += 1;
        Ok(self.types.get(self.next - 1).cloned())
    }
}

/// Returns the base types of a type, and whether all of them are in the repository.
pub(crate) fn bases(index: &Index<'_>, of: &Rc<Definition>) -> Result<Bases> {
    index.bases_of(of.id, || {
        let (mut found, mut is_complete) = (Vec::new(), true);
        for holder in implementations(index, of)?.iter().chain([of]) {
            let names = index.snapshot.relations(holder.id)?.map(|relations| relations.bases).unwrap_or_default();
            for name in names.iter().take(MAX_BASES) {
                match base(index, holder, name)? {
                    bases if bases.is_empty() => is_complete = false,
                    bases => found.extend(bases),
                }
            }
        }
        Ok((found, is_complete))
    })
}

/// Returns the definitions that add base types to a type: in Rust, the `impl Trait for Type` blocks in the type's file,
/// and otherwise the other parts of a partial type.
pub(crate) fn implementations(index: &Index<'_>, of: &Rc<Definition>) -> Result<Definitions> {
    if of.syntax.imports != Imports::Rust {
        return index.other_parts(of);
    }
    let is_of = |other: &&Rc<Definition>| {
        let implemented = other.qualified_name.split_once(" for ").map_or("", |(_, implemented)| implemented);
        implemented.split(['<', ' ']).next() == Some(of.name.as_str())
    };
    let file = index.file(&of.path)?;
    Ok(file.definitions.iter().filter(is_of).take(MAX_BASES).cloned().collect())
}

/// Returns the types in the repository to which the name of a base type refers.
pub(crate) fn base(index: &Index<'_>, of: &Rc<Definition>, name: &str) -> Result<Definitions> {
    let tokens = index.tokens(of)?;
    let is_qualified = |at: &usize| *at >= 2 && tokens.is_separator(*at - 1) && tokens.is_name(*at - 2);
    let qualified_at = tokens.positions(name).find(is_qualified);
    let is_listed = |at: &usize| matches!(tokens.before(*at), ":" | ",") || is_qualified(at);
    let type_arguments = tokens.positions(name).find(is_listed).map(|at| type_name::argument_count(&tokens, at + 1));
    let path_of = qualified_at.map(|at| path_to(&tokens, at)).unwrap_or_else(|| vec![name.to_owned()]);
    let found = match of.syntax.imports {
        Imports::Modules => module(index, &path_of, of)?,
        _ => path(index, &path_of, of, NameRole::Base)?,
    };
    let mut types = match found {
        Meaning::Definitions(found, _) => found,
        _ => Vec::new(),
    };
    types.retain(|other| other.is_type() && other.id != of.id);
    let types = index.with_type_parameters(types, type_arguments.unwrap_or_default())?;
    if types.is_empty() && !of.syntax.is_known() { from_stage(index, of, name, Definition::is_type) } else { Ok(types) }
}

/// Resolves a name that a custom stage provides for a text in a language that cannot be parsed. Prefers definitions in
/// the same file, then in languages of the same group. Returns nothing if there are more than [`MAX_CANDIDATES`]
/// definitions.
pub(crate) fn from_stage(
    index: &Index<'_>,
    from: &Definition,
    name: &str,
    accepts: impl Fn(&Definition) -> bool,
) -> Result<Definitions> {
    let dotted = |name: &str| name.replace("::", ".");
    let (wanted, last) = (dotted(name), name.rsplit(['.', ':']).next().unwrap_or(name));
    let mut namesakes = index.named(name)?.to_vec();
    if namesakes.is_empty() && last != name {
        let is_meant = |other: &Definition| modules::ends_in(&dotted(&other.qualified_name), &wanted);
        namesakes = index.named(last)?.iter().filter(|other| is_meant(other)).cloned().collect();
    }
    namesakes.retain(|other| other.id != from.id && !other.is_module && accepts(other));
    if namesakes.iter().any(|other| other.path == from.path) {
        namesakes.retain(|other| other.path == from.path);
    } else if namesakes.iter().any(|other| other.syntax.group == from.syntax.group) {
        namesakes.retain(|other| other.syntax.group == from.syntax.group);
    }
    Ok(if namesakes.len() > MAX_CANDIDATES { Vec::new() } else { namesakes })
}

/// Resolves a path of names to a module, in languages that refer to modules by full names.
pub(crate) fn module(index: &Index<'_>, names: &[String], from: &Definition) -> Result<Meaning> {
    let Some((first, rest)) = names.split_first() else { return Ok(Meaning::Unknown) };
    let separator = if from.syntax.names == Names::Elixir { "." } else { "::" };
    let joined = |first: &str| [&[first.to_owned()], rest].concat().join(separator);
    let mut candidates = Vec::new();
    candidates.extend(imports::aliased(index, first, from)?.map(|first| joined(&first)));
    // The path may be relative to an enclosing module.
    let mut scope = from.qualified_name.as_str();
    while !scope.is_empty() && candidates.len() < MAX_BASES {
        candidates.push(format!("{scope}{separator}{}", joined(first)));
        scope = scope_around(scope);
    }
    candidates.push(joined(first));
    for candidate in candidates {
        let found = modules::named(index, &candidate, from)?;
        if !found.is_empty() {
            return Ok(Meaning::Definitions(found, Reason::Import));
        }
    }
    Ok(Meaning::External)
}

fn path_to(tokens: &Tokens, last: usize) -> Vec<String> {
    let mut path = vec![tokens.at(last).to_owned()];
    let mut at = last;
    while at >= 2 && tokens.is_separator(at - 1) && tokens.is_name(at - 2) && path.len() < MAX_BASES {
        at -= 2;
        path.insert(0, tokens.at(at).to_owned());
    }
    path
}

/// Returns the types to which a qualified name refers in the text of a definition.
pub(crate) fn types_of_path(index: &Index<'_>, names: &[String], from: &Rc<Definition>) -> Result<Meaning> {
    path(index, names, from, NameRole::Type)
}

fn path(index: &Index<'_>, names: &[String], from: &Rc<Definition>, role: NameRole) -> Result<Meaning> {
    let Some((first, rest)) = names.split_first() else { return Ok(Meaning::Unknown) };
    let mut meaning = lookup(index, first, from, role)?;
    let is_found = matches!(meaning, Meaning::Definitions(..) | Meaning::Module(..));
    let is_by_file = from.syntax.imports.are_files() || from.syntax.imports == Imports::Go;
    if !is_found && !rest.is_empty() && !is_by_file {
        // Resolve the whole path as one qualified name.
        let separator = if from.syntax.imports == Imports::Rust { "::" } else { "." };
        let found = imports::named_by(index, &names.join(separator), from, &mut ExportSearch::default())?;
        let Meaning::Definitions(mut found, reason) = found else { return Ok(Meaning::External) };
        found.retain(|one| role.accepts(one));
        return Ok(Meaning::from_found(found, reason, Meaning::External));
    }
    for name in rest {
        meaning = match meaning {
            Meaning::Definitions(types, reason) => {
                let mut inner = Vec::new();
                for of in &types {
                    inner.extend(index.own_members(of, name)?.into_iter().filter(|found| found.is_type()));
                }
                Meaning::from_found(inner, reason, Meaning::External)
            }
            Meaning::Module(module, from) => {
                imports::module_export(index, &module, name, &from, &mut ExportSearch::default())?
            }
            _ => Meaning::External,
        };
    }
    match meaning {
        // A module that exports a single type: module.exports = Type
        Meaning::Module(module, from) if from.syntax.imports == Imports::Ecma => {
            imports::module_export(index, &module, "default", &from, &mut ExportSearch::default())
        }
        meaning => Ok(meaning),
    }
}
