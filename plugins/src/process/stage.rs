//! The stage and its workers.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Emitter, Fingerprint, Problems, ProgramSpec, Stage, StageConfig, StageContext,
    StageError, Worker,
};

use super::child::StartOptions;
use super::codec::Encoding;
use super::command::{HelperDirectory, ResolvedCommand};
use super::config::{MOST_IN_FLIGHT, MOST_ROWS, Process};
use super::conversation::Conversation;
use super::handshake::HostHello;
use super::restarts::Restarts;
use super::stderr_lines::StderrLines;
use crate::declaration::{self, Declaration};
use crate::exchange::{BatchOutcome, rows_to_process};
use crate::trust::{Consents, ProgramIdentity, digest_of_inputs};

impl StageConfig for Process {
    const TYPE: &'static str = "process";

    fn access(&self) -> Access {
        self.declaration().access()
    }

    fn program(&self) -> Option<ProgramSpec> {
        Some(ProgramSpec { command: self.command.clone(), files: self.files.clone(), environment: self.env.clone() })
    }

    fn check(&self, problems: &mut Problems<'_>) {
        if self.command.first().is_none_or(|program| program.is_empty()) {
            problems.error("command", "the stage has no command").help("command = [\"python3\", \"tools/owner.py\"]");
        }
        if self.command.iter().any(|part| part.contains('\0')) {
            problems.error("command", "an argument contains a NUL character");
        }
        declaration::check(&self.reads, &self.writes, self.drops, problems);
        for name in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                problems
                    .error("env", format!("`{name}` is not the name of an environment variable"))
                    .help("name the variable; its value is taken from the environment of the run");
            }
        }
        if self.timeout == 0 {
            problems.error("timeout", "`timeout` must be at least 1 second");
        }
        if !(1..=MOST_IN_FLIGHT).contains(&self.in_flight) {
            problems.error("in_flight", format!("`in_flight` must be from 1 to {MOST_IN_FLIGHT}"));
        }
        if !(1..=MOST_ROWS).contains(&self.rows) {
            problems.error("rows", format!("`rows` must be from 1 to {MOST_ROWS}"));
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ProcessStage::new(self, cx)?))
    }
}

/// A stage that is a program.
pub(super) struct ProcessStage {
    config: Process,
    declaration: Declaration,
    command: ResolvedCommand,
    fingerprint: Fingerprint,
    restarts: Restarts,
    stderr: Arc<StderrLines>,
}

impl ProcessStage {
    /// Finds the program and makes sure that the user has allowed it.
    ///
    /// # Errors
    /// When there is no such program, or it is not allowed.
    pub(super) fn new(config: Process, cx: &BuildContext<'_>) -> Result<Self, StageError> {
        let spec = config.program().unwrap_or_default();
        let identity = ProgramIdentity::of(&spec, cx.root).map_err(StageError::from_error)?;
        let is_allowed = cx.services.get::<Consents>().is_some_and(|consents| consents.allow(cx.root, &identity));
        if !is_allowed {
            return Err(StageError::new(format!("the program `{}` is not allowed to run", spec.command.join(" "))));
        }
        let inputs = digest_of_inputs(&config.inputs, cx.root).map_err(StageError::from_error)?;
        let helper = cx.services.get::<HelperDirectory>();
        let command = ResolvedCommand::new(&config, cx.root, helper.as_deref()).map_err(StageError::from_error)?;
        let declaration = config.declaration();
        let settings = serde_json::to_string(&config.config).unwrap_or_default();
        let fingerprint = Fingerprint::new(Process::TYPE, 1)
            .with("program", identity.hex())
            .with("version", &config.version)
            .with("config", settings)
            .with("inputs", blake3::Hash::from_bytes(inputs).to_hex())
            .with("languages", config.languages.join(","));
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
    /// Begins with the first rows.
    conversation: Option<Conversation<'s>>,
}

impl Worker for ProcessWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let declaration = &self.stage.declaration;
        let mut outcome = BatchOutcome::new(declaration, batch.files(), batch.chunks());
        let Process { languages, rows, .. } = &self.stage.config;
        let rows = rows_to_process(batch, &mut outcome, languages, *rows, cx)?;
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
