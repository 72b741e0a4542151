//! The walk against that of the `ignore` crate, which reads directories more than once but knows the same rules.

use std::collections::BTreeSet;
use std::path::Path;

use ignore::WalkBuilder;
use proptest::prelude::*;

use super::walk::{Found, WalkOptions, walk};

fn walked(root: &Path, threads: usize) -> Found {
    walk(&WalkOptions {
        root,
        threads,
        max_file_size: 1 << 20,
        skip_directories: &[],
        is_tracked: &|_| true,
        cancelled: &|| false,
    })
}

/// The files that the `ignore` crate comes upon, and how many entries it leaves out.
fn expected(root: &Path) -> (BTreeSet<String>, usize) {
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .add_custom_ignore_filename(".auroraignore")
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let (mut files, mut left_out) = (BTreeSet::new(), 0);
    for entry in walker {
        // A rule above the root that makes no sense.
        let Ok(entry) = entry else { continue };
        if entry.file_type().unwrap().is_dir() {
            left_out += std::fs::read_dir(entry.path()).unwrap().count();
        } else {
            files.insert(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
        left_out -= usize::from(entry.depth() > 0);
    }
    (files, left_out)
}

/// Names of which some sort differently with a `/` behind them.
const NAMES: &[&str] = &["a", "a.py", "a-b", "b.md", "lib", "src", "x.rs"];
const RULES: &[&str] =
    &["a", "*.py", "!a.py", "/src", "lib/", "src/*.rs", "**/a-b/**", "!lib", "b.md\n!b.md", "# none", "[a-b].*", "\\"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_leaves_out_what_ignore_files_name(
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
            // A file where a directory is wanted, or the other way round, is simply not written.
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

        let found = walked(&root, 2);
        prop_assert!(found.candidates.is_sorted_by(|a, b| a.path < b.path));
        let (files, left_out) = expected(&root);
        let is_ignored = |reason: &str| reason == "named in an ignore file" || reason.starts_with("directory `.git`");
        let (ignored, others): (Vec<_>, Vec<_>) =
            found.omissions.iter().partition(|omission| is_ignored(&omission.reason));
        let seen = found.candidates.iter().map(|file| file.path.to_string());
        let seen: BTreeSet<String> = seen.chain(others.iter().map(|omission| omission.path.clone())).collect();
        prop_assert_eq!(seen, files);
        prop_assert_eq!(ignored.len(), left_out);

        let alone = walked(&root, 1);
        prop_assert_eq!((alone.candidates, alone.omissions), (found.candidates, found.omissions));
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
    let found = walked(&root.join("linked"), 1);
    let paths: Vec<&str> = found.candidates.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["open.py"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_has_a_reason() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"bad\xff.py")), "x = 1\n").unwrap();
    std::fs::create_dir_all(root.join(OsStr::from_bytes(b"worse\xff/deep"))).unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"worse\xff/deep/a.py")), "x = 1\n").unwrap();
    std::fs::write(root.join("with \"quotes\"\n and lines.py"), "x = 1\n").unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("link.py")).unwrap();
    let found = walked(&root, 1);
    let paths: Vec<&str> = found.candidates.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["with \"quotes\"\n and lines.py"]);
    let reasons: Vec<&str> = found.omissions.iter().map(|omission| &*omission.reason).collect();
    assert_eq!(reasons, ["path is not UTF-8", "symbolic link", "path is not UTF-8"]);
}
