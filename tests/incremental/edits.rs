//! Random changes of a repository between two runs.

use std::fs::File;
use std::path::Path;

use proptest::prelude::*;

use crate::checkpoints::piecemeal;
use crate::evidence;
use crate::fixture::{Fixture, Run};
use crate::{interrupt_run, refresh, run, run_without_waiting};

/// File that stores the comparisons of old versions of files.
pub(crate) const COMPARISONS: &str = ".aurora/history.comparisons";

/// A step of a test: a change that a developer makes, or a run.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Write {
        file: usize,
        body: usize,
    },
    Append {
        file: usize,
        body: usize,
    },
    Delete {
        file: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    /// Exchanges the paths of two files.
    Exchange {
        one: usize,
        other: usize,
    },
    /// Sets the modification time of a file to the current time.
    Touch {
        file: usize,
    },
    /// Edits a file, keeping its size and modification time.
    Rewrite {
        file: usize,
    },
    /// Replaces a file by another file with the same size and modification time.
    Replace {
        file: usize,
    },
    /// Writes the same content to a new inode, as restoring a cache does.
    Recreate {
        file: usize,
    },
    Mode {
        file: usize,
        executable: bool,
    },
    Link {
        file: usize,
        to: usize,
    },
    /// Replaces a file by a directory that contains one file.
    Directory {
        file: usize,
        body: usize,
    },
    Commit,
    Amend,
    Branch {
        branch: usize,
    },
    /// Commits, switches to another branch, runs the indexer, and switches back.
    ThereAndBack {
        branch: usize,
    },
    Merge {
        branch: usize,
    },
    Stash,
    Unstash,
    Restore,
    Ignore {
        file: usize,
    },
    Index,
    /// Updates the index as a search does.
    Refresh,
    /// Runs the indexer and cancels the run at its first progress report.
    InterruptedIndex,
    /// Runs the indexer and publishes after every file.
    PiecemealIndex,
    /// Runs the indexer without waiting for git's history. Cancels the run before the attributions follow, unless
    /// `finishes` is true.
    ImpatientIndex {
        finishes: bool,
    },
    /// Runs the indexer in a process that aborts at a fault point.
    DyingIndex {
        point: usize,
        force: bool,
    },
    /// Truncates the file [`COMPARISONS`].
    LoseComparisons {
        keeps: usize,
    },
    /// Runs the indexer while the `.git` directory is missing.
    IndexWithoutGit,
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let file = 0..FILES.len();
    let body = 0..BODIES.len();
    prop_oneof![
        5 => (file.clone(), body.clone()).prop_map(|(file, body)| Edit::Write { file, body }),
        3 => (file.clone(), body.clone()).prop_map(|(file, body)| Edit::Append { file, body }),
        2 => file.clone().prop_map(|file| Edit::Delete { file }),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Edit::Rename { from, to }),
        1 => (file.clone(), file.clone()).prop_map(|(one, other)| Edit::Exchange { one, other }),
        1 => file.clone().prop_map(|file| Edit::Touch { file }),
        2 => file.clone().prop_map(|file| Edit::Rewrite { file }),
        1 => file.clone().prop_map(|file| Edit::Replace { file }),
        1 => file.clone().prop_map(|file| Edit::Recreate { file }),
        1 => (file.clone(), any::<bool>()).prop_map(|(file, executable)| Edit::Mode { file, executable }),
        1 => (file.clone(), file.clone()).prop_map(|(file, to)| Edit::Link { file, to }),
        1 => (file.clone(), body).prop_map(|(file, body)| Edit::Directory { file, body }),
        3 => Just(Edit::Commit),
        1 => Just(Edit::Amend),
        1 => (0..3_usize).prop_map(|branch| Edit::Branch { branch }),
        1 => (0..3_usize).prop_map(|branch| Edit::ThereAndBack { branch }),
        1 => (0..3_usize).prop_map(|branch| Edit::Merge { branch }),
        1 => prop::sample::select(vec![Edit::Stash, Edit::Unstash, Edit::Restore]),
        1 => file.prop_map(|file| Edit::Ignore { file }),
        3 => Just(Edit::Index),
        3 => Just(Edit::Refresh),
        1 => Just(Edit::InterruptedIndex),
        1 => Just(Edit::PiecemealIndex),
        1 => any::<bool>().prop_map(|finishes| Edit::ImpatientIndex { finishes }),
        1 => (1..9_usize, any::<bool>()).prop_map(|(point, force)| Edit::DyingIndex { point, force }),
        1 => (0..2000_usize).prop_map(|keeps| Edit::LoseComparisons { keeps }),
        1 => Just(Edit::IndexWithoutGit),
    ]
}

