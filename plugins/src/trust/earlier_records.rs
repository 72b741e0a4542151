//! Records of allowed programs in the format of earlier versions, with one file per project path. They are read and
//! revoked, but no new ones are written.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::{Deserialize, Serialize};

/// Maximum size of the records of a project, in bytes.
const MAX_RECORD_BYTES: u64 = 4 << 20;

/// A program that the user has allowed in one project.
#[derive(Serialize, Deserialize)]
pub(super) struct EarlierConsent {
    stage: String,
    command: Vec<String>,
    /// [`ProgramIdentity::program`](super::ProgramIdentity::program) in hexadecimal.
    pub(super) digest: String,
    granted: i64,
}

/// The records of one project.
#[derive(Serialize, Deserialize)]
struct ProjectRecords {
    /// Path of the project, with symbolic links resolved.
    root: PathBuf,
    consents: Vec<EarlierConsent>,
}

/// Returns the consents for the project at `root`. Unreadable records are ignored.
pub(super) fn for_project(directory: &Path, root: &Path) -> impl Iterator<Item = EarlierConsent> {
    read(directory, root).map(|records| records.consents).unwrap_or_default().into_iter()
}

/// Removes the consents for a stage in the project at `root`. Returns the number of removed consents.
pub(super) fn revoke(directory: &Path, root: &Path, stage: &str) -> io::Result<usize> {
    let Some(mut records) = read(directory, root) else { return Ok(0) };
    let before = records.consents.len();
    records.consents.retain(|consent| consent.stage != stage);
    let forgotten = before - records.consents.len();
    if forgotten > 0 {
        let json = serde_json::to_vec_pretty(&records).map_err(io::Error::other)?;
        Directory::open_root(directory)?.replace(file_name(&records.root), |file| file.write_all(&json))?;
    }
    Ok(forgotten)
}

fn read(directory: &Path, root: &Path) -> Option<ProjectRecords> {
    let root = root.canonicalize().ok()?;
    let bytes = Directory::open_root(directory).ok()?.read(file_name(&root), MAX_RECORD_BYTES).ok()?;
    let records: ProjectRecords = serde_json::from_slice(&bytes).ok()?;
    (records.root == root).then_some(records)
}

fn file_name(root: &Path) -> String {
    format!("{}.json", blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex())
}
