//! Opening a search result in an editor.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::Fixture;
use crate::keys::{CTRL_C, DOWN, ENTER};
use crate::tty::Tty;
use crate::{WIDE, indexed};

/// Creates an executable script that writes its arguments to [`arguments_file`], one per line, and then runs the shell
/// command `then`.
fn editor(fixture: &Fixture, name: &str, then: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = fixture.home().join(name);
    let arguments = arguments_file(fixture);
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{0}.new'\nmv '{0}.new' '{0}'\n{then}\n",
        arguments.to_str().expect("the path is UTF-8")
    );
    std::fs::write(&path, script).expect("the file can be written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    path
}

/// Path of the file to which the editor script writes its arguments.
fn arguments_file(fixture: &Fixture) -> PathBuf {
    fixture.home().join("arguments")
}

/// Shell command with which the editor script waits for a line. While it waits, a test can check that `aur mem browse`
/// has released the terminal.
const WAIT_FOR_LINE: &str = "read line";

/// Opens the first result in an editor that runs [`WAIT_FOR_LINE`], and returns the arguments of the editor.
fn open_first_result(
    fixture: &Fixture,
    arguments_of_browse: &[&str],
    set: impl FnOnce(&mut Command),
) -> (Tty, Vec<String>) {
    let mut command = fixture.command();
    command.args(["mem", "browse"]).args(arguments_of_browse);
    set(&mut command);
    let tty = Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("┃").types(ENTER);
    let written = arguments_file(fixture);
    tty.until("the arguments of the editor", |_| written.exists());
    let lines = std::fs::read_to_string(&written).expect("the file can be read").lines().map(str::to_owned).collect();
    tty.until("the screen before", |screen| !screen.alternate_screen()).types("\n");
    (tty, lines)
}

#[test]
fn the_editor_gets_the_line_and_the_file() {
    let fixture = indexed();
    let plain = editor(&fixture, "my vi", WAIT_FOR_LINE);
    let (tty, words) = open_first_result(&fixture, &["drop page"], |command| {
        command.env("EDITOR", format!("'{}' -n 'two words'", plain.display())).env("VISUAL", "");
    });
    assert_eq!(words, ["-n", "two words", "+12", "src/cache.py"]);
    // Afterwards, the interface of `aur mem browse` is on the screen again and accepts keys.
    tty.until("the browser", |screen| screen.alternate_screen()).types(DOWN).types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);

    std::fs::remove_file(arguments_file(&fixture)).expect("the file can be removed");
    let goto = editor(&fixture, "code", WAIT_FOR_LINE);
    let elsewhere = fixture.home().to_owned();
    let (tty, words) =
        open_first_result(&fixture, &["drop page", "--root", &fixture.root().display().to_string()], |command| {
            command.env("VISUAL", &goto).env("EDITOR", "false").current_dir(&elsewhere);
        });
    let file = canonical(fixture.root()).join("src/cache.py");
    assert_eq!(words, ["--goto".to_owned(), format!("{}:12", file.display())]);
    tty.until("the browser", |screen| screen.alternate_screen()).types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().expect("the path exists")
}

#[test]
fn the_editor_has_exclusive_use_of_the_terminal() {
    let fixture = indexed();
    // The script prints the terminal's settings, is interrupted by Ctrl-C, and reads a line.
    let script = editor(
        &fixture,
        "editor",
        "trap 'echo interrupted' INT\nstty -a | tr ' ' '\\n' | grep -x icanon\n\
        echo waiting\nwhile ! read line; do :; done\necho \"line: $line\"; read line",
    );
    let mut command = fixture.command();
    command.args(["mem", "browse", "drop page"]).env("EDITOR", &script);
    let tty = Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("┃").types(ENTER).shows("waiting").shows("icanon");
    tty.until("the screen before", |screen| !screen.alternate_screen() && !screen.hide_cursor());
    tty.types(CTRL_C).shows("interrupted").types("words\n").shows("line: words").types("\n");
    tty.until("the browser", |screen| screen.alternate_screen()).shows("src/cache.py:12").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn an_edit_in_the_editor_is_found() {
    let fixture = indexed();
    let script = editor(&fixture, "editor", "sed 's/drop_page/discard_sheet/' src/cache.py > new\nmv new src/cache.py");
    let mut command = fixture.command();
    // A minute is enough to update the index on any machine.
    command.args(["mem", "browse", "drop page"]).env("EDITOR", &script).env("AURORA_SEARCH_REFRESH", "60000");
    let tty = Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("drop_page").types(ENTER).shows("discard_sheet").hides("drop_page").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn a_failing_editor_is_reported() {
    let fixture = indexed();
    let failing = editor(&fixture, "failing", "exit 3").display().to_string();
    for (editor, message) in [
        (failing.as_str(), "failing ended with exit status: 3"),
        ("/no/such/editor", "Cannot start /no/such/editor: No such file"),
        ("vi 'x", "EDITOR cannot be split into words"),
    ] {
        let mut command = fixture.command();
        command.args(["mem", "browse", "drop page"]).env("EDITOR", editor).env_remove("VISUAL");
        let tty = Tty::start(command, 250, 24);
        tty.shows("┃").types(ENTER).shows(message);
        tty.types(CTRL_C);
        assert_eq!(tty.wait_for_exit().0, 0, "{editor}");
    }
    fixture.remove("src/cache.py");
    let mut command = fixture.command();
    command.args(["mem", "browse", "drop page"]).env("EDITOR", "true");
    let tty = Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("deleted since it was indexed").types(ENTER).shows("Cannot open src/cache.py").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn opening_a_result_records_an_access() {
    let fixture = indexed();
    let script = editor(&fixture, "editor", WAIT_FOR_LINE);
    let accesses = || {
        let found = fixture.aur(&["mem", "search", "drop page", "--format", "json", "--no-record", "--limit", "1"]);
        found.json()["results"][0]["access"]["count"].clone()
    };
    let none = accesses();
    for (arguments, is_unchanged) in [(&["drop page", "--no-record"][..], true), (&["drop page"], false)] {
        let (tty, _) = open_first_result(&fixture, arguments, |command| {
            command.env("EDITOR", &script).env_remove("VISUAL");
        });
        tty.until("the browser", |screen| screen.alternate_screen()).types(CTRL_C);
        assert_eq!(tty.wait_for_exit().0, 0);
        assert_eq!(accesses() == none, is_unchanged, "{arguments:?}: {} after {none}", accesses());
        std::fs::remove_file(crate::editing::arguments_file(&fixture)).expect("the file can be removed");
    }
}
