//! The relations of one definition: what it calls, what calls it, and what implements it.

use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkType, Label, Snapshot, StorageError};
use rustc_hash::FxHashSet;

use super::index::{Definition, Index, MOST_NAMESAKES};
use super::modules::ends_in;
use super::prototypes;
use super::reason::Reason;
use super::resolve::{self, Target};
use super::scope;
use crate::work::WorkBudget;

/// Most chunks that call a name and are looked at.
const MOST_CALLERS: usize = 4_096;
/// Most names that one definition calls and that are resolved.
const MOST_CALLS: usize = 1_024;
/// Most names under which one definition is looked for.
const MOST_NAMES: usize = 256;
/// Most types that implement one.
const MAX_IMPLEMENTERS: usize = 1_024;

/// Which relation of a definition is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// What it calls.
    Callees,
    /// What calls it.
    Callers,
    /// The types that extend or implement a type, or the methods that override a method.
    Implementers,
}

/// What a name means: a definition, or a member of one that has no chunk of its own, as the methods of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// The name of the member.
    pub member: Option<String>,
}

/// A definition that another one is related to.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// The chunk of the definition, the first one if it has several.
    pub id: ChunkId,
    /// How it was found.
    pub reason: Reason,
    /// How often relations that were found so are those that a compiler finds, from 0 to 1.
    pub confidence: f32,
}

/// The relations that were found, best first, and what is missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelatedDefinitions {
    /// By confidence, then by key.
    pub list: Vec<Related>,
    /// Names that are called and mean nothing in the repository, as far as is known.
    pub external: Vec<String>,
    /// Something was left out because there was too much to look at.
    pub is_cut: bool,
}

/// The relations between the definitions of one generation. What it has read it keeps, so one value serves many questions.
pub struct RelationIndex<'s> {
    index: Index<'s>,
}

impl<'s> RelationIndex<'s> {
    /// The relations in a generation.
    pub fn new(snapshot: &'s Snapshot) -> Self {
        Self::within(snapshot, WorkBudget::default())
    }

    /// The same for one request. When it is cancelled, questions end early, and their answers say that something is missing.
    pub fn within(snapshot: &'s Snapshot, work: WorkBudget) -> Self {
        Self { index: Index::new(snapshot, work) }
    }

