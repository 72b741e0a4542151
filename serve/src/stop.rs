//! Ending a server from another thread.

use tokio::sync::watch;

/// Ends servers from another thread.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// A handle that has ended nothing.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets the servers answer the requests that they have, and end.
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
