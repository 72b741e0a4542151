//! The references of a chunk: the imports that its text uses, and the definitions in its own file that it calls.

use rustc_hash::FxHashMap;

use crate::chunk::words::Words;
use aurora_languages::{FileSymbols, Symbol};
use aurora_storage::Binding;

/// Maximum number of imports of one chunk. Text written by people stays far below the limit.
const MAX_IMPORTS: usize = 1_024;

/// The names of one file, prepared for lookup.
pub(crate) struct References<'a> {
    symbols: &'a FileSymbols,
    /// Names that imports bind, with the index of the import.
    imported: Words<'a>,
    /// Indices of the wildcard imports, whose bound names are unknown.
    open: Vec<u32>,
    /// The first two chunks with each name.
    by_name: FxHashMap<&'a str, Namesakes>,
    /// The first two chunks with each name and owner.
    by_owner: FxHashMap<(&'a str, Option<&'a str>), Namesakes>,
    by_qualified_name: FxHashMap<&'a str, u32>,
}

/// The first two symbols with the same name. A call of that name in one of them refers to the other.
#[derive(Clone, Copy)]
struct Namesakes(u32, Option<u32>);

impl Namesakes {
    fn other_than(self, index: u32) -> Option<u32> {
        if self.0 == index { self.1 } else { Some(self.0) }
    }
}

impl<'a> References<'a> {
    /// Prepares the names of a file. Calls refer only to symbols for which `is_chunk` returns true.
    pub(crate) fn new(symbols: &'a FileSymbols, is_chunk: impl Fn(u32) -> bool) -> Self {
        let mut by_name = FxHashMap::default();
        let mut by_owner = FxHashMap::default();
        let mut by_qualified_name = FxHashMap::default();
        for (index, symbol) in (0..).zip(&symbols.symbols) {
            by_qualified_name.entry(symbol.qualified_name.as_str()).or_insert(index);
            if is_chunk(index) {
                add(&mut by_name, symbol.name.as_str(), index);
                add(&mut by_owner, (symbol.name.as_str(), owner(symbols, symbol)), index);
            }
        }
        let is_open = |names: &[String]| names.iter().any(|name| name == "*");
        let imports = (0..).zip(&symbols.imports);
        let open = imports.clone().filter(|(_, import)| is_open(&import.names)).map(|(import_index, _)| import_index);
        let names = imports
            .flat_map(|(import_index, import)| import.names.iter().map(move |name| (name.as_str(), import_index)));
        let names = names.filter(|(name, _)| *name != "*");
        Self {
            symbols,
            open: open.take(MAX_IMPORTS).collect(),
            imported: Words::new(names, MAX_IMPORTS),
            by_name,
            by_owner,
            by_qualified_name,
        }
    }

    /// Returns the paths of the imports that a text uses, in file order. Wildcard imports always count as used.
    pub(crate) fn imports_in(&self, text: &str) -> Vec<String> {
        let mut imports = self.imported.numbers_in(text);
        imports.extend(&self.open);
        imports.sort_unstable();
        imports.dedup();
        let mut found: Vec<String> = Vec::new();
        for import_index in imports {
            let path = &self.symbols.imports[import_index as usize].path;
            if found.last().is_none_or(|last| last != path) {
                found.push(path.clone());
            }
            if found.len() == MAX_IMPORTS {
                break;
            }
        }
        found
    }

    /// Returns the definition that a call most likely refers to: a sibling of the caller, or else any symbol with the
    /// name. `from` is the symbol that contains the call, or `None` at module level.
    pub(crate) fn definition(&self, name: &str, from: Option<u32>) -> Option<u32> {
        let caller = from.and_then(|from| self.symbols.symbols.get(from as usize));
        let around = caller.and_then(|caller| owner(self.symbols, caller));
        let other = |namesakes: &Namesakes| namesakes.other_than(from.unwrap_or(u32::MAX));
        let sibling = self.by_owner.get(&(name, around)).and_then(other);
        sibling.or_else(|| self.by_name.get(name).and_then(other))
    }

    /// Returns the first symbol with a qualified name.
    pub(crate) fn find_qualified(&self, qualified_name: &str) -> Option<u32> {
        self.by_qualified_name.get(qualified_name).copied()
    }
}

/// Returns one binding for each imported member, and for each other imported name that differs from the last part of
/// the imported path.
pub(crate) fn bindings(symbols: &FileSymbols) -> Vec<Binding> {
    let mut found = Vec::new();
    for import in &symbols.imports {
        let path = || import.path.clone();
        let is_member = |name: &String| import.members.iter().any(|(bound, _)| bound == name);
        let named = import.names.iter().filter(|name| !is_member(name) && !ends_in(&import.path, name));
        found.extend(named.map(|name| Binding {
            name: name.clone(),
            path: path(),
            member: if name == "*" { name.clone() } else { String::new() },
        }));
        let members = import.members.iter();
        found.extend(members.map(|(name, member)| Binding {
            name: name.clone(),
            path: path(),
            member: member.clone(),
        }));
        if found.len() >= MAX_IMPORTS {
            break;
        }
    }
    found.truncate(MAX_IMPORTS);
    found
}

/// Whether a path equals a name, or ends with the name after a separator.
fn ends_in(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn add<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, Namesakes>, key: K, index: u32) {
    let namesakes = map.entry(key).or_insert(Namesakes(index, None));
    if namesakes.0 != index {
        namesakes.1.get_or_insert(index);
    }
}

/// Returns the declared owner of a symbol, or else the qualified name of the enclosing symbol.
fn owner<'a>(symbols: &'a FileSymbols, symbol: &'a Symbol) -> Option<&'a str> {
    let enclosing = symbol.parent.and_then(|parent| symbols.symbols.get(parent as usize));
    symbol.owner.as_deref().or(enclosing.map(|enclosing| enclosing.qualified_name.as_str()))
}
