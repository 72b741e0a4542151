use aurora_storage::ChunkId;

use crate::commands::mem::browse::app::*;
use crate::output::ScoreCard;

/// Creates a browser whose first question is answered with results of these names.
fn app(query: &str, names: &[&str]) -> App {
    let (mut app, question) = App::new(query, "");
    app.drawn.results = 3;
    assert_eq!(app.answer(question, Ok(found(names))), None);
    app
}

fn found(names: &[&str]) -> Found {
    let row = |name: &&str| Row {
        key: format!("code:a.py:{name}"),
        chunk: ChunkId(0),
        file: "a.py".to_owned(),
        language: "python".to_owned(),
        card: ScoreCard { name: (*name).to_owned(), lines: Some((3, 5)), ..ScoreCard::default() },
    };
    Found { rows: names.iter().map(row).collect(), ..Found::default() }
}

fn type_text(app: &mut App, text: &str) -> Option<Effect> {
    app.apply(Command::Edit(Edit::Insert(text.to_owned())))
}

fn asked(effect: Option<Effect>) -> Question {
    match effect {
        Some(Effect::Ask(question)) => *question,
        other => panic!("no question: {other:?}"),
    }
}

fn selected(app: &App) -> &str {
    app.selection().map_or("", |row| &row.card.name)
}

#[test]
fn every_change_to_the_query_asks_a_question() {
    let mut app = app("", &[]);
    let first = asked(type_text(&mut app, "a"));
    let second = asked(type_text(&mut app, "b"));
    assert_eq!((first.text.as_str(), second.text.as_str()), ("a", "ab"));
    assert!(second.number > first.number && app.is_pending());
    app.answer(first, Ok(found(&["old"])));
    assert!(app.is_pending() && selected(&app) == "old", "the old answer is shown, and marked as pending");
    app.answer(second, Ok(found(&["new"])));
    assert!(!app.is_pending() && selected(&app) == "new");
    assert_eq!(app.apply(Command::Edit(Edit::Left)), None, "moving the cursor asks nothing");
}

#[test]
fn a_new_query_selects_the_first_result_and_a_repeated_query_keeps_the_selection() {
    let mut app = app("a", &["one", "two", "three"]);
    app.apply(Command::Move(Move::Down));
    let again = app.question(true);
    app.answer(again.clone(), Ok(found(&["zero", "one", "two"])));
    assert_eq!(selected(&app), "two");
    app.answer(again.clone(), Ok(found(&["zero"])));
    assert_eq!(selected(&app), "zero", "the selected result no longer exists");
    app.answer(again, Ok(found(&["zero", "one", "two"])));
    app.apply(Command::Move(Move::Last));
    let other = asked(type_text(&mut app, "b"));
    app.answer(other, Ok(found(&["zero", "one", "two"])));
    assert_eq!(selected(&app), "zero");
}

#[test]
fn moves_stay_within_the_list() {
    let mut app = app("a", &["one", "two", "three", "four", "five"]);
    for (to, expected) in [
        (Move::Up, "one"),
        (Move::Down, "two"),
        (Move::PageDown, "five"),
        (Move::Down, "five"),
        (Move::PageUp, "two"),
        (Move::Last, "five"),
        (Move::First, "one"),
    ] {
        app.apply(Command::Move(to));
        assert_eq!(selected(&app), expected, "{to:?}");
    }
}

#[test]
fn enter_opens_the_first_result_of_the_latest_query() {
    let mut app = app("a", &["one"]);
    assert_eq!(app.apply(Command::Enter), Some(Effect::Open));
    let question = asked(type_text(&mut app, "b"));
    assert_eq!(app.apply(Command::Enter), None, "the result belongs to an earlier query");
    assert_eq!(app.answer(question, Ok(found(&["two"]))), Some(Effect::Open));
    let question = asked(type_text(&mut app, "c"));
    app.apply(Command::Enter);
    app.apply(Command::Move(Move::Down));
    assert_eq!(app.answer(question.clone(), Ok(found(&["two"]))), None, "another key cancels the opening");
    assert_eq!(app.answer(question, Err("no".to_owned())), None);
    assert_eq!((app.apply(Command::Enter), app.error.as_deref()), (None, Some("no")));
}

