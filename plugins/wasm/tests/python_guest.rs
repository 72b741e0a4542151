//! The example in Python, from its source to values.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use aurora_pipeline::{DynamicType, Services, Value};
use aurora_plugins::testkit::StageTest;
use aurora_wasm::{CompiledModules, Wasm};

/// Where the compiler is, if it is not in `PATH`.
const COMPILER: &str = "AURORA_COMPONENTIZE_PY";
/// Set by CI: without the compiler the test fails.
const REQUIRED: &str = "AURORA_REQUIRE_COMPONENTIZE_PY";

/// Builds the example, or says why that is not possible.
fn build(output: &Path) -> Result<(), String> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = std::env::var_os(COMPILER).map_or_else(|| PathBuf::from("componentize-py"), PathBuf::from);
    let built = Command::new(compiler)
        .arg("--wit-path")
        .arg(crate_root.join("wit"))
        .args(["--world", "stage", "componentize", "owner", "--python-path"])
        .arg(crate_root.join("../examples/wasm-owner"))
        .arg("--output")
        .arg(output)
        .output();
    match built {
        Ok(built) if built.status.success() => Ok(()),
        Ok(built) => panic!("componentize-py failed: {}", String::from_utf8_lossy(&built.stderr)),
        Err(error) => Err(format!("componentize-py is not installed ({error}); `pip install componentize-py`")),
    }
}

#[test]
fn the_python_example_finds_owners() {
    let root = tempfile::tempdir().expect("a directory");
    if let Err(reason) = build(&root.path().join("owner.wasm")) {
        assert!(std::env::var_os(REQUIRED).is_none(), "{reason}");
        eprintln!("skipped: {reason}");
        return;
    }
    let mut services = Services::new();
    services.insert(Arc::new(CompiledModules(root.path().join("compiled"))));
    let config = r#"
        module = "owner.wasm"
        reads = ["file.path"]
        writes = { owner = "string" }
        config = { teams = { pay = "payments" } }
    "#;
    let paths = ["pay/card.py", "README.md"].map(|path| Some(Value::String(path.to_owned()))).to_vec();
    // The second run finds the compiled module.
    for _ in 0..2 {
        let outcome = StageTest::of::<Wasm>(config)
            .expect("valid")
            .root(root.path())
            .services(services.clone())
            .chunks([0, 0, 1])
            .dynamic("file.path", DynamicType::String, paths.clone())
            .run()
            .expect("the run finishes");
        let payments = Some(Value::String("payments".to_owned()));
        assert_eq!(
            outcome.values("chunk.owner"),
            [payments.clone(), payments, None],
            "{:?}",
            outcome.report().failures
        );
    }
    assert!(root.path().join("compiled").is_dir(), "the compiled module is kept");
}
