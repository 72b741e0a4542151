//! Articles in sessions, and search within a session by keywords and meaning.
//!
//! A session is a directory with one file for each article, and an index of its own that the engine keeps: a pipeline whose source
//! is the articles, so that an article has the terms, vectors and chunks that a Markdown file of a repository would have. Adding or
//! removing an article is durable and can be searched when it is acknowledged. What a process that was killed has left behind is
//! made up for when the session is opened the next time. An article whose file is damaged is left out with a warning.
//!
//! Deliberately absent: HTTP, and ranking beyond reciprocal rank fusion, which is `aurora-query`'s.
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
pub use error::KnowledgeError;
pub use search::{KnowledgeAnswer, KnowledgeHit, KnowledgeRequest, SessionStats};
pub use session::Session;
pub use store::KnowledgeStore;
