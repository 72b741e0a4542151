//! The terminal while it shows the screen of the browser: taken, drawn on, and given back however the program ends.

use std::io::{self, Stdout, Write};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

/// Whether the terminal is taken. Held while something is written to it.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);
/// How often, and after which pause, the end of a frame that is being written is waited for.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// The terminal, given back when the value is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal. From here on a panic gives it back before its message is printed.
    pub(super) fn take() -> io::Result<Self> {
        gives_back_on_panic();
        // The theme knows whether there are colours; crossterm would decide by NO_COLOR alone.
        crossterm::style::force_color_output(true);
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        terminal.map(|terminal| Self { terminal }).inspect_err(|_| give_back())
    }

    /// Draws a frame; `draw` returns where the cursor is to be. Nothing is drawn on a terminal that has been given back.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> io::Result<()> {
        // A terminal that knows it shows the frame as a whole.
        if_taken(|| queue!(io::stdout(), BeginSynchronizedUpdate).and_then(|()| self.terminal.autoresize()))?;
        let cursor = draw(self.terminal.current_buffer_mut());
        if_taken(|| {
            self.terminal.apply_buffer_with_cursor(cursor)?;
            execute!(io::stdout(), EndSynchronizedUpdate)
        })
    }

    /// Draws everything again with the next frame.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // `clear` would ask the terminal where its cursor is, and wait for the answer.
        let area = self.terminal.size()?.into();
        if_taken(|| self.terminal.resize(area))
    }

    /// Puts a text into the clipboard, where the terminal knows how to (OSC 52).
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        if_taken(|| execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text)))
    }

    /// Whether the terminal has not been given back, as a panic in any thread does.
    pub(super) fn is_taken() -> bool {
        *taken()
    }

    /// Does something with the terminal as it was before.
    pub(super) fn without<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = work();
        take()?;
        self.forget()?;
        Ok(done)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Writes to the terminal unless it has been given back.
fn if_taken(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let taken = taken();
    if *taken { write() } else { Ok(()) }
}

fn take() -> io::Result<()> {
    let mut taken = taken();
    enable_raw_mode()?;
    *taken = true;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Leaves the terminal as it was. Nothing is done where it is not taken.
pub(super) fn give_back() {
    let mut taken = patiently_taken();
    let was_taken = taken.as_deref_mut().is_none_or(|taken| std::mem::replace(taken, false));
    if !was_taken {
        return;
    }
    let mut out = io::stdout();
    // Nothing can be done about a terminal that is gone.
    let _ = queue!(out, EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

fn taken() -> MutexGuard<'static, bool> {
    IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same; `None` where a thread does not come to the end of its frame, because nobody reads what it writes.
fn patiently_taken() -> Option<MutexGuard<'static, bool>> {
    for _ in 0..TRIES {
        match IS_TAKEN.try_lock() {
            Ok(taken) => return Some(taken),
            Err(TryLockError::Poisoned(taken)) => return Some(taken.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
    None
}

fn gives_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            print(panic);
        }));
    });
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;

    use rustix::termios::{LocalModes, tcgetattr};

    use super::*;

    /// Set for the test that runs on a terminal of another test.
    const ON_A_TERMINAL: &str = "AURORA_TEST_ON_A_TERMINAL";

    #[test]
    fn a_panic_gives_the_terminal_back_and_is_read() {
        let (mut terminal, inner) = pty_process::blocking::open().expect("a pseudo-terminal");
        terminal.resize(pty_process::Size::new(24, 80)).expect("a size");
        let arguments = ["--exact", "browse::screen::tests::a_panic_on_a_terminal", "--ignored", "--nocapture"];
        let program = std::env::current_exe().expect("this program");
        let command = pty_process::blocking::Command::new(program).args(arguments);
        let command = command.env(ON_A_TERMINAL, "1").env("RUST_BACKTRACE", "0");
        let mut child = command.spawn(inner).expect("it starts");
        let mut parser = vt100::Parser::new(24.try_into().expect("not zero"), 80.try_into().expect("not zero"), 0);
        let (mut bytes, mut was_taken) = ([0; 4096], false);
        while let Ok(read @ 1..) = terminal.read(&mut bytes) {
            for byte in &bytes[..read] {
                parser.process(&[*byte]);
                was_taken |= parser.screen().alternate_screen();
            }
        }
        assert!(!child.wait().expect("it ends").success());
        let screen = parser.screen();
        assert!(was_taken && !screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        assert!(screen.contents().contains("something is wrong"), "{}", screen.contents());
        let modes = tcgetattr(&terminal).expect("modes").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
    }

    #[test]
    #[ignore = "the test above runs it on a terminal"]
    fn a_panic_on_a_terminal() {
        if std::env::var_os(ON_A_TERMINAL).is_some() {
            let mut screen = Screen::take().expect("a terminal");
            screen.draw(|_| panic!("something is wrong")).expect("nothing is drawn");
        }
    }
}
