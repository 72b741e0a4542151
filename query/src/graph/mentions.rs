//! Counts the mentions of the names of all definitions.
//!
//! One pass over the texts of a generation counts the chunks in which each name occurs. A mention is an occurrence
//! outside of comments that is not a definition of the name.

use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkRecord, ChunkType, Snapshot, StorageError};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::index::{Index, Result};
use super::syntax::{self, Imports, Syntax};
use super::tokens::{self, Tokens};
use crate::path_class::{PathClass, PathClasses};
use crate::rank::first_piece;
use crate::retrieve::is_generated;

/// Maximum number of definitions whose names are counted.
const MAX_DEFINITIONS: usize = 1_000_000;
/// Maximum number of chunks that are recorded for one name. A name in more chunks counts as used.
const MAX_MENTIONS: usize = 12;
/// Number of chunks that one task reads.
const TASK_CHUNKS: usize = 2_048;
/// Maximum number of distinct prefixes, such as `visit_`, that are recorded.
const MAX_PREFIXES: usize = 65_536;
/// Maximum number of bytes between the start of a composed name and one of its parts: `[<$name _part>]`.
const MAX_COMPOSED: usize = 48;

/// A definition whose name is counted.
pub(super) struct Counted {
    pub(super) id: ChunkId,
    pub(super) path: Rc<str>,
    lines: Range<u32>,
    /// Whether the definition is reported if nothing mentions it. Other definitions are needed to recognise mentions
    /// that are only definitions.
    pub(super) is_candidate: bool,
}

/// The chunks in which a name occurs, with the number of occurrences in each.
#[derive(Default, Clone)]
struct Occurrences {
    chunks: Vec<(u32, u32)>,
    /// Whether the name occurs in more than [`MAX_MENTIONS`] chunks.
    is_common: bool,
}

impl Occurrences {
    fn add(&mut self, chunk: u32, count: u32) {
        match self.chunks.len() < MAX_MENTIONS {
            true => self.chunks.push((chunk, count)),
            false => self.is_common = true,
        }
    }
}

/// The kind of code that mentions a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mentioned {
    Nowhere,
    /// The name occurs only in comments.
    InComments,
    /// Only tests mention the definition.
    InTests,
    InCode,
}

/// The definitions of a generation, and the occurrences of their names.
#[derive(Default)]
pub(super) struct Mentions {
    pub(super) definitions: Vec<Counted>,
    /// The numbers of the names.
    names: FxHashMap<String, usize>,
    /// The positions of the definitions of each name.
    by_name: Vec<Vec<usize>>,
    occurrences: Vec<Occurrences>,
    /// Parts of names that may be composed at run time, as in `getattr(self, "visit_" + kind)`.
    pub(super) parts: FxHashSet<String>,
    /// Definitions in Rust that are compiled only for tests.
    test_chunks: FxHashSet<u32>,
    /// The files of these definitions.
    test_files: FxHashSet<String>,
    /// Whether a limit was reached or the request was cancelled.
    pub(super) is_cut: bool,
}

impl Mentions {
    /// Reads the definitions and counts the occurrences of their names.
    pub(super) fn read(index: &Index<'_>) -> Result<Self> {
        let mut read = Self::default();
        let mut path: Rc<str> = "".into();
        let mut classes = PathClasses::default();
        for id in index.snapshot.live().iter().map(ChunkId) {
            if index.is_cancelled() || read.definitions.len() >= MAX_DEFINITIONS {
                read.is_cut = true;
                break;
            }
            let Some(chunk) = index.snapshot.chunk(id)? else { continue };
            if !is_definition(chunk.chunk_type()) || first_piece(&chunk.key()) != chunk.key() {
                continue;
            }
            let Some(name) = counted_name(chunk.name()) else { continue };
            if *path != *chunk.path() {
                path = chunk.path().into();
                classes = PathClasses::without_packages(&path);
            }
            let name = read.number(name);
            read.by_name[name].push(read.definitions.len());
            if has_other_names(&chunk) {
                for other in chunk.definitions() {
                    read.number(other);
                }
            }
            read.definitions.push(Counted {
                id,
                path: Rc::clone(&path),
                lines: chunk.line_start()..chunk.line_end() + 1,
                is_candidate: is_candidate(&chunk, classes),
            });
        }
        read.count(index)?;
        Ok(read)
    }

