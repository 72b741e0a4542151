//! Remotes in a directory and on a small S3 server: transfers, damage, signatures, concurrency and pruning.

mod differences;
mod fixture;
mod maintenance;
#[cfg(feature = "cloud")]
mod s3;
#[cfg(feature = "cloud")]
mod s3_server;
mod transfer;
mod trust;
