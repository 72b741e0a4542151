//! Ways to end or suspend `aur mem browse`, and the state of the terminal afterwards.

use rustix::process::Signal;

use crate::fixture::Run;
use crate::keys::{CTRL_C, CTRL_Z, ESCAPE};
use crate::{WIDE, browse, indexed};

#[test]
fn escape_clears_the_query_and_then_ends_the_browser() {
    let fixture = indexed();
    let tty = browse(&fixture, &["drop", "page"], WIDE);
    tty.shows("drop_page").types(ESCAPE).shows("Type to search").types(ESCAPE);
    assert_eq!(tty.wait_for_exit(), (0, String::new()));
}

#[test]
fn a_signal_restores_the_terminal() {
    let fixture = indexed();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let tty = browse(&fixture, &["drop", "page"], WIDE);
        tty.shows("drop_page").signal(signal);
        assert_eq!(tty.wait_for_exit(), (130, String::new()), "{signal:?}");
    }
}

#[test]
fn a_signal_during_an_edit_ends_the_browser_after_the_editor() {
    let fixture = indexed();
    let mut command = fixture.command();
    command.args(["mem", "browse", "drop page"]).env("EDITOR", "sh -c 'echo editing; read line'").env_remove("VISUAL");
    let tty = crate::Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("┃").types(crate::keys::ENTER).shows("editing").signal(Signal::TERM).types("\n");
    let (code, left) = tty.wait_for_exit();
    assert_eq!(code, 130);
    assert!(left.contains("editing"), "{left}");
}

#[test]
fn a_suspended_browser_can_be_resumed() {
    let fixture = indexed();
    let mut command = std::process::Command::new("sh");
    let program = crate::fixture::program();
    crate::fixture::hermetic(&mut command, fixture.home());
    // A shell with job control: after `aur mem browse` is suspended, the shell resumes it with `fg`.
    let script = "set -m; \"$0\" mem browse drop page; echo stopped; read line; fg > /dev/null";
    command.args(["-c", script]).arg(program).current_dir(fixture.root()).env("AURORA_SEARCH_REFRESH", "0");
    let tty = crate::Tty::start(command, WIDE.0, WIDE.1);
    tty.shows("drop_page").types(CTRL_Z).shows("stopped");
    assert!(!tty.is_raw(), "the shell reads lines");
    tty.types("\n").shows("def drop_page").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn browsing_without_a_terminal_fails() {
    let fixture = indexed();
    let run: Run = fixture.aur(&["mem", "browse"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("needs a terminal") && run.err.contains("aur mem search"), "{run:?}");
}

#[test]
fn closing_the_terminal_ends_the_browser() {
    let fixture = indexed();
    let tty = browse(&fixture, &["drop", "page"], WIDE);
    tty.shows("drop_page");
    tty.close();
}
