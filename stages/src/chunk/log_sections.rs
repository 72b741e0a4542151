//! Log chunks: the phases of a conversation log.
//!
//! `LogChunker` receives the text of a log piece by piece, because logs may be larger than memory. It holds only a
//! part of the current phase, of about twice [`MAX_PIECE_BYTES`] at most. A longer phase becomes several chunks.

use aurora_logs::{FenceTracker, parse_phase};
use aurora_storage::{Chunk, ChunkType, MetaValue};
use rustc_hash::FxHashMap;

use crate::chunk::date;

/// Size in bytes after which a phase is cut at the next blank line. At twice this size, it is cut at the next line.
pub const MAX_PIECE_BYTES: usize = 32 * 1024;

/// Maximum number of bytes of a line that are processed in one step.
const MAX_STEP_BYTES: usize = 64 * 1024;

/// Whether a path has the file name extension of a conversation log.
pub fn is_log(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".md.gz")
}

/// Returns the chunks of a log, in order. `path` is the indexed path of the log, with `/` as the separator. A log
/// without phases is one chunk, or several if it is long. Line and byte spans refer to the unpacked text. Byte offsets
/// beyond 4 GiB are stored as `u32::MAX`.
///
/// The date is taken from the file name, or else from the `Date:` line.
pub fn chunks_of_log(path: &str, text: &str) -> Vec<Chunk> {
    let (mut chunker, mut chunks) = (LogChunker::new(path), Vec::new());
    chunker.push(text, &mut chunks);
    chunker.finish(&mut chunks);
    chunks
}

/// Divides a log into chunks.
pub(crate) struct LogChunker {
    path: String,
    /// The path without extensions.
    name: String,
    /// Number of phases by their number in the heading, for the keys of chunks.
    phases: FxHashMap<u32, u32>,
    topic: String,
    query: String,
    date: Option<String>,
    phase: Option<Phase>,
    /// Key of the first piece of the current phase. `None` until that piece was emitted.
    first_piece: Option<String>,
    /// Number of pieces of the current phase that were emitted.
    pieces: u32,
    text: String,
    /// Line number and byte offset at which `text` starts.
    started: (u32, u64),
    fences: FenceTracker,
    /// Whether there is text other than the header before the first phase.
    has_introduction: bool,
    line: u32,
    bytes: u64,
    /// Whether the next text begins a line.
    is_line_start: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Phase {
    number: u32,
    name: String,
}

impl LogChunker {
    /// Creates a chunker for the log with this indexed path.
    pub(crate) fn new(path: &str) -> Self {
        let name = path.strip_suffix(".gz").unwrap_or(path);
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        Self {
            path: path.to_owned(),
            name: name.to_owned(),
            phases: FxHashMap::default(),
            topic: String::new(),
            query: String::new(),
            date: date::last_date_in(name).map(str::to_owned),
            phase: None,
            first_piece: None,
            pieces: 0,
            text: String::new(),
            started: (1, 0),
            fences: FenceTracker::default(),
            has_introduction: false,
            line: 1,
            bytes: 0,
            is_line_start: true,
        }
    }

    /// Processes the next part of the text, and adds the chunks that end in it to `chunks`. Lines may continue in the
    /// next part.
    pub(crate) fn push(&mut self, text: &str, chunks: &mut Vec<Chunk>) {
        for mut line in text.split_inclusive('\n') {
            while !line.is_empty() {
                let (step, rest) = line.split_at(line.floor_char_boundary(MAX_STEP_BYTES));
                if self.is_line_start {
                    self.read_line(step, chunks);
                } else {
                    self.append(step, chunks);
                }
                self.bytes += step.len() as u64;
                self.is_line_start = step.ends_with('\n');
                self.line += u32::from(self.is_line_start);
                line = rest;
            }
        }
    }

    /// Returns the number of lines so far.
    pub(crate) fn lines(&self) -> u32 {
        self.line - u32::from(self.is_line_start)
    }

    fn read_line(&mut self, line: &str, chunks: &mut Vec<Chunk>) {
        let trimmed = line.trim();
        let is_text = self.fences.line(trimmed.as_bytes());
        if let Some((number, name)) = parse_phase(trimmed).filter(|_| is_text) {
            self.close(chunks);
            let name = if name.is_empty() { format!("Phase {number}") } else { name.to_owned() };
            self.phase = Some(Phase { number, name });
        } else if self.phase.is_none() && !self.read_header(trimmed) {
            self.has_introduction |= !trimmed.is_empty();
        }
        if self.text.len() > MAX_PIECE_BYTES && trimmed.is_empty() {
            self.emit_piece(chunks);
        }
        self.append(line, chunks);
    }

    fn append(&mut self, line: &str, chunks: &mut Vec<Chunk>) {
        if self.text.len() > 2 * MAX_PIECE_BYTES {
            self.emit_piece(chunks);
        }
        if self.text.is_empty() {
            if line.trim().is_empty() {
                return;
            }
            self.started = (self.line, self.bytes);
        }
        self.text.push_str(line);
    }

