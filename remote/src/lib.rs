//! Indexes in a directory or an object store, from which many machines pull what one machine has pushed.
//!
//! [`Remote::push`] divides an index into content-addressed parts and uploads the parts that the remote does not have.
//! Then it writes a manifest, which names the commit, the digest of the index and the list of parts, and which may be
//! signed. [`Remote::pull`] verifies a manifest, downloads the missing parts into a cache, and replaces the index of a
//! project. [`Remote::prune`] deletes old manifests and unused parts, and [`Remote::verify`] checks a remote.
//!
//! | object | content |
//! |---|---|
//! | `format` | mark and version of the layout |
//! | `parts/HASH` | a part of an index or of a list of parts, compressed; HASH is the BLAKE3 hash of its bytes |
//! | `parts/HASH-BASE` | a part, compressed with the bytes of the part BASE as the dictionary |
//! | `manifests/SEQUENCE` | a manifest and its signature |
//! | `locks/NAME` | announces a push or a prune, or that a push writes its manifest |
//!
//! Deliberately absent: git (the caller selects a manifest), the analysis of texts (the caller computes the terms of
//! chunks), and credentials (they come from the environment of the process).
//!
//! ```
//! use aurora_remote::RemoteUrl;
//!
//! assert!(RemoteUrl::parse("s3://bucket/indexes/app").is_ok());
//! assert!(RemoteUrl::parse("https://user:password@example.com/app").is_err());
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod cache;
mod encoder;
mod error;
mod list;
mod location;
mod locks;
mod maintain;
mod manifest;
mod part;
mod pull;
mod push;
mod remote;
mod seen;
mod settings;
mod signature;
mod store;

pub use error::RemoteError;
pub use location::RemoteUrl;
pub use maintain::{PruneOptions, Pruned, Verified};
pub use manifest::{PreviousManifest, RemoteManifest};
/// An error of a store.
pub use object_store::Error as StoreError;
pub use pull::{PullContext, Pulled};
pub use push::{PushContext, PushProgress, Pushed};
pub use remote::{Listed, Remote, Trust};
pub use settings::{PullPolicy, REMOTE_TABLE, REMOTES_TABLE, RemoteSettings, add_remote};
pub use signature::{Signature, SigningKey, TrustedKeys};
pub use store::Stopper;
