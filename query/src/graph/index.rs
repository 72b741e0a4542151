//! Cached access to the definitions and files of a generation, for the resolution of calls.

use std::cell::Cell;
use std::rc::Rc;

use aurora_storage::{Binding, ChunkId, ChunkRecord, ChunkType, Label, Snapshot, StorageError};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cache::Cache;
pub(crate) use super::definition::{Definition, Definitions, directory};
use super::signature::{self, Signature};
use super::syntax::{self, Imports};
use super::target::{Calls, Module, Target};
use super::tokens::Tokens;
use super::type_name;
use crate::rank::first_piece;
use crate::work::WorkBudget;

/// Maximum number of definitions of one name that are examined.
pub(crate) const MAX_NAMESAKES: usize = 1_024;
/// Maximum number of chunks of one file that are read.
const MAX_CHUNKS: usize = 16_384;
/// Size of the text of one definition, in bytes, after which no more pieces of the definition are read.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum number of expressions that are read to resolve the calls of one name in one text.
const MAX_EXPRESSIONS: u32 = 4_096;
/// Maximum number of expressions and re-exports that are followed for one request.
const MAX_STEPS: u32 = 262_144;
/// Units of work for a text that is read, in addition to its length. A step of the inference is one unit.
const TEXT_WORK: u64 = 8;
/// Number of bytes of a text that are read for one unit of work.
const BYTES_PER_WORK: u64 = 64;
/// Maximum number of entries in a cache of small values.
const MAX_SMALL_ENTRIES: usize = 65_536;

/// The result of reading an index.
pub(crate) type Result<T> = std::result::Result<T, StorageError>;

/// Removes the last part of a qualified name.
pub(crate) fn scope_around(scope: &str) -> &str {
    let outer = scope.rsplit_once(['.', ':', '\\', '#', '/']).map_or("", |(outer, _)| outer);
    outer.trim_end_matches(['.', ':', '\\', '#', '/'])
}

/// Returns whether a C or C++ file is a header.
fn is_header(path: &str) -> bool {
    !matches!(path.rsplit('.').next(), Some("c" | "cc" | "cpp" | "cxx" | "c++" | "cu" | "m" | "mm"))
}

/// Definitions and imports of the chunks of a file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) definitions: Definitions,
    /// Indexes of the definitions by id.
    by_id: FxHashMap<ChunkId, usize>,
    /// Indexes of the definitions by name.
    by_name: FxHashMap<String, Vec<usize>>,
    /// Maps each piece of a definition to the first piece.
    heads: FxHashMap<ChunkId, ChunkId>,
    /// Maps the first piece of a definition to all of its pieces.
    pieces: FxHashMap<ChunkId, Vec<ChunkId>>,
    parents: FxHashMap<ChunkId, ChunkId>,
    /// Qualified names of the owners of definitions.
    owners: FxHashSet<String>,
    /// Paths of the imports that the file's chunks use.
    pub(crate) imports: Vec<String>,
    pub(crate) bindings: Vec<Binding>,
}

impl File {
    fn definition(&self, id: ChunkId) -> Option<Rc<Definition>> {
        Some(Rc::clone(&self.definitions[*self.by_id.get(&id)?]))
    }

    /// Returns whether any definition has this owner.
    pub(crate) fn has_members(&self, owner: &str) -> bool {
        self.owners.contains(owner)
    }

    /// Returns the definitions of a name.
    pub(crate) fn named<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f Rc<Definition>> {
        self.by_name.get(name).into_iter().flatten().map(|at| &self.definitions[*at])
    }
}

/// A name under which a file exports a definition with a different local name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) exported: String,
    pub(crate) local: String,
}

/// Chunks that share a label.
pub(crate) struct Labelled {
    pub(crate) list: Vec<ChunkId>,
    /// Whether the list omits chunks that have the label.
    pub(crate) is_cut: bool,
}

/// The base types of a type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bases {
    pub(crate) types: Rc<[Rc<Definition>]>,
    /// Whether all base types are in the repository.
    pub(crate) is_complete: bool,
}

