//! Checks that dependencies between the crates point in one direction, as described in
//! `docs/internals/architecture.md`.

use cargo_metadata::{DependencyKind, MetadataCommand};

/// The workspace crates that each crate may depend on. Any other dependency is an error.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "aurora",
        &[
            "aurora-analysis",
            "aurora-clock",
            "aurora-confined",
            "aurora-diagnostics",
            "aurora-evaluation",
            "aurora-history",
            "aurora-languages",
            "aurora-live",
            "aurora-logs",
            "aurora-mcp",
            "aurora-memory",
            "aurora-memory-import",
            "aurora-memory-policy",
            "aurora-memory-schema",
            "aurora-pipeline",
            "aurora-plugins",
            "aurora-project",
            "aurora-query",
            "aurora-remote",
            "aurora-serve",
            "aurora-stages",
            "aurora-storage",
            "aurora-suggest",
            "aurora-wasm",
        ],
    ),
    ("aurora-analysis", &["aurora-confined", "aurora-kernels"]),
    ("aurora-bounded-parser", &[]),
    ("aurora-cachefile", &["aurora-confined"]),
    ("aurora-clock", &[]),
    ("aurora-codec", &[]),
    ("aurora-confined", &[]),
    ("aurora-custom-aur", &["aurora"]),
    ("aurora-diagnostics", &["aurora-suggest"]),
    ("aurora-encoding", &[]),
    (
        "aurora-evaluation",
        &["aurora-analysis", "aurora-confined", "aurora-query", "aurora-redact", "aurora-storage", "aurora-suggest"],
    ),
    ("aurora-history", &["aurora-cachefile", "aurora-codec", "aurora-confined"]),
    ("aurora-inverted", &["aurora-codec", "aurora-kernels"]),
    ("aurora-kernels", &[]),
    ("aurora-lmdb-pages", &[]),
    (
        "aurora-articles",
        &[
            "aurora-confined",
            "aurora-pipeline",
            "aurora-project",
            "aurora-query",
            "aurora-redact",
            "aurora-stages",
            "aurora-storage",
        ],
    ),
    ("aurora-languages", &["aurora-bounded-parser"]),
    (
        "aurora-live",
        &["aurora-confined", "aurora-pipeline", "aurora-project", "aurora-query", "aurora-stages", "aurora-storage"],
    ),
    (
        "aurora-memory",
        &[
            "aurora-analysis",
            "aurora-confined",
            "aurora-diagnostics",
            "aurora-memory-policy",
            "aurora-memory-schema",
            "aurora-pipeline",
            "aurora-project",
            "aurora-query",
            "aurora-redact",
            "aurora-stages",
            "aurora-storage",
        ],
    ),
    ("aurora-memory-import", &["aurora-confined", "aurora-memory", "aurora-memory-schema"]),
    ("aurora-memory-policy", &["aurora-diagnostics", "aurora-suggest"]),
    ("aurora-memory-schema", &["aurora-diagnostics", "aurora-redact"]),
    ("aurora-logs", &["aurora-clock", "aurora-confined", "aurora-diagnostics", "aurora-redact"]),
    (
        "aurora-mcp",
        &["aurora-clock", "aurora-live", "aurora-memory", "aurora-project", "aurora-query", "aurora-storage"],
    ),
    ("aurora-pipeline", &["aurora-diagnostics", "aurora-suggest"]),
    ("aurora-plugins", &["aurora-confined", "aurora-pipeline", "aurora-suggest"]),
    (
        "aurora-project",
        &[
            "aurora-analysis",
            "aurora-confined",
            "aurora-diagnostics",
            "aurora-encoding",
            // A job has requirements on the search quality.
            "aurora-evaluation",
            "aurora-history",
            "aurora-languages",
            "aurora-logs",
            "aurora-pipeline",
            "aurora-plugins",
            "aurora-query",
            "aurora-redact",
            "aurora-stages",
            "aurora-storage",
            "aurora-suggest",
            "aurora-wasm",
        ],
    ),
    (
        "aurora-query",
        &[
            "aurora-analysis",
            "aurora-confined",
            "aurora-diagnostics",
            "aurora-encoding",
            "aurora-inverted",
            "aurora-storage",
            "aurora-suggest",
        ],
    ),
    ("aurora-redact", &[]),
    ("aurora-remote", &["aurora-confined", "aurora-storage"]),
    (
        "aurora-serve",
        &[
            "aurora-clock",
            "aurora-confined",
            "aurora-articles",
            "aurora-live",
            "aurora-mcp",
            "aurora-memory",
            "aurora-project",
            "aurora-query",
            "aurora-storage",
        ],
    ),
    (
        "aurora-stages",
        &[
            "aurora-analysis",
            "aurora-cachefile",
            "aurora-clock",
            "aurora-codec",
            "aurora-confined",
            "aurora-encoding",
            "aurora-history",
            "aurora-languages",
            // The chunks of a log are its sections.
            "aurora-logs",
            // Reasoning patterns in a repository have the format and the thresholds of entries.
            "aurora-memory-schema",
            "aurora-pipeline",
            "aurora-redact",
            "aurora-storage",
        ],
    ),
    ("aurora-storage", &["aurora-codec", "aurora-confined", "aurora-inverted", "aurora-kernels", "aurora-lmdb-pages"]),
    ("aurora-suggest", &[]),
    ("aurora-wasm", &["aurora-confined", "aurora-pipeline", "aurora-plugins"]),
    ("xtask", &[]),
];

