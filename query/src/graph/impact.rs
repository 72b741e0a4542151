//! The definitions that a change of a definition may affect.
//!
//! A search for the best paths follows relations from the changed definitions: to callers, to other references, to
//! subtypes of a type, and to the overriding methods of a changed method. A call of an overridden method may reach the
//! changed method, so it counts as a call of the changed method.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkType, Label};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::imports::{self, ExportSearch};
use super::index::{Definition, Result};
use super::meaning::Meaning;
use super::reason::Reason;
use super::references;
use super::relations::{Named, Relation, RelationIndex};
use super::resolve::{self, Target};
use super::scope;
use super::tree::MAX_TREE_DEPTH;
use crate::path_class::{PathClass, PathClasses};

/// Default of [`ImpactOptions::min_confidence`]. A call on a receiver of unknown type is not followed.
pub const MIN_IMPACT_CONFIDENCE: f32 = 0.5;
/// Default of [`ImpactOptions::depth`].
pub const DEFAULT_IMPACT_DEPTH: u32 = 8;
/// Maximum number of affected definitions.
const MAX_AFFECTED: usize = 2_000;
/// Maximum number of members of a changed type that count as changed.
const MAX_MEMBERS: usize = 256;
/// Maximum number of types that declare a method and are examined for whether a type implements them.
const MAX_INTERFACES: usize = 8;
/// Maximum number of chunks that are examined for calls of a removed definition.
const MAX_REMOVED_CALLS: usize = 1_024;

/// Options of a search for affected definitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpactOptions {
    /// Maximum number of steps from a changed definition.
    pub depth: u32,
    /// Minimum confidence, 0..=1.
    pub min_confidence: f32,
}

/// The way in which a change of one definition affects another definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Effect {
    /// It calls the definition, or a method that the definition overrides.
    Calls,
    /// It refers to the definition without calling it.
    Uses,
    /// It extends or implements the type.
    Extends,
    /// It overrides or implements the method.
    Overrides,
}

impl Effect {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A definition that a change may affect.
#[derive(Debug, Clone, PartialEq)]
pub struct Affected {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// Product of the confidences along the best path from a changed definition, 0..=1.
    pub confidence: f32,
    /// Number of steps from the changed definition.
    pub distance: u32,
    /// Whether the definition is in a test.
    pub is_test: bool,
    /// The way in which [`Self::of`] affects it.
    pub effect: Effect,
    /// The reason for the relation to [`Self::of`].
    pub reason: Reason,
    /// The definition before this one on the best path.
    pub of: ChunkId,
}

/// The definitions that a change may affect.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Impact {
    /// Affected definitions, ordered by distance, descending confidence and key.
    pub affected: Vec<Affected>,
    /// Number of relations that were left out because of a low confidence.
    pub left_out: usize,
    /// Whether definitions may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// An entry of the queue. Ordered by confidence, then by smaller distance, then by key.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The bits of the confidence, which have the same order, because the confidence is not negative.
    confidence: u32,
    distance: Reverse<u32>,
    key: Reverse<String>,
    id: ChunkId,
}

