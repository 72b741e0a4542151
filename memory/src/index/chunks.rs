//! The stage `[stage.memory-chunks]`, which creates chunks from entries.

use std::sync::Arc;

use aurora_memory_schema::{Entry, Kind, searchable};
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_project::RedactSettings;
use aurora_redact::{masked, masked_personal};
use aurora_stages::chunk::terms::ChunkTerms;
use aurora_stages::columns::{PATH, ParsedFile, RECORD, Record, STATUS, SYMBOLS, TERMS, TEXT, Terms};
use aurora_storage::{Chunk, ChunkType, Governance, MetaValue};
use jiff::Timestamp;
use serde::Deserialize;

use super::indexed_entry::{ENTRY_LANGUAGE, IndexedEntry, column};

/// Minimum size in bytes of the pieces of a long text, except the last piece. A piece ends at the next line break after
/// this size, or at the next character if the line is too long.
const PIECE_BYTES: usize = 32 * 1024;

/// Settings of `[stage.memory-chunks]`, which has no options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryChunks {}

impl StageConfig for EntryChunks {
    const TYPE: &'static str = "memory-chunks";

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), STATUS.spec(), TEXT.spec()])
            .writes([SYMBOLS.spec(), RECORD.spec(), TERMS.spec()])
            .restructures()
    }

    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(EntryChunksStage { masks_personal_data: RedactSettings::masks_personal_data() }))
    }
}

struct EntryChunksStage {
    masks_personal_data: bool,
}

impl Stage for EntryChunksStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        let mut terms = ChunkTerms::default();
        Box::new(move |batch: &mut BatchView<'_>, cx: &StageContext<'_>| {
            let (mut owners, mut records) = (Vec::new(), Vec::new());
            let (paths, statuses, texts) = (batch.read(PATH)?, batch.read(STATUS)?, batch.read(TEXT)?);
            for (row, path) in (0u32..).zip(paths) {
                let at = row as usize;
                if !statuses[at].has_chunks() {
                    continue;
                }
                let indexed: IndexedEntry = serde_json::from_str(&texts[at]).map_err(StageError::from_error)?;
                let chunks = chunks_of(indexed, path, self.masks_personal_data)?;
                owners.extend(std::iter::repeat_n(row, chunks.len()));
                records.extend(chunks.into_iter().map(Record));
            }
            let nothing_parsed = Arc::new(ParsedFile(Default::default()));
            let symbols = statuses.iter().map(|status| status.has_chunks().then(|| Arc::clone(&nothing_parsed)));
            let symbols: Vec<_> = symbols.collect();
            cx.count("chunks", records.len() as u64);
            let of_terms = records.iter().map(|Record(chunk)| Terms(terms.for_chunk(chunk))).collect();
            batch.add_chunks(owners)?;
            batch.write(SYMBOLS, symbols)?;
            batch.write(RECORD, records)?;
            Ok(batch.write(TERMS, of_terms)?)
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        let personal = self.masks_personal_data.then_some(aurora_redact::PERSONAL_VERSION);
        Fingerprint::new(EntryChunks::TYPE, 3)
            .with("redact", aurora_redact::VERSION)
            .with("personal", personal.unwrap_or(0))
            .with("analyzer", aurora_analysis::ANALYZER_VERSION)
    }
}

