//! The files at HEAD, and a sample of them.

use std::path::Path;
use std::process::Command;

/// The regular files that the commit at HEAD holds below `root`, relative to it.
pub fn regular_files(root: &Path) -> Result<Vec<Vec<u8>>, String> {
    let listing = Command::new("git").arg("-C").arg(root).args(["ls-tree", "-r", "-z", "HEAD"]).output();
    let listing = listing.map_err(|error| format!("git: {error}"))?;
    if !listing.status.success() {
        return Err(String::from_utf8_lossy(&listing.stderr).into_owned());
    }
    let entries = listing.stdout.split(|&byte| byte == 0).filter(|entry| entry.starts_with(b"100"));
    let paths = entries.filter_map(|entry| Some(entry.splitn(2, |&byte| byte == b'\t').nth(1)?.to_vec()));
    Ok(paths.collect())
}

/// `count` of the paths; which ones depends on `seed` and the paths alone.
pub fn sample(paths: &[Vec<u8>], count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut ranked: Vec<(u64, &Vec<u8>)> = paths.iter().map(|path| (rank(path, seed), path)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(count).map(|(_, path)| path.clone()).collect()
}

/// FNV-1a, then the finalizer of SplitMix64.
fn rank(path: &[u8], seed: u64) -> u64 {
    let mixed = path
        .iter()
        .fold(0xCBF2_9CE4_8422_2325 ^ seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
