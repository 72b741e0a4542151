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
use super::parts::Part;
use super::reason::Reason;
use super::references;
use super::relations::{Found, Named, Relation, RelationIndex};
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
/// Maximum number of units of work for one answer.
const MAX_WORK: u64 = 2_000_000;
/// Factor of the confidence that a call on an object of unknown type reaches an overriding method. In samples of reports
/// that lead through a base type, 59 of 69 were right.
const UNKNOWN_RECEIVER: f32 = 0.85;
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
    /// Whether the definition is in a test.
    pub is_test: bool,
    /// The steps of the best path, from the definition to the changed definition. Not empty.
    pub chain: Vec<ImpactStep>,
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

/// A step of a path from an affected definition to a changed definition.
#[derive(Debug, Clone, PartialEq)]
pub struct ImpactStep {
    /// The way in which [`Self::of`] affects the definition before it.
    pub effect: Effect,
    /// The next definition on the path.
    pub of: ChunkId,
    /// The member through which the next definition affects the definition before it, if the member has no chunk.
    pub member: Option<String>,
    /// The reason for the relation.
    pub reason: Reason,
}

/// A part of a definition, from which a search continues.
type Node = (ChunkId, Part);

/// A path from a changed definition to a node.
struct PathLabel {
    node: Node,
    confidence: f32,
    distance: u32,
    effect: Effect,
    reason: Reason,
    of: Node,
    /// The path to [`Self::of`]; `None` if that is a changed definition.
    before: Option<usize>,
}

/// An entry of the queue. Ordered by smaller distance, then by confidence, then by key.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    distance: Reverse<u32>,
    /// The bits of the confidence, which have the same order, because the confidence is not negative.
    confidence: u32,
    key: Reverse<(String, Part)>,
    label: usize,
}

/// A definition that another definition affects directly.
#[derive(Clone)]
struct Edge {
    effect: Effect,
    target: Target,
    /// Factor of the confidence.
    factor: f32,
}

impl RelationIndex<'_> {
    /// Returns the definitions that a change of any of `changed` may affect. After cancellation, the result is partial.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn impact(&self, changed: &[Named], options: &ImpactOptions) -> Result<Impact> {
        self.index.limit_work(MAX_WORK);
        let mut found = Impact::default();
        let mut roots = Vec::new();
        for named in changed {
            let Some(definition) = self.index.definition(named.id)? else { continue };
            roots.push(Named { id: definition.id, member: named.member.clone() });
            if named.member.is_none() && definition.is_type() && !definition.is_module {
                let file = self.index.file(&definition.path)?;
                let members = file.definitions.iter().filter(|member| member.owner() == definition.qualified_name);
                found.is_cut |= members.clone().count() > MAX_MEMBERS;
                roots.extend(members.take(MAX_MEMBERS).map(|member| Named::from(member.id)));
            }
        }
        let whole = roots.iter().filter(|root| root.member.is_none()).map(|root| root.id);
        let mut search = Search {
            relations: self,
            options,
            roots: whole.collect(),
            labels: Vec::new(),
            best: FxHashMap::default(),
            edges: FxHashMap::default(),
            queue: BinaryHeap::new(),
            left_out: 0,
            is_cut: found.is_cut,
        };
        let starts: FxHashSet<ChunkId> = roots.iter().map(|root| root.id).collect();
        for root in roots {
            let part = root.member.map_or(Part::Whole, Part::Member);
            search.follow(&(root.id, part), None)?;
        }
        let mut done = FxHashSet::default();
        while let Some(entry) = search.queue.pop() {
            let node = search.labels[entry.label].node.clone();
            if search.best.get(&node) != Some(&entry.label) {
                continue;
            }
            if self.index.is_exhausted() || (done.len() >= MAX_AFFECTED && !done.contains(&node.0)) {
                search.is_cut = true;
                break;
            }
            done.insert(node.0);
            search.follow(&node, Some(entry.label))?;
        }
        found.affected = search.affected(&starts)?;
        Ok(Impact { left_out: search.left_out, is_cut: search.is_cut, ..found })
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
                is_test: is_test(&caller),
                chain: vec![ImpactStep { effect: Effect::Calls, of: caller.id, member: None, reason }],
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

