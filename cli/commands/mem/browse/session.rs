//! The loop of the browser: keys and answers come in, the screen and the editor are what comes of them.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use aurora_project::{ProjectError, Searcher};
use crossterm::event;

use crate::commands::mem::browse::app::{App, Effect};
use crate::commands::mem::browse::editor::Editor;
use crate::commands::mem::browse::preview::{self, Preview, Wish, Wishes};
use crate::commands::mem::browse::screen::{Screen, give_back};
use crate::commands::mem::browse::search::{self, Questions, Reply, RunningEmbedder, Subject};
use crate::commands::mem::browse::signals::{Signals, suspend};
use crate::commands::mem::browse::theme::Theme;
use crate::commands::mem::browse::{BrowseArgs, command, filters, view};
use crate::context::failure::{Failure, Outcome};
use crate::context::terminal::Terminal;
use crate::context::{findings, place};
use crate::output::style::Painter;
use crate::output::time;

/// How long a key is waited for before answers are looked for: while one is to come, and while none is.
const SHORT: Duration = Duration::from_millis(8);
const LONG: Duration = Duration::from_millis(200);
/// Most code is there by then, so that it comes with the frame that shows the selection.
const AT_ONCE: Duration = Duration::from_millis(12);
/// How long the next of several keys is waited for: with no time at all crossterm does not look.
const NEXT: Duration = Duration::from_millis(1);
/// Bytes of the stack of a thread that searches or parses, as for the other commands.
const STACK: usize = 8 << 20;
/// Keys that are handled between two frames.
const MOST_KEYS: usize = 256;

/// What the threads send.
enum News {
    Reply(Box<Reply>),
    Preview(Preview),
}

/// Why the browser ends.
enum End {
    /// The user leaves it.
    Left,
    /// A signal came while an editor ran.
    Signalled,
    Failed(ProjectError),
    /// A thread has panicked and said so.
    Broken,
}

/// The browser at work.
pub(super) struct Session {
    app: App,
    theme: Theme,
    screen: Screen,
    signals: Signals,
    embedder: RunningEmbedder,
    questions: Arc<Questions>,
    wishes: Arc<Wishes>,
    news: Receiver<News>,
    threads: [JoinHandle<()>; 2],
    project: aurora_project::Project,
    records: bool,
    /// The generation that the results are of.
    searcher: Option<Arc<Searcher>>,
    /// Answers so far.
    answers: u64,
    /// The result whose code was asked for last, with the answer that it stands in.
    wished: Option<(String, u64)>,
    awaits_code: bool,
    end: Option<End>,
}

impl Session {
    /// Takes the terminal and asks the first question.
    pub(super) fn begin(args: &BrowseArgs, subject: Subject, painter: Painter) -> Outcome<Self> {
        let (app, question) = App::new(&args.query.join(" "), &filters::line(&args.filter));
        let (send, news) = sync_channel(1);
        let (questions, wishes) = (Arc::new(Questions::new()), Arc::new(Wishes::new()));
        let (embedder, project) = (RunningEmbedder::default(), subject.project.clone());
        questions.ask(question);
        let screen = Screen::take().map_err(|error| no_terminal(&error))?;
        let stopped = embedder.clone();
        let signals = Signals::watch(move || {
            give_back();
            stopped.stop();
        });
        let searching = {
            let (questions, embedder, send) = (Arc::clone(&questions), embedder.clone(), send.clone());
            started("search", move || {
                search::answer(subject, &questions, embedder, &|reply| send.send(News::Reply(Box::new(reply))).is_ok());
            })
        };
        let reading = {
            let wishes = Arc::clone(&wishes);
            started("preview", move || send_previews(&wishes, &send))
        };
        let failed = |error: io::Error| Failure::new(format!("cannot start a thread: {error}"));
        Ok(Self {
            app,
            theme: Theme::new(painter),
            screen,
            signals: signals.map_err(failed)?,
            embedder,
            questions,
            wishes,
            news,
            threads: [searching.map_err(failed)?, reading.map_err(failed)?],
            project,
            records: !args.no_record,
            searcher: None,
            answers: 0,
            wished: None,
            awaits_code: false,
            end: None,
        })
    }

    /// Shows the browser to its end.
    pub(super) fn run(mut self, terminal: &Terminal) -> Outcome {
        let shown = self.show();
        self.embedder.stop();
        let end = self.end.take();
        drop(self);
        shown.map_err(|error| no_terminal(&error))?;
        match end {
            None | Some(End::Left) => Ok(()),
            Some(End::Signalled) => Err(Failure::Interrupted("a signal came while the editor ran".to_owned())),
            Some(End::Failed(error)) => Err(findings::project(error, terminal)),
            Some(End::Broken) => Err(Failure::new("the search has ended unexpectedly")),
        }
    }

