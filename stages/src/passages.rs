//! The passage of a chunk (the text that is embedded), and the tokens of the passage.

use std::borrow::Cow;

use aurora_analysis::{Passage, PassageTokens};
use aurora_pipeline::BatchView;
use aurora_storage::{Chunk, StoredTokens};

use crate::columns::Tokens;
use crate::metadata;
use crate::services::CustomColumns;

/// Returns the documentation of a chunk, followed by one line for each embedded custom column.
pub(crate) fn doc<'b>(batch: &BatchView<'_>, row: usize, chunk: &'b Chunk, columns: &CustomColumns) -> Cow<'b, str> {
    let mut doc = Cow::Borrowed(chunk.doc.as_str());
    for name in columns.embedded() {
        if let Some(text) = metadata::text_of(batch, name, row) {
            let line = format!("{}{name}: {text}", if doc.is_empty() { "" } else { "\n" });
            doc.to_mut().push_str(&line);
        }
    }
    doc
}

/// Returns the passage of a chunk with the given documentation.
pub(crate) fn passage<'b>(chunk: &'b Chunk, doc: &'b str) -> Passage<'b> {
    Passage {
        kind: chunk.chunk_type.as_str(),
        path: chunk.path_words(),
        name: &chunk.name,
        qualified_name: &chunk.qualified_name,
        signature: &chunk.signature,
        doc,
        body: &chunk.text,
    }
}

/// Converts the tokens of a passage to their stored form.
pub(crate) fn stored_tokens(tokens: &PassageTokens) -> Tokens {
    let sets = tokens.sets();
    Tokens(StoredTokens { code: sets.code, doc: sets.doc })
}
