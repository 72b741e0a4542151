//! A log directory for a test.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use aurora_logs::{DateRange, LogDirectory, LogFile, LogText, Written, interaction};
use jiff::Timestamp;
use tempfile::TempDir;

/// A temporary log directory. It is removed when the value is dropped.
pub(crate) struct TestDirectory {
    directory: TempDir,
    pub(crate) logs: LogDirectory,
}

impl TestDirectory {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let logs = LogDirectory::create(&directory.path().join("logs/conversations")).unwrap();
        Self { directory, logs }
    }

    /// Returns the directory that contains the log directory.
    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.logs.path().join(relative)
    }

    /// Writes a log with one phase.
    pub(crate) fn write(&self, query: &str, time: &str) -> Written {
        let query = serde_json::Value::from(query);
        let text = format!(
            r#"{{"query": {query}, "timestamp": "{time}", "phases": [{{"name": "ASSESS", "output": {{"q": {query}}}}}]}}"#
        );
        self.logs.write(LogText::Interaction(interaction("a.json", text.as_bytes()).unwrap()), 2).unwrap()
    }

    /// Writes a log with a Markdown text.
    pub(crate) fn write_markdown(&self, query: &str, time: &str, body: &str) -> Written {
        let time = Some(time.parse::<Timestamp>().unwrap());
        let body = &mut body.as_bytes();
        self.logs.write(LogText::Markdown { query: query.to_owned(), id: None, time, body }, 2).unwrap()
    }

    /// Writes a file directly into the log directory.
    pub(crate) fn put(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes a compressed file directly into the log directory.
    pub(crate) fn put_packed(&self, relative: &str, content: &[u8]) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        self.put(relative, encoder.finish().unwrap());
    }

    /// Returns the content of a file. Decompresses a compressed file.
    pub(crate) fn content(&self, relative: &str) -> String {
        let bytes = std::fs::read(self.path(relative)).unwrap();
        if !relative.ends_with(".gz") {
            return String::from_utf8(bytes).unwrap();
        }
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        text
    }

    /// Returns the paths of all files in the log directory, sorted. Omits files and directories in the root whose names
    /// begin with a dot.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut open = vec![self.logs.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let relative = path.strip_prefix(self.logs.path()).unwrap().to_str().unwrap().to_owned();
                match path.symlink_metadata().unwrap().is_dir() {
                    true => open.push(path),
                    false if relative.starts_with('.') => {}
                    false => files.push(relative),
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
