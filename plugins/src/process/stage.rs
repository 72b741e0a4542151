//! The stage and its workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aurora_pipeline::{
    BatchView, BuildContext, Emitter, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};

use super::child::StartOptions;
use super::codec::Encoding;
use super::command::{HelperDirectory, ResolvedCommand};
use super::config::Process;
use super::conversation::Conversation;
use super::handshake::HostHello;
use super::stderr_lines::StderrLines;
use crate::declaration::Declaration;
use crate::exchange::{BatchOutcome, rows_to_process};
use crate::trust::{Consents, ProgramIdentity, digest_of_inputs};

/// A stage that is a program.
pub(super) struct ProcessStage {
    config: Process,
    declaration: Declaration,
    command: ResolvedCommand,
    fingerprint: Fingerprint,
    starts_left: AtomicU32,
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
            .with("inputs", blake3::Hash::from_bytes(inputs).to_hex());
        Ok(Self {
            fingerprint: declaration.fingerprint(fingerprint),
            // Every worker starts one process; the others are restarts.
            starts_left: AtomicU32::new(config.max_restarts),
            stderr: Arc::default(),
            config,
            declaration,
            command,
        })
    }
}

impl Stage for ProcessStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        self.starts_left.fetch_add(1, Ordering::Relaxed);
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
        let rows = rows_to_process(batch, &mut outcome, self.stage.config.rows, cx)?;
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
                stderr: &stage.stderr,
            };
            Conversation::new(&stage.config, &stage.declaration, start, &stage.starts_left)
        })
    }
}
