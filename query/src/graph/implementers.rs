//! The implementers of a definition: the subtypes of a type, and the members that override a member.

use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkType, Label};
use rustc_hash::FxHashSet;

use super::index::{Definition, Definitions, MAX_NAMESAKES, Result};
use super::modules::ends_in;
use super::reason::Reason;
use super::relations::{Found, MAX_IMPLEMENTERS, RelationIndex, dotted};
use super::scope;
use super::target::Target;

impl RelationIndex<'_> {
    /// Returns the implementers of a type, or the members that override a member.
    pub(super) fn implementers(&self, of: &Rc<Definition>) -> Result<Found> {
        if of.is_type() {
            let (targets, is_cut) = Rc::unwrap_or_clone(self.subtypes(of)?);
            return Ok(Found { targets, is_cut, ..Found::default() });
        }
        match scope::enclosing_type(&self.index, of)? {
            Some(own) => self.overriding_members(own, &of.name, of.id),
            None => Ok(Found::default()),
        }
    }

    /// Returns the members with a given name in all transitive subtypes of a type, except the member `except`.
    pub(super) fn overriding_members(&self, own: Rc<Definition>, name: &str, except: ChunkId) -> Result<Found> {
        let mut found = Found::default();
        let (mut queue, mut seen) = (vec![own], FxHashSet::default());
        while let Some(at) = queue.pop() {
            let subtypes = self.subtypes(&at)?;
            found.is_cut |= subtypes.1 || seen.len() >= MAX_IMPLEMENTERS || self.index.is_spent();
            if self.index.is_spent() {
                break;
            }
            for subtype in &subtypes.0 {
                if seen.len() >= MAX_IMPLEMENTERS || !seen.insert(subtype.definition.id) {
                    continue;
                }
                for member in self.members_in(&subtype.definition, name)? {
                    if member.id != except {
                        found.add(Target { definition: member, ..subtype.clone() });
                    }
                }
                queue.push(Rc::clone(&subtype.definition));
            }
        }
        Ok(found)
    }

    /// Returns the members of a subtype with a given name. In Rust, a subtype is a block `impl Trait for Type`, whose
    /// methods have the qualified names of the type.
    fn members_in(&self, subtype: &Rc<Definition>, name: &str) -> Result<Definitions> {
        if !subtype.is_implementation() {
            return self.index.own_members(subtype, name);
        }
        let file = self.index.file(&subtype.path)?;
        let implementing = subtype.qualified_name.split_once(" for ").map_or("", |(_, implementing)| implementing);
        let implementing = implementing.trim_start_matches('&').split(['<', ' ']).next().unwrap_or_default();
        let is_member = |other: &&Rc<Definition>| {
            other.name == name && other.is_function() && ends_in(&dotted(other.owner()), &dotted(implementing))
        };
        // In the order of the file, the methods of a block follow the block.
        let following = file.definitions.iter().skip_while(|other| other.id != subtype.id).skip(1);
        let own = following.take_while(|other| !other.is_implementation());
        Ok(own.filter(is_member).cloned().collect())
    }

    /// Returns the types that extend or implement a type directly.
    pub(super) fn subtypes(&self, of: &Rc<Definition>) -> Result<Rc<(Vec<Target>, bool)>> {
        let known = self.index.caches.subtypes.get_or(&of.id, || {
            let found = self.find_subtypes(of)?;
            Ok(Rc::new((found.targets, found.is_cut)))
        })?;
        if self.index.is_spent() {
            // The subtypes may be incomplete.
            self.index.caches.subtypes.remove(&of.id);
        }
        Ok(known)
    }

    fn find_subtypes(&self, of: &Rc<Definition>) -> Result<Found> {
        let mut found = Found::default();
        let mut names = vec![&of.name];
        // A custom stage may provide base types by qualified names.
        names.extend((of.qualified_name != of.name).then_some(&of.qualified_name));
        for name in names {
            let chunks = self.index.chunks(Label::Extends(name), MAX_IMPLEMENTERS)?;
            found.is_cut |= chunks.is_cut;
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
                    found.add(Target::new(subtype, reason, confidence));
                }
            }
        }
        if of.syntax.structural_interfaces && of.kind == ChunkType::Interface {
            self.add_structural(of, &mut found)?;
        }
        Ok(found)
    }

    /// Adds the types that have every method of an interface, in languages where such types implement the interface.
    fn add_structural(&self, of: &Rc<Definition>, found: &mut Found) -> Result<()> {
        let mut required = FxHashSet::default();
        for base in scope::lineage(&self.index, of)? {
            let file = self.index.file(&base.path)?;
            let members = file.definitions.iter().filter(|member| member.owner() == base.qualified_name);
            required.extend(members.map(|member| member.name.clone()));
            required.extend(self.index.inner_names(base.id)?);
        }
        let mut fewest: Option<Rc<Definitions>> = None;
        for name in &required {
            let namesakes = self.index.named(name)?;
            if fewest.as_ref().is_none_or(|fewest| namesakes.len() < fewest.len()) {
                fewest = Some(namesakes);
            }
        }
        let Some(fewest) = fewest else { return Ok(()) };
        // The candidates are the types that have the rarest method, and the types that embed a candidate.
        let mut candidates: Definitions = Vec::new();
        for method in fewest.iter().filter(|method| method.syntax.group == of.syntax.group) {
            candidates.extend(scope::enclosing_type(&self.index, method)?);
        }
        let (mut seen, mut next) = (FxHashSet::default(), 0);
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
                found.add(Target::new(candidate, reason, reason.precision()));
            }
        }
        found.is_cut |= fewest.len() >= MAX_NAMESAKES || next >= MAX_IMPLEMENTERS;
        Ok(())
    }
}
