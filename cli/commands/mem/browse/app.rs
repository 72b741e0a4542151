//! What is on the screen, and how it changes: no input, no output, no threads.

use aurora_query::FilterSpec;

use crate::commands::mem::browse::command::{Command, Move};
use crate::commands::mem::browse::filters;
use crate::commands::mem::browse::line_edit::{Edit, LineEdit};
use crate::commands::mem::browse::preview::Preview;
use crate::commands::mem::browse::row::{Found, Row};
use crate::commands::mem::browse::search::Question;
use crate::output::sanitize;

/// What is on the screen.
pub(super) struct App {
    pub(super) query: LineEdit,
    pub(super) filter: LineEdit,
    /// Which line is edited.
    pub(super) prompt: Prompt,
    /// What is wrong with the line of filters; the filter before is in use then.
    pub(super) filter_error: Option<String>,
    pub(super) applied: FilterSpec,
    /// The question that was asked last.
    asked: Question,
    /// The question that the results belong to.
    answered: Option<Question>,
    pub(super) found: Found,
    /// Why there are no results.
    pub(super) error: Option<String>,
    /// Whether the first of the results that are to come is opened.
    opens: bool,
    pub(super) selected: usize,
    pub(super) focus: Focus,
    pub(super) pane: Pane,
    pub(super) preview: Option<Preview>,
    /// The first line of the pane, if the user has chosen one.
    pub(super) scroll: Option<usize>,
    pub(super) message: Option<Message>,
    pub(super) shows_help: bool,
    /// The numbers that the last drawing has come to.
    pub(super) drawn: Drawn,
}

/// A line that is edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
    Query,
    Filter {
        /// The line as it was.
        before: LineEdit,
    },
}

/// Where keys that move something do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Results,
    Pane,
}

/// What is shown of the selected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    Code,
    Score,
}

/// What is said until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// Lengths on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// The first result of the list, and how many there is room for.
    pub(super) first: usize,
    pub(super) results: usize,
    /// The first line of the pane, its lines, and how many there is room for.
    pub(super) top: usize,
    pub(super) lines: usize,
    pub(super) height: usize,
}

/// What is to be done outside.
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
    /// With a query and a line of filters, which was made of arguments, and the question to ask first.
    pub(super) fn new(query: &str, filter: &str) -> (Self, Question) {
        let mut app = Self {
            query: LineEdit::new(query),
            filter: LineEdit::new(filter),
            prompt: Prompt::Query,
            filter_error: None,
            applied: FilterSpec::default(),
            asked: Question::default(),
            answered: None,
            found: Found::default(),
            error: None,
            opens: false,
            selected: 0,
            focus: Focus::Results,
            pane: Pane::Code,
            preview: None,
            scroll: None,
            message: None,
            shows_help: false,
            drawn: Drawn::default(),
        };
        app.apply_filter();
        let question = app.question(false);
        (app, question)
    }

    /// Whether the results belong to an earlier question.
    pub(super) fn is_pending(&self) -> bool {
        self.answered.as_ref().is_none_or(|answered| answered.number != self.asked.number)
    }

    pub(super) fn selection(&self) -> Option<&Row> {
        self.found.rows.get(self.selected)
    }

    /// Does what the user wants.
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
            Command::NextPane => self.turn(true),
            Command::PreviousPane => self.turn(false),
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

    /// Takes an answer. One to a question that is not the last is shown too, as long as no newer one is there.
    pub(super) fn answer(&mut self, question: Question, found: Result<Found, String>) -> Option<Effect> {
        let is_same = |before: &Question| before.text == question.text && before.filter == question.filter;
        let selected = self.selection().filter(|_| self.answered.as_ref().is_some_and(is_same));
        let selected = selected.map(|row| row.key.clone());
        (self.found, self.error) = match found {
            Ok(found) => (found, None),
            Err(error) => (Found::default(), Some(error)),
        };
        let place = selected.and_then(|key| self.found.rows.iter().position(|row| row.key == key));
        match place {
            Some(place) => self.selected = place,
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

    /// Says something until the next key.
    pub(super) fn tell(&mut self, text: impl Into<String>, is_error: bool) {
        self.message = Some(Message { text: sanitize::line(&text.into()), is_error });
    }

    /// The question that is asked now.
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

    /// Reads the line of filters; whether another filter is in use now.
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
        // The user means a result of what was typed.
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

    /// Results, code, score, in this order or the other way round.
    fn turn(&mut self, forward: bool) {
        let places = [(Focus::Results, self.pane), (Focus::Pane, Pane::Code), (Focus::Pane, Pane::Score)];
        let current = match (self.focus, self.pane) {
            (Focus::Results, _) => 0,
            (Focus::Pane, Pane::Code) => 1,
            (Focus::Pane, Pane::Score) => 2,
        };
        let (focus, pane) = places[(current + if forward { 1 } else { places.len() - 1 }) % places.len()];
        if pane != self.pane {
            self.scroll = None;
        }
        (self.focus, self.pane) = (focus, pane);
    }

    fn move_selection(&mut self, to: Move) {
        let last = self.found.rows.len().saturating_sub(1);
        let page = self.drawn.results.max(1);
        let selected = moved(self.selected, to, page).min(last);
        if selected != self.selected {
            self.selected = selected;
            self.scroll = None;
        }
    }

    fn move_pane(&mut self, to: Move) {
        self.scroll(moved(self.drawn.top, to, self.drawn.height.max(1)));
    }

    fn scroll(&mut self, top: usize) {
        self.scroll = Some(top.min(self.drawn.lines.saturating_sub(self.drawn.height)));
    }
}

fn moved(from: usize, to: Move, page: usize) -> usize {
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
