//! What the imports of a file mean, through re-exports.

use std::rc::Rc;

use aurora_storage::{Binding, StorageError};
use rustc_hash::FxHashSet;

use super::crates::{self, Reach};
use super::index::{Definition, Index};
use super::meaning::{Meaning, Wanted};
use super::modules;
use super::reason::Reason;
use super::syntax::Imports;
use super::tokens::Tokens;

/// How many files a re-export is followed through.
const DEEPEST_EXPORT: u32 = 32;

/// A search for an exported name through the modules that pass it on. Modules may re-export each other: each one is asked for a
/// name once.
#[derive(Debug, Default)]
pub(crate) struct ExportSearch {
    asked: FxHashSet<(String, String)>,
    depth: u32,
}

/// What a file imports under a name; [`Meaning::Unknown`] if it imports none.
pub(crate) fn imported(
    index: &Index<'_>,
    name: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning, StorageError> {
    let file = index.file(&from.path)?;
    if let Some(Binding { path, member, .. }) = file.bindings.iter().find(|binding| binding.name == name) {
        return match member.as_str() {
            "*" => Ok(Meaning::Module(path.clone(), Rc::clone(from))),
            "" => named_by(index, path, from, search),
            member => {
                let member = if member == "default" { format!("default {name}") } else { member.to_owned() };
                of_module(index, path, &member, from, search)
            }
        };
    }
    // A namespace whose names are all imported is no name.
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

/// What the path of an import means, which names a module or a definition.
pub(crate) fn named_by(
    index: &Index<'_>,
    path: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning, StorageError> {
    let imports = from.syntax.imports;
    if matches!(imports, Imports::Python | Imports::Ecma) {
        if !modules::files(index, path, &from.path, imports)?.is_empty() {
            return Ok(Meaning::Module(path.to_owned(), Rc::clone(from)));
        }
        let Some((module, name)) = path.rsplit_once('.') else { return Ok(Meaning::External) };
        // The last of leading dots belongs to the module.
        let module = if module.is_empty() || module.ends_with('.') { &path[..module.len() + 1] } else { module };
        return of_module(index, module, name, from, search);
    }
    let name = path.rsplit(['.', ':', '/', '\\']).next().unwrap_or(path);
    if imports == Imports::Go {
        return Ok(match modules::go_directory(index, path, from)? {
            Some(_) => Meaning::Module(path.to_owned(), Rc::clone(from)),
            None => Meaning::External,
        });
    }
    let (mut found, mut passed_on) = (Vec::new(), Vec::new());
    for other in index.named(name)?.iter().filter(|other| other.syntax.group == from.syntax.group) {
        let reach = match imports {
            _ if !Wanted::Callable.accepts(other) => Reach::Never,
            Imports::Rust => crates::reach(index, path, from, other)?,
            _ if modules::names(index, path, from, other)? => Reach::Exactly,
            _ => Reach::Never,
        };
        match reach {
            Reach::Exactly => found.push(Rc::clone(other)),
            Reach::Crate => passed_on.push(Rc::clone(other)),
            Reach::Never => {}
        }
    }
    if found.is_empty() && !passed_on.is_empty() && !crates::is_file(index, path, from)? {
        found = passed_on;
    }
    Ok(match imports {
        _ if !found.is_empty() => Meaning::Definitions(found, Reason::Import),
        Imports::Rust => Meaning::Module(path.to_owned(), Rc::clone(from)),
        Imports::Package => Meaning::External,
        _ if from.syntax.namespaces => Meaning::Module(path.to_owned(), Rc::clone(from)),
        _ => Meaning::Unknown,
    })
}

/// What a module exports under a name.
pub(crate) fn of_module(
    index: &Index<'_>,
    module: &str,
    name: &str,
    from: &Rc<Definition>,
    search: &mut ExportSearch,
) -> Result<Meaning, StorageError> {
    match from.syntax.imports {
        Imports::Python | Imports::Ecma => {
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
            let mut found = Vec::new();
            for other in index.named(name)?.iter().filter(|other| other.syntax.group == from.syntax.group) {
                if modules::names(index, module, from, other)? {
                    found.push(Rc::clone(other));
                }
            }
            Ok(if found.is_empty() { Meaning::External } else { Meaning::Definitions(found, Reason::Import) })
        }
        Imports::Rust => named_by(index, &format!("{module}::{name}"), from, search),
        _ => named_by(index, &format!("{module}.{name}"), from, search),
    }
}

/// What the first of some modules that exports a name exports under it.
pub(crate) fn exported_by(
    index: &Index<'_>,
    modules: &[String],
    from: &Definition,
    name: &str,
    search: &mut ExportSearch,
) -> Result<Meaning, StorageError> {
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

/// What a file defines or re-exports under a name; `default NAME` is its default export, imported as NAME.
fn exported(index: &Index<'_>, path: &str, name: &str, search: &mut ExportSearch) -> Result<Meaning, StorageError> {
    if search.depth >= DEEPEST_EXPORT || !search.asked.insert((path.to_owned(), name.to_owned())) {
        return Ok(Meaning::Unknown);
    }
    let file = index.file(path)?;
    let found = match name.strip_prefix("default") {
        Some(bound) if bound.is_empty() || bound.starts_with(' ') => default_export(index, path, bound.trim())?,
        _ => {
            let top = file.named(name).filter(|other| other.owner().is_empty() && Wanted::Callable.accepts(other));
            top.cloned().collect()
        }
    };
    if !found.is_empty() {
        return Ok(Meaning::Definitions(found, Reason::Import));
    }
    let Some(from) = file.definitions.first() else { return Ok(Meaning::Unknown) };
    search.depth += 1;
    let found = match imported(index, name, from, search)? {
        Meaning::Unknown => exported_by(index, &wildcards(index, from)?, from, name, search)?,
        meaning => meaning,
    };
    search.depth -= 1;
    Ok(found)
}

/// The definition that a module of JavaScript exports as its default, imported under the name `bound`.
fn default_export(index: &Index<'_>, path: &str, bound: &str) -> Result<Vec<Rc<Definition>>, StorageError> {
    let file = index.file(path)?;
    let top = |name: &str| -> Vec<Rc<Definition>> {
        file.named(name).filter(|other| other.owner().is_empty() && !other.is_module).cloned().collect()
    };
    for name in ["default", bound] {
        let found = top(name);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    for module in file.definitions.iter().filter(|definition| definition.is_module) {
        let tokens = index.tokens(module)?;
        if let Some(name) = default_name(&tokens) {
            return Ok(top(name));
        }
    }
    let types: Vec<Rc<Definition>> =
        file.definitions.iter().filter(|other| other.is_type() && other.owner().is_empty()).cloned().collect();
    Ok(if types.len() == 1 { types } else { Vec::new() })
}

/// `Name` of `export default Name`.
fn default_name(tokens: &Tokens) -> Option<&str> {
    let at = tokens.places("default").find(|at| tokens.before(*at) == "export")?;
    tokens.is_name(at + 1).then(|| tokens.at(at + 1))
}

/// Packages and modules of which a file imports every name.
pub(crate) fn wildcards(index: &Index<'_>, from: &Definition) -> Result<Vec<String>, StorageError> {
    let file = index.file(&from.path)?;
    let all = file.bindings.iter().filter(|binding| binding.name == "*" && binding.member == "*");
    Ok(all.map(|binding| binding.path.clone()).collect())
}
