//! The loop of one worker: receives a batch, processes it, and forwards it.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::access::StageKind;
use crate::assembly::BoundStage;
use crate::batch::Batch;
use crate::context::{RunState, StageContext};
use crate::emitter::{Emitter, OutputPort};
use crate::in_flight::{Finished, InFlight, Message, StepOutput, Work};
use crate::probe::StageOutput;
use crate::progress::StageMeter;
use crate::queue::{QueueReceiver, ReorderBuffer};
use crate::report::RunError;
use crate::stage::Worker;
use crate::stage_error::StageError;
use crate::view::{BatchRows, BatchView};

/// Maximum number of sequence numbers that a worker collects from batches without rows before it forwards the numbers.
const MAX_EMPTIED: usize = 256;

/// The batches of a sink, in the order in which the source emitted them.
pub(crate) type Order<'r> = ReorderBuffer<Work<'r>>;

/// One worker of a stage, which runs on its own thread.
pub(crate) struct WorkerTask<'r> {
    pub(crate) run: &'r RunState,
    pub(crate) stage: &'r BoundStage,
    pub(crate) meter: &'r StageMeter,
    /// Input queue of the stage; `None` for a source.
    pub(crate) input: Option<QueueReceiver<'r, Message<'r>>>,
    /// Batches that a sink has received but cannot process yet, because an earlier batch has not arrived; `None` for
    /// other stages.
    pub(crate) order: Option<Arc<Mutex<Order<'r>>>>,
    pub(crate) output: StepOutput<'r>,
    /// Number of workers of the stage that have not ended.
    pub(crate) live_workers: Arc<AtomicUsize>,
}

impl<'r> WorkerTask<'r> {
    /// Runs the worker to its end. The last worker of a stage also closes the stage.
    pub(crate) fn run(self) {
        self.work();
        self.meter.cpu.add(thread_cpu_time());
    }

    fn work(&self) {
        let cx = StageContext { stage: &self.stage.part.name, run: self.run };
        match &self.input {
            None => self.guard(|| self.produce(&cx)),
            Some(input) => self.guard(|| self.process_all(input, &cx)),
        }
        let is_last = self.live_workers.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && !self.run.has_failed() {
            self.guard(|| self.close(&cx));
        }
    }

    fn produce(&self, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut worker = self.stage.part.stage.open();
        let since = Instant::now();
        let result = self.emitting(|out| worker.produce(out, cx));
        let waited = self.meter.blocked.total() + self.meter.memory_wait.total();
        self.meter.busy.add(since.elapsed().saturating_sub(waited));
        self.meter.was_active(since);
        match result {
            Err(StageError::Stopped) if self.run.stopping() => {}
            other => other?,
        }
        if self.run.has_failed() { Ok(()) } else { worker.finish(cx) }
    }

    fn process_all(&self, input: &QueueReceiver<'r, Message<'r>>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut worker = self.stage.part.stage.open();
        let order = || self.order.as_ref().map(|order| order.lock().unwrap_or_else(PoisonError::into_inner));
        let mut emptied = Vec::new();
        // Batches that must wait because the memory budget is exceeded, by sequence number.
        let mut deferred: BTreeMap<u64, Work<'r>> = BTreeMap::new();
        loop {
            let message = if deferred.is_empty() {
                match input.take(|| self.output.forward_emptied(&mut emptied, self.meter)) {
                    Some(message) => message,
                    None => break,
                }
            } else {
                // Sinks may be waiting for these sequence numbers.
                self.output.forward_emptied(&mut emptied, self.meter);
                input.poll().unwrap_or(Message::Emptied(Vec::new()))
            };
            if self.run.has_failed() {
                return Ok(());
            }
            match (message, order()) {
                (Message::Batch(work), None) => drop(deferred.insert(work.sequence(), work)),
                (Message::Batch(work), Some(mut order)) => order.put(work.sequence(), work),
                (Message::Emptied(numbers), mut order) => {
                    order.iter_mut().for_each(|order| numbers.iter().for_each(|number| order.skip(*number)));
                    emptied.extend(numbers);
                }
            }
            while let Some(mut order) = order() {
                let Some(work) = order.take() else { break };
                self.process(worker.as_mut(), work, Some(order), &mut emptied, cx)?;
            }
            while let Some(work) = deferred.first_entry().filter(|first| self.may_process(*first.key())) {
                self.process(worker.as_mut(), work.remove(), None, &mut emptied, cx)?;
            }
            if emptied.len() >= MAX_EMPTIED {
                self.output.forward_emptied(&mut emptied, self.meter);
            }
        }
        self.output.forward_emptied(&mut emptied, self.meter);
        if self.run.has_failed() { Ok(()) } else { worker.finish(cx) }
    }

    /// Whether a batch may be processed now. While memory use exceeds the budget, a stage that adds chunks processes
    /// only the oldest batch in flight, because that batch is the first to release its memory.
    fn may_process(&self, sequence: u64) -> bool {
        !self.stage.adds_chunks || self.run.stopping() || self.run.budget.may_grow(sequence)
    }

