//! Input rows for programs under test, in a temporary project.

use std::fs;
use std::sync::Arc;

use aurora_pipeline::{Column, DynamicType, RunOptions, Services, Value};
use aurora_plugins::process::{HelperDirectory, Process};
use aurora_plugins::testkit::{StageOutcome, StageTest, TestError};
use aurora_plugins::trust::Consents;
use tempfile::TempDir;

const PATH: Column<String> = Column::new("file.path");

/// A temporary project, and the input rows of a stage.
pub(crate) struct Rows {
    pub(crate) root: TempDir,
    paths: Vec<String>,
    chunks: Vec<u32>,
}

impl Rows {
    pub(crate) fn new(paths: &[&str], chunks: &[u32]) -> Self {
        let root = TempDir::new().expect("a temporary directory");
        Self { root, paths: paths.iter().map(|&path| path.to_owned()).collect(), chunks: chunks.to_vec() }
    }

    /// Runs a stage whose program is the Python function in `source`.
    pub(crate) fn python(&self, config: &str, source: &str) -> StageOutcome {
        let decorated = source.replacen("def ", "@stage\ndef ", 1);
        self.script("stage.py", &format!("from aurora_stage import Drop, stage\n{decorated}"));
        self.run("python3", "stage.py", config).expect("the run completes")
    }

    /// Runs a stage whose program is a script.
    pub(crate) fn run(&self, interpreter: &str, script: &str, config: &str) -> Result<StageOutcome, TestError> {
        self.run_with(interpreter, script, config, RunOptions::default())
    }

    /// Runs a stage like [`Rows::run`], with options for the run.
    pub(crate) fn run_with(
        &self,
        interpreter: &str,
        script: &str,
        config: &str,
        options: RunOptions<'_>,
    ) -> Result<StageOutcome, TestError> {
        let config = format!("command = [{interpreter:?}, {script:?}]\n{config}");
        let helper = self.root.path().join("helper");
        aurora_plugins::python::write_helper(&helper).expect("written");
        let mut services = Services::new();
        services.insert(Arc::new(Consents::everything()));
        services.insert(Arc::new(HelperDirectory(helper)));
        let titles = (0..self.chunks.len()).map(|row| text(&format!("title {row}"))).collect();
        StageTest::new::<Process>(&config)?
            .root(self.root.path())
            .services(services)
            .column(PATH, self.paths.clone())
            .chunks(self.chunks.iter().copied())
            .dynamic("chunk.title", DynamicType::String, titles)
            .run_with(options)
    }

    pub(crate) fn script(&self, name: &str, source: &str) {
        fs::write(self.root.path().join(name), source).expect("written");
    }
}

/// Returns a cell with a string.
pub(crate) fn text(text: &str) -> Option<Value> {
    Some(Value::String(text.to_owned()))
}
