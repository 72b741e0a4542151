//! References to a definition that are not calls: uses of a type, and functions that are passed as values.

use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkType};
use rustc_hash::FxHashSet;

use super::call_sites::{self, start_of};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Definitions, Index, Result, retain};
use super::infer::{Reader, Value};
use super::meaning::{Meaning, NameRole};
use super::parts::{self, Part};
use super::prototypes;
use super::reason::Reason;
use super::resolve::Target;
use super::scope;
use super::syntax::Imports;
use super::tokens::Tokens;

/// Maximum number of chunks that are read for one name.
const MAX_CHUNKS: u64 = 1_024;
/// Maximum number of tokens of the parameters of a closure.
const MAX_CLOSURE_TOKENS: usize = 16;
/// Words that begin an import, a re-export or the declaration of a package.
const IMPORT_WORDS: [&str; 9] = ["import", "from", "use", "using", "require", "include", "package", "export", "mod"];

/// Definitions that refer to another definition.
pub(crate) struct Referring {
    pub(crate) targets: Vec<Target>,
    /// Whether the name is too common to read every chunk that mentions it.
    pub(crate) is_cut: bool,
}

/// Returns the definitions that refer to `of` by one of `names` without a call. If `variable` is given, returns the
/// definitions that refer to the variable of this name at the top of the module `of`.
pub(crate) fn referring(
    index: &Index<'_>,
    of: &Rc<Definition>,
    names: &[String],
    variable: Option<&str>,
) -> Result<Referring> {
    let mut found = Referring { targets: Vec::new(), is_cut: false };
    let mut seen = FxHashSet::default();
    for name in names {
        let chunks = index.snapshot.postings(&name.to_lowercase())?.docs();
        found.is_cut |= chunks.len() > MAX_CHUNKS;
        if chunks.len() > MAX_CHUNKS {
            continue;
        }
        for id in chunks.iter().map(ChunkId) {
            if index.is_spent() {
                found.is_cut = true;
                return Ok(found);
            }
            let Some(from) = index.definition(id)? else { continue };
            let is_other = from.id != of.id && from.syntax.group == of.syntax.group;
            if !is_other || !seen.insert((from.id, name.clone())) {
                continue;
            }
            index.begin_calls();
            let reader = Reader::new(index, Rc::clone(&from))?;
            let mentions = match variable {
                Some(variable) => {
                    let reason = variable_reason(&reader, name, &of.path, variable)?;
                    reason.into_iter().map(|reason| (reason, Part::Whole)).collect()
                }
                None => mentions(&reader, name, of)?,
            };
            for (reason, part) in mentions {
                let target = Target::new(Rc::clone(&from), reason, reason.precision());
                super::resolve::add_target(&mut found.targets, Target { parts: vec![part], ..target });
            }
        }
    }
    Ok(found)
}

/// Returns the parts of a definition in which mentions of `name` refer to `of`, and the reasons why they do.
fn mentions(reader: &Reader<'_, '_>, name: &str, of: &Rc<Definition>) -> Result<Vec<(Reason, Part)>> {
    let (index, from) = (reader.index, &reader.from);
    let mut mentions: Vec<(Reason, Part)> = Vec::new();
    let accessor = accessor(index, of)?;
    for at in sites(reader, name) {
        if call_sites::call_at(&reader.tokens, at, from.syntax).is_some() {
            continue;
        }
        let is_other_accessor = match accessor {
            Some("get") => reader.tokens.at(at + 1) == "=",
            Some(_) => !is_assigned(&reader.tokens, at),
            None => false,
        };
        if is_other_accessor || is_metadata(reader, at) {
            continue;
        }
        let is_member = at > 0 && reader.tokens.is_separator(at - 1);
        let found = if is_member {
            if at < 2 {
                continue;
            }
            let start = start_of(&reader.tokens, at - 2);
            let receiver = reader.expression(start, at - 1)?;
            let is_this = start + 1 == at - 1 && from.syntax.own.contains(&reader.tokens.at(start));
            let is_static = if is_this { refers_to_type(index, from)? } else { None };
            match reader.member(receiver, name)? {
                Value::Types(found, reason) | Value::Functions(found, reason) => {
                    Some((same_level(index, found, is_static)?, reason))
                }
                _ => None,
            }
        } else if reader.local(name, at)?.is_some() {
            None
        } else {
            let role = if of.is_type() { NameRole::Type } else { NameRole::Callable };
            match scope::lookup(index, name, from, role)? {
                Meaning::Definitions(found, reason) => Some((found, reason)),
                _ => None,
            }
        };
        let Some((found, reason)) = found else { continue };
        if prototypes::resolve_declarations(index, found)?.iter().any(|found| found.id == of.id) {
            let part = parts::part_at(reader, at)?;
            let is_last = part == Part::Whole;
            if mentions.iter().all(|(_, known)| *known != part) {
                mentions.push((reason, part));
            }
            if is_last {
                break;
            }
        }
    }
    Ok(mentions)
}

