//! A server from its options to its end.

use std::sync::Arc;
use std::time::Duration;

use crate::connections::{Listener, accept};
use crate::error::ServeError;
use crate::http;
use crate::options::ServeOptions;
use crate::roots::ServedRoot;
use crate::state::State;
use crate::stop::Stop;

/// Time between two looks at whether another process has published a generation.
const FOLLOW: Duration = Duration::from_millis(500);

/// Serves until `stop` says otherwise. `on_listening` gets the address, as `http://127.0.0.1:8080` or `unix:PATH`.
///
/// # Errors
/// When the options would serve strangers, or the address cannot be used.
pub fn serve(options: ServeOptions, stop: &Stop, on_listening: impl FnOnce(&str)) -> Result<(), ServeError> {
    options.check()?;
    let state = State::new(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let served = runtime.block_on(async {
        let listener = Listener::bind(&state.options.listen).await?;
        on_listening(&listener.address());
        let following = tokio::spawn(follow(Arc::clone(&state)));
        let router = http::router(&state);
        accept(listener, router, &state, stop).await;
        following.abort();
        Ok(())
    });
    // Work that a client has given up on does not delay the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Lets every opened index answer from the generation that was published last, by whatever process.
async fn follow(state: Arc<State>) {
    loop {
        tokio::time::sleep(FOLLOW).await;
        let state = Arc::clone(&state);
        let followed = tokio::task::spawn_blocking(move || {
            state.roots.iter().for_each(ServedRoot::follow);
        });
        let _ = followed.await;
    }
}
