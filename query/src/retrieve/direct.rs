//! Chunks that are the answer because of what the query literally is: a place, a name, or a text that they contain. They rank
//! above all others.

use std::collections::BTreeMap;

use aurora_analysis::Analyzer;
use aurora_storage::{ChunkId, Field, Label, StorageError};
use roaring::RoaringBitmap;

use crate::path_class::{PathClass, PathClasses};
use crate::query::QueryError;
use crate::retrieve::identifier::{ChunkName, ExactMatch, IdentifierQuery};
use crate::retrieve::place::{Place, PlaceMatch};
use crate::retrieve::searched_root::{SearchedRoot, terms_of};
use crate::understand::Subject;
use crate::work::WorkBudget;

/// Of more chunks with the name that a query is, none is read to see whether it is a declaration only.
const MAX_DECLARATIONS: usize = 64;
/// Maximum number of chunks whose texts are compared with the query.
const MAX_COMPARED: usize = 64;
/// Maximum number of chunks that become candidates because they contain the query.
const MAX_HOLDING: usize = 200;
/// A query of fewer words is no phrase if a definition has all of them in its name, unless it is quoted.
const MIN_PHRASE_WORDS: usize = 4;

/// Why a chunk ranks above others, the best first. Chunks with equal reasons are ordered by score.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DirectMatch {
    /// It is at the place that the query gives.
    Place(PlaceMatch),
    /// It is test code that calls or mentions the name of which the query asks for tests.
    Test { is_mention: bool, holding: Holding },
    /// Its name is the query.
    Name(ExactMatch),
    /// It is the file that the query may name.
    File(PlaceMatch),
    /// It contains the query as it is written.
    Holds,
    /// Its name has the words of the query in another case or naming convention.
    Variant(ExactMatch),
    /// It contains the query in another case.
    HoldsVariant,
}

/// How a chunk contains the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holding {
    AsWritten,
    OtherCase,
}

impl DirectMatch {
    /// Whether the name of the chunk is the query, in any spelling.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Variant(_))
    }

    /// The rule that raises the score of such a chunk to that of the next one.
    pub(crate) fn rule(&self) -> &'static str {
        match self {
            Self::Place(_) | Self::File(_) => "place",
            Self::Name(_) | Self::Variant(_) => "exact_identifier",
            Self::Test { .. } | Self::Holds | Self::HoldsVariant => "contains_query",
        }
    }
}

