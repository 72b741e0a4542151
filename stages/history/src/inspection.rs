//! Checks of git's own files before gix opens them by path.
//!
//! `git clone` creates a new `.git`, but a `.git` from an archive, a shared disk or a build may contain any file. gix
//! opens the files in `.git` by path, so it would block on a named pipe and read endlessly from a device. Every file
//! that gix will open is therefore checked first. It must be a regular file of a size that git would write. Symbolic
//! links within `.git` are common (`git-new-workdir`, Android's `repo`) and are followed.

use std::path::{Component, Path, PathBuf};

use aurora_confined::read_regular;
use gix::bstr::ByteSlice as _;

/// Maximum size of a file that contains one path or one reference, in bytes.
const MAX_POINTER_BYTES: u64 = 64 << 10;
/// Maximum size of a configuration file, in bytes.
const MAX_CONFIG_BYTES: u64 = 4 << 20;
/// Maximum size of `packed-refs` in bytes, enough for about four million references.
const MAX_PACKED_REFS_BYTES: u64 = 256 << 20;
/// Maximum size of `shallow` in bytes, enough for more than a million commits.
const MAX_SHALLOW_BYTES: u64 = 64 << 20;
/// Maximum size of git's index in bytes, enough for about ten million files.
const MAX_INDEX_BYTES: u64 = 1 << 30;
/// Maximum length of a chain of symbolic references. Git follows five.
const MAX_SYMBOLIC_REFS: usize = 8;
/// Maximum number of object directories.
const MAX_OBJECT_DIRECTORIES: usize = 64;
/// Maximum length of a chain of alternates, as in git.
const MAX_ALTERNATE_DEPTH: usize = 5;
/// Maximum number of included configuration files.
const MAX_INCLUDES: usize = 64;
/// Maximum number of files and directories below `refs/replace`.
const MAX_REPLACEMENTS: usize = 100_000;

/// The result of an inspection.
pub(crate) struct Inspection {
    /// The object directories: the directory of the repository, followed by its alternates.
    pub(crate) objects: Vec<PathBuf>,
    /// Whether the files that the repository's configuration includes are safe to read.
    pub(crate) includes_are_safe: bool,
}

/// Checks the files that decide whether a directory contains a repository.
///
/// # Errors
/// Returns the reason if one of these files is not safe to read.
pub(crate) fn check_pointers(directory: &Path) -> Result<(), String> {
    let git = directory.join(".git");
    match git.metadata() {
        Ok(found) if found.is_dir() => check_small_files(&git)?,
        Ok(found) if found.is_file() => {
            check(&git, MAX_POINTER_BYTES)?;
            if let Some(own) = read_gitdir(&git) {
                check_small_files(&directory.join(own))?;
            }
        }
        Ok(_) => return Err(not_regular(&git)),
        Err(_) => {}
    }
    check_small_files(directory)
}

/// Checks the files of the repository whose git directory is `git_dir`.
///
/// # Errors
/// Returns the reason if one of the files is not safe to read.
pub(crate) fn inspect(git_dir: &Path) -> Result<Inspection, String> {
    let common = match read_regular(&git_dir.join("commondir"), MAX_POINTER_BYTES) {
        Ok(path) => git_dir.join(gix::path::from_bstr(path.trim_end().as_bstr()).map_err(|error| error.to_string())?),
        Err(_) => git_dir.to_owned(),
    };
    check(&common.join("packed-refs"), MAX_PACKED_REFS_BYTES)?;
    check(&common.join("shallow"), MAX_SHALLOW_BYTES)?;
    check(&git_dir.join("index"), MAX_INDEX_BYTES)?;
    for entry in git_dir.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b"sharedindex.") {
            check(&entry.path(), MAX_INDEX_BYTES)?;
        }
    }
    check_head(git_dir, &common)?;
    let mut left = MAX_REPLACEMENTS;
    for directory in [git_dir, &common] {
        check_references(&directory.join("refs").join("replace"), &mut left)?;
    }
    let configs = [common.join("config"), git_dir.join("config.worktree")];
    let mut includes_are_safe = true;
    for config in &configs {
        check(config, MAX_CONFIG_BYTES)?;
        includes_are_safe &= check_includes(config)?;
    }
    Ok(Inspection { objects: object_directories(common.join("objects"))?, includes_are_safe })
}

/// Whether a path from the configuration of a repository is safe to read. A path is safe if it is a regular file or
/// does not exist.
pub(crate) fn is_readable(path: &Path) -> bool {
    check(path, u64::MAX).is_ok() && !path.is_dir()
}

/// Checks the files that identify a git directory.
fn check_small_files(git_dir: &Path) -> Result<(), String> {
    ["HEAD", "commondir", "gitdir"].into_iter().try_for_each(|name| check(&git_dir.join(name), MAX_POINTER_BYTES))
}

/// Returns the git directory that a `.git` file points to.
fn read_gitdir(file: &Path) -> Option<PathBuf> {
    let content = read_regular(file, MAX_POINTER_BYTES).ok()?;
    let path = content.strip_prefix(b"gitdir: ")?.trim_end();
    Some(gix::path::from_bstr(path.as_bstr()).ok()?.into_owned())
}

/// Fails unless a path is a regular file of at most `limit` bytes or a directory, or does not exist.
fn check(path: &Path, limit: u64) -> Result<(), String> {
    let Ok(found) = path.metadata() else { return Ok(()) };
    if !found.is_file() && !found.is_dir() {
        return Err(not_regular(path));
    }
    if found.is_file() && found.len() > limit {
        return Err(format!("{} is larger than {limit} bytes", path.display()));
    }
    // Files in these file systems are reported as regular files, but reading some of them blocks or never ends.
    let is_of_kernel = |path: PathBuf| ["/proc", "/sys"].iter().any(|root| path.starts_with(root));
    if found.is_file() && found.len() == 0 && path.canonicalize().is_ok_and(is_of_kernel) {
        return Err(not_regular(path));
    }
    Ok(())
}

