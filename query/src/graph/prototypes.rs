//! Declarations of functions and types that are defined elsewhere, and the definitions that they declare.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::index::{Definition, Definitions, Index, Result, directory};
use super::tokens::Tokens;

/// Replaces each declaration with the definitions that it declares.
pub(crate) fn resolve_declarations(index: &Index<'_>, found: Definitions) -> Result<Definitions> {
    let mut resolved: Definitions = Vec::with_capacity(found.len());
    let mut seen = FxHashSet::default();
    for one in found {
        resolved.extend(declared_by(index, &one)?.into_iter().filter(|declared| seen.insert(declared.id)));
    }
    Ok(resolved)
}

/// Returns the definitions that the declaration `one` declares. If the index does not contain a definition, returns the
/// first declaration of the same function or type. If `one` is not a declaration, returns `one` itself.
pub(crate) fn declared_by(index: &Index<'_>, one: &Rc<Definition>) -> Result<Definitions> {
    if !is_declaration(index, one)? {
        return Ok(vec![Rc::clone(one)]);
    }
    let arity = arity(index, one)?;
    let (mut defined, mut declared) = (Vec::new(), Vec::new());
    for other in namesakes(index, one)? {
        let is_declaration = is_declaration(index, &other)?;
        let list = if is_declaration { &mut declared } else { &mut defined };
        list.push((self::arity(index, &other)? == arity, other));
    }
    // Prefer definitions with the same number of parameters, because the others are overloads. If no definition has
    // this number, keep all definitions, because a declaration in C may omit its parameters.
    if defined.iter().any(|(fits, _)| *fits) {
        defined.retain(|(fits, _)| *fits);
    }
    if defined.iter().any(|(_, other)| other.path == one.path) {
        defined.retain(|(_, other)| other.path == one.path);
    } else {
        defined.retain(|(_, other)| !other.is_local);
    }
    if !defined.is_empty() {
        return Ok(defined.into_iter().map(|(_, other)| other).collect());
    }
    // Several files may declare one function, but several declarations in one file are overloads, not the same
    // function.
    let first = declared.into_iter().find(|(fits, other)| *fits && (other.id == one.id || other.path != one.path));
    Ok(vec![first.map_or_else(|| Rc::clone(one), |(_, other)| other)])
}

/// Returns the declarations of a definition.
pub(crate) fn declarations(index: &Index<'_>, of: &Rc<Definition>) -> Result<Definitions> {
    let mut found = Vec::new();
    for other in namesakes(index, of)? {
        if other.id != of.id
            && is_declaration(index, &other)?
            && declared_by(index, &other)?.iter().any(|declared| declared.id == of.id)
        {
            found.push(other);
        }
    }
    Ok(found)
}

/// Returns all definitions and declarations with the same qualified name as `of`, including `of` itself, ordered by
/// key. Some of them may be declarations of others.
fn namesakes(index: &Index<'_>, of: &Rc<Definition>) -> Result<Definitions> {
    if !of.syntax.prototypes {
        return Ok(Vec::new());
    }
    let is_module = of.syntax.imports.are_files();
    let mut same = index.named_in(&of.name, of.syntax.group)?;
    same.retain(|other| {
        other.qualified_name == of.qualified_name
            && other.is_type() == of.is_type()
            && (!is_module || same_module(&other.path, &of.path))
    });
    Ok(same)
}

/// Returns whether a definition is only a declaration: a function without a body, a forward declaration of a type, or
/// an item of a declaration file.
fn is_declaration(index: &Index<'_>, of: &Definition) -> Result<bool> {
    if !of.syntax.prototypes || of.is_module {
        return Ok(false);
    }
    index.caches.prototypes.get_or(&of.id, || {
        if of.syntax.imports.are_files() {
            return Ok(is_declaration_file(&of.path));
        }
        if !(of.is_function() || of.is_type()) || index.pieces(of)?.len() > 1 {
            return Ok(false);
        }
        let tokens = index.tokens(of)?;
        Ok(if of.is_function() { has_no_body(&tokens) } else { names_itself(&tokens, &of.name) })
    })
}

/// Returns whether a function has no body: `int f(int);`, `virtual void f() = 0;`.
fn has_no_body(tokens: &Tokens) -> bool {
    if tokens.at(0) == "#" {
        return false;
    }
    let mut at = 0;
    while at < tokens.len() {
        match tokens.at(at) {
            "(" | "[" => at = tokens.closer(at).unwrap_or(at),
            "{" | "try" => return false,
            "=" if matches!(tokens.at(at + 1), "default" | "delete") => return false,
            _ => {}
        }
        at += 1;
    }
    true
}

/// Returns whether a text has the form `typedef struct name name;`.
fn names_itself(tokens: &Tokens, name: &str) -> bool {
    tokens.at(0) == "typedef"
        && matches!(tokens.at(1), "struct" | "union" | "enum" | "class")
        && tokens.at(2) == name
        && tokens.at(3) == name
}

/// Returns the maximum number of arguments of a function; `None` if `of` is not a function or has no parameter list.
fn arity(index: &Index<'_>, of: &Definition) -> Result<Option<usize>> {
    if !of.is_function() {
        return Ok(None);
    }
    Ok(index.signature(of)?.map(|read| read.arguments().1))
}

fn is_declaration_file(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts", ".pyi"].iter().any(|ending| path.ends_with(ending))
}

/// Returns whether one file can be a module and the other file the declarations of this module. Two files `__init__`
/// must be in the same directory, because a Python package has the name of its directory.
fn same_module(one: &str, other: &str) -> bool {
    stem(one) == stem(other) && (stem(one) != "__init__" || directory(one) == directory(other))
}

/// Returns the name of a file up to its first dot.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::syntax;

    #[test]
    fn declarations_without_a_definition_are_recognised() {
        let declares = |text: &str| has_no_body(&Tokens::read(text.to_owned(), syntax::for_language("cpp")));
        for text in ["int f(int);", "virtual void f(S s = {}) = 0;", "K *f(void) __attribute__((noreturn));"] {
            assert!(declares(text), "{text}");
        }
        for text in
            ["int f(int a) { return a; }", "K() = default;", "#define f(x) x", "K::K() : a{1} {}", "int f(a) int a; {}"]
        {
            assert!(!declares(text), "{text}");
        }
        let tokens = |text: &str| Tokens::read(text.to_owned(), syntax::for_language("c"));
        assert!(names_itself(&tokens("typedef struct S S;"), "S"));
        assert!(!names_itself(&tokens("typedef struct T S;"), "S"));
    }
}
