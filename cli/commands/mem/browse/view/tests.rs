use aurora_storage::ChunkId;
use proptest::prelude::*;

use crate::commands::mem::browse::app::Pane;
use crate::commands::mem::browse::command::{Command, Move};
use crate::commands::mem::browse::preview::{Preview, PreviewLine};
use crate::commands::mem::browse::row::{Found, Row};
use crate::commands::mem::browse::view::*;
use crate::output::{Painter, ScoreCard, sanitize, width};

/// Creates a browser with results of these names, each in a file of that name.
fn app(query: &str, names: &[String]) -> App {
    let (mut app, question) = App::new(query, "");
    let row = |name: &String| Row {
        key: name.clone(),
        chunk: ChunkId(0),
        file: format!("src/{name}.py"),
        language: "python".to_owned(),
        card: ScoreCard {
            kind: "function".to_owned(),
            name: name.clone(),
            lines: Some((3, 5)),
            final_score: Some(0.5),
            ..ScoreCard::default()
        },
    };
    app.answer(question, Ok(Found { rows: names.iter().map(row).collect(), ..Found::default() }));
    let line = |text: &String| PreviewLine { number: Some(1), text: text.clone(), ..PreviewLine::default() };
    let lines = names.iter().map(line).collect();
    app.preview = Some(Preview { key: names.first().cloned().unwrap_or_default(), lines, ..Preview::default() });
    app
}

fn drawn(app: &mut App, columns: u16, rows: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    let cursor = draw(&mut buffer, app, Theme::new(Painter::PLAIN));
    assert!(cursor.is_none_or(|cursor| cursor.x < columns && cursor.y < rows), "{cursor:?} in {columns}x{rows}");
    let line = |row: u16| -> String {
        let mut hidden = 0;
        let cells = (0..columns).filter_map(|column| {
            let symbol = buffer.cell((column, row)).map_or("", |cell| cell.symbol());
            // A wide character covers the next cell.
            let is_hidden = std::mem::replace(&mut hidden, width::measure(symbol).saturating_sub(1)) > 0;
            (!is_hidden).then_some(symbol)
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..rows).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_screen_shows_either_the_results_or_the_pane() {
    let mut app = app("find the cache", &["evict".to_owned(), "drop".to_owned()]);
    insta::assert_snapshot!(drawn(&mut app, 20, 5), @r"
    > find the cache
    ▌ 0.500 evict
    ▌ src/evict.py:3
      0.500 drop
    Enter edit · Tab pa…
    ");
    app.apply(Command::NextPane);
    insta::assert_snapshot!(drawn(&mut app, 20, 3), @r"
    > find the cache
    src/evict.py:3-5
    1 │ evict
    ");
}

#[test]
fn filter_errors_are_visible_on_every_screen() {
    for (rows, count) in [(3, 0), (5, 1), (6, 1), (24, 1)] {
        let mut app = app("find", &["evict".to_owned()]);
        app.apply(Command::Filter);
        app.apply(Command::Edit(crate::commands::mem::browse::line_edit::Edit::Insert("type:x".to_owned())));
        let screen = drawn(&mut app, 40, rows);
        assert!(screen.contains("Filter! type:x"), "{screen}");
        assert_eq!(screen.matches("Invalid chunk type").count(), count, "{screen}");
    }
}

#[test]
fn text_is_never_cut_within_a_wide_character() {
    let mut app = app("日本語日本語日本語", &["日本語の関数".to_owned()]);
    assert!(drawn(&mut app, 19, 4).contains("日本語…関数"));
    insta::assert_snapshot!(drawn(&mut app, 20, 4), @r"
    > 本語日本語日本語
    ▌ 0.500 日本語の関数
    ▌ 日本語の関数.py:3
    ");
}

#[test]
fn the_selected_result_is_always_in_view() {
    let names: Vec<String> = (0..50).map(|number| format!("name{number}")).collect();
    let mut app = app("a", &names);
    for (to, name) in [(Move::Last, "name49"), (Move::PageUp, "name47"), (Move::First, "name0"), (Move::Down, "name1")]
    {
        drawn(&mut app, 30, 6);
        app.apply(Command::Move(to));
        let screen = drawn(&mut app, 30, 6);
        assert!(screen.contains(&format!("{name}\n")) || screen.contains(&format!("{name} ")), "{to:?}: {screen}");
    }
}

proptest! {
    #[test]
    fn every_screen_can_be_drawn(
        columns in 0_u16..130,
        rows in 0_u16..30,
        names in prop::collection::vec("[a日👩\u{200d}\u{301}\u{1b}\u{202e}☁️/ ]{0,40}", 0..4),
        query in "[a日👩\u{200d}]{0,60}",
        panes in 0_usize..3,
        filters in any::<bool>(),
        help in any::<bool>(),
    ) {
        let mut app = app(&query, &names);
        for _ in 0..panes {
            app.apply(Command::NextPane);
        }
        if filters {
            app.apply(Command::Filter);
            app.apply(Command::Edit(crate::commands::mem::browse::line_edit::Edit::Insert("type:x".to_owned())));
        }
        if help {
            app.apply(Command::Help);
        }
        let screen = drawn(&mut app, columns, rows);
        prop_assert!(!screen.replace('\n', "").contains(sanitize::is_unsafe), "{screen}");
        prop_assert!(app.pane == Pane::Code || panes > 1);
    }
}
