//! The executor: batches stream through the steps, each stage with its own workers.
//!
//! A batch is always in one place: in a queue, with a worker, in a sink's reorder buffer, or shared by the stages
//! of one step. One that no row is left of goes no further, nor does one that a transform gives up because the run is to
//! stop: sinks, which take batches in order, are told its number. Queues
//! are bounded. Once a stage has failed, workers leave at their next batch, and a queue
//! without workers takes and drops whatever comes, so nothing waits for ever.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Instant;

use crate::access::Kind;
use crate::assembly::{Assembled, Pipeline, Step};
use crate::batch::{Batch, Staged};
use crate::budget::Ticket;
use crate::context::{CancelToken, RunState, StageContext};
use crate::emitter::{Emitter, Port};
use crate::progress::{Observer, Progress, Silent, StageLoad, StageMeter};
use crate::queue::{Inbox, Outbox, Reorder, Soon, queue};
use crate::report::{Outcome, RunError, RunReport, StageReport, Tallies};
use crate::stage::{StageError, Worker};
use crate::view::{BatchView, Rows};

/// What a caller may say about a run.
pub struct RunOptions<'a> {
    /// Threads, in place of `[run] jobs`.
    pub jobs: Option<usize>,
    /// Memory budget in bytes, in place of `[run] memory`.
    pub memory: Option<u64>,
    /// The switch which stops the run.
    pub cancel: CancelToken,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self { jobs: None, memory: None, cancel: CancelToken::new(), observer: &Silent }
    }
}

impl Pipeline {
    /// Runs the pipeline to its end, on threads that are gone when it returns.
    ///
    /// # Errors
    /// The first stage which failed or panicked. No stage is closed after that.
    pub fn run(self, options: RunOptions<'_>) -> Result<RunReport, RunError> {
        let jobs = options.jobs.unwrap_or_else(|| self.run.threads()).max(1);
        let memory = options.memory.unwrap_or(self.run.memory);
        let mut run = RunState::new(options.cancel, jobs, self.run.batch_files, memory);
        run.fingerprints = self.fingerprints();
        run.meters = self
            .stages
            .iter()
            .map(|stage| StageMeter { workers: workers(stage, jobs), ..StageMeter::default() })
            .collect();
        execute(&self, &run, options.observer);
        options.observer.on_progress(&progress(&self, &run));
        match run.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(report(&self, &run)),
        }
    }
}

fn workers(stage: &Assembled, jobs: usize) -> usize {
    match stage.kind {
        Kind::Source | Kind::Sink => 1,
        Kind::Transform => stage.workers.unwrap_or(jobs).max(1),
    }
}

/// A batch on its way.
struct Flight<'r> {
    sequence: u64,
    batch: Batch,
    ticket: Ticket<'r>,
}

/// A batch which the stages of one step hold side by side.
struct Side<'r> {
    flight: Flight<'r>,
    staged: Mutex<Vec<Staged>>,
    /// A stage has given it up.
    given_up: AtomicBool,
}

enum Load<'r> {
    Whole(Flight<'r>),
    Shared(Arc<Side<'r>>),
}

impl Load<'_> {
    fn sequence(&self) -> u64 {
        match self {
            Self::Whole(flight) => flight.sequence,
            Self::Shared(side) => side.flight.sequence,
        }
    }
}

enum Item<'r> {
    Batch(Load<'r>),
    /// The numbers of batches that no row is left of.
    Emptied(Vec<u64>),
}

/// Numbers of emptied batches that a worker gathers before it passes them on.
const EMPTIED: usize = 256;

/// The way from one step to the next.
#[derive(Clone)]
struct Outlet<'r> {
    run: &'r RunState,
    step: &'r Step,
    next: Vec<Outbox<'r, Item<'r>>>,
}

