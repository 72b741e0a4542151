//! Resolves the imports of a file, and follows re-exports.

use std::rc::Rc;

use aurora_storage::Binding;
use rustc_hash::FxHashSet;

use super::crates::{self, Reach};
use super::index::{Alias, Definition, Definitions, Index, Result, retain};
use super::meaning::{Meaning, NameRole};
use super::modules;
use super::reason::Reason;
use super::syntax::Imports;
use super::tokens::Tokens;

/// Maximum number of files through which a re-export is followed.
const MAX_EXPORT_DEPTH: u32 = 32;
/// Maximum number of definitions of one file that are checked for export aliases, and maximum number of aliases of one
/// file.
const MAX_EXPORTS: usize = 1_024;

/// A search for an exported name through the modules that re-export it. Modules can re-export each other, so every
/// module is searched for a name only once.
#[derive(Debug, Default)]
pub(crate) struct ExportSearch {
    /// Searched modules, each with the name that was searched for.
    visited: FxHashSet<(String, String)>,
    depth: u32,
}

/// Resolves a name that a file imports; [`Meaning::Unknown`] if the file does not import the name.
pub(crate) fn imported(
    index: &Index<'_>,
    name: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning> {
    let file = index.file(&from.path)?;
    if let Some(Binding { path, member, .. }) = file.bindings.iter().find(|binding| binding.name == name) {
        return match member.as_str() {
            // `import a.b` binds a.
            "" if from.syntax.imports == Imports::Python
                && path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
                && !modules::files(index, path, &from.path, Imports::Python)?.is_empty() =>
            {
                Ok(Meaning::Module(name.to_owned(), Rc::clone(from)))
            }
            "" if from.syntax.imports == Imports::Modules && !name.starts_with(char::is_uppercase) => {
                from_named_module(index, path, name, from)
            }
            "*" => Ok(Meaning::Module(path.clone(), Rc::clone(from))),
            // Dart and Zig: an alias of a file, or one of its definitions.
            "" if names_file(path, from) => {
                let namesakes = index.named_in(name, from.syntax.group)?;
                Ok(match namesakes.iter().any(|other| NameRole::Callable.accepts(other)) {
                    true => Meaning::Unknown,
                    false => Meaning::Module(path.clone(), Rc::clone(from)),
                })
            }
            "" => named_by(index, path, from, search),
            member => {
                let member = if member == "default" { format!("default {name}") } else { member.to_owned() };
                module_export(index, path, &member, from, search)
            }
        };
    }
    // A wildcard import binds the names in a namespace, not the namespace itself.
    let is_open = |path: &str| {
        from.syntax.namespaces && file.bindings.iter().any(|binding| binding.name == "*" && binding.path == path)
    };
    let bound = |path: &&String| {
        let rest = path.strip_suffix(name).filter(|_| !is_open(path));
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ':', '/', '\\']))
    };
    match file.imports.iter().find(bound) {
        Some(path) => named_by(index, path, from, search),
        None => Ok(Meaning::Unknown),
    }
}

