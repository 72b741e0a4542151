//! A cache of compiled modules in a directory of the user.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use aurora_confined::{Directory, EntryKind};
use wasmtime::{Cache, CacheConfig};

/// The directory of wasmtime's cache. wasmtime removes unknown files in it, so the hashes are in another directory.
const CACHE: &str = "cache";
/// The directory of compiled modules in wasmtime's cache. It has a subdirectory for each version of wasmtime.
const MODULES: &str = "cache/modules";
/// The directory with the hash of each compiled module, in a file with the same name as the module.
const HASHES: &str = "hashes";
/// Maximum size of a compiled module, in bytes. Larger ones are removed.
const MAX_COMPILED_BYTES: u64 = 512 << 20;

/// A user directory for compiled modules. The caller of the pipeline passes it to the stages as a service. If the
/// service is missing, each run compiles its modules. The directory contains machine code, so a repository must not be
/// able to write to it.
///
/// wasmtime runs the code in this directory. Therefore, files that do not match their recorded hash are removed first.
#[derive(Clone, Debug)]
pub struct CompiledModules(pub PathBuf);

impl CompiledModules {
    /// Removes damaged files and returns wasmtime's cache. Returns `None` if the cache cannot be used; then modules are
    /// compiled again, which is only slower.
    pub(crate) fn cache(&self) -> Option<Cache> {
        match self.remove_damaged() {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        let mut config = CacheConfig::new();
        // wasmtime must not compress a file again, because that would change the hash of the file.
        config.with_directory(self.0.join(CACHE)).with_optimized_compression_usage_counter_threshold(u64::MAX);
        Cache::new(config).ok()
    }

    /// Records the hashes of new files.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read or written. In that case, the new files will not be used.
    pub(crate) fn record(&self) -> io::Result<()> {
        let root = Directory::open_root(&self.0)?;
        let hashes = root.create_directories(HASHES)?;
        for (directory, name) in compiled_files(&root)? {
            if !hashes.contains(&name)? {
                let hash = hash_of(&directory, &name)?;
                hashes.replace(&name, |file| file.write_all(hash.as_bytes()))?;
            }
        }
        Ok(())
    }

    fn remove_damaged(&self) -> io::Result<()> {
        let root = Directory::open_root(&self.0)?;
        let hashes = root.create_directories(HASHES)?;
        for (directory, name) in compiled_files(&root)? {
            let recorded = hashes.read(&name, MAX_COMPILED_BYTES).unwrap_or_default();
            if hash_of(&directory, &name).ok().is_none_or(|hash| hash.as_bytes()[..] != recorded) {
                directory.remove(&name)?;
            }
        }
        let kept: Vec<OsString> = compiled_files(&root)?.into_iter().map(|(_, name)| name).collect();
        for (name, _) in hashes.entries()?.into_iter().filter(|(name, _)| !kept.contains(name)) {
            hashes.remove(&name)?;
        }
        Ok(())
    }
}

/// Returns the compiled modules for all versions of wasmtime. Their file names are hashes. Other files in the
/// directories have a dot in their name.
fn compiled_files(root: &Directory) -> io::Result<Vec<(Directory, OsString)>> {
    let mut found = Vec::new();
    let modules = match root.open_directory(MODULES) {
        Ok(modules) => modules,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    for (version, _) in modules.entries()?.into_iter().filter(|(_, kind)| *kind == EntryKind::Directory) {
        for (name, kind) in modules.open_directory(&version)?.entries()? {
            if kind == EntryKind::File && !name.to_string_lossy().contains('.') {
                found.push((modules.open_directory(&version)?, name));
            }
        }
    }
    Ok(found)
}

fn hash_of(directory: &Directory, name: &OsString) -> io::Result<blake3::Hash> {
    Ok(blake3::hash(&directory.read(name, MAX_COMPILED_BYTES)?))
}
