//! The executor: runs a pipeline on one thread per worker.
//!
//! Batches stream through the steps of the plan. At any time a batch is in a queue, with a worker, in the reorder
//! buffer of a sink, or shared by the stages of one step. If a batch has no rows, or a transform drops a batch because
//! the run is stopping, only the sequence number of the batch is forwarded. Sinks need the number, because they process
//! batches in sequence.
//!
//! Queues are bounded, so a slow stage slows down the stages before it. After a stage has failed, workers stop at their
//! next batch. A queue whose workers have all stopped drops its items, so that no sender waits forever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, Builder};
use std::time::Instant;

use crate::access::StageKind;
use crate::assembly::{BoundStage, Pipeline};
use crate::budget::MemoryBudget;
use crate::context::{CancelToken, RunState};
use crate::in_flight::{Message, StepOutput};
use crate::probe::Probe;
use crate::progress::{Observer, Progress, Silent, StageLoad, StageMeter};
use crate::queue::{QueueSender, ReorderBuffer, queue};
use crate::report::{Outcome, RunError, RunReport, StageReport, bottleneck};
use crate::stage_log::StageLog;
use crate::worker_task::{WorkerTask, panic_message};

/// Options of a run.
pub struct RunOptions<'a> {
    /// Number of threads; overrides `[run] jobs`.
    pub jobs: Option<usize>,
    /// Memory budget in bytes; overrides `[run] memory`.
    pub memory: Option<u64>,
    /// Token that asks the run to stop.
    pub cancel: CancelToken,
    /// Names of the stages whose stored output from the last run may be reused.
    pub current: BTreeSet<String>,
    /// Text that each stage saved in the last run, by stage name.
    pub kept: BTreeMap<String, String>,
    /// Receives the progress of the run.
    pub observer: &'a dyn Observer,
    /// Observes the output of every stage for every batch.
    pub probe: Option<Arc<dyn Probe>>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            memory: None,
            cancel: CancelToken::new(),
            current: BTreeSet::new(),
            kept: BTreeMap::new(),
            observer: &Silent,
            probe: None,
        }
    }
}

impl Pipeline {
    /// Runs the pipeline to its end. All its threads have ended when the method returns.
    ///
    /// # Errors
    /// Returns the first error of a stage that failed or panicked. No stage is closed after a failure.
    pub fn run(self, options: RunOptions<'_>) -> Result<RunReport, RunError> {
        let jobs = options.jobs.unwrap_or_else(|| self.run.threads()).max(1);
        let memory = options.memory.unwrap_or(self.run.memory);
        let meter = |stage: &BoundStage| StageMeter {
            workers: workers(stage, jobs),
            single_worker: workers(stage, 2) == 1,
            ..StageMeter::default()
        };
        let run = RunState {
            cancel: options.cancel,
            jobs,
            batch_files: self.run.batch_files,
            budget: MemoryBudget::new(memory),
            fingerprints: self.fingerprints(),
            meters: self.stages.iter().map(meter).collect(),
            report: Mutex::default(),
            started: Instant::now(),
            next_sequence: AtomicU64::new(0),
            files_total: OnceLock::new(),
            files_done: AtomicU64::new(0),
            chunks_done: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            error: Mutex::default(),
            current: options.current,
            kept: options.kept,
            log: StageLog::default(),
            probe: options.probe,
            pool: OnceLock::new(),
        };
        execute(&self, &run, options.observer);
        options.observer.on_progress(&progress(&self, &run));
        run.log.deliver(options.observer);
        let error = run.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or_else(|| Ok(report(&self, &run)), Err)
    }
}

fn workers(stage: &BoundStage, jobs: usize) -> usize {
    match stage.part.access.kind {
        StageKind::Sink if stage.part.access.in_parallel => jobs,
        StageKind::Source | StageKind::Sink => 1,
        StageKind::Transform => stage.part.workers.unwrap_or(jobs).max(1),
    }
}

