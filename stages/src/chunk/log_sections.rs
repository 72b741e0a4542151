//! Log chunks: the phases of a conversation log.
//!
//! A log is read line by line, because logs may be larger than memory. At any time, memory contains only a part of the
//! current phase, of about twice [`MAX_PIECE_BYTES`] at most. A longer phase becomes several chunks.

use std::io::{self, BufRead, Read};

use aurora_logs::{FenceTracker, parse_phase};
use aurora_storage::{Chunk, ChunkType, MetaValue};

use crate::chunk::date;
use crate::chunk::keys::Keys;

/// Size in bytes after which a phase is cut at the next blank line. At twice this size, it is cut at the next line.
pub const MAX_PIECE_BYTES: usize = 32 * 1024;

/// Maximum number of bytes of a line that are read in one step.
const MAX_READ_BYTES: u64 = 64 * 1024;

/// Whether a path has the file name extension of a conversation log.
pub fn is_log(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".md.gz")
}

/// Passes every chunk of a log to `emit` in order. `path` is the indexed path of the log, with `/` as the separator. A
/// log without phases is one chunk, or several if it is long. Line and byte spans refer to the unpacked text. Byte
/// offsets beyond 4 GiB are stored as `u32::MAX`.
///
/// The date is taken from the file name, or else from the `Date:` line.
///
/// # Errors
/// Fails if the log cannot be read. Chunks before the error have already been emitted.
pub fn chunks_of_log(path: &str, mut log: impl BufRead, mut emit: impl FnMut(Chunk)) -> io::Result<()> {
    let mut state = Log::new(path);
    let (mut raw, mut is_start) = (Vec::new(), true);
    loop {
        raw.clear();
        if log.by_ref().take(MAX_READ_BYTES).read_until(b'\n', &mut raw)? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&raw);
        if is_start {
            state.read_line(&line, &mut emit);
        } else {
            state.append(&line, &mut emit);
        }
        state.bytes += raw.len() as u64;
        is_start = raw.ends_with(b"\n");
        state.line += u32::from(is_start);
    }
    state.finish(&mut emit);
    Ok(())
}

struct Log<'a> {
    path: &'a str,
    name: &'a str,
    keys: Keys,
    topic: String,
    query: String,
    date: Option<String>,
    phase: Option<Phase>,
    /// Key of the first piece of the current phase. `None` until that piece was emitted.
    first_piece: Option<String>,
    text: String,
    /// Line number and byte offset at which `text` starts.
    started: (u32, u64),
    fences: FenceTracker,
    /// Whether there is text other than the header before the first phase.
    has_introduction: bool,
    line: u32,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Phase {
    number: u32,
    name: String,
}

impl<'a> Log<'a> {
    fn new(path: &'a str) -> Self {
        let name = path.strip_suffix(".gz").unwrap_or(path);
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        Self {
            path,
            name,
            keys: Keys::default(),
            topic: String::new(),
            query: String::new(),
            date: date::last_date_in(name).map(str::to_owned),
            phase: None,
            first_piece: None,
            text: String::new(),
            started: (1, 0),
            fences: FenceTracker::default(),
            has_introduction: false,
            line: 1,
            bytes: 0,
        }
    }

    fn read_line(&mut self, line: &str, emit: &mut impl FnMut(Chunk)) {
        let trimmed = line.trim();
        let is_text = self.fences.line(trimmed.as_bytes());
        if let Some((number, name)) = parse_phase(trimmed).filter(|_| is_text) {
            self.close(emit);
            let name = if name.is_empty() { format!("Phase {number}") } else { name.to_owned() };
            self.phase = Some(Phase { number, name });
        } else if self.phase.is_none() && !self.read_header(trimmed) {
            self.has_introduction |= !trimmed.is_empty();
        }
        if self.text.len() > MAX_PIECE_BYTES && trimmed.is_empty() {
            self.emit_piece(emit);
        }
        self.append(line, emit);
    }

    fn append(&mut self, line: &str, emit: &mut impl FnMut(Chunk)) {
        if self.text.len() > 2 * MAX_PIECE_BYTES {
            self.emit_piece(emit);
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
    fn close(&mut self, emit: &mut impl FnMut(Chunk)) {
        if self.phase.is_none() && !self.has_introduction {
            self.text.clear();
        }
        self.finish(emit);
        self.fences = FenceTracker::default();
    }

    fn finish(&mut self, emit: &mut impl FnMut(Chunk)) {
        self.emit_piece(emit);
        self.first_piece = None;
    }

    fn emit_piece(&mut self, emit: &mut impl FnMut(Chunk)) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            emit(self.chunk(text.trim_end()));
        }
    }

    fn chunk(&mut self, text: &str) -> Chunk {
        let key = match (&self.first_piece, &self.phase) {
            (Some(first), _) => self.keys.piece(first),
            (None, Some(phase)) => self.keys.next("know", self.name, &format!("phase{}", phase.number)),
            (None, None) => self.keys.next("know", self.name, "log"),
        };
        let parent = self.first_piece.clone();
        self.first_piece.get_or_insert_with(|| key.clone());
        let date = self.date.as_deref().and_then(date::unix_seconds);
        let file = self.name.rsplit('/').next().unwrap_or(self.name);
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
            path: self.path.to_owned(),
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
    use std::io::{Cursor, Write as _};

    use aurora_storage::Chunk;
    use proptest::prelude::*;

    use super::{MAX_PIECE_BYTES, chunks_of_log};

    const LOG: &str = "# Conversation: OAuth\nDate: 2025-12-13\nQuery: how to log in\n\n## Phase 1: Assess\nfirst\n\n```\n## Phase 7: no\n```\n### Phase 2: RETRIEVE\nsecond\n## Phase x: no\n## Phase 2 - Again\nthird\n";

    fn chunks(path: &str, log: &str) -> Vec<Chunk> {
        let mut found = Vec::new();
        chunks_of_log(path, Cursor::new(log.to_owned()), |chunk| found.push(chunk)).unwrap();
        found
    }

    fn check(path: &str, log: &str) -> String {
        let mut text = String::new();
        for c in chunks(path, log) {
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

    #[test]
    fn compressed_logs_are_read_like_plain_logs() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(LOG.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let mut found = Vec::new();
        let text = crate::formats::documents::log_text(&packed).unwrap();
        chunks_of_log("a.md.gz", text.as_bytes(), |chunk| found.push(chunk.text)).unwrap();
        let plain: Vec<_> = chunks("a.md", LOG).into_iter().map(|chunk| chunk.text).collect();
        assert_eq!(found, plain);
    }

    proptest! {
        #[test]
        fn spans_match_the_text_and_keys_are_unique(parts in proptest::collection::vec("(## Phase [0-3]: A|word word|```|)\n", 0..40)) {
            let log = parts.concat();
            let found = chunks("a/b.md", &log);
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
        fn pieces_of_a_long_phase_are_bounded(line in 1usize..200_000, lines in 1usize..6) {
            let log = format!("## Phase 1: Long\n{}", format!("{}\n", "x".repeat(line)).repeat(lines));
            let found = chunks("a.md", &log);
            prop_assert!(found.iter().all(|c| c.text.len() <= 5 * MAX_PIECE_BYTES));
            prop_assert_eq!(found.iter().map(|c| c.text.matches('x').count()).sum::<usize>(), line * lines);
        }
    }
}
