//! Runs a program on a pseudo-terminal and emulates the screen that a user would see.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::Pty;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};
use vt100::{Callbacks, Parser, Screen};

/// Time after which a test stops waiting and fails. It is much longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval at which a condition is checked again while the program prints nothing.
const STEP: Duration = Duration::from_millis(20);

/// A program that runs on a pseudo-terminal.
pub(crate) struct Tty {
    pty: Option<Arc<Pty>>,
    shown: Arc<(Mutex<Display>, Condvar)>,
    child: Child,
    reader: Option<JoinHandle<()>>,
    /// Tells the reader thread to stop.
    must_stop: Arc<AtomicBool>,
}

/// Escape sequences that begin and end a synchronized update, which the terminal shows as one frame.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// State of the screen.
struct Display {
    parser: Parser<Requests>,
    /// Bytes of an incomplete frame.
    frame: Vec<u8>,
    is_closed: bool,
}

/// Control sequences of the program that do not change the text on the screen.
#[derive(Default, Clone)]
pub(crate) struct Requests {
    /// Texts copied to the clipboard, in base64.
    pub(crate) copied: Vec<String>,
    /// Titles, bells, and sequences that the emulated terminal does not know.
    pub(crate) others: Vec<String>,
}

impl Callbacks for Requests {
    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], data: &[u8]) {
        self.copied.push(String::from_utf8_lossy(data).into_owned());
    }

    fn audible_bell(&mut self, _: &mut Screen) {
        self.others.push("bell".to_owned());
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.others.push(format!("title {}", String::from_utf8_lossy(title)));
    }

    fn unhandled_osc(&mut self, _: &mut Screen, parameters: &[&[u8]]) {
        self.others.push(format!("OSC {parameters:?}"));
    }

    fn unhandled_control(&mut self, _: &mut Screen, byte: u8) {
        self.others.push(format!("control {byte:#x}"));
    }
}

