//! Signals that end the program.

#[cfg(not(unix))]
pub(super) use elsewhere::{Signals, suspend};
#[cfg(unix)]
pub(super) use unix::{Signals, suspend};

/// Implementation for systems where Ctrl-C is a key like any other, and programs cannot be suspended.
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

        pub(crate) fn has_ending_signal(&self) -> bool {
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

    /// Maximum number of times to check whether the process was continued. A stopped process makes no checks.
    const TRIES: usize = 50;
    /// Interval between two of these checks.
    const PAUSE: Duration = Duration::from_millis(10);

    /// The handler for signals that end the program.
    pub(crate) struct Signals {
        is_editing: Arc<AtomicBool>,
        /// Whether a signal arrived while an editor ran.
        is_ending: Arc<AtomicBool>,
    }

    impl Signals {
        /// Installs the handler. A signal calls `clean_up` and ends the program. A signal that arrives while an editor
        /// runs ends the program after the editor.
        ///
        /// Signals of Ctrl-C and Ctrl-\\ are ignored while an editor runs or this program controls the terminal. These
        /// keys are meant for the editor, but the terminal sends their signals to this process too, and the system may
        /// deliver them after the editor has ended. While this program controls the terminal, no key sends a signal.
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

        /// Runs an editor. `edit` restores the terminal, and takes control of it again after the editor has ended.
        pub(crate) fn while_editing<T>(&self, edit: impl FnOnce() -> T) -> T {
            self.is_editing.store(true, Ordering::SeqCst);
            let done = edit();
            self.is_editing.store(false, Ordering::SeqCst);
            done
        }

        /// Whether a signal arrived while an editor ran.
        pub(crate) fn has_ending_signal(&self) -> bool {
            self.is_ending.load(Ordering::SeqCst)
        }
    }

    /// Stops this process until it receives SIGCONT, like Ctrl-Z does in other programs.
    pub(crate) fn suspend() -> io::Result<()> {
        let is_continued = Arc::new(AtomicBool::new(false));
        let registration = signal_hook::flag::register(SIGCONT, Arc::clone(&is_continued))?;
        kill_current_process_group(Signal::TSTP)?;
        // Another thread may receive the stop signal, and this thread runs until the whole process is stopped, so wait.
        // The wait is limited, because the system does not stop a process that no shell can continue.
        for _ in 0..TRIES {
            if is_continued.load(Ordering::SeqCst) {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        signal_hook::low_level::unregister(registration);
        Ok(())
    }
}