    /// Returns the number of a name, which is added if necessary.
    fn number(&mut self, name: &str) -> usize {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        self.by_name.push(Vec::new());
        self.names.insert(name.to_owned(), self.by_name.len() - 1);
        self.by_name.len() - 1
    }

    fn count(&mut self, index: &Index<'_>) -> Result<()> {
        let ids: Vec<u32> = index.snapshot.live().iter().collect();
        let (snapshot, work, names): (&Snapshot, _, _) = (index.snapshot, &index.work, &self.names);
        let scan = |ids: &[u32]| {
            let mut counted: Vec<(usize, u32, u32)> = Vec::new();
            let (mut parts, mut tests) = (FxHashSet::default(), Vec::new());
            if work.is_cancelled() {
                return Ok((counted, parts, tests));
            }
            snapshot.for_each_text(ids, |id, text| {
                tests.extend(is_compiled_for_tests(text).then_some(id));
                let first = counted.len();
                for word in words(text) {
                    let part = composed_part(text, word);
                    if let Some(part) = part.filter(|part| part.len() > 2 && parts.len() < MAX_PREFIXES) {
                        parts.insert(part.to_owned());
                    }
                    if let Some(&name) = names.get(word) {
                        counted.push((name, id, 1));
                    }
                }
                // The occurrences of each name in this chunk are added up.
                counted[first..].sort_unstable();
                let mut last = first;
                for at in first..counted.len() {
                    if at > first && counted[last].0 == counted[at].0 {
                        counted[last].2 += 1;
                    } else {
                        last += usize::from(at > first);
                        counted[last] = counted[at];
                    }
                }
                counted.truncate(if counted.len() > first { last + 1 } else { first });
            })?;
            Ok((counted, parts, tests))
        };
        let (mut found, mut all) = (vec![Occurrences::default(); self.names.len()], FxHashSet::default());
        // A group of tasks is complete before the next one starts, so that few counts are in memory at once.
        for group in ids.chunks(TASK_CHUNKS * rayon::current_num_threads().max(1)) {
            let tasks: Vec<_> =
                group.par_chunks(TASK_CHUNKS).map(scan).collect::<std::result::Result<_, StorageError>>()?;
            for (counted, parts, tests) in tasks {
                counted.into_iter().for_each(|(name, id, count)| found[name].add(id, count));
                all.extend(parts);
                self.test_chunks.extend(tests);
            }
        }
        for id in &self.test_chunks {
            self.test_files.extend(index.snapshot.chunk(ChunkId(*id))?.map(|chunk| chunk.path().to_owned()));
        }
        self.is_cut |= work.is_cancelled() || all.len() >= MAX_PREFIXES;
        (self.occurrences, self.parts) = (found, all);
        Ok(())
    }

    /// Returns whether a definition, or one that encloses it, is compiled only for tests.
    pub(super) fn is_only_for_tests(&self, index: &Index<'_>, id: ChunkId, path: &str) -> Result<bool> {
        if !self.test_files.contains(path) {
            return Ok(false);
        }
        let mut at = index.definition(id)?;
        while let Some(of) = at {
            if self.test_chunks.contains(&of.id.0) {
                return Ok(true);
            }
            at = index.parent(&of)?;
        }
        Ok(false)
    }

    /// Returns which code mentions a definition.
    pub(super) fn mentioned(&self, index: &Index<'_>, of: &Counted) -> Result<Mentioned> {
        let Some(chunk) = index.snapshot.chunk(of.id)? else { return Ok(Mentioned::InCode) };
        let name = counted_name(chunk.name()).unwrap_or(chunk.name());
        let mut mentioned = self.named(index, of, &chunk, name)?;
        for other in other_names(index, &chunk, of.id)? {
            if mentioned == Mentioned::InCode {
                break;
            }
            mentioned = mentioned.max(self.named(index, of, &chunk, other)?);
        }
        Ok(mentioned)
    }

