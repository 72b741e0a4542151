//! The terms of a chunk.

use aurora_analysis::Analyzer;
use aurora_storage::{Chunk, Field, TermVector, TermVectorBuilder};

/// Counts the terms of chunks. The buffers are reused for every chunk.
#[derive(Default)]
pub struct ChunkTerms {
    terms: TermVectorBuilder,
    /// For each term number, the number of occurrences in the documentation that have no counterpart in the text yet.
    in_doc: Vec<u32>,
}

impl ChunkTerms {
    /// Returns the terms of a chunk by field. Terms of the documentation that occur again in the text count only as
    /// documentation. If they counted twice, they would outweigh the code.
    pub fn for_chunk(&mut self, chunk: &Chunk) -> TermVector {
        let Self { terms, in_doc } = self;
        let mut add = |field, text: &str| {
            Analyzer.terms(text, &mut |term: &str| {
                terms.add(field, term);
            });
        };
        add(Field::Name, &chunk.name);
        add(Field::QualifiedName, &chunk.qualified_name);
        add(Field::Signature, &chunk.signature);
        add(Field::Path, chunk.path_words());
        in_doc.clear();
        Analyzer.terms(&chunk.doc, &mut |term: &str| {
            let Some(number) = terms.number(term) else { return };
            terms.count(Field::Doc, number);
            in_doc.resize(in_doc.len().max(number + 1), 0);
            in_doc[number] += 1;
        });
        Analyzer.terms(&chunk.text, &mut |term: &str| {
            let Some(number) = terms.number(term) else { return };
            match in_doc.get_mut(number) {
                Some(left @ 1..) => *left -= 1,
                _ => terms.count(Field::Body, number),
            }
        });
        terms.finish()
    }
}
