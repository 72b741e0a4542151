//! Tests of the cache of compiled modules: a compiled module is used again unless it is damaged.

mod guest;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_pipeline::{DynamicType, Services, Value};
use aurora_plugins::testkit::StageTest;
use aurora_wasm::{CompiledModules, Wasm};

/// Runs a module with one chunk and a directory for compiled modules.
fn run(root: &Path) {
    let mut services = Services::new();
    services.insert(Arc::new(CompiledModules(root.join("compiled"))));
    let config = "module = \"stage.wasm\"\nreads = [\"chunk.name\"]\nwrites = { owner = \"string\" }\n";
    let outcome = StageTest::new::<Wasm>(config)
        .expect("valid")
        .root(root)
        .services(services)
        .chunks([0])
        .dynamic("chunk.name", DynamicType::String, vec![Some(Value::String("a".to_owned()))])
        .run()
        .expect("the run finishes");
    assert_eq!(outcome.values("chunk.owner"), [Some(Value::String("payments".to_owned()))]);
}

/// Returns the path of the compiled module. There must be exactly one.
fn compiled_file(root: &Path) -> PathBuf {
    let entries = |directory: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("readable").path()).collect()
    };
    let versions = entries(&root.join("compiled/cache/modules"));
    let mut files = entries(&versions[0]);
    files.retain(|file| file.extension().is_none());
    assert_eq!((versions.len(), files.len()), (1, 1), "{files:?}");
    files.remove(0)
}

#[test]
fn a_compiled_module_is_used_until_it_is_damaged() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), guest::component("")).expect("written");
    run(root.path());
    let file = compiled_file(root.path());
    let written = |file: &Path| std::fs::metadata(file).expect("exists").modified().expect("a time");
    let first = written(&file);
    run(root.path());
    assert_eq!(written(&file), first, "it is not compiled again");

    let intact = std::fs::read(&file).expect("read");
    for at in [0, 100, intact.len() / 2, intact.len() - 1] {
        let mut damaged = intact.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&file, &damaged).expect("written");
        run(root.path());
        assert_eq!(std::fs::read(compiled_file(root.path())).expect("read"), intact, "it is compiled again");
    }
    std::fs::write(&file, &intact[..intact.len() / 2]).expect("written");
    run(root.path());
    std::fs::remove_dir_all(root.path().join("compiled/hashes")).expect("removed");
    std::fs::write(&file, b"code of somebody else").expect("written");
    run(root.path());
    assert_eq!(std::fs::read(compiled_file(root.path())).expect("read"), intact);
}

#[test]
fn without_a_cache_directory_modules_are_compiled() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), guest::component("")).expect("written");
    std::fs::write(root.path().join("compiled"), "a file").expect("written");
    run(root.path());
}
