//! Ids of sessions that clients cannot guess.
//!
//! An id consists of 128 random bits and a keyed BLAKE3 hash of these bits and of the served projects, in hexadecimal
//! digits. Therefore the server recognises its ids without storing them. The key is in the user's directory.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aurora_confined::Directory;
use aurora_project::user;

use crate::error::MemoryError;

/// Beginning of every id.
const PREFIX: &str = "s-";
/// Number of random bytes, and number of bytes of the hash.
const PART_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// Directory of the file with the key, below the user's directory. Only the user may read the directory.
const DIRECTORY: &str = "state/agents";
/// Name of the file with the key.
const FILE: &str = "sessions.key";
/// Maximum time that another process needs to write a key file that it has created.
const MAX_WAIT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Issues ids and recognises them.
pub(super) struct SessionKey {
    key: [u8; KEY_BYTES],
    /// The paths of the served projects, in a fixed order. An id is valid only for these projects.
    projects: Vec<u8>,
}

impl SessionKey {
    /// Reads the key from the user's directory, and creates it if it does not exist.
    pub(super) fn load(roots: &[PathBuf]) -> Result<Self, MemoryError> {
        let user = user::absolute_directory().ok_or_else(|| {
            MemoryError::Unfit("there is no home directory for the key of sessions; set AURORA_HOME".to_owned())
        })?;
        let path = user.path().join(DIRECTORY);
        let key = Directory::create_private_root(&path).and_then(|directory| load_key(&directory));
        Ok(Self { key: key.map_err(MemoryError::io(path))?, projects: project_bytes(roots) })
    }

    /// Returns a new id.
    pub(super) fn issue(&self) -> Result<String, MemoryError> {
        let random = random_bytes::<PART_BYTES>()?;
        Ok(format!("{PREFIX}{}{}", hex(&random), hex(&self.hash(&random))))
    }

    /// Whether this key has issued the id for the same projects.
    pub(super) fn has_issued(&self, id: &str) -> bool {
        let Some((random, hash)) = id.strip_prefix(PREFIX).and_then(|hex| hex.split_at_checked(2 * PART_BYTES)) else {
            return false;
        };
        let (Some(random), Some(hash)) = (from_hex(random), from_hex(hash)) else { return false };
        // The comparison of BLAKE3 hashes takes constant time.
        let padded = |hash: [u8; PART_BYTES]| {
            let mut bytes = [0; blake3::OUT_LEN];
            bytes[..PART_BYTES].copy_from_slice(&hash);
            blake3::Hash::from_bytes(bytes)
        };
        padded(self.hash(&random)) == padded(hash)
    }

    fn hash(&self, random: &[u8; PART_BYTES]) -> [u8; PART_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(random).update(&self.projects);
        let mut hash = [0; PART_BYTES];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..PART_BYTES]);
        hash
    }
}

/// Returns a random id of a session, without a hash.
pub(super) fn random_id() -> Result<String, MemoryError> {
    Ok(format!("{PREFIX}{}", hex(&random_bytes::<PART_BYTES>()?)))
}

/// Reads the key in a directory. The process that creates the file writes the key. If that process was killed before,
/// the file is replaced.
fn load_key(directory: &Directory) -> io::Result<[u8; KEY_BYTES]> {
    let mut waited = Duration::ZERO;
    loop {
        match directory.create_new(FILE) {
            Ok(mut file) => {
                let key = random_bytes().map_err(|error| io::Error::other(error.to_string()))?;
                file.write_all(&key)?;
                file.sync_all()?;
                return Ok(key);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let mut key = [0; KEY_BYTES];
        match directory.open_file(FILE).and_then(|mut file| file.read_exact(&mut key)) {
            Ok(()) => return Ok(key),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && waited < MAX_WAIT => {
                std::thread::sleep(POLL_INTERVAL);
                waited += POLL_INTERVAL;
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => directory.remove(FILE)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the paths in sorted order. A length precedes each path, so that different lists have different bytes.
fn project_bytes(roots: &[PathBuf]) -> Vec<u8> {
    let mut roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    roots.sort_unstable();
    roots.dedup();
    let path = |root: &&Path| {
        let bytes = root.as_os_str().as_encoded_bytes();
        [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
    };
    roots.iter().flat_map(path).collect()
}

fn random_bytes<const N: usize>() -> Result<[u8; N], MemoryError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| MemoryError::Unfit(format!("no random numbers: {error}")))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<[u8; PART_BYTES]> {
    let is_hex = text.len() == 2 * PART_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number = u128::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8, roots: &[&str]) -> SessionKey {
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        SessionKey { key: [byte; KEY_BYTES], projects: project_bytes(&roots) }
    }

    #[test]
    fn only_issued_ids_are_recognised() {
        let own = key(1, &["/a", "/b"]);
        let id = own.issue().expect("there are random numbers");
        assert_ne!(id, own.issue().expect("there are random numbers"));
        crate::check_session(&id).expect("an id is the name of a session");
        assert!(own.has_issued(&id) && key(1, &["/b", "/a"]).has_issued(&id));
        assert!(!key(2, &["/a", "/b"]).has_issued(&id), "another user");
        for roots in [&["/a"][..], &["/b"], &["/a/b"], &["/a", "/b", "/c"], &[]] {
            assert!(!key(1, roots).has_issued(&id), "{roots:?}");
        }
        for place in PREFIX.len()..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
            assert!(!own.has_issued(&String::from_utf8(changed).expect("the text is ASCII")), "{place}");
        }
        for wrong in ["", "s-", "s42", &id[1..], &id[..id.len() - 1], &format!("{id}0"), &id.to_uppercase()] {
            assert!(!own.has_issued(wrong), "{wrong}");
        }
        assert!(!own.has_issued(&format!("{PREFIX}{}", "ä".repeat(32))));
        assert!(!own.has_issued(&random_id().expect("there are random numbers")));
    }

    #[test]
    fn every_process_reads_the_same_key() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let home = Directory::create_private_root(directory.path()).expect("the directory can be opened");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| load_key(&home).expect("the key can be read"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("the thread does not panic")).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]) && keys[0] != [0; KEY_BYTES]);
    }

    #[test]
    fn a_key_that_was_not_written_completely_is_replaced() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let home = Directory::create_private_root(directory.path()).expect("the directory can be opened");
        home.write(FILE, b"short").expect("the file can be written");
        let key = load_key(&home).expect("the key can be read");
        assert_eq!(load_key(&home).expect("the key can be read"), key);
    }
}