/// Returns the reason why a mention of `name` refers to the variable `variable` at the top of the file `path`.
fn variable_reason(reader: &Reader<'_, '_>, name: &str, path: &str, variable: &str) -> Result<Option<Reason>> {
    let (index, from) = (reader.index, &reader.from);
    for at in sites(reader, name) {
        let is_member = at > 0 && reader.tokens.is_separator(at - 1);
        let meaning = if is_member {
            if at < 2 {
                continue;
            }
            let start = start_of(&reader.tokens, at - 2);
            match reader.expression(start, at - 1)? {
                Value::Module(module, from) => {
                    imports::module_export(index, &module, name, &from, &mut ExportSearch::default())?
                }
                _ => continue,
            }
        } else if reader.local(name, at)?.is_some_and(|_| !from.is_module) {
            continue;
        } else if *from.path == *path && name == variable {
            return Ok(Some(Reason::Scope));
        } else {
            imports::imported(index, name, from, &mut ExportSearch::default())?
        };
        let is_it = match &meaning {
            Meaning::Variable(file, found) => file == path && found == variable,
            // Go and Java: a name of the same package, or of an imported package
            Meaning::Unknown | Meaning::External => {
                !is_member
                    && matches!(from.syntax.imports, Imports::Go)
                    && super::index::directory(path) == from.directory()
                    && name == variable
            }
            _ => false,
        };
        if is_it {
            let is_package = from.syntax.imports == Imports::Go && !is_member;
            return Ok(Some(if is_package { Reason::Package } else { Reason::Import }));
        }
    }
    Ok(None)
}

/// Returns the positions at which a name may be a reference: not the definition itself, an import, a key or the name of
/// an argument.
fn sites(reader: &Reader<'_, '_>, name: &str) -> Vec<usize> {
    let tokens = &reader.tokens;
    let own = usize::from(!reader.from.is_module && reader.from.name == name);
    let is_reference = |at: &usize| {
        let is_rust = reader.from.syntax.imports == Imports::Rust;
        let is_key = (matches!(tokens.at(at + 1), "=" | ":" | ":=") && matches!(tokens.before(*at), "(" | "," | "{"))
            || (is_rust && (tokens.at(at + 1) == ":" || is_closure_parameter(tokens, name, *at)));
        let defines = matches!(
            tokens.before(*at),
            "def" | "fn" | "func" | "function" | "class" | "struct" | "interface" | "enum" | "trait" | "type"
        );
        // A value may have the name of a type: `const A = …; type A = …`
        let defines = defines
            || (reader.from.syntax.imports == Imports::Ecma
                && matches!(tokens.before(*at), "const" | "let" | "var" | "namespace"));
        // `member?: Type` and `member(): Type` in an interface
        let is_member = reader.from.syntax.imports == Imports::Ecma
            && reader.from.is_type()
            && tokens.is_first(*at)
            && matches!(tokens.at(at + 1), "?" | "(" | ":" | "<");
        !is_key && !is_member && !defines && !is_in_import(tokens, *at)
    };
    tokens.positions(name).skip(own).filter(is_reference).collect()
}

