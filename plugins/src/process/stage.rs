//! The stage type `process` and its workers.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BuildContext, Emitter, Fingerprint, Problems, ProgramSpec, Stage, StageConfig, StageContext, StageError,
    Worker,
};

use super::child::StartOptions;
use super::command::ResolvedCommand;
use super::config::{MAX_IN_FLIGHT, MAX_ROWS, Process};
use super::conversation::Conversation;
use super::prepared::prepare;
use super::restarts::Restarts;
use super::stderr_lines::StderrLines;
use crate::declaration::{self, Declaration};

impl StageConfig for Process {
    const TYPE: &'static str = "process";

    fn access(&self) -> Access {
        self.declaration().access()
    }

    fn program(&self) -> Option<ProgramSpec> {
        Some(ProgramSpec {
            command: self.command.clone(),
            files: self.files.clone(),
            environment: self.env.clone(),
            inputs: self.inputs.clone(),
            config: self.config.clone(),
            is_confined: false,
        })
    }

    fn check(&self, problems: &mut Problems<'_>) {
        self.check_program(problems);
        declaration::check(&self.reads, &self.writes, self.drops, problems);
        if !(1..=MAX_IN_FLIGHT).contains(&self.in_flight) {
            problems.error("in_flight", format!("`in_flight` must be from 1 to {MAX_IN_FLIGHT}"));
        }
        if !(1..=MAX_ROWS).contains(&self.rows) {
            problems.error("rows", format!("`rows` must be from 1 to {MAX_ROWS}"));
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let (command, fingerprint) = prepare(Self::TYPE, &self, cx)?;
        let fingerprint = fingerprint.with("languages", self.languages.join(","));
        let declaration = self.declaration();
        Ok(Box::new(ProcessStage {
            fingerprint: declaration.fingerprint(fingerprint),
            restarts: Restarts::new(self.max_restarts),
            stderr: Arc::default(),
            config: self,
            declaration,
            command,
        }))
    }
}

/// A stage that runs a program.
struct ProcessStage {
    config: Process,
    declaration: Declaration,
    command: ResolvedCommand,
    fingerprint: Fingerprint,
    restarts: Restarts,
    stderr: Arc<StderrLines>,
}

impl Stage for ProcessStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        let Self { config, declaration, command, restarts, stderr, .. } = self;
        let start = StartOptions { command, config, in_flight: config.in_flight, stderr };
        Box::new(Conversation::new(declaration, start, restarts))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.clone()
    }

    fn close(&self, _: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        self.stderr.close(cx);
        Ok(())
    }
}
