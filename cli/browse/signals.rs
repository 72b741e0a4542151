//! Signals that end the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often, and after which pause, the end of a suspension is looked for. Neither passes while the process is stopped.
#[cfg(unix)]
const TRIES: usize = 50;
#[cfg(unix)]
const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// What is known of signals.
#[derive(Debug, Clone, Default)]
pub(super) struct Signals {
    /// Whether an editor has the terminal. Ctrl-C is a key of the editor then, though the terminal sends it to this process too.
    is_editing: Arc<AtomicBool>,
    /// Whether a signal has asked for the end meanwhile.
    is_ending: Arc<AtomicBool>,
}

impl Signals {
    /// From here on a signal calls `clean_up` and ends the program, unless an editor runs.
    #[cfg(unix)]
    pub(super) fn watch(clean_up: impl Fn() + Send + 'static) -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

        let signals = Self::default();
        let mut received = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
        let state = signals.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in received.forever() {
                if !state.is_editing.load(Ordering::SeqCst) {
                    clean_up();
                    std::process::exit(crate::interrupt::INTERRUPTED);
                }
                if matches!(signal, SIGHUP | SIGTERM) {
                    state.is_ending.store(true, Ordering::SeqCst);
                }
            }
        })?;
        Ok(signals)
    }

    /// Elsewhere, Ctrl-C is a key.
    #[cfg(not(unix))]
    pub(super) fn watch(_: impl Fn() + Send + 'static) -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Runs an editor.
    pub(super) fn while_editing<T>(&self, edit: impl FnOnce() -> T) -> T {
        self.is_editing.store(true, Ordering::SeqCst);
        let done = edit();
        self.is_editing.store(false, Ordering::SeqCst);
        done
    }

    /// Whether a signal came while an editor ran, so that the program has to end.
    pub(super) fn are_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }
}

/// Stops this process until it is told to continue, as Ctrl-Z does elsewhere.
#[cfg(unix)]
pub(super) fn suspend() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    use signal_hook::consts::SIGCONT;

    let goes_on = Arc::new(AtomicBool::new(false));
    let registration = signal_hook::flag::register(SIGCONT, Arc::clone(&goes_on))?;
    kill_current_process_group(Signal::TSTP)?;
    // Another thread may take the signal, and this one runs until that has happened. Without a shell that could continue it,
    // nothing is stopped.
    for _ in 0..TRIES {
        if goes_on.load(Ordering::SeqCst) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    signal_hook::low_level::unregister(registration);
    Ok(())
}

/// There is no such thing.
#[cfg(not(unix))]
pub(super) fn suspend() -> io::Result<()> {
    Ok(())
}
