//! Searching, filtering and reading results in the terminal interface (`aur mem browse`).

use crate::keys::{CTRL_C, CTRL_F, CTRL_U, DOWN, ENTER, ESCAPE, F1, TAB};
use crate::{WIDE, browse, indexed};

/// Returns the text of the screen without the duration of the search. The width of the duration varies, which would
/// shift the text before it.
fn without_duration(screen: &str) -> String {
    let lines = screen.lines().map(|line| match line.rsplit_once(" · ").filter(|(_, rest)| rest.ends_with("ms")) {
        Some((left, _)) => left.split_whitespace().collect::<Vec<_>>().join(" "),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn results_change_while_the_user_types() {
    let fixture = indexed();
    let tty = browse(&fixture, &[], WIDE);
    tty.shows("Type to search").types("evict the oldest page").shows("evict_oldest").shows("src/cache.py:7");
    tty.shows("def evict_oldest(self, pages):").until("the answer", |screen| !screen.contents().contains("searching"));
    insta::assert_snapshot!(without_duration(&tty.screen(vt100::Screen::contents)));
    tty.types(CTRL_U).types("retry with backoff").shows("http/retry.go:").shows("func RetryWithBackoff");
    tty.types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn the_explanation_has_its_own_pane() {
    let fixture = indexed();
    let tty = browse(&fixture, &["drop", "page"], WIDE);
    tty.shows("def drop_page").types(TAB).types(TAB).shows("Final Score:").shows("BM25:");
    tty.types(TAB).types(DOWN).shows("Final Score:").types(TAB).hides("Final Score:");
    tty.types(F1).shows("press any key").types("x").hides("press any key").types(TAB).shows("Final Score:");
    tty.types(TAB).types(ESCAPE).shows("Type to search").types(ESCAPE);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn filters_narrow_the_results_and_report_errors() {
    let fixture = indexed();
    let tty = browse(&fixture, &["page"], WIDE);
    tty.shows("PageCache").shows("drop_page").types(CTRL_F).shows("Filter:").types("type:functoin");
    tty.shows("Invalid chunk type 'functoin'").shows("PageCache");
    tty.types(CTRL_U).types("type:function").hides("PageCache.evict_oldest").hides("Invalid").shows("drop_page");
    tty.types(" path:'http/**'").hides("drop_page").shows("RetryWithBackoff");
    // Escape discards edits of the filters. Enter applies them.
    tty.types(ESCAPE).hides("Filter:").shows("PageCache");
    tty.types(CTRL_F).types("lang:go").types(ENTER).hides("PageCache").shows("Filter: lang:go").types(CTRL_U);
    tty.types("backoff").shows("> backoff").shows("RetryWithBackoff").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn arguments_become_the_initial_filters() {
    let fixture = indexed();
    let arguments = ["page", "--type", "method", "--path", "src/**", "--grep", "return .*page"];
    let tty = browse(&fixture, &arguments, WIDE);
    tty.shows("Filter: type:method path:'src/**' grep:'return .*page'").shows("1 result ").shows("evict_oldest");
    tty.types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
    let listed = browse(&fixture, &["--fixed", "pages[1:]"], WIDE);
    listed.shows("drop_page").hides("0.").types(CTRL_C);
    assert_eq!(listed.wait_for_exit().0, 0);
}

#[test]
fn a_narrow_screen_shows_the_code_below_the_results_and_a_small_screen_shows_one_of_them() {
    let fixture = indexed();
    let tty = browse(&fixture, &["drop page"], WIDE);
    tty.shows("def drop_page").resize(60, 24);
    tty.until("the code below", |screen| {
        let line = |text: &str| screen.contents().lines().position(|line| line.contains(text));
        line("src/cache.py:12").zip(line("def drop_page")).is_some_and(|(result, code)| result < code)
    });
    tty.resize(40, 8).hides("def drop_page").shows("drop_page").types(TAB).shows("def drop_page").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn code_is_coloured_only_if_colours_are_enabled() {
    let fixture = indexed();
    for (arguments, expected) in [(&["--color", "always"][..], true), (&[], false)] {
        let tty = browse(&fixture, &[&["drop page"][..], arguments].concat(), WIDE);
        tty.shows("┃").until("the code", |screen| screen.contents().contains("def drop_page"));
        let has_colours = tty.screen(|screen| {
            let places = (0..WIDE.1).flat_map(|row| (0..WIDE.0).map(move |column| (row, column)));
            let cells = places.filter_map(|(row, column)| screen.cell(row, column));
            cells.into_iter().any(|cell| cell.fgcolor() != vt100::Color::Default)
        });
        assert_eq!(has_colours, expected, "{arguments:?}");
        tty.types(CTRL_C);
        assert_eq!(tty.wait_for_exit().0, 0);
    }
}
