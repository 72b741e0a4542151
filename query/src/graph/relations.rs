//! The relations of a definition: its callees, its callers and its implementers.

use std::collections::BTreeMap;
use std::rc::Rc;

use aurora_storage::{Binding, ChunkId, Label, Snapshot, module_name};
use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::imports;
use super::index::{Definition, Definitions, Index, MAX_NAMESAKES, Result};
use super::modules::ends_in;
use super::prototypes;
use super::reason::Reason;
use super::resolve::{self, Target};
use super::scope;
use super::syntax::{Imports, Names};
use super::target::Calls;
use crate::work::WorkBudget;

/// Maximum number of chunks that are examined for calls of one name.
const MAX_CALLERS: usize = 4_096;
/// Maximum number of called names of one definition that are resolved.
const MAX_CALLS: usize = 1_024;
/// Maximum number of names under which callers of one definition are searched.
const MAX_NAMES: usize = 256;
/// Maximum number of implementers of one type that are examined.
pub(super) const MAX_IMPLEMENTERS: usize = 1_024;

/// The relation to follow.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The definitions that a definition calls.
    Callees,
    /// The definitions that call a definition.
    Callers,
    /// The types that extend or implement a type, or the methods that override a method.
    Implementers,
}

/// The target of a name: a definition, or a member that has no chunk of its own and is part of a definition's chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// The name of the member: a method of an interface, a constant of a file.
    pub member: Option<String>,
}

impl From<ChunkId> for Named {
    fn from(id: ChunkId) -> Self {
        Self { id, member: None }
    }
}

/// A related definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// The reason for resolving the relation.
    pub reason: Reason,
    /// Probability that a compiler finds the same relation, 0..=1.
    pub confidence: f32,
}

/// The relations of a definition, and whether relations are missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedDefinitions {
    /// Related definitions, ordered by descending confidence, then by key.
    pub list: Vec<Related>,
    /// Called names without a known definition in the repository.
    pub external: Vec<String>,
    /// Whether relations may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// Relations of a definition in the order in which they are found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) targets: Vec<Target>,
    pub(super) external: Vec<String>,
    pub(super) is_cut: bool,
}

impl Found {
    /// Adds a relation, or replaces the existing relation to the same definition if the new confidence is higher.
    pub(super) fn add(&mut self, target: Target) {
        resolve::add_target(&mut self.targets, target);
    }

    /// Adds a caller if one of its call targets is in `callees`.
    fn add_caller(&mut self, caller: &Rc<Definition>, targets: &[Target], callees: &FxHashSet<ChunkId>) {
        if let Some(target) = targets.iter().find(|target| callees.contains(&target.definition.id)) {
            self.add(Target { definition: Rc::clone(caller), ..target.clone() });
        }
    }
}

/// The relations between the definitions of one generation. Caches the data that it reads, so one value should answer
/// many requests.
pub struct RelationIndex<'s> {
    pub(super) index: Index<'s>,
}

impl<'s> RelationIndex<'s> {
    /// Opens the relations of a generation.
    pub fn new(snapshot: &'s Snapshot) -> Self {
        Self::for_request(snapshot, WorkBudget::default())
    }

    /// Opens the relations for one request. After cancellation, answers are partial, and their
    /// [`is_cut`](RelatedDefinitions::is_cut) is set.
    pub fn for_request(snapshot: &'s Snapshot, work: WorkBudget) -> Self {
        Self { index: Index::new(snapshot, work) }
    }

