//! The stage and its workers.

use std::sync::Arc;

use aurora_pipeline::{
    BatchView, BuildContext, CHUNK_STORED, Emitter, FILE_STORED, Fingerprint, Stage, StageConfig, StageContext,
    StageError, StoredValues, ValueRef, Worker,
};

use super::child::StartOptions;
use super::codec::Encoding;
use super::command::{HelperDirectory, ResolvedCommand};
use super::config::Process;
use super::conversation::Conversation;
use super::handshake::HostHello;
use super::restarts::Restarts;
use super::stderr_lines::StderrLines;
use crate::declaration::Declaration;
use crate::exchange::{BatchOutcome, RowUnit, row_sets};
use crate::trust::{Consents, ProgramIdentity, digest_of_inputs};

/// States of files whose content is not indexed in this run.
const WITHOUT_CONTENT: [&str; 3] = ["deleted", "skipped", "touched"];

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
            .with("inputs", blake3::Hash::from_bytes(inputs).to_hex());
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
        let has_content = files_with_content(batch)?;
        let stored = self.restore(batch, &mut outcome, cx)?;
        let file_of = |unit: usize| match declaration.unit {
            RowUnit::File => unit,
            RowUnit::Chunk => batch.chunk_files()[unit] as usize,
        };
        let wanted = |unit: usize| has_content[file_of(unit)] && !stored.get(unit).copied().unwrap_or(false);
        let rows = row_sets(batch, declaration.unit, self.stage.config.rows, wanted);
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
    /// Sets the values that the last run has stored, if they are current. Returns which units have them.
    fn restore(
        &self,
        batch: &BatchView<'_>,
        outcome: &mut BatchOutcome<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Vec<bool>, StageError> {
        let declaration = &self.stage.declaration;
        let column = match declaration.unit {
            RowUnit::File => FILE_STORED,
            RowUnit::Chunk => CHUNK_STORED,
        };
        let Some(stored) = batch.read_optional(column)?.filter(|_| cx.is_current() && declaration.is_stored()) else {
            return Ok(Vec::new());
        };
        for (row, values) in stored.iter().enumerate().filter(|(_, values)| values.is_stored()) {
            for column in &declaration.written {
                outcome.restore(&column.name, row, values.get(column.short_name()).cloned());
            }
        }
        let reused = stored.iter().filter(|values| values.is_stored()).count();
        if reused > 0 {
            cx.count(&format!("{}.reused", cx.stage()), reused as u64);
        }
        Ok(stored.iter().map(StoredValues::is_stored).collect())
    }

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

/// For every file of the batch, whether it has content to work on.
fn files_with_content(batch: &BatchView<'_>) -> Result<Vec<bool>, StageError> {
    let Some(statuses) = batch.optional_values("file.status")? else { return Ok(vec![true; batch.files()]) };
    let has_content = |status: Option<ValueRef<'_>>| match status {
        Some(ValueRef::String(status)) => !WITHOUT_CONTENT.contains(&&*status),
        _ => true,
    };
    Ok(statuses.iter().map(has_content).collect())
}