/// Returns the word `get` or `set` if a definition is an accessor of a property in JavaScript or TypeScript.
fn accessor(index: &Index<'_>, of: &Definition) -> Result<Option<&'static str>> {
    if of.syntax.imports != Imports::Ecma || of.kind != ChunkType::Method {
        return Ok(None);
    }
    let tokens = index.tokens(of)?;
    let word = tokens.positions(&of.name).next().map_or("", |at| tokens.before(at));
    Ok(["get", "set"].into_iter().find(|accessor| *accessor == word))
}

/// Returns whether a value is assigned to the name at a position: `a.name = b`, `a.name += b`, `a.name++`.
fn is_assigned(tokens: &Tokens, at: usize) -> bool {
    let (first, second) = (tokens.at(at + 1), tokens.at(at + 2));
    let is_operator = |word: &str| matches!(word, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "??" | "||" | "&&");
    let is_step = |first: &str, second: &str| matches!((first, second), ("+", "+") | ("-", "-"));
    let start = start_of(tokens, at);
    let is_before = start >= 2 && is_step(tokens.at(start - 2), tokens.at(start - 1));
    matches!(first, "=" | "+=" | "-=") || (is_operator(first) && second == "=") || is_step(first, second) || is_before
}

/// Returns whether only the metadata of a Python function is read: `name.__doc__`.
fn is_metadata(reader: &Reader<'_, '_>, at: usize) -> bool {
    let tokens = &reader.tokens;
    reader.from.syntax.imports == Imports::Python
        && tokens.at(at + 1) == "."
        && matches!(tokens.at(at + 2), "__doc__" | "__name__" | "__qualname__" | "__module__")
}

/// Returns whether `this` is the type rather than an object in a method in JavaScript or TypeScript; `None` in other
/// definitions. A method that declares the type of `this` can be called on objects.
fn refers_to_type(index: &Index<'_>, from: &Definition) -> Result<Option<bool>> {
    if from.syntax.imports != Imports::Ecma || from.kind != ChunkType::Method {
        return Ok(None);
    }
    let tokens = index.tokens(from)?;
    let declares = tokens.positions("this").any(|at| tokens.at(at + 1) == ":" && tokens.before(at) == "(");
    Ok(Some(is_static(index, from)? && !declares))
}

/// Keeps the members that are static, or the members that are not, unless all members would be removed.
fn same_level(index: &Index<'_>, found: Definitions, level: Option<bool>) -> Result<Definitions> {
    let Some(level) = level.filter(|_| found.len() > 1) else { return Ok(found) };
    let mut kept = found.clone();
    retain(&mut kept, |of| Ok(is_static(index, of)? == level))?;
    Ok(if kept.is_empty() { found } else { kept })
}

fn is_static(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let tokens = index.tokens(of)?;
    let name = tokens.positions(&of.name).next().unwrap_or_default();
    Ok((0..name).any(|at| tokens.at(at) == "static"))
}

/// Returns whether a parameter of a closure before the token has the name: `|a, name| …`.
fn is_closure_parameter(tokens: &Tokens, name: &str, at: usize) -> bool {
    let ends = |at: &usize| !matches!(tokens.at(*at), ";" | "{" | "}" | "=" | "=>" | ".");
    let is_bar = |at: &usize| tokens.at(*at) == "|";
    tokens.positions(name).take_while(|first| *first < at).any(|first| {
        let open = (first.saturating_sub(MAX_CLOSURE_TOKENS)..first).rev().take_while(ends).find(is_bar);
        let close = (first..first + MAX_CLOSURE_TOKENS).take_while(ends).find(is_bar);
        open.zip(close).is_some_and(|(open, close)| tokens.opener(open) == tokens.opener(close) && close < at)
    })
}

/// Returns whether a token belongs to an import or a re-export.
fn is_in_import(tokens: &Tokens, at: usize) -> bool {
    let mut first = at;
    while let Some(opener) = tokens.opener(first) {
        first = opener;
    }
    while first > 0 && !tokens.is_first(first) && tokens.before(first) != ";" {
        first -= 1;
    }
    let is_public = tokens.at(first) == "pub";
    let word = match tokens.at(first + 1) {
        "(" if is_public => tokens.closer(first + 1).map_or("", |closer| tokens.at(closer + 1)),
        next if is_public => next,
        _ => tokens.at(first),
    };
    match word {
        // `export default name`, `export const a = name`
        "export" => matches!(tokens.at(first + 1), "{" | "*"),
        word => IMPORT_WORDS.contains(&word),
    }
}
