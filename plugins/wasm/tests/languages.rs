//! Tests of the example in each language: the source is compiled and the module is run.
//!
//! The compilers are not part of this project. If the environment variable for a compiler is not set, its test prints a
//! message and is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_pipeline::{DynamicType, Observer, Progress, RunOptions, Services, Value};
use aurora_plugins::testkit::StageTest;
use aurora_wasm::{CompiledModules, Wasm};

/// Environment variable for CI. If it is set, the Python test fails instead of being skipped without componentize-py.
const REQUIRED: &str = "AURORA_REQUIRE_COMPONENTIZE_PY";

#[test]
fn the_python_example_finds_owners() {
    check("AURORA_COMPONENTIZE_PY", std::env::var_os(REQUIRED).is_some(), |compiler, directory| {
        Command::new(compiler)
            .args(["--wit-path", "wit", "--world", "stage", "componentize", "owner", "--output", "owner.wasm"])
            .current_dir(directory)
            .status()
            .is_ok_and(|status| status.success())
    });
}

#[test]
fn the_javascript_example_finds_owners() {
    check("AURORA_COMPONENTIZE_JS", false, |compiler, directory| {
        Command::new(compiler)
            .args(["--wit", "wit", "--world-name", "stage", "--disable", "clocks", "--out", "owner.wasm", "owner.js"])
            .current_dir(directory)
            .status()
            .is_ok_and(|status| status.success())
    });
}

/// The variable must contain the path of a `cargo` whose toolchain has the target `wasm32-wasip2`.
#[test]
fn the_rust_example_finds_owners() {
    check("AURORA_WASIP2_CARGO", false, |cargo, directory| {
        let built = Command::new(cargo)
            .args(["build", "--release", "--target", "wasm32-wasip2", "--target-dir", "target"])
            .current_dir(directory)
            .env_remove("CARGO_TARGET_DIR")
            .status();
        built.is_ok_and(|status| status.success())
            && std::fs::copy(directory.join("target/wasm32-wasip2/release/owner.wasm"), directory.join("owner.wasm"))
                .is_ok()
    });
}

/// Builds the example with the compiler that the environment variable names, and runs it.
fn check(variable: &str, is_required: bool, build: impl Fn(&Path, &Path) -> bool) {
    let Some(compiler) = std::env::var_os(variable).map(PathBuf::from) else {
        assert!(!is_required, "{variable} names no compiler");
        eprintln!("skipped: {variable} names no compiler");
        return;
    };
    let root = tempfile::tempdir().expect("a directory");
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a directory above");
    copy_files(&plugins.join("examples/wasm-owner"), root.path());
    copy_files(&plugins.join("wasm/wit"), &root.path().join("wit"));
    assert!(build(&compiler, root.path()), "{} failed", compiler.display());

    let mut services = Services::new();
    services.insert(Arc::new(CompiledModules(root.path().join("compiled"))));
    let payments = Some(Value::String("payments".to_owned()));
    let (values, log) = run(root.path(), &services, "teams = { pay = \"payments\" }");
    assert_eq!(values, [payments.clone(), payments, None], "{log:?}");
    assert_eq!(log, [""; 0]);
    // The second run uses the compiled module from the cache.
    assert!(root.path().join("compiled").is_dir(), "the compiled module is kept");
    let (values, log) = run(root.path(), &services, "");
    assert_eq!(values, [None, None, None]);
    assert_eq!(log, ["no teams are configured"], "the output of the module");
}

/// Runs the example. Returns the owners of three chunks, and the log.
fn run(root: &Path, services: &Services, config: &str) -> (Vec<Option<Value>>, Vec<String>) {
    let config = format!(
        "module = \"owner.wasm\"\nreads = [\"file.path\"]\nwrites = {{ owner = \"string\" }}\nconfig = {{ {config} }}\n"
    );
    let paths = ["pay/card.py", "README.md"].map(|path| Some(Value::String(path.to_owned()))).to_vec();
    let log = Log::default();
    let outcome = StageTest::new::<Wasm>(&config)
        .expect("valid")
        .root(root)
        .services(services.clone())
        .chunks([0, 0, 1])
        .dynamic("file.path", DynamicType::String, paths)
        .run_with(RunOptions { observer: &log, ..RunOptions::default() })
        .expect("the run finishes");
    let mut log = log.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    log.extend(outcome.report().failures.iter().map(|failure| format!("{failure:?}")));
    (outcome.values("chunk.owner"), log)
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory can be made");
    for entry in std::fs::read_dir(from).expect("a directory").flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

/// An observer that collects the log.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn on_progress(&self, _: &Progress) {}

    fn on_log(&self, _: &str, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }
}
