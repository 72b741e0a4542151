//! The index that `aur mem browse` opens: a missing index, an index built by another user, and a new generation.

use std::fs;

use crate::fixture::Fixture;
use crate::keys::{CTRL_C, DOWN};
use crate::{WIDE, browse, index, indexed};

#[test]
fn a_project_without_an_index_gets_one() {
    let fixture = Fixture::git();
    fixture.write("src/cache.py", crate::CACHE);
    let refused = browse(&fixture, &["--no-index"], WIDE).wait_for_exit();
    assert_eq!(refused.0, 2);
    assert!(refused.1.contains("no index in"), "{}", refused.1);
    let tty = browse(&fixture, &["drop page"], WIDE);
    tty.shows("def drop_page").types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}

#[test]
fn a_directory_without_a_project_is_indexed_only_after_confirmation() {
    let fixture = Fixture::plain();
    fixture.write("notes.txt", "something\n");
    let tty = browse(&fixture, &[], WIDE);
    tty.shows("Index it").types("n\n");
    assert_eq!(tty.wait_for_exit().0, 2);
    assert!(!fixture.path(".aurora").exists());
}

#[test]
fn an_index_built_by_somebody_else_is_refused() {
    let (author, fixture) = (indexed(), Fixture::git());
    fs::create_dir_all(fixture.path(".aurora/index")).expect("the directory can be created");
    fs::copy(author.path(".aurora/index/data.mdb"), fixture.path(".aurora/index/data.mdb"))
        .expect("the file can be copied");
    let (code, left) = browse(&fixture, &["drop page"], WIDE).wait_for_exit();
    assert_eq!(code, 2);
    assert!(left.contains("is not trusted"), "{left}");
}

#[test]
fn an_invalid_filter_fails_before_the_screen_is_drawn() {
    let fixture = indexed();
    let (code, left) = browse(&fixture, &["x", "--type", "functoin"], WIDE).wait_for_exit();
    assert_eq!(code, 2);
    assert!(left.contains("Invalid chunk type 'functoin'"), "{left}");
}

#[test]
fn a_new_generation_is_loaded_and_the_selection_stays() {
    let fixture = indexed();
    let tty = browse(&fixture, &["drop page"], WIDE);
    let selected = |name: &'static str| {
        move |screen: &vt100::Screen| {
            (0..screen.size().0.get()).any(|row| {
                let line = screen.contents_between(row, 0, row, 45);
                screen.cell(row, 10).is_some_and(vt100::Cell::inverse) && line.contains(name)
            })
        }
    };
    tty.until("the first result", selected("drop_page")).types(DOWN).until("the next one", selected("PageCache "));
    fixture.write("src/pages.py", "def drop_page_now(page):\n    \"\"\"Drop page.\"\"\"\n    return page\n");
    index(&fixture);
    tty.shows("drop_page_now").until("the same result", selected("PageCache ")).types(CTRL_C);
    assert_eq!(tty.wait_for_exit().0, 0);
}
