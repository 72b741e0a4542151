//! Stops a server from another thread.

use tokio::sync::watch;

/// A handle that stops servers from another thread.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Creates a handle that has not been triggered.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Tells the servers to stop after they have answered their current requests.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn stopped(&self) {
        // The sender is part of `self`, so the channel cannot be closed while waiting.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