    /// Returns which code mentions one of the names of a definition.
    fn named(&self, index: &Index<'_>, of: &Counted, own: &ChunkRecord<'_>, name: &str) -> Result<Mentioned> {
        let Some(&number) = self.names.get(name) else { return Ok(Mentioned::Nowhere) };
        if self.occurrences[number].is_common {
            return Ok(Mentioned::InCode);
        }
        let namesakes: Vec<&Counted> = self.by_name[number].iter().map(|at| &self.definitions[*at]).collect();
        let mut mentioned = Mentioned::Nowhere;
        for &(id, count) in &self.occurrences[number].chunks {
            let Some(chunk) = index.snapshot.chunk(ChunkId(id))? else { continue };
            let place = Place { index, id: ChunkId(id), chunk, name };
            let is_inside = !place.is_module() && encloses(&of.lines, &place.lines());
            if *place.chunk.path() == *of.path && (is_inside || first_piece(&place.chunk.key()) == own.key()) {
                continue;
            }
            if place.is_required(of, &namesakes)? {
                return Ok(Mentioned::InCode);
            }
            let defined = place.defined(of, &namesakes)?;
            if count as usize <= defined {
                continue;
            }
            mentioned = mentioned.max(match place.is_only_in_comments(defined)? {
                true => Mentioned::InComments,
                false if place.is_test(self)? => Mentioned::InTests,
                false => return Ok(Mentioned::InCode),
            });
        }
        Ok(mentioned)
    }
}

fn encloses(outer: &Range<u32>, inner: &Range<u32>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// A chunk in which a name occurs.
struct Place<'a> {
    index: &'a Index<'a>,
    id: ChunkId,
    chunk: ChunkRecord<'a>,
    name: &'a str,
}