/// Resolves the path of an import, which names a module or a definition.
pub(crate) fn named_by(
    index: &Index<'_>,
    path: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning> {
    let imports = from.syntax.imports;
    if imports == Imports::Modules {
        let found = modules::named(index, path, from)?;
        return Ok(Meaning::from_found(found, Reason::Import, Meaning::External));
    }
    if imports.are_files() {
        if !modules::files(index, path, &from.path, imports)?.is_empty() {
            return Ok(Meaning::Module(path.to_owned(), Rc::clone(from)));
        }
        let Some((module, name)) = path.rsplit_once('.') else { return Ok(Meaning::External) };
        // If the module consists of leading dots, the last dot belongs to the module.
        let module = if module.is_empty() || module.ends_with('.') { &path[..module.len() + 1] } else { module };
        return module_export(index, module, name, from, search);
    }
    let name = path.rsplit(['.', ':', '/', '\\']).next().unwrap_or(path);
    if imports == Imports::Go {
        return Ok(match modules::go_directory(index, path, from)? {
            Some(_) => Meaning::Module(path.to_owned(), Rc::clone(from)),
            None => Meaning::External,
        });
    }
    let found = match imports {
        Imports::Rust => {
            let key = (path.to_owned(), crates::place(index, from)?);
            index.caches.rust_paths.get_or(&key, || Ok(Rc::new(in_crates(index, path, name, from)?)))?.to_vec()
        }
        _ => {
            let mut found = index.named_in(name, from.syntax.group)?;
            found.retain(|other| NameRole::Callable.accepts(other));
            retain(&mut found, |other| modules::names(index, path, from, other))?;
            found
        }
    };
    Ok(match imports {
        _ if !found.is_empty() => Meaning::Definitions(found, Reason::Import),
        Imports::Rust => Meaning::Module(path.to_owned(), Rc::clone(from)),
        Imports::Package => Meaning::External,
        _ if from.syntax.namespaces => Meaning::Module(path.to_owned(), Rc::clone(from)),
        _ => Meaning::Unknown,
    })
}

/// Returns the definitions that a Rust path can name. Prefers definitions in the module of the path to definitions that
/// the crate of the path may re-export.
fn in_crates(index: &Index<'_>, path: &str, name: &str, from: &Rc<Definition>) -> Result<Definitions> {
    let (mut found, mut reexported) = (Vec::new(), Vec::new());
    let namesakes = index.named(name)?;
    index.add_work(namesakes.len() as u64);
    for other in namesakes.iter().filter(|other| other.syntax.group == from.syntax.group) {
        let is_candidate = crates::may_reach(path, other) && NameRole::Callable.accepts(other);
        match if is_candidate { crates::reach(index, path, from, other)? } else { Reach::Never } {
            Reach::Exactly => found.push(Rc::clone(other)),
            Reach::Crate => reexported.push(Rc::clone(other)),
            Reach::Never => {}
        }
    }
    if found.is_empty() && !reexported.is_empty() && !crates::is_file(index, path, from)? {
        found = reexported;
    }
    Ok(found)
}

/// Resolves a name that a module exports.
pub(crate) fn module_export(
    index: &Index<'_>,
    module: &str,
    name: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning> {
    match from.syntax.imports {
        Imports::Python | Imports::Ecma | Imports::Lua => {
            let files = modules::files(index, module, &from.path, from.syntax.imports)?;
            for file in &files {
                match exported(index, file, name, search)? {
                    Meaning::Unknown | Meaning::External => {}
                    meaning => return Ok(meaning),
                }
            }
            if from.syntax.imports == Imports::Python {
                let inner = if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") };
                if !modules::files(index, &inner, &from.path, from.syntax.imports)?.is_empty() {
                    return Ok(Meaning::Module(inner, Rc::clone(from)));
                }
            }
            Ok(files.into_iter().next().map_or(Meaning::External, |file| Meaning::Variable(file, name.to_owned())))
        }
        Imports::Go => {
            let mut found = index.named_in(name, from.syntax.group)?;
            retain(&mut found, |other| modules::names(index, module, from, other))?;
            Ok(Meaning::from_found(found, Reason::Import, Meaning::External))
        }
        Imports::Rust => named_by(index, &format!("{module}::{name}"), from, search),
        _ if names_file(module, from) => {
            let file = module.rsplit(['/', ':']).next().unwrap_or(module);
            let mut found = index.named_in(name, from.syntax.group)?;
            found.retain(|other| {
                other.owner().is_empty()
                    && NameRole::Callable.accepts(other)
                    && other.path.rsplit('/').next() == Some(file)
            });
            Ok(Meaning::from_found(found, Reason::Import, Meaning::Unknown))
        }
        _ => named_by(index, &format!("{module}.{name}"), from, search),
    }
}

/// Returns whether an import names a file, as in Dart and Zig: `b.dart`, `b.zig`.
fn names_file(path: &str, from: &Definition) -> bool {
    from.syntax.imports == Imports::Global && (path.ends_with(".dart") || path.ends_with(".zig"))
}

/// Returns the definitions of a name in the module with a given full name, regardless of the module's file.
pub(crate) fn from_named_module(index: &Index<'_>, module: &str, name: &str, from: &Definition) -> Result<Meaning> {
    let mut found = Vec::new();
    for module in modules::named(index, module, from)?.iter().take(1) {
        found = index.own_members(module, name)?;
    }
    Ok(Meaning::from_found(found, Reason::Import, Meaning::Unknown))
}

/// Returns the full name of the module that has the alias `name` in the file of `from`.
pub(crate) fn aliased(index: &Index<'_>, name: &str, from: &Definition) -> Result<Option<String>> {
    let file = index.file(&from.path)?;
    if let Some(binding) = file.bindings.iter().find(|binding| binding.name == name && binding.member.is_empty()) {
        return Ok(Some(binding.path.clone()));
    }
    let is_it = |path: &&String| path.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    Ok(file.imports.iter().find(is_it).cloned())
}

/// Resolves a name to the export of the first of several modules that exports the name.
pub(crate) fn exported_by(
    index: &Index<'_>,
    modules: &[String],
    from: &Definition,
    name: &str,
    search: &mut ExportSearch,
) -> Result<Meaning> {
    for module in modules {
        if !index.may_step() {
            break;
        }
        for file in modules::files(index, module, &from.path, from.syntax.imports)? {
            match exported(index, &file, name, search)? {
                Meaning::Unknown | Meaning::External => {}
                meaning => return Ok(meaning),
            }
        }
    }
    Ok(Meaning::Unknown)
}

/// Resolves a name that a file defines or re-exports. `default NAME` means the default export, imported as NAME.
fn exported(index: &Index<'_>, path: &str, name: &str, search: &mut ExportSearch) -> Result<Meaning> {
    if search.depth >= MAX_EXPORT_DEPTH || !search.visited.insert((path.to_owned(), name.to_owned())) {
        return Ok(Meaning::Unknown);
    }
    let file = index.file(path)?;
    let found = match name.strip_prefix("default") {
        Some(bound) if bound.is_empty() || bound.starts_with(' ') => default_export(index, path, bound.trim())?,
        _ => {
            let mut owner = String::new();
            if let Some(from) = file.definitions.first().filter(|from| from.syntax.imports == Imports::Lua) {
                owner = returned(index, from)?.unwrap_or_default();
                let inner = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
                if file.has_members(&inner) {
                    return Ok(Meaning::Variable(path.to_owned(), inner));
                }
            }
            members_of(index, path, &owner, name)?
        }
    };
    if !found.is_empty() {
        return Ok(Meaning::Definitions(found, Reason::Import));
    }
    let Some(from) = file.definitions.first() else { return Ok(Meaning::Unknown) };
    for alias in aliases(index, path)?.iter().filter(|alias| alias.exported == name) {
        let found = members_of(index, path, "", &alias.local)?;
        if !found.is_empty() {
            return Ok(Meaning::Definitions(found, Reason::Import));
        }
    }
    search.depth += 1;
    let bound = if name.starts_with("default ") { "default" } else { name };
    let found = match imported(index, bound, from, search)? {
        Meaning::Unknown => exported_by(index, &wildcards(index, from)?, from, name, search)?,
        meaning => meaning,
    };
    search.depth -= 1;
    Ok(found)
}

/// Returns the callable definitions of a name in a file whose owner is `owner`. At the top level, the owner is empty.
fn members_of(index: &Index<'_>, path: &str, owner: &str, name: &str) -> Result<Definitions> {
    let file = index.file(path)?;
    let found = file.named(name).filter(|other| other.owner() == owner && NameRole::Callable.accepts(other));
    Ok(found.cloned().collect())
}

/// Returns the default export of a JavaScript module that another file imports under the name `bound`.
fn default_export(index: &Index<'_>, path: &str, bound: &str) -> Result<Definitions> {
    for alias in aliases(index, path)?.iter().filter(|alias| alias.exported == "default") {
        let found = members_of(index, path, "", &alias.local)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = members_of(index, path, "", bound)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let file = index.file(path)?;
    let types: Definitions =
        file.definitions.iter().filter(|other| other.is_type() && other.owner().is_empty()).cloned().collect();
    if types.len() == 1 {
        return Ok(types);
    }
    Ok(file.definitions.iter().filter(|other| other.is_component()).take(1).cloned().collect())
}

/// Returns whether a definition is the default export of its file.
pub(crate) fn is_default(index: &Index<'_>, of: &Definition) -> Result<bool> {
    Ok(default_export(index, &of.path, "")?.iter().any(|other| other.id == of.id))
}

/// Returns the names under which a file exports definitions with a different local name, including its default export.
pub(crate) fn aliases(index: &Index<'_>, path: &str) -> Result<Rc<[Alias]>> {
    index.caches.exports.get_or(path, || {
        let file = index.file(path)?;
        let mut found = Vec::new();
        for definition in file.definitions.iter().filter(|definition| !definition.is_module).take(MAX_EXPORTS) {
            let is_top = definition.owner().is_empty() && definition.syntax.imports == Imports::Ecma;
            let Some(text) = (if is_top { index.snapshot.text(definition.id)? } else { None }) else { continue };
            let signature = text.signature.trim_start();
            if signature.starts_with("export default") || signature.starts_with("module.exports =") {
                found.push(Alias { exported: "default".to_owned(), local: definition.name.clone() });
            }
        }
        for module in file.definitions.iter().filter(|definition| definition.is_module) {
            let table = match module.syntax.imports {
                Imports::Lua => returned(index, module)?,
                Imports::Ecma => None,
                _ => continue,
            };
            exported_names(&*index.tokens(module)?, table.as_deref(), &mut found);
        }
        Ok(found.into())
    })
}

/// Returns the name of the table that a Lua module returns, if it has one.
fn returned(index: &Index<'_>, from: &Definition) -> Result<Option<String>> {
    let file = index.file(&from.path)?;
    for module in file.definitions.iter().filter(|definition| definition.is_module) {
        let tokens = index.tokens(module)?;
        let Some(at) = tokens.positions("return").last() else { continue };
        let at = if tokens.at(at + 1) == "setmetatable" && tokens.at(at + 2) == "(" { at + 3 } else { at + 1 };
        if tokens.is_name(at) {
            return Ok(Some(tokens.at(at).to_owned()));
        }
    }
    Ok(None)
}

/// Collects the aliases of `export default local`, `export { local as exported }`, `module.exports = { exported: local
/// }` and `exports.exported = local`, and in Lua of `return { exported = local }` and `table.exported = local`.
fn exported_names(tokens: &Tokens, table: Option<&str>, found: &mut Vec<Alias>) {
    let mut add = |exported: &str, local: usize| {
        let ends = !matches!(tokens.at(local + 1), "." | "(" | "[") || tokens.is_first(local + 1);
        if found.len() < MAX_EXPORTS && tokens.is_name(local) && ends && tokens.at(local) != exported {
            found.push(Alias { exported: exported.to_owned(), local: tokens.at(local).to_owned() });
        }
    };
    for at in (0..tokens.len()).filter(|at| tokens.is_name(*at)) {
        let separator = match (tokens.at(at), tokens.at(at + 1)) {
            ("default", _) if tokens.before(at) == "export" => {
                add("default", at + 1);
                continue;
            }
            ("exports", "=") | ("export", "=") => {
                add("default", at + 2);
                continue;
            }
            (_, "as" | ":" | "=") => tokens.at(at + 1),
            _ => continue,
        };
        let owner = at.checked_sub(2).filter(|_| tokens.before(at) == ".").map(|owner| tokens.at(owner));
        let opener = tokens.opener(at).filter(|opener| tokens.at(*opener) == "{" && owner.is_none());
        let holder = opener.map(|opener| match tokens.before(opener) {
            "=" if opener >= 2 => tokens.at(opener - 2),
            word => word,
        });
        match (separator, holder) {
            ("as", Some("export")) => add(tokens.at(at + 2), at),
            (":", Some("exports")) | ("=", Some("return")) => add(tokens.at(at), at + 2),
            ("=", None) if owner.is_some() && (owner == Some("exports") || owner == table) => {
                add(tokens.at(at), at + 2)
            }
            _ => {}
        }
    }
}

/// Returns the packages and modules from which a file imports every name.
pub(crate) fn wildcards(index: &Index<'_>, from: &Definition) -> Result<Vec<String>> {
    let file = index.file(&from.path)?;
    // In Rust, the path itself ends with the wildcard.
    let is_open = |path: &&String| from.syntax.imports == Imports::Rust && path.ends_with("::*");
    let all = file.bindings.iter().filter(|binding| binding.name == "*" && binding.member == "*");
    let all = all.map(|binding| &binding.path).chain(file.imports.iter().filter(is_open));
    Ok(all.cloned().collect())
}