    /// Reads a title, a date or a query before the first phase. They apply to every chunk of the log. Returns false for
    /// any other line.
    fn read_header(&mut self, line: &str) -> bool {
        let field = |name: &str| {
            let plain = line.trim_start_matches(['*', '-', ' ']);
            let (key, value) = plain.split_once(':')?;
            let value = value.trim_start_matches('*').trim();
            (key.trim_matches('*').eq_ignore_ascii_case(name) && !value.is_empty()).then(|| value.to_owned())
        };
        if let Some(title) = line.strip_prefix("# ").filter(|_| self.topic.is_empty()) {
            self.topic = title.trim().strip_prefix("Conversation:").unwrap_or(title).trim().to_owned();
        } else if let Some(date) = field("Date") {
            self.date.get_or_insert(date);
        } else if let Some(query) = field("Query").or_else(|| field("User Query")).filter(|_| self.query.is_empty()) {
            let quoted = query.strip_prefix('"').and_then(|query| query.strip_suffix('"'));
            self.query = quoted.map(str::to_owned).unwrap_or(query);
        } else {
            return false;
        }
        true
    }

    /// Emits the rest of the current phase, or the text before the first phase. Text before the first phase is dropped
    /// if it is only the header.
    fn close(&mut self, chunks: &mut Vec<Chunk>) {
        if self.phase.is_none() && !self.has_introduction {
            self.text.clear();
        }
        self.finish(chunks);
        self.fences = FenceTracker::default();
    }

    /// Adds the last chunk of the log to `chunks`.
    pub(crate) fn finish(&mut self, chunks: &mut Vec<Chunk>) {
        self.emit_piece(chunks);
        self.first_piece = None;
    }

