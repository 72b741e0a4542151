//! The baseline of the comparison: `cat` between two pipes.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::measure::{Measured, measured};

/// Distributes the messages in turn to `count` processes, and checks the number of bytes that each process returns.
pub(crate) fn run(lines: &[Vec<u8>], count: usize) -> Measured {
    measured(|| {
        std::thread::scope(|scope| {
            for first in 0..count {
                scope.spawn(move || through_cat(lines, first, count));
            }
        });
    })
}

fn through_cat(lines: &[Vec<u8>], first: usize, step: usize) {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("`cat`");
    let (mut input, mut output) = (cat.stdin.take().expect("a pipe"), cat.stdout.take().expect("a pipe"));
    let mine = || lines.iter().skip(first).step_by(step);
    std::thread::scope(|scope| {
        scope.spawn(move || mine().for_each(|line| input.write_all(line).expect("`cat` reads")));
        let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
        loop {
            match output.read(&mut buffer).expect("`cat` writes") {
                0 => break,
                read => total += read,
            }
        }
        assert_eq!(total, mine().map(Vec::len).sum::<usize>(), "`cat` returns everything");
    });
    cat.wait().expect("`cat` ends");
}
