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

        pub(crate) fn while_editing<T>(&self, edit: impl FnOnce() -> T) -> T {
            edit()
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
    use std::thread::Builder;
    use std::time::Duration;

    use rustix::process::{Signal, kill_current_process_group};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::SignalsInfo;
    use signal_hook::iterator::exfiltrator::WithOrigin;
    use signal_hook::low_level::siginfo::Cause;

    use super::super::screen::Screen;
    use crate::context::interrupt::INTERRUPTED;

    /// How often, and after which pause, the end of a suspension is looked for. Neither passes while the process is stopped.
    const TRIES: usize = 50;
    const PAUSE: Duration = Duration::from_millis(10);

    /// The signals that end the program.
    pub(crate) struct Signals {
        is_editing: Arc<AtomicBool>,
        /// Whether a signal came while an editor ran.
        is_ending: Arc<AtomicBool>,
    }

    impl Signals {
        /// From here on a signal calls `clean_up` and ends the program. While an editor runs, it ends the program after it.
        ///
        /// Ctrl-C and Ctrl-\\ in an editor are keys of the editor, but the terminal sends their signals to this process too, and
        /// the system may deliver them after the editor has ended. While this program has the terminal, no key sends a signal.
        pub(crate) fn watch(clean_up: impl Fn() + Send + 'static) -> io::Result<Self> {
            let (is_editing, is_ending) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let (edits, ends) = (Arc::clone(&is_editing), Arc::clone(&is_ending));
            let mut received = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
            Builder::new().name("signals".to_owned()).spawn(move || {
                for origin in received.forever() {
                    let is_editing = edits.load(Ordering::SeqCst);
                    let is_key = matches!(origin.signal, SIGINT | SIGQUIT) && matches!(origin.cause, Cause::Kernel);
                    if is_key && (is_editing || Screen::is_taken()) {
                        continue;
                    }
                    if is_editing {
                        ends.store(true, Ordering::SeqCst);
                        continue;
                    }
                    clean_up();
                    std::process::exit(INTERRUPTED);
                }
            })?;
            Ok(Self { is_editing, is_ending })
        }

        /// Runs an editor, from the moment at which the terminal is given back until it is taken again.
        pub(crate) fn while_editing<T>(&self, edit: impl FnOnce() -> T) -> T {
            self.is_editing.store(true, Ordering::SeqCst);
            let done = edit();
            self.is_editing.store(false, Ordering::SeqCst);
            done
        }

        /// Whether a signal came while an editor ran.
        pub(crate) fn are_ending(&self) -> bool {
            self.is_ending.load(Ordering::SeqCst)
        }
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
