//! Runs a server.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::connections::{Listener, accept};
use crate::error::ServeError;
use crate::http;
use crate::options::ServeOptions;
use crate::rates::TIDY_INTERVAL;
use crate::state::State;
use crate::stop::Stop;

/// Serves until `stop` is triggered. `on_listening` receives the address, such as `http://127.0.0.1:8080` or
/// `unix:PATH`.
///
/// # Errors
/// Fails if the options would allow other machines to use the server without a token, or if the address cannot be used.
pub fn serve(options: ServeOptions, stop: &Stop, on_listening: impl FnOnce(&str)) -> Result<(), ServeError> {
    options.check()?;
    let state = State::new(options, stop.clone());
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let threads = state.options.limits.running.max(1);
    let agents = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let agents = agents.map_err(ServeError::Runtime)?;
    let served = runtime.block_on(async {
        let listener = Listener::bind(&state.options.listen).await?;
        on_listening(&listener.address());
        let _watches = state.options.roots.watch().map_err(ServeError::Runtime)?;
        let router = http::router(&state, agents.handle());
        let tidying = tokio::spawn(tidy(Arc::clone(&state)));
        accept(listener, router, &state).await;
        tidying.abort();
        Ok(())
    });
    // Work whose clients have disconnected may still be running. Wait only briefly for it.
    runtime.shutdown_timeout(Duration::from_secs(1));
    agents.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Periodically removes clients without recent requests from the rate limits.
async fn tidy(state: Arc<State>) {
    while let Some(rates) = &state.rates {
        tokio::time::sleep(TIDY_INTERVAL).await;
        rates.tidy();
    }
}
