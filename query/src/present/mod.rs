//! Step 5: presents the best candidates.
//!
//! Builds hits from ranked candidates, adds snippets and the state of the files in the indexed directory, and packs
//! texts into a token budget.

mod budget;
mod details;
mod facts;
mod freshness;
mod hits;
mod lines;
mod results;
mod snippet;
mod tokens;

pub use budget::{Context, ContextBlock, PackedHit};
pub use details::{Details, complete, packed};

pub use freshness::{FileState, file_state};
pub(crate) use hits::hits;
pub(crate) use lines::line_numbers;
pub use results::{
    Copies, FileRow, Hit, IndexInfo, RawScores, RootInfo, Scores, SearchResults, ShownChunk, StageCounts, display_path,
};
pub use snippet::{LineToken, Marker, SnippetLine};
pub use tokens::{MAX_TOKEN_BYTES, estimate_tokens};
