//! The definitions and files of a generation for the resolution of calls. Each is read at most once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use aurora_storage::{Binding, ChunkId, ChunkRecord, ChunkType, Label, Snapshot, StorageError};
use rustc_hash::{FxHashMap, FxHashSet};

use super::syntax::{self, Imports, Syntax};
use super::tokens::Tokens;
use super::type_name;
use crate::rank::first_piece;
use crate::work::WorkBudget;

/// Maximum number of definitions of one name that are examined.
pub(crate) const MAX_NAMESAKES: usize = 1_024;
/// Maximum number of chunks of one file that are read.
const MAX_CHUNKS: usize = 16_384;
/// Maximum size of the pieces of one definition that are read, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum number of expressions that are read to resolve the calls of one name in one text.
const MAX_EXPRESSIONS: u32 = 4_096;
/// Maximum number of expressions and re-exports that are followed for one request.
const MAX_STEPS: u32 = 262_144;
/// Maximum number of files, definitions and texts in each cache.
const MAX_CACHE_ENTRIES: usize = 4_096;

/// A definition, or the code of a file outside of definitions. The first piece represents a split definition.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) id: ChunkId,
    pub(crate) key: String,
    pub(crate) path: Rc<str>,
    pub(crate) name: String,
    pub(crate) qualified_name: String,
    pub(crate) kind: ChunkType,
    pub(crate) syntax: &'static Syntax,
    /// Whether the chunk is code outside of definitions.
    pub(crate) is_module: bool,
    /// Whether it is a function that is not visible in other files, such as a `static` function in C.
    pub(crate) is_local: bool,
}

impl Definition {
    /// Whether other definitions can be its members.
    pub(crate) fn is_type(&self) -> bool {
        use ChunkType::{Class, Enum, Interface, Struct, Type};
        matches!(self.kind, Class | Interface | Struct | Enum | Type) || self.is_namespace()
    }

    /// Whether it is a module or namespace that is declared inside a file.
    pub(crate) fn is_namespace(&self) -> bool {
        let may_be = self.kind == ChunkType::Code && !self.is_module && self.syntax.inner_modules;
        let is_path = self.name.contains(':') && self.syntax.imports != Imports::Modules;
        may_be && (self.syntax.imports == Imports::Ecma || self.name.starts_with(char::is_uppercase)) && !is_path
    }

    /// Whether it is the module of a component file, which is used as one element.
    pub(crate) fn is_component(&self) -> bool {
        self.is_module && self.syntax.is_component
    }

    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, ChunkType::Function | ChunkType::Method)
    }

    /// Returns the qualified name without the name itself; empty at the top level of a file.
    pub(crate) fn owner(&self) -> &str {
        let owner = self.qualified_name.strip_suffix(self.name.as_str()).unwrap_or_default();
        owner.trim_end_matches(['.', ':', '\\', '#', '/'])
    }

    /// Whether it is a constructor with the name of its type.
    pub(crate) fn is_named_as_its_type(&self) -> bool {
        let owner = self.owner().rsplit(['.', ':', '\\', '#', '/']).next();
        self.syntax.constructors.contains(&"") && owner == Some(self.name.as_str())
    }

    pub(crate) fn directory(&self) -> &str {
        directory(&self.path)
    }
}

/// Removes the last part of a qualified name.
pub(crate) fn scope_around(scope: &str) -> &str {
    let outer = scope.rsplit_once(['.', ':', '\\', '#', '/']).map_or("", |(outer, _)| outer);
    outer.trim_end_matches(['.', ':', '\\', '#', '/'])
}

/// Returns the directory of a path.
pub(crate) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Whether a C or C++ file is a header.
fn is_header(path: &str) -> bool {
    !matches!(path.rsplit('.').next(), Some("c" | "cc" | "cpp" | "cxx" | "c++" | "cu" | "m" | "mm"))
}

