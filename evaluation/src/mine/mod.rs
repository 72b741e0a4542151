//! Golden sets made from a repository itself.
//!
//! Four sets, each split into a part to develop with and a held-out one:
//!
//! - `exact`: names of functions and types that the repository defines once;
//! - `docstring`: first sentences of documentation, asked of a copy of the tree without that documentation;
//! - `topics`: first sentences of what documents a file as a whole, asked of a copy without that;
//! - `commit`: subjects of commits, whose answers are the functions and files that the commit changed.
//!
//! All but the last are asked of the tree at HEAD, the last of the tree at the pin: the parent of the oldest commit asked
//! about. The history of every copy ends at its commit, so nothing in them tells what came later.

mod backend;
mod commit;
mod docstring;
mod documented;
mod error;
mod exact;
mod file_name;
mod history;
mod manifest;
mod overview;
mod run;
mod selection;
mod sentence;
mod source;
mod subject;
mod topics;
mod tree;

pub use backend::IndexerBackend;
pub use error::MineError;
pub use manifest::{MANIFEST, Manifest, MinedSet, MinedTree};
pub use run::{MineOptions, run};
pub use selection::Selection;
pub use source::{Definition, DefinitionKind, Outline, Overview, SourceFile};
