//! The built-in columns that custom stages in any language use by name.
//!
//! Names, types and meanings are stable: they change only with a new major version of the program. New columns may be
//! added at any time. `docs/reference/columns.md` is generated from this table.

use aurora_pipeline::{BuiltInColumn, DynamicType, Registry, Value, ValueRef};
use aurora_storage::{Chunk, ChunkHistory, GitHistory};

use crate::{definitions, document};

use super::{
    DEFINITIONS, DOCUMENT, EMBEDDING, FileStatus, HASH, LANGUAGE, LanguageName, MTIME, PATH, RECORD, Record, SIGNAL,
    SIZE, STATUS, Signal, TEXT,
};

/// Description of the additional writers of a column that all custom stages may write.
const CUSTOM: &str = "custom stages";
/// Description of the additional writers of a column that only stages of the type `documents` may write.
const DOCUMENTS: &str = "stages of the type `documents`";
/// Maximum length of the name of a language, in bytes.
const MAX_LANGUAGE_BYTES: usize = 64;

/// Registers the built-in columns.
pub(crate) fn register(registry: &mut Registry) {
    for column in files().into_iter().chain(chunks()).chain(history()) {
        registry.register_column(column);
    }
}

fn files() -> [BuiltInColumn; 10] {
    use DynamicType::{Integer, Json, String};
    [
        BuiltInColumn::new(PATH, String, "Path relative to the root, separated by `/`.").updatable(PATH, DOCUMENTS, document::set_path),
        BuiltInColumn::new(SIZE, Integer, "Size on disk, in bytes.").updatable(SIZE, DOCUMENTS, size),
        BuiltInColumn::new(MTIME, Integer, "Modification time, in nanoseconds since the epoch.").updatable(MTIME, DOCUMENTS, time),
        BuiltInColumn::new(
            STATUS,
            String,
            "How the file has changed: `added`, `modified`, `renamed`, `refreshed`, `revalued`, `touched`, `skipped` or `deleted`.",
        ),
        BuiltInColumn::field(
            STATUS,
            "file.skip",
            String,
            "Reason why the file is not indexed. A stage that sets it omits the file, which then has no chunks and is listed as skipped.",
            |status| match status {
                FileStatus::Skipped { reason } => Some(ValueRef::from(&**reason)),
                _ => None,
            },
        )
        .updatable(STATUS, CUSTOM, skip),
        BuiltInColumn::field(
            DEFINITIONS,
            DEFINITIONS.name(),
            Json,
            "The definitions of a file in a language of the stage: a list of objects with `name`, `kind`, `line_start` and `line_end`, \
             and perhaps `qualified_name`, `signature`, `doc`, `calls`, `bases` and `exported`.",
            |_| None,
        )
        .writable(DEFINITIONS, CUSTOM, definitions::set),
        BuiltInColumn::new(HASH, String, "BLAKE3 of the content, in hexadecimal."),
        BuiltInColumn::new(TEXT, String, "The decoded text; empty for files that are skipped, touched or deleted."),
        BuiltInColumn::new(LANGUAGE, String, "Name of the language or document format.").updatable(LANGUAGE, DOCUMENTS, language),
        BuiltInColumn::field(
            DOCUMENT,
            DOCUMENT.name(),
            Json,
            "A document from elsewhere; stages of the type `documents` write it.",
            |_| None,
        )
        .updatable(DOCUMENT, DOCUMENTS, document::set),
    ]
}

fn size(size: &mut u64, value: Value) -> Result<(), std::string::String> {
    match value {
        Value::Integer(bytes @ 0..) => *size = bytes.unsigned_abs(),
        _ => return Err("a size must be a whole number of bytes".to_owned()),
    }
    Ok(())
}

fn time(time: &mut i64, value: Value) -> Result<(), std::string::String> {
    match value {
        Value::Integer(nanoseconds) => *time = nanoseconds,
        _ => return Err("a time must be a whole number of nanoseconds".to_owned()),
    }
    Ok(())
}

fn language(language: &mut LanguageName, value: Value) -> Result<(), std::string::String> {
    match value {
        Value::String(name) if !name.is_empty() && name.len() <= MAX_LANGUAGE_BYTES => *language = name.into(),
        _ => return Err("the name of a language must be a short, non-empty string".to_owned()),
    }
    Ok(())
}

fn skip(status: &mut FileStatus, reason: Value) -> Result<(), std::string::String> {
    match reason {
        Value::String(reason) if status.has_chunks() => *status = FileStatus::Skipped { reason: reason.into() },
        // A file without chunks has nothing to omit.
        Value::String(_) => {}
        other => return Err(format!("expected a reason, found {}", other.dynamic_type())),
    }
    Ok(())
}

