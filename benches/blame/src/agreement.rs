//! Counts the lines for which two attributions name the same commit.

use crate::git::Lines;

/// The number of compared lines and of equal lines, and the files that differ.
#[derive(Default)]
pub struct Agreement {
    pub lines: u64,
    pub equal: u64,
    /// Number of files that git attributed and the other program did not.
    pub failed: usize,
    /// The files whose attributions differ.
    pub differing: Vec<Difference>,
}

pub struct Difference {
    pub path: String,
    /// Number of lines that differ.
    pub lines: u64,
    /// The first line that differs, counted from 1.
    pub first: usize,
    /// Commit that the measured program names for this line.
    pub found: String,
    /// Commit that git names for this line.
    pub expected: String,
}

impl Agreement {
    /// Adds a file. Files for which git itself failed are not compared.
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

    /// Percentage of equal lines; 100 if no lines were compared.
    pub fn per_cent(&self) -> f64 {
        if self.lines == 0 { 100.0 } else { self.equal as f64 / self.lines as f64 * 100.0 }
    }
}
