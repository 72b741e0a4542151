//! Stopping a server from another thread.

use tokio::sync::watch;

/// Stops servers from another thread.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// A handle that has not been triggered.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Makes the servers stop after answering their current requests.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn stopped(&self) {
        // The sender is `self`, so it is not closed.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
