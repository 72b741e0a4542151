//! Tests that incremental runs produce the same index as a fresh run, and a parallel run the same index as a serial
//! run. Modules in the pipeline compute values, fail, or drop rows.
//!
//! The environment variables `AURORA_TEST_CASES` and `AURORA_TEST_EDITS` set the number and the length of the
//! sequences.

mod guest;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use aurora_analysis::ModelDirectory;
use aurora_pipeline::Silent;
use aurora_plugins::process::{Documents, HelperDirectory, Process};
use aurora_plugins::trust::Consents;
use aurora_stages::index::{self, IndexOptions, IndexSummary, Trust};
use aurora_storage::{Environment, MetaValue, OpenMode, ProjectDirectory, Snapshot};
use aurora_wasm::{CompiledModules, Wasm};
use proptest::prelude::*;
use tempfile::TempDir;

/// Parts of the pipeline file. A change of the pipeline selects some of them.
const STAGES: [&str; 7] = [
    "[stage.sizes]\nuse = \"wasm\"\nmodule = \"sizes.wasm\"\nreads = [\"chunk.name\", \"chunk.text\"]\n\
     writes = { owner = { type = \"string\", terms = 2, embed = true }, size = \"integer\" }\n",
    "rows = 3\n",
    "config = { longer = true }\n",
    "[stage.paths]\nuse = \"wasm\"\nmodule = \"paths.wasm\"\nreads = [\"file.path\"]\nwrites = { \"file.place\" = \"string\" }\nrows = 1\n",
    "[stage.sieve]\nuse = \"wasm\"\nmodule = \"sieve.wasm\"\nreads = [\"chunk.name\"]\ndrops = \"chunks\"\nfuel = 10000000\n",
    "[stage.licence]\nuse = \"process\"\ncommand = [\"python3\", \"licence.py\"]\nreads = [\"file.text\"]\n\
     writes = { \"file.licence\" = \"string\" }\n",
    "[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tickets.py\"]\n",
];
/// Indices in [`STAGES`] of the keys that belong to the first table.
const KEYS: std::ops::Range<usize> = 1..3;

const LICENCE: &str = "from aurora_stage import stage
@stage
def licence(text):
    return text.split('SPDX: ')[1].split()[0] if 'SPDX: ' in text else None
";

const TICKETS: &str = "from aurora_stage import documents
@documents
def tickets(state):
    yield {'path': 'T-1.md', 'text': 'Refunds of cards'}
    return '1'
";

const FILES: [&str; 6] = ["a/one.py", "a/two.py", "b/three.js", "b/four.py", "c/five.py", "c/six.md"];
/// File contents. The first letter of a chunk's name determines whether the module traps, loops, returns an error, or
/// drops the chunk.
const BODIES: [&str; 7] = [
    "def parse(card):\n    return card\n\ndef store(card):\n    return parse(card)\n",
    "# SPDX: MIT\ndef parse(card):\n    return 2 * card\n",
    "def Xtrap(card):\n    return card\n\ndef beside(card):\n    return 1\n",
    "def Loop(card):\n    return card\n",
    "def Error(card):\n    return card\n\ndef Drop(card):\n    return 2\n\ndef beside(card):\n    return 1\n",
    "# Guide\n\nHow to pay.\n\n## Drop\n\nsecret\n",
    "function render(page) { return page }\n",
];

#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    Remove(usize),
    /// The selected parts as bits, and the fuel in millions.
    Pipeline(u8, u32),
    Run,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..FILES.len(), 0..BODIES.len()).prop_map(|(file, body)| Step::Write(file, body)),
        1 => (0..FILES.len()).prop_map(Step::Remove),
        2 => (any::<u8>(), 3..5u32).prop_map(|(chosen, fuel)| Step::Pipeline(chosen, fuel)),
        3 => Just(Step::Run),
    ]
}

fn apply(root: &Path, step: &Step) {
    match step {
        Step::Write(file, body) => write(root, FILES[*file], BODIES[*body]),
        Step::Remove(file) => drop(std::fs::remove_file(root.join(FILES[*file]))),
        Step::Pipeline(chosen, fuel) => {
            let has_sizes = chosen & 1 == 1;
            let is_chosen = |at: usize| chosen >> at & 1 == 1 && (has_sizes || !KEYS.contains(&at));
            let mut stages: Vec<&str> = (0..STAGES.len()).filter(|at| is_chosen(*at)).map(|at| STAGES[at]).collect();
            let fuel = format!("fuel = {fuel}000000\n");
            if has_sizes {
                stages.insert(1, &fuel);
            }
            write(root, ".aurora/pipeline.toml", format!("extends = \"default\"\n{}", stages.concat()));
        }
        Step::Run => drop(run(root, IndexOptions { jobs: Some(2), ..options(root) })),
    }
}

/// Creates a project that contains the modules. The modules are compiled once and shared by all projects.
fn begin() -> TempDir {
    let directory = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a temporary directory");
    for (name, module) in MODULES.iter() {
        write(directory.path(), name, module);
    }
    write(directory.path(), "licence.py", LICENCE);
    write(directory.path(), "tickets.py", TICKETS);
    write(directory.path(), FILES[0], BODIES[0]);
    directory
}

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a parent")).expect("directories can be made");
    std::fs::write(path, content).expect("written");
}

