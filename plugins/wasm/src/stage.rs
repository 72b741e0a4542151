//! The stage type `wasm` and its workers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use aurora_pipeline::{BatchView, Fingerprint, Stage, StageContext, StageError, Worker};
use aurora_plugins::declaration::Declaration;
use aurora_plugins::exchange::{BatchOutcome, Request, RowSet, rows_to_process};

use crate::call::{Call, CallError};
use crate::convert::{batch_of, response_of};

use crate::interface::Settings;
use crate::module::{Module, ModuleOptions};

/// Number of failed calls after which the stage stops calling the module, if each call consumed all its fuel. Other
/// failed calls count less.
const MAX_FAILED_CALLS: u64 = 20;
/// The minimum cost of a failed call is the fuel limit divided by this number, because starting an instance also takes
/// time.
const MIN_COST_DIVISOR: u64 = 100;
/// Maximum number of lines that the stage may log in one run.
const MAX_LINES: u64 = 200;

/// Reason for not processing the remaining rows.
const TOO_MANY_FAILURES: &str = "gave up on the module after too many failed calls";

/// A stage that runs a WebAssembly component.
pub(crate) struct WasmStage {
    /// Content of the module file; empty after the module has been compiled.
    bytes: Mutex<Vec<u8>>,
    options: ModuleOptions,
    languages: Vec<String>,
    /// Maximum number of units in one call.
    rows: usize,
    module: OnceLock<Result<Module, String>>,
    declaration: Declaration,
    settings: Settings,
    fingerprint: Fingerprint,
    /// Amount of fuel that failed calls may still consume before the stage stops calling the module.
    fuel_for_failures: AtomicU64,
    lines: AtomicU64,
}

impl WasmStage {
    pub(crate) fn new(
        bytes: Vec<u8>,
        options: ModuleOptions,
        languages: Vec<String>,
        rows: usize,
        declaration: Declaration,
        settings: Settings,
        fingerprint: Fingerprint,
    ) -> Self {
        let fuel_for_failures = AtomicU64::new(options.limits.fuel.saturating_mul(MAX_FAILED_CALLS));
        Self {
            bytes: Mutex::new(bytes),
            options,
            languages,
            rows,
            module: OnceLock::new(),
            declaration,
            settings,
            fingerprint,
            fuel_for_failures,
            lines: AtomicU64::new(0),
        }
    }

    /// Returns the compiled module. The first call compiles it, so a run without rows does not compile the module.
    fn module(&self, cx: &StageContext<'_>) -> Result<&Module, StageError> {
        let compiled = self.module.get_or_init(|| {
            let bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
            // wasmtime compiles the functions of the module on all threads of the run.
            cx.install(|| Module::compile(&bytes, &self.options))
        });
        compiled.as_ref().map_err(|message| StageError::new(message.clone()))
    }

    fn has_too_many_failures(&self) -> bool {
        self.fuel_for_failures.load(Ordering::Relaxed) == 0
    }

    fn count_failure(&self, fuel_left: u64) {
        let fuel = self.options.limits.fuel;
        let counted = fuel.saturating_sub(fuel_left).max(fuel / MIN_COST_DIVISOR).max(1);
        // The update cannot fail, because the closure always returns a value.
        let _ = self
            .fuel_for_failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(counted)));
    }

    fn log(&self, line: &str, cx: &StageContext<'_>) {
        match self.lines.fetch_add(1, Ordering::Relaxed) {
            0..MAX_LINES => cx.log(line),
            MAX_LINES => cx.log("(further lines of this stage are not shown)"),
            _ => {}
        }
    }
}

impl Stage for WasmStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, cx: &StageContext<'_>| self.process(batch, cx))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.clone()
    }
}

impl WasmStage {
    /// Processes one batch. Every call uses a new instance, so that the answer does not depend on earlier rows.
    fn process(&self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut outcome = BatchOutcome::new(&self.declaration, batch.files(), batch.chunks());
        for rows in rows_to_process(batch, &mut outcome, &self.languages, self.rows, cx)? {
            cx.count(&format!("{}.rows", cx.stage()), rows.units(outcome.unit()).len() as u64);
            self.answer(batch, rows, &mut outcome, cx)?;
        }
        outcome.write(batch, cx)
    }

    /// Processes rows in one call. If the call fails, processes one unit per call, because creating an instance is
    /// cheap. If failed calls have consumed too much fuel ([`MAX_FAILED_CALLS`]), all remaining rows fail.
    fn answer(
        &self,
        batch: &BatchView<'_>,
        rows: RowSet,
        outcome: &mut BatchOutcome<'_>,
        cx: &StageContext<'_>,
    ) -> Result<(), StageError> {
        let unit = outcome.unit();
        let mut waiting = vec![rows];
        while let Some(rows) = waiting.pop() {
            if self.has_too_many_failures() {
                outcome.fail(rows.units(unit), TOO_MANY_FAILURES);
                continue;
            }
            let answer = self.call(batch, &rows, outcome, cx)?;
            if cx.cancelled() {
                return Err(StageError::Stopped);
            }
            let Err(error) = answer else { continue };
            if let CallError::Refused(message) = error {
                return Err(StageError::new(message));
            }
            if let Some(pieces) = rows.pieces(unit, usize::MAX, batch.chunk_files()) {
                waiting.extend(pieces.into_iter().rev());
                continue;
            }
            match error {
                CallError::Interrupted(reason) => outcome.fail(rows.units(unit), reason),
                CallError::Refused(reason) | CallError::Failed(reason) => outcome.fail(rows.units(unit), &reason),
            }
        }
        Ok(())
    }

    /// Passes rows to a new instance and adds its answer to `outcome`. The inner error is the reason why there is no
    /// valid answer.
    fn call(
        &self,
        batch: &BatchView<'_>,
        rows: &RowSet,
        outcome: &mut BatchOutcome<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Result<(), CallError>, StageError> {
        let request = Request::new(batch, rows, &self.declaration.reads)?;
        let settings = Settings { name: cx.stage().to_owned(), ..self.settings.clone() };
        let module = self.module(cx)?;
        let mut call = Call::new(module);
        let output = module.interruptible(cx, || call.run(settings, batch_of(&request)));
        for line in call.take_lines() {
            self.log(&line, cx);
        }
        let answer = output.and_then(|output| {
            let response = response_of(output, &self.declaration);
            let taken = response.and_then(|response| outcome.take(rows, response, batch.chunk_files()));
            taken.map_err(CallError::Failed)
        });
        match &answer {
            Ok(()) => {}
            // An interrupted call has used up its time, so it counts as if it had consumed all its fuel.
            Err(CallError::Interrupted(_)) => self.count_failure(0),
            Err(_) => self.count_failure(call.fuel_left()),
        }
        Ok(answer)
    }
}