impl Place<'_> {
    fn lines(&self) -> Range<u32> {
        self.chunk.line_start()..self.chunk.line_end() + 1
    }

    fn syntax(&self) -> &'static Syntax {
        syntax::for_language(self.chunk.language())
    }

    /// Returns whether the chunk is code outside of definitions.
    fn is_module(&self) -> bool {
        let file_name = self.chunk.path().rsplit('/').next().unwrap_or_default();
        self.chunk.chunk_type() == ChunkType::Code && self.chunk.name() == file_name
    }

    fn text(&self) -> Result<String> {
        Ok(self.index.snapshot.text(self.id)?.map(|text| text.text).unwrap_or_default())
    }

    /// Returns whether the chunk is an interface that requires a method of the name, in languages where a type
    /// implements an interface without naming it.
    fn is_required(&self, of: &Counted, namesakes: &[&Counted]) -> Result<bool> {
        let is_interface = self.chunk.chunk_type() == ChunkType::Interface && self.syntax().structural_interfaces;
        let is_member = || -> Result<bool> {
            let own = self.index.snapshot.chunk(of.id)?;
            Ok(own.is_some_and(|own| own.chunk_type() == ChunkType::Method && own.language() == self.chunk.language()))
        };
        // An interface requires its own method only if the method is implemented.
        let is_here = |other: &&&Counted| *other.path == *self.chunk.path() && encloses(&self.lines(), &other.lines);
        let own = namesakes.iter().filter(is_here).count();
        Ok(is_interface && is_member()? && (!is_here(&&of) || namesakes.len() > own))
    }

    /// Returns the number of occurrences that are definitions of the name. The text of a chunk contains either the
    /// whole text or the signature of a definition inside it, or neither if a third definition is between them.
    fn defined(&self, of: &Counted, namesakes: &[&Counted]) -> Result<usize> {
        let (mut defined, mut text) = (self.inner()?, squeezed(&self.text()?));
        let mut forms = Vec::new();
        let is_here = |other: &&&Counted| *other.path == *self.chunk.path() && encloses(&self.lines(), &other.lines);
        for other in namesakes.iter().filter(is_here).filter(|_| !self.is_module()) {
            let Some(own) = self.index.snapshot.text(other.id)? else { continue };
            if other.id == self.id {
                // Rust: `fn name();` in the input of a macro or in an `extern` block uses another definition.
                let is_use = self.syntax().imports == Imports::Rust
                    && self.chunk.chunk_type() == ChunkType::Function
                    && own.text.ends_with(';')
                    && self.index.definition(self.id)?.is_some_and(|of| of.owner().is_empty());
                defined += usize::from(!is_use);
                continue;
            }
            // A signature such as `Type(int a)` or `reset()` also looks like a call.
            if own.signature.starts_with(self.name) && !self.shows(other, &text)? {
                continue;
            }
            let count = |text: &str| words(text).filter(|word| *word == self.name).count();
            match own.signature.is_empty() {
                true => forms.push((squeezed(&own.text), 1)),
                false => forms.push((squeezed(&own.signature), count(&own.signature).max(1))),
            }
            if other.id == of.id {
                forms.push((squeezed(&own.text), count(&own.text)));
            }
        }
        // An enumerator, or the tag of a type: the definition has another name.
        if !namesakes.iter().any(|other| other.id == of.id) && encloses(&self.lines(), &of.lines) {
            let own = self.index.snapshot.text(of.id)?.filter(|_| *of.path == *self.chunk.path());
            let count = |text: &str| words(text).filter(|word| *word == self.name).count();
            forms.extend(own.map(|own| (squeezed(&own.text), count(&own.text))));
        }
        if forms.is_empty() {
            return Ok(defined);
        }
        // The longest form comes first, because `f()` also occurs in `static f()`.
        forms.sort_by_key(|(form, _)| Reverse(form.len()));
        for (form, count) in forms {
            let is_whole = |at: &usize| !text[..*at].ends_with(|c: char| c == '.' || c == '_' || c.is_alphanumeric());
            let at = text.match_indices(&form).map(|(at, _)| at).find(is_whole);
            if let Some(at) = at.filter(|_| !form.is_empty()) {
                text.replace_range(at..at + form.len(), " ");
                defined += count;
            }
        }
        Ok(defined)
    }

    /// Returns whether the chunk's text, without white space, contains the text or signature of a definition: the
    /// chunk is its parent, or contains the whole text of its parent.
    fn shows(&self, of: &Counted, text: &str) -> Result<bool> {
        let here = self.index.definition(self.id)?.map(|here| here.id);
        let mut at = self.index.definition(of.id)?;
        while let Some(of) = at {
            let Some(parent) = self.index.parent(&of)? else { return Ok(false) };
            if Some(parent.id) == here {
                return Ok(true);
            }
            let whole = self.index.snapshot.text(parent.id)?.map(|whole| squeezed(&whole.text));
            if !whole.is_some_and(|whole| text.contains(&whole)) {
                return Ok(false);
            }
            at = Some(parent);
        }
        Ok(false)
    }

    /// Returns the number of occurrences that define the name without a separate chunk.
    fn inner(&self) -> Result<usize> {
        let inner = self.chunk.definitions().filter(|inner| *inner == self.name).count();
        if inner == 0 || self.syntax().imports != Imports::Rust || self.chunk.chunk_type() == ChunkType::Interface {
            return Ok(inner);
        }
        // Rust: `fn name();` outside of traits and `extern` blocks is the input of a macro.
        let tokens = Tokens::read(self.text()?, self.syntax());
        let is_input = |at: usize| {
            let open = (at + 1..tokens.len().min(at + 64)).find(|at| tokens.at(*at) == "(");
            let end = open.and_then(|open| tokens.closer(open));
            let body = end.and_then(|end| (end..tokens.len()).find(|at| matches!(tokens.at(*at), "{" | ";")));
            let is_foreign = tokens.opener(at).is_some_and(|open| {
                tokens.kind(open.saturating_sub(1)) == Some(tokens::TokenKind::String)
                    || tokens.before(open) == "extern"
            });
            tokens.before(at) == "fn" && body.is_some_and(|body| tokens.at(body) == ";") && !is_foreign
        };
        Ok(if tokens.positions(self.name).any(is_input) { 0 } else { inner })
    }

    /// Returns whether a chunk of code mentions the name only in comments, apart from definitions of the name.
    fn is_only_in_comments(&self, defined: usize) -> Result<bool> {
        let syntax = self.syntax();
        if !(syntax.is_known() && self.chunk.chunk_type().is_source_code()) {
            return Ok(false);
        }
        let (text, key) = (self.text()?, self.chunk.key());
        let comments = tokens::comments(&text, syntax, first_piece(&key) != key);
        let is_code = |word: &str| {
            let at = offset_of(&text, word);
            !comments.iter().any(|comment| comment.contains(&at))
        };
        Ok(words(&text).filter(|word| *word == self.name && is_code(word)).count() <= defined)
    }

    fn is_test(&self, mentions: &Mentions) -> Result<bool> {
        let classes = PathClasses::for_path(self.chunk.path()).with_scopes(self.chunk.qualified_name());
        Ok(classes.contains(PathClass::Test) || mentions.is_only_for_tests(self.index, self.id, self.chunk.path())?)
    }
}

