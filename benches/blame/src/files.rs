//! Lists the files at HEAD and draws a sample of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the regular files below `root` in the commit at HEAD, with paths relative to `root`.
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

/// Returns the contents of `paths` at HEAD, in the order of `paths`.
pub fn texts(root: &Path, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let failure = |error: std::io::Error| format!("git cat-file: {error}");
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["cat-file", "--batch", "-z"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut git = git.spawn().map_err(failure)?;
    let (input, output) = (git.stdin.take(), git.stdout.take());
    let (Some(mut input), Some(output)) = (input, output) else { return Err("git cat-file has no pipes".into()) };
    std::thread::scope(|scope| {
        scope.spawn(move || paths.iter().try_for_each(|path| input.write_all(&[b"HEAD:", &path[..], b"\0"].concat())));
        let mut output = BufReader::new(output);
        let mut text = || {
            let mut head = String::new();
            output.read_line(&mut head)?;
            let len = head.trim_end().rsplit(' ').next().and_then(|len| len.parse().ok());
            // A missing object has no content.
            let Some(len) = len else { return Ok(Vec::new()) };
            let mut text = vec![0; len];
            output.read_exact(&mut text)?;
            output.read_exact(&mut [0])?;
            Ok(text)
        };
        paths.iter().map(|_| text().map_err(failure)).collect()
    })
}

/// Returns `count` of the paths. The choice depends only on `seed` and the paths.
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
