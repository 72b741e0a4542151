//! Stops a server from another thread.

use tokio_util::sync::CancellationToken;

/// A handle that stops servers from another thread.
#[derive(Debug, Clone, Default)]
pub struct Stop(CancellationToken);

impl Stop {
    /// Creates a handle that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells the servers to stop after they have answered their current requests.
    pub fn stop(&self) {
        self.0.cancel();
    }

    pub(crate) async fn stopped(&self) {
        self.0.cancelled().await;
    }
}
