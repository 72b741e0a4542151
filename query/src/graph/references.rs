//! References to a definition that are not calls: uses of a type, and functions that are passed as values.

use std::rc::Rc;

use aurora_storage::ChunkId;
use rustc_hash::FxHashSet;

use super::call_sites::{self, start_of};
use super::imports::{self, ExportSearch};
use super::index::{Definition, Index, Result};
use super::infer::{Reader, Value};
use super::meaning::{Meaning, NameRole};
use super::prototypes;
use super::reason::Reason;
use super::resolve::Target;
use super::scope;
use super::syntax::Imports;
use super::tokens::Tokens;

/// Maximum number of chunks that are read for one name.
const MAX_CHUNKS: u64 = 1_024;
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
                break;
            }
            let Some(from) = index.definition(id)? else { continue };
            let is_other = from.id != of.id && from.syntax.group == of.syntax.group;
            if !is_other || !seen.insert((from.id, name.clone())) {
                continue;
            }
            index.begin_calls();
            let reader = Reader::new(index, Rc::clone(&from))?;
            let reason = match variable {
                Some(variable) => variable_reason(&reader, name, &of.path, variable)?,
                None => reason(&reader, name, of)?,
            };
            if let Some(reason) = reason {
                super::resolve::add_target(
                    &mut found.targets,
                    Target { definition: from, reason, confidence: reason.precision() },
                );
            }
        }
    }
    Ok(found)
}

/// Returns the reason why a mention of `name` refers to `of`.
fn reason(reader: &Reader<'_, '_>, name: &str, of: &Rc<Definition>) -> Result<Option<Reason>> {
    let (index, from) = (reader.index, &reader.from);
    for at in sites(reader, name) {
        if call_sites::call_at(&reader.tokens, at, from.syntax).is_some() {
            continue;
        }
        let is_member = at > 0 && reader.tokens.is_separator(at - 1);
        let found = if is_member {
            if at < 2 {
                continue;
            }
            let start = start_of(&reader.tokens, at - 2);
            let receiver = reader.expression(start, at - 1)?;
            match reader.member(receiver, name)? {
                Value::Types(found, reason) | Value::Functions(found, reason) => Some((found, reason)),
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
            return Ok(Some(reason));
        }
    }
    Ok(None)
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
        let is_key = matches!(tokens.at(at + 1), "=" | ":" | ":=") && matches!(tokens.before(*at), "(" | "," | "{");
        let defines = matches!(
            tokens.before(*at),
            "def" | "fn" | "func" | "function" | "class" | "struct" | "interface" | "enum" | "trait" | "type"
        );
        // `member?: Type` and `member(): Type` in an interface
        let is_member = reader.from.syntax.imports == Imports::Ecma
            && reader.from.is_type()
            && tokens.is_first(*at)
            && matches!(tokens.at(at + 1), "?" | "(" | ":" | "<");
        !is_key && !is_member && !defines && !is_in_import(tokens, *at)
    };
    tokens.positions(name).skip(own).filter(is_reference).collect()
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
