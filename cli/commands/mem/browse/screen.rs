//! Controls the terminal while the interactive search (the browser) runs, and restores the terminal no matter how the
//! program ends.

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

/// Whether the browser controls the terminal. The lock is held during every write to the terminal.
static IS_TAKEN: Mutex<bool> = Mutex::new(false);
/// Maximum number of attempts to lock the terminal while another thread writes a frame.
const TRIES: usize = 50;
/// Interval between two attempts to lock the terminal.
const PAUSE: Duration = Duration::from_millis(10);

/// The terminal, which is restored when the value is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes control of the terminal. From then on, a panic restores the terminal before the panic message is printed.
    pub(super) fn take() -> io::Result<Self> {
        restore_on_panic();
        // The theme decides whether to use colours. Without this call, crossterm would omit them if NO_COLOR is set.
        crossterm::style::force_color_output(true);
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        terminal.map(|terminal| Self { terminal }).inspect_err(|_| restore())
    }

    /// Draws a frame; `draw` returns the position of the cursor. Does nothing if the terminal was restored.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer) -> Option<Position>) -> io::Result<()> {
        // Terminals that support synchronized updates never show a half-drawn frame.
        if_taken(|| queue!(io::stdout(), BeginSynchronizedUpdate).and_then(|()| self.terminal.autoresize()))?;
        let cursor = draw(self.terminal.current_buffer_mut());
        if_taken(|| {
            self.terminal.apply_buffer_with_cursor(cursor)?;
            execute!(io::stdout(), EndSynchronizedUpdate)
        })
    }

    /// Makes the next frame redraw the whole screen.
    pub(super) fn invalidate(&mut self) -> io::Result<()> {
        // `clear` would ask the terminal for the position of its cursor, and wait for the answer.
        let area = self.terminal.size()?.into();
        if_taken(|| self.terminal.resize(area))
    }

    /// Copies a text to the clipboard, if the terminal supports OSC 52.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        if_taken(|| execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text)))
    }

    /// Whether the browser still controls the terminal. A panic in any thread restores the terminal.
    pub(super) fn is_taken() -> bool {
        *lock()
    }

    /// Restores the terminal, runs `work`, and takes control of the terminal again.
    pub(super) fn release_during<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let done = work();
        take()?;
        self.invalidate()?;
        Ok(done)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Writes to the terminal unless it was restored.
fn if_taken(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let taken = lock();
    if *taken { write() } else { Ok(()) }
}

fn take() -> io::Result<()> {
    let mut taken = lock();
    enable_raw_mode()?;
    *taken = true;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Restores the terminal if the browser controls it, or if the lock cannot be acquired.
pub(super) fn restore() {
    let mut taken = try_lock_for_a_while();
    let was_taken = taken.as_deref_mut().is_none_or(|taken| std::mem::replace(taken, false));
    if !was_taken {
        return;
    }
    let mut out = io::stdout();
    // Errors are ignored, because the terminal may no longer exist.
    let _ = queue!(out, EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

fn lock() -> MutexGuard<'static, bool> {
    IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the terminal. Returns `None` if another thread does not finish writing its frame, for example because nobody
/// reads the output.
fn try_lock_for_a_while() -> Option<MutexGuard<'static, bool>> {
    for _ in 0..TRIES {
        match IS_TAKEN.try_lock() {
            Ok(taken) => return Some(taken),
            Err(TryLockError::Poisoned(taken)) => return Some(taken.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
    None
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            print(panic);
        }));
    });
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;

    use rustix::termios::{LocalModes, tcgetattr};

    use super::*;

    /// Environment variable that the first test sets when it runs the second test on a pseudo-terminal.
    const ON_A_TERMINAL: &str = "AURORA_TEST_ON_A_TERMINAL";

    #[test]
    fn a_panic_restores_the_terminal_and_its_message_is_visible() {
        let (mut terminal, inner) = pty_process::blocking::open().expect("a pseudo-terminal");
        terminal.resize(pty_process::Size::new(24, 80)).expect("the size can be set");
        let arguments =
            ["--exact", "commands::mem::browse::screen::tests::a_panic_on_a_terminal", "--ignored", "--nocapture"];
        let program = std::env::current_exe().expect("the path of the test program is known");
        let command = pty_process::blocking::Command::new(program).args(arguments);
        let command = command.env(ON_A_TERMINAL, "1").env("RUST_BACKTRACE", "0");
        let mut child = command.spawn(inner).expect("the child process starts");
        let mut parser = vt100::Parser::new(24.try_into().expect("not zero"), 80.try_into().expect("not zero"), 0);
        let (mut bytes, mut was_taken) = ([0; 4096], false);
        while let Ok(read @ 1..) = terminal.read(&mut bytes) {
            for byte in &bytes[..read] {
                parser.process(&[*byte]);
                was_taken |= parser.screen().alternate_screen();
            }
        }
        assert!(!child.wait().expect("the child process ends").success());
        let screen = parser.screen();
        assert!(was_taken && !screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        assert!(screen.contents().contains("something is wrong"), "{}", screen.contents());
        let modes = tcgetattr(&terminal).expect("the modes can be read").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
    }

    #[test]
    #[ignore = "the previous test runs this test on a pseudo-terminal"]
    fn a_panic_on_a_terminal() {
        if std::env::var_os(ON_A_TERMINAL).is_some() {
            let mut screen = Screen::take().expect("there is a terminal");
            screen.draw(|_| panic!("something is wrong")).expect("nothing is drawn");
        }
    }
}