#[test]
fn an_invalid_filter_keeps_the_previous_one() {
    let mut app = app("a", &["one"]);
    app.apply(Command::Filter);
    for letter in ["t", "y", "p", "e", ":"] {
        assert_eq!(type_text(&mut app, letter), None);
        assert!(app.filter_error.is_some());
    }
    let question = asked(type_text(&mut app, "function"));
    assert_eq!((question.filter.types.as_slice(), app.filter_error.as_deref()), (&["function".to_owned()][..], None));
    assert_eq!(type_text(&mut app, ",nonsense"), None);
    assert!(app.filter_error.is_some());
    assert_eq!(app.apply(Command::Enter), None, "Enter leaves the line and opens nothing");
    assert_eq!(asked(type_text(&mut app, "b")).filter.types, ["function"]);
}

#[test]
fn escape_leaves_the_innermost_state() {
    let mut app = app("a", &["one"]);
    app.apply(Command::Filter);
    type_text(&mut app, "lang:go");
    app.apply(Command::NextPane);
    app.apply(Command::Help);
    assert_eq!(app.apply(Command::Back), None);
    assert!(!app.shows_help && app.prompt != Prompt::Query);
    assert!(asked(app.apply(Command::Back)).filter.is_empty(), "the previous filter is restored");
    assert_eq!((app.focus, app.apply(Command::Back), app.focus), (Focus::Pane, None, Focus::Results));
    assert_eq!(asked(app.apply(Command::Back)).text, "");
    assert_eq!(app.apply(Command::Back), Some(Effect::Quit));
}

#[test]
fn tab_cycles_panes_and_scrolling_stays_within_their_text() {
    let mut app = app("a", &["one", "two"]);
    let mut turn = |command: Command| {
        app.apply(command);
        (app.focus, app.pane)
    };
    assert_eq!(turn(Command::NextPane), (Focus::Pane, Pane::Code));
    assert_eq!(turn(Command::NextPane), (Focus::Pane, Pane::Score));
    assert_eq!(turn(Command::NextPane), (Focus::Results, Pane::Score));
    assert_eq!(turn(Command::PreviousPane), (Focus::Pane, Pane::Score));
    assert_eq!(turn(Command::PreviousPane), (Focus::Pane, Pane::Code));
    app.drawn = Drawn { lines: 50, height: 20, top: 5, ..app.drawn };
    for (command, expected) in [
        (Command::Move(Move::Down), 6),
        (Command::Move(Move::PageUp), 0),
        (Command::Move(Move::Last), 30),
        (Command::Scroll(-1), 4),
        (Command::Scroll(100), 30),
    ] {
        app.apply(command.clone());
        assert_eq!(app.scroll, Some(expected), "{command:?}");
    }
    app.apply(Command::Back);
    app.apply(Command::Move(Move::Down));
    assert_eq!((app.selected, app.scroll), (1, None), "another result is shown from its start");
}

#[test]
fn a_question_mark_without_a_query_shows_the_help() {
    let mut app = app("", &[]);
    assert_eq!((type_text(&mut app, "?"), app.shows_help), (None, true));
    assert_eq!((type_text(&mut app, "?"), app.shows_help), (None, false));
    type_text(&mut app, "is");
    assert_eq!(asked(type_text(&mut app, "?")).text, "is?");
}

#[test]
fn a_message_stays_until_the_next_key() {
    let mut app = app("a", &["one"]);
    app.show_message("bad\x1b[31m", true);
    assert_eq!(app.message.as_ref().map(|message| message.text.as_str()), Some("bad␛[31m"));
    app.apply(Command::Move(Move::Down));
    assert_eq!(app.message, None);
    assert_eq!(app.apply(Command::Copy), Some(Effect::Copy("a.py:3".to_owned())));
}