/// Reads a generation to answer requests about relations.
pub(crate) struct Index<'s> {
    pub(crate) snapshot: &'s Snapshot,
    /// Cancellation stops all reading, so that a request ends early with partial results.
    pub(super) work: WorkBudget,
    /// Number of expressions that may still be read for the calls of one name.
    expressions_left: Cell<u32>,
    /// Number of steps that may still be taken for one request.
    steps_left: Cell<u32>,
    /// Number of units of work that are left for an answer that consists of many requests. The units are counted, not
    /// timed, so that the same index gives the same answer.
    work_left: Cell<u64>,
    pub(super) caches: Caches,
}

#[derive(Default)]
pub(super) struct Caches {
    files: Cache<String, Rc<File>>,
    named: Cache<String, Rc<Definitions>>,
    tokens: Cache<ChunkId, Rc<Tokens>>,
    /// Whether a path is an indexed file.
    paths: Cache<String, bool>,
    /// Base types by type.
    bases: Cache<ChunkId, Bases>,
    /// Export aliases by path.
    pub(super) exports: Cache<String, Rc<[Alias]>>,
    /// Names of units by the path of the file that declares them: `module` in `go.mod`, `name` in `Cargo.toml`,
    /// `package` in a source file.
    units: Cache<String, Option<String>>,
    /// Whether a definition is only a declaration.
    pub(super) prototypes: Cache<ChunkId, bool>,
    /// Numbers of type parameters by definition.
    type_parameters: Cache<ChunkId, usize>,
    /// Whether a name is defined in a group of languages.
    defined: Cache<(String, u8), bool>,
    /// Parsed signatures by definition.
    signatures: Cache<ChunkId, Option<Rc<Signature>>, MAX_SMALL_ENTRIES>,
    /// Members by name, by the kind of the call and by its number of arguments.
    pub(super) members: Cache<MemberKey, Rc<Definitions>>,
    /// Definitions that a Rust path names, by the path and the place of the text.
    pub(super) rust_paths: Cache<(String, String), Rc<Definitions>, MAX_SMALL_ENTRIES>,
    /// Modules of files in Rust, by path.
    pub(super) modules: Cache<String, Rc<Module>>,
    /// Resolved calls by name and group of languages.
    pub(super) calls: Cache<(String, u8), Rc<Calls>>,
    /// Numbers of anonymous subclasses that override a member of a type.
    pub(super) anonymous: Cache<(ChunkId, String), usize>,
    /// Direct subtypes by type, and whether subtypes may be missing.
    pub(super) subtypes: Cache<ChunkId, Rc<(Vec<Target>, bool)>>,
    /// Targets of the calls of a name in a definition.
    pub(super) targets: Cache<(ChunkId, String), Rc<[Target]>, MAX_SMALL_ENTRIES>,
}

/// Key of the members to which a call may refer if the type of its receiver is unknown: their name, the group of
/// languages, whether the call is in a test, and the number of arguments.
pub(super) type MemberKey = (String, u8, bool, Option<usize>);

