//! A log directory for one test.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use aurora_logs::{DateRange, LogDirectory, LogFile, LogText, Written, interaction};
use jiff::Timestamp;
use tempfile::TempDir;

/// A temporary log directory, removed when the value is dropped.
pub(crate) struct Place {
    directory: TempDir,
    pub(crate) logs: LogDirectory,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let logs = LogDirectory::create(&directory.path().join("logs/conversations")).unwrap();
        Self { directory, logs }
    }

    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.logs.path().join(below)
    }

    /// Writes a log with one phase.
    pub(crate) fn write(&self, query: &str, time: &str) -> Written {
        let query = serde_json::Value::from(query);
        let text = format!(
            r#"{{"query": {query}, "timestamp": "{time}", "phases": [{{"name": "ASSESS", "output": {{"q": {query}}}}}]}}"#
        );
        self.logs.write(LogText::Interaction(interaction("a.json", text.as_bytes()).unwrap()), 2).unwrap()
    }

    /// Writes a log of Markdown.
    pub(crate) fn write_markdown(&self, query: &str, time: &str, body: &str) -> Written {
        let time = Some(time.parse::<Timestamp>().unwrap());
        let body = &mut body.as_bytes();
        self.logs.write(LogText::Markdown { query: query.to_owned(), id: None, time, body }, 2).unwrap()
    }

    /// Writes a file into the directory directly.
    pub(crate) fn put(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes a compressed file into the directory directly.
    pub(crate) fn put_packed(&self, below: &str, content: &[u8]) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        self.put(below, encoder.finish().unwrap());
    }

    /// Returns the content of a file, unpacked if it is compressed.
    pub(crate) fn content(&self, below: &str) -> String {
        let bytes = std::fs::read(self.path(below)).unwrap();
        if !below.ends_with(".gz") {
            return String::from_utf8(bytes).unwrap();
        }
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        text
    }

    /// Returns the files of the directory. Files that begin with a dot are included only in the directories of months.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut open = vec![self.logs.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let below = path.strip_prefix(self.logs.path()).unwrap().to_str().unwrap().to_owned();
                match path.symlink_metadata().unwrap().is_dir() {
                    true => open.push(path),
                    false if below.starts_with('.') => {}
                    false => files.push(below),
                }
            }
        }
        files.sort();
        files
    }

    pub(crate) fn logs(&self, range: DateRange) -> Vec<LogFile> {
        self.logs.files(range).unwrap().map(|log| log.unwrap()).collect()
    }

    pub(crate) fn log(&self, name: &str) -> LogFile {
        self.logs(DateRange::default()).into_iter().find(|log| log.name == name).unwrap()
    }
}
