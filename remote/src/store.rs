//! Requests to the store of a remote.

use std::future::Future;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, GetResultPayload, ObjectStore, ObjectStoreExt, PutMode};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::error::RemoteError;
use crate::location::RemoteUrl;

/// Maximum number of requests at the same time.
pub(crate) const PARALLEL: usize = 16;
/// Maximum time for one request with all its retries, in seconds.
const REQUEST_SECONDS: u64 = 300;
/// Maximum time for a listing, in seconds.
const LIST_SECONDS: u64 = 900;
/// Maximum number of objects in a listing.
const MAX_OBJECTS: usize = 4_000_000;

/// An object in a listing.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Name after the listed prefix.
    pub(crate) name: String,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Time of the last write by the clock of the store, in Unix seconds.
    pub(crate) modified: i64,
}

/// Stops the operations of a remote, from any thread.
#[derive(Clone, Default)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// Ends running requests, and lets all later ones fail with [`RemoteError::Stopped`].
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether the operations were stopped.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }
}

/// The objects below the URL of a remote.
#[derive(Clone)]
pub(crate) struct Store {
    objects: Arc<dyn ObjectStore>,
    pub(crate) stopper: Stopper,
    ignores_conditions: Arc<AtomicBool>,
}

impl Store {
    /// Opens a store. `creates` allows it to create the directory of a `file` URL.
    pub(crate) fn open(url: &RemoteUrl, creates: bool) -> Result<Self, RemoteError> {
        let Some(directory) = url.directory() else {
            let store = network_store(url)?;
            let objects = Arc::new(PrefixStore::new(store, Path::parse(url.prefix()).map_err(invalid)?));
            return Ok(Self::new(objects));
        };
        if creates {
            #[allow(clippy::disallowed_methods, reason = "the user has named the directory")]
            std::fs::create_dir_all(&directory)
                .map_err(|source| RemoteError::Io { path: directory.clone(), source })?;
        } else if !directory.is_dir() {
            return Err(RemoteError::Missing(url.to_string()));
        }
        let local = LocalFileSystem::new_with_prefix(&directory);
        let local = local.map_err(|source| RemoteError::Store { action: format!("open {url}"), source })?;
        // A power failure must not leave an empty object under the name of a part.
        Ok(Self::new(Arc::new(local.with_fsync(true))))
    }

    fn new(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, stopper: Stopper::default(), ignores_conditions: Arc::default() }
    }

    /// Returns the store for requests that clean up after the operations were stopped.
    pub(crate) fn unstopped(&self) -> Self {
        Self { stopper: Stopper::default(), ..self.clone() }
    }

    /// Fails if the operations were stopped.
    pub(crate) fn check_running(&self) -> Result<(), RemoteError> {
        if self.stopper.is_stopped() { Err(RemoteError::Stopped) } else { Ok(()) }
    }

    /// Reads an object. Returns `None` if it does not exist.
    pub(crate) async fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let action = || format!("read {name}");
        let failed = |source| RemoteError::Store { action: action(), source };
        let read = async {
            let found = match self.objects.get(&Path::from(name)).await {
                Ok(found) => found,
                Err(Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            let too_large = || RemoteError::damaged(name, format!("it has more than {limit} bytes"));
            // The announced size may be forged, so the bytes are counted while they arrive.
            let mut bytes = Vec::new();
            match found.payload {
                // As a stream, a file would be read in small pieces, each by another thread.
                GetResultPayload::File(file, path) => {
                    let read = move || file.take(limit + 1).read_to_end(&mut bytes).map(|_| bytes);
                    let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::from).flatten();
                    bytes = read.map_err(|source| RemoteError::Io { path, source })?;
                }
                GetResultPayload::Stream(mut stream) => {
                    while let Some(piece) = stream.next().await.transpose().map_err(failed)? {
                        if bytes.len() as u64 + piece.len() as u64 > limit {
                            return Err(too_large());
                        }
                        bytes.extend_from_slice(&piece);
                    }
                }
            }
            if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(Some(bytes)) }
        };
        self.within(REQUEST_SECONDS, action, read).await
    }

    /// Records that the store overwrites objects even if a request forbids it.
    pub(crate) fn set_ignores_conditions(&self) {
        self.ignores_conditions.store(true, Ordering::Relaxed);
    }

    /// Whether the store overwrites objects even if a request forbids it.
    pub(crate) fn ignores_conditions(&self) -> bool {
        self.ignores_conditions.load(Ordering::Relaxed)
    }

    /// Writes an object that does not exist yet. Returns `false` if it exists. In a store that ignores conditions,
    /// another machine must not write a different object of this name at the same time.
    pub(crate) async fn put_new(&self, name: &str, bytes: Vec<u8>) -> Result<bool, RemoteError> {
        if self.ignores_conditions() && self.modified(name).await?.is_some() {
            return Ok(false);
        }
        match self.put_with(name, bytes, PutMode::Create).await {
            Ok(()) => Ok(true),
            Err(RemoteError::Store { source: Error::AlreadyExists { .. } | Error::Precondition { .. }, .. }) => {
                Ok(false)
            }
            Err(RemoteError::Store { source: Error::NotImplemented { .. } | Error::NotSupported { .. }, .. }) => {
                Err(RemoteError::NoConditionalWrites)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes an object, and replaces an existing one.
    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), RemoteError> {
        self.put_with(name, bytes, PutMode::Overwrite).await
    }

    async fn put_with(&self, name: &str, bytes: Vec<u8>, mode: PutMode) -> Result<(), RemoteError> {
        let action = || format!("write {name}");
        let put = async {
            let put = self.objects.put_opts(&Path::from(name), bytes.into(), mode.into()).await;
            put.map(drop).map_err(|source| RemoteError::Store { action: action(), source })
        };
        self.within(REQUEST_SECONDS, action, put).await
    }

    /// Deletes an object, which may be missing.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), RemoteError> {
        let action = || format!("delete {name}");
        let delete = async {
            match self.objects.delete(&Path::from(name)).await {
                Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                Err(source) => Err(RemoteError::Store { action: action(), source }),
            }
        };
        self.within(REQUEST_SECONDS, action, delete).await
    }

    /// Lists the objects below a prefix.
    pub(crate) async fn list(&self, prefix: &str) -> Result<Vec<Entry>, RemoteError> {
        let action = || format!("list {prefix}");
        let list = async {
            let objects = self.objects.list(Some(&Path::from(prefix)));
            let entry = |object: object_store::ObjectMeta| Entry {
                name: object.location.filename().unwrap_or_default().to_owned(),
                bytes: object.size,
                modified: object.last_modified.timestamp(),
            };
            let listed: Result<Vec<Entry>, _> = objects.map_ok(entry).take(MAX_OBJECTS + 1).try_collect().await;
            match listed {
                Ok(listed) if listed.len() > MAX_OBJECTS => {
                    Err(RemoteError::TooLarge(format!("more than {MAX_OBJECTS} objects in {prefix}")))
                }
                Ok(listed) => Ok(listed),
                Err(Error::NotFound { .. }) => Ok(Vec::new()),
                Err(source) => Err(RemoteError::Store { action: action(), source }),
            }
        };
        self.within(LIST_SECONDS, action, list).await
    }

    /// Returns the store's time of the last write to an object.
    pub(crate) async fn modified(&self, name: &str) -> Result<Option<i64>, RemoteError> {
        let action = || format!("read {name}");
        let head = async {
            match self.objects.head(&Path::from(name)).await {
                Ok(object) => Ok(Some(object.last_modified.timestamp())),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(source) => Err(RemoteError::Store { action: action(), source }),
            }
        };
        self.within(REQUEST_SECONDS, action, head).await
    }

    /// Limits the time of a request, and ends it when the operations are stopped.
    async fn within<T>(
        &self,
        seconds: u64,
        action: impl Fn() -> String,
        request: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        let mut stopped = self.stopper.0.subscribe();
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => Err(RemoteError::Stopped),
            result = tokio::time::timeout(Duration::from_secs(seconds), request) => {
                result.unwrap_or_else(|_| Err(RemoteError::Timeout { action: action(), seconds }))
            }
        }
    }
}

