//! Ctrl-C: once to stop cleanly, twice to stop at once.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use aurora_pipeline::CancelToken;

use crate::context::failure::{Failure, Outcome};

/// Exit code of a process that Ctrl-C has ended.
pub(crate) const INTERRUPTED: i32 = 130;

/// What Ctrl-C does now. A process has one handler of signals.
static ACTION: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

/// From here on the first Ctrl-C (or termination signal) cancels `token`, and a second one
/// ends the process. `stopping` says what happens in between. Where no handler can be set,
/// the system's own behaviour stays.
pub(crate) fn cancels(token: &CancelToken, stopping: &'static str) {
    let token = token.clone();
    let pressed = AtomicBool::new(false);
    on_interrupt(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        token.cancel();
        let _ = writeln!(std::io::stderr(), "\nStopping: {stopping}. Ctrl-C again stops at once.");
    });
}

/// Fails if `token` has been cancelled during work that writes nothing.
pub(crate) fn unless_cancelled(token: &CancelToken) -> Outcome {
    match token.is_cancelled() {
        true => Err(Failure::Interrupted("nothing was written".to_owned())),
        false => Ok(()),
    }
}

/// From here on Ctrl-C (or a termination signal) calls `clean_up` and ends the process.
pub(crate) fn ends(clean_up: impl Fn() + Send + 'static) {
    on_interrupt(move || {
        clean_up();
        std::process::exit(INTERRUPTED);
    });
}

/// From here on the first Ctrl-C (or termination signal) calls `stop`, and a second one ends the process.
pub(crate) fn stops(stop: impl Fn() + Send + 'static) {
    let pressed = AtomicBool::new(false);
    on_interrupt(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        stop();
    });
}

/// From here on Ctrl-C does nothing here: another handler of signals takes over.
pub(crate) fn leave_to_other_handler() {
    if let Some(action) = &mut *ACTION.lock().unwrap_or_else(PoisonError::into_inner) {
        *action = Box::new(|| {});
    }
}

fn on_interrupt(action: impl Fn() + Send + 'static) {
    *ACTION.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
    // An error means that the handler is set already.
    let _ = ctrlc::set_handler(|| {
        if let Some(action) = &*ACTION.lock().unwrap_or_else(PoisonError::into_inner) {
            action();
        }
    });
}
