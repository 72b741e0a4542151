//! Batches in flight, and their transfer from the output of one step to the queues of the next step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::assembly::Step;
use crate::batch::Batch;
use crate::budget::Reservation;
use crate::context::RunState;
use crate::progress::StageMeter;
use crate::queue::QueueSender;

/// A batch with its sequence number and its reservation in the memory budget.
pub(crate) struct InFlight<'r> {
    pub(crate) sequence: u64,
    pub(crate) batch: Batch,
    pub(crate) reservation: Reservation<'r>,
}

/// A batch that several stages of one step read concurrently.
pub(crate) struct SharedBatch<'r> {
    in_flight: InFlight<'r>,
    staged: Mutex<Vec<Batch>>,
    /// Whether a stage has dropped the batch because the run is stopping.
    is_dropped: AtomicBool,
}

impl<'r> SharedBatch<'r> {
    pub(crate) fn batch(&self) -> &Batch {
        &self.in_flight.batch
    }

    /// Marks the batch as dropped, so that it is not forwarded when all stages have finished it.
    pub(crate) fn mark_dropped(&self) {
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    /// Ends the work of one stage on the batch and collects the columns that the stage wrote. The call for the last
    /// stage returns the batch with the columns of all stages, or the sequence number of a dropped batch. Earlier calls
    /// return `None`.
    pub(crate) fn finish(self: Arc<Self>, columns: Batch) -> Option<Finished<'r>> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).push(columns);
        let Self { mut in_flight, staged, is_dropped } = Arc::into_inner(self)?;
        if is_dropped.into_inner() {
            return Some(Finished::Dropped(in_flight.sequence));
        }
        for Batch { files, chunks, missing_results, .. } in staged.into_inner().unwrap_or_else(PoisonError::into_inner)
        {
            in_flight.batch.files.merge(files);
            in_flight.batch.chunks.merge(chunks);
            in_flight.batch.missing_results.extend(missing_results);
        }
        Some(Finished::Merged(in_flight))
    }
}

/// A shared batch that every stage of its step has finished.
pub(crate) enum Finished<'r> {
    Merged(InFlight<'r>),
    /// The sequence number of a dropped batch.
    Dropped(u64),
}

/// A batch for one worker.
pub(crate) enum Work<'r> {
    Exclusive(InFlight<'r>),
    Shared(Arc<SharedBatch<'r>>),
}

impl Work<'_> {
    pub(crate) fn sequence(&self) -> u64 {
        match self {
            Self::Exclusive(in_flight) => in_flight.sequence,
            Self::Shared(shared) => shared.in_flight.sequence,
        }
    }
}

/// A message in a queue.
pub(crate) enum Message<'r> {
    Batch(Work<'r>),
    /// Sequence numbers of batches that have become empty. Sinks need the numbers to process batches in order.
    Emptied(Vec<u64>),
}

/// The output of a step: the queues of the stages of the next step.
#[derive(Clone)]
pub(crate) struct StepOutput<'r> {
    pub(crate) run: &'r RunState,
    pub(crate) step: &'r Step,
    pub(crate) next: Vec<QueueSender<'r, Message<'r>>>,
}

impl<'r> StepOutput<'r> {
    /// Sends a batch to every stage of the next step. After the last step, counts the rows of the batch and drops it,
    /// which releases its memory to the budget.
    pub(crate) fn forward(&self, mut in_flight: InFlight<'r>, producer: &StageMeter) {
        // No columns are removed if there is a probe, because a probe can read all columns.
        let dropped = self.step.dropped_columns.iter().filter(|_| self.run.probe.is_none());
        for name in dropped {
            in_flight.batch.files.remove(name);
            in_flight.batch.chunks.remove(name);
        }
        in_flight.reservation.resize(in_flight.batch.bytes());
        match self.next.as_slice() {
            [] => {
                self.run.files_done.fetch_add(in_flight.batch.files.rows() as u64, Ordering::Relaxed);
                self.run.chunks_done.fetch_add(in_flight.batch.chunks.rows() as u64, Ordering::Relaxed);
            }
            [only] => only.put(Message::Batch(Work::Exclusive(in_flight)), producer),
            several => {
                let shared =
                    Arc::new(SharedBatch { in_flight, staged: Mutex::default(), is_dropped: AtomicBool::new(false) });
                // All references must exist before the first stage can finish, because the stage that drops the last
                // reference forwards the batch.
                let references: Vec<Arc<SharedBatch<'r>>> = several.iter().map(|_| Arc::clone(&shared)).collect();
                drop(shared);
                for (sender, reference) in several.iter().zip(references) {
                    sender.put(Message::Batch(Work::Shared(reference)), producer);
                }
            }
        }
    }

    /// Forwards the sequence numbers of batches that have become empty.
    pub(crate) fn forward_emptied(&self, emptied: &mut Vec<u64>, producer: &StageMeter) {
        if emptied.is_empty() {
            return;
        }
        let emptied = std::mem::take(emptied);
        self.next.iter().for_each(|next| next.put(Message::Emptied(emptied.clone()), producer));
    }
}