/// Returns whether an attribute in Rust at the start of a text compiles the definition only for tests.
fn is_compiled_for_tests(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let mut attributes = lines.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    attributes.any(|line| ["#[test]", "#[cfg(test)]", "#[cfg(all(test,"].iter().any(|start| line.starts_with(start)))
}

/// Returns whether a definition in C or C++ may have names in addition to its own.
fn has_other_names(chunk: &ChunkRecord<'_>) -> bool {
    let is_type = matches!(chunk.chunk_type(), ChunkType::Enum | ChunkType::Struct);
    is_type && syntax::for_language(chunk.language()).languages.contains(&"cpp")
}

/// Returns the names by which code can use a type in C or C++ without its own name: its enumerators, and the tag in
/// `typedef struct tag { … } Name;`.
fn other_names<'c>(index: &Index<'_>, chunk: &ChunkRecord<'c>, id: ChunkId) -> Result<Vec<&'c str>> {
    if !has_other_names(chunk) {
        return Ok(Vec::new());
    }
    let signature = index.snapshot.text(id)?.map(|text| text.signature).unwrap_or_default();
    let is_tag = |name: &str| signature.starts_with("typedef") && words(&signature).any(|word| word == name);
    let names = chunk.definitions().filter(|name| *name != chunk.name());
    Ok(names.filter(|name| chunk.chunk_type() == ChunkType::Enum || is_tag(name)).collect())
}

/// Returns a text without white space, except between words.
fn squeezed(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split_whitespace().fold(String::with_capacity(text.len()), |mut all, part| {
        if all.ends_with(is_word) && part.starts_with(is_word) {
            all.push(' ');
        }
        all + part
    })
}

/// Returns the names, keywords and numbers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.len() > 1)
}

/// Returns the part of a name that code composes: `visit_` of `"visit_" + kind`, `_cb` of `"{}_cb"`, `"%s_cb"`,
/// `name##_cb` and `[<$name _cb>]`.
fn composed_part<'t>(text: &str, word: &'t str) -> Option<&'t str> {
    if word.ends_with('_') {
        return Some(word);
    }
    let at = offset_of(text, word);
    let before = &text.as_bytes()[..at];
    match before.last()? {
        b'}' | b'"' | b'\'' if word.starts_with('_') => Some(word),
        b'#' if word.starts_with('_') && before.ends_with(b"##") => Some(word),
        b' ' if word.starts_with('_') => {
            let near = &before[at.saturating_sub(MAX_COMPOSED)..];
            let open = near.windows(2).rposition(|pair| pair == b"[<")?;
            (!near[open..].contains(&b']')).then_some(word)
        }
        b'%' => word.strip_prefix(['s', 'd', 'r']).filter(|rest| rest.starts_with('_')),
        _ => None,
    }
}

