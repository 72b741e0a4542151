//! Checks that the modules of a crate do not import each other in a cycle.
//!
//! The test checks the top modules of every crate in the workspace, and the modules within every directory. A
//! directory's own module (`mod.rs`) is treated as a sibling of its children, with the name `.`. Re-exports (`pub use`)
//! in such a module do not count as uses. Test code may use any module.

mod crate_modules;
mod graph;
mod source;

use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand, TargetKind};

#[test]
fn modules_have_no_import_cycles() {
    let metadata = MetadataCommand::new()
        .no_deps()
        .other_options(vec!["--offline".into()])
        .exec()
        .expect("`cargo metadata` succeeds");
    let mut cycles = Vec::new();
    for (name, root) in roots(&metadata) {
        for (directory, mut graph) in graph::by_directory(&crate_modules::uses(Path::new(&root))) {
            while let Some(cycle) = graph.take_cycle() {
                cycles.push(format!("{name} {directory}: {cycle}"));
            }
        }
    }
    assert!(cycles.is_empty(), "{} cycles:\n{}", cycles.len(), cycles.join("\n"));
}

/// Returns the name of every crate in the workspace, with the path of its `lib.rs` or `main.rs`.
fn roots(metadata: &Metadata) -> Vec<(String, String)> {
    let is_checked = |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::Bin);
    let packages = metadata.workspace_packages().into_iter();
    let targets = packages.flat_map(|package| {
        let targets = package.targets.iter().filter(move |target| target.kind.iter().any(is_checked));
        targets.map(|target| (package.name.to_string(), target.src_path.to_string()))
    });
    targets.collect()
}
