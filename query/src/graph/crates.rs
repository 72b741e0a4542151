//! Resolves Rust paths against crates, the modules of their files, and inline modules.

use std::rc::Rc;

use super::index::{Definition, Index, Result, directory};
use super::modules::ancestors;
use super::target::Module;

/// Maximum number of ancestor directories of a file that are searched for its crate.
const MAX_ANCESTORS: usize = 16;
/// Maximum number of wildcard imports that are followed.
const MAX_REEXPORTS: usize = 4;
/// Directories in which each file is a separate crate.
const TARGETS: [&str; 3] = ["tests", "examples", "benches"];

/// The result of matching a path with a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path names the module of the definition.
    Exactly,
    /// The path names the crate of the definition. The crate may re-export the definition.
    Crate,
    /// The path cannot refer to the definition.
    Never,
}

/// Matches `path`, as written in `from`, with the definition `target`, whose name is the last part of the path.
pub(crate) fn reach(index: &Index<'_>, path: &str, from: &Definition, target: &Definition) -> Result<Reach> {
    let here = module_of(index, from)?;
    let there = file_module(index, &target.path)?;
    let names = |path: &str| path.split("::").map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    let whole: Vec<String> = there.path.iter().cloned().chain(names(&target.qualified_name)).collect();
    let is_own = here.directory == there.directory && here.target == there.target;
    let parts = names(path.trim_start_matches("::"));
    // `Type::name` is a member of a type, not a function of a module.
    let of_type = parts.iter().rev().nth(1).is_some_and(|outer| outer.starts_with(char::is_uppercase));
    let reexported = |in_crate: bool| match in_crate && !of_type && is_free(target) {
        true => Reach::Crate,
        false => Reach::Never,
    };
    let Some((first, rest)) = parts.split_first() else { return Ok(Reach::Never) };
    let base = match first.as_str() {
        "crate" => Some((Vec::new(), rest)),
        "self" => Some((here.path.clone(), rest)),
        "super" => {
            let ups = parts.iter().take_while(|part| *part == "super").count();
            let Some(left) = here.path.len().checked_sub(ups) else { return Ok(Reach::Never) };
            Some((here.path[..left].to_vec(), &parts[ups..]))
        }
        _ => None,
    };
    if let Some((mut base, rest)) = base {
        base.extend(rest.iter().cloned());
        return Ok(if is_own && base == whole { Reach::Exactly } else { reexported(is_own) });
    }
    // The path starts with a child of the current module, or of an enclosing module whose names are imported. Before
    // Rust 2018, the path may also start with a child of the crate root.
    let is_inside = whole.strip_suffix(parts.as_slice()).is_some_and(|around| here.path.starts_with(around));
    if is_own && is_inside {
        return Ok(Reach::Exactly);
    }
    let is_named =
        there.target == "src" && index.crate_name(&below(&there.directory, "Cargo.toml"))?.as_ref() == Some(first);
    if is_named {
        return Ok(if rest == whole { Reach::Exactly } else { reexported(true) });
    }
    // The path may start with the name of an imported module.
    let is_outside = matches!(first.as_str(), "std" | "core" | "alloc");
    Ok(reexported(is_own && !is_outside && parts.len() > 1 && whole.ends_with(&parts)))
}

/// Returns a key of the module that contains a definition. Paths in definitions with the same key have the same meaning.
pub(crate) fn place(index: &Index<'_>, of: &Definition) -> Result<String> {
    let module = module_of(index, of)?;
    Ok(format!("{}|{}|{}", module.directory, module.target, module.path.join("::")))
}

/// Returns false if `path` cannot reach `target` because the part before the last names another type or module.
pub(crate) fn may_reach(path: &str, target: &Definition) -> bool {
    let outer = path.rsplit("::").nth(1).map_or("", str::trim);
    let owner = target.owner();
    let is_inside = owner.is_empty() || owner.rsplit("::").next() == Some(outer);
    if outer.starts_with(char::is_uppercase) { !owner.is_empty() && is_inside } else { is_inside || is_free(target) }
}

/// Returns whether a path in the text of `from` names a file of the same crate.
pub(crate) fn is_file(index: &Index<'_>, path: &str, from: &Definition) -> Result<bool> {
    Ok(file(index, path, from)?.is_some())
}

