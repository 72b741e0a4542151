//! Step 2: collects the chunks to rank.
//!
//! Collects the best chunks by BM25F, the chunks with the nearest vectors, and direct matches, for a parsed query, its
//! vector and a filter. Each candidate has its raw keyword score, its cosine and late interaction, the evidence of its
//! file, and its direct match, if any.

pub(crate) mod bm25;
mod candidates;
mod direct;
mod files;
mod identifier;
mod place;
mod prepared_query;
mod query_vector;

pub(crate) use candidates::{Candidate, CandidateLimits, add_files, collect, missing_subject};
pub(crate) use direct::DirectMatch;
pub(crate) use files::FileEvidence;
pub(crate) use identifier::{ChunkName, IdentifierQuery, is_generated};
pub(crate) use prepared_query::PreparedQuery;
pub(crate) use query_vector::{QueryVector, query_vectors};
