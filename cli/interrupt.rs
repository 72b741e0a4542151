//! Ctrl-C: once to stop cleanly, twice to stop at once.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use aurora_pipeline::CancelToken;

/// From here on the first Ctrl-C (or termination signal) cancels `token`, and a second one
/// ends the process. Where no handler can be set, the system's own behaviour stays.
pub(crate) fn cancels(token: &CancelToken) {
    let token = token.clone();
    let pressed = AtomicBool::new(false);
    // An error means that a handler exists already; its token is the one of this process.
    let _ = ctrlc::set_handler(move || {
        if pressed.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        token.cancel();
        let _ =
            writeln!(std::io::stderr(), "\nStopping: what is in flight is being written. Ctrl-C again stops at once.");
    });
}