fn options(root: &Path) -> IndexOptions {
    let mut options =
        IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), Trust::everything());
    let mut registry = aurora_stages::registry();
    registry.register_described::<Process>();
    registry.register_described::<Documents>();
    registry.register_described::<Wasm>();
    options.registry = Arc::new(registry);
    let helper = root.join(".aurora/helper");
    aurora_plugins::python::write_helper(&helper).expect("written");
    options.services.insert(Arc::new(Consents::everything()));
    options.services.insert(Arc::new(HelperDirectory(helper)));
    options.services.insert(Arc::new(CompiledModules(COMPILED.path().to_owned())));
    options
}

fn run(root: &Path, options: IndexOptions) -> IndexSummary {
    let summary = index::run(&options, &Silent).unwrap_or_else(|error| panic!("{error} {:?}", root));
    let failures = format!("{:?}", summary.report.failures);
    assert!(!failures.contains("gave up"), "{failures}");
    summary
}

fn digest(root: &Path) -> String {
    snapshot(root).digest().expect("a digest")
}

fn snapshot(root: &Path) -> Snapshot {
    let environment = Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).expect("an index");
    environment.snapshot().expect("a snapshot")
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number("AURORA_TEST_CASES").unwrap_or(4) as u32,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_index_with_modules_equals_a_fresh_one(
        first in any::<u8>(),
        steps in prop::collection::vec(step(), 1..number("AURORA_TEST_EDITS").unwrap_or(12).max(2)),
    ) {
        let directory = begin();
        let root = directory.path();
        apply(root, &Step::Pipeline(first | 1, 3));
        for step in [&Step::Run].into_iter().chain(&steps).chain([&Step::Run]) {
            apply(root, step);
        }
        let kept = digest(root);
        let fresh = |jobs| IndexOptions { jobs: Some(jobs), force: true, ..options(root) };
        run(root, fresh(2));
        prop_assert_eq!(&kept, &digest(root), "a fresh index");
        run(root, fresh(1));
        prop_assert_eq!(&kept, &digest(root), "one worker");
    }
}

#[test]
fn rows_that_fail_are_reported_and_others_keep_their_values() {
    let directory = begin();
    let root = directory.path();
    apply(root, &Step::Pipeline(1, 3));
    for (file, body) in [("a/trap.py", BODIES[2]), ("a/loop.py", BODIES[3]), ("b/error.py", BODIES[4])] {
        write(root, file, body);
    }
    for name in ["licence.py", "tickets.py"] {
        std::fs::remove_file(root.join(name)).expect("removed");
    }
    let failures = run(root, options(root)).report.failures;
    let found: Vec<(&str, u64)> = failures["sizes"].iter().map(|(reason, entry)| (reason, entry.count)).collect();
    let trap = "the module trapped: wasm trap: wasm `unreachable` instruction executed";
    assert_eq!(found, [("not this one", 1), ("the module consumed its `fuel`", 1), (trap, 1)]);
    let mut owners = values(root, "owner");
    owners.sort();
    assert_eq!(owners, ["Drop", "beside", "beside", "parse", "store"]);
}

/// Returns the strings in a column.
fn values(root: &Path, column: &str) -> Vec<String> {
    let snapshot = snapshot(root);
    let mut values = Vec::new();
    for file in snapshot.files() {
        for id in file.expect("readable").chunks {
            let chunk = snapshot.whole_chunk(id).expect("readable").expect("exists");
            let found = chunk.metadata.into_iter().find(|(name, _)| name == column);
            values.extend(
                found.and_then(|(_, value)| if let MetaValue::String(text) = value { Some(text) } else { None }),
            );
        }
    }
    values
}

static COMPILED: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a temporary directory"));

static MODULES: LazyLock<[(&str, Vec<u8>); 3]> = LazyLock::new(|| {
    let modules = [("sizes.wasm", SIZES), ("paths.wasm", PATHS), ("sieve.wasm", SIEVE)];
    modules.map(|(name, process)| (name, guest::encode(&format!("(module {PRELUDE} {process})"))))
});

