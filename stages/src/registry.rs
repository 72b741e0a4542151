//! The stage types that pipelines may use.

use aurora_pipeline::Registry;

use crate::bm25::Bm25;
use crate::chunk::ChunkOptions;
use crate::discover::Discover;
use crate::embed::Embed;
use crate::git_signal::GitSignal;
use crate::incremental::IncrementalCheck;
use crate::parse::Parse;
use crate::store::Store;

/// A registry that holds the built-in stages.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register::<Discover>();
    registry.register::<IncrementalCheck>();
    registry.register::<Parse>();
    registry.register::<GitSignal>();
    registry.register::<ChunkOptions>();
    registry.register::<Embed>();
    registry.register::<Store>();
    registry.register::<Bm25>();
    registry
}
