//! The commands that write and read memory.

mod add;
mod document;
mod edit;
mod entry;
mod list;
mod opened;
mod policies;
mod prune;
mod recall;
mod searches;
mod show;
mod turn;

pub(crate) use add::add;
pub(crate) use edit::edit;
pub(crate) use entry::{link, remove, tag, undo};
pub(crate) use list::list;
pub(crate) use opened::{failure, home_of, load_rules, of_user, trust};
pub(crate) use policies::policies;
pub(crate) use prune::{compact, prune};
pub(crate) use recall::recall;
pub(crate) use searches::note_search;
pub(crate) use show::{schema, show, why};
pub(crate) use turn::turn;
