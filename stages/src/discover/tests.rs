//! Tests that the walk finds the same files as the `ignore` crate, which implements the same rules. Also tests that a
//! walk with a cache finds the same files as a walk without a cache.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aurora_confined::Directory;
use ignore::WalkBuilder;
use proptest::prelude::*;

use super::listing_cache::{self, ListingCache};
use super::walk::{WalkOptions, WalkOutput, walk};
use crate::formats::FormatTable;
use aurora_cachefile::CacheFile;

fn walk_tree(root: &Path, threads: usize) -> WalkOutput {
    walk_with_cache(root, threads, None)
}

/// Walks a tree restricted to one path.
fn walk_to(root: &Path, path: &str) -> WalkOutput {
    walk_of(root, 1, None, Some(path))
}

/// Minimum age of a change, so that the next change has a different time.
const TICK: Duration = Duration::from_millis(20);

/// Walks a tree with the cache in the given file.
fn walk_with_cache(root: &Path, threads: usize, cache: Option<&Path>) -> WalkOutput {
    walk_of(root, threads, cache, None)
}

fn walk_of(root: &Path, threads: usize, cache: Option<&Path>, only: Option<&str>) -> WalkOutput {
    let cache = cache.map(cache_at);
    let root = &Directory::open_root(root).unwrap();
    let settled = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() - TICK;
    walk(&WalkOptions {
        root,
        threads,
        max_file_size: 1 << 20,
        skip_directories: &[],
        only,
        formats: &FormatTable::new(&Default::default()),
        cache: cache.as_ref(),
        uses_cache: true,
        has_stat_table: false,
        is_tracked: &|_| true,
        is_settled: &|time| u128::try_from(time).unwrap() < settled.as_nanos(),
        cancelled: &|| false,
    })
}

/// Returns the cache file at a path.
fn cache_at(file: &Path) -> CacheFile {
    let directory = Directory::open_root(file.parent().unwrap()).unwrap();
    CacheFile::new(directory, file.file_name().unwrap().to_str().unwrap(), b"secret", 1 << 20)
}

/// Returns the files that the `ignore` crate finds, and the number of entries that it ignores.
fn expected(root: &Path) -> (BTreeSet<String>, usize) {
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .add_custom_ignore_filename(".auroraignore")
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let (mut files, mut omitted) = (BTreeSet::new(), 0);
    for entry in walker {
        // A malformed rule above the root is reported as an error.
        let Ok(entry) = entry else { continue };
        if entry.file_type().unwrap().is_dir() {
            omitted += std::fs::read_dir(entry.path()).unwrap().count();
        } else {
            files.insert(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
        omitted -= usize::from(entry.depth() > 0);
    }
    (files, omitted)
}

/// Names of files and directories. Some names sort differently if a `/` is appended.
const NAMES: &[&str] = &["a", "a.py", "a-b", "b.md", "lib", "src", "x.rs"];
const RULES: &[&str] =
    &["a", "*.py", "!a.py", "/src", "lib/", "src/*.rs", "**/a-b/**", "!lib", "b.md\n!b.md", "# none", "[a-b].*", "\\"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_omits_ignored_entries(
        files in prop::collection::vec(prop::collection::vec(prop::sample::select(NAMES), 1..5), 1..30),
        ignores in prop::collection::vec(
            (
                prop::collection::vec(prop::sample::select(NAMES), 0..3),
                prop::sample::select(vec![".gitignore", ".ignore", ".auroraignore", ".git/info/exclude"]),
                prop::collection::vec(prop::sample::select(RULES), 1..4),
            ),
            0..5,
        ),
        above in prop::option::of(prop::sample::select(RULES)),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let outer = directory.path().canonicalize().unwrap();
        let root = outer.join("root");
        std::fs::create_dir(&root).unwrap();
        let write = |path: &Path, text: &str| {
            // Writes nothing if a file has the path of a directory, or the reverse.
            let _ = std::fs::create_dir_all(path.parent().unwrap());
            let _ = std::fs::write(path, text);
        };
        files.iter().for_each(|parts| write(&root.join(parts.join("/")), "text"));
        for (parts, name, rules) in &ignores {
            write(&root.join(parts.join("/")).join(name), &rules.join("\n"));
        }
        if let Some(rule) = above {
            write(&outer.join(".gitignore"), rule);
        }

        let found = walk_tree(&root, 2);
        prop_assert!(found.files.is_sorted_by(|a, b| a.path < b.path));
        let (files, omitted) = expected(&root);
        let is_ignored = |reason: &str| reason == "named in an ignore file" || reason.starts_with("directory `.git`");
        let (ignored, others): (Vec<_>, Vec<_>) =
            found.omissions.iter().partition(|omission| is_ignored(&omission.reason));
        let seen = found.files.iter().map(|file| file.path.to_string());
        let seen: BTreeSet<String> = seen.chain(others.iter().map(|omission| omission.path.clone())).collect();
        prop_assert_eq!(seen, files);
        prop_assert_eq!(ignored.len(), omitted);

        let alone = walk_tree(&root, 1);
        prop_assert_eq!((&alone.files, &alone.omissions), (&found.files, &found.omissions));

        for file in &found.files {
            let one = walk_to(&root, &file.path);
            prop_assert_eq!((one.files.as_slice(), one.omissions.len()), (std::slice::from_ref(file), 0));
        }
        for omission in &found.omissions {
            let one = walk_to(&root, &format!("{}/below", omission.path));
            prop_assert_eq!((one.files.len(), one.omissions.as_slice()), (0, std::slice::from_ref(omission)));
        }
    }
}

#[test]
fn a_linked_work_tree_has_the_exclude_file_of_its_repository() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("main/.git/info/exclude", "secret.py\n");
    write("main/.git/worktrees/linked/commondir", "../..\n");
    write("linked/.git", "gitdir: ../main/.git/worktrees/linked\n");
    write("linked/secret.py", "x = 1\n");
    write("linked/open.py", "x = 1\n");
    let found = walk_tree(&root.join("linked"), 1);
    let paths: Vec<&str> = found.files.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["open.py"]);
}