    fn show(&mut self) -> io::Result<()> {
        while self.end.is_none() {
            if self.wish() {
                self.receive(AT_ONCE)?;
                self.wish();
            }
            self.screen.draw(|buffer| view::draw(buffer, &mut self.app, self.theme))?;
            if !Screen::is_taken() {
                self.end = Some(End::Broken);
            }
            let mut has_changed = false;
            while !has_changed && self.end.is_none() {
                if self.signals.are_ending() {
                    self.end = Some(End::Signalled);
                    break;
                }
                let waits = self.awaits_code || self.app.is_pending();
                if event::poll(if waits { SHORT } else { LONG })? {
                    self.read()?;
                    has_changed = true;
                }
                has_changed |= self.receive(Duration::ZERO)?;
            }
        }
        Ok(())
    }

    /// Handles the keys that are there.
    fn read(&mut self) -> io::Result<()> {
        for _ in 0..MOST_KEYS {
            let effect = command::command(event::read()?).and_then(|command| self.app.apply(command));
            if let Some(effect) = effect {
                self.perform(effect)?;
            }
            if self.end.is_some() || !event::poll(NEXT)? {
                break;
            }
        }
        Ok(())
    }

    /// Handles what the threads have sent; the first of it is waited for. Whether there was something.
    fn receive(&mut self, patience: Duration) -> io::Result<bool> {
        let has_ended = self.threads.iter().any(JoinHandle::is_finished);
        let mut next = self.news.recv_timeout(patience).ok();
        let has_news = next.is_some();
        while let Some(news) = next {
            match news {
                News::Reply(reply) => self.take_reply(*reply)?,
                News::Preview(preview) if self.app.selection().is_some_and(|row| row.key == preview.key) => {
                    self.awaits_code = false;
                    self.app.preview = Some(preview);
                }
                News::Preview(_) => {}
            }
            next = self.news.try_recv().ok();
        }
        if self.end.is_none() && has_ended {
            self.end = Some(End::Broken);
        }
        Ok(has_news)
    }

    fn take_reply(&mut self, reply: Reply) -> io::Result<()> {
        match reply {
            Reply::Answered(answer) => {
                self.searcher = Some(answer.searcher);
                self.answers += 1;
                match self.app.answer(answer.question, answer.found) {
                    Some(effect) => self.perform(effect),
                    None => Ok(()),
                }
            }
            Reply::Failed(error) => {
                self.end = Some(End::Failed(error));
                Ok(())
            }
        }
    }

    /// Asks for the code of the selected result; whether it had not been asked for.
    fn wish(&mut self) -> bool {
        let wanted = self.app.selection().map(|row| (row.key.clone(), self.answers));
        if wanted == self.wished {
            return false;
        }
        self.wished = wanted;
        if let (Some(row), Some(searcher)) = (self.app.selection(), &self.searcher) {
            let wish = Wish { searcher: Arc::clone(searcher), row: row.clone(), marks: self.app.found.marks.clone() };
            self.wishes.put(wish, |_, newer| newer);
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
                self.app.tell(format!("{place} is copied, if the terminal allows it"), false);
            }
            Effect::Suspend => self.screen.without(suspend)??,
            Effect::Redraw => self.screen.forget()?,
            Effect::Quit => self.end = Some(End::Left),
        }
        Ok(())
    }

    /// Runs the editor on the selected result, and searches again in what may have changed.
    fn open(&mut self) -> io::Result<()> {
        let Some(row) = self.app.selection().cloned() else { return Ok(()) };
        let editor = match Editor::of_user() {
            Ok(editor) => editor,
            Err(error) => {
                self.app.tell(error, true);
                return Ok(());
            }
        };
        let line = row.lines.map(|(first, _)| first);
        let command = editor.command(self.project.root(), place::here().as_deref(), &row.file, line);
        let mut command = match command {
            Ok(command) => command,
            Err(error) => {
                self.app.tell(format!("{} cannot be opened: {error}", row.file), true);
                return Ok(());
            }
        };
        let status = self.signals.while_editing(|| self.screen.without(|| command.status()))?;
        match &status {
            Ok(status) if status.success() => {}
            Ok(status) => self.app.tell(format!("{} has ended with {status}", editor.name()), true),
            Err(error) => self.app.tell(format!("{} cannot be started: {error}", editor.name()), true),
        }
        if let (Ok(_), true, Some(searcher)) = (&status, self.records, &self.searcher) {
            searcher.record(std::iter::once(row.key.as_str()), time::now());
        }
        self.wished = None;
        let question = self.app.question(true);
        self.questions.ask(question);
        Ok(())
    }
}

fn send_previews(wishes: &Wishes, send: &SyncSender<News>) {
    preview::fulfil(wishes, &|preview| send.send(News::Preview(preview)).is_ok());
}

fn started(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work)
}

fn no_terminal(error: &io::Error) -> Failure {
    Failure::new(format!("cannot use the terminal: {error}"))
}