    /// Processes a batch and forwards it. If no rows are left, adds the sequence number of the batch to `emptied`. A
    /// sink admits the batch before it unlocks `order`.
    fn process(
        &self,
        worker: &mut (dyn Worker + '_),
        work: Work<'r>,
        order: Option<MutexGuard<'_, Order<'r>>>,
        emptied: &mut Vec<u64>,
        cx: &StageContext<'_>,
    ) -> Result<(), StageError> {
        match work {
            Work::Exclusive(mut in_flight) => {
                let files = in_flight.batch.files.rows();
                if self.drops_batch(self.call_worker(worker, BatchRows::Exclusive(&mut in_flight.batch), order, cx))? {
                    emptied.push(in_flight.sequence);
                    return Ok(());
                }
                let kept = in_flight.batch.files.rows();
                self.run.files_done.fetch_add((files - kept) as u64, Ordering::Relaxed);
                self.meter.count(files, kept, in_flight.batch.chunks.rows());
                if kept + in_flight.batch.chunks.rows() == 0 {
                    emptied.push(in_flight.sequence);
                } else {
                    self.output.forward_emptied(emptied, self.meter);
                    self.output.forward(in_flight, self.meter);
                }
            }
            Work::Shared(shared) => {
                let base = shared.batch();
                let mut staged = base.without_columns();
                let rows = BatchRows::Shared { base, staged: &mut staged };
                if self.drops_batch(self.call_worker(worker, rows, order, cx))? {
                    shared.mark_dropped();
                }
                self.meter.count(base.files.rows(), base.files.rows(), base.chunks.rows());
                match shared.finish(staged) {
                    Some(Finished::Merged(in_flight)) => self.output.forward(in_flight, self.meter),
                    Some(Finished::Dropped(sequence)) => emptied.push(sequence),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Whether a transform has dropped its batch because the run is stopping. A sink may not drop a batch, because all
    /// sinks must receive the same batches.
    fn drops_batch(&self, result: Result<(), StageError>) -> Result<bool, StageError> {
        match result {
            Err(StageError::Stopped) if self.stage.part.access.kind == StageKind::Transform && self.run.stopping() => {
                Ok(true)
            }
            other => other.map(|()| false),
        }
    }

    fn call_worker(
        &self,
        worker: &mut (dyn Worker + '_),
        rows: BatchRows<'_>,
        order: Option<MutexGuard<'_, Order<'r>>>,
        cx: &StageContext<'_>,
    ) -> Result<(), StageError> {
        let mut view = BatchView::new(rows, &self.stage.permissions);
        if view.is_empty() {
            return Ok(());
        }
        let since = Instant::now();
        if let Some(order) = order {
            self.meter.at_work(|| worker.admit(&mut view, cx))?;
            drop(order);
        }
        self.meter.at_work(|| worker.process(&mut view, cx))?;
        view.conclude()?;
        if let Some(probe) = &self.run.probe {
            probe.on_output(&self.stage.part.name, &view.output(since.elapsed()));
        }
        Ok(())
    }

    fn close(&self, cx: &StageContext<'_>) -> Result<(), StageError> {
        self.emitting(|out| self.meter.at_work(|| self.stage.part.stage.close(out, cx)))
    }

    fn emitting<R>(&self, work: impl FnOnce(&mut Emitter<'_>) -> R) -> R {
        let mut port = TaskPort { task: self, since: Instant::now() };
        work(&mut Emitter::new(&self.stage.permissions, &self.stage.required, &mut port))
    }

    /// Runs `work`. An error or a panic in `work` ends the run.
    fn guard(&self, work: impl FnOnce() -> Result<(), StageError>) {
        let stage = || self.stage.part.name.clone();
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => {}
            Ok(Err(StageError::Stopped)) if self.run.has_failed() => {}
            Ok(Err(error)) => self.run.fail(RunError::Stage { stage: stage(), error }),
            Err(panic) => {
                self.run.fail(RunError::Panicked { stage: stage(), message: panic_message(panic.as_ref()) });
            }
        }
    }
}

/// The output port of a worker.
struct TaskPort<'t, 'r> {
    task: &'t WorkerTask<'r>,
    /// Time at which the stage began to create the next batch.
    since: Instant,
}

impl OutputPort for TaskPort<'_, '_> {
    fn wait_while(&mut self, condition: &mut dyn FnMut(u64) -> bool) {
        let WorkerTask { run, meter, .. } = self.task;
        let began = Instant::now();
        while !run.stopping() && condition(run.files_done.load(Ordering::Relaxed)) {
            run.budget.wait_for_release();
        }
        let waited = began.elapsed();
        meter.blocked.add(waited);
        self.since += waited;
    }

    fn send(&mut self, batch: Batch) -> Result<(), StageError> {
        let WorkerTask { run, stage, meter, output, .. } = self.task;
        // Batches that a stage emits when it closes are accepted even if the run has been cancelled.
        let stop = || if stage.part.access.kind == StageKind::Source { run.stopping() } else { run.has_failed() };
        if stop() {
            return Err(StageError::Stopped);
        }
        if let Some(probe) = &run.probe {
            probe.on_output(&stage.part.name, &StageOutput::emitted(&batch, self.since.elapsed()));
        }
        let (reservation, waited) = run.budget.admit(batch.bytes(), stop);
        meter.memory_wait.add(waited);
        let mut reservation = reservation.ok_or(StageError::Stopped)?;
        let sequence = run.next_sequence.fetch_add(1, Ordering::Relaxed);
        reservation.assign(sequence);
        meter.count(0, batch.files.rows(), batch.chunks.rows());
        output.forward(InFlight { sequence, batch, reservation }, meter);
        self.since = Instant::now();
        Ok(())
    }
}

/// CPU time of the current thread since its start; zero if the system does not report it.
#[cfg(unix)]
fn thread_cpu_time() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

#[cfg(not(unix))]
fn thread_cpu_time() -> Duration {
    Duration::ZERO
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