/// Returns the file of the same crate that a path in the text of `from` names.
pub(crate) fn file(index: &Index<'_>, path: &str, from: &Definition) -> Result<Option<String>> {
    let here = module_of(index, from)?;
    let mut at = here.path.clone();
    for (number, part) in path.split("::").map(str::trim).enumerate() {
        match part {
            "crate" if number == 0 => at.clear(),
            "self" if number == 0 => {}
            "super" => drop(at.pop()),
            part => at.push(part.to_owned()),
        }
    }
    let root = below(&here.directory, &here.target);
    let place = format!("{root}/{}", at.join("/"));
    for candidate in [format!("{place}.rs"), format!("{place}/mod.rs")] {
        if index.has_file(&candidate)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// Returns whether a wildcard import at `path`, which ends with `::*`, applies to the text of `from`. An inline module
/// such as `mod tests` imports the names of the module around it only for itself.
pub(crate) fn is_open(index: &Index<'_>, path: &str, from: &Definition) -> Result<bool> {
    if !path.starts_with("super::") || module_of(index, from)? != file_module(index, &from.path)? {
        return Ok(true);
    }
    for module in index.file(&from.path)?.definitions.iter().filter(|definition| definition.is_module) {
        let tokens = index.tokens(module)?;
        if tokens.positions("super").any(|at| tokens.before(at) == "use" && tokens.opener(at).is_none()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the module that a wildcard import names, and not only its crate, provides the definition `target`.
/// `module` is the path without `::*`. If the file of the module is unknown, its names are unknown as well.
pub(crate) fn exports(
    index: &Index<'_>,
    module: &str,
    from: &Definition,
    target: &Definition,
    depth: usize,
) -> Result<bool> {
    let Some(path) = file(index, module, from)?.filter(|_| depth < MAX_REEXPORTS) else { return Ok(depth == 0) };
    let exporting = index.file(&path)?;
    let Some(inside) = exporting.definitions.first() else { return Ok(false) };
    for import in exporting.imports.iter().filter(|import| import.rsplit("::").next() == Some(target.name.as_str())) {
        if reach(index, import, inside, target)? != Reach::Never {
            return Ok(true);
        }
    }
    for open in exporting.imports.iter().filter_map(|import| import.strip_suffix("::*")) {
        let inner = format!("{open}::{}", target.name);
        let is_it = reach(index, &inner, inside, target)? == Reach::Exactly;
        if is_it || (file(index, open, inside)?.is_some() && exports(index, open, inside, target, depth + 1)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether other crates can use the public items of a file. The files of a program, a test or an example belong
/// to no library.
pub(crate) fn is_library(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let module = file_module(index, &of.path)?;
    if module.target != "src" {
        return Ok(module.target.is_empty());
    }
    let root = below(&module.directory, "src");
    Ok(index.has_file(&format!("{root}/lib.rs"))?
        || !index.has_file(&format!("{root}/main.rs"))?
        || index.has_library(&below(&module.directory, "Cargo.toml"))?)
}

/// Returns whether a definition is not a member of a type, judging by the case of the enclosing names.
fn is_free(of: &Definition) -> bool {
    of.owner().split("::").all(|part| part.is_empty() || part.starts_with(char::is_lowercase))
}

/// Returns the module that contains a definition. Inline modules are recognised by their lower-case names.
fn module_of(index: &Index<'_>, of: &Definition) -> Result<Rc<Module>> {
    let mut module = file_module(index, &of.path)?;
    if of.is_module || of.owner().is_empty() {
        return Ok(module);
    }
    let file = index.file(&of.path)?;
    let mut outer = String::new();
    for part in of.owner().split("::").filter(|part| !part.is_empty()) {
        let qualified = if outer.is_empty() { part.to_owned() } else { format!("{outer}::{part}") };
        let is_item =
            file.named(part).any(|other| other.qualified_name == qualified && (other.is_function() || other.is_type()));
        if is_item || !part.starts_with(|c: char| c.is_lowercase() || c == '_') {
            break;
        }
        Rc::make_mut(&mut module).path.push(part.to_owned());
        outer = qualified;
    }
    Ok(module)
}

fn file_module(index: &Index<'_>, path: &str) -> Result<Rc<Module>> {
    index.caches.modules.get_or(path, || Ok(Rc::new(find_module(index, path)?)))
}

fn find_module(index: &Index<'_>, path: &str) -> Result<Module> {
    let mut found = None;
    for ancestor in ancestors(directory(path)).take(MAX_ANCESTORS) {
        if index.has_file(&below(ancestor, "Cargo.toml"))? {
            found = Some(ancestor);
            break;
        }
    }
    let directory =
        found.unwrap_or_else(|| path.split_once("src/").map_or("", |(before, _)| before.trim_end_matches('/')));
    let inside = path.strip_prefix(directory).unwrap_or(path).trim_start_matches('/');
    let parts: Vec<&str> = inside.strip_suffix(".rs").unwrap_or(inside).split('/').collect();
    let (target, modules) = match parts.as_slice() {
        ["src", "bin", name, rest @ ..] => (format!("src/bin/{name}"), rest),
        ["src", rest @ ..] => ("src".to_owned(), rest),
        [kind, name, rest @ ..] if TARGETS.contains(kind) => {
            let own = format!("{kind}/{name}");
            match index.has_file(&below(directory, &format!("{own}/main.rs")))? {
                true => (own, rest),
                false if rest.is_empty() => ((*kind).to_owned(), rest),
                false => ((*kind).to_owned(), &parts[1..]),
            }
        }
        rest => (String::new(), rest),
    };
    let modules: &[&str] = match modules {
        ["lib" | "main"] => &[],
        [outer @ .., "mod"] => outer,
        [outer @ .., "main"] if target.contains('/') => outer,
        all => all,
    };
    let path = modules.iter().map(|part| (*part).to_owned()).collect();
    Ok(Module { directory: directory.to_owned(), target, path })
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