impl RelationIndex<'_> {
    /// Returns the definitions that a change of any of `changed` may affect. After cancellation, the result is partial.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn impact(&self, changed: &[Named], options: &ImpactOptions) -> Result<Impact> {
        let mut found = Impact::default();
        let mut roots = Vec::new();
        for named in changed {
            let Some(definition) = self.index.definition(named.id)? else { continue };
            if named.member.is_none() && definition.is_type() && !definition.is_module {
                let file = self.index.file(&definition.path)?;
                let members = file.definitions.iter().filter(|member| member.owner() == definition.qualified_name);
                found.is_cut |= members.clone().count() > MAX_MEMBERS;
                roots.extend(members.take(MAX_MEMBERS).map(|member| Named::from(member.id)));
            }
            roots.push(Named { id: definition.id, member: named.member.clone() });
        }
        let whole = roots.iter().filter(|root| root.member.is_none()).map(|root| root.id);
        let mut search = Search {
            relations: self,
            options,
            roots: whole.collect(),
            best: FxHashMap::default(),
            queue: BinaryHeap::new(),
            left_out: 0,
            is_cut: found.is_cut,
        };
        let starts: FxHashSet<ChunkId> = roots.iter().map(|root| root.id).collect();
        for root in &roots {
            search.follow(root, 1.0, 0)?;
        }
        let mut done = FxHashSet::default();
        while let Some(entry) = search.queue.pop() {
            if self.is_cancelled() || done.len() >= MAX_AFFECTED {
                search.is_cut = true;
                break;
            }
            if !done.insert(entry.id) {
                continue;
            }
            search.follow(&entry.id.into(), f32::from_bits(entry.confidence), entry.distance.0)?;
        }
        let Search { best, left_out, is_cut, .. } = search;
        // The enclosing chunk of a changed member is itself not affected by the change of the member.
        let mut keyed = Vec::new();
        for affected in best.into_values().filter(|one| done.contains(&one.id) && !starts.contains(&one.id)) {
            let Some(chunk) = self.index.snapshot.chunk(affected.id)? else { continue };
            keyed.push((chunk.key().into_owned(), affected));
        }
        keyed.sort_by(|(a_key, a), (b_key, b)| {
            let by_distance = a.distance.cmp(&b.distance).then(b.confidence.total_cmp(&a.confidence));
            by_distance.then_with(|| a_key.cmp(b_key))
        });
        found.affected = keyed.into_iter().map(|(_, affected)| affected).collect();
        Ok(Impact { left_out, is_cut, ..found })
    }

    /// Returns the definitions that still call a definition that was removed. `path` is the file that contained it.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn callers_of_removed(&self, path: &str, name: &str, is_member: bool) -> Result<Impact> {
        self.index.begin();
        let mut found = Impact::default();
        let chunks = self.index.chunks(Label::Calls(name), MAX_REMOVED_CALLS)?;
        found.is_cut = chunks.is_cut;
        let mut seen = FxHashSet::default();
        for id in chunks.list {
            let Some(caller) = self.index.definition(id)? else { continue };
            if !seen.insert(caller.id) || !resolve::targets(&self.index, &caller, name)?.is_empty() {
                continue;
            }
            let reason = match imports::imported(&self.index, name, &caller, &mut ExportSearch::default())? {
                Meaning::Variable(file, member) if file == path && member == name => Reason::Import,
                _ if *caller.path == *path => Reason::Scope,
                _ if scope_package(&caller, path) && !is_member => Reason::Package,
                _ if is_member && !self.index.is_defined(name, caller.syntax.group)? => Reason::OnlyMember,
                _ => continue,
            };
            found.affected.push(Affected {
                id: caller.id,
                confidence: reason.precision(),
                distance: 1,
                is_test: is_test(&caller),
                effect: Effect::Calls,
                reason,
                of: caller.id,
            });
        }
        Ok(found)
    }

    /// Returns the definition with a qualified name in a file, or the member of this name that has no separate chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn find_in_file(&self, path: &str, qualified_name: &str, name: &str) -> Result<Option<Named>> {
        let file = self.index.file(path)?;
        let is_it = |one: &&Rc<Definition>| one.qualified_name == qualified_name && !one.is_module;
        if let Some(found) = file.named(name).find(is_it) {
            return Ok(Some(found.id.into()));
        }
        let owner = qualified_name.strip_suffix(name).unwrap_or_default().trim_end_matches(['.', ':', '\\', '#', '/']);
        let holders = file.definitions.iter().filter(|one| {
            if one.is_module { owner.is_empty() } else { !owner.is_empty() && one.qualified_name == owner }
        });
        for holder in holders {
            for id in self.index.pieces(holder)? {
                if self.index.inner_names(id)?.iter().any(|inner| inner == name) {
                    return Ok(Some(Named { id: holder.id, member: Some(name.to_owned()) }));
                }
            }
        }
        Ok(None)
    }
}

/// Returns whether a definition is in the package of a file, in languages whose packages are directories.
fn scope_package(of: &Definition, path: &str) -> bool {
    use super::syntax::Imports::{Go, Package};
    matches!(of.syntax.imports, Go | Package) && super::index::directory(path) == of.directory()
}

fn is_test(of: &Definition) -> bool {
    PathClasses::for_path(&of.path).with_scopes(&of.qualified_name).contains(PathClass::Test)
}

/// A search for the best paths from changed definitions.
struct Search<'r, 's> {
    relations: &'r RelationIndex<'s>,
    options: &'r ImpactOptions,
    /// The changed definitions.
    roots: FxHashSet<ChunkId>,
    /// The best known path to each definition.
    best: FxHashMap<ChunkId, Affected>,
    queue: BinaryHeap<Entry>,
    left_out: usize,
    is_cut: bool,
}