#[cfg(unix)]
#[test]
fn omitted_entries_have_a_reason() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"bad\xff.py")), "x = 1\n").unwrap();
    std::fs::create_dir_all(root.join(OsStr::from_bytes(b"worse\xff/deep"))).unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"worse\xff/deep/a.py")), "x = 1\n").unwrap();
    std::fs::write(root.join("with \"quotes\"\n and lines.py"), "x = 1\n").unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("link.py")).unwrap();
    let found = walk_tree(&root, 1);
    let paths: Vec<&str> = found.files.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["with \"quotes\"\n and lines.py"]);
    let reasons: Vec<&str> = found.omissions.iter().map(|omission| &*omission.reason).collect();
    assert_eq!(reasons, ["path is not UTF-8", "symbolic link", "path is not UTF-8"]);
}

/// A change of a tree. A change that is not possible has no effect.
#[derive(Debug, Clone)]
enum Edit {
    Write(String, &'static str),
    Remove(String),
    Rename(String, String),
}

impl Edit {
    fn apply(&self, root: &Path) {
        match self {
            Self::Write(path, text) => {
                let path = root.join(path);
                let _ = fs::create_dir_all(path.parent().unwrap());
                let _ = fs::write(path, text);
            }
            Self::Remove(path) => {
                let path = root.join(path);
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            }
            Self::Rename(from, to) => drop(fs::rename(root.join(from), root.join(to))),
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = || prop::collection::vec(prop::sample::select(NAMES), 1..4).prop_map(|parts| parts.join("/"));
    let ignore_file = (prop::option::of(path()), prop::sample::select(vec![".gitignore", ".auroraignore"]))
        .prop_map(|(directory, name)| directory.map_or_else(|| name.to_owned(), |path| format!("{path}/{name}")));
    prop_oneof![
        4 => path().prop_map(|path| Edit::Write(path, "text")),
        2 => (ignore_file, prop::sample::select(RULES)).prop_map(|(path, rule)| Edit::Write(path, rule)),
        2 => path().prop_map(Edit::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn walks_with_and_without_a_cache_find_the_same_files(
        steps in prop::collection::vec((prop::collection::vec(edit(), 1..12), any::<bool>()), 1..6),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (root, file) = (directory.path().join("root"), directory.path().join("tree.walk"));
        fs::create_dir(&root).unwrap();
        for (edits, settles) in steps {
            edits.iter().for_each(|edit| edit.apply(&root));
            if settles {
                sleep(TICK + TICK);
            }
            let (cached, fresh) = (walk_with_cache(&root, 2, Some(&file)), walk_tree(&root, 1));
            prop_assert_eq!((cached.files, cached.omissions), (fresh.files, fresh.omissions));
        }
    }
}

/// Creates a tree in which all changes are older than the resolution of timestamps, and the cache of a walk over the
/// tree.
#[cfg(target_os = "linux")]
fn settled_tree() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (root, file) = (directory.path().join("root"), directory.path().join("tree.walk"));
    for path in ["a.py", "src/b.py", "src/deep/c.py", "src/deep/d.py", "other/e.py"] {
        Edit::Write(path.to_owned(), "x = 1\n").apply(&root);
    }
    sleep(TICK + TICK);
    walk_with_cache(&root, 1, Some(&file));
    (directory, root, file)
}

#[cfg(target_os = "linux")]
#[test]
fn an_unchanged_directory_is_not_read() {
    use std::os::unix::fs::MetadataExt as _;

    let (_directory, root, file) = settled_tree();
    let inode = || fs::metadata(&file).unwrap().ino();
    let before = inode();
    assert_eq!(walk_with_cache(&root, 2, Some(&file)).files.len(), 5);
    assert_eq!(inode(), before, "there is nothing new to write");

    // If the name in the cache differs from the name in the directory, the walk uses the cached name.
    let (from, to) = (b"c.py", b"z.py");
    let mut content = ListingCache::read(&cache_at(&file)).unwrap().content().to_vec();
    let at = content.windows(from.len()).position(|window| window == from).unwrap();
    content[at..at + to.len()].copy_from_slice(to);
    cache_at(&file).append(&listing_cache::format(), None, &content).unwrap();
    let found = walk_with_cache(&root, 2, Some(&file));
    assert!(
        found
            .omissions
            .iter()
            .any(|omission| omission.path == "src/deep/z.py" && omission.reason == "vanished during the run")
    );
    // The walk reads the directory again once it changes.
    let before = fs::read(&file).unwrap();
    Edit::Write("src/deep/f.py".to_owned(), "x = 1\n").apply(&root);
    let (found, fresh) = (walk_with_cache(&root, 2, Some(&file)), walk_tree(&root, 1));
    assert_eq!((found.files, found.omissions), (fresh.files, fresh.omissions));
    assert_ne!(fs::read(&file).unwrap(), before, "the listing is written");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_whose_mtime_was_reset_is_read() {
    let (_directory, root, file) = settled_tree();
    let deep = root.join("src/deep");
    let before = fs::metadata(&deep).unwrap().modified().unwrap();
    Edit::Write("src/deep/f.py".to_owned(), "x = 1\n").apply(&root);
    fs::File::open(&deep).unwrap().set_modified(before).unwrap();
    let found = walk_with_cache(&root, 2, Some(&file));
    assert!(found.files.iter().any(|file| &*file.path == "src/deep/f.py"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_damaged_cache_is_not_used() {
    let (_directory, _, file) = settled_tree();
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&file, damaged).unwrap();
        assert!(ListingCache::read(&cache_at(&file)).is_none(), "byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert!(ListingCache::read(&cache_at(&file)).is_none(), "cut to {at} bytes");
    }
}

#[test]
fn a_tree_as_deep_as_the_longest_path_is_walked() {
    let directory = tempfile::tempdir().unwrap();
    let (root, file) = (directory.path().join("r"), directory.path().join("tree.walk"));
    let deep = root.join(["d"; 1_900].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("a.py"), "x = 1\n").unwrap();
    for _ in 0..3 {
        sleep(TICK + TICK);
        assert_eq!(walk_with_cache(&root, 2, Some(&file)).files.len(), 1);
    }
}