/// The direct matches of one index, each chunk with its best reason.
///
/// # Errors
/// When the index cannot be read, or the request is cancelled.
pub(crate) fn direct_matches(
    root: &SearchedRoot<'_>,
    (query, subject): (&str, Subject<'_>),
    uses_words: bool,
    work: &WorkBudget,
) -> Result<BTreeMap<ChunkId, DirectMatch>, QueryError> {
    let mut found: BTreeMap<ChunkId, DirectMatch> = BTreeMap::new();
    let mut add = |id: ChunkId, matched: DirectMatch| {
        let best = found.entry(id).or_insert_with(|| matched.clone());
        if matched < *best {
            *best = matched;
        }
    };
    for place in Place::all(query) {
        let reason = if place.is_certain() { DirectMatch::Place } else { DirectMatch::File };
        place.chunks(root, work)?.into_iter().for_each(|(id, matched)| add(id, reason(matched)));
    }
    let mut named = exact_matches(root, &IdentifierQuery::new(query), work)?;
    if named.is_empty() && subject.text != query {
        named = exact_matches(root, &IdentifierQuery::new(subject.text), work)?;
    }
    // A word that is no identifier is rarely written in its case.
    let is_identifier = subject.is_identifier();
    for (id, exact) in named {
        let is_name = exact.is_as_written() || !is_identifier && exact.has_same_letters();
        add(id, if is_name { DirectMatch::Name(exact) } else { DirectMatch::Variant(exact) });
    }
    if !uses_words {
        return Ok(found);
    }
    let contents = holding(root, query, subject, work)?;
    if !subject.of_tests {
        for (id, holding) in contents {
            add(id, if holding == Holding::AsWritten { DirectMatch::Holds } else { DirectMatch::HoldsVariant });
        }
        return Ok(found);
    }
    let calls = root.snapshot.label(Label::Calls(IdentifierQuery::new(subject.text).member()))?;
    for (id, holding) in contents {
        let is_test = |name: ChunkName<'_>| name.classes(PathClasses::of(name.path)).holds(PathClass::Test);
        if !found.contains_key(&id) && root.snapshot.chunk(id)?.map(ChunkName::of).is_some_and(is_test) {
            found.insert(id, DirectMatch::Test { is_mention: !calls.contains(id.0), holding });
        }
    }
    Ok(found)
}

/// The chunks whose name is the query, or which define it inside.
fn exact_matches(
    root: &SearchedRoot<'_>,
    identifier: &IdentifierQuery,
    work: &WorkBudget,
) -> Result<Vec<(ChunkId, ExactMatch)>, QueryError> {
    let mut ids = RoaringBitmap::new();
    for name in identifier.lookups() {
        ids |= root.within(root.snapshot.label(Label::Defines(&name))?);
    }
    let (mut matches, mut inside) = (Vec::new(), Vec::new());
    for id in ids.into_iter().map(ChunkId) {
        work.check()?;
        let Some(chunk) = root.snapshot.chunk(id)? else { continue };
        let name = ChunkName::of(chunk);
        if let Some(found) = identifier.matches(name) {
            matches.push((id, found.with_key(chunk.key())));
        } else if let Some(found) = identifier.matches_inside(name, chunk.definitions()) {
            inside.push((id, found.with_key(chunk.key())));
        }
    }
    // Definitions inside of a chunk count only where no chunk of code has the name itself; they rank before headings and
    // before names in another case.
    if matches.is_empty() {
        return Ok(inside);
    }
    note_declarations(root, &mut matches)?;
    if !matches.iter().any(|(_, found)| found.is_code_as_written()) {
        inside.retain(|(_, found)| found.is_code_as_written() && !found.is_side_code());
        matches.append(&mut inside);
    }
    Ok(matches)
}

/// Notes which functions of several with a name are declared only. Of very many, none is.
fn note_declarations(root: &SearchedRoot<'_>, matches: &mut [(ChunkId, ExactMatch)]) -> Result<(), StorageError> {
    if !(2..=MAX_DECLARATIONS).contains(&matches.len()) {
        return Ok(());
    }
    for (id, found) in matches.iter_mut().filter(|(_, found)| found.is_function()) {
        if let Some(text) = root.snapshot.text(*id)? {
            *found = found.clone().with_text(&text.text);
        }
    }
    Ok(())
}

/// The chunks that contain the subject of a query, or a sentence that is a phrase of them. Of words of a language that are in many
/// chunks, none.
fn holding(
    root: &SearchedRoot<'_>,
    query: &str,
    subject: Subject<'_>,
    work: &WorkBudget,
) -> Result<Vec<(ChunkId, Holding)>, QueryError> {
    let text = subject.text;
    let plain = text.trim_matches(['`', '"', '\'']);
    let is_quoted = plain.len() + 2 <= text.len();
    let terms = terms_of(&Analyzer, plain);
    let mut chunks = root.with_all(&terms)?;
    let is_short = !subject.is_single && !is_quoted && query.split_whitespace().count() < MIN_PHRASE_WORDS;
    if is_short && (chunks.len() > MAX_COMPARED as u64 || has_named(root, &chunks, &terms)?) {
        return Ok(Vec::new());
    }
    if chunks.is_empty() {
        chunks = match plain.chars().count() {
            1 if !plain.is_ascii() => root.bm25.holding(Some(&root.within(root.snapshot.live().clone()))),
            _ => root.with_all(&parts(&terms))?,
        };
    }
    // Every chunk with the term of an identifier contains it.
    let is_identifier = plain.chars().all(|c| c.is_alphanumeric() || c == '_') && terms.len() > 1;
    let compared = if chunks.len() <= MAX_COMPARED as u64 {
        chunks.iter().map(ChunkId).collect()
    } else if terms.len() > 1 {
        root.bm25.top(MAX_COMPARED, Some(&chunks))?.into_iter().map(|(id, _)| id).collect()
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    for id in compared {
        work.check()?;
        chunks.remove(id.0);
        let Some(texts) = root.snapshot.text(id)? else { continue };
        let best = [&texts.text, &texts.doc].into_iter().filter_map(|text| contains(text, plain)).min();
        found.extend(best.map(|holding| (id, holding)));
    }
    if let Some(best) = found.iter().map(|(_, holding)| *holding).min().filter(|_| is_identifier) {
        let others = root.bm25.top(MAX_HOLDING, Some(&chunks))?;
        found.extend(others.into_iter().map(|(id, _)| (id, best)));
    }
    Ok(found)
}

/// Whether one of some chunks has all terms in its qualified name.
fn has_named(root: &SearchedRoot<'_>, chunks: &RoaringBitmap, terms: &[String]) -> Result<bool, StorageError> {
    let mut named = chunks.clone();
    for term in terms {
        let postings = root.snapshot.postings(term)?;
        let is_in_name = |id: u32| {
            let frequencies = postings.find(ChunkId(id));
            frequencies.is_some_and(|frequencies| frequencies[Field::QualifiedName.index()] > 0)
        };
        named = named.into_iter().filter(|&id| is_in_name(id)).collect();
    }
    Ok(!named.is_empty())
}

/// The terms that a text has in the middle of longer ones, too: not those that `.` or `-` join, and of a text whose script marks no
/// words only the pairs of characters.
fn parts(terms: &[String]) -> Vec<String> {
    let is_unspaced = |term: &str| term.chars().any(aurora_analysis::is_unspaced);
    let has_pairs = terms.iter().any(|term| is_unspaced(term) && term.chars().count() == 2);
    let is_part =
        |term: &&String| !term.contains(['.', '-']) && !(has_pairs && is_unspaced(term) && term.chars().count() != 2);
    terms.iter().filter(is_part).cloned().collect()
}

/// How a text contains a word or a phrase that neither begins nor ends within a longer word.
fn contains(text: &str, wanted: &str) -> Option<Holding> {
    if wanted.is_empty() {
        return None;
    }
    if is_whole_in(text, wanted) {
        return Some(Holding::AsWritten);
    }
    is_whole_in(&text.to_lowercase(), &wanted.to_lowercase()).then_some(Holding::OtherCase)
}

fn is_whole_in(text: &str, wanted: &str) -> bool {
    let is_word =
        |c: Option<char>| c.is_some_and(|c| (c.is_alphanumeric() || c == '_') && !aurora_analysis::is_unspaced(c));
    let (begins, ends) = (is_word(wanted.chars().next()), is_word(wanted.chars().next_back()));
    text.match_indices(wanted).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + wanted.len()..]);
        !(begins && is_word(before.chars().next_back()) || ends && is_word(after.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_contained_whole() {
        let text = "if (retry_count > MAX_RETRIES) log(\"lazyfree-lazy-eviction\", total_Posts, C++);";
        for wanted in ["retry_count", "MAX_RETRIES", "lazyfree-lazy-eviction", "C++", "log(\"lazyfree"] {
            assert_eq!(contains(text, wanted), Some(Holding::AsWritten), "{wanted}");
        }
        for wanted in ["max_retries", "total_posts", "c++"] {
            assert_eq!(contains(text, wanted), Some(Holding::OtherCase), "{wanted}");
        }
        for wanted in ["retry", "RETRIES", "azyfree-lazy-eviction", ""] {
            assert_eq!(contains(text, wanted), None, "{wanted}");
        }
        assert_eq!(contains("größe仕様書", "仕"), Some(Holding::AsWritten));
    }
}
