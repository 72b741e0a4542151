//! File names and texts with escape sequences and wide characters, and screens of any size.

use crate::fixture::Fixture;
use crate::keys::{CTRL_C, CTRL_F, CTRL_Y, DOWN, F1, TAB};
use crate::{browse, index, indexed};

/// A repository whose file names and texts contain terminal escape sequences, wide characters and long lines.
fn hostile() -> Fixture {
    let fixture = Fixture::plain();
    let attack = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u{9b}5A\u{202e}\x1b]52;c;b3duZWQ=\x07";
    fixture.write("bad\x1b]0;owned\x07\u{202e}.py", format!("def target():\n    \"\"\"{attack}\"\"\"\n    return 1\n"));
    fixture.write(
        "日本/語👩\u{200d}💻.py",
        "def target():\n    日本語 = '日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語'\n",
    );
    fixture.write("long.py", format!("def target():\n    return '{}'\n", "x y ".repeat(50_000)));
    index(&fixture);
    fixture
}

#[test]
fn escape_sequences_in_names_and_texts_do_not_reach_the_terminal() {
    let fixture = hostile();
    let tty = browse(&fixture, &["target"], (100, 24));
    tty.shows("bad␛]0;owned␇").shows("日本/語").shows("target").shows("┃");
    for _ in 0..4 {
        tty.types(DOWN).types(TAB).types(TAB).types(TAB);
    }
    tty.types(CTRL_Y).shows("Copied").types(CTRL_C);
    let requests = tty.requests();
    assert_eq!(requests.others, Vec::<String>::new());
    assert!(!requests.copied.contains(&"b3duZWQ=".to_owned()));
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn a_copied_path_contains_no_escape_sequences() {
    let fixture = hostile();
    let tty = browse(&fixture, &["target", "--path", "bad*"], (100, 24));
    tty.shows("┃").types(CTRL_Y);
    // Base64 of `bad␛]0;owned␇�.py:1`.
    assert_eq!(tty.copied(), ["YmFk4pCbXTA7b3duZWTikIfvv70ucHk6MQ=="]);
    tty.types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn pasted_text_becomes_one_line_without_control_characters() {
    let fixture = indexed();
    let tty = browse(&fixture, &[], (100, 24));
    tty.shows("Type to search").types("\x1b[200~drop\r\npage\x1b]0;x\x07\x1b[201~").shows("> drop  page]0;x");
    tty.shows("drop_page").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn the_browser_works_on_screens_of_any_size() {
    let fixture = hostile();
    let tty = browse(&fixture, &["target"], (100, 24));
    tty.shows("target");
    for (columns, rows) in [(20, 5), (1, 1), (2, 40), (300, 2), (7, 3), (89, 12), (90, 11), (500, 200)] {
        for keys in [DOWN, TAB, TAB, TAB, CTRL_F, "type:function", CTRL_F, F1, "x"] {
            tty.resize(columns, rows).types(keys);
        }
    }
    tty.resize(20, 5).shows("target").resize(100, 24).shows("日本/語").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}
