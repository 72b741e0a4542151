//! Divides files into chunks: selects the symbols that become chunks, and assigns their keys and their content.

mod assemble;
mod date;
mod definitions;
mod generated;
mod keys;
mod layout;
pub mod log_sections;
mod options;
pub mod reasoning;
mod references;
mod splitter;
pub mod stage;
pub mod terms;
#[cfg(test)]
mod tests;
mod words;

pub use assemble::{FileChunks, Source, chunks_of};
use generated::{GENERATED, is_generated};
pub use options::ChunkOptions;

use aurora_storage::{BUILT_IN_METADATA, MetaValue};

use crate::formats::documents;

/// Reason why the rest of a file has no chunks.
const TOO_MANY_CHUNKS: &str = "more chunks than `max_chunks`: the rest of the file was not indexed";

/// Returns the chunks of a file of any format. Source files are divided by [`chunks_of`].
///
/// # Errors
/// Returns the reason why a reasoning pattern is not stored.
pub fn chunks_of_file(
    source: &Source<'_>,
    options: &ChunkOptions,
    is_stopped: &dyn Fn() -> bool,
) -> Result<FileChunks, String> {
    let chunks = match source.language {
        documents::CONVERSATION => log_sections::chunks_of_log(source.path, source.text),
        documents::REASONING => {
            vec![reasoning::chunk_of(source.path, source.text).map_err(|error| error.to_string())?]
        }
        _ => {
            let mut found = chunks_of(source, options, is_stopped);
            found.is_generated = is_generated(source.text);
            if found.is_generated {
                let label = || (GENERATED.to_owned(), MetaValue::Bool(true));
                found.chunks.iter_mut().for_each(|chunk| chunk.metadata.push(label()));
            }
            return Ok(found);
        }
    };
    let keys = || chunks.iter().flat_map(|chunk| &chunk.metadata).map(|(key, _)| key.as_str());
    debug_assert!(keys().all(|key| BUILT_IN_METADATA.contains(&key)), "a key is missing in the list");
    Ok(FileChunks { chunks, ..FileChunks::default() })
}
