//! The commands that write and read memory.

mod add;
mod document;
mod edit;
mod entry;
mod export;
mod import;
mod list;
mod policies;
mod prune;
mod recall;
mod show;
mod turn;
mod verify;

pub(crate) use add::add;
pub(crate) use edit::edit;
pub(crate) use entry::{link, remove, tag, undo};
pub(crate) use export::export;
pub(crate) use import::import;
pub(crate) use list::list;
pub(crate) use policies::policies;
pub(crate) use prune::{compact, prune};
pub(crate) use recall::recall;
pub(crate) use show::{schema, show, why};
pub(crate) use turn::turn;
pub(crate) use verify::verify;