/// Definitions and imports of the chunks of a file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) definitions: Vec<Rc<Definition>>,
    /// Positions of the definitions by id and by name.
    by_id: FxHashMap<ChunkId, usize>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// The first piece of the definition to which each chunk belongs.
    heads: FxHashMap<ChunkId, ChunkId>,
    /// The chunks of every definition.
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

    /// Whether any definition has this owner.
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
    /// Whether there are more chunks.
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
    work: WorkBudget,
    files: RefCell<FxHashMap<String, Rc<File>>>,
    named: RefCell<FxHashMap<String, Rc<Vec<Rc<Definition>>>>>,
    tokens: RefCell<FxHashMap<ChunkId, Rc<Tokens>>>,
    /// Whether a path is an indexed file.
    paths: RefCell<FxHashMap<String, bool>>,
    /// Number of expressions that may still be read for the calls of one name.
    expressions_left: Cell<u32>,
    /// Number of steps that may still be taken for one request.
    steps_left: Cell<u32>,
    /// The base types of types.
    bases: RefCell<FxHashMap<ChunkId, Bases>>,
    /// Export aliases by path.
    exports: RefCell<FxHashMap<String, Rc<[Alias]>>>,
    /// Names of units by the path of the file that declares them: `module` in `go.mod`, `name` in `Cargo.toml`,
    /// `package` in a source file.
    units: RefCell<FxHashMap<String, Option<String>>>,
    /// Whether a definition is only a declaration.
    prototypes: RefCell<FxHashMap<ChunkId, bool>>,
    /// Numbers of type parameters.
    type_parameters: RefCell<FxHashMap<ChunkId, usize>>,
    /// Whether a name is defined in a group of languages.
    defined: RefCell<FxHashMap<(String, u8), bool>>,
}

