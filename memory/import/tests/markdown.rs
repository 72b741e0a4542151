//! Tests of reading notes from directories of Markdown files.

use std::fs;
use std::path::Path;

use aurora_memory::{LineDefaults, Placement, Scope, Transfer, TransferredEntry};
use aurora_memory_import::MarkdownNotes;
use tempfile::TempDir;

type Found = Vec<Transfer>;

/// Creates a directory with files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    for (path, text) in files {
        write(directory.path(), path, text);
    }
    directory
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a file has a parent")).expect("writable");
    fs::write(path, text).expect("writable");
}

fn open(path: &Path) -> std::io::Result<MarkdownNotes> {
    let placement = Placement { scope: Scope::User, session: None };
    MarkdownNotes::open(path, LineDefaults { placement, time: i64::MAX })
}

fn read(directory: &TempDir) -> Found {
    open(directory.path()).expect("the directory exists").collect()
}

fn format_found(found: &Found) -> String {
    let lines = found.iter().map(|found| match found {
        Ok(TransferredEntry { entry, source, .. }) => {
            let links: Vec<&str> = entry.links().iter().map(|link| link.to).collect();
            format!("{source}: {} {:?} {:?}", entry.id(), entry.title(), links)
        }
        Err(problem) => match problem.mistakes.is_empty() {
            true => format!("{:?} [{}] {}: {}", problem.effect, problem.reason, problem.what, problem.why),
            false => format!("{:?} [{}] {}\n{}", problem.effect, problem.reason, problem.what, problem.mistakes),
        },
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_at_any_depth_become_notes_with_links() {
    let directory = directory(&[
        (
            "README.md",
            "# Notes\nStart with [the guide](guides/Deploy%20Keys.md#rotate), then [[sessions]] and [[Gone]].",
        ),
        ("guides/Deploy Keys.md", "Back to [the start](../README.md). ```[[sessions]]``` [self](Deploy%20Keys.md)"),
        (
            "guides/deep/er/sessions.markdown",
            "---\ntitle: Sessions\ntags: [auth, web]\ncreated: 2026-01-02\n---\nSee [[deploy keys|keys]].",
        ),
        ("plain.txt", "Only text, so [[README]] is not a link."),
        ("given.md", "---\nid: note:my-own\n---\nAn explicit id."),
        ("uses.md", "[[given]] and [it](given.md)"),
        (".hidden/a.md", "hidden"),
        ("code.rs", "fn main() {}"),
    ]);
    let found = read(&directory);
    insta::assert_snapshot!(format_found(&found), @r#"
    README.md: note:readme "Notes" ["note:guides/deploy-keys", "note:guides/deep/er/sessions"]
    given.md: note:my-own "An explicit id." []
    guides/Deploy Keys.md: note:guides/deploy-keys "Back to [the start](../README.md). ```[[sessions]]``` [self](Deploy%20Keys.md)" ["note:readme"]
    guides/deep/er/sessions.markdown: note:guides/deep/er/sessions "Sessions" ["note:guides/deploy-keys"]
    plain.txt: note:plain "Only text, so [[README]] is not a link." []
    uses.md: note:uses "[[given]] and [it](given.md)" ["note:my-own"]
    "#);
    let sessions = found
        .iter()
        .flatten()
        .find(|found| found.entry.id() == "note:guides/deep/er/sessions")
        .expect("the note exists");
    assert_eq!((sessions.created, sessions.entry.tags()), (1_767_312_000, vec!["auth", "web"]));
    let readme = found.iter().flatten().find(|found| found.source == "README.md").expect("the note exists");
    assert!(readme.created == readme.edited && readme.edited > 1_700_000_000);
    // Reading again yields the same result. After one note has changed, only this note differs.
    assert_eq!(read(&directory), found);
    write(directory.path(), "plain.txt", "Another text.");
    let changed = read(&directory);
    let differing = found.iter().zip(&changed).filter(|(before, after)| before != after).count();
    assert_eq!((differing, changed.len()), (1, found.len()));
}

#[test]
fn files_that_are_not_notes_are_reported() {
    let directory = directory(&[
        ("empty.md", " \n"),
        ("front.md", "---\ntitle: a\ntitle: b\ndate: yesterday\nid: other\n---\ntext"),
        ("a b.md", "one"),
        ("a-b.md", "two"),
        ("x.md", "---\nid: note:same\n---\none"),
        ("y.md", "---\nid: note:same\n---\ntwo"),
    ]);
    write(directory.path(), "bytes.md", [b'a', 0xff, b'b']);
    write(directory.path(), "nul.md", "a\0b");
    write(directory.path(), "long.md", "x".repeat((4 << 20) + 1));
    insta::assert_snapshot!(format_found(&read(&directory)), @r#"
    Unmapped [id] y.md: its front matter has the same id as x.md
    Altered [id] a-b.md: another note has the id derived from its path
    a b.md: note:a-b "one" []
    a-b.md: note:a-b-80fc7ec8 "two" []
    Unmapped [utf-8] bytes.md: it cannot be read: invalid utf-8 sequence of 1 bytes from index 1
    Unmapped [document] empty.md
    error[A0304]: the note has no text
     --> empty.md:1:1
    1 | 
    Unmapped [document] front.md
    error[A0305]: `title` is set twice in the front matter
     --> front.md:3:1
    3 | title: b

    error[A0303]: `date` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "yesterday"
     --> front.md:4:1
    4 | date: yesterday

    error[A0307]: `id` must begin with `note:`, and "other" does not
     --> front.md:5:1
    5 | id: other
      = help: write "note:other"
    Unmapped [too-long] long.md: it cannot be read: it is larger than 4194304 bytes
    Unmapped [document] nul.md
    error[A0303]: a note must not contain NUL characters
     --> nul.md:1:2
    1 | a�b
    x.md: note:same "one" []
    "#);
    assert!(open(&directory.path().join("empty.md")).is_err());
    assert!(open(&directory.path().join("gone")).is_err());
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_pipes_do_not_block() {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let elsewhere = directory(&[("secret.md", "a secret")]);
    let directory = directory(&[("real.md", "a note")]);
    symlink(elsewhere.path().join("secret.md"), directory.path().join("link.md")).expect("the link can be created");
    symlink(elsewhere.path(), directory.path().join("folder")).expect("the link can be created");
    symlink("..", directory.path().join("loop.md")).expect("the link can be created");
    mknodat(CWD, directory.path().join("pipe.md"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .expect("the file can be created");
    fs::create_dir(directory.path().join("folder.md")).expect("the file can be created");
    write(directory.path(), "folder.md/inner.md", "within");
    insta::assert_snapshot!(format_found(&read(&directory)), @r#"
    Unmapped [symbolic-link] link.md: it is a symbolic link, which is not followed
    Unmapped [symbolic-link] loop.md: it is a symbolic link, which is not followed
    Unmapped [unreadable] pipe.md: it is not a file
    folder.md/inner.md: note:folder-md/inner "within" []
    real.md: note:real "a note" []
    "#);
}

#[test]
fn the_depth_of_directories_and_the_number_of_links_are_limited() {
    let deep = |depth: usize| format!("{}note.md", "d/".repeat(depth));
    let directory = directory(&[(&deep(64), "found"), (&deep(65), "not found")]);
    let found = read(&directory);
    assert_eq!(found.iter().flatten().count(), 1, "{}", format_found(&found));
    assert!(format_found(&found).contains("[too-deep]"));
    let many = (0..300).map(|n| format!("[[n{n}]]")).collect::<String>();
    let names: Vec<(String, &str)> = (0..300).map(|n| (format!("n{n}.md"), "a note")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    files.push(("all.md", &many));
    let found = read(&self::directory(&files));
    let left_out = found.iter().filter(|found| found.is_err()).count();
    assert_eq!((found.iter().flatten().count(), left_out), (301, 300 - 256));
}
