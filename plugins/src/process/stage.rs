//! The stage type `process` and its workers.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Emitter, Fingerprint, Problems, ProgramSpec, Stage, StageConfig, StageContext,
    StageError, Worker,
};

use super::child::StartOptions;
use super::codec::Encoding;
use super::command::ResolvedCommand;
use super::config::{MAX_IN_FLIGHT, MAX_ROWS, Process};
use super::conversation::Conversation;
use super::handshake::HostHello;
use super::prepared::PreparedProgram;
use super::restarts::Restarts;
use super::stderr_lines::StderrLines;
use crate::declaration::{self, Declaration};
use crate::exchange::{BatchOutcome, rows_to_process, within_bytes};

/// Maximum size of the values in one message, in bytes. A unit with more bytes gets its own message.
const MESSAGE_BYTES: usize = 1 << 20;

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
        Ok(Box::new(ProcessStage::new(self, cx)?))
    }
}

/// A stage that runs a program.
pub(super) struct ProcessStage {
    config: Process,
    declaration: Declaration,
    command: ResolvedCommand,
    fingerprint: Fingerprint,
    restarts: Restarts,
    stderr: Arc<StderrLines>,
}

impl ProcessStage {
    /// Finds the program and checks that the user has allowed it.
    ///
    /// # Errors
    /// Returns an error if the program does not exist or is not allowed.
    pub(super) fn new(config: Process, cx: &BuildContext<'_>) -> Result<Self, StageError> {
        let PreparedProgram { command, fingerprint } = PreparedProgram::new(Process::TYPE, &config, cx)?;
        let fingerprint = fingerprint.with("languages", config.languages.join(","));
        let declaration = config.declaration();
        Ok(Self {
            fingerprint: declaration.fingerprint(fingerprint),
            restarts: Restarts::new(config.max_restarts),
            stderr: Arc::default(),
            config,
            declaration,
            command,
        })
    }
}

impl Stage for ProcessStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(ProcessWorker { stage: self, conversation: None })
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.clone()
    }

    fn close(&self, _: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        self.stderr.close(cx);
        Ok(())
    }
}

struct ProcessWorker<'s> {
    stage: &'s ProcessStage,
    /// The conversation with the process, created when the first rows are sent.
    conversation: Option<Conversation<'s>>,
}

impl Worker for ProcessWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let declaration = &self.stage.declaration;
        let mut outcome = BatchOutcome::new(declaration, batch.files(), batch.chunks());
        let Process { languages, rows, .. } = &self.stage.config;
        let rows = rows_to_process(batch, &mut outcome, languages, *rows, cx)?;
        let rows = within_bytes(rows, declaration.unit, MESSAGE_BYTES, batch, &declaration.reads)?;
        let units: usize = rows.iter().map(|rows| rows.units(declaration.unit).len()).sum();
        cx.count(&format!("{}.rows", cx.stage()), units as u64);
        if units > 0 {
            self.conversation(cx.stage()).exchange(batch, rows, &mut outcome, cx)?;
        }
        outcome.write(batch, cx)
    }

    fn finish(&mut self, cx: &StageContext<'_>) -> Result<(), StageError> {
        self.conversation.iter_mut().for_each(|conversation| conversation.finish(cx));
        Ok(())
    }
}

impl<'s> ProcessWorker<'s> {
    fn conversation(&mut self, name: &str) -> &mut Conversation<'s> {
        let stage = self.stage;
        self.conversation.get_or_insert_with(|| {
            let hello = Encoding::Jsonl.encode(&HostHello::new(name, &stage.config)).unwrap_or_default();
            let start = StartOptions {
                command: &stage.command,
                hello,
                memory: stage.config.memory.0,
                in_flight: stage.config.in_flight,
                timeout: stage.config.timeout(),
                stderr: &stage.stderr,
            };
            Conversation::new(&stage.config, &stage.declaration, start, &stage.restarts)
        })
    }
}
