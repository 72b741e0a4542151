//! Number of lines in which two attributions agree.

use crate::git::Lines;

/// Compared and equal lines, and the files that differ.
#[derive(Default)]
pub struct Agreement {
    pub lines: u64,
    pub equal: u64,
    /// Number of files that git attributed and the other side did not.
    pub failed: usize,
    /// For each file that differs: its path, the number of differing lines, the first of them counted from 1, and its
    /// two attributions.
    pub differing: Vec<Difference>,
}

pub struct Difference {
    pub path: String,
    pub lines: u64,
    pub first: usize,
    pub found: String,
    pub expected: String,
}

impl Agreement {
    /// Adds a file. Files on which git itself failed are not compared.
    pub fn add(&mut self, path: &[u8], found: &Lines, expected: &Lines) {
        let Some(expected) = expected else { return };
        self.lines += expected.len() as u64;
        let Some(found) = found else {
            self.failed += 1;
            return;
        };
        let longer = found.len().max(expected.len());
        let differs = |line: &usize| found.get(*line) != expected.get(*line);
        let mut differing = (0..longer).filter(differs);
        let Some(first) = differing.next() else {
            self.equal += expected.len() as u64;
            return;
        };
        let lines = 1 + differing.count() as u64;
        self.equal += (expected.len() as u64).saturating_sub(lines);
        let short = |lines: &[Box<[u8]>]| {
            lines.get(first).map_or("no line".into(), |commit| String::from_utf8_lossy(&commit[..12]).into_owned())
        };
        let path = String::from_utf8_lossy(path).into_owned();
        let (found, expected) = (short(found), short(expected));
        self.differing.push(Difference { path, lines, first: first + 1, found, expected });
    }

    /// The percentage of equal lines; 100 for no lines.
    pub fn per_cent(&self) -> f64 {
        if self.lines == 0 { 100.0 } else { self.equal as f64 / self.lines as f64 * 100.0 }
    }
}