impl<'s> Index<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, work: WorkBudget) -> Self {
        let (expressions_left, steps_left) = (Cell::default(), Cell::default());
        let work_left = Cell::new(u64::MAX);
        Self { snapshot, work, expressions_left, steps_left, work_left, caches: Caches::default() }
    }

    /// Returns the base types of a type, computed by `find` unless they are cached. During the computation, the type
    /// counts as a type without base types, so that cyclic inheritance ends.
    pub(crate) fn bases_of(&self, id: ChunkId, find: impl FnOnce() -> Result<(Definitions, bool)>) -> Result<Bases> {
        self.caches.bases.get_or(&id, || {
            self.caches.bases.insert(id, Bases::default());
            let found = find().map(|(types, is_complete)| Bases { types: types.into(), is_complete });
            self.caches.bases.remove(&id);
            found
        })
    }

    /// Starts a request and resets the number of steps that may be taken.
    pub(crate) fn begin(&self) {
        self.steps_left.set(MAX_STEPS);
    }

    /// Limits the work of all following requests together.
    pub(crate) fn limit_work(&self, units: u64) {
        self.work_left.set(units);
    }

    /// Counts units of work.
    pub(crate) fn add_work(&self, units: u64) {
        self.work_left.set(self.work_left.get().saturating_sub(units));
    }

    /// Starts the resolution of the calls of a name in a text and resets the number of expressions that may be read.
    pub(crate) fn begin_calls(&self) {
        self.expressions_left.set(MAX_EXPRESSIONS);
    }

    /// Returns whether one more expression may be read. Counts the expression.
    pub(crate) fn may_read_expression(&self) -> bool {
        let left = self.expressions_left.get();
        self.expressions_left.set(left.saturating_sub(1));
        left > 0 && self.may_step()
    }

    /// Returns whether one more step may be taken for the request. Counts the step.
    pub(crate) fn may_step(&self) -> bool {
        let left = self.steps_left.get();
        self.steps_left.set(left.saturating_sub(1));
        self.add_work(1);
        left > 0 && self.work_left.get() > 0 && !self.work.is_cancelled()
    }

    /// Returns whether the request has used all of its steps or was cancelled.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps_left.get() == 0 || self.is_exhausted()
    }

    /// Returns whether the answer has used all of its work or was cancelled.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.work_left.get() == 0 || self.is_cancelled()
    }

    /// Returns whether the request was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// Returns the definitions of a file; empty if the file is not indexed.
    pub(crate) fn file(&self, path: &str) -> Result<Rc<File>> {
        self.caches.files.get_or(path, || Ok(Rc::new(self.read_file(path)?)))
    }

    /// Returns whether a file is indexed.
    pub(crate) fn has_file(&self, path: &str) -> Result<bool> {
        self.caches.paths.get_or(path, || Ok(self.snapshot.file_finder().row(path)?.is_some()))
    }

    /// Returns the name of the Go module that a `go.mod` declares.
    pub(crate) fn go_module(&self, path: &str) -> Result<Option<String>> {
        self.unit(path, |line| Some(line.strip_prefix("module ")?.trim().to_owned()))
    }

    /// Returns the name of the crate that a `Cargo.toml` declares, as it is written in Rust paths.
    pub(crate) fn crate_name(&self, path: &str) -> Result<Option<String>> {
        let (mut in_package, mut in_library) = (false, false);
        self.unit(path, |line| {
            let line = line.trim();
            if line.starts_with('[') {
                in_package = line == "[package]";
                in_library = line == "[lib]";
            }
            let (key, value) = line.split_once('=').filter(|_| in_package || in_library)?;
            let name = value.trim().trim_matches(['"', '\'']).replace('-', "_");
            (key.trim() == "name").then_some(name)
        })
    }

    /// Returns whether a `Cargo.toml` has a section for a library.
    pub(crate) fn has_library(&self, path: &str) -> Result<bool> {
        self.caches.paths.get_or(&format!("{path} [lib]"), || {
            for id in self.snapshot.file(path)?.into_iter().flat_map(|file| file.chunks).take(MAX_CHUNKS) {
                if self.snapshot.text(id)?.is_some_and(|text| text.text.lines().any(|line| line.trim() == "[lib]")) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns the package that a source file declares.
    pub(crate) fn package(&self, path: &str) -> Result<Option<String>> {
        self.unit(path, |line| {
            let rest = line.trim_start().strip_prefix("package ")?;
            let name = rest.split([';', '/', '{']).next().unwrap_or_default().trim();
            let is_path = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
            is_path.then(|| name.to_owned())
        })
    }

    /// Returns the first result of `read` for the lines of a file. Results are cached.
    fn unit(&self, path: &str, mut read: impl FnMut(&str) -> Option<String>) -> Result<Option<String>> {
        self.caches.units.get_or(path, || {
            for id in self.snapshot.file(path)?.into_iter().flat_map(|file| file.chunks).take(MAX_CHUNKS) {
                let name = self.snapshot.text(id)?.and_then(|text| text.text.lines().find_map(&mut read));
                if name.is_some() {
                    return Ok(name);
                }
            }
            Ok(None)
        })
    }

    /// Returns the text of the signature of a function or property; empty if the signature is missing.
    pub(crate) fn signature_text(&self, of: &Definition) -> Result<String> {
        Ok(self.snapshot.text(of.id)?.map(|text| text.signature).unwrap_or_default())
    }

    /// Returns the parsed signature of a function.
    pub(crate) fn signature(&self, of: &Definition) -> Result<Option<Rc<Signature>>> {
        self.caches.signatures.get_or(&of.id, || {
            self.add_work(TEXT_WORK);
            Ok(signature::read(&self.signature_text(of)?, &of.name, of.syntax).map(Rc::new))
        })
    }

    /// Returns the definitions of a name in a group of languages.
    pub(crate) fn named_in(&self, name: &str, group: u8) -> Result<Definitions> {
        Ok(self.named(name)?.iter().filter(|other| other.syntax.group == group).cloned().collect())
    }

    /// Returns the number of type parameters of a type or function according to its signature: 1 for `Box<T>`.
    pub(crate) fn type_parameters(&self, of: &Definition) -> Result<usize> {
        self.caches.type_parameters.get_or(&of.id, || {
            let tokens = Tokens::read(self.signature_text(of)?, of.syntax);
            let counts = tokens.positions(&of.name).map(|at| type_name::argument_count(&tokens, at + 1));
            Ok(counts.max().unwrap_or_default())
        })
    }

    /// Keeps the definitions with a given number of type parameters, or all definitions if no definition matches. Keeps
    /// all definitions in languages where the number of type parameters does not distinguish types.
    pub(crate) fn with_type_parameters(&self, found: Definitions, count: usize) -> Result<Definitions> {
        if found.len() < 2 || !found[0].syntax.generic_arity {
            return Ok(found);
        }
        let mut kept = found.clone();
        retain(&mut kept, |of| Ok(self.type_parameters(of)? == count))?;
        Ok(if kept.is_empty() { found } else { kept })
    }

    /// Returns the other parts of a partial type, which are definitions that add members to the type.
    pub(crate) fn other_parts(&self, of: &Definition) -> Result<Definitions> {
        if !(of.syntax.partial_types && of.is_type()) {
            return Ok(Vec::new());
        }
        let mut found = self.named_in(&of.name, of.syntax.group)?;
        retain(&mut found, |other| {
            let is_part = other.id != of.id && other.is_type() && other.qualified_name == of.qualified_name;
            Ok(is_part && self.is_same_type(of, other)?)
        })?;
        Ok(found)
    }

    /// Returns whether two definitions with the same qualified name are parts of one type.
    fn is_same_type(&self, one: &Definition, other: &Definition) -> Result<bool> {
        Ok(!one.syntax.generic_arity || self.type_parameters(one)? == self.type_parameters(other)?)
    }

    /// Returns whether any file in a group of languages defines a name.
    pub(crate) fn is_defined(&self, name: &str, group: u8) -> Result<bool> {
        self.caches.defined.get_or(&(name.to_owned(), group), || {
            let mut is_defined = false;
            for id in self.chunks(Label::Defines(name), MAX_NAMESAKES)?.list {
                let Some(chunk) = self.snapshot.chunk(id)? else { continue };
                let has_name = chunk.name() == name || chunk.definitions().any(|inner| inner == name);
                is_defined |= has_name && syntax::for_language(chunk.language()).group == group;
            }
            Ok(is_defined)
        })
    }

    /// Returns the members of a type with a given name, without inherited members.
    pub(crate) fn own_members(&self, of: &Definition, name: &str) -> Result<Definitions> {
        // Kotlin: members of the companion object are members of the type.
        let is_owner = |owner: &str| {
            owner == of.qualified_name
                || owner.strip_suffix(".Companion").is_some_and(|owner| owner == of.qualified_name)
        };
        let is_member = |other: &&Rc<Definition>| is_owner(other.owner()) && !other.is_module;
        let file = self.file(&of.path)?;
        let mut found: Definitions = file.named(name).filter(is_member).cloned().collect();
        self.retain_members(of, &mut found)?;
        if !found.is_empty() || matches!(of.syntax.imports, Imports::Python | Imports::Ecma | Imports::Package) {
            return Ok(found);
        }
        let is_near = |other: &Definition| of.syntax.imports != Imports::Go || other.directory() == of.directory();
        let mut members = self.named_in(name, of.syntax.group)?;
        members.retain(|other| is_member(&other) && is_near(other));
        retain(&mut members, |other| {
            // A file that defines a type of the same name contains the members of that type.
            let is_type = |own: &Rc<Definition>| own.is_type() && own.qualified_name == of.qualified_name;
            Ok(of.syntax.imports != Imports::Rust || !self.file(&other.path)?.named(&of.name).any(is_type))
        })?;
        self.retain_members(of, &mut members)?;
        Ok(members)
    }

    /// Removes members of another type with the same qualified name as `of` but a different number of type parameters.
    fn retain_members(&self, of: &Definition, members: &mut Definitions) -> Result<()> {
        if !of.syntax.generic_arity {
            return Ok(());
        }
        retain(members, |member| {
            let parent = self.parent(member)?.filter(|parent| parent.qualified_name == of.qualified_name);
            parent.map_or(Ok(true), |parent| self.is_same_type(of, &parent))
        })
    }

    /// Returns the definition to which a chunk belongs.
    pub(crate) fn definition(&self, id: ChunkId) -> Result<Option<Rc<Definition>>> {
        let Some(record) = self.snapshot.chunk(id)? else { return Ok(None) };
        let file = self.file(record.path())?;
        let head = file.heads.get(&id).copied().unwrap_or(id);
        Ok(file.definition(head))
    }

    /// Returns the definitions of a name in any file, ordered by key, at most [`MAX_NAMESAKES`].
    pub(crate) fn named(&self, name: &str) -> Result<Rc<Definitions>> {
        self.caches.named.get_or(name, || {
            let mut found: Definitions = Vec::new();
            for id in self.chunks(Label::Defines(name), MAX_NAMESAKES)?.list {
                let Some(record) = self.snapshot.chunk(id)? else { continue };
                if record.name() == name
                    && let Some(definition) = self.definition(id)?
                    && found.iter().all(|known| known.id != definition.id)
                {
                    found.push(definition);
                }
            }
            found.sort_by(|a, b| a.key.cmp(&b.key));
            Ok(Rc::new(found))
        })
    }

    /// Returns the definitions that define a name, including names without a separate chunk. The code of a file outside
    /// of definitions counts as a definition.
    pub(crate) fn defining(&self, name: &str) -> Result<Definitions> {
        let mut found = Vec::new();
        for id in self.chunks(Label::Defines(name), MAX_NAMESAKES)?.list {
            found.extend(self.definition(id)?);
        }
        Ok(found)
    }

    /// Returns the first `most` chunks with a label, ordered by key. Unlike keys, ids depend on the order in which
    /// files were indexed.
    pub(crate) fn chunks(&self, label: Label<'_>, most: usize) -> Result<Labelled> {
        self.chunks_in(label, None, most)
    }

    /// Returns the first `most` chunks with a label, ordered by key, without the chunks that are not in `among`.
    pub(crate) fn chunks_in(
        &self,
        label: Label<'_>,
        among: Option<&FxHashSet<ChunkId>>,
        most: usize,
    ) -> Result<Labelled> {
        let ids = self.snapshot.label(label)?;
        let mut keyed = Vec::new();
        let ids = ids.iter().map(ChunkId).filter(|id| among.is_none_or(|among| among.contains(id)));
        for id in ids.take_while(|_| !self.work.is_cancelled()) {
            if let Some(chunk) = self.snapshot.chunk(id)? {
                keyed.push((chunk.key(), id));
            }
        }
        keyed.sort_unstable();
        let is_cut = keyed.len() > most;
        Ok(Labelled { list: keyed.into_iter().take(most).map(|(_, id)| id).collect(), is_cut })
    }

    /// Returns the names that a definition defines without a separate chunk, such as the methods of a short interface.
    pub(crate) fn inner_names(&self, id: ChunkId) -> Result<Vec<String>> {
        let record = self.snapshot.chunk(id)?;
        Ok(record.iter().flat_map(ChunkRecord::definitions).map(str::to_owned).collect())
    }

    /// Returns the tokens of a definition's text, which consists of all pieces of the definition.
    pub(crate) fn tokens(&self, definition: &Definition) -> Result<Rc<Tokens>> {
        self.caches.tokens.get_or(&definition.id, || {
            let mut whole = String::new();
            self.add_work(TEXT_WORK);
            for id in self.pieces(definition)? {
                if whole.len() > MAX_TEXT_BYTES || self.work.is_cancelled() {
                    break;
                }
                if let Some(text) = self.snapshot.text(id)? {
                    self.add_work(text.text.len() as u64 / BYTES_PER_WORK);
                    whole.push_str(&text.text);
                    whole.push('\n');
                }
            }
            Ok(Rc::new(Tokens::read(whole, definition.syntax)))
        })
    }

    /// Returns the chunks of a definition.
    pub(crate) fn pieces(&self, definition: &Definition) -> Result<Vec<ChunkId>> {
        let file = self.file(&definition.path)?;
        Ok(file.pieces.get(&definition.id).cloned().unwrap_or_else(|| vec![definition.id]))
    }

    /// Returns the definition of a chunk if the definition has several chunks.
    pub(crate) fn split(&self, id: ChunkId) -> Result<Option<Rc<Definition>>> {
        let Some(record) = self.snapshot.chunk(id)? else { return Ok(None) };
        let key = record.key();
        let is_later = first_piece(&key) != key;
        if !is_later
            && self
                .snapshot
                .chunk(ChunkId(id.0.saturating_add(1)))?
                .is_none_or(|next| next.path() != record.path() || next.qualified_name() != record.qualified_name())
        {
            return Ok(None);
        }
        self.definition(id)
    }

    /// Returns the definition that encloses or owns `definition`.
    pub(crate) fn parent(&self, definition: &Definition) -> Result<Option<Rc<Definition>>> {
        let file = self.file(&definition.path)?;
        let parent = file.parents.get(&definition.id).copied();
        Ok(parent.and_then(|parent| file.definition(parent)))
    }

    fn read_file(&self, path: &str) -> Result<File> {
        let Some(record) = self.snapshot.file(path)? else { return Ok(File::default()) };
        self.add_work(TEXT_WORK + record.chunks.len() as u64);
        let shared: Rc<str> = path.into();
        let name_of_file = path.rsplit('/').next().unwrap_or(path);
        let mut file = File::default();
        let mut by_key: FxHashMap<String, ChunkId> = FxHashMap::default();
        let mut parents = Vec::new();
        for id in record.chunks.into_iter().take(MAX_CHUNKS).take_while(|_| !self.work.is_cancelled()) {
            let (Some(chunk), Some(relations)) = (self.snapshot.chunk(id)?, self.snapshot.relations(id)?) else {
                continue;
            };
            let key = chunk.key().into_owned();
            let head = by_key.get(first_piece(&key)).copied().unwrap_or(id);
            by_key.insert(key.clone(), id);
            file.heads.insert(id, head);
            file.pieces.entry(head).or_default().push(id);
            file.imports.extend(relations.imports);
            file.bindings.extend(relations.bindings);
            if head != id || !chunk.chunk_type().is_source_code() {
                continue;
            }
            if let Some(parent) = relations.parent {
                parents.push((id, parent));
            }
            let is_module = chunk.chunk_type() == ChunkType::Code && chunk.name() == name_of_file;
            let syntax = syntax::for_language(chunk.language());
            file.by_id.insert(id, file.definitions.len());
            file.by_name.entry(chunk.name().to_owned()).or_default().push(file.definitions.len());
            file.definitions.push(Rc::new(Definition {
                id,
                key,
                path: Rc::clone(&shared),
                name: chunk.name().to_owned(),
                qualified_name: chunk.qualified_name().to_owned(),
                kind: chunk.chunk_type(),
                syntax,
                is_module,
                is_local: syntax.prototypes
                    && syntax.namespaces
                    && chunk.chunk_type() == ChunkType::Function
                    && !chunk.exported()
                    && !is_header(path),
            }));
        }
        file.imports.sort_unstable();
        file.imports.dedup();
        let known = parents.into_iter().filter_map(|(id, parent)| Some((id, *by_key.get(&parent)?)));
        file.parents = known.collect();
        for definition in &file.definitions {
            let mut owner = definition.owner();
            while !owner.is_empty() && file.owners.insert(owner.to_owned()) {
                owner = scope_around(owner);
            }
        }
        Ok(file)
    }
}

pub(crate) fn retain(found: &mut Definitions, keeps: impl Fn(&Definition) -> Result<bool>) -> Result<()> {
    let kept = found.drain(..).filter_map(|one| keeps(&one).map(|is_kept| is_kept.then_some(one)).transpose());
    *found = kept.collect::<Result<_>>()?;
    Ok(())
}