impl Search<'_, '_> {
    /// Adds the definitions that the definition `of` affects directly.
    fn follow(&mut self, of: &Named, confidence: f32, distance: u32) -> Result<()> {
        let (relations, index) = (self.relations, &self.relations.index);
        let Some(definition) = index.definition(of.id)? else { return Ok(()) };
        let is_root = distance == 0;
        // Nothing calls the code of a file outside of definitions, except the markup of components.
        let is_end = of.member.is_none() && definition.is_module && !definition.is_component();
        if distance >= self.options.depth.min(MAX_TREE_DEPTH) || is_end {
            return Ok(());
        }
        let step = |effect: Effect, target: Target, factor: f32, search: &mut Self| {
            search.add(effect, target, (of.id, confidence * factor, distance))
        };
        for target in self.related(of, Relation::Callers)? {
            step(Effect::Calls, target, 1.0, self)?;
        }
        if of.member.is_none() && definition.is_function() {
            for (base, factor) in self.overridden(&definition)? {
                for target in self.related(&base, Relation::Callers)? {
                    step(Effect::Calls, target, factor, self)?;
                }
            }
        }
        if definition.is_type() && of.member.is_none() {
            for target in self.related(of, Relation::Implementers)? {
                step(Effect::Extends, target, 1.0, self)?;
            }
        } else if is_root {
            for target in self.related(of, Relation::Implementers)? {
                step(Effect::Overrides, target, 1.0, self)?;
            }
        }
        // Users of a type depend on a change of the type itself or of its base types, but hardly on other changes below.
        let is_changed_type =
            is_root || self.best.get(&definition.id).is_some_and(|known| known.effect == Effect::Extends);
        if definition.is_type() && of.member.is_none() && !is_changed_type {
            return Ok(());
        }
        index.begin();
        let referring = match &of.member {
            Some(member) if definition.is_module => {
                references::referring(index, &definition, std::slice::from_ref(member), Some(member))?
            }
            Some(_) => return Ok(()),
            None => {
                let names = relations.names_of(&definition)?;
                references::referring(index, &definition, &names, None)?
            }
        };
        self.is_cut |= referring.is_cut && is_root;
        for target in referring.targets {
            step(Effect::Uses, target, 1.0, self)?;
        }
        Ok(())
    }

    /// Returns related definitions with their reasons and confidences.
    fn related(&mut self, of: &Named, relation: Relation) -> Result<Vec<Target>> {
        let related = self.relations.related_to(of, relation)?;
        self.is_cut |= related.is_cut;
        let mut found = Vec::with_capacity(related.list.len());
        for one in related.list {
            if let Some(definition) = self.relations.index.definition(one.id)? {
                found.push(Target { definition, reason: one.reason, confidence: one.confidence });
            }
        }
        Ok(found)
    }

    /// Adds a definition that is `effect` of the last definition on a path, unless a better path to it is known.
    fn add(&mut self, effect: Effect, target: Target, from: (ChunkId, f32, u32)) -> Result<()> {
        let (of, above, distance) = from;
        let Target { definition, reason, confidence } = target;
        let confidence = (above * confidence).clamp(0.0, 1.0);
        if self.roots.contains(&definition.id) || definition.id == of {
            return Ok(());
        }
        if confidence < self.options.min_confidence {
            self.left_out += 1;
            return Ok(());
        }
        let distance = distance + 1;
        let is_worse =
            |known: &Affected| (known.confidence, Reverse(known.distance)) >= (confidence, Reverse(distance));
        if self.best.get(&definition.id).is_some_and(is_worse) {
            return Ok(());
        }
        let (id, is_test) = (definition.id, is_test(&definition));
        self.best.insert(id, Affected { id, confidence, distance, is_test, effect, reason, of });
        self.queue.push(Entry {
            confidence: confidence.to_bits(),
            distance: Reverse(distance),
            key: Reverse(definition.key.clone()),
            id,
        });
        Ok(())
    }

    /// Returns the members of base types that a method overrides, each with the confidence that it does.
    fn overridden(&mut self, of: &Rc<Definition>) -> Result<Vec<(Named, f32)>> {
        let index = &self.relations.index;
        index.begin();
        let Some(own) = scope::enclosing_type(index, of)?.filter(|own| !resolve::is_constructor(of, own)) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for base in scope::lineage(index, &own)?.into_iter().skip(1) {
            let members = index.own_members(&base, &of.name)?;
            found.extend(members.iter().filter(|member| member.id != of.id).map(|member| Named::from(member.id)));
            if members.is_empty() && index.inner_names(base.id)?.contains(&of.name) {
                found.push(Named { id: base.id, member: Some(of.name.clone()) });
            }
        }
        let mut found: Vec<_> = found.into_iter().map(|named| (named, Reason::Inherited.precision())).collect();
        for (base, factor) in &mut found {
            *factor /= self.shares(base)?;
        }
        if of.syntax.structural_interfaces {
            let mut interfaces = index.defining(&of.name)?;
            interfaces.retain(|one| one.kind == ChunkType::Interface && one.syntax.group == of.syntax.group);
            self.is_cut |= interfaces.len() > MAX_INTERFACES;
            for interface in interfaces.into_iter().take(MAX_INTERFACES) {
                let types = self.relations.related(interface.id, Relation::Implementers)?;
                if let Some(own) = types.list.iter().find(|one| one.id == own.id) {
                    let factor = own.confidence / (types.list.len() as f32).sqrt();
                    found.push((Named { id: interface.id, member: Some(of.name.clone()) }, factor));
                }
            }
        }
        Ok(found)
    }

    /// Returns the number by which the confidence of a call of an overridden method is divided for each overriding
    /// method: the square root of their number. A call reaches only one of them, but different calls reach several.
    fn shares(&self, base: &Named) -> Result<f32> {
        let overriding = self.relations.related_to(base, Relation::Implementers)?;
        Ok((overriding.list.len().max(1) as f32).sqrt())
    }
}