impl Tty {
    /// Starts a program on a new terminal.
    pub(crate) fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        command.env("TERM", "xterm-256color");
        let (pty, inner) = pty_process::blocking::open().expect("a pseudo-terminal can be opened");
        pty.resize(Size::new(rows, columns)).expect("the terminal can be resized");
        let child = pty_process::blocking::Command::from(command).spawn(inner).expect("the program starts");
        let parser = Parser::new_with_callbacks(non_zero(rows), non_zero(columns), 0, Requests::default());
        let (pty, shown) = (
            Arc::new(pty),
            Arc::new((Mutex::new(Display { parser, frame: Vec::new(), is_closed: false }), Condvar::new())),
        );
        let must_stop = Arc::new(AtomicBool::new(false));
        let reader = {
            let (pty, shown, must_stop) = (Arc::clone(&pty), Arc::clone(&shown), Arc::clone(&must_stop));
            std::thread::spawn(move || read(&pty, &shown, &must_stop))
        };
        Self { pty: Some(pty), shown, child, reader: Some(reader), must_stop }
    }

    /// Types text or keys.
    pub(crate) fn types(&self, keys: &str) -> &Self {
        self.pty().write_all(keys.as_bytes()).expect("the terminal accepts keys");
        self
    }

    /// Waits until the screen meets a condition. `what` describes the condition in the error message.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Screen) -> bool) -> &Self {
        drop(self.wait_until(what, |shown| is_so(shown.parser.screen())));
        self
    }

    /// Waits until a text is on the screen.
    pub(crate) fn shows(&self, text: &str) -> &Self {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until a text is not on the screen.
    pub(crate) fn hides(&self, text: &str) -> &Self {
        self.until(&format!("no {text}"), |screen| !screen.contents().contains(text))
    }

    /// Passes the current screen to `look` and returns its result.
    pub(crate) fn screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(self.lock().parser.screen())
    }

    /// Returns the control sequences that the program has sent so far.
    pub(crate) fn requests(&self) -> Requests {
        self.lock().parser.callbacks().clone()
    }

    /// Waits until the program copies something to the clipboard, and returns everything that it copied.
    pub(crate) fn copied(&self) -> Vec<String> {
        self.wait_until("something copied", |shown| !shown.parser.callbacks().copied.is_empty())
            .parser
            .callbacks()
            .copied
            .clone()
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, columns: u16, rows: u16) -> &Self {
        // Resize the emulated screen first, so that it does not cut anything that is drawn for the new size.
        self.lock().parser.set_size(non_zero(rows), non_zero(columns));
        self.pty().resize(Size::new(rows, columns)).expect("the terminal can be resized");
        self
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: Signal) -> &Self {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the program runs");
        self
    }

    /// Whether the terminal is in raw mode, in which the program reads single keys instead of lines.
    pub(crate) fn is_raw(&self) -> bool {
        let modes = tcgetattr(self.pty()).expect("the terminal's modes can be read").local_modes;
        !modes.contains(LocalModes::ICANON) || !modes.contains(LocalModes::ECHO)
    }

    /// Waits until the program ends, and asserts that it has restored the terminal. Returns the exit code, or the
    /// negated number of the signal that ended the program, and the text of the screen.
    pub(crate) fn wait_for_exit(mut self) -> (i32, String) {
        let screen = self.wait_until("the end of the program", |shown| shown.is_closed).parser.screen().clone();
        let status = self.child.wait().expect("the program ends");
        assert!(!screen.alternate_screen(), "the program has left the alternate screen");
        assert!(!screen.hide_cursor() && !screen.bracketed_paste(), "the cursor is shown, pasting is plain");
        assert!(!self.is_raw(), "the terminal reads lines again");
        (status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)), screen.contents())
    }

    /// Closes the terminal, as closing its window does, and waits until the program ends.
    pub(crate) fn close(mut self) {
        self.must_stop.store(true, Ordering::SeqCst);
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the thread does not panic");
        }
        // Drops the last reference to the terminal, which closes it.
        self.pty = None;
        let began = Instant::now();
        while self.child.try_wait().expect("the status of the process is available").is_none() {
            assert!(began.elapsed() < PATIENCE, "the program still runs without a terminal");
            std::thread::sleep(STEP);
        }
    }

    fn pty(&self) -> &Pty {
        self.pty.as_deref().expect("the terminal is open until `close`")
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&Display) -> bool) -> MutexGuard<'_, Display> {
        let began = Instant::now();
        let mut shown = self.lock();
        while !is_so(&shown) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            assert!(!left.is_zero() && !shown.is_closed, "waited for {what}:\n{}", shown.parser.screen().contents());
            // A condition can also become true without output of the program, for example when a file appears.
            shown = self.shown.1.wait_timeout(shown, STEP.min(left)).expect("the lock is not poisoned").0;
        }
        shown
    }

    fn lock(&self) -> MutexGuard<'_, Display> {
        self.shown.0.lock().expect("the lock is not poisoned")
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // If the test has failed, the program is still running.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Display {
    /// Feeds output of the program to the screen. Output of an incomplete frame is held back.
    fn take(&mut self, bytes: &[u8]) {
        self.frame.extend(bytes);
        loop {
            let begin = find(&self.frame, BEGIN).unwrap_or(self.frame.len());
            let end = find(&self.frame[begin..], END).map(|end| begin + end + END.len());
            // If the output ends with a prefix of `BEGIN`, the prefix waits for the bytes that follow.
            let cut = (1..BEGIN.len()).rev().find(|&length| self.frame.ends_with(&BEGIN[..length])).unwrap_or(0);
            let ready = end.unwrap_or(begin.min(self.frame.len() - cut));
            let shown: Vec<u8> = self.frame.drain(..ready).collect();
            self.parser.process(&shown);
            if end.is_none() {
                return;
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Feeds the output of the program to the screen until the terminal is closed or the reader must stop.
fn read(mut pty: &Pty, shown: &(Mutex<Display>, Condvar), must_stop: &AtomicBool) {
    let mut bytes = [0; 4096];
    let step = Timespec::try_from(STEP).expect("the duration is short");
    while !must_stop.load(Ordering::SeqCst) {
        if poll(&mut [PollFd::new(&pty, PollFlags::IN)], Some(&step)).expect("the terminal can be polled") == 0 {
            continue;
        }
        let read = pty.read(&mut bytes).unwrap_or(0);
        let mut shown_now = shown.0.lock().expect("the lock is not poisoned");
        match read {
            0 => shown_now.is_closed = true,
            read => shown_now.take(&bytes[..read]),
        }
        shown.1.notify_all();
        if read == 0 {
            return;
        }
    }
}

fn non_zero(number: u16) -> std::num::NonZeroU16 {
    number.try_into().expect("the number is not zero")
}
