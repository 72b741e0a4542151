//! The main loop of the interactive search (the browser): it handles keys and answers, draws the screen and starts the
//! editor.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use aurora_project::ProjectError;
use aurora_query::Searcher;
use crossterm::event;

use crate::commands::mem::browse::app::{App, Effect};
use crate::commands::mem::browse::editor::Editor;
use crate::commands::mem::browse::preview::{self, Preview, PreviewRequest, PreviewRequests};
use crate::commands::mem::browse::screen::{Screen, restore};
use crate::commands::mem::browse::search::{self, Answer, Questions, RunningEmbedder, Subject};
use crate::commands::mem::browse::signals::{Signals, suspend};
use crate::commands::mem::browse::theme::Theme;
use crate::commands::mem::browse::{BrowseArgs, command, filters, view};
use crate::context::{Failure, Outcome, place};
use crate::output::Painter;

/// Maximum waiting time for a key between two checks for an answer, while an answer or code is pending.
const PENDING_POLL: Duration = Duration::from_millis(8);
/// Maximum waiting time for a key between two checks for an answer, while nothing is pending.
const IDLE_POLL: Duration = Duration::from_millis(200);
/// Maximum waiting time for the code of a newly selected result. The code then usually appears in the same frame as the
/// selection.
const CODE_WAIT: Duration = Duration::from_millis(12);
/// Maximum waiting time for another key that has already been pressed. With a timeout of zero, crossterm would not
/// check for input.
const NEXT_KEY_POLL: Duration = Duration::from_millis(1);
/// Stack size in bytes of the threads that search or parse, as for the other commands.
const STACK_BYTES: usize = 8 << 20;
/// Maximum number of keys that are handled between two frames.
const MAX_KEYS: usize = 256;

/// Error message after a thread has panicked. The panic hook has already printed the reason.
const BROKEN: &str = "the search thread ended unexpectedly";

/// A message from one of the threads.
enum ThreadMessage {
    Answer(Box<Answer>),
    /// The search thread has ended and answers no questions.
    Failed(ProjectError),
    Preview(Preview),
}

/// A running browser.
pub(super) struct Session {
    app: App,
    theme: Theme,
    screen: Screen,
    signals: Signals,
    embedder: RunningEmbedder,
    questions: Arc<Questions>,
    requests: Arc<PreviewRequests>,
    messages: Receiver<ThreadMessage>,
    threads: [JoinHandle<()>; 2],
    project: aurora_project::Project,
    /// Whether opened results are recorded.
    records: bool,
    /// The generation that produced the results.
    searcher: Option<Arc<Searcher>>,
    /// Number of answers so far.
    answers: u64,
    /// The result whose code was requested last, with the number of the answer that contains it.
    requested: Option<(String, u64)>,
    awaits_code: bool,
    /// The outcome of the browser, once it ends.
    end: Option<Outcome>,
}

impl Session {
    /// Takes control of the terminal and asks the first question.
    pub(super) fn begin(args: &BrowseArgs, subject: Subject, painter: Painter) -> Outcome<Self> {
        let (app, question) = App::new(&args.query.join(" "), &filters::line(&args.filter));
        let (send, messages) = sync_channel(1);
        let (questions, requests) = (Arc::new(Questions::new()), Arc::new(PreviewRequests::new()));
        let (embedder, project) = (RunningEmbedder::default(), subject.project.clone());
        questions.ask(question);
        let screen = Screen::take().map_err(|error| terminal_failure(&error))?;
        let stopped = embedder.clone();
        let signals = Signals::watch(move || {
            restore();
            stopped.stop();
        });
        let searching = {
            let (questions, embedder, send) = (Arc::clone(&questions), embedder.clone(), send.clone());
            spawn("search", move || {
                let answers = |answer| send.send(ThreadMessage::Answer(Box::new(answer))).is_ok();
                if let Err(error) = search::answer(subject, &questions, embedder, &answers) {
                    let _ = send.send(ThreadMessage::Failed(error));
                }
            })
        };
        let reading = {
            let requests = Arc::clone(&requests);
            spawn("preview", move || {
                preview::serve_requests(&requests, &|preview| send.send(ThreadMessage::Preview(preview)).is_ok());
            })
        };
        let failed = |error: io::Error| Failure::new(format!("cannot start a thread: {error}"));
        Ok(Self {
            app,
            theme: Theme::new(painter),
            screen,
            signals: signals.map_err(failed)?,
            embedder,
            questions,
            requests,
            messages,
            threads: [searching.map_err(failed)?, reading.map_err(failed)?],
            project,
            records: !args.no_record,
            searcher: None,
            answers: 0,
            requested: None,
            awaits_code: false,
            end: None,
        })
    }

    /// Runs the browser until it ends.
    pub(super) fn run(mut self) -> Outcome {
        let shown = self.show();
        self.embedder.stop();
        let end = self.end.take();
        drop(self);
        shown.map_err(|error| terminal_failure(&error))?;
        end.unwrap_or(Ok(()))
    }