/// Items that all modules have in common. For the layouts of the canonical ABI, see `guest`.
const PRELUDE: &str = r#"
  (memory (export "memory") 4)
  (global $top (mut i32) (i32.const 65536))
  (global $config (mut i32) (i32.const 0))
  (data (i32.const 1024) "chunk.owner")
  (data (i32.const 1040) "chunk.size")
  (data (i32.const 1056) "file.place")
  (data (i32.const 1072) "not this one")
  (func $alloc (export "cabi_realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (block $enough
      (br_if $enough (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $enough (i32.ne (i32.const -1)
        (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536))))))
      unreachable)
    (local.get $at))
  ;; Keeps the length of `config`.
  (func (export "configure") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    (global.set $config (local.get 3))
    (i32.const 0))
  (func $new (param $size i32) (result i32)
    (call $alloc (i32.const 0) (i32.const 0) (i32.const 8) (local.get $size)))
  ;; The first letter of a text of a list, or 0.
  (func $letter (param $list i32) (param $row i32) (result i32)
    (local $at i32)
    (local.set $at (i32.add (local.get $list) (i32.mul (local.get $row) (i32.const 12))))
    (if (i32.eqz (i32.load8_u (local.get $at))) (then (return (i32.const 0))))
    (if (i32.eqz (i32.load offset=8 (local.get $at))) (then (return (i32.const 0))))
    (i32.load8_u (i32.load offset=4 (local.get $at))))
  (func $column (param $at i32) (param $name i32) (param $length i32) (param $case i32) (param $list i32) (param $rows i32)
    (i32.store (local.get $at) (local.get $name))
    (i32.store offset=4 (local.get $at) (local.get $length))
    (i32.store offset=8 (local.get $at) (local.get $case))
    (i32.store offset=12 (local.get $at) (local.get $list))
    (i32.store offset=16 (local.get $at) (local.get $rows)))
"#;

/// A module that returns the name of every chunk, and the length of its text plus the length of the configuration.
const SIZES: &str = r#"
  (func (export "process") (param $files i32) (param $chunk_files i32) (param $chunks i32) (param $columns i32) (param i32)
    (result i32)
    (local $row i32) (local $letter i32) (local $names i32) (local $text i32) (local $sizes i32) (local $size i32) (local $result i32)
    (local.set $names (i32.load offset=12 (local.get $columns)))
    (local.set $text (i32.load offset=32 (local.get $columns)))
    (local.set $sizes (call $new (i32.mul (local.get $chunks) (i32.const 16))))
    (local.set $result (call $new (i32.const 28)))
    (local.set $size (local.get $sizes))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $row) (local.get $chunks)))
      (local.set $letter (call $letter (local.get $names) (local.get $row)))
      (if (i32.eq (local.get $letter) (i32.const 88)) (then unreachable))
      (if (i32.eq (local.get $letter) (i32.const 76)) (then (loop $forever (br $forever))))
      (if (i32.eq (local.get $letter) (i32.const 69)) (then
        (i32.store (local.get $result) (i32.const 1))
        (i32.store offset=4 (local.get $result) (i32.const 1072))
        (i32.store offset=8 (local.get $result) (i32.const 12))
        (return (local.get $result))))
      (i32.store (local.get $size) (i32.load8_u (local.get $text)))
      (i64.store offset=8 (local.get $size)
        (i64.extend_i32_u (i32.add (global.get $config) (i32.load offset=8 (local.get $text)))))
      (local.set $size (i32.add (local.get $size) (i32.const 16)))
      (local.set $text (i32.add (local.get $text) (i32.const 12)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $next)))
    (i32.store offset=4 (local.get $result) (call $new (i32.const 40)))
    (i32.store offset=8 (local.get $result) (i32.const 2))
    (call $column (i32.load offset=4 (local.get $result))
      (i32.const 1024) (i32.const 11) (i32.const 0) (local.get $names) (local.get $chunks))
    (call $column (i32.add (i32.const 20) (i32.load offset=4 (local.get $result)))
      (i32.const 1040) (i32.const 10) (i32.const 1) (local.get $sizes) (local.get $chunks))
    (local.get $result))
"#;

/// A module that returns the path of every file.
const PATHS: &str = r#"
  (func (export "process") (param $files i32) (param i32) (param i32) (param $columns i32) (param i32) (result i32)
    (local $result i32)
    (local.set $result (call $new (i32.const 28)))
    (i32.store offset=4 (local.get $result) (call $new (i32.const 20)))
    (i32.store offset=8 (local.get $result) (i32.const 1))
    (call $column (i32.load offset=4 (local.get $result)) (i32.const 1056) (i32.const 10) (i32.const 0)
      (i32.load offset=12 (local.get $columns)) (local.get $files))
    (local.get $result))
"#;

/// A module that drops the chunks whose names begin with D.
const SIEVE: &str = r#"
  (func (export "process") (param $files i32) (param i32) (param $chunks i32) (param $columns i32) (param i32) (result i32)
    (local $row i32) (local $dropped i32) (local $remark i32) (local $result i32)
    (local.set $result (call $new (i32.const 28)))
    (local.set $dropped (call $new (i32.mul (local.get $chunks) (i32.const 16))))
    (local.set $remark (local.get $dropped))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $row) (local.get $chunks)))
      (if (i32.eq (i32.const 68) (call $letter (i32.load offset=12 (local.get $columns)) (local.get $row))) (then
        (i32.store (local.get $remark) (i32.const 1))
        (i32.store offset=4 (local.get $remark) (local.get $row))
        (i32.store offset=8 (local.get $remark) (i32.const 1072))
        (i32.store offset=12 (local.get $remark) (i32.const 12))
        (local.set $remark (i32.add (local.get $remark) (i32.const 16)))))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $next)))
    (i32.store offset=20 (local.get $result) (local.get $dropped))
    (i32.store offset=24 (local.get $result)
      (i32.div_u (i32.sub (local.get $remark) (local.get $dropped)) (i32.const 16)))
    (local.get $result))
"#;
