//! Storage of articles in sessions, and search within a session by keywords and by meaning.
//!
//! A session is a directory with one file for each article, and with an index of the articles. A pipeline reads the
//! articles and updates the index, so an article gets the same chunks, terms and vectors as a Markdown file of a
//! repository. When the session acknowledges a change, the change is durable and visible to searches. If a process is
//! killed during a change, the next process that opens the session repairs the index. An article whose file is damaged
//! is ignored with a warning.
//!
//! Deliberately absent: HTTP, and a ranking formula. `aurora-query` ranks the chunks.
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
