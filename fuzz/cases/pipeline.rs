//! Checks that a pipeline file with any bytes yields a plan or diagnostics, and that a plan, written as text and loaded
//! again, stays the same.

use aurora_pipeline::{PipelineSource, load};
use aurora_stages::pipelines::EMBEDDED;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let registry = aurora_stages::registry();
    let source = |text| PipelineSource { name: "pipeline.toml", text };
    let Ok(plan) = load(&[source(text)], &registry, EMBEDDED) else { return };
    let shown = plan.show();
    let again = load(&[source(&shown)], &registry, EMBEDDED).expect("the text of a plan can be loaded");
    assert_eq!(again.show(), shown);
}