/// A search for the best paths from changed definitions. Nearer definitions are followed first, so that an answer that
/// reaches a limit contains the nearest definitions.
struct Search<'r, 's> {
    relations: &'r RelationIndex<'s>,
    options: &'r ImpactOptions,
    /// The changed definitions.
    roots: FxHashSet<ChunkId>,
    labels: Vec<PathLabel>,
    /// The best known path to each node, as an index of the labels.
    best: FxHashMap<Node, usize>,
    /// The nodes that were followed. A node is followed again if a longer path with a higher confidence is found.
    edges: FxHashMap<(Node, bool), Rc<[Edge]>>,
    queue: BinaryHeap<Entry>,
    left_out: usize,
    is_cut: bool,
}

impl Search<'_, '_> {
    /// Adds the definitions that a node affects directly. `label` is the path to the node; `None` for a changed
    /// definition.
    fn follow(&mut self, of: &Node, label: Option<usize>) -> Result<()> {
        let known = label.map(|label| &self.labels[label]);
        let (confidence, distance) = known.map_or((1.0, 0), |known| (known.confidence, known.distance));
        if distance >= self.options.depth.min(MAX_TREE_DEPTH) {
            return Ok(());
        }
        let is_changed = known.is_none_or(|known| known.effect == Effect::Extends);
        let key = (of.clone(), is_changed);
        let edges = match self.edges.get(&key) {
            Some(edges) => Rc::clone(edges),
            None => {
                let edges: Rc<[Edge]> = self.edges_from(of, label.is_none(), is_changed)?.into();
                self.edges.insert(key, Rc::clone(&edges));
                edges
            }
        };
        for Edge { effect, target, factor } in edges.iter() {
            self.add(*effect, target, (of, confidence * factor, distance, label))?;
        }
        Ok(())
    }

    /// Returns the definitions that a node affects directly. `is_changed` says whether the whole type changes, because
    /// it or its base type is changed.
    fn edges_from(&mut self, of: &Node, is_root: bool, is_changed: bool) -> Result<Vec<Edge>> {
        let (relations, index) = (self.relations, &self.relations.index);
        let mut found = Vec::new();
        let Some(definition) = index.definition(of.0)? else { return Ok(found) };
        let (member, is_whole) = match &of.1 {
            Part::Whole => (None, true),
            Part::Member(member) => (Some(member.clone()), false),
            Part::Constructor => (None, false),
            Part::Declaration => (None, false),
        };
        // Nothing calls the code of a file outside of definitions, except the markup of components.
        if is_whole && definition.is_module && !definition.is_component() {
            return Ok(found);
        }
        let named = Named { id: definition.id, member: member.clone() };
        let mut step = |effect: Effect, targets: Vec<Target>, factor: f32| {
            found.extend(targets.into_iter().map(|target| Edge { effect, target, factor }));
        };
        let callers = match &of.1 {
            Part::Constructor => relations.constructing(&definition)?,
            Part::Declaration => Found::default(),
            _ => relations.find_related(&named, Relation::Callers)?,
        };
        self.is_cut |= callers.is_cut;
        step(Effect::Calls, callers.targets, 1.0);
        if is_whole
            && definition.is_function()
            && let Some(own) = scope::enclosing_type(index, &definition)?
        {
            for (base, factor) in self.overridden(&definition)? {
                for target in self.related(&base, Relation::Callers)? {
                    let factor = match &target.receivers {
                        _ if own.syntax.structural_interfaces => factor,
                        Some(receivers) if relations.may_reach(receivers, &own)? => factor,
                        Some(_) => continue,
                        None => factor.min(Reason::Inherited.precision() * UNKNOWN_RECEIVER),
                    };
                    step(Effect::Calls, vec![target], factor);
                }
            }
        }
        if definition.is_type() && (is_whole || !is_root) {
            let mut subtypes = self.related(&definition.id.into(), Relation::Implementers)?;
            // A subtype inherits the part.
            subtypes.iter_mut().for_each(|subtype| subtype.parts = vec![of.1.clone()]);
            step(Effect::Extends, subtypes, 1.0);
        } else if is_root {
            step(Effect::Overrides, self.related(&named, Relation::Implementers)?, 1.0);
        }
        // Users of a type depend on a change of the type itself or of its base types, but hardly on other changes below.
        if definition.is_type() && !(is_whole && is_changed) {
            return Ok(found);
        }
        index.begin();
        let referring = match &member {
            Some(member) if definition.is_module => {
                references::referring(index, &definition, std::slice::from_ref(member), Some(member))?
            }
            Some(_) => return Ok(found),
            None => {
                let names = relations.names_of(&definition)?;
                references::referring(index, &definition, &names, None)?
            }
        };
        self.is_cut |= (referring.is_cut && is_root) || index.is_spent();
        step(Effect::Uses, referring.targets, 1.0);
        Ok(found)
    }

