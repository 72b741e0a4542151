//! Generates golden sets from a repository.
//!
//! There are four sets, each split into a development part and a held-out part:
//!
//! - `exact`: names of functions and types that the repository defines once;
//! - `docstring`: first sentences of the documentation of functions, evaluated on a copy of the tree without that
//!   documentation;
//! - `topics`: first sentences of the documentation of files, evaluated on a copy of the tree without that
//!   documentation;
//! - `commit`: subjects of commits, whose answers are the functions and files that the commit changed.
//!
//! The questions of `commit` are evaluated on the tree of the pin, which is the parent of the oldest commit that became
//! a question. All other questions are evaluated on the tree of HEAD or on a copy of it. The history of every copy ends
//! at the commit of its tree, so no copy reveals a later change.

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