fn chunks() -> [BuiltInColumn; 17] {
    use DynamicType::{Bool, Integer, String, Strings, Vector};
    [
        text("chunk.key", "Stable id of the chunk, unique within an index.", |chunk| &chunk.key),
        text("chunk.type", "Kind of the chunk: `function`, `method`, `class`, …", |chunk| chunk.chunk_type.as_str()),
        text("chunk.path", "Path of its file.", |chunk| &chunk.path),
        text("chunk.language", "Language of the chunk.", |chunk| &chunk.language),
        text("chunk.name", "Simple name of the symbol or heading.", |chunk| &chunk.name),
        text("chunk.qualified_name", "Name with its enclosing scopes.", |chunk| &chunk.qualified_name),
        text("chunk.signature", "Declaration without its body.", |chunk| &chunk.signature),
        text("chunk.doc", "Documentation text.", |chunk| &chunk.doc),
        text("chunk.text", "Full text.", |chunk| &chunk.text),
        BuiltInColumn::field(RECORD, "chunk.line_start", Integer, "First line, from 1.", |Record(chunk)| {
            Some(ValueRef::Integer(i64::from(chunk.line_start)))
        }),
        BuiltInColumn::field(RECORD, "chunk.line_end", Integer, "Last line, inclusive.", |Record(chunk)| {
            Some(ValueRef::Integer(i64::from(chunk.line_end)))
        }),
        BuiltInColumn::field(
            RECORD,
            "chunk.parent",
            String,
            "Key of the enclosing chunk, if it has one.",
            |Record(chunk)| chunk.parent.as_deref().map(ValueRef::from),
        ),
        BuiltInColumn::field(
            RECORD,
            "chunk.exported",
            Bool,
            "Whether the symbol can be used from outside its file.",
            |Record(chunk)| Some(ValueRef::Bool(chunk.exported)),
        ),
        BuiltInColumn::field(RECORD, "chunk.calls", Strings, "Names that the chunk calls.", |Record(chunk)| {
            Some(ValueRef::from(&chunk.calls[..]))
        }),
        BuiltInColumn::field(
            RECORD,
            "chunk.imports",
            Strings,
            "Modules and names from the imports of its file that the chunk uses.",
            |Record(chunk)| Some(ValueRef::from(&chunk.imports[..])),
        ),
        BuiltInColumn::field(
            RECORD,
            "chunk.definitions",
            Strings,
            "Names that are defined in the chunk and do not have their own chunk.",
            |Record(chunk)| Some(ValueRef::from(&chunk.definitions[..])),
        ),
        BuiltInColumn::field(
            EMBEDDING,
            EMBEDDING.name(),
            Vector,
            "Unit vector; missing if the chunk could not be embedded. A stage that fills it replaces `embed`.",
            |vector| vector.as_deref().map(ValueRef::Vector),
        )
        .writable(EMBEDDING, CUSTOM, embedding),
    ]
}

fn embedding(vector: &mut Option<Vec<f32>>, value: Value) -> Result<(), std::string::String> {
    match value {
        Value::Vector(numbers) => *vector = Some(numbers),
        other => return Err(format!("expected a vector, found {}", other.dynamic_type())),
    }
    Ok(())
}

/// Returns the description of a text column that the chunk record contains.
fn text(name: &'static str, meaning: &'static str, of: fn(&Chunk) -> &str) -> BuiltInColumn {
    BuiltInColumn::field(RECORD, name, DynamicType::String, meaning, move |Record(chunk)| {
        Some(ValueRef::from(of(chunk)))
    })
}

fn history() -> [BuiltInColumn; 4] {
    use DynamicType::{Integer, Strings};
    [
        BuiltInColumn::field(
            SIGNAL,
            "chunk.commits",
            Integer,
            "Number of commits that its lines come from; missing without a history.",
            |signal| git_history(signal).map(|history| ValueRef::Integer(i64::from(history.commits))),
        ),
        BuiltInColumn::field(
            SIGNAL,
            "chunk.touches",
            Integer,
            "Number of commits that ever touched its lines.",
            |signal| git_history(signal).map(|history| ValueRef::Integer(i64::from(history.touches))),
        ),
        BuiltInColumn::field(
            SIGNAL,
            "chunk.newest_time",
            Integer,
            "Time of the newest of its commits, in Unix seconds.",
            |signal| git_history(signal).map(|history| ValueRef::Integer(history.newest_time)),
        ),
        BuiltInColumn::field(SIGNAL, "chunk.authors", Strings, "Names of the authors of its lines.", |signal| {
            git_history(signal).map(|history| ValueRef::from(&history.authors[..]))
        }),
    ]
}

fn git_history(Signal(history): &Signal) -> Option<&GitHistory> {
    match history {
        ChunkHistory::Tracked(history) => Some(history),
        _ => None,
    }
}