/// Runs the workers of all stages and waits until they end.
fn execute(pipeline: &Pipeline, run: &RunState, observer: &dyn Observer) {
    let done = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let mut tasks = Vec::new();
        let mut next: Vec<QueueSender<'_, Message<'_>>> = Vec::new();
        for step in pipeline.steps.iter().rev() {
            let output = StepOutput { run, step, next: std::mem::take(&mut next) };
            for index in &step.stages {
                let (stage, meter) = (&pipeline.stages[*index], &run.meters[*index]);
                let input = (stage.part.access.kind != StageKind::Source).then(|| {
                    let (sender, receiver) = queue(pipeline.run.queue_batches, meter);
                    next.push(sender);
                    receiver
                });
                let live_workers = Arc::new(AtomicUsize::new(meter.workers));
                let order =
                    (stage.part.access.kind == StageKind::Sink).then(|| Arc::new(Mutex::new(ReorderBuffer::new())));
                tasks.extend((0..meter.workers).map(|_| WorkerTask {
                    run,
                    stage,
                    meter,
                    input: input.clone(),
                    order: order.clone(),
                    output: output.clone(),
                    live_workers: Arc::clone(&live_workers),
                }));
            }
        }
        // The source is spawned last: if a thread cannot be spawned, nothing has been emitted yet.
        let mut threads = Vec::with_capacity(tasks.len());
        for task in tasks {
            let name = &task.stage.part.name;
            match Builder::new().name(format!("aurora-{name}")).spawn_scoped(scope, move || task.run()) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    run.fail(RunError::Thread { stage: name.clone(), source });
                    break;
                }
            }
        }
        if let Some(interval) = observer.interval() {
            let watch = Builder::new().name("aurora-progress".to_owned());
            let done = &done;
            // If this thread cannot be spawned, the run continues without progress reports.
            let _ = watch.spawn_scoped(scope, move || {
                let mut over = done.0.lock().unwrap_or_else(PoisonError::into_inner);
                while !*over {
                    over = done.1.wait_timeout(over, interval).unwrap_or_else(PoisonError::into_inner).0;
                    if !*over {
                        observer.on_progress(&progress(pipeline, run));
                        run.log.deliver(observer);
                    }
                }
            });
        }
        for thread in threads {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            if let Err(panic) = thread.join() {
                run.fail(RunError::Panicked { stage: name, message: panic_message(panic.as_ref()) });
            }
        }
        *done.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        done.1.notify_all();
    });
}

fn progress(pipeline: &Pipeline, run: &RunState) -> Progress {
    let load = |(stage, meter): (&BoundStage, &StageMeter)| StageLoad {
        name: stage.part.name.clone(),
        workers: meter.workers,
        busy: meter.at_work.load(Ordering::Relaxed),
        queued: meter.queued.load(Ordering::Relaxed),
        batches: meter.batches.load(Ordering::Relaxed),
    };
    Progress {
        files_total: run.files_total.get().copied(),
        files_done: run.files_done.load(Ordering::Relaxed),
        chunks: run.chunks_done.load(Ordering::Relaxed),
        bytes: run.budget.held(),
        stages: pipeline.stages.iter().zip(&run.meters).map(load).collect(),
        elapsed: run.started.elapsed(),
    }
}

fn report(pipeline: &Pipeline, run: &RunState) -> RunReport {
    let elapsed = run.started.elapsed();
    let stages: Vec<StageReport> = pipeline
        .stages
        .iter()
        .zip(&run.meters)
        .map(|(stage, meter)| meter.report(&stage.part.name, run.started, elapsed))
        .collect();
    let reported = std::mem::take(&mut *run.report.lock().unwrap_or_else(PoisonError::into_inner));
    RunReport {
        outcome: if run.cancel.is_cancelled() { Outcome::Cancelled } else { Outcome::Completed },
        elapsed,
        bottleneck: bottleneck(&stages),
        stages,
        files: run.files_done.load(Ordering::Relaxed),
        chunks: run.chunks_done.load(Ordering::Relaxed),
        memory_limit: run.budget.limit(),
        memory_peak: run.budget.peak(),
        ..reported
    }
}
