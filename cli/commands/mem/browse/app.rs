//! State of the interactive search (the browser) and its transitions, without input, output or threads.

use aurora_query::FilterSpec;

use crate::commands::mem::browse::command::{Command, Move};
use crate::commands::mem::browse::filters;
use crate::commands::mem::browse::line_edit::{Edit, LineEdit};
use crate::commands::mem::browse::preview::Preview;
use crate::commands::mem::browse::row::{Found, Row};
use crate::commands::mem::browse::search::Question;
use crate::output::sanitize;

/// State of the browser.
#[derive(Default)]
pub(super) struct App {
    pub(super) query: LineEdit,
    pub(super) filter: LineEdit,
    /// The line that is being edited.
    pub(super) prompt: Prompt,
    /// Error in the line of filters, if any. As long as the line has an error, the previous filter stays in use.
    pub(super) filter_error: Option<String>,
    /// The filter in use.
    pub(super) applied: FilterSpec,
    /// The latest question.
    asked: Question,
    /// The question that produced the results.
    answered: Option<Question>,
    pub(super) found: Found,
    /// Error of the search, in place of results.
    pub(super) error: Option<String>,
    /// Whether to open the selected result when the answer to the latest question arrives.
    opens: bool,
    pub(super) selected: usize,
    pub(super) focus: Focus,
    pub(super) pane: Pane,
    pub(super) preview: Option<Preview>,
    /// Index of the first visible line of the pane, if the user has scrolled.
    pub(super) scroll: Option<usize>,
    pub(super) message: Option<Message>,
    pub(super) shows_help: bool,
    /// The visible parts of the list and the pane in the last drawing.
    pub(super) drawn: Drawn,
}

/// The line that is being edited.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
    #[default]
    Query,
    Filter {
        /// The line before the edit.
        before: LineEdit,
    },
}

/// The part of the screen that the movement keys act on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    Results,
    Pane,
}

/// The view of the selected result.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    #[default]
    Code,
    Score,
}

/// A message that is shown until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// The visible parts of the list of results and of the pane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Index of the first visible result.
    pub(super) first: usize,
    /// Number of visible results.
    pub(super) results: usize,
    /// Index of the first visible line of the pane.
    pub(super) top: usize,
    /// Number of lines of the text in the pane.
    pub(super) lines: usize,
    /// Number of visible lines of the pane.
    pub(super) height: usize,
}

/// An action for the session to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    Ask(Box<Question>),
    /// Open the selected result.
    Open,
    Copy(String),
    Suspend,
    Redraw,
    Quit,
}

impl App {
    /// Creates the state from a query and a line of filters. Returns the state and the first question.
    pub(super) fn new(query: &str, filter: &str) -> (Self, Question) {
        let mut app = Self { query: LineEdit::new(query), filter: LineEdit::new(filter), ..Self::default() };
        app.apply_filter();
        let question = app.question(false);
        (app, question)
    }

    /// Whether the latest question has no answer yet.
    pub(super) fn is_pending(&self) -> bool {
        self.answered.as_ref().is_none_or(|answered| answered.number != self.asked.number)
    }

    pub(super) fn selection(&self) -> Option<&Row> {
        self.found.rows.get(self.selected)
    }

    /// Applies a command of the user.
    pub(super) fn apply(&mut self, command: Command) -> Option<Effect> {
        self.message = None;
        self.opens = false;
        if self.shows_help && command != Command::Quit {
            self.shows_help = false;
            return None;
        }
        match command {
            Command::Edit(edit) => return self.edit(&edit),
            Command::Move(to) => match self.focus {
                Focus::Results => self.move_selection(to),
                Focus::Pane => self.move_pane(to),
            },
            Command::Scroll(lines) => self.scroll(self.drawn.top.saturating_add_signed(lines)),
            Command::NextPane => self.cycle_focus(true),
            Command::PreviousPane => self.cycle_focus(false),
            Command::Enter => return self.enter(),
            Command::Copy => return self.selection().map(|row| Effect::Copy(sanitize::line(&row.place()))),
            Command::Filter => match self.prompt {
                Prompt::Query => self.prompt = Prompt::Filter { before: self.filter.clone() },
                Prompt::Filter { .. } => self.prompt = Prompt::Query,
            },
            Command::Help => self.shows_help = true,
            Command::Refresh => return Some(self.ask(true)),
            Command::Back => return self.back(),
            Command::Quit => return Some(Effect::Quit),
            Command::Suspend => return Some(Effect::Suspend),
            Command::Redraw => return Some(Effect::Redraw),
        }
        None
    }

