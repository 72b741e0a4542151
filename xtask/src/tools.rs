//! Runs checks with tools that do not come with cargo. Each check reports a missing tool.

use std::process::{Command, Stdio};

use clap::Args;

use crate::cargo::{cargo, cargo_with, project};

#[derive(Args, Default)]
pub(crate) struct DenyOptions {
    /// Also check security advisories, which needs the network.
    #[arg(long)]
    advisories: bool,
}

#[derive(Args)]
pub(crate) struct FuzzOptions {
    /// Run only these fuzz targets; by default all, one after another.
    #[arg(value_name = "CASE")]
    cases: Vec<String>,

    /// Minutes for each fuzz target.
    #[arg(long, default_value_t = 10)]
    minutes: u64,

    /// The language of the texts of `grammars`; by default each text is checked in every language.
    #[arg(long, value_name = "NAME")]
    language: Option<String>,

    /// A directory with additional inputs, such as real files of a language. May be given several times.
    #[arg(long, value_name = "DIR", requires = "cases")]
    inputs: Vec<String>,
}

/// The fuzz targets: binaries of the package in `fuzz/`, and their options.
const CASES: [(&str, &[&str]); 3] = [
    ("analyzer", &[]),
    ("grammars", &["-dict=fuzz/grammars.dict", "-timeout=20", "-max_len=65536", "-malloc_limit_mb=768"]),
    ("pipeline", &[]),
];

/// Maximum time for a text of `grammars` that is checked in a single language. It is longer than two parses may take.
const TIMEOUT_OF_ONE_LANGUAGE: &str = "-timeout=5";

/// Packages, and filters for their tests of `unsafe` code. The tests must not call C, so LMDB is excluded, because Miri
/// cannot run C code.
const MIRI: [(&str, &[&str]); 2] = [("aurora-kernels", &[]), ("aurora-storage", &["quantise", "code::"])];

/// Checks licences, duplicate versions and sources of dependencies.
pub(crate) fn deny(options: &DenyOptions) -> Result<(), String> {
    if !has_deny() {
        return Err("cargo-deny is missing: `cargo install --locked cargo-deny`".into());
    }
    if options.advisories {
        return cargo(&["deny", "check", "advisories", "bans", "licenses", "sources"]);
    }
    cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"])
}

/// Whether cargo-deny is installed.
pub(crate) fn has_deny() -> bool {
    succeeds(&["deny", "--version"])
}

/// Runs tests of unsafe code under Miri.
pub(crate) fn miri() -> Result<(), String> {
    if !succeeds(&["+nightly", "miri", "--version"]) {
        return Err("Miri is missing: `rustup toolchain install nightly --component miri,rust-src`".into());
    }
    for (package, filters) in MIRI {
        let mut arguments =
            vec!["+nightly", "miri", "test", "--locked", "--package", package, "--all-features", "--lib", "--"];
        arguments.extend(filters);
        cargo_with(&arguments, &[("MIRIFLAGS", "-Zmiri-disable-isolation"), ("PROPTEST_CASES", "8")])?;
    }
    Ok(())
}

/// Runs the fuzz targets, starting from the seeds in the repository. New inputs go to `fuzz/corpus`, which git ignores.
pub(crate) fn fuzz(options: &FuzzOptions) -> Result<(), String> {
    if !succeeds(&["+nightly", "fuzz", "--version"]) {
        return Err("cargo-fuzz or a nightly toolchain is missing: \
                    `rustup toolchain install nightly && cargo install --locked cargo-fuzz`"
            .into());
    }
    let names = CASES.map(|(name, _)| name);
    if let Some(unknown) = options.cases.iter().find(|case| !names.contains(&case.as_str())) {
        return Err(format!("there is no fuzz target `{unknown}`; the fuzz targets are {}", names.join(", ")));
    }
    let limit = format!("-max_total_time={}", 60 * options.minutes);
    let is_selected = |name: &str| options.cases.is_empty() || options.cases.iter().any(|selected| selected == name);
    for (case, settings) in CASES.iter().filter(|(name, _)| is_selected(name)) {
        let (corpus, seeds) = (format!("fuzz/corpus/{case}"), format!("fuzz/seeds/{case}"));
        std::fs::create_dir_all(project().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
        let inputs = options.inputs.iter().map(String::as_str);
        let arguments = ["+nightly", "fuzz", "run", case, &corpus, &seeds].into_iter().chain(inputs);
        let language = options.language.as_ref().map(|language| ("AURORA_FUZZ_LANGUAGE", language.as_str()));
        let timeout = language.map(|_| TIMEOUT_OF_ONE_LANGUAGE);
        let settings = settings.iter().copied().chain(timeout);
        let arguments: Vec<&str> = arguments.chain(["--", &limit]).chain(settings).collect();
        cargo_with(&arguments, language.as_slice())?;
    }
    Ok(())
}

/// Whether a cargo command succeeds. Uses `cargo` from PATH, because only rustup's `cargo` understands `+nightly`.
fn succeeds(arguments: &[&str]) -> bool {
    let mut command = Command::new("cargo");
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
