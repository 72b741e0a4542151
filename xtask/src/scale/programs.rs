//! The programs to compare: `aur` and the bare loop.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::corpus::Corpus;
use super::process;
use super::report::Sample;
use crate::cargo::cargo;
use crate::servers;

pub(super) struct Programs {
    aur: PathBuf,
    bare: Option<PathBuf>,
    /// Home directory of a user without settings and without other indexes.
    home: PathBuf,
}

impl Programs {
    /// Builds the programs that were not given. If only `aur` is given, there is no bare loop.
    pub(super) fn new(aur: Option<&Path>, bare: Option<&Path>, home: PathBuf) -> Result<Self, String> {
        if let Some(aur) = aur {
            if bare.is_none() {
                eprintln!(
                    "there is no comparison with a bare parse loop; build the loop with \
                     `cargo build --release -p aurora-languages --example bare_parse`, and pass its path with --bare"
                );
            }
            return Ok(Self { aur: aur.to_owned(), bare: bare.map(Path::to_owned), home });
        }
        let target = servers::build()?;
        if bare.is_none() {
            cargo(&["build", "--release", "-p", "aurora-languages", "--example", "bare_parse"])?;
        }
        let bare = bare.map_or_else(|| target.join("release/examples/bare_parse"), Path::to_owned);
        Ok(Self { aur: servers::program(&target), bare: Some(bare), home })
    }

    /// Builds a fresh index.
    pub(super) fn index(&self, corpus: &Corpus, processors: &[usize]) -> Result<Sample, String> {
        let present = corpus.root.join(".aurora");
        if present.exists() {
            std::fs::remove_dir_all(&present).map_err(|error| format!("{}: {error}", present.display()))?;
        }
        let mut command = self.memory("index");
        command.args(["--quiet", "--format", "json", "--jobs", &processors.len().to_string()]).arg(&corpus.root);
        let finished = process::run(&mut command, processors, "")?;
        let summary: Value = serde_json::from_str(&finished.output)
            .map_err(|error| format!("the summary of the index run cannot be read: {error}"))?;
        let mut sample = Sample::from([("wall_seconds", finished.wall), ("processor_seconds", finished.processor)]);
        for (name, key, unit) in [
            ("program_processor_seconds", "cpu_seconds", 1.0),
            ("serial_cpu_share", "serial_cpu_share", 1.0),
            ("peak_mib", "peak_memory_bytes", f64::from(1 << 20)),
        ] {
            sample.extend(summary[key].as_f64().map(|value| (name, value / unit)));
        }
        Ok(sample)
    }

    /// Builds a fresh index, and runs the bare loop immediately afterwards.
    pub(super) fn compare(&self, corpus: &Corpus, processors: &[usize]) -> Result<Sample, String> {
        let mut sample = self.index(corpus, processors)?;
        if let Some(bare) = &self.bare {
            let finished =
                process::run(Command::new(bare).arg(processors.len().to_string()), processors, &corpus.list)?;
            sample.insert("bare_wall_seconds", finished.wall);
            sample.insert("bare_processor_seconds", finished.processor);
            sample.insert("processor_ratio", sample["processor_seconds"] / finished.processor);
        }
        Ok(sample)
    }

    /// Returns the seconds that a batch of keyword queries takes.
    pub(super) fn search(&self, corpus: &Corpus, queries: &[String], processors: &[usize]) -> Result<f64, String> {
        let mut command = self.memory("search");
        command.args(["--stdin", "--mode", "sparse", "--format", "jsonl", "--no-record", "--no-refresh", "--root"]);
        let finished = process::run(command.arg(&corpus.root), processors, &(queries.join("\n") + "\n"))?;
        match finished.output.lines().count() {
            answers if answers == queries.len() => Ok(finished.wall),
            answers => Err(format!("{} queries have {answers} answers", queries.len())),
        }
    }

    /// Returns the digest of the contents of the index.
    pub(super) fn digest(&self, corpus: &Corpus, processors: &[usize]) -> Result<String, String> {
        let mut command = self.memory("verify");
        Ok(process::run(command.args(["--digest", "--root"]).arg(&corpus.root), processors, "")?.output)
    }

    /// Returns the files and directories of the corpus that are not indexed.
    pub(super) fn not_indexed(&self, corpus: &Corpus, processors: &[usize]) -> Result<HashSet<PathBuf>, String> {
        let mut command = self.memory("stats");
        command.args(["--skipped", "--root"]).arg(&corpus.root);
        let output = process::run(&mut command, processors, "")?.output;
        Ok(output.lines().filter_map(|line| Some(line.split_once(": ")?.0.into())).collect())
    }

    /// Returns the input of the bare loop: language and path of every file that has a grammar.
    pub(super) fn list(&self, corpus: &Corpus, processors: &[usize]) -> Result<String, String> {
        let Some(bare) = &self.bare else { return Ok(String::new()) };
        let paths = corpus.paths.iter().filter_map(|path| Some(corpus.root.join(path).to_str()?.to_owned()));
        let paths: Vec<_> = paths.filter(|path| !path.contains('\n')).collect();
        Ok(process::run(Command::new(bare).arg("--list"), processors, &paths.join("\n"))?.output)
    }

    fn memory(&self, command: &str) -> Command {
        let mut program = Command::new(&self.aur);
        program.args(["mem", command]).env("AURORA_HOME", &self.home);
        program
    }
}
