//! Resolves the paths of imports to files.

use super::index::{Definition, Definitions, Index, Result, directory};
use super::syntax::Imports;

/// Endings of files that an import of a module can omit, in the order in which they are tried.
#[rustfmt::skip]
const ECMA_ENDINGS: [&str; 18] = [
    "", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", "/index.ts", "/index.tsx",
    "/index.js", "/index.jsx", "/index.mjs", "/index.cjs", "/index.d.ts",
];
/// Endings of compiled modules, whose source files have other endings.
const ECMA_BUILT: [&str; 4] = [".js", ".jsx", ".mjs", ".cjs"];
const LUA_ENDINGS: [&str; 3] = [".lua", "/init.lua", ""];
const PYTHON_ENDINGS: [&str; 4] = [".py", "/__init__.py", ".pyi", "/__init__.pyi"];
/// Source directories that import paths can omit.
const ROOTS: [&str; 5] = ["", "src", "lib", "python", "lua"];
/// Maximum number of ancestor directories of a file that are tried as the root of its imports.
const MAX_ANCESTORS: usize = 16;

/// Returns the files of the module `path` that is imported in the file `from`, in languages whose modules are files.
pub(crate) fn files(index: &Index<'_>, path: &str, from: &str, imports: Imports) -> Result<Vec<String>> {
    let (candidates, endings): (Vec<String>, &[&str]) = match imports {
        Imports::Python => (python_candidates(path, from), &PYTHON_ENDINGS),
        Imports::Lua => (python_candidates(path.trim_start_matches("./"), from), &LUA_ENDINGS),
        Imports::Ecma => (ecma_candidates(path, from), &ECMA_ENDINGS),
        _ => return Ok(Vec::new()),
    };
    for candidate in candidates {
        for ending in endings {
            let file = format!("{candidate}{ending}");
            let file = file.trim_start_matches('/');
            if !file.is_empty() && index.has_file(file)? {
                return Ok(vec![file.to_owned()]);
            }
        }
    }
    Ok(Vec::new())
}

fn python_candidates(path: &str, from: &str) -> Vec<String> {
    let name = path.trim_start_matches('.');
    let below = name.replace('.', "/");
    let dots = path.len() - name.len();
    if dots > 0 {
        let Some(base) = ancestors(directory(from)).nth(dots - 1) else { return Vec::new() };
        return vec![join(base, &below)];
    }
    let roots = ROOTS.iter().copied().chain(ancestors(directory(from)).take(MAX_ANCESTORS));
    roots.map(|root| join(root, &below)).collect()
}

fn ecma_candidates(path: &str, from: &str) -> Vec<String> {
    let mut candidates = Vec::new();
    if path.starts_with('.') {
        candidates.extend(relative(directory(from), path));
    } else {
        let plain = path.trim_start_matches(['@', '~', '$', '#']).trim_start_matches('/');
        let roots = ROOTS.iter().copied().chain(ancestors(directory(from)).take(MAX_ANCESTORS));
        candidates.extend(roots.map(|root| join(root, plain)));
        // The import may name a package of the same repository.
        let package = if path.starts_with('@') { path.split_once('/').map_or("", |(_, name)| name) } else { path };
        let (package, below) = package.split_once('/').unwrap_or((package, "index"));
        candidates.push(format!("packages/{package}/src/{below}"));
        candidates.push(format!("packages/{package}/{below}"));
    }
    let built =
        candidates.iter().filter_map(|candidate| ECMA_BUILT.iter().find_map(|ending| candidate.strip_suffix(ending)));
    let sources: Vec<String> = built.map(str::to_owned).collect();
    candidates.extend(sources);
    candidates
}

/// Resolves a path relative to a directory; `None` if the path leads out of the root.
fn relative(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Yields a directory and its ancestors, up to the root.
pub(crate) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |at| (!at.is_empty()).then(|| super::index::directory(at)))
}

fn join(base: &str, below: &str) -> String {
    match (base, below) {
        ("", below) => below.to_owned(),
        (base, "") => base.to_owned(),
        (base, below) => format!("{base}/{below}"),
    }
}

/// Returns whether the import of `path` in the file `from` can refer to a definition, in languages whose imports name
/// definitions.
pub(crate) fn names(index: &Index<'_>, path: &str, from: &Definition, target: &Definition) -> Result<bool> {
    match from.syntax.imports {
        Imports::Go => {
            Ok(target.owner().is_empty() && go_directory(index, path, from)?.as_deref() == Some(target.directory()))
        }
        Imports::Package => in_package(index, path, target),
        _ => Ok(from.syntax.namespaces && ends_in(&dotted(&target.qualified_name), &dotted(path))),
    }
}

/// Returns the modules with a given full name, in languages that declare modules inside files.
pub(crate) fn named(index: &Index<'_>, name: &str, from: &Definition) -> Result<Definitions> {
    let mut found = Vec::new();
    for part in [name, name.rsplit(['.', ':']).next().unwrap_or(name)] {
        if found.is_empty() {
            found = index.named_in(part, from.syntax.group)?;
            found.retain(|other| other.qualified_name == name && other.is_type());
        }
    }
    Ok(found)
}

/// Converts the separators of a qualified name to dots.
pub(crate) fn dotted(name: &str) -> String {
    name.trim_start_matches(['\\', ':']).replace("::", ".").replace('\\', ".")
}

/// Returns whether a dotted name is `end` or ends with `.` and `end`.
pub(crate) fn ends_in(whole: &str, end: &str) -> bool {
    whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether a path such as `a.b.Outer.Inner` refers to a definition: to `Outer.Inner` in the package `a.b`.
fn in_package(index: &Index<'_>, path: &str, target: &Definition) -> Result<bool> {
    let inner = target.qualified_name.replace("::", ".");
    let Some(package) = path.strip_suffix(inner.as_str()) else { return Ok(false) };
    match package.strip_suffix('.') {
        Some(package) => is_in_package(index, package, target),
        None => Ok(package.is_empty()),
    }
}

/// Returns whether a file declares the package, such as `a.b`, or is in a directory whose path ends with `a/b`.
pub(crate) fn is_in_package(index: &Index<'_>, package: &str, target: &Definition) -> Result<bool> {
    let declared = index.package(&target.path)?;
    Ok(declared.as_deref() == Some(package) || is_below(target.directory(), &package.replace('.', "/")))
}

fn is_below(directory: &str, end: &str) -> bool {
    directory.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns the directory of the package to which a Go import path refers.
pub(crate) fn go_directory(index: &Index<'_>, path: &str, from: &Definition) -> Result<Option<String>> {
    for root in ancestors(from.directory()).take(MAX_ANCESTORS) {
        if let Some(module) = index.go_module(&join(root, "go.mod"))?
            && let Some(below) = path.strip_prefix(module.as_str())
        {
            return Ok(
                Some(join(root, below.trim_start_matches('/'))).filter(|_| below.is_empty() || below.starts_with('/'))
            );
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidate_paths_of_modules() {
        assert_eq!(python_candidates("..a.b", "p/q/r.py"), ["p/a/b"]);
        assert_eq!(python_candidates("a", "p/r.py")[..2], ["a", "src/a"]);
        assert!(python_candidates("....a", "p/r.py").is_empty());
        assert_eq!(ecma_candidates("../a/b.js", "p/q/r.ts"), ["p/a/b.js", "p/a/b"]);
        assert!(ecma_candidates("../../../a", "p/q/r.ts").is_empty());
        assert!(is_below("x/a/b", "a/b") && !is_below("xa/b", "a/b"));
    }
}