/// Returns the name as it is counted: without the `?`, `!` or `=` of a Ruby method. `None` if the name is not a word.
fn counted_name(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(['?', '!', '=']);
    (name.len() > 1 && words(name).next() == Some(name)).then_some(name)
}

fn is_definition(kind: ChunkType) -> bool {
    use ChunkType::{Class, Enum, Function, Interface, Method, Struct, Type};
    matches!(kind, Function | Method | Class | Interface | Struct | Enum | Type)
}

/// Returns whether a definition is reported if nothing mentions it, as far as its record shows.
fn is_candidate(chunk: &ChunkRecord<'_>, classes: PathClasses) -> bool {
    use PathClass::{Declaration, Example, Generated, Test, Vendored};
    let syntax = syntax::for_language(chunk.language());
    let name = chunk.name();
    let is_special = name.starts_with("__") && name.ends_with("__");
    let classes = classes.with_scopes(chunk.qualified_name());
    let is_side = [Test, Generated, Vendored, Example, Declaration].iter().any(|class| classes.contains(*class));
    let is_reportable = syntax.is_known() && !syntax.is_component && !is_generated(chunk);
    is_reportable && !is_side && !is_special && !is_entry_point(name, syntax)
}

/// Returns whether the runtime or a tool calls functions of this name.
fn is_entry_point(name: &str, syntax: &Syntax) -> bool {
    let names: &[&str] = match syntax.imports {
        Imports::Go => &["init"],
        // Serialisation uses these members; `Companion` is the name of an object without a name.
        Imports::Package => {
            &["readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData", "CREATOR", "Companion"]
        }
        Imports::Rust => &["drop"],
        Imports::Modules => &["BUILD", "DESTROY", "AUTOLOAD", "import", "unimport"],
        _ if syntax.languages.contains(&"ruby") => {
            &["included", "extended", "inherited", "prepended", "method_missing"]
        }
        // The standard library uses these types of iterators, containers and coroutines.
        #[rustfmt::skip]
        _ if syntax.languages.contains(&"cpp") => &[
            "WinMain", "DllMain", "wmain", "iterator_category", "iterator_concept", "value_type", "difference_type",
            "size_type", "pointer", "reference", "const_pointer", "const_reference", "iterator", "const_iterator",
            "allocator_type", "key_type", "mapped_type", "is_transparent", "is_always_equal", "rebind",
            "promise_type", "propagate_on_container_copy_assignment", "propagate_on_container_move_assignment",
            "propagate_on_container_swap",
        ],
        _ => &[],
    };
    let is_test = name.starts_with("test_") && matches!(syntax.imports, Imports::Python | Imports::Rust);
    is_test || matches!(name, "main" | "Main" | "_start" | "default") || names.contains(&name)
}

/// Returns the offset of a part of a text.
fn offset_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_as_words() {
        assert_eq!(counted_name("ready?"), Some("ready"));
        assert_eq!(counted_name("impl A for B"), None);
        assert_eq!(counted_name("x"), None);
        assert_eq!(squeezed("int\n  f ( a ) {\n b c;"), "int f(a){b c;");
        assert_eq!(words("self.visit_ + é_x1($y)").collect::<Vec<_>>(), ["self", "visit_", "é_x1"]);
    }

    #[test]
    fn parts_of_composed_names() {
        let parts = |text: &'static str| words(text).filter_map(|word| composed_part(text, word)).collect::<Vec<_>>();
        assert_eq!(parts("\"visit_\" + kind, f\"{kind}_end\", \"%s_cb\""), ["visit_", "_end", "_cb"]);
        assert_eq!(parts("name##_cb [<$n _tail>] [<$n>] _plain #_hidden"), ["_cb", "_tail"]);
    }
}
