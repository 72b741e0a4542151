//! Articles in sessions, and search within a session by keywords and meaning.
//!
//! A session is a directory with one file for each article, and a separate index that the engine maintains. The source
//! of its pipeline is the articles, so an article gets the same terms, vectors and chunks as a Markdown file of a
//! repository. An added or removed article is durable and visible to searches when the change is acknowledged.
//! Leftovers of a killed process are repaired when the session is opened the next time. An article whose file is
//! damaged is ignored with a warning.
//!
//! Deliberately absent: HTTP, and ranking beyond the reciprocal rank fusion of `aurora-query`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod articles;
mod error;
mod run_slots;
mod search;
mod session;
mod source;
mod store;
mod writer;

pub use articles::{AddedArticle, Article, ArticleList, ArticleSummary, UnreadableArticle};
pub use error::ArticleError;
pub use search::{ArticleAnswer, ArticleHit, ArticleRequest, SessionStats};
pub use session::Session;
pub use store::ArticleStore;
