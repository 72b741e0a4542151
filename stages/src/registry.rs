//! The stage types available to pipelines.

use aurora_pipeline::Registry;

use crate::bm25::Bm25;
use crate::chunk::ChunkOptions;
use crate::columns::built_in;
use crate::discover::Discover;
use crate::embed::Embed;
use crate::git_signal::GitSignal;
use crate::incremental::IncrementalCheck;
use crate::parse::Parse;
use crate::store::Store;
use crate::tokens::TokenSets;

/// Returns a registry with the built-in stages and the descriptions of the built-in columns.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register_described::<Discover>();
    registry.register_described::<IncrementalCheck>();
    registry.register_described::<Parse>();
    registry.register_described::<GitSignal>();
    registry.register_described::<ChunkOptions>();
    registry.register_described::<Embed>();
    registry.register_described::<TokenSets>();
    registry.register_described::<Store>();
    registry.register_described::<Bm25>();
    built_in::register(&mut registry);
    registry
}