pub(crate) const FILES: &[&str] =
    &["a.py", "src/b.py", "src/c.go", "lib/d.ts", "lib/e.js", "F.java", "README.md", "docs/g.md", "notes.txt"];

pub(crate) const BODIES: &[&str] = &[
    "def parse_token(text):\n    \"\"\"Read the header of a token.\"\"\"\n    return text.split()\n\n\nclass Cache:\n    def evict(self, key):\n        for k in self:\n            if k == key:\n                return parse_token(k)\n",
    "package main\n\n// Retry calls f again after a timeout.\nfunc Retry(f func() error) error {\n\treturn f()\n}\n\ntype Cache struct{ size int }\n\nfunc (c *Cache) Evict(key string) {}\n",
    "export class Reader {\n  /** Reads the header. */\n  header(): string { return parse(this.text); }\n}\nexport const retry = (n: number) => n + 1;\n",
    "# Install guide\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n",
    "public class F {\n  /** Parses. */\n  public int parseToken(String s) { return s.length(); }\n}\n",
    "def broken(:\n  return (\n",
    "",
];

pub(crate) fn apply(fixture: &Fixture, edit: &Edit) {
    match *edit {
        Edit::Write { file, body } => {
            clear(fixture, file);
            fixture.write(FILES[file], BODIES[body]);
        }
        Edit::Append { file, body } => {
            let mut text = std::fs::read_to_string(fixture.path(FILES[file])).unwrap_or_else(|_| {
                clear(fixture, file);
                String::new()
            });
            text.push_str(BODIES[body]);
            fixture.write(FILES[file], text);
        }
        Edit::Delete { file } => clear(fixture, file),
        Edit::Rename { from, to } if path_exists(fixture, from) && from != to => {
            clear(fixture, to);
            rename(fixture, FILES[from], FILES[to]);
        }
        Edit::Exchange { one, other } if path_exists(fixture, one) && path_exists(fixture, other) && one != other => {
            rename(fixture, FILES[one], "aside");
            rename(fixture, FILES[other], FILES[one]);
            rename(fixture, "aside", FILES[other]);
        }
        Edit::Touch { file } => {
            let now = std::time::SystemTime::now();
            if let Ok(file) = File::options().write(true).open(fixture.path(FILES[file])) {
                file.set_modified(now).expect("the modification time can be set");
            }
        }
        Edit::Rewrite { file } if is_regular(fixture, file) => evidence::rewrite(&fixture.path(FILES[file])),
        Edit::Replace { file } if is_regular(fixture, file) => evidence::replace(&fixture.path(FILES[file])),
        Edit::Recreate { file } if is_regular(fixture, file) => {
            let path = fixture.path(FILES[file]);
            let (content, time) = (std::fs::read(&path).expect("the file can be read"), evidence::modified(&path));
            std::fs::remove_file(&path).expect("the file can be removed");
            fixture.write(FILES[file], content);
            evidence::set_modified(&path, time);
        }
        Edit::IndexWithoutGit => {
            let aside = fixture.root().with_extension("repository");
            std::fs::rename(fixture.path(".git"), &aside).expect("the path can be renamed");
            run(fixture.root(), 2, false);
            let _ = std::fs::remove_dir_all(fixture.path(".git"));
            std::fs::rename(aside, fixture.path(".git")).expect("the path can be renamed");
        }
        Edit::Mode { file, executable } => set_mode(&fixture.path(FILES[file]), executable),
        Edit::Link { file, to } => link(fixture, file, to),
        Edit::Directory { file, body } => {
            clear(fixture, file);
            fixture.write(&format!("{}/inner.py", FILES[file]), BODIES[body]);
        }
        Edit::Commit => {
            fixture.commit("work");
        }
        Edit::Amend => {
            fixture.try_git(&["add", "--all"]);
            fixture.try_git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "better"]);
        }
        Edit::Branch { branch } => switch(fixture, branch),
        Edit::ThereAndBack { branch } => {
            fixture.commit("before");
            switch(fixture, branch);
            drop(run(fixture.root(), 2, false));
            fixture.try_git(&["switch", "--quiet", "-"]);
        }
        Edit::Merge { branch } => {
            if !fixture.try_git(&["merge", "--quiet", "--no-edit", "-X", "ours", &format!("branch-{branch}")]) {
                fixture.try_git(&["merge", "--abort"]);
            }
        }
        Edit::Stash => drop(fixture.try_git(&["stash", "--quiet", "--include-untracked"])),
        Edit::Unstash => drop(fixture.try_git(&["stash", "pop", "--quiet"])),
        Edit::Restore => drop(fixture.try_git(&["restore", "."])),
        Edit::Ignore { file } => {
            fixture.write(".auroraignore", format!("{}\n", FILES[file]));
        }
        Edit::Index => drop(run(fixture.root(), 2, false)),
        Edit::Refresh => drop(refresh(fixture.root())),
        Edit::InterruptedIndex => interrupt_run(fixture.root()),
        Edit::PiecemealIndex => drop(piecemeal(fixture.root())),
        Edit::ImpatientIndex { finishes } => drop(run_without_waiting(fixture.root(), finishes)),
        Edit::DyingIndex { point, force } => {
            let mut command = fixture.command();
            command.env("AURORA_DIE_AT_POINT", point.to_string()).args(["mem", "index", "-q"]);
            Run::from_command(if force { command.arg("--force") } else { &mut command });
        }
        Edit::LoseComparisons { keeps } => lose_comparisons(fixture, keeps),
        Edit::Rename { .. }
        | Edit::Exchange { .. }
        | Edit::Rewrite { .. }
        | Edit::Replace { .. }
        | Edit::Recreate { .. } => {}
    }
}