    fn show(&mut self) -> io::Result<()> {
        while self.end.is_none() {
            if self.request_preview() {
                self.receive(CODE_WAIT)?;
                self.request_preview();
            }
            self.screen.draw(|buffer| view::draw(buffer, &mut self.app, self.theme))?;
            if !Screen::is_taken() {
                self.end = Some(Err(Failure::new(BROKEN)));
            }
            let mut has_changed = false;
            while !has_changed && self.end.is_none() {
                if self.signals.has_ending_signal() {
                    let message = "a signal arrived while the editor ran";
                    self.end = Some(Err(Failure::Interrupted(message.to_owned())));
                    break;
                }
                let waits = self.awaits_code || self.app.is_pending();
                if event::poll(if waits { PENDING_POLL } else { IDLE_POLL })? {
                    self.read()?;
                    has_changed = true;
                }
                has_changed |= self.receive(Duration::ZERO)?;
            }
        }
        Ok(())
    }

    /// Handles the keys that have been pressed.
    fn read(&mut self) -> io::Result<()> {
        for _ in 0..MAX_KEYS {
            let effect = command::command(event::read()?).and_then(|command| self.app.apply(command));
            if let Some(effect) = effect {
                self.perform(effect)?;
            }
            if self.end.is_some() || !event::poll(NEXT_KEY_POLL)? {
                break;
            }
        }
        Ok(())
    }

    /// Handles the messages of the threads, and waits up to `patience` for the first one. Returns whether there was a
    /// message.
    fn receive(&mut self, patience: Duration) -> io::Result<bool> {
        let has_ended = self.threads.iter().any(JoinHandle::is_finished);
        let mut next = self.messages.recv_timeout(patience).ok();
        let has_messages = next.is_some();
        while let Some(message) = next {
            match message {
                ThreadMessage::Answer(answer) => self.take_answer(*answer)?,
                ThreadMessage::Failed(error) => self.end = Some(Err(error.into())),
                ThreadMessage::Preview(preview) if self.app.selection().is_some_and(|row| row.key == preview.key) => {
                    self.awaits_code = false;
                    self.app.preview = Some(preview);
                }
                ThreadMessage::Preview(_) => {}
            }
            next = self.messages.try_recv().ok();
        }
        if self.end.is_none() && has_ended {
            self.end = Some(Err(Failure::new(BROKEN)));
        }
        Ok(has_messages)
    }

    fn take_answer(&mut self, answer: Answer) -> io::Result<()> {
        self.searcher = Some(answer.searcher);
        self.answers += 1;
        match self.app.answer(answer.question, answer.found) {
            Some(effect) => self.perform(effect),
            None => Ok(()),
        }
    }

    /// Requests the code of the selected result. Returns whether this is a new request.
    fn request_preview(&mut self) -> bool {
        let wanted = self.app.selection().map(|row| (row.key.clone(), self.answers));
        if wanted == self.requested {
            return false;
        }
        self.requested = wanted;
        if let (Some(row), Some(searcher)) = (self.app.selection(), &self.searcher) {
            let request = PreviewRequest {
                searcher: Arc::clone(searcher),
                row: row.clone(),
                marks: self.app.found.marks.clone(),
            };
            self.requests.put(request, |_, newer| newer);
            self.awaits_code = true;
            true
        } else {
            self.awaits_code = false;
            false
        }
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Ask(question) => self.questions.ask(*question),
            Effect::Open => self.open()?,
            Effect::Copy(place) => {
                self.screen.copy(&place)?;
                self.app.show_message(format!("Copied {place}, if the terminal supports it"), false);
            }
            Effect::Suspend => self.screen.release_during(suspend)??,
            Effect::Redraw => self.screen.invalidate()?,
            Effect::Quit => self.end = Some(Ok(())),
        }
        Ok(())
    }

    /// Opens the selected result in the editor, and then searches again, because files may have changed.
    fn open(&mut self) -> io::Result<()> {
        let Some(row) = self.app.selection().cloned() else { return Ok(()) };
        let editor = match Editor::from_environment() {
            Ok(editor) => editor,
            Err(error) => {
                self.app.show_message(error, true);
                return Ok(());
            }
        };
        let line = row.card.lines.map(|(first, _)| first);
        let command = editor.command(self.project.root(), place::here().as_deref(), &row.file, line);
        let mut command = match command {
            Ok(command) => command,
            Err(error) => {
                self.app.show_message(format!("Cannot open {}: {error}", row.file), true);
                return Ok(());
            }
        };
        let status = self.signals.while_editing(|| self.screen.release_during(|| command.status()))?;
        match &status {
            Ok(status) if status.success() => {}
            Ok(status) => self.app.show_message(format!("{} ended with {status}", editor.name()), true),
            Err(error) => self.app.show_message(format!("Cannot start {}: {error}", editor.name()), true),
        }
        if let (Ok(_), true, Some(searcher)) = (&status, self.records, &self.searcher)
            && let Ok(access) = searcher.access()
        {
            // Ignore errors, because a read-only index can be browsed.
            let _ = access.record(&[(row.key.as_str(), aurora_clock::now_seconds())]);
        }
        self.requested = None;
        let question = self.app.question(true);
        self.questions.ask(question);
        Ok(())
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}

fn terminal_failure(error: &io::Error) -> Failure {
    Failure::new(format!("cannot use the terminal: {error}"))
}