/// Creates the runtime of requests.
pub(crate) fn runtime() -> Result<Runtime, RemoteError> {
    let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("aurora-remote").enable_all().build();
    runtime.map_err(|source| RemoteError::Io { path: "threads".into(), source })
}

fn invalid(error: impl std::fmt::Display) -> RemoteError {
    RemoteError::Url(error.to_string())
}

#[cfg(not(feature = "cloud"))]
fn network_store(url: &RemoteUrl) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    Err(RemoteError::Url(format!("this program was built without support for `{}`", url.scheme())))
}

/// Opens a store that is reached over a network, with credentials from the environment.
#[cfg(feature = "cloud")]
fn network_store(url: &RemoteUrl) -> Result<Arc<dyn ObjectStore>, RemoteError> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
    use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
    use object_store::http::HttpBuilder;
    use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, RetryConfig};

    // Fails only if a provider is already installed.
    drop(rustls::crypto::ring::default_provider().install_default());
    let retry = RetryConfig {
        backoff: BackoffConfig { max_backoff: Duration::from_secs(10), ..BackoffConfig::default() },
        max_retries: 6,
        retry_timeout: Duration::from_secs(120),
    };
    let client = [(ClientConfigKey::ConnectTimeout, "10 seconds"), (ClientConfigKey::Timeout, "120 seconds")];
    let address = url.as_str();
    let store: Arc<dyn ObjectStore> = match url.scheme() {
        "s3" => {
            let builder = AmazonS3Builder::from_env().with_url(address).with_retry(retry);
            let set =
                |builder: AmazonS3Builder, (key, value)| builder.with_config(AmazonS3ConfigKey::Client(key), value);
            Arc::new(client.into_iter().fold(builder, set).build().map_err(access)?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(address).with_retry(retry);
            let set = |builder: GoogleCloudStorageBuilder, (key, value)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            };
            Arc::new(client.into_iter().fold(builder, set).build().map_err(access)?)
        }
        "az" => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(address).with_retry(retry);
            let set =
                |builder: MicrosoftAzureBuilder, (key, value)| builder.with_config(AzureConfigKey::Client(key), value);
            Arc::new(client.into_iter().fold(builder, set).build().map_err(access)?)
        }
        _ => {
            let host = &address[..address.len() - url.prefix().len()];
            let options =
                client.into_iter().fold(ClientOptions::new(), |options, (key, value)| options.with_config(key, value));
            let builder = HttpBuilder::new().with_url(host).with_retry(retry).with_client_options(options);
            Arc::new(builder.build().map_err(access)?)
        }
    };
    Ok(store)
}

#[cfg(feature = "cloud")]
fn access(error: Error) -> RemoteError {
    RemoteError::Access(error.to_string())
}
