//! Commands of the interactive search (the browser) and their keys.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::commands::mem::browse::line_edit::Edit;

/// A command of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Edit(Edit),
    Move(Move),
    /// Scroll the pane next to the results by this number of lines.
    Scroll(isize),
    NextPane,
    PreviousPane,
    /// Start the editor, or finish the line of filters.
    Enter,
    Copy,
    Filter,
    Help,
    /// Update the index.
    Refresh,
    /// Leave the innermost state: help, filters, pane, query, program.
    Back,
    Quit,
    Suspend,
    Redraw,
}

/// A move in the list of results or in the focused pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// The keys and their descriptions, for the help.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("Up Down Ctrl-P Ctrl-N", "previous and next result"),
    ("PgUp PgDn Home End", "page up and down, first and last result"),
    ("Enter", "open the file at the line, in $VISUAL, $EDITOR or vi"),
    ("Ctrl-Y", "copy path:line to the clipboard of the terminal"),
    ("Tab Shift-Tab", "focus the results, the code or the score; the keys above move in it"),
    ("Shift-Up Shift-Down", "scroll the code without leaving the results"),
    ("Ctrl-F", "filters: type:function lang:rust path:'src/**' where:owner=me grep:'a.b' fixed:text"),
    ("Ctrl-R F5", "update the index"),
    ("Ctrl-A Ctrl-E", "start and end of the line"),
    ("Ctrl-Left Ctrl-Right", "previous and next word"),
    ("Ctrl-W Ctrl-U Ctrl-K", "delete the word, the text before, the text after"),
    ("Esc", "leave the filters or the pane; clear the query; quit"),
    ("Ctrl-Z", "suspend"),
    ("Ctrl-C", "quit"),
    ("F1, or ? without a query", "show this help"),
];

/// Returns the command for an event of the terminal.
pub(super) fn command(event: Event) -> Option<Command> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => for_key(key),
        Event::Paste(text) => Some(Command::Edit(Edit::Insert(text))),
        _ => None,
    }
}

fn for_key(key: KeyEvent) -> Option<Command> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char(c) if control && !alt => return with_control(c),
        KeyCode::Char('b') if alt => Command::Edit(Edit::WordLeft),
        KeyCode::Char('f') if alt => Command::Edit(Edit::WordRight),
        // On some keyboards, Ctrl and Alt together produce a character.
        KeyCode::Char(c) if control == alt => Command::Edit(Edit::Insert(c.to_string())),
        KeyCode::Backspace if control || alt => Command::Edit(Edit::DeleteWord),
        KeyCode::Backspace => Command::Edit(Edit::DeleteBefore),
        KeyCode::Delete => Command::Edit(Edit::DeleteAfter),
        KeyCode::Left if control || alt => Command::Edit(Edit::WordLeft),
        KeyCode::Right if control || alt => Command::Edit(Edit::WordRight),
        KeyCode::Left => Command::Edit(Edit::Left),
        KeyCode::Right => Command::Edit(Edit::Right),
        KeyCode::Up if shift => Command::Scroll(-1),
        KeyCode::Down if shift => Command::Scroll(1),
        KeyCode::Up => Command::Move(Move::Up),
        KeyCode::Down => Command::Move(Move::Down),
        KeyCode::PageUp => Command::Move(Move::PageUp),
        KeyCode::PageDown => Command::Move(Move::PageDown),
        KeyCode::Home => Command::Move(Move::First),
        KeyCode::End => Command::Move(Move::Last),
        KeyCode::Tab => Command::NextPane,
        KeyCode::BackTab => Command::PreviousPane,
        KeyCode::Enter => Command::Enter,
        KeyCode::Esc => Command::Back,
        KeyCode::F(1) => Command::Help,
        KeyCode::F(5) => Command::Refresh,
        _ => return None,
    })
}

fn with_control(c: char) -> Option<Command> {
    Some(match c {
        'a' => Command::Edit(Edit::Start),
        'e' => Command::Edit(Edit::End),
        'h' => Command::Edit(Edit::DeleteBefore),
        'd' => Command::Edit(Edit::DeleteAfter),
        'w' => Command::Edit(Edit::DeleteWord),
        'u' => Command::Edit(Edit::DeleteToStart),
        'k' => Command::Edit(Edit::DeleteToEnd),
        'p' => Command::Move(Move::Up),
        'n' => Command::Move(Move::Down),
        'y' => Command::Copy,
        'f' => Command::Filter,
        'r' => Command::Refresh,
        'l' => Command::Redraw,
        'z' => Command::Suspend,
        'c' => Command::Quit,
        _ => return None,
    })
}
