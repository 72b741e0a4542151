//! Writes the files of a report.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use aurora_confined::Directory;

use super::report::IndexReport;
use super::{html, junit, markdown, metrics};
use crate::sanitize;

/// The directory of a report. Every file is replaced atomically, and nothing outside the directory is written.
#[derive(Debug, Clone)]
pub struct ReportDirectory {
    directory: Directory,
}

impl ReportDirectory {
    /// Opens the directory that the user has named, and creates it if it does not exist. A directory that is created
    /// below `root`, the indexed directory, gets a `.gitignore`, so that later runs do not index the report.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn create(path: &Path, root: &Path) -> io::Result<Self> {
        let exists = path.exists();
        #[allow(clippy::disallowed_methods, reason = "the user has named the directory")]
        fs::create_dir_all(path)?;
        let directory = Directory::open_root(path)?;
        let is_below = path.canonicalize()?.starts_with(root.canonicalize()?);
        if !exists && is_below {
            directory.write(".gitignore", b"*\n")?;
        }
        Ok(Self { directory })
    }

    /// Writes `report.json`, `report.md`, `junit.xml`, `metrics.txt` and `index.html`.
    ///
    /// # Errors
    /// Returns any system error.
    pub fn write(&self, report: &IndexReport) -> io::Result<()> {
        let put = |name: &str, text: &str| self.directory.replace(name, |file| file.write_all(text.as_bytes()));
        put("index.html", &html::page(report))?;
        put("report.md", &markdown::text(report))?;
        put("junit.xml", &junit::text(report)?)?;
        put("metrics.txt", &metrics::text(report).map_err(io::Error::other)?)?;
        put("report.json", &json(report)?)
    }
}

/// Formats the report as indented JSON. Characters on which a terminal would act are escaped.
fn json(report: &IndexReport) -> io::Result<String> {
    let text = serde_json::to_string_pretty(report)?;
    let mut out = String::with_capacity(text.len() + 1);
    for letter in text.chars() {
        match letter {
            '\n' => out.push('\n'),
            letter if sanitize::is_unsafe(letter) => out.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => out.push(letter),
        }
    }
    out.push('\n');
    Ok(out)
}
