//! Threads that process the items of a sequence and return the results in order.

use std::collections::VecDeque;
use std::thread::{self, Builder};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

/// Maximum number of items in flight for each thread.
const MAX_ITEMS: usize = 2;
/// No more items are started while at least this many bytes for each thread are in flight.
const MAX_BYTES: usize = 4 << 20;

/// The number of threads that a command uses. It does not affect any result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    threads: usize,
}

impl Workers {
    /// Creates workers with `threads` threads, at least one.
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1) }
    }

    /// Number of threads.
    pub(crate) fn threads(self) -> usize {
        self.threads
    }

    /// Calls `work` on the threads for every item that `produce` pushes to the queue, and calls `each` with every
    /// result in the order of the items. `produce` and `each` run on the calling thread. The number of items in flight
    /// is bounded.
    ///
    /// # Errors
    /// Returns the first error of `each` in the order of the items, or the error of `produce` if `each` returns no
    /// error for the preceding items.
    pub(crate) fn in_order<I: Send, T: Send, R, E>(
        self,
        work: impl Fn(I) -> T + Sync,
        mut each: impl FnMut(T) -> Result<(), E>,
        produce: impl FnOnce(&mut WorkQueue<'_, I, T, E>) -> Result<R, E>,
    ) -> Result<R, E> {
        let (tasks, received) = unbounded::<(I, Sender<T>)>();
        thread::scope(|scope| {
            let work = &work;
            let spawn = |_: &usize| {
                // Only the threads own a receiver. If all of them have panicked, the calling thread therefore does not
                // wait for results.
                let received = received.clone();
                let run = move || received.iter().for_each(|(item, reply)| drop(reply.send(work(item))));
                Builder::new().name("aurora-worker".to_owned()).spawn_scoped(scope, run).is_ok()
            };
            let threads = if self.threads > 1 { (0..self.threads).filter(spawn).count() } else { 0 };
            drop(received);
            let waiting = VecDeque::with_capacity(MAX_ITEMS * threads);
            let mut queue = WorkQueue { work, each: &mut each, threads, tasks, waiting, bytes: 0 };
            let result = produce(&mut queue);
            while queue.deliver()? {}
            result
        })
    }

    /// Like [`Self::in_order`], for the items of an iterator. Their sizes are not counted, so they must be small.
    pub(crate) fn for_each<I: Send, T: Send, E>(
        self,
        items: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> T + Sync,
        each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        self.in_order(work, each, |queue| items.into_iter().try_for_each(|item| queue.push(0, item)))
    }
}

impl Default for Workers {
    /// Creates workers with one thread for each core that the process may use.
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The queue of items that the threads process.
pub(crate) struct WorkQueue<'q, I, T, E> {
    work: &'q dyn Fn(I) -> T,
    each: &'q mut dyn FnMut(T) -> Result<(), E>,
    /// Number of threads. If it is 0, the calling thread does the work.
    threads: usize,
    tasks: Sender<(I, Sender<T>)>,
    /// Size and result of every item in flight, in order.
    waiting: VecDeque<(usize, Receiver<T>)>,
    bytes: usize,
}

impl<I, T, E> WorkQueue<'_, I, T, E> {
    /// Adds an item of `bytes` bytes. Before that, waits for results and delivers them while too many items or bytes
    /// are in flight.
    pub(crate) fn push(&mut self, bytes: usize, item: I) -> Result<(), E> {
        if self.threads == 0 {
            return (self.each)((self.work)(item));
        }
        while self.waiting.len() >= MAX_ITEMS * self.threads || self.bytes >= MAX_BYTES * self.threads {
            self.deliver()?;
        }
        let (reply, result) = bounded(1);
        self.waiting.push_back((bytes, result));
        self.bytes += bytes;
        drop(self.tasks.send((item, reply)));
        Ok(())
    }

    /// Waits for the first result in flight, and delivers it. Returns `false` if nothing is in flight.
    fn deliver(&mut self) -> Result<bool, E> {
        let Some((bytes, result)) = self.waiting.pop_front() else { return Ok(false) };
        self.bytes -= bytes;
        // A thread that panicked sends no result. The panic is propagated after all threads have ended.
        let delivered = result.recv().map_or(Ok(()), &mut self.each);
        if delivered.is_err() {
            self.waiting.clear();
        }
        delivered.map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_are_delivered_in_the_order_of_the_items() {
        for threads in [1, 2, 5] {
            let (running, highest) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |item: usize| {
                highest.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(std::time::Duration::from_micros(if item.is_multiple_of(7) { 500 } else { 5 }));
                running.fetch_sub(1, Ordering::SeqCst);
                2 * item
            };
            let mut results = Vec::new();
            let each = |result| {
                results.push(result);
                Ok::<(), ()>(())
            };
            Workers::new(threads).for_each(0..100, work, each).expect("no callback returns an error");
            assert!(results.iter().copied().eq((0..100).map(|item| 2 * item)));
            assert!(highest.into_inner() <= threads);
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        for threads in [1, 2, 5] {
            let mut seen = 0;
            let each = |result: Result<usize, usize>| result.map(|_| seen += 1);
            let work = |item: usize| if item < 30 || item == 35 { Ok(item) } else { Err(item) };
            // The producer fails while other items are in flight.
            let produced = Workers::new(threads).in_order(work, each, |queue| {
                (0..32).try_for_each(|item| queue.push(MAX_BYTES, item))?;
                Err::<(), usize>(1000)
            });
            assert_eq!((produced, seen), (Err(30), 30), "{threads} threads");
            let each = |result: Result<usize, usize>| result.map(drop);
            let produced = Workers::new(threads).in_order(work, each, |queue| {
                (0..30).try_for_each(|item| queue.push(0, item))?;
                Err::<(), usize>(1000)
            });
            assert_eq!(produced, Err(1000), "{threads} threads");
        }
    }

    #[test]
    fn bytes_in_flight_are_bounded() {
        let (pushed, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut taken = 0;
        let each = |()| {
            taken += 1;
            most.fetch_max(pushed.load(Ordering::SeqCst) + 1 - taken, Ordering::SeqCst);
            Ok::<(), ()>(())
        };
        let push = |queue: &mut WorkQueue<'_, (), (), ()>| {
            (0..50).try_for_each(|_| queue.push(2 * MAX_BYTES, ()).map(|()| _ = pushed.fetch_add(1, Ordering::SeqCst)))
        };
        Workers::new(4).in_order(|()| (), each, push).expect("no callback returns an error");
        assert_eq!((taken, most.into_inner()), (50, 2));
    }
}