    /// Accepts an answer. An answer to an older question is shown too, until a newer answer arrives. Returns
    /// [`Effect::Open`] if the user pressed Enter before this answer arrived.
    pub(super) fn answer(&mut self, question: Question, found: Result<Found, String>) -> Option<Effect> {
        let is_same = |before: &Question| before.text == question.text && before.filter == question.filter;
        let selected = self.selection().filter(|_| self.answered.as_ref().is_some_and(is_same));
        let selected = selected.map(|row| row.key.clone());
        (self.found, self.error) = match found {
            Ok(found) => (found, None),
            Err(error) => (Found::default(), Some(error)),
        };
        let position = selected.and_then(|key| self.found.rows.iter().position(|row| row.key == key));
        match position {
            Some(position) => self.selected = position,
            None => {
                self.selected = 0;
                self.drawn.first = 0;
                self.scroll = None;
            }
        }
        self.answered = Some(question);
        if self.opens && !self.is_pending() {
            self.opens = false;
            return self.selection().map(|_| Effect::Open);
        }
        None
    }

    /// Shows a message until the next key.
    pub(super) fn show_message(&mut self, text: impl Into<String>, is_error: bool) {
        self.message = Some(Message { text: sanitize::line(&text.into()), is_error });
    }

    /// Returns a new question for the current query and filter.
    pub(super) fn question(&mut self, refresh: bool) -> Question {
        self.asked = Question {
            number: self.asked.number + 1,
            text: self.query.text().to_owned(),
            filter: self.applied.clone(),
            refresh,
        };
        self.asked.clone()
    }

    fn ask(&mut self, refresh: bool) -> Effect {
        Effect::Ask(Box::new(self.question(refresh)))
    }

    fn edit(&mut self, edit: &Edit) -> Option<Effect> {
        match self.prompt {
            Prompt::Query => {
                if self.query.is_empty() && *edit == Edit::Insert("?".to_owned()) {
                    self.shows_help = true;
                    return None;
                }
                self.query.apply(edit).then(|| self.ask(false))
            }
            Prompt::Filter { .. } => {
                let is_new = self.filter.apply(edit) && self.apply_filter();
                is_new.then(|| self.ask(false))
            }
        }
    }

    /// Parses the line of filters. Returns whether the filter changed.
    fn apply_filter(&mut self) -> bool {
        match filters::parse(self.filter.text()) {
            Ok(filter) => {
                self.filter_error = None;
                let is_new = filter != self.applied;
                self.applied = filter;
                is_new
            }
            Err(error) => {
                self.filter_error = Some(sanitize::line(&error));
                false
            }
        }
    }

    fn enter(&mut self) -> Option<Effect> {
        if self.prompt != Prompt::Query {
            self.prompt = Prompt::Query;
            return None;
        }
        // If the latest question has no answer yet, open a result as soon as the answer arrives.
        self.opens = self.is_pending();
        self.selection().filter(|_| !self.opens).map(|_| Effect::Open)
    }

    fn back(&mut self) -> Option<Effect> {
        if let Prompt::Filter { before } = std::mem::replace(&mut self.prompt, Prompt::Query) {
            self.filter = before;
            return self.apply_filter().then(|| self.ask(false));
        }
        if self.focus == Focus::Pane {
            self.focus = Focus::Results;
            return None;
        }
        if self.query.is_empty() {
            return Some(Effect::Quit);
        }
        self.query = LineEdit::default();
        Some(self.ask(false))
    }

    /// Moves the focus to the next or previous view: results, code or score.
    fn cycle_focus(&mut self, forward: bool) {
        let views = [(Focus::Results, self.pane), (Focus::Pane, Pane::Code), (Focus::Pane, Pane::Score)];
        let current = views.iter().position(|view| *view == (self.focus, self.pane)).unwrap_or(0);
        let (focus, pane) = views[(current + if forward { 1 } else { views.len() - 1 }) % views.len()];
        if pane != self.pane {
            self.scroll = None;
        }
        (self.focus, self.pane) = (focus, pane);
    }

    fn move_selection(&mut self, to: Move) {
        let last = self.found.rows.len().saturating_sub(1);
        let page = self.drawn.results.max(1);
        let selected = apply_move(self.selected, to, page).min(last);
        if selected != self.selected {
            self.selected = selected;
            self.scroll = None;
        }
    }

    fn move_pane(&mut self, to: Move) {
        self.scroll(apply_move(self.drawn.top, to, self.drawn.height.max(1)));
    }

    fn scroll(&mut self, top: usize) {
        self.scroll = Some(top.min(self.drawn.lines.saturating_sub(self.drawn.height)));
    }
}

fn apply_move(from: usize, to: Move, page: usize) -> usize {
    match to {
        Move::Up => from.saturating_sub(1),
        Move::Down => from + 1,
        Move::PageUp => from.saturating_sub(page),
        Move::PageDown => from + page,
        Move::First => 0,
        Move::Last => usize::MAX,
    }
}

#[cfg(test)]
mod tests;