/// Creates the chunks of an entry. A long text is split into several chunks.
pub(crate) fn chunks_of(
    indexed: IndexedEntry,
    path: &str,
    masks_personal_data: bool,
) -> Result<Vec<Chunk>, StageError> {
    let IndexedEntry { id, scope, session, created, edited, document, beside } = indexed;
    // Entries that an earlier version of the program stored can contain secrets and personal data.
    let mut entry = Entry::from_document(document).map_err(StageError::from_error)?.without_secrets();
    if masks_personal_data {
        entry = entry.without_personal_data();
    }
    let masked = |text: String| {
        let text = masked(text);
        if masks_personal_data { masked_personal(text) } else { text }
    };
    let searched = searchable(&entry);
    let text = masked(searched.text);
    let name = name(&entry, searched.title);
    let turn = turn(&entry);
    let mut metadata: Vec<(String, MetaValue)> = Vec::new();
    let mut add = |name: &str, value: Option<MetaValue>| metadata.extend(value.map(|value| (name.to_owned(), value)));
    let string = |text: Option<&str>| text.map(|text| MetaValue::String(text.to_owned()));
    let strings = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty()).map(MetaValue::Strings);
    let tags: Vec<String> = entry.tags().into_iter().map(str::to_owned).collect();
    add(column::SCOPE, string(Some(scope.as_str())));
    add(column::SESSION, session.map(|session| MetaValue::String(masked(session))));
    add(column::EDITED, Some(MetaValue::Integer(edited)));
    add(column::TAGS, strings(tags.clone()));
    add(column::LINKS, strings(entry.links().into_iter().map(|link| link.to.to_owned()).collect()));
    add(column::SCORE, entry.score().map(MetaValue::Float));
    let rule = |(condition, action): (&str, &str)| format!("{condition}{}{action}", column::RULE_SEPARATOR);
    add(column::RULES, strings(entry.retention_rules().into_iter().map(rule).collect()));
    add(column::PATTERN, entry.score().map(|_| MetaValue::Bool(entry.is_pattern())));
    add(column::DOMAIN, string(entry.domain()));
    add(column::ROLE, string(entry.semantic_role()));
    add("keywords", strings(entry.keywords().into_iter().map(str::to_owned).collect()));
    add(column::SPEAKER, string(turn.speaker));
    add(column::ORDER, turn.order.map(MetaValue::Integer));
    add(column::REPLY_TO, string(turn.reply_to));
    let log = entry.log_reference();
    add("conversation_log", string(log.as_ref().and_then(|log| log.file)));
    add("conversation_section", string(log.as_ref().and_then(|log| log.section)));
    let date = entry.created().unwrap_or(created);
    let doc = if entry.kind() == Kind::Turn { turn_doc(date, beside) } else { searched.doc };
    let whole = Chunk {
        path: path.to_owned(),
        language: ENTRY_LANGUAGE.to_owned(),
        qualified_name: name.clone(),
        name,
        doc: masked(doc),
        governance: governance(&entry, tags),
        metadata,
        exported: true,
        date: Some(date),
        ..Chunk::empty(id, chunk_type(entry.kind()))
    };
    let piece = |(position, (line, start, piece)): (usize, (u32, usize, &str))| Chunk {
        key: if position == 0 { whole.key.clone() } else { format!("{}~{}", whole.key, position + 1) },
        parent: (position > 0).then(|| whole.key.clone()),
        line_start: line,
        line_end: line + (piece.lines().count().max(1) - 1) as u32,
        byte_start: start as u32,
        byte_end: (start + piece.len()) as u32,
        content_hash: Chunk::digest(piece),
        text: piece.to_owned(),
        ..whole.clone()
    };
    Ok(pieces(&text).into_iter().enumerate().map(piece).collect())
}

/// Returns the searchable context of a turn: the day of the turn, such as `8 May 2023` (UTC), and the texts of the
/// adjacent turns.
fn turn_doc(date: i64, beside: Vec<String>) -> String {
    let day = Timestamp::from_second(date).map(|time| time.strftime("%-d %B %Y").to_string());
    day.into_iter().chain(beside).collect::<Vec<_>>().join("\n")
}

/// Returns the tags and the lifespan policy of an entry; `None` if it has neither.
fn governance(entry: &Entry, tags: Vec<String>) -> Option<Governance> {
    let lifespan = entry.lifespan_policy().map(str::to_owned);
    (!tags.is_empty() || lifespan.is_some()).then_some(Governance { tags, lifespan })
}

/// The fields that only turns have; all `None` for entries of other kinds.
#[derive(Default)]
struct TurnFields<'a> {
    speaker: Option<&'a str>,
    order: Option<i64>,
    reply_to: Option<&'a str>,
}

fn turn(entry: &Entry) -> TurnFields<'_> {
    if entry.kind() != Kind::Turn {
        return TurnFields::default();
    }
    let text = |field: &str| entry.content(field).and_then(|value| value.as_str());
    TurnFields {
        speaker: text("speaker"),
        order: entry.content("order").and_then(|value| value.as_i64()),
        reply_to: text("reply_to"),
    }
}

/// Returns the name of an entry's chunks: the speaker of a turn, or the title of any other entry.
fn name(entry: &Entry, title: String) -> String {
    match turn(entry).speaker {
        Some(speaker) => speaker.to_owned(),
        None => title,
    }
}

/// Returns the chunk type for entries of a kind.
pub(crate) fn chunk_type(kind: Kind) -> ChunkType {
    match kind {
        Kind::Reasoning => ChunkType::Reasoning,
        Kind::Knowledge => ChunkType::Knowledge,
        Kind::Note => ChunkType::Note,
        Kind::Turn => ChunkType::Turn,
        Kind::Code => ChunkType::Code,
    }
}

/// Splits a text into pieces. Returns for each piece its first line, from 1, its byte offset and its text.
fn pieces(text: &str) -> Vec<(u32, usize, &str)> {
    let (mut pieces, mut line, mut start) = (Vec::new(), 1, 0);
    while text.len() - start > PIECE_BYTES {
        let rest = &text[start..];
        let min = rest.ceil_char_boundary(PIECE_BYTES);
        let at_line = rest[min..].find('\n').map(|at| min + at + 1).filter(|&at| at <= 2 * PIECE_BYTES);
        let end = at_line.unwrap_or(min);
        let piece = &rest[..end];
        pieces.push((line, start, piece));
        line += piece.matches('\n').count() as u32;
        start += end;
    }
    if start < text.len() || pieces.is_empty() {
        pieces.push((line, start, &text[start..]));
    }
    pieces
}
