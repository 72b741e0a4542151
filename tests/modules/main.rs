//! Modules of a crate use one another in one direction, as crates do: no import cycles.
//!
//! Checked are the modules at the top of every crate of the workspace, and those within every directory. A module's own file
//! (`mod.rs`) counts as a module beside its children, called `.`; what it only passes on (`pub use`) is no use. Tests may use
//! what they like.

mod crate_modules;
mod graph;
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand, TargetKind};

/// A use of one module by another that still closes a cycle: crate, directory, from, to.
type Closing = (&'static str, &'static str, &'static str, &'static str);

/// Uses that are to be removed. The list can only shrink: a cycle without one of them fails, and so does a row that closes no
/// cycle any more.
#[rustfmt::skip]
const TO_REMOVE: &[Closing] = &[
    ("aurora-storage", "", "writer", "env"),
    ("aurora-storage", "", "publish", "writer"),
];

#[test]
fn modules_do_not_use_one_another_in_circles() {
    let metadata =
        MetadataCommand::new().no_deps().other_options(vec!["--offline".into()]).exec().expect("cargo metadata");
    let mut faults = Vec::new();
    let mut graphs = BTreeMap::new();
    for (name, root) in roots(&metadata) {
        for (directory, graph) in graph::by_directory(&crate_modules::uses(Path::new(&root))) {
            graphs.insert((name.clone(), directory), graph);
        }
    }
    for ((name, directory), graph) in &mut graphs {
        let listed = TO_REMOVE.iter().filter(|closing| closing.0 == name && closing.1 == directory);
        let mut removed = Vec::new();
        for (.., from, to) in listed {
            match graph.remove(from, to) {
                Some(edge) => removed.push(edge),
                None => {
                    faults.push(format!("{name} {directory}: `{from}` does not use `{to}` any more; remove the row"))
                }
            }
        }
        while let Some(cycle) = graph.take_cycle() {
            faults.push(format!("{name} {directory}: {cycle}"));
        }
        for (from, to) in removed {
            if !graph.leads(&to, &from) {
                faults.push(format!("{name} {directory}: `{from}` -> `{to}` closes no cycle any more; remove the row"));
            }
        }
    }
    for (name, directory, ..) in TO_REMOVE {
        if !graphs.contains_key(&((*name).to_owned(), (*directory).to_owned())) {
            faults.push(format!("{name} {directory}: there is no such directory any more; remove the row"));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The name of every crate of the workspace with its `lib.rs` or `main.rs`.
fn roots(metadata: &Metadata) -> Vec<(String, String)> {
    let is_checked = |kind: &TargetKind| matches!(kind, TargetKind::Lib | TargetKind::Bin);
    let packages = metadata.workspace_packages().into_iter();
    let targets = packages.flat_map(|package| {
        let targets = package.targets.iter().filter(move |target| target.kind.iter().any(is_checked));
        targets.map(|target| (package.name.to_string(), target.src_path.to_string()))
    });
    targets.collect()
}
