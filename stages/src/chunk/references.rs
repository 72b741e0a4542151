//! What a chunk refers to: imports that its text uses, definitions of its own file that it calls.

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use crate::chunk::assemble::is_word_in;
use crate::parse::symbols::FileSymbols;

/// The names of one file, ready to be looked for.
pub(crate) struct References<'a> {
    /// Path of an import with a searcher for each name it binds; none for imports that bind unknown names.
    imports: Vec<(&'a str, Vec<Finder<'a>>, bool)>,
    by_name: FxHashMap<&'a str, Vec<u32>>,
    by_qualified_name: FxHashMap<&'a str, u32>,
}

impl<'a> References<'a> {
    pub(crate) fn new(symbols: &'a FileSymbols) -> Self {
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut by_qualified_name = FxHashMap::default();
        for (index, symbol) in symbols.symbols.iter().enumerate() {
            by_name.entry(&symbol.name).or_default().push(index as u32);
            by_qualified_name.entry(symbol.qualified_name.as_str()).or_insert(index as u32);
        }
        let imports = symbols.imports.iter().map(|import| {
            let is_open = import.names.iter().any(|name| name == "*");
            let finders = import.names.iter().filter(|name| !name.is_empty()).map(|name| Finder::new(name.as_str()));
            (import.path.as_str(), finders.collect(), is_open)
        });
        Self { imports: imports.collect(), by_name, by_qualified_name }
    }

    /// Paths of the imports that a text names or uses, in the order of the file. Imports of unknown names count as
    /// used.
    pub(crate) fn imports_in(&self, text: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (path, finders, is_open) in &self.imports {
            let uses = |finder: &Finder<'_>| is_word_in(text, finder.find_iter(text.as_bytes()), finder.needle().len());
            if (*is_open || finders.iter().any(uses)) && found.last().is_none_or(|last| last != path) {
                found.push((*path).to_owned());
            }
        }
        found
    }

    /// The definition that a call in symbol `from` most likely means: a sibling before any other of that name.
    pub(crate) fn definition(
        &self,
        name: &str,
        from: u32,
        symbols: &FileSymbols,
        is_chunk: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let candidates =
            || self.by_name.get(name).into_iter().flatten().copied().filter(|c| *c != from && is_chunk(*c));
        let owner = |index: u32| {
            let symbol = symbols.symbols.get(index as usize)?;
            let enclosing = symbol.parent.map(|p| symbols.symbols[p as usize].qualified_name.as_str());
            symbol.owner.as_deref().or(enclosing)
        };
        candidates().find(|candidate| owner(*candidate) == owner(from)).or_else(|| candidates().next())
    }

    /// The first symbol of this qualified name.
    pub(crate) fn named(&self, qualified_name: &str) -> Option<u32> {
        self.by_qualified_name.get(qualified_name).copied()
    }
}
