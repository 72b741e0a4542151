//! Decides which overriding methods a call may reach, given the types of its receivers.

use std::rc::Rc;

use aurora_storage::ChunkId;
use rustc_hash::FxHashSet;

use super::index::{Definition, Index, Result};
use super::receivers::Receiver;
use super::relations::RelationIndex;
use super::scope;
use super::syntax::Imports;
use super::tokens::Tokens;
use super::type_name;

/// Maximum number of subtypes that are compared with the type of a receiver.
const MAX_SUBTYPES: usize = 64;
/// Maximum number of texts that are searched for anonymous subclasses of one type.
const MAX_ANONYMOUS: usize = 256;

impl RelationIndex<'_> {
    /// Returns the number of anonymous subclasses in Java that override the member `name` of a type: `new Type() { … }`.
    pub(super) fn anonymous_overrides(&self, of: &Rc<Definition>, name: &str) -> Result<usize> {
        let index = &self.index;
        if of.syntax.imports != Imports::Package {
            return Ok(0);
        }
        index.caches.anonymous.get_or(&(of.id, name.to_owned()), || {
            let chunks = index.snapshot.postings(&of.name.to_lowercase())?.docs();
            let naming = index.snapshot.postings(&name.to_lowercase())?.docs();
            let (mut count, mut seen) = (0, FxHashSet::default());
            for id in chunks.iter().filter(|id| naming.contains(*id)).take(MAX_ANONYMOUS).map(ChunkId) {
                if index.is_spent() {
                    break;
                }
                let Some(from) = index.definition(id)?.filter(|from| seen.insert(from.id)) else { continue };
                let tokens = index.tokens(&from)?;
                let bodies = tokens.positions(&of.name).filter(|at| tokens.before(*at) == "new");
                for body in bodies.filter_map(|at| anonymous_body(&tokens, at)) {
                    let is_here = |at: &usize| tokens.opener(*at) == Some(body) && tokens.at(at + 1) == "(";
                    let overrides = tokens.positions(name).any(|at| is_here(&at));
                    count +=
                        usize::from(overrides && scope::base(index, &from, &of.name)?.iter().any(|it| it.id == of.id));
                }
            }
            Ok(count)
        })
    }

    /// Returns whether a call on objects of the given types can reach a method of the type `own` that overrides the
    /// called method.
    pub(super) fn may_reach(&self, receivers: &[Receiver], own: &Rc<Definition>) -> Result<bool> {
        let index = &self.index;
        for receiver in receivers {
            let of = &receiver.of;
            if is_below(index, of, own)? || (!receiver.is_exact && is_below(index, own, of)?) {
                return Ok(true);
            }
            if receiver.is_exact {
                continue;
            }
            // The object may have a type that extends both types.
            let (mut queue, mut next) = (vec![Rc::clone(own)], 0);
            while let Some(at) = queue.get(next).cloned().filter(|_| next < MAX_SUBTYPES) {
                next += 1;
                for subtype in &self.subtypes(&at)?.0 {
                    if queue.iter().all(|known| known.id != subtype.definition.id) {
                        queue.push(Rc::clone(&subtype.definition));
                    }
                }
                if next > 1 && is_below(index, &at, of)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns the brace that opens the body of an anonymous subclass, given the position of the type's name: `new Type<A>(b)
/// {`.
fn anonymous_body(tokens: &Tokens, at: usize) -> Option<usize> {
    let (_, open) = type_name::read(tokens, at)?;
    let body = tokens.closer(open).filter(|_| tokens.at(open) == "(")? + 1;
    (tokens.at(body) == "{").then_some(body)
}

/// Returns whether a type is another type or extends it.
fn is_below(index: &Index<'_>, of: &Rc<Definition>, base: &Definition) -> Result<bool> {
    Ok(of.id == base.id || scope::lineage(index, of)?.iter().any(|one| one.id == base.id))
}