impl<'s> Index<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, work: WorkBudget) -> Self {
        Self {
            snapshot,
            work,
            files: RefCell::default(),
            named: RefCell::default(),
            tokens: RefCell::default(),
            paths: RefCell::default(),
            bases: RefCell::default(),
            expressions_left: Cell::default(),
            steps_left: Cell::default(),
            exports: RefCell::default(),
            units: RefCell::default(),
            prototypes: RefCell::default(),
            type_parameters: RefCell::default(),
            defined: RefCell::default(),
        }
    }

    /// Returns the base types of a type, computed by `find` unless they are cached. During the computation, the type
    /// has no base types.
    pub(crate) fn bases_of(
        &self,
        id: ChunkId,
        find: impl FnOnce() -> Result<(Vec<Rc<Definition>>, bool), StorageError>,
    ) -> Result<Bases, StorageError> {
        if let Some(known) = self.bases.borrow().get(&id) {
            return Ok(known.clone());
        }
        self.bases.borrow_mut().insert(id, Bases::default());
        let found = find().map(|(types, is_complete)| Bases { types: types.into(), is_complete });
        self.bases.borrow_mut().remove(&id);
        let found = found?;
        keep(&mut self.bases.borrow_mut(), id, found.clone());
        Ok(found)
    }

    /// Starts a request and resets its limit of steps.
    pub(crate) fn begin(&self) {
        self.steps_left.set(MAX_STEPS);
    }

    /// Starts the resolution of the calls of a name in a text and resets its limit of expressions.
    pub(crate) fn begin_calls(&self) {
        self.expressions_left.set(MAX_EXPRESSIONS);
    }

    /// Whether one more expression may be read. Counts the expression.
    pub(crate) fn may_read_expression(&self) -> bool {
        let left = self.expressions_left.get();
        self.expressions_left.set(left.saturating_sub(1));
        left > 0 && self.may_step()
    }

    /// Whether one more step may be taken for the request. Counts the step.
    pub(crate) fn may_step(&self) -> bool {
        let left = self.steps_left.get();
        self.steps_left.set(left.saturating_sub(1));
        left > 0 && !self.work.is_cancelled()
    }

    /// Whether the request has used all of its steps or was cancelled.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps_left.get() == 0 || self.is_cancelled()
    }

    /// Whether the request was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// Returns the definitions of a file; empty if the file is not indexed.
    pub(crate) fn file(&self, path: &str) -> Result<Rc<File>, StorageError> {
        if let Some(file) = self.files.borrow().get(path) {
            return Ok(Rc::clone(file));
        }
        let file = Rc::new(self.read_file(path)?);
        keep(&mut self.files.borrow_mut(), path.to_owned(), Rc::clone(&file));
        Ok(file)
    }

    /// Whether a file is indexed.
    pub(crate) fn has_file(&self, path: &str) -> Result<bool, StorageError> {
        if let Some(known) = self.paths.borrow().get(path) {
            return Ok(*known);
        }
        let has_file = self.snapshot.file_finder().row(path)?.is_some();
        keep(&mut self.paths.borrow_mut(), path.to_owned(), has_file);
        Ok(has_file)
    }

    /// Returns the name of the Go module that a `go.mod` declares.
    pub(crate) fn go_module(&self, path: &str) -> Result<Option<String>, StorageError> {
        self.unit(path, |line| Some(line.strip_prefix("module ")?.trim().to_owned()))
    }

    /// Returns the name of the crate that a `Cargo.toml` declares, as it is written in Rust paths.
    pub(crate) fn crate_name(&self, path: &str) -> Result<Option<String>, StorageError> {
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

    /// Returns the package that a source file declares.
    pub(crate) fn package(&self, path: &str) -> Result<Option<String>, StorageError> {
        self.unit(path, |line| {
            let rest = line.trim_start().strip_prefix("package ")?;
            let name = rest.split([';', '/', '{']).next().unwrap_or_default().trim();
            let is_path = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
            is_path.then(|| name.to_owned())
        })
    }

    /// Returns the first result of `read` for the lines of a file. Results are cached.
    fn unit(&self, path: &str, mut read: impl FnMut(&str) -> Option<String>) -> Result<Option<String>, StorageError> {
        if let Some(known) = self.units.borrow().get(path) {
            return Ok(known.clone());
        }
        let mut name = None;
        for id in self.snapshot.file(path)?.into_iter().flat_map(|file| file.chunks).take(MAX_CHUNKS) {
            let Some(text) = self.snapshot.text(id)? else { continue };
            name = text.text.lines().find_map(&mut read);
            if name.is_some() {
                break;
            }
        }
        keep(&mut self.units.borrow_mut(), path.to_owned(), name.clone());
        Ok(name)
    }

    /// Returns the export aliases of a file, computed by `find` unless they are cached.
    pub(crate) fn aliases(
        &self,
        path: &str,
        find: impl FnOnce() -> Result<Vec<Alias>, StorageError>,
    ) -> Result<Rc<[Alias]>, StorageError> {
        if let Some(known) = self.exports.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let found: Rc<[Alias]> = find()?.into();
        keep(&mut self.exports.borrow_mut(), path.to_owned(), Rc::clone(&found));
        Ok(found)
    }

    /// Whether a definition is only a declaration, computed by `find` unless it is cached.
    pub(crate) fn is_prototype(
        &self,
        id: ChunkId,
        find: impl FnOnce() -> Result<bool, StorageError>,
    ) -> Result<bool, StorageError> {
        if let Some(known) = self.prototypes.borrow().get(&id) {
            return Ok(*known);
        }
        let found = find()?;
        keep(&mut self.prototypes.borrow_mut(), id, found);
        Ok(found)
    }

    /// Number of type parameters of a type or function according to its signature: 1 for `Box<T>`.
    pub(crate) fn type_parameters(&self, of: &Definition) -> Result<usize, StorageError> {
        if let Some(known) = self.type_parameters.borrow().get(&of.id) {
            return Ok(*known);
        }
        let text = self.snapshot.text(of.id)?;
        let tokens = Tokens::read(text.map(|text| text.signature).unwrap_or_default(), of.syntax);
        let count = tokens.places(&of.name).map(|at| type_name::argument_count(&tokens, at + 1)).max();
        let count = count.unwrap_or_default();
        keep(&mut self.type_parameters.borrow_mut(), of.id, count);
        Ok(count)
    }

    /// Keeps the definitions with a given number of type parameters, or all definitions if none of them matches. Does
    /// nothing in languages where this number does not distinguish types.
    pub(crate) fn with_type_parameters(
        &self,
        found: Vec<Rc<Definition>>,
        count: usize,
    ) -> Result<Vec<Rc<Definition>>, StorageError> {
        if found.len() < 2 || !found[0].syntax.generic_arity {
            return Ok(found);
        }
        let mut kept = Vec::new();
        for of in &found {
            if self.type_parameters(of)? == count {
                kept.push(Rc::clone(of));
            }
        }
        Ok(if kept.is_empty() { found } else { kept })
    }

    /// Returns the other parts of a type: definitions in other places that add members to it.
    pub(crate) fn other_parts(&self, of: &Definition) -> Result<Vec<Rc<Definition>>, StorageError> {
        if !(of.syntax.partial_types && of.is_type()) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for other in self.named(&of.name)?.iter().filter(|other| {
            other.id != of.id
                && other.is_type()
                && other.qualified_name == of.qualified_name
                && other.syntax.group == of.syntax.group
        }) {
            if self.is_same_type(of, other)? {
                found.push(Rc::clone(other));
            }
        }
        Ok(found)
    }

    /// Whether two definitions with the same qualified name are parts of one type.
    fn is_same_type(&self, one: &Definition, other: &Definition) -> Result<bool, StorageError> {
        Ok(!one.syntax.generic_arity || self.type_parameters(one)? == self.type_parameters(other)?)
    }

    /// Whether any file in a group of languages defines a name.
    pub(crate) fn is_defined(&self, name: &str, group: u8) -> Result<bool, StorageError> {
        let key = (name.to_owned(), group);
        if let Some(known) = self.defined.borrow().get(&key) {
            return Ok(*known);
        }
        let mut is_defined = false;
        for id in self.chunks(Label::Defines(name), MAX_NAMESAKES)?.list {
            let Some(chunk) = self.snapshot.chunk(id)? else { continue };
            let has_name = chunk.name() == name || chunk.definitions().any(|inner| inner == name);
            is_defined |= has_name && syntax::for_language(chunk.language()).group == group;
        }
        keep(&mut self.defined.borrow_mut(), key, is_defined);
        Ok(is_defined)
    }

    /// Returns the members of a type with a given name, without inherited ones.
    pub(crate) fn own_members(&self, of: &Definition, name: &str) -> Result<Vec<Rc<Definition>>, StorageError> {
        // Kotlin: members of the companion object are members of the type.
        let is_owner = |owner: &str| {
            owner == of.qualified_name
                || owner.strip_suffix(".Companion").is_some_and(|owner| owner == of.qualified_name)
        };
        let is_member = |other: &&Rc<Definition>| is_owner(other.owner()) && !other.is_module;
        let file = self.file(&of.path)?;
        let mut found: Vec<Rc<Definition>> = file.named(name).filter(is_member).cloned().collect();
        self.retain_members(of, &mut found)?;
        if !found.is_empty() || matches!(of.syntax.imports, Imports::Python | Imports::Ecma | Imports::Package) {
            return Ok(found);
        }
        let is_near = |other: &&Rc<Definition>| of.syntax.imports != Imports::Go || other.directory() == of.directory();
        let all = self.named(name)?;
        let others = all.iter().filter(|other| other.syntax.group == of.syntax.group);
        let mut members = Vec::new();
        for other in others.filter(is_member).filter(is_near) {
            // Another file may define another type of the same name.
            let has_own = of.syntax.imports == Imports::Rust && {
                let file = self.file(&other.path)?;
                file.named(&of.name).any(|own| own.is_type() && own.qualified_name == of.qualified_name)
            };
            if !has_own {
                members.push(Rc::clone(other));
            }
        }
        self.retain_members(of, &mut members)?;
        Ok(members)
    }

    /// Removes members of another type with the same qualified name as `of` but a different number of type parameters.
    fn retain_members(&self, of: &Definition, members: &mut Vec<Rc<Definition>>) -> Result<(), StorageError> {
        if !of.syntax.generic_arity {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(members.len());
        for member in members.drain(..) {
            let parent = self.parent(&member)?.filter(|parent| parent.qualified_name == of.qualified_name);
            let is_own = match parent {
                Some(parent) => self.is_same_type(of, &parent)?,
                None => true,
            };
            if is_own {
                kept.push(member);
            }
        }
        *members = kept;
        Ok(())
    }

    /// Returns the definition to which a chunk belongs.
    pub(crate) fn definition(&self, id: ChunkId) -> Result<Option<Rc<Definition>>, StorageError> {
        let Some(record) = self.snapshot.chunk(id)? else { return Ok(None) };
        let file = self.file(record.path())?;
        let head = file.heads.get(&id).copied().unwrap_or(id);
        Ok(file.definition(head))
    }

    /// Returns the definitions of a name in any file, ordered by key, at most [`MAX_NAMESAKES`].
    pub(crate) fn named(&self, name: &str) -> Result<Rc<Vec<Rc<Definition>>>, StorageError> {
        if let Some(known) = self.named.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let mut found: Vec<Rc<Definition>> = Vec::new();
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
        let found = Rc::new(found);
        keep(&mut self.named.borrow_mut(), name.to_owned(), Rc::clone(&found));
        Ok(found)
    }

    /// Returns the definitions and files that define a name, also without a separate chunk.
    pub(crate) fn defining(&self, name: &str) -> Result<Vec<Rc<Definition>>, StorageError> {
        let mut found = Vec::new();
        for id in self.chunks(Label::Defines(name), MAX_NAMESAKES)?.list {
            found.extend(self.definition(id)?);
        }
        Ok(found)
    }

    /// Returns the first `most` chunks with a label, ordered by key. Unlike keys, ids depend on the order in which
    /// files were indexed.
    pub(crate) fn chunks(&self, label: Label<'_>, most: usize) -> Result<Labelled, StorageError> {
        let ids = self.snapshot.label(label)?;
        let mut keyed = Vec::new();
        for id in ids.iter().map(ChunkId).take_while(|_| !self.work.is_cancelled()) {
            if let Some(chunk) = self.snapshot.chunk(id)? {
                keyed.push((chunk.key(), id));
            }
        }
        keyed.sort_unstable();
        let is_cut = keyed.len() > most;
        Ok(Labelled { list: keyed.into_iter().take(most).map(|(_, id)| id).collect(), is_cut })
    }

    /// Returns the names that a definition defines without a separate chunk, such as the methods of a short interface.
    pub(crate) fn inner_names(&self, id: ChunkId) -> Result<Vec<String>, StorageError> {
        let record = self.snapshot.chunk(id)?;
        Ok(record.iter().flat_map(ChunkRecord::definitions).map(str::to_owned).collect())
    }

    /// Returns the tokens of the text of a definition, with all of its pieces.
    pub(crate) fn tokens(&self, definition: &Definition) -> Result<Rc<Tokens>, StorageError> {
        if let Some(known) = self.tokens.borrow().get(&definition.id) {
            return Ok(Rc::clone(known));
        }
        let mut whole = String::new();
        for id in self.pieces(definition)? {
            if whole.len() > MAX_TEXT_BYTES || self.work.is_cancelled() {
                break;
            }
            if let Some(text) = self.snapshot.text(id)? {
                whole.push_str(&text.text);
                whole.push('\n');
            }
        }
        let tokens = Rc::new(Tokens::read(whole, definition.syntax));
        keep(&mut self.tokens.borrow_mut(), definition.id, Rc::clone(&tokens));
        Ok(tokens)
    }

    /// Returns the chunks of a definition.
    pub(crate) fn pieces(&self, definition: &Definition) -> Result<Vec<ChunkId>, StorageError> {
        let file = self.file(&definition.path)?;
        Ok(file.pieces.get(&definition.id).cloned().unwrap_or_else(|| vec![definition.id]))
    }

    /// Returns the definition that encloses or owns another one.
    pub(crate) fn parent(&self, definition: &Definition) -> Result<Option<Rc<Definition>>, StorageError> {
        let file = self.file(&definition.path)?;
        let parent = file.parents.get(&definition.id).copied();
        Ok(parent.and_then(|parent| file.definition(parent)))
    }

    fn read_file(&self, path: &str) -> Result<File, StorageError> {
        let Some(record) = self.snapshot.file(path)? else { return Ok(File::default()) };
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

/// Caches a value. Clears the cache first if it is full.
fn keep<K: std::hash::Hash + Eq, V>(kept: &mut FxHashMap<K, V>, key: K, value: V) {
    if kept.len() >= MAX_CACHE_ENTRIES {
        kept.clear();
    }
    kept.insert(key, value);
}
