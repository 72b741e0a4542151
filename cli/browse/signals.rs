//! Signals that end the program.

#[cfg(not(unix))]
pub(super) use elsewhere::{Signals, suspend};
#[cfg(unix)]
pub(super) use unix::{Signals, suspend};

/// Where Ctrl-C is a key, and no program is suspended.
#[cfg(not(unix))]
mod elsewhere {
    use std::io;

    pub(crate) struct Signals;

    impl Signals {
        pub(crate) fn watch(_: impl Fn() + Send + Sync + 'static) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn while_editing<T>(&mut self, edit: impl FnOnce() -> T) -> io::Result<T> {
            Ok(edit())
        }

        pub(crate) fn are_ending(&self) -> bool {
            false
        }
    }

    pub(crate) fn suspend() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{Builder, JoinHandle};
    use std::time::Duration;

    use rustix::process::{Signal, kill_current_process_group};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Handle;

    use crate::interrupt::INTERRUPTED;

    /// How often, and after which pause, the end of a suspension is looked for. Neither passes while the process is stopped.
    const TRIES: usize = 50;
    const PAUSE: Duration = Duration::from_millis(10);

    /// The signals that end the program, with what is to be done before.
    pub(crate) struct Signals {
        clean_up: Arc<dyn Fn() + Send + Sync>,
        is_editing: Arc<AtomicBool>,
        /// Whether a signal came while an editor ran.
        is_ending: Arc<AtomicBool>,
        /// The keys that send a signal, unless an editor runs: then they are keys of the editor, though the terminal sends the
        /// signal to this process too.
        keys: Option<Watch>,
    }

    /// A thread that receives signals.
    struct Watch {
        handle: Handle,
        thread: JoinHandle<()>,
    }

    impl Signals {
        /// From here on a signal calls `clean_up` and ends the program. While an editor runs, it ends the program after it.
        pub(crate) fn watch(clean_up: impl Fn() + Send + Sync + 'static) -> io::Result<Self> {
            let clean_up: Arc<dyn Fn() + Send + Sync> = Arc::new(clean_up);
            let (is_editing, is_ending) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let (cleans, edits, ends) = (Arc::clone(&clean_up), Arc::clone(&is_editing), Arc::clone(&is_ending));
            Watch::start(&[SIGHUP, SIGTERM], move || {
                if edits.load(Ordering::SeqCst) {
                    ends.store(true, Ordering::SeqCst);
                } else {
                    end(&*cleans);
                }
            })?;
            let keys = Some(watch_keys(&clean_up)?);
            Ok(Self { clean_up, is_editing, is_ending, keys })
        }

        /// Runs an editor.
        pub(crate) fn while_editing<T>(&mut self, edit: impl FnOnce() -> T) -> io::Result<T> {
            self.is_editing.store(true, Ordering::SeqCst);
            if let Some(keys) = self.keys.take() {
                keys.stop();
            }
            let done = edit();
            self.keys = Some(watch_keys(&self.clean_up)?);
            self.is_editing.store(false, Ordering::SeqCst);
            Ok(done)
        }

        /// Whether a signal came while an editor ran.
        pub(crate) fn are_ending(&self) -> bool {
            self.is_ending.load(Ordering::SeqCst)
        }
    }

    impl Watch {
        fn start(signals: &[i32], act: impl Fn() + Send + 'static) -> io::Result<Self> {
            let mut received = signal_hook::iterator::Signals::new(signals)?;
            let handle = received.handle();
            let act = move || received.forever().for_each(|_| act());
            let thread = Builder::new().name("signals".to_owned()).spawn(act)?;
            Ok(Self { handle, thread })
        }

        /// Receives none of the signals any more. They do not end the process nevertheless: signal-hook leaves its handler.
        fn stop(self) {
            self.handle.close();
            // It does not panic, and has nothing to return.
            let _ = self.thread.join();
        }
    }

    fn watch_keys(clean_up: &Arc<dyn Fn() + Send + Sync>) -> io::Result<Watch> {
        let clean_up = Arc::clone(clean_up);
        Watch::start(&[SIGINT, SIGQUIT], move || end(&*clean_up))
    }

    fn end(clean_up: &(dyn Fn() + Send + Sync)) {
        clean_up();
        std::process::exit(INTERRUPTED);
    }

    /// Stops this process until it is told to continue, as Ctrl-Z does elsewhere.
    pub(crate) fn suspend() -> io::Result<()> {
        let goes_on = Arc::new(AtomicBool::new(false));
        let registration = signal_hook::flag::register(SIGCONT, Arc::clone(&goes_on))?;
        kill_current_process_group(Signal::TSTP)?;
        // Another thread may take the signal, and this one runs until that has happened. Without a shell that could continue
        // it, nothing is stopped.
        for _ in 0..TRIES {
            if goes_on.load(Ordering::SeqCst) {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        signal_hook::low_level::unregister(registration);
        Ok(())
    }
}