/// Truncates the file [`COMPARISONS`] to `keeps` bytes.
pub(crate) fn lose_comparisons(fixture: &Fixture, keeps: usize) {
    if let Ok(bytes) = std::fs::read(fixture.path(COMPARISONS)) {
        fixture.write(COMPARISONS, &bytes[..keeps.min(bytes.len())]);
    }
}

/// Whether the path of a file exists, possibly as a dangling link.
fn path_exists(fixture: &Fixture, file: usize) -> bool {
    fixture.path(FILES[file]).symlink_metadata().is_ok()
}

/// Whether the path of a file is a regular file.
fn is_regular(fixture: &Fixture, file: usize) -> bool {
    fixture.path(FILES[file]).symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Removes the file, link or directory at the path of a file, if any.
fn clear(fixture: &Fixture, file: usize) {
    let path = fixture.path(FILES[file]);
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.expect("the path can be removed");
}

/// Moves a file and keeps its modification time, as `mv` does.
fn rename(fixture: &Fixture, from: &str, to: &str) {
    let target = fixture.path(to);
    std::fs::create_dir_all(target.parent().expect("the path has a parent")).expect("the directory can be created");
    std::fs::rename(fixture.path(from), target).expect("the path can be renamed");
}

fn switch(fixture: &Fixture, branch: usize) {
    let name = format!("branch-{branch}");
    if !fixture.try_git(&["switch", "--quiet", &name]) {
        fixture.try_git(&["switch", "--quiet", "--create", &name]);
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt;
    if path.is_file() {
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions can be set");
    }
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: bool) {}

/// Replaces a file by a link.
#[cfg(unix)]
fn link(fixture: &Fixture, file: usize, to: usize) {
    clear(fixture, file);
    let path = fixture.path(FILES[file]);
    let up = "../".repeat(FILES[file].matches('/').count());
    std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory can be created");
    std::os::unix::fs::symlink(format!("{up}{}", FILES[to]), path).expect("the link can be created");
}

#[cfg(not(unix))]
fn link(_: &Fixture, _: usize, _: usize) {}
