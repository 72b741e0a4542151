//! The relations of relations, up to a depth: a tree whose branches end where they meet themselves or one another.

use aurora_storage::{ChunkId, StorageError};
use rustc_hash::FxHashSet;

use super::reason::Reason;
use super::relations::{Named, Relation, RelationIndex};

/// Maximum number of definitions of one tree.
const MAX_TREE_NODES: usize = 2_000;
/// Maximum depth of a tree, in relations.
pub const MAX_TREE_DEPTH: u32 = 32;
/// Default of [`TreeOptions::min_confidence`]: includes the only member of a name, excludes two definitions of a name that
/// nothing tells apart.
pub const MIN_CONFIDENCE: f32 = 0.45;

/// What a tree shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeOptions {
    /// The relation that is followed.
    pub relation: Relation,
    /// Depth of the tree in relations, at most [`MAX_TREE_DEPTH`].
    pub depth: u32,
    /// Relations of less confidence are left out.
    pub min_confidence: f32,
}

/// The definitions that one is related to, and those that these are related to.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationTree {
    /// The definition that was asked for.
    pub root: TreeNode,
    /// The requested member of the root, if the request was not for the definition itself.
    pub member: Option<String>,
    /// Relations of less confidence that were left out.
    pub left_out: usize,
    /// Chunks that declare the root without defining it.
    pub declarations: Vec<ChunkId>,
    /// Names that the definition calls and that mean nothing in the repository, sorted.
    pub external: Vec<String>,
    /// Something was left out because there was too much.
    pub is_cut: bool,
}

/// A definition in a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// Its first chunk.
    pub id: ChunkId,
    /// How it is related to the one above; none for the root.
    pub relation: Option<(Reason, f32)>,
    /// Why nothing below it is shown, though there may be something.
    pub end: Option<BranchEnd>,
    /// What it is related to, best first.
    pub children: Vec<TreeNode>,
}

/// Why a branch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchEnd {
    /// The definition is one of those above it.
    Cycle,
    /// The definition is shown elsewhere with what is below it.
    Repeated,
}

impl RelationIndex<'_> {
    /// The relations of a definition, and the relations of related definitions. After cancellation the tree ends early.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn tree(&self, named: &Named, options: &TreeOptions) -> Result<RelationTree, StorageError> {
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
    /// The definitions from the root to the present one.
    above: Vec<ChunkId>,
    /// Definitions whose relations are shown.
    shown: FxHashSet<ChunkId>,
    nodes: usize,
    left_out: usize,
    is_cut: bool,
}

impl Walk<'_, '_> {
    /// Returns the relations of a definition. The recursion is at most [`MAX_TREE_DEPTH`] deep.
    fn children(&mut self, of: &Named, depth: u32) -> Result<Vec<TreeNode>, StorageError> {
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
        // After all of them: what is a child here is not shown as a repetition below one of the others.
        for child in children.iter_mut().filter(|child| child.end.is_none()) {
            self.above.push(child.id);
            child.children = self.children(&child.id.into(), depth - 1)?;
            self.above.pop();
        }
        Ok(children)
    }
}
