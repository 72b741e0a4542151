//! The pipelines that are embedded in the program.

use aurora_pipeline::PipelineSource;

/// All embedded pipelines.
pub const EMBEDDED: &[PipelineSource<'static>] = &[
    PipelineSource { name: "default", text: include_str!("../../configs/default.toml") },
    PipelineSource { name: "lexical", text: include_str!("../../configs/lexical.toml") },
    PipelineSource { name: "nightly", text: include_str!("../../configs/nightly.toml") },
];
