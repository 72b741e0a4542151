//! A tree of the transitive relations of a definition. A branch ends at a cycle or at a definition that is already in
//! the tree.

use aurora_storage::ChunkId;
use rustc_hash::FxHashSet;

use super::index::Result;
use super::reason::Reason;
use super::relations::{Named, Relation, RelationIndex};

/// Maximum number of definitions in one tree.
const MAX_TREE_NODES: usize = 2_000;
/// Maximum depth of a tree, in relations.
pub const MAX_TREE_DEPTH: u32 = 32;
/// Default of [`TreeOptions::min_confidence`]. A call on a receiver of unknown type is included if only one member has
/// the called name, and excluded if several members have it.
pub const MIN_CONFIDENCE: f32 = 0.45;

/// Options of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeOptions {
    /// The relation to follow.
    pub relation: Relation,
    /// Depth of the tree in relations, at most [`MAX_TREE_DEPTH`].
    pub depth: u32,
    /// Minimum confidence of a relation.
    pub min_confidence: f32,
}

/// The transitive relations of a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationTree {
    /// The requested definition.
    pub root: TreeNode,
    /// The requested member of the root, if the request was not for the definition itself.
    pub member: Option<String>,
    /// Number of relations that the tree omits because their confidence is below the minimum.
    pub left_out: usize,
    /// Chunks that declare the root without defining it.
    pub declarations: Vec<ChunkId>,
    /// Called names without a known definition in the repository, sorted.
    pub external: Vec<String>,
    /// Whether definitions may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// A definition in a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// Reason and confidence of the relation to the parent; `None` for the root.
    pub relation: Option<(Reason, f32)>,
    /// The reason why the tree does not contain the children of this node.
    pub end: Option<BranchEnd>,
    /// The related definitions, best first.
    pub children: Vec<TreeNode>,
}

/// The reason why a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchEnd {
    /// The definition is an ancestor of the node.
    Cycle,
    /// The definition occurs elsewhere in the tree, with its children.
    Repeated,
}

impl RelationIndex<'_> {
    /// Returns the transitive relations of a definition. After cancellation, the tree is partial.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn tree(&self, named: &Named, options: &TreeOptions) -> Result<RelationTree> {
        let root = self.definition_of(named.id)?.unwrap_or(named.id);
        let named = Named { id: root, member: named.member.clone() };
        let mut walk = Walk {
            relations: self,
            options,
            above: vec![root],
            shown: FxHashSet::from_iter([root]),
            nodes: 1,
            left_out: 0,
            is_cut: false,
        };
        let mut external = self.related_to(&named, options.relation)?.external;
        external.sort_unstable();
        let children = walk.children(&named, options.depth.min(MAX_TREE_DEPTH))?;
        let Walk { left_out, is_cut, .. } = walk;
        Ok(RelationTree {
            root: TreeNode { id: root, relation: None, end: None, children },
            left_out,
            declarations: self.declarations(root)?,
            member: named.member,
            external,
            is_cut,
        })
    }
}

struct Walk<'r, 's> {
    relations: &'r RelationIndex<'s>,
    options: &'r TreeOptions,
    /// The definitions from the root to the current node.
    above: Vec<ChunkId>,
    /// Definitions whose relations the tree contains.
    shown: FxHashSet<ChunkId>,
    nodes: usize,
    left_out: usize,
    is_cut: bool,
}

impl Walk<'_, '_> {
    /// Returns the relations of a definition. The recursion is at most [`MAX_TREE_DEPTH`] deep.
    fn children(&mut self, of: &Named, depth: u32) -> Result<Vec<TreeNode>> {
        if depth == 0 || self.relations.is_cancelled() {
            return Ok(Vec::new());
        }
        let related = self.relations.related_to(of, self.options.relation)?;
        self.is_cut |= related.is_cut;
        let mut children = Vec::new();
        for other in related.list {
            if other.confidence < self.options.min_confidence {
                self.left_out += 1;
                continue;
            }
            if self.nodes >= MAX_TREE_NODES {
                self.is_cut = true;
                break;
            }
            self.nodes += 1;
            let end = match self.above.contains(&other.id) {
                true => Some(BranchEnd::Cycle),
                false if depth > 1 && !self.shown.insert(other.id) => Some(BranchEnd::Repeated),
                false => None,
            };
            let relation = Some((other.reason, other.confidence));
            children.push(TreeNode { id: other.id, relation, end, children: Vec::new() });
        }
        // All siblings are added before the descent. If a definition is a sibling and also occurs below another
        // sibling, the upper node gets the children.
        for child in children.iter_mut().filter(|child| child.end.is_none()) {
            self.above.push(child.id);
            child.children = self.children(&child.id.into(), depth - 1)?;
            self.above.pop();
        }
        Ok(children)
    }
}
