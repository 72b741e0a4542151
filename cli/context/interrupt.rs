//! Ctrl-C handling: the first Ctrl-C stops cleanly, the second one immediately.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use aurora_pipeline::CancelToken;

use crate::context::{Failure, Outcome};

/// Exit code of a process that Ctrl-C ended.
pub(crate) const INTERRUPTED: i32 = 130;

/// The current action of Ctrl-C. A process has a single signal handler, which calls this action.
static ACTION: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

/// Makes the first Ctrl-C (or termination signal) cancel `token`, as [`stops_with_message`] does. If the handler cannot
/// be set, the default behaviour of the system stays in effect.
pub(crate) fn cancels(token: &CancelToken, stopping: &'static str) {
    let token = token.clone();
    stops_with_message(move || token.cancel(), stopping);
}

/// Makes the first Ctrl-C (or termination signal) call `stop` and print `stopping`, a description of the remaining
/// work. The second one ends the process.
pub(crate) fn stops_with_message(stop: impl Fn() + Send + 'static, stopping: &'static str) {
    stops(move || {
        stop();
        let _ = writeln!(std::io::stderr(), "\nStopping: {stopping}. Press Ctrl-C again to stop immediately.");
    });
}

/// Fails if `token` was cancelled during work that writes nothing.
pub(crate) fn unless_cancelled(token: &CancelToken) -> Outcome {
    match token.is_cancelled() {
        true => Err(Failure::Interrupted("nothing was written".to_owned())),
        false => Ok(()),
    }
}

/// Makes Ctrl-C (or a termination signal) call `clean_up` and end the process.
pub(crate) fn ends(clean_up: impl Fn() + Send + 'static) {
    on_interrupt(move || {
        clean_up();
        std::process::exit(INTERRUPTED);
    });
}

/// Makes the first Ctrl-C (or termination signal) call `stop`, and the second one end the process.
pub(crate) fn stops(stop: impl Fn() + Send + 'static) {
    let pressed = AtomicBool::new(false);
    on_interrupt(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        stop();
    });
}

/// Makes Ctrl-C do nothing, because another signal handler takes over.
pub(crate) fn leave_to_other_handler() {
    if let Some(action) = &mut *ACTION.lock().unwrap_or_else(PoisonError::into_inner) {
        *action = Box::new(|| {});
    }
}

fn on_interrupt(action: impl Fn() + Send + 'static) {
    *ACTION.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
    // Ignore the error after the first call: the handler is already set, and calls the new action.
    let _ = ctrlc::set_handler(|| {
        if let Some(action) = &*ACTION.lock().unwrap_or_else(PoisonError::into_inner) {
            action();
        }
    });
}