    /// Whether the request was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.index.is_cancelled()
    }

    /// The first chunk of the definition that a chunk is a piece of, or that it declares; `None` if the chunk is no code.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn definition_of(&self, id: ChunkId) -> Result<Option<ChunkId>, StorageError> {
        let Some(definition) = self.index.definition(id)? else { return Ok(None) };
        let meant = prototypes::declared_by(&self.index, &definition)?;
        Ok(Some(if let [one] = meant.as_slice() { one.id } else { definition.id }))
    }

    /// The definitions that a name means: those with this qualified name, or whose qualified name ends in it; in another case, if
    /// there are none in this one. Separators of qualified names may be written as dots. In the order of their keys. What only
    /// declares a definition does not count beside it.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn find(&self, name: &str) -> Result<Vec<Named>, StorageError> {
        let wanted = dotted(name);
        let last = wanted.rsplit('.').next().unwrap_or_default();
        let folded = wanted.to_lowercase();
        let mut found = Vec::new();
        for id in self.index.chunks(Label::Defines(last), MOST_NAMESAKES)?.list {
            let Some(definition) = self.index.definition(id)?.filter(|definition| !definition.is_module) else {
                continue;
            };
            let qualified = dotted(&definition.qualified_name);
            if ends_in(&qualified.to_lowercase(), &folded) {
                found.push((qualified, definition, None));
                continue;
            }
            // A member in the chunk of its type.
            let inner =
                self.index.inner_names(id)?.into_iter().find(|inner| inner.to_lowercase() == last.to_lowercase());
            if let Some(inner) = inner.filter(|_| definition.is_type() && wanted.contains('.')) {
                let qualified = format!("{qualified}.{inner}");
                if ends_in(&qualified.to_lowercase(), &folded) {
                    found.push((qualified, definition, Some(inner)));
                }
            }
        }
        for is_meant in [
            (|name: &str, wanted: &str| ends_in(name, wanted)) as fn(&str, &str) -> bool,
            |name: &str, wanted: &str| name == wanted,
        ] {
            if found.iter().any(|(name, ..)| is_meant(name, &wanted)) {
                found.retain(|(name, ..)| is_meant(name, &wanted));
            }
        }
        // Members in the chunks of their types are declarations, if they have chunks of their own elsewhere.
        if found.iter().any(|(_, _, member)| member.is_none()) {
            found.retain(|(_, _, member)| member.is_none());
        }
        let mut named: Vec<(String, Named)> = Vec::new();
        for (_, definition, member) in found {
            for meant in prototypes::declared_by(&self.index, &definition)? {
                named.push((meant.key.clone(), Named { id: meant.id, member: member.clone() }));
            }
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named.dedup_by(|a, b| a.0 == b.0);
        Ok(named.into_iter().map(|(_, named)| named).collect())
    }

    /// Where a definition is declared beside its own place: prototypes, and the types that declare a member. In the order of their
    /// keys.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn declarations(&self, id: ChunkId) -> Result<Vec<ChunkId>, StorageError> {
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

    /// The definitions that a chunk's is related to.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn related(&self, id: ChunkId, relation: Relation) -> Result<RelatedDefinitions, StorageError> {
        self.related_to(&Named { id, member: None }, relation)
    }

    /// The definitions that a chunk's, or a member in it, is related to.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn related_to(&self, named: &Named, relation: Relation) -> Result<RelatedDefinitions, StorageError> {
        self.index.begin();
        let Some(definition) = self.index.definition(named.id)? else { return Ok(RelatedDefinitions::default()) };
        let (mut found, external, is_cut) = match (relation, &named.member) {
            (Relation::Callees, None) => self.callees(&definition)?,
            // A member without a chunk of its own has no body.
            (Relation::Callees, Some(_)) => (Vec::new(), Vec::new(), false),
            (Relation::Callers, None) => self.callers(&definition, self.names_in_calls(&definition)?)?,
            (Relation::Callers, Some(member)) => self.callers(&definition, vec![member.clone()])?,
            (Relation::Implementers, None) if definition.is_type() => {
                let (types, is_cut) = self.subtypes(&definition)?;
                (types, Vec::new(), is_cut)
            }
            (Relation::Implementers, None) => match scope::enclosing_type(&self.index, &definition)? {
                Some(own) => self.overrides(own, &definition.name, definition.id)?,
                None => (Vec::new(), Vec::new(), false),
            },
            (Relation::Implementers, Some(member)) => self.overrides(Rc::clone(&definition), member, definition.id)?,
        };
        found.sort_by(|a, b| {
            b.confidence.total_cmp(&a.confidence).then_with(|| a.definition.key.cmp(&b.definition.key))
        });
        let list = found.into_iter().map(|target| Related {
            id: target.definition.id,
            reason: target.reason,
            confidence: target.confidence,
        });
        Ok(RelatedDefinitions { list: list.collect(), external, is_cut: is_cut || self.index.is_spent() })
    }

    fn callees(&self, from: &Rc<Definition>) -> Result<(Vec<Target>, Vec<String>, bool), StorageError> {
        let (names, bases) = self.called_names(from)?;
        let (mut found, mut external): (Vec<Target>, Vec<String>) = (Vec::new(), Vec::new());
        for name in names.iter().take(MOST_CALLS) {
            let targets = resolve::targets(&self.index, from, name)?;
            if targets.is_empty() && !bases.contains(name) && !from.syntax.base.contains(&name.as_str()) {
                external.push(name.clone());
            }
            targets.into_iter().for_each(|target| add(&mut found, target));
        }
        resolve::delegates(&self.index, from)?.into_iter().for_each(|target| add(&mut found, target));
        Ok((found, external, names.len() > MOST_CALLS))
    }

    /// Names that a definition calls, each once, and its base types.
    fn called_names(&self, from: &Definition) -> Result<(Vec<String>, FxHashSet<String>), StorageError> {
        let (mut names, mut bases, mut seen) = (Vec::new(), FxHashSet::default(), FxHashSet::default());
        for id in self.index.pieces(from)? {
            let Some(relations) = self.index.snapshot.relations(id)? else { continue };
            bases.extend(relations.bases);
            names.extend(relations.calls.into_iter().filter(|name| seen.insert(name.clone())));
        }
        Ok((names, bases))
    }

    /// What calls a definition by one of these names.
    fn callers(
        &self,
        of: &Rc<Definition>,
        names: Vec<String>,
    ) -> Result<(Vec<Target>, Vec<String>, bool), StorageError> {
        let mut found: Vec<Target> = Vec::new();
        let mut is_cut = false;
        let mut seen = FxHashSet::default();
        // Who calls a constructor calls the type.
        let mut meant = FxHashSet::from_iter([of.id]);
        if of.is_type() {
            meant.extend(resolve::own_constructors(&self.index, of)?.iter().map(|constructor| constructor.id));
        }
        for name in names {
            let chunks = self.index.chunks(Label::Calls(&name), MOST_CALLERS)?;
            is_cut |= chunks.is_cut;
            for id in chunks.list {
                let Some(caller) = self.index.definition(id)? else { continue };
                let may_call = caller.syntax.group == of.syntax.group || !caller.syntax.is_known();
                if !may_call || !seen.insert((caller.id, name.clone())) {
                    continue;
                }
                let targets = resolve::targets(&self.index, &caller, &name)?;
                let target = targets.into_iter().find(|target| meant.contains(&target.definition.id));
                if let Some(Target { reason, confidence, .. }) = target {
                    add(&mut found, Target { definition: caller, reason, confidence });
                }
            }
        }
        for caller in self.delegating(of)? {
            let targets = resolve::delegates(&self.index, &caller)?;
            if let Some(Target { reason, confidence, .. }) =
                targets.into_iter().find(|target| meant.contains(&target.definition.id))
            {
                add(&mut found, Target { definition: caller, reason, confidence });
            }
        }
        Ok((found, Vec::new(), is_cut))
    }

    /// Constructors that may call a constructor, or that of a type, by `super(…)` or `this(…)`.
    fn delegating(&self, of: &Rc<Definition>) -> Result<Vec<Rc<Definition>>, StorageError> {
        let Some(own) = scope::enclosing_type(&self.index, of)? else { return Ok(Vec::new()) };
        if own.id != of.id && !resolve::is_constructor(of, &own) {
            return Ok(Vec::new());
        }
        let (subtypes, _) = self.subtypes(&own)?;
        let mut found = Vec::new();
        for own in subtypes.into_iter().map(|subtype| subtype.definition).chain([own]) {
            found.extend(resolve::own_constructors(&self.index, &own)?);
        }
        Ok(found)
    }

    /// Names under which a definition is called: its own, that of its type for a constructor, those of the members that it holds,
    /// and those that files give them.
    fn names_in_calls(&self, of: &Rc<Definition>) -> Result<Vec<String>, StorageError> {
        let mut names = vec![of.name.clone()];
        if let Some(own) = scope::enclosing_type(&self.index, of)?
            && resolve::is_constructor(of, &own)
            && own.name != of.name
        {
            names.push(own.name.clone());
        }
        if of.is_type() {
            names.extend(self.index.inner_names(of.id)?);
        }
        // A custom stage may state calls by qualified names.
        if of.qualified_name != of.name {
            names.push(of.qualified_name.clone());
        }
        let mut next = 0;
        while let Some(name) = names.get(next).cloned().filter(|_| names.len() < MOST_NAMES) {
            for id in self.index.chunks(Label::Renames(&name), MOST_NAMES)?.list {
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

    /// Members of a name anywhere below a type, other than one of them.
    fn overrides(
        &self,
        own: Rc<Definition>,
        name: &str,
        but: ChunkId,
    ) -> Result<(Vec<Target>, Vec<String>, bool), StorageError> {
        let (mut found, mut is_cut) = (Vec::new(), false);
        let (mut queue, mut seen) = (vec![own], FxHashSet::default());
        while let Some(at) = queue.pop() {
            let (types, cut) = self.subtypes(&at)?;
            is_cut |= cut || seen.len() >= MAX_IMPLEMENTERS;
            for subtype in types {
                if seen.len() >= MAX_IMPLEMENTERS || !seen.insert(subtype.definition.id) {
                    continue;
                }
                for member in scope::own_members(&self.index, &subtype.definition, name)? {
                    if member.id != but {
                        add(&mut found, Target { definition: member, ..subtype.clone() });
                    }
                }
                queue.push(subtype.definition);
            }
        }
        Ok((found, Vec::new(), is_cut))
    }

    /// Types that extend or implement a type directly.
    fn subtypes(&self, of: &Rc<Definition>) -> Result<(Vec<Target>, bool), StorageError> {
        let (mut found, mut is_cut) = (Vec::new(), false);
        let mut names = vec![&of.name];
        // A custom stage may state bases by qualified names.
        names.extend((of.qualified_name != of.name).then_some(&of.qualified_name));
        for name in names {
            let chunks = self.index.chunks(Label::Extends(name), MAX_IMPLEMENTERS)?;
            is_cut |= chunks.is_cut;
            for id in chunks.list {
                let Some(subtype) = self.index.definition(id)? else { continue };
                let bases = scope::base(&self.index, &subtype, name)?;
                if subtype.id != of.id && bases.iter().any(|base| base.id == of.id) {
                    let reason = match subtype.path == of.path {
                        true => Reason::Scope,
                        false if subtype.syntax.group == of.syntax.group => Reason::Import,
                        false => Reason::Global,
                    };
                    let confidence = reason.precision() / bases.len() as f32;
                    add(&mut found, Target { definition: subtype, reason, confidence });
                }
            }
        }
        if of.syntax.structural_interfaces && of.kind == ChunkType::Interface {
            let (structural, cut) = self.structural(of)?;
            structural.into_iter().for_each(|target| add(&mut found, target));
            is_cut |= cut;
        }
        Ok((found, is_cut))
    }

    /// Types that have every method of an interface, in languages where that makes them implement it.
    fn structural(&self, of: &Rc<Definition>) -> Result<(Vec<Target>, bool), StorageError> {
        let mut required = FxHashSet::default();
        for base in scope::lineage(&self.index, of)? {
            let file = self.index.file(&base.path)?;
            let members = file.definitions.iter().filter(|member| member.owner() == base.qualified_name);
            required.extend(members.map(|member| member.name.clone()));
            required.extend(self.index.inner_names(base.id)?);
        }
        let mut fewest: Option<Rc<Vec<Rc<Definition>>>> = None;
        for name in &required {
            let namesakes = self.index.named(name)?;
            if fewest.as_ref().is_none_or(|fewest| namesakes.len() < fewest.len()) {
                fewest = Some(namesakes);
            }
        }
        let Some(fewest) = fewest else { return Ok((Vec::new(), false)) };
        // Types that have the rarest method, and those that embed them.
        let mut candidates: Vec<Rc<Definition>> = Vec::new();
        for method in fewest.iter().filter(|method| method.syntax.group == of.syntax.group) {
            candidates.extend(scope::enclosing_type(&self.index, method)?);
        }
        let (mut found, mut seen, mut next) = (Vec::new(), FxHashSet::default(), 0);
        while let Some(candidate) = candidates.get(next).cloned().filter(|_| next < MAX_IMPLEMENTERS) {
            next += 1;
            if !seen.insert(candidate.id) {
                continue;
            }
            for id in self.index.chunks(Label::Extends(&candidate.name), MAX_IMPLEMENTERS)?.list {
                candidates.extend(self.index.definition(id)?);
            }
            if candidate.id == of.id || candidate.kind == ChunkType::Interface {
                continue;
            }
            let mut has_all = true;
            for name in &required {
                has_all = has_all && !scope::member(&self.index, &candidate, name)?.found.is_empty();
            }
            if has_all {
                let reason = Reason::Methods;
                add(&mut found, Target { definition: candidate, reason, confidence: reason.precision() });
            }
        }
        Ok((found, fewest.len() >= MOST_NAMESAKES || next >= MAX_IMPLEMENTERS))
    }

    /// The definitions of the file of a chunk, in the order of the file; code outside of definitions counts as one.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn definitions_in(&self, path: &str) -> Result<Vec<ChunkId>, StorageError> {
        Ok(self.index.file(path)?.definitions.iter().map(|definition| definition.id).collect())
    }
}

/// A qualified name with dots between its parts.
fn dotted(name: &str) -> String {
    let name = name.trim().trim_end_matches("()").trim_start_matches([':', '\\']).replace("::", ".").replace("->", ".");
    name.replace(['#', '\\'], ".")
}

/// Adds a relation, or the better reason for one that is known.
fn add(found: &mut Vec<Target>, target: Target) {
    match found.iter_mut().find(|known| known.definition.id == target.definition.id) {
        Some(known) if known.confidence < target.confidence => *known = target,
        Some(_) => {}
        None => found.push(target),
    }
}