fn not_regular(path: &Path) -> String {
    format!("{} is not a regular file", path.display())
}

/// Checks HEAD and the references to which it points.
fn check_head(git_dir: &Path, common: &Path) -> Result<(), String> {
    let mut name = PathBuf::from("HEAD");
    for _ in 0..MAX_SYMBOLIC_REFS {
        let mut target = None;
        for base in [git_dir, common] {
            let path = base.join(&name);
            check(&path, MAX_POINTER_BYTES)?;
            let content = read_regular(&path, MAX_POINTER_BYTES).unwrap_or_default();
            let symbolic = content.strip_prefix(b"ref:").map(|name| name.trim().as_bstr().to_owned());
            target = target.or(symbolic);
        }
        let Some(next) = target else { return Ok(()) };
        name = gix::path::from_bstring(next).map_err(|error| error.to_string())?;
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err("HEAD names a reference outside of the repository".to_owned());
        }
    }
    Err("the chain of symbolic references from HEAD is too long".to_owned())
}

/// Checks the references below a directory, without following symbolic links.
fn check_references(directory: &Path, left: &mut usize) -> Result<(), String> {
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            *left = left.checked_sub(1).ok_or("it has too many replace refs")?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            } else {
                check(&entry.path(), MAX_POINTER_BYTES)?;
            }
        }
    }
    Ok(())
}

/// Checks whether all files that a configuration file includes, directly or indirectly, are safe to read.
///
/// # Errors
/// Fails if a file has a section `gitoxide`, because such a section changes how gix opens the repository.
fn check_includes(config: &Path) -> Result<bool, String> {
    let mut files = vec![config.to_owned()];
    let mut at = 0;
    while let Some(file) = files.get(at).cloned() {
        at += 1;
        let Ok(content) = read_regular(&file, MAX_CONFIG_BYTES) else { continue };
        let metadata = gix::config::file::Metadata::from(gix::config::Source::Local);
        // gix does not follow the includes of a file that it cannot parse.
        let Ok(config) = gix::config::File::from_bytes_no_includes(&content, metadata, Default::default()) else {
            continue;
        };
        if config.sections_by_name("gitoxide").is_some_and(|mut sections| sections.next().is_some()) {
            return Err(format!(
                "{} has a section `gitoxide`, which only a user's configuration may have",
                file.display()
            ));
        }
        for section in ["include", "includeIf"].into_iter().filter_map(|name| config.sections_by_name(name)).flatten() {
            for path in section.values("path") {
                let Some(path) = included_path(&file, path.as_bstr()) else { return Ok(false) };
                if check(&path, MAX_CONFIG_BYTES).is_err() || files.len() == MAX_INCLUDES {
                    return Ok(false);
                }
                files.push(path);
            }
        }
    }
    Ok(true)
}

/// Returns the path of an included file, or `None` if the path starts with `%(prefix)/` or with the home directory of a
/// named user (`~user`).
fn included_path(by: &Path, path: &gix::bstr::BStr) -> Option<PathBuf> {
    if path.starts_with(b"%(prefix)/") {
        return None;
    }
    if let Some(below) = path.strip_prefix(b"~/") {
        return Some(std::env::home_dir()?.join(gix::path::from_bstr(below.as_bstr()).ok()?));
    }
    if path.starts_with(b"~") {
        return None;
    }
    Some(by.parent()?.join(gix::path::from_bstr(path).ok()?))
}

/// Returns the object directory and its alternates after checking the packs in them.
fn object_directories(objects: PathBuf) -> Result<Vec<PathBuf>, String> {
    let mut directories = vec![(objects.clone(), 0)];
    let mut at = 0;
    while let Some((directory, depth)) = directories.get(at).cloned() {
        at += 1;
        check_packs(&directory.join("pack"))?;
        let alternates = directory.join("info").join("alternates");
        check(&alternates, MAX_POINTER_BYTES)?;
        let listed = read_regular(&alternates, MAX_POINTER_BYTES).unwrap_or_default();
        for path in gix::odb::alternate::parse(&listed).map_err(|error| error.to_string())? {
            let path = objects.join(path);
            let is_same = |known: &Path| known == path || known.canonicalize().ok() == path.canonicalize().ok();
            if directories.iter().any(|(known, _)| is_same(known)) {
                continue;
            }
            if depth == MAX_ALTERNATE_DEPTH || directories.len() == MAX_OBJECT_DIRECTORIES {
                return Err("it has too many alternates".to_owned());
            }
            directories.push((path, depth + 1));
        }
    }
    Ok(directories.into_iter().map(|(directory, _)| directory).collect())
}

/// Checks the files that gix opens in a directory of packs.
fn check_packs(directory: &Path) -> Result<(), String> {
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        let extension = path.extension().map(std::ffi::OsStr::as_encoded_bytes);
        if matches!(extension, None | Some(b"idx" | b"pack")) {
            check(&path, u64::MAX)?;
        }
    }
    let list = directory.join("multi-pack-index");
    let Ok(found) = list.metadata() else { return Ok(()) };
    if !found.is_file() || found.len() == 0 {
        return Ok(());
    }
    let Ok(packs) = gix::odb::pack::multi_index::File::at(&list, Some(MAX_CONFIG_BYTES as usize)) else {
        return Ok(());
    };
    let is_name = |path: &PathBuf| path.components().count() == 1 && path.file_name().is_some();
    if packs.index_names().iter().all(is_name) {
        Ok(())
    } else {
        Err(format!("{} names packs outside of its directory", list.display()))
    }
}
