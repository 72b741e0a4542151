//! Runs the fuzz targets (`cargo xtask fuzz`) on the seeds in the repository.

#[path = "../fuzz/cases/analyzer.rs"]
mod analyzer;
#[path = "../fuzz/cases/grammars.rs"]
mod grammars;
#[path = "../fuzz/cases/pipeline.rs"]
mod pipeline;

use std::path::Path;

#[test]
fn every_seed_passes() {
    let cases = [("analyzer", analyzer::run as fn(&[u8])), ("grammars", grammars::run), ("pipeline", pipeline::run)];
    for (case, run) in cases {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(case);
        let seeds: Vec<_> = std::fs::read_dir(&directory).expect("the directory can be read").collect();
        assert!(!seeds.is_empty(), "{case}");
        for seed in seeds {
            let path = seed.expect("the entry can be read").path();
            println!("{}", path.display());
            run(&std::fs::read(&path).expect("the file can be read"));
        }
    }
}
