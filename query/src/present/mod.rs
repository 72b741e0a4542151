//! Step 5: what a reader sees of the best.
//!
//! Takes ranked candidates and the indexed directory. Gives hits with snippets and the state of their files, texts packed into
//! a token budget, and lists of matches where there is no query.

mod budget;
mod details;
mod freshness;
mod hits;
mod lines;
mod listing;
mod results;
#[cfg(feature = "schema")]
mod schema;
mod snippet;
mod tokens;

pub use budget::{Context, ContextBlock, PackedHit};
pub use details::{Details, complete, packed};
pub use freshness::{FileState, file_state};
pub(crate) use hits::hits;
pub(crate) use listing::list;
pub use results::{Copies, FileRow, Hit, IndexInfo, RawScores, Scores, SearchResults, StageCounts};
pub use snippet::{Marker, SnippetLine};
pub use tokens::estimate_tokens;