    /// Returns related definitions with their reasons and confidences.
    fn related(&mut self, of: &Named, relation: Relation) -> Result<Vec<Target>> {
        let related = self.relations.find_related(of, relation)?;
        self.is_cut |= related.is_cut;
        Ok(related.targets)
    }

    /// Adds a definition that is `effect` of the last definition on a path, unless a better path to it is known.
    fn add(&mut self, effect: Effect, target: &Target, from: (&Node, f32, u32, Option<usize>)) -> Result<()> {
        let (of, above, distance, before) = from;
        let Target { definition, reason, confidence, parts, .. } = target;
        let confidence = (above * confidence).clamp(0.0, 1.0);
        if self.roots.contains(&definition.id) || definition.id == of.0 {
            return Ok(());
        }
        if confidence < self.options.min_confidence {
            self.left_out += 1;
            return Ok(());
        }
        let distance = distance + 1;
        let whole = [Part::Whole];
        let parts = if parts.is_empty() || !definition.is_type() { &whole[..] } else { parts };
        for part in parts {
            let node = (definition.id, part.clone());
            let is_worse = |known: &usize| {
                let known = &self.labels[*known];
                (known.confidence, Reverse(known.distance)) >= (confidence, Reverse(distance))
            };
            if self.best.get(&node).is_some_and(is_worse) {
                continue;
            }
            let label = self.labels.len();
            self.queue.push(Entry {
                distance: Reverse(distance),
                confidence: confidence.to_bits(),
                key: Reverse((definition.key.clone(), part.clone())),
                label,
            });
            self.best.insert(node.clone(), label);
            let (of, reason) = (of.clone(), *reason);
            self.labels.push(PathLabel { node, confidence, distance, effect, reason, of, before });
        }
        Ok(())
    }

    /// Returns the affected definitions with their best paths, ordered by distance, descending confidence and key. The
    /// definitions that contain changed definitions are not affected themselves.
    fn affected(&self, starts: &FxHashSet<ChunkId>) -> Result<Vec<Affected>> {
        let index = &self.relations.index;
        let mut best: FxHashMap<ChunkId, usize> = FxHashMap::default();
        let rank = |label: usize| {
            let one = &self.labels[label];
            (one.confidence.to_bits(), Reverse(one.distance), Reverse(&one.node.1))
        };
        for (node, label) in self.best.iter().filter(|(node, _)| !starts.contains(&node.0)) {
            let known = best.entry(node.0).or_insert(*label);
            if rank(*known) < rank(*label) {
                *known = *label;
            }
        }
        let mut keyed = Vec::new();
        for (id, label) in best {
            let Some(definition) = index.definition(id)? else { continue };
            let (mut chain, mut at) = (Vec::new(), Some(label));
            while let Some(label) = at.map(|at| &self.labels[at]) {
                let member = match &label.of.1 {
                    Part::Member(member) => Some(member.clone()),
                    _ => None,
                };
                chain.push(ImpactStep { effect: label.effect, of: label.of.0, member, reason: label.reason });
                at = label.before;
            }
            let (confidence, is_test) = (self.labels[label].confidence, is_test(&definition));
            keyed.push((definition.key.clone(), Affected { id, confidence, is_test, chain }));
        }
        keyed.sort_by(|(a_key, a), (b_key, b)| {
            let by_distance = a.chain.len().cmp(&b.chain.len()).then(b.confidence.total_cmp(&a.confidence));
            by_distance.then_with(|| a_key.cmp(b_key))
        });
        Ok(keyed.into_iter().map(|(_, affected)| affected).take(MAX_AFFECTED).collect())
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
        let overriding = self.relations.related_to(base, Relation::Implementers)?.list.len();
        let (index, member) = (&self.relations.index, base.member.as_deref());
        let own = match index.definition(base.id)? {
            Some(of) => scope::enclosing_type(index, &of)?.map(|own| (own, member.unwrap_or(&of.name).to_owned())),
            None => None,
        };
        let anonymous = match own {
            Some((own, name)) => self.relations.anonymous_overrides(&own, &name)?,
            None => 0,
        };
        Ok(((overriding + anonymous).max(1) as f32).sqrt())
    }
}