    /// Returns whether the request was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.index.is_cancelled()
    }

    /// Returns the first chunk of the definition that a chunk belongs to or declares; `None` if the chunk is not code.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn definition_of(&self, id: ChunkId) -> Result<Option<ChunkId>> {
        let Some(definition) = self.index.definition(id)? else { return Ok(None) };
        let declared = prototypes::declared_by(&self.index, &definition)?;
        Ok(Some(if let [one] = declared.as_slice() { one.id } else { definition.id }))
    }

    /// Returns the definitions with a qualified name that equals `name` or ends with it, ordered by key. A member
    /// without a separate chunk also matches, unless a definition in the same group of languages does. Ignores case if
    /// no name matches exactly. Separators of qualified names can be written as dots. Declarations are replaced by the
    /// definitions that they declare.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn find(&self, name: &str) -> Result<Vec<Named>> {
        let wanted = dotted(name);
        let last = wanted.rsplit('.').next().unwrap_or_default();
        let (folded, folded_last) = (wanted.to_lowercase(), last.to_lowercase());
        let mut found = Vec::new();
        for id in self.index.chunks(Label::Defines(last), MAX_NAMESAKES)?.list {
            let Some(definition) = self.index.definition(id)? else { continue };
            let qualified = dotted(&definition.qualified_name);
            if !definition.is_module && ends_in(&qualified.to_lowercase(), &folded) {
                found.push((qualified, definition, None));
                continue;
            }
            let inner = self.index.inner_names(id)?;
            let member = inner.iter().find(|inner| *inner == last);
            let member = member.or_else(|| inner.iter().find(|inner| inner.to_lowercase() == folded_last));
            let Some(member) = member.cloned() else { continue };
            let qualified = if definition.is_module { member.clone() } else { format!("{qualified}.{member}") };
            if ends_in(&qualified.to_lowercase(), &folded) {
                found.push((qualified, definition, Some(member)));
            }
        }
        // If definitions with separate chunks match as well, the members without chunks only declare these definitions.
        let defined = found.iter().filter(|(.., member)| member.is_none()).map(|(_, one, _)| one.syntax.group);
        let defined: FxHashSet<u8> = defined.collect();
        found.retain(|(_, one, member)| member.is_none() || !defined.contains(&one.syntax.group));
        if found.iter().any(|(name, ..)| ends_in(name, &wanted)) {
            found.retain(|(name, ..)| ends_in(name, &wanted));
        }
        if found.iter().any(|(name, ..)| *name == wanted) {
            found.retain(|(name, ..)| *name == wanted);
        }
        // The name of a type does not refer to its constructors.
        let types: Vec<String> =
            found.iter().filter(|(_, one, _)| one.is_type()).map(|(name, ..)| name.clone()).collect();
        found.retain(|(_, one, _)| {
            one.is_type() || !one.is_named_as_its_type() || !types.contains(&dotted(one.owner()))
        });
        let mut named: BTreeMap<String, Named> = BTreeMap::new();
        for (_, definition, member) in found {
            for declared in prototypes::declared_by(&self.index, &definition)? {
                let member = member.clone();
                named.entry(declared.key.clone()).or_insert(Named { id: declared.id, member });
            }
        }
        Ok(named.into_values().collect())
    }

    /// Returns the chunks that declare a definition, ordered by key: prototypes, and the type that declares a member.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn declarations(&self, id: ChunkId) -> Result<Vec<ChunkId>> {
        let Some(definition) = self.index.definition(id)? else { return Ok(Vec::new()) };
        let mut found = prototypes::declarations(&self.index, &definition)?;
        if definition.syntax.prototypes
            && definition.is_function()
            && let Some(own) = scope::enclosing_type(&self.index, &definition)?
            && own.path != definition.path
            && self.index.inner_names(own.id)?.contains(&definition.name)
        {
            found.push(own);
        }
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found.into_iter().map(|declaration| declaration.id).collect())
    }

    /// Returns the definitions that are related to the definition of a chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn related(&self, id: ChunkId, relation: Relation) -> Result<RelatedDefinitions> {
        self.related_to(&id.into(), relation)
    }

    /// Returns the definitions that are related to a definition or to one of its members.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn related_to(&self, named: &Named, relation: Relation) -> Result<RelatedDefinitions> {
        let Found { targets, external, is_cut } = self.find_related(named, relation)?;
        let related = |Target { definition, reason, confidence, .. }| Related { id: definition.id, reason, confidence };
        Ok(RelatedDefinitions { list: targets.into_iter().map(related).collect(), external, is_cut })
    }

    /// Returns the related definitions, ordered by descending confidence, then by key.
    pub(super) fn find_related(&self, named: &Named, relation: Relation) -> Result<Found> {
        self.index.begin();
        let Some(definition) = self.index.definition(named.id)? else { return Ok(Found::default()) };
        let mut found = match (relation, &named.member) {
            (Relation::Callers, None) => {
                let names = self.names_in_calls(&definition)?;
                self.callers(&definition, names)?
            }
            (Relation::Callers, Some(member)) => {
                let names = self.with_renames(vec![member.clone()])?;
                let callees = FxHashSet::from_iter([definition.id]);
                let mut found = self.definitions_calling(&definition, names.clone(), &callees)?;
                if definition.is_module && definition.syntax.imports.are_files() {
                    self.add_variable_callers(&definition, member, &names, &mut found)?;
                }
                found
            }
            (Relation::Implementers, None) => self.implementers(&definition)?,
            (Relation::Implementers, Some(member)) if definition.is_type() => {
                self.overriding_members(Rc::clone(&definition), member, definition.id)?
            }
            (Relation::Callees, None) => self.callees(&definition)?,
            // A name inside a function is part of the function, so it has the same callees as the function.
            (Relation::Callees, Some(_)) if definition.is_function() => self.callees(&definition)?,
            (Relation::Callees | Relation::Implementers, Some(_)) => Found::default(),
        };
        sort(&mut found.targets);
        found.is_cut |= self.index.is_spent();
        Ok(found)
    }

    /// Returns the definitions that construct an object of a type, without the callers of its members.
    pub(super) fn constructing(&self, of: &Rc<Definition>) -> Result<Found> {
        self.index.begin();
        let inner = self.index.inner_names(of.id)?;
        let mut names = self.names_in_calls(of)?;
        names.retain(|name| *name == of.name || !inner.contains(name));
        let mut found = self.callers(of, names)?;
        sort(&mut found.targets);
        found.is_cut |= self.index.is_spent();
        Ok(found)
    }

    fn callees(&self, from: &Rc<Definition>) -> Result<Found> {
        let (names, bases) = self.called_names(from)?;
        let mut found = Found { is_cut: names.len() > MAX_CALLS, ..Found::default() };
        for name in names.iter().take(MAX_CALLS) {
            let targets = resolve::targets(&self.index, from, name)?;
            let is_word = from.syntax.base.contains(&name.as_str()) || from.syntax.maker == Some(name.as_str());
            if targets.is_empty() && !bases.contains(name) && !is_word {
                found.external.push(name.clone());
            }
            targets.iter().for_each(|target| found.add(target.clone()));
        }
        resolve::delegates(&self.index, from)?.into_iter().for_each(|target| found.add(target));
        Ok(found)
    }

    /// Returns the distinct names that a definition calls, and the names of its base types.
    fn called_names(&self, from: &Definition) -> Result<(Vec<String>, FxHashSet<String>)> {
        let (mut names, mut bases, mut seen) = (Vec::new(), FxHashSet::default(), FxHashSet::default());
        for id in self.index.pieces(from)? {
            let Some(relations) = self.index.snapshot.relations(id)? else { continue };
            bases.extend(relations.bases);
            names.extend(relations.calls.into_iter().filter(|name| seen.insert(name.clone())));
        }
        Ok((names, bases))
    }

    /// Returns the definitions that call `of` by one of `names`.
    fn callers(&self, of: &Rc<Definition>, names: Vec<String>) -> Result<Found> {
        // A call of a constructor is a call of the type.
        let mut callees = FxHashSet::from_iter([of.id]);
        if of.is_type() {
            callees.extend(self.index.other_parts(of)?.iter().map(|part| part.id));
            callees.extend(resolve::own_constructors(&self.index, of)?.iter().map(|constructor| constructor.id));
        }
        let mut found = self.definitions_calling(of, names, &callees)?;
        for (caller, word) in self.instantiating_members(of)? {
            found.add_caller(&caller, &resolve::targets(&self.index, &caller, word)?, &callees);
        }
        for caller in self.delegating_definitions(of)? {
            found.add_caller(&caller, &resolve::delegates(&self.index, &caller)?, &callees);
        }
        Ok(found)
    }

    /// Returns the definitions in which a call of one of `names` resolves to one of `callees`.
    fn definitions_calling(
        &self,
        of: &Rc<Definition>,
        names: Vec<String>,
        callees: &FxHashSet<ChunkId>,
    ) -> Result<Found> {
        let mut found = Found::default();
        let mut sorted: Vec<&ChunkId> = callees.iter().collect();
        sorted.sort_unstable();
        for name in &names {
            let constructors = self.constructor_callers(of, name, &names)?;
            let calls = match &constructors {
                Some(among) => Rc::new(self.find_calls(name, of.syntax.group, Some(among))?),
                None => self.calls(name, of.syntax.group)?,
            };
            found.is_cut |= calls.is_cut;
            for callers in sorted.iter().filter_map(|callee| calls.by_callee.get(callee)) {
                callers.iter().for_each(|caller| found.add(caller.clone()));
            }
        }
        Ok(found)
    }

    /// Returns all resolved calls of a name in a group of languages. Many definitions have the same name, so the calls
    /// are resolved once for all of them.
    fn calls(&self, name: &str, group: u8) -> Result<Rc<Calls>> {
        let key = (name.to_owned(), group);
        let found = self.index.caches.calls.get_or(&key, || Ok(Rc::new(self.find_calls(name, group, None)?)))?;
        if self.index.is_spent() {
            // The calls may be incomplete.
            self.index.caches.calls.remove(&key);
        }
        Ok(found)
    }

    /// Resolves the calls of a name in chunks, or in the chunks of `among`.
    fn find_calls(&self, name: &str, group: u8, among: Option<&FxHashSet<ChunkId>>) -> Result<Calls> {
        let (mut found, mut seen) = (Calls::default(), FxHashSet::default());
        let chunks = self.index.chunks_in(Label::Calls(name), among, MAX_CALLERS)?;
        found.is_cut = chunks.is_cut;
        for id in chunks.list {
            if self.index.is_spent() {
                found.is_cut = true;
                break;
            }
            let Some(caller) = self.index.definition(id)? else { continue };
            let may_call = caller.syntax.group == group || !caller.syntax.is_known();
            if !may_call || !seen.insert(caller.id) {
                continue;
            }
            for target in resolve::targets(&self.index, &caller, name)?.iter() {
                let callers = found.by_callee.entry(target.definition.id).or_default();
                callers.push(Target { definition: Rc::clone(&caller), ..target.clone() });
            }
        }
        Ok(found)
    }

    /// Returns the chunks in which a call of `name` may refer to the constructor `of`, if all constructors have this
    /// name: `super().__init__()` and `self.__init__()` in members of the type and of its subtypes, and
    /// `Base.__init__(self)` in texts that mention the type by one of `names`.
    fn constructor_callers(
        &self,
        of: &Rc<Definition>,
        name: &str,
        names: &[String],
    ) -> Result<Option<FxHashSet<ChunkId>>> {
        let is_shared = of.is_function() && !name.is_empty() && of.syntax.constructors.contains(&name);
        let own = if is_shared && of.name == name { scope::enclosing_type(&self.index, of)? } else { None };
        let Some(own) = own else { return Ok(None) };
        let (mut types, mut next) = (vec![own], 0);
        while let Some(at) = types.get(next).cloned().filter(|_| next < MAX_IMPLEMENTERS) {
            next += 1;
            for subtype in &self.subtypes(&at)?.0 {
                if types.iter().all(|known| known.id != subtype.definition.id) {
                    types.push(Rc::clone(&subtype.definition));
                }
            }
        }
        let mut found = FxHashSet::default();
        let mentions = names.iter().map(String::as_str).chain(types.iter().map(|of| of.name.as_str()));
        let mentions: FxHashSet<&str> = mentions.filter(|other| *other != name).collect();
        for mentioned in mentions {
            for id in self.index.snapshot.postings(&mentioned.to_lowercase())?.docs().iter().map(ChunkId) {
                found.insert(id);
                // Another piece of the definition may contain the call.
                if let Some(definition) = self.index.split(id)? {
                    found.extend(self.index.pieces(&definition)?);
                }
            }
        }
        for of in types {
            let file = self.index.file(&of.path)?;
            for member in file.definitions.iter().filter(|member| member.owner().starts_with(&of.qualified_name)) {
                found.extend(self.index.pieces(member)?);
            }
            found.extend(self.index.pieces(&of)?);
        }
        Ok(Some(found))
    }

    /// Adds the definitions that call a variable of a module by one of `names`: `half = partial(f, 2)`.
    fn add_variable_callers(
        &self,
        module: &Definition,
        variable: &str,
        names: &[String],
        found: &mut Found,
    ) -> Result<()> {
        for name in names {
            for id in self.index.chunks(Label::Calls(name), MAX_CALLERS)?.list {
                let Some(caller) = self.index.definition(id)? else { continue };
                if caller.syntax.group == module.syntax.group
                    && caller.id != module.id
                    && resolve::calls_variable(&self.index, &caller, name, &module.path, variable)?
                {
                    let reason = if caller.path == module.path { Reason::Scope } else { Reason::Import };
                    found.add(Target::new(caller, reason, reason.precision()));
                }
            }
        }
        Ok(())
    }

    /// Returns the members that may instantiate their own type, each with the word that instantiates the type: `cls()`,
    /// `new`.
    fn instantiating_members(&self, of: &Rc<Definition>) -> Result<Vec<(Rc<Definition>, &'static str)>> {
        let words: Vec<&'static str> = of.syntax.own.iter().copied().chain(of.syntax.maker).collect();
        let mut found = Vec::new();
        for own in self.constructed_types(of)? {
            let file = self.index.file(&own.path)?;
            for member in file.definitions.iter().filter(|member| member.owner() == own.qualified_name) {
                let calls = self.called_names(member)?.0;
                let called = words.iter().filter(|word| calls.iter().any(|call| call == *word));
                found.extend(called.map(|word| (Rc::clone(member), *word)));
            }
        }
        Ok(found)
    }

    /// Returns the constructors that may call the constructor `of` by `super(…)` or `this(…)`, or the methods that may
    /// call the method `of` because they override it.
    fn delegating_definitions(&self, of: &Rc<Definition>) -> Result<Definitions> {
        if of.syntax.base_calls && of.is_function() {
            return Ok(self.implementers(of)?.targets.into_iter().map(|target| target.definition).collect());
        }
        let mut found = Vec::new();
        for own in self.constructed_types(of)? {
            found.extend(resolve::own_constructors(&self.index, &own)?);
        }
        Ok(found)
    }

    /// Returns a type and its subtypes if `of` is the type or one of its constructors, and otherwise nothing.
    fn constructed_types(&self, of: &Rc<Definition>) -> Result<Definitions> {
        let own = scope::enclosing_type(&self.index, of)?;
        let Some(own) = own.filter(|own| own.id == of.id || resolve::is_constructor(of, own)) else {
            return Ok(Vec::new());
        };
        let subtypes = self.subtypes(&own)?;
        let subtypes = subtypes.0.iter().map(|subtype| Rc::clone(&subtype.definition));
        Ok(subtypes.chain([own]).collect())
    }

    /// Returns the names under which a definition is called: its own name, the name of its type for a constructor, the
    /// names of its members, and the names to which imports and exports rename them.
    fn names_in_calls(&self, of: &Rc<Definition>) -> Result<Vec<String>> {
        let mut names = vec![of.name.clone()];
        if let Some(own) = scope::enclosing_type(&self.index, of)?
            && resolve::is_constructor(of, &own)
            && own.name != of.name
        {
            names.push(own.name.clone());
        }
        if let Some(name) = of.name.strip_suffix('=').filter(|_| of.syntax.names == Names::Ruby) {
            names.push(name.to_owned());
        }
        if of.is_type() {
            names.extend(self.index.inner_names(of.id)?);
        }
        // A custom stage may provide calls by qualified names.
        if of.qualified_name != of.name {
            names.push(of.qualified_name.clone());
        }
        self.add_exported_names(of, &mut names)?;
        self.with_renames(names)
    }

    /// Returns the names by which other definitions refer to a definition: its own name, and the names to which imports
    /// and exports rename it.
    pub(super) fn names_of(&self, of: &Rc<Definition>) -> Result<Vec<String>> {
        let mut names = vec![of.name.clone()];
        self.add_exported_names(of, &mut names)?;
        names.sort_unstable();
        names.dedup();
        self.with_renames(names)
    }

    /// Returns `names`, followed by the names to which imports rename them.
    fn with_renames(&self, mut names: Vec<String>) -> Result<Vec<String>> {
        let mut next = 0;
        while let Some(name) = names.get(next).cloned().filter(|_| names.len() < MAX_NAMES) {
            for id in self.index.chunks(Label::Renames(&name), MAX_NAMES)?.list {
                let bindings =
                    self.index.snapshot.relations(id)?.map(|relations| relations.bindings).unwrap_or_default();
                for binding in bindings.into_iter().filter(|binding| binding.is_renamed() && binding.target() == name) {
                    if !names.contains(&binding.name) {
                        names.push(binding.name);
                    }
                }
            }
            next += 1;
        }
        Ok(names)
    }

    /// Adds the names under which files export a definition, and the names that other files bind to its module or
    /// default export.
    fn add_exported_names(&self, of: &Definition, names: &mut Vec<String>) -> Result<()> {
        if !of.syntax.imports.are_files() || !(of.owner().is_empty() || of.is_module) {
            return Ok(());
        }
        let aliases = imports::aliases(&self.index, &of.path)?;
        names.extend(aliases.iter().filter(|alias| alias.local == of.name).map(|alias| alias.exported.clone()));
        if of.syntax.imports != Imports::Ecma || !imports::is_default(&self.index, of)? {
            return Ok(());
        }
        names.push("default".to_owned());
        let (mut files, mut next) = (vec![of.path.to_string()], 0);
        while let Some(file) = files.get(next).cloned().filter(|_| names.len() < MAX_NAMES) {
            next += 1;
            let name = module_name(&file).to_owned();
            let is_index = file.rsplit('/').next().is_some_and(|last| last.starts_with("index."));
            for module in [Some(name.as_str()), is_index.then_some("index")].into_iter().flatten() {
                for id in self.index.chunks(Label::Renames(module), MAX_NAMES)?.list {
                    let Some(relations) = self.index.snapshot.relations(id)? else { continue };
                    let is_whole = |binding: &Binding| matches!(binding.member.as_str(), "default" | "*");
                    for binding in relations.bindings {
                        if !is_whole(&binding) || binding.target() != module || binding.name == "*" {
                            continue;
                        }
                        // The importing file re-exports the definition as its own default.
                        if binding.name == "default"
                            && let Some(chunk) = self.index.snapshot.chunk(id)?
                            && !files.iter().any(|known| known == chunk.path())
                        {
                            files.push(chunk.path().to_owned());
                        }
                        names.push(binding.name);
                    }
                }
            }
            names.push(name);
        }
        if of.is_component() {
            let hyphenated: Vec<String> = names.iter().map(|name| hyphenated(name)).collect();
            names.extend(hyphenated);
        }
        names.sort_unstable();
        names.dedup();
        Ok(())
    }

    /// Returns the definitions of a file in the order of the file. Code outside of definitions counts as one
    /// definition.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn definitions_in(&self, path: &str) -> Result<Vec<ChunkId>> {
        Ok(self.index.file(path)?.definitions.iter().map(|definition| definition.id).collect())
    }
}

/// Sorts related definitions by descending confidence, then by key.
fn sort(targets: &mut [Target]) {
    targets.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.definition.key.cmp(&b.definition.key)));
}

/// Converts the name of a component to the name of its element: `MyCard` to `my-card`.
fn hyphenated(name: &str) -> String {
    let mut found = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !found.is_empty() {
            found.push('-');
        }
        found.extend(letter.to_lowercase());
    }
    found
}

/// Converts the separators of a qualified name to dots.
pub(super) fn dotted(name: &str) -> String {
    let name = name.trim().trim_end_matches("()").trim_start_matches([':', '\\']).replace("::", ".").replace("->", ".");
    name.replace(['#', '\\'], ".")
}
