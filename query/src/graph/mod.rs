//! Resolved relations: the definitions to which a call refers, the callers of a definition, and the implementers of a
//! definition.
//!
//! Relations are not stored, because a change of one file can change the target of a call in any other file. The index
//! stores the names that chunks call, extend, import and define ([`aurora_storage::Label`]). A request about a
//! definition reads the texts of the chunks with these names and resolves their calls:
//!
//! 1. `call_sites` finds the calls of a name in the `tokens` of a text, with their receivers;
//! 2. `infer` infers the receiver from `variables`, `members`, `extensions` and parameters of `lambda`s, with the
//!    `types` from `declarations`, `type_name` and `signature`;
//! 3. `scope` resolves a name at a position: by enclosing scopes, base types, `imports` (of `modules`), the package,
//!    and definitions that need no import;
//! 4. `overloads` selects among definitions of one name;
//! 5. `resolve` combines these steps. If the receiver is unknown, a call refers to all members with its name, with a
//!    lower confidence.
//!
//! `impact` follows the relations of a changed definition backwards, including `references` to types and values.
//! `unused` finds definitions that nothing uses: `mentions` counts the occurrences of their names, and `outside_uses`
//! recognises uses by other programs. `dependencies` resolves the imports of files.
//!
//! The differences between languages are rows of a table in `syntax`. Every step limits the number of candidates, the
//! depth and the number of steps.

mod cache;
mod call_sites;
mod choice;
mod crates;
mod declarations;
mod definition;
mod dependencies;
mod dispatch;
mod extensions;
mod impact;
mod implementers;
mod imports;
mod index;
mod infer;
mod lambda;
mod meaning;
mod members;
mod mentions;
mod modules;
mod outside_uses;
mod overloads;
mod parts;
mod prototypes;
mod reason;
mod receivers;
mod references;
mod relations;
mod resolve;
mod scope;
mod signature;
mod syntax;
mod target;
mod tokens;
mod tree;
mod type_name;
mod types;
mod unused;
mod variables;

pub use dependencies::{FileImport, FileImports, Importer, Importers};
pub use impact::{Affected, DEFAULT_IMPACT_DEPTH, Effect, Impact, ImpactOptions, ImpactStep, MIN_IMPACT_CONFIDENCE};
pub use reason::Reason;
pub use relations::{Named, Related, RelatedDefinitions, Relation, RelationIndex};
pub use tree::{BranchEnd, MAX_TREE_DEPTH, MIN_CONFIDENCE, RelationTree, TreeNode, TreeOptions};
pub use unused::{MIN_UNUSED_CONFIDENCE, UnusedDefinition, UnusedDefinitions, UnusedOptions, UnusedReason};