impl<'r> Outlet<'r> {
    fn forward(&self, mut flight: Flight<'r>, producer: &StageMeter) {
        for name in &self.step.drops {
            flight.batch.files.remove(name);
            flight.batch.chunks.remove(name);
        }
        flight.ticket.resize(flight.batch.bytes());
        match self.next.as_slice() {
            [] => {
                self.run.files_done.fetch_add(flight.batch.files.rows() as u64, Ordering::Relaxed);
                self.run.chunks_done.fetch_add(flight.batch.chunks.rows() as u64, Ordering::Relaxed);
            }
            [only] => only.put(Item::Batch(Load::Whole(flight)), producer),
            several => {
                let side = Arc::new(Side { flight, staged: Mutex::default(), given_up: AtomicBool::new(false) });
                let shares: Vec<Arc<Side<'r>>> = several.iter().map(|_| Arc::clone(&side)).collect();
                drop(side);
                for (outbox, share) in several.iter().zip(shares) {
                    outbox.put(Item::Batch(Load::Shared(share)), producer);
                }
            }
        }
    }

    /// Passes on the numbers of emptied batches.
    fn forward_emptied(&self, emptied: &mut Vec<u64>, producer: &StageMeter) {
        if emptied.is_empty() {
            return;
        }
        let emptied = std::mem::take(emptied);
        self.next.iter().for_each(|next| next.put(Item::Emptied(emptied.clone()), producer));
    }
}

/// One worker's place.
struct Seat<'r> {
    run: &'r RunState,
    stage: &'r Assembled,
    meter: &'r StageMeter,
    inbox: Option<Inbox<'r, Item<'r>>>,
    outlet: Outlet<'r>,
    /// Workers of the stage which have not finished.
    crew: Arc<AtomicUsize>,
}