#[test]
fn crates_depend_only_on_the_layers_below_them() {
    let metadata = MetadataCommand::new()
        .no_deps()
        .other_options(vec!["--offline".into()])
        .exec()
        .expect("`cargo metadata` succeeds");
    let packages = metadata.workspace_packages();
    assert_eq!(packages.len(), ALLOWED.len(), "a crate was added or removed: give it a layer here");
    for package in packages {
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(name, _)| *name == package.name.as_str())
            .unwrap_or_else(|| panic!("`{}` has no layer", package.name));
        let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
        for dependency in ours.filter(|dependency| dependency.kind != DependencyKind::Development) {
            assert!(
                allowed.contains(&dependency.name.as_str()),
                "`{}` must not depend on `{}`",
                package.name,
                dependency.name
            );
        }
    }
}

#[test]
fn libraries_do_not_mention_commands() {
    for krate in ["analysis", "evaluation", "pipeline", "plugins", "query", "stages", "storage"] {
        visit(&format!("{}/{krate}", env!("CARGO_MANIFEST_DIR")), &mut |path, source| {
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            let named =
                code.into_iter().find(|line| ["`aur ", "aur mem", "aur model"].iter().any(|text| line.contains(text)));
            assert!(named.is_none(), "{path}: {named:?}; `cli/advice.rs` says which command helps");
        });
    }
}

/// Calls `see` with the path and the text of every Rust file in `src` directories below `directory`.
fn visit(directory: &str, see: &mut impl FnMut(&str, &str)) {
    for entry in std::fs::read_dir(directory).expect("the directory can be read").flatten() {
        let path = entry.path().to_string_lossy().replace('\\', "/");
        if entry.path().is_dir() {
            visit(&path, see);
        } else if path.ends_with(".rs") && path.contains("/src/") {
            see(&path, &std::fs::read_to_string(entry.path()).expect("the file can be read"));
        }
    }
}

#[test]
fn safe_crates_forbid_unsafe_code() {
    for krate in [
        "analysis",
        "evaluation",
        "pipeline",
        "pipeline/diagnostics",
        "pipeline/suggest",
        "plugins",
        "plugins/wasm",
        "query",
        "remote",
        "stages",
        "stages/history",
        "stages/languages",
        "stages/redact",
        "storage/cachefile",
        "storage/clock",
        "storage/codec",
        "storage/confined",
        "storage/encoding",
        "storage/inverted",
        "storage/lmdb-pages",
    ] {
        let path = format!("{}/{krate}/src/lib.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("the file can be read");
        assert!(source.contains("#![forbid(unsafe_code)]"), "{path} must forbid unsafe code");
    }
}
