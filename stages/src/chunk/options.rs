//! The configuration of the chunker.

use aurora_pipeline::stage_options;

stage_options! {
    /// Divides a file into chunks along its definitions, and computes the terms of each chunk.
    #[derive(Copy, PartialEq, Eq)]
    pub struct ChunkOptions {
        /// Larger chunks are split at syntax boundaries.
        max_size: usize = 2_000, count("characters without white space");
        /// Smaller pieces of code outside definitions are merged within their file.
        min_size: usize = 200, count("characters without white space");
        /// The chunk of a type with at most this many lines contains the bodies of its members.
        whole_type_lines: u32 = 40, count("lines");
        /// Functions inside functions become chunks if they have at least this many lines.
        nested_function_lines: u32 = 30, count("lines");
        /// Maximum number of chunks of one file; the rest of the file is not indexed.
        max_chunks: usize = 20_000, count("chunks");
    }
}