    fn emit_piece(&mut self, chunks: &mut Vec<Chunk>) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            chunks.push(self.chunk(text.trim_end()));
        }
    }

    /// Returns the key of the first piece of a phase, or of the text before the first phase. Later phases with the same
    /// number are distinguished by `#2`, `#3`, …. In contrast to [`Keys`](crate::chunk::keys::Keys), the memory does
    /// not grow with the number of chunks.
    fn new_key(&mut self, phase: Option<u32>) -> String {
        let Some(number) = phase else { return format!("know:{}:log", self.name) };
        let count = self.phases.entry(number).or_default();
        *count += 1;
        let repetition = if *count == 1 { String::new() } else { format!("#{count}") };
        format!("know:{}:phase{number}{repetition}", self.name)
    }

    fn chunk(&mut self, text: &str) -> Chunk {
        let key = match (&self.first_piece, &self.phase) {
            (Some(first), _) => {
                self.pieces += 1;
                format!("{first}~{}", self.pieces)
            }
            (None, phase) => {
                let number = phase.as_ref().map(|phase| phase.number);
                self.pieces = 1;
                self.new_key(number)
            }
        };
        let parent = self.first_piece.clone();
        self.first_piece.get_or_insert_with(|| key.clone());
        let date = self.date.as_deref().and_then(date::unix_seconds);
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        let title = if self.topic.is_empty() { file } else { &self.topic };
        let (name, qualified_name) = match &self.phase {
            Some(phase) => (phase.name.clone(), format!("{title} > Phase {}: {}", phase.number, phase.name)),
            None => (title.to_owned(), title.to_owned()),
        };
        let mut metadata = vec![("conversation".to_owned(), MetaValue::String(title.to_owned()))];
        if let Some(phase) = &self.phase {
            metadata.push(("phase_number".to_owned(), MetaValue::Integer(i64::from(phase.number))));
            metadata.push(("phase_name".to_owned(), MetaValue::String(phase.name.clone())));
        }
        if let Some(date) = &self.date {
            metadata.push(("conversation_date".to_owned(), MetaValue::String(date.clone())));
        }
        if !self.query.is_empty() {
            metadata.push(("query".to_owned(), MetaValue::String(self.query.clone())));
        }
        let lines = text.lines().count().max(1) as u32;
        let start = u32::try_from(self.started.1).unwrap_or(u32::MAX);
        Chunk {
            path: self.path.clone(),
            language: "markdown".to_owned(),
            name,
            qualified_name,
            line_start: self.started.0,
            line_end: self.started.0.saturating_add(lines - 1),
            byte_start: start,
            byte_end: start.saturating_add(text.len() as u32),
            doc: self.query.clone(),
            text: text.to_owned(),
            content_hash: Chunk::digest(text),
            metadata,
            parent,
            exported: true,
            date,
            ..Chunk::empty(key, ChunkType::Knowledge)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use aurora_storage::Chunk;
    use proptest::prelude::*;

    use super::{LogChunker, MAX_PIECE_BYTES, chunks_of_log};

    const LOG: &str = "# Conversation: OAuth\nDate: 2025-12-13\nQuery: how to log in\n\n## Phase 1: Assess\nfirst\n\n```\n## Phase 7: no\n```\n### Phase 2: RETRIEVE\nsecond\n## Phase x: no\n## Phase 2 - Again\nthird\n";

    fn check(path: &str, log: &str) -> String {
        let mut text = String::new();
        for c in chunks_of_log(path, log) {
            writeln!(
                text,
                "{} | {} | {}-{} | {:?} | {}",
                c.key,
                c.qualified_name,
                c.line_start,
                c.line_end,
                c.date,
                c.text.replace('\n', "⏎")
            )
            .unwrap();
        }
        text
    }

    #[test]
    fn phases_become_chunks() {
        insta::assert_snapshot!(check("2025/12/oauth-2025-12-15.md", LOG), @r#"
    know:2025/12/oauth-2025-12-15:phase1 | OAuth > Phase 1: Assess | 5-10 | Some(1765756800) | ## Phase 1: Assess⏎first⏎⏎```⏎## Phase 7: no⏎```
    know:2025/12/oauth-2025-12-15:phase2 | OAuth > Phase 2: RETRIEVE | 11-13 | Some(1765756800) | ### Phase 2: RETRIEVE⏎second⏎## Phase x: no
    know:2025/12/oauth-2025-12-15:phase2#2 | OAuth > Phase 2: Again | 14-15 | Some(1765756800) | ## Phase 2 - Again⏎third
    "#);
    }

    #[test]
    fn logs_without_phases_are_one_chunk_and_introductions_become_chunks() {
        insta::assert_snapshot!(check("notes.md.gz", "# Notes\nDate: 2025-01-02\n\nWe talked.\n"), @"know:notes:log | Notes | 1-4 | Some(1735776000) | # Notes⏎Date: 2025-01-02⏎⏎We talked.");
        insta::assert_snapshot!(check("notes.md", "# Notes\nWe talked.\n## Phase 3\nx\n"), @r#"
    know:notes:log | Notes | 1-2 | None | # Notes⏎We talked.
    know:notes:phase3 | Notes > Phase 3: Phase 3 | 3-4 | None | ## Phase 3⏎x
    "#);
        insta::assert_snapshot!(check("empty.md", "\n \n"), @"");
    }

    proptest! {
        #[test]
        fn spans_match_the_text_and_keys_are_unique(parts in proptest::collection::vec("(## Phase [0-3]: A|word word|```|)\n", 0..40)) {
            let log = parts.concat();
            let found = chunks_of_log("a/b.md", &log);
            let keys: std::collections::HashSet<_> = found.iter().map(|c| c.key.clone()).collect();
            prop_assert_eq!(keys.len(), found.len());
            for chunk in &found {
                prop_assert_eq!(&log[chunk.byte_start as usize..chunk.byte_end as usize], chunk.text.as_str());
                let lines = log[..chunk.byte_start as usize].matches('\n').count() as u32 + 1;
                prop_assert_eq!(lines, chunk.line_start);
            }
            let kept: usize = found.iter().map(|c| c.text.matches("word").count()).sum();
            prop_assert_eq!(kept, log.matches("word").count());
        }

        #[test]
        fn parts_of_a_log_give_the_same_chunks(
            parts in proptest::collection::vec("(# Conversation: A|Query: b|## Phase [0-3]: A|wörd|```|)\n|\\w{0,9}", 0..40),
            cuts in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..9),
        ) {
            let log = parts.concat();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| log.floor_char_boundary(cut.index(log.len() + 1))).collect();
            cuts.extend([0, log.len()]);
            cuts.sort_unstable();
            // A heading that is divided is not recognised, so only ends of lines are valid ends of parts.
            cuts.retain(|&cut| cut == 0 || cut == log.len() || log[..cut].ends_with('\n'));
            let (mut chunker, mut found) = (LogChunker::new("a.md"), Vec::<Chunk>::new());
            cuts.windows(2).for_each(|cut| chunker.push(&log[cut[0]..cut[1]], &mut found));
            prop_assert_eq!(chunker.lines() as usize, log.lines().count());
            chunker.finish(&mut found);
            prop_assert_eq!(found, chunks_of_log("a.md", &log));
        }

        #[test]
        fn pieces_of_a_long_phase_are_bounded(line in 1usize..200_000, lines in 1usize..6) {
            let log = format!("## Phase 1: Long\n{}", format!("{}\n", "x".repeat(line)).repeat(lines));
            let found = chunks_of_log("a.md", &log);
            prop_assert!(found.iter().all(|c| c.text.len() <= 5 * MAX_PIECE_BYTES));
            prop_assert_eq!(found.iter().map(|c| c.text.matches('x').count()).sum::<usize>(), line * lines);
        }
    }
}
