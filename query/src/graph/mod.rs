//! Resolved relations: which definitions a call means, who calls a definition, and what implements it.
//!
//! Nothing of this is stored: a change of one file can change what a call in any other means. The index stores the names that
//! chunks call, extend, import and define ([`aurora_storage::Label`]); a question about a definition reads the texts of the chunks
//! that those names lead to, and resolves their calls:
//!
//! 1. `call_sites` finds the calls of a name in the `tokens` of a text, each with its receiver;
//! 2. `infer` follows the receiver through `variables`, `members`, `extensions` and parameters of `lambda`s, with the `types` that
//!    `declarations`, `type_name` and `signature` read;
//! 3. `scope` finds what a name means at a place: enclosing scopes, base types, `imports` (of `modules`), package, uniqueness;
//! 4. `overloads` chooses among definitions of one name;
//! 5. `resolve` puts these together; a call whose receiver is unknown means the members of its name, at less confidence.
//!
//! What languages differ in is a row of the table in `syntax`. Every step is bounded, in candidates, depth and steps.

mod call_sites;
mod choice;
mod crates;
mod declarations;
mod extensions;
mod imports;
mod index;
mod infer;
mod lambda;
mod meaning;
mod members;
mod modules;
mod overloads;
mod prototypes;
mod reason;
mod relations;
mod resolve;
mod scope;
mod signature;
mod syntax;
mod tokens;
mod tree;
mod type_name;
mod types;
mod variables;

pub use reason::Reason;
pub use relations::{Named, Related, RelatedDefinitions, Relation, RelationIndex};
pub use tree::{BranchEnd, MAX_TREE_DEPTH, MIN_CONFIDENCE, RelationTree, TreeNode, TreeOptions};