fn execute(pipeline: &Pipeline, run: &RunState, observer: &dyn Observer) {
    let done = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let mut seats = Vec::new();
        let mut next: Vec<Outbox<'_, Item<'_>>> = Vec::new();
        for step in pipeline.steps.iter().rev() {
            let outlet = Outlet { run, step, next: std::mem::take(&mut next) };
            for index in &step.stages {
                let (stage, meter) = (&pipeline.stages[*index], &run.meters[*index]);
                let inbox = (stage.kind != Kind::Source).then(|| {
                    let (outbox, inbox) = queue(pipeline.run.queue_batches, meter);
                    next.push(outbox);
                    inbox
                });
                let crew = Arc::new(AtomicUsize::new(meter.workers));
                seats.extend((0..meter.workers).map(|_| Seat {
                    run,
                    stage,
                    meter,
                    inbox: inbox.clone(),
                    outlet: outlet.clone(),
                    crew: Arc::clone(&crew),
                }));
            }
        }
        // The source comes last: when a thread cannot be had, nothing has been emitted.
        let mut threads = Vec::with_capacity(seats.len());
        for seat in seats {
            let name = &seat.stage.name;
            match Builder::new().name(format!("aurora-{name}")).spawn_scoped(scope, move || seat.work()) {
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
            // Without a thread for it there is no progress to see, and no harm done.
            let _ = watch.spawn_scoped(scope, move || {
                let mut over = done.0.lock().unwrap_or_else(PoisonError::into_inner);
                while !*over {
                    over = done.1.wait_timeout(over, interval).unwrap_or_else(PoisonError::into_inner).0;
                    if !*over {
                        observer.on_progress(&progress(pipeline, run));
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

impl<'r> Seat<'r> {
    fn work(self) {
        let cx = StageContext { stage: &self.stage.name, run: self.run };
        match &self.inbox {
            None => self.guard(|| self.produce(&cx)),
            Some(inbox) => self.guard(|| self.process_all(inbox, &cx)),
        }
        let last = self.crew.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && !self.run.has_failed() {
            self.guard(|| self.close(&cx));
        }
    }

    fn produce(&self, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut worker = self.stage.stage.open();
        let since = Instant::now();
        let result = self.emitting(|out| worker.produce(out, cx));
        let waited = self.meter.blocked.total() + self.meter.memory_wait.total();
        self.meter.busy.add(since.elapsed().saturating_sub(waited));
        match result {
            Err(StageError::Stopped) if self.run.stopping() => {}
            other => other?,
        }
        if self.run.has_failed() { Ok(()) } else { worker.finish(cx) }
    }

    fn process_all(&self, inbox: &Inbox<'r, Item<'r>>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut worker = self.stage.stage.open();
        let mut order = (self.stage.kind == Kind::Sink).then(Reorder::new);
        let mut emptied = Vec::new();
        let mut parked: BTreeMap<u64, Load<'r>> = BTreeMap::new();
        loop {
            let item = if parked.is_empty() {
                match inbox.take(|| self.outlet.forward_emptied(&mut emptied, self.meter)) {
                    Some(item) => item,
                    None => break,
                }
            } else {
                // Nothing that others may wait for is held back meanwhile.
                self.outlet.forward_emptied(&mut emptied, self.meter);
                match inbox.take_soon() {
                    Soon::Item(item) => item,
                    Soon::Nothing | Soon::Over => Item::Emptied(Vec::new()),
                }
            };
            if self.run.has_failed() {
                return Ok(());
            }
            match (item, &mut order) {
                (Item::Batch(load), None) => drop(parked.insert(load.sequence(), load)),
                (Item::Batch(load), Some(order)) => order.put(load.sequence(), load),
                (Item::Emptied(numbers), order) => {
                    order.iter_mut().for_each(|order| numbers.iter().for_each(|number| order.pass_over(*number)));
                    emptied.extend(numbers);
                }
            }
            while let Some(load) = order.as_mut().and_then(Reorder::take) {
                self.process(worker.as_mut(), load, &mut emptied, cx)?;
            }
            while let Some(load) = parked.first_entry().filter(|first| self.may_process(*first.key())) {
                self.process(worker.as_mut(), load.remove(), &mut emptied, cx)?;
            }
            if emptied.len() >= EMPTIED {
                self.outlet.forward_emptied(&mut emptied, self.meter);
            }
        }
        self.outlet.forward_emptied(&mut emptied, self.meter);
        if self.run.has_failed() { Ok(()) } else { worker.finish(cx) }
    }

    /// Whether a batch may be processed now. A stage that adds rows leaves it for later while the memory is overdrawn,
    /// unless it is the oldest one: only what is behind that stage can give memory back.
    fn may_process(&self, sequence: u64) -> bool {
        !self.stage.grows || self.run.stopping() || self.run.budget.may_grow(sequence)
    }

    /// Has the worker process a batch and passes it on; one that no row is left of is `emptied`.
    fn process(
        &self,
        worker: &mut (dyn Worker + '_),
        load: Load<'r>,
        emptied: &mut Vec<u64>,
        cx: &StageContext<'_>,
    ) -> Result<(), StageError> {
        match load {
            Load::Whole(mut flight) => {
                let files = flight.batch.files.rows();
                if self.gives_up(self.turn(worker, Rows::Exclusive(&mut flight.batch), cx))? {
                    emptied.push(flight.sequence);
                    return Ok(());
                }
                let kept = flight.batch.files.rows();
                self.run.files_done.fetch_add((files - kept) as u64, Ordering::Relaxed);
                self.meter.count(files, kept, flight.batch.chunks.rows());
                if kept + flight.batch.chunks.rows() == 0 {
                    emptied.push(flight.sequence);
                } else {
                    self.outlet.forward_emptied(emptied, self.meter);
                    self.outlet.forward(flight, self.meter);
                }
            }
            Load::Shared(side) => {
                let base = &side.flight.batch;
                let mut staged = Staged::beside(base);
                if self.gives_up(self.turn(worker, Rows::Shared { base, staged: &mut staged }, cx))? {
                    side.given_up.store(true, Ordering::Relaxed);
                }
                self.meter.count(base.files.rows(), base.files.rows(), base.chunks.rows());
                side.staged.lock().unwrap_or_else(PoisonError::into_inner).push(staged);
                if let Some(Side { mut flight, staged, given_up }) = Arc::into_inner(side) {
                    if given_up.into_inner() {
                        emptied.push(flight.sequence);
                        return Ok(());
                    }
                    for Staged { files, chunks } in staged.into_inner().unwrap_or_else(PoisonError::into_inner) {
                        flight.batch.files.merge(files);
                        flight.batch.chunks.merge(chunks);
                    }
                    self.outlet.forward(flight, self.meter);
                }
            }
        }
        Ok(())
    }

    /// Whether a transform has given its batch up because the run is to stop. A sink never does: what one sink has
    /// taken, the others take too.
    fn gives_up(&self, result: Result<(), StageError>) -> Result<bool, StageError> {
        match result {
            Err(StageError::Stopped) if self.stage.kind == Kind::Transform && self.run.stopping() => Ok(true),
            other => other.map(|()| false),
        }
    }

    fn turn(&self, worker: &mut (dyn Worker + '_), rows: Rows<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let mut view = BatchView::new(rows, &self.stage.grant);
        if view.is_empty() {
            return Ok(());
        }
        self.meter.at_work(|| worker.process(&mut view, cx))?;
        Ok(view.conclude()?)
    }

    fn close(&self, cx: &StageContext<'_>) -> Result<(), StageError> {
        self.emitting(|out| self.meter.at_work(|| self.stage.stage.close(out, cx)))
    }

    fn emitting<R>(&self, work: impl FnOnce(&mut Emitter<'_>) -> R) -> R {
        let mut port = SeatPort { seat: self };
        let port: Option<&mut dyn Port> = if self.outlet.next.is_empty() { None } else { Some(&mut port) };
        work(&mut Emitter::new(&self.stage.grant, &self.stage.required, port))
    }

    /// Turns an error or a panic into the end of the run.
    fn guard(&self, work: impl FnOnce() -> Result<(), StageError>) {
        let stage = || self.stage.name.clone();
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

/// Emission from a seat.
struct SeatPort<'s, 'r> {
    seat: &'s Seat<'r>,
}

impl Port for SeatPort<'_, '_> {
    fn send(&mut self, batch: Batch) -> Result<(), StageError> {
        let Seat { run, stage, meter, outlet, .. } = self.seat;
        // What a stage emits at its end still belongs to a cancelled run.
        let stop = || if stage.kind == Kind::Source { run.stopping() } else { run.has_failed() };
        if stop() {
            return Err(StageError::Stopped);
        }
        let (ticket, waited) = run.budget.admit(batch.bytes(), stop);
        meter.memory_wait.add(waited);
        let mut ticket = ticket.ok_or(StageError::Stopped)?;
        let sequence = run.next_sequence.fetch_add(1, Ordering::Relaxed);
        ticket.assign(sequence);
        meter.count(0, batch.files.rows(), batch.chunks.rows());
        outlet.forward(Flight { sequence, batch, ticket }, meter);
        Ok(())
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

fn progress(pipeline: &Pipeline, run: &RunState) -> Progress {
    let load = |(stage, meter): (&Assembled, &StageMeter)| StageLoad {
        name: stage.name.clone(),
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
    let stages: Vec<StageReport> =
        pipeline.stages.iter().zip(&run.meters).map(|(stage, meter)| meter.report(&stage.name, elapsed)).collect();
    let busiest = stages.iter().rev().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    let tallies = std::mem::take(&mut *run.tallies.lock().unwrap_or_else(PoisonError::into_inner));
    let Tallies { skipped, warnings, errors, counters } = tallies;
    RunReport {
        outcome: if run.cancel.is_cancelled() { Outcome::Cancelled } else { Outcome::Completed },
        elapsed,
        bottleneck: busiest.filter(|stage| stage.utilisation > 0.0).map(|stage| stage.name.clone()),
        stages,
        files: run.files_done.load(Ordering::Relaxed),
        chunks: run.chunks_done.load(Ordering::Relaxed),
        memory_limit: run.budget.limit(),
        memory_peak: run.budget.peak(),
        skipped,
        warnings,
        errors,
        counters,
    }
}
