//! Importing directories of Markdown files.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::fixture::Fixture;
use crate::output_text;

#[test]
fn notes_from_a_directory_of_markdown_follow_changes_of_the_files() {
    let fixture = Fixture::git();
    fixture.write("docs/a.md", "# Keys\nRotate them. See [b](sub/b.md).");
    fixture.write("docs/sub/b.md", "---\ntags: [ops]\n---\nBack to [[a]].");
    fixture.write("docs/empty.md", "");
    for name in ["docs/a.md", "docs/sub/b.md"] {
        fixture.age(name);
    }
    let arguments = ["mem", "import", "--from", "markdown", "docs"];
    let first = fixture.aur(&arguments);
    insta::assert_snapshot!(output_text(&fixture, &first));
    let b = fixture.aur(&["mem", "show", "note:sub/b", "--format", "json"]).json();
    assert_eq!(b["metadata"]["links"][0]["to"], "note:a", "{b}");
    let unchanged = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&unchanged["unchanged"], &unchanged["replaced"]), (&2.into(), &0.into()), "{unchanged}");
    // If a file has changed, its note is replaced, unless the note was edited.
    fixture.write("docs/a.md", "# Keys\nRotate them in March.");
    set_time(&fixture, "docs/a.md", 60);
    let changed = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&changed["unchanged"], &changed["replaced"]), (&1.into(), &1.into()), "{changed}");
    // A change is noticed even if the size and the modification time stay the same.
    let time = std::fs::metadata(fixture.path("docs/a.md"))
        .and_then(|found| found.modified())
        .expect("the modification time is available");
    fixture.write("docs/a.md", "# Keys\nRotate them in turns.");
    File::options()
        .append(true)
        .open(fixture.path("docs/a.md"))
        .and_then(|file| file.set_modified(time))
        .expect("the modification time can be set");
    let changed = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&changed["unchanged"], &changed["replaced"]), (&1.into(), &1.into()), "{changed}");
    fixture.write("edited.md", "# Keys\nRotate them in April.");
    assert_eq!(fixture.aur(&["mem", "edit", "note:a", "edited.md"]).code, Some(0));
    let kept = fixture.aur(&[&arguments[..], &["--format", "json"]].concat()).json();
    assert_eq!((&kept["unchanged"], &kept["kept"]), (&1.into(), &1.into()), "{kept}");
    let history = fixture.aur(&["mem", "show", "note:a", "--history"]).out;
    assert!(history.contains("April"), "{history}");
}

/// Sets the modification time of a file to some seconds ago.
fn set_time(fixture: &Fixture, path: &str, seconds: u64) {
    let file = File::options().append(true).open(fixture.path(path)).expect("the file can be opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("the modification time can be set");
}
