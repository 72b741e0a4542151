//! Markdown, and databases of aurora-actr.

use std::fs::File;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::fixture::Fixture;
use crate::shown;

#[test]
fn a_directory_of_markdown_becomes_notes_and_follows_its_files() {
    let fixture = Fixture::git();
    fixture.write("docs/a.md", "# Keys\nRotate them. See [b](sub/b.md).");
    fixture.write("docs/sub/b.md", "---\ntags: [ops]\n---\nBack to [[a]].");
    fixture.write("docs/empty.md", "");
    for name in ["docs/a.md", "docs/sub/b.md"] {
        fixture.age(name);
    }
    let arguments = ["mem", "import", "--from", "markdown", "docs"];
    let first = fixture.aur(&arguments);
    insta::assert_snapshot!(shown(&fixture, &first));
    let b = fixture.aur(&["mem", "show", "note:sub/b", "--format", "json"]).json();
    assert_eq!(b["metadata"]["links"][0]["to"], "note:a", "{b}");
    let unchanged = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&unchanged["unchanged"], &unchanged["replaced"]), (&2.into(), &0.into()), "{unchanged}");
    // A file that changes replaces its note, unless the note was edited after that.
    fixture.write("docs/a.md", "# Keys\nRotate them in March.");
    set_time(&fixture, "docs/a.md", 60);
    let changed = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&changed["unchanged"], &changed["replaced"]), (&1.into(), &1.into()), "{changed}");
    // So does one of the same size and time.
    let time = std::fs::metadata(fixture.path("docs/a.md")).and_then(|found| found.modified()).expect("a time");
    fixture.write("docs/a.md", "# Keys\nRotate them in turns.");
    File::options().append(true).open(fixture.path("docs/a.md")).and_then(|file| file.set_modified(time)).expect("set");
    let changed = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&changed["unchanged"], &changed["replaced"]), (&1.into(), &1.into()), "{changed}");
    fixture.write("edited.md", "# Keys\nRotate them in April.");
    assert_eq!(fixture.aur(&["mem", "edit", "note:a", "edited.md"]).code, Some(0));
    let kept = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&kept["unchanged"], &kept["kept"]), (&1.into(), &1.into()), "{kept}");
    let history = fixture.aur(&["mem", "show", "note:a", "--history"]).out;
    assert!(history.contains("April"), "{history}");
}

/// Sets the time of a file to some seconds ago.
fn set_time(fixture: &Fixture, path: &str, seconds: u64) {
    let file = File::options().append(true).open(fixture.path(path)).expect("the file is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("times can be set");
}

#[test]
fn a_database_of_aurora_actr_becomes_entries() {
    let fixture = Fixture::git();
    let path = fixture.path("memory.db");
    let database = Connection::open(&path).expect("a database");
    database.execute_batch("PRAGMA foreign_keys = 0").expect("a setting");
    for script in [
        include_str!("../../memory/import/tests/actr/schema.sql"),
        include_str!("../../memory/import/tests/actr/rows.sql"),
    ] {
        database.execute_batch(script).expect("a script");
    }
    drop(database);
    let arguments = ["mem", "import", "--from", "actr", "memory.db"];
    let dry = fixture.aur(&[&arguments[..], &["--dry-run", "--verbose"]].concat());
    insta::assert_snapshot!(shown(&fixture, &dry));
    let imported = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&imported["added"], &imported["accesses"]), (&7.into(), &3.into()), "{imported}");
    assert_eq!((&imported["memory"], &imported["unmapped"]["type"]), (&"project".into(), &1.into()), "{imported}");
    let login = fixture.aur(&["mem", "show", "code:python:1111", "--format", "json"]).json();
    assert_eq!((&login["access_count"], &login["metadata"]["links"][0]["to"]), (&5.into(), &"code:python:2222".into()));
    let again = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&again["unchanged"], &again["accesses"]), (&7.into(), &0.into()), "{again}");
    let mine = fixture.aur(&[&arguments[..], &["--memory", "user", "--format", "json"]].concat()).json();
    assert_eq!((&mine["added"], &mine["memory"]), (&7.into(), &"user".into()), "{mine}");
}

/// The file begins like a database. It takes long to copy, unless the file system lets copies share blocks.
#[cfg(unix)]
#[test]
fn an_interrupted_import_leaves_no_copy() {
    use rustix::process::{Pid, Signal, kill_process};

    let fixture = Fixture::git();
    fixture.write("memory.db", "SQLite format 3\0").write("tmp/other", "");
    let file = File::options().append(true).open(fixture.path("memory.db")).expect("the file is there");
    file.set_len(8 << 30).expect("a sparse file");
    let temporary = fixture.path("tmp");
    let mut command = fixture.command();
    command.env("TMPDIR", &temporary).args(["mem", "import", "--from", "actr", "memory.db"]);
    let mut child = command.spawn().expect("the program starts");
    let copies = || {
        let entries = std::fs::read_dir(&temporary).expect("a directory").flatten().map(|entry| entry.path());
        entries.filter(|path| path.join("memory.db").exists()).count()
    };
    while copies() == 0 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let is_running = child.try_wait().expect("a child").is_none();
    if is_running {
        kill_process(Pid::from_child(&child), Signal::TERM).expect("the program runs");
    }
    let code = child.wait().expect("it ends").code();
    assert!(code == Some(130) || code == Some(2), "{code:?}");
    assert_eq!(std::fs::read_dir(&temporary).expect("a directory").count(), 1);
}
