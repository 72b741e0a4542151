//! Direct matches: chunks at the location in the query, with the name in the query, or with the query as literal text.
//! These chunks rank above all other chunks.

use std::collections::BTreeMap;

use aurora_analysis::composed;
use aurora_storage::{ChunkId, ChunkType, Field, Label, StorageError};
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::declared_type;
use crate::path_class::{PathClass, PathClasses, is_prose};
use crate::query::QueryError;
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::identifier::{ChunkName, ExactMatch, IdentifierQuery};
use crate::retrieve::place::{Location, LocationMatch};
use crate::retrieve::prepared_query::{PreparedQuery, terms_of};
use crate::understand::{Subject, is_function_word, is_path};
use crate::work::WorkBudget;

/// Maximum number of chunks with the same name whose texts are read to distinguish declarations from definitions.
const MAX_DECLARATIONS: usize = 64;
/// Maximum number of chunks whose texts are compared with the query.
const MAX_COMPARED: usize = 64;
/// Maximum number of chunks whose texts are compared with a literal such as `text/html`, whose parts are common words.
const MAX_COMPARED_LITERAL: usize = 128;
/// Maximum number of chunks that become candidates because they contain the query.
const MAX_CONTAINING: usize = 64;
/// Minimum number of words in an unquoted phrase. Shorter queries are often names of definitions.
const MIN_PHRASE_WORDS: usize = 4;
/// Minimum number of words in a fragment of a message.
const MIN_FRAGMENT_WORDS: usize = 3;

/// Keywords before a defined name in languages without a grammar, whose chunks have no names.
#[rustfmt::skip]
const DEFINING: &[&str] = &[
    "class", "const", "constant", "contract", "def", "defconst", "defcustom", "define", "defmacro", "defn",
    "defparameter", "defun", "defvar", "fun", "function", "let", "macro", "module", "parameter", "proc", "procedure",
    "struct", "sub", "subroutine", "type", "val", "var",
];
/// Maximum number of words before a defined name, as in `integer, parameter :: X`.
const MAX_WORDS_BEFORE: usize = 4;

/// The reason why a chunk ranks above the chunks without a direct match. The variants are ordered best first. Chunks
/// with equal reasons are ordered by score.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DirectMatch {
    /// The chunk is at the location in the query.
    Location(LocationMatch),
    /// The query asks for tests of a name, and the chunk is test code that calls or mentions the name.
    Test { is_mention: bool, occurrence: Occurrence },
    /// The name of the chunk is the query.
    Name(ExactMatch),
    /// The chunk is in a file that the query may name.
    File(LocationMatch),
    /// The chunk, in a language without a grammar, probably defines the name in the query.
    Defines,
    /// The chunk contains the query in the same case.
    Contains,
    /// The name of the chunk is the query in another case or naming convention.
    Variant(ExactMatch),
    /// The chunk contains the query in another case.
    ContainsVariant,
    /// The chunk contains the last member of a qualified name.
    ContainsMember,
}

/// The form in which a chunk contains the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Occurrence {
    /// The text defines the name in the query.
    Definition,
    AsWritten,
    OtherCase,
    /// Only the last member of a qualified name.
    Member,
}

impl DirectMatch {
    /// Returns whether the name of the chunk matches the query, in any spelling.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Variant(_))
    }

    /// Returns whether the chunk is what the query gives, in the same spelling.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Location(_) | Self::Test { .. } | Self::Name(_) | Self::Defines | Self::Contains => true,
            Self::File(_) | Self::Variant(_) | Self::ContainsVariant | Self::ContainsMember => false,
        }
    }

    /// Name of the rule that raises the score of the chunk to the score of the next chunk.
    pub(crate) fn rule(&self) -> &'static str {
        match self {
            Self::Location(_) | Self::File(_) => "place",
            Self::Name(_) | Self::Variant(_) => "exact_identifier",
            Self::Test { .. } | Self::Defines | Self::Contains | Self::ContainsVariant | Self::ContainsMember => {
                "contains_query"
            }
        }
    }
}

/// Data about chunks of several indexes: the position of the index, the chunk, and the data.
type OfChunks<T> = Vec<(usize, ChunkId, T)>;

/// Returns the direct matches in every index, with the best reason for each chunk. All indexes and all chunks are
/// considered together, so that several indexes give the same results as one combined index, and a filter can only
/// remove results.
///
/// # Errors
/// Fails if an index cannot be read, or the request is cancelled.
pub(crate) fn direct_matches(
    roots: &[PreparedQuery<'_>],
    (query, subject): (&str, Subject<'_>),
    uses_words: bool,
    work: &WorkBudget,
) -> Result<Vec<BTreeMap<ChunkId, DirectMatch>>, QueryError> {
    let mut found = matches_among_all(roots, (query, subject), uses_words, work)?;
    for (root, found) in roots.iter().zip(&mut found) {
        found.retain(|id, _| root.filter.as_ref().is_none_or(|filter| filter.contains(id.0)));
    }
    Ok(found)
}

fn matches_among_all(
    roots: &[PreparedQuery<'_>],
    (query, subject): (&str, Subject<'_>),
    uses_words: bool,
    work: &WorkBudget,
) -> Result<Vec<BTreeMap<ChunkId, DirectMatch>>, QueryError> {
    let mut found: Vec<BTreeMap<ChunkId, DirectMatch>> = vec![BTreeMap::new(); roots.len()];
    let mut add = |(at, id): (usize, ChunkId), matched: DirectMatch| {
        let best = found[at].entry(id).or_insert_with(|| matched.clone());
        if matched < *best {
            *best = matched;
        }
    };
    for location in Location::all(query) {
        let reason = if location.is_certain() { DirectMatch::Location } else { DirectMatch::File };
        location.chunks(roots, work)?.into_iter().for_each(|(at, id, matched)| add((at, id), reason(matched)));
    }
    let mut named = exact_matches(roots, &IdentifierQuery::new(query), work)?;
    if named.is_empty() && subject.text != query {
        let declared = query.split_whitespace().filter(|word| *word != subject.text).find_map(declared_type);
        named = exact_matches(roots, &IdentifierQuery::new(subject.text).with_type(declared), work)?;
        if subject.of_uses && !named.is_empty() {
            // The definition is not one of the requested uses, so it does not become a direct match.
            return Ok(found);
        }
    }
    // Users often write a name in lower case if it is an ordinary word, so its case counts only for an identifier.
    let is_identifier = subject.is_identifier();
    for (at, id, exact) in named {
        let is_name = exact.is_as_written() || !is_identifier && exact.has_same_letters();
        add((at, id), if is_name { DirectMatch::Name(exact) } else { DirectMatch::Variant(exact) });
    }
    if !uses_words {
        return Ok(found);
    }
    let contents = containing_subject(roots, query, subject, work)?;
    if !subject.of_tests {
        for (at, id, occurrence) in contents {
            let reason = match occurrence {
                Occurrence::Definition => DirectMatch::Defines,
                Occurrence::AsWritten => DirectMatch::Contains,
                Occurrence::OtherCase => DirectMatch::ContainsVariant,
                Occurrence::Member => DirectMatch::ContainsMember,
            };
            add((at, id), reason);
        }
        return Ok(found);
    }
    if is_path(subject.text) {
        for location in Location::tests_of(subject.text) {
            for (at, id, _) in location.chunks(roots, work)? {
                add((at, id), DirectMatch::Test { is_mention: false, occurrence: Occurrence::Definition });
            }
        }
    }
    let called = IdentifierQuery::new(subject.text);
    let mut tests = tests_among(roots, contents)?;
    if tests.is_empty() && called.member() != subject.text {
        // Tests call a method on a variable, not on its class, so search for the method's name alone.
        let contents = containing(roots, called.member(), &terms_of(called.member()), work)?;
        tests = tests_among(roots, contents)?;
    }
    let calls = roots.iter().map(|root| root.snapshot.label(Label::Calls(called.member())));
    let calls = calls.collect::<Result<Vec<_>, _>>()?;
    for (at, id, occurrence) in tests {
        let is_call = calls[at].contains(id.0) && may_call(&roots[at], id, called.member())?;
        let test = DirectMatch::Test { is_mention: !is_call, occurrence };
        found[at].entry(id).or_insert(test);
    }
    Ok(found)
}

/// Keeps the chunks that are test code.
fn tests_among(
    roots: &[PreparedQuery<'_>],
    chunks: OfChunks<Occurrence>,
) -> Result<OfChunks<Occurrence>, StorageError> {
    let is_test = |name: ChunkName<'_>| name.classes(PathClasses::for_path(name.path)).contains(PathClass::Test);
    let mut tests = Vec::new();
    for (at, id, occurrence) in chunks {
        if roots[at].snapshot.chunk(id)?.map(ChunkName::from_chunk).is_some_and(is_test) {
            tests.push((at, id, occurrence));
        }
    }
    Ok(tests)
}

/// Returns whether the text of a chunk calls a name. The index stores the calls of the whole file for every chunk of
/// code outside of definitions, so the texts of such chunks are searched. Other chunks have their own calls.
fn may_call(root: &PreparedQuery<'_>, id: ChunkId, name: &str) -> Result<bool, StorageError> {
    let is_outside = root.snapshot.chunk(id)?.is_some_and(|chunk| chunk.chunk_type() == ChunkType::Code);
    let text = if is_outside { root.snapshot.text(id)? } else { None };
    Ok(text.is_none_or(|text| calls(&text.text, name)))
}

/// Returns whether a text calls a name: `name(…)`, `name<T>(…)`, `name!(…)`, `<name …>`, `new name`.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_whole = !is_word(before.chars().next_back()) && !is_word(after.chars().next());
        is_whole
            && (after.starts_with(['(', '<', '!', '`']) || before.ends_with(['<', '@']) || before.ends_with("new "))
    })
}

/// Returns the chunks whose name is the query, or that contain a definition of this name.
fn exact_matches(
    roots: &[PreparedQuery<'_>],
    identifier: &IdentifierQuery,
    work: &WorkBudget,
) -> Result<OfChunks<ExactMatch>, QueryError> {
    let (mut matches, mut inside) = (Vec::new(), Vec::new());
    for (at, root) in roots.iter().enumerate() {
        let ids = identifier.lookups().iter().map(|name| root.snapshot.label(Label::Defines(name))).union()?;
        for id in (ids & root.snapshot.live()).into_iter().map(ChunkId) {
            work.check()?;
            let Some(chunk) = root.snapshot.chunk(id)? else { continue };
            let name = ChunkName::from_chunk(chunk);
            if let Some(found) = identifier.matches(name) {
                matches.push((at, id, found.with_key(chunk.key())));
            } else if let Some(found) = identifier.matches_inside(name, chunk.definitions()) {
                inside.push((at, id, found.with_key(chunk.key())));
            }
        }
    }
    // Definitions inside a chunk count only if no code chunk has the name itself. They rank before headings and before
    // names in another case.
    if matches.is_empty() {
        return Ok(inside);
    }
    note_declarations(roots, &mut matches)?;
    if !matches.iter().any(|(_, _, found)| found.is_code_as_written()) {
        inside.retain(|(_, _, found)| found.is_code_as_written() && !found.side_code);
        matches.append(&mut inside);
    }
    Ok(matches)
}

/// Marks matches that declare a function without a body, unless there are more than [`MAX_DECLARATIONS`] matches.
fn note_declarations(roots: &[PreparedQuery<'_>], matches: &mut OfChunks<ExactMatch>) -> Result<(), StorageError> {
    if !(2..=MAX_DECLARATIONS).contains(&matches.len()) {
        return Ok(());
    }
    for (at, id, found) in matches.iter_mut().filter(|(_, _, found)| found.is_function()) {
        if let Some(text) = roots[*at].snapshot.text(*id)? {
            *found = found.clone().with_text(&text.text);
        }
    }
    Ok(())
}

/// Returns the chunks that contain the subject of a query, or the whole query as a phrase. Returns nothing for a short
/// unquoted phrase whose words occur together in many chunks or in a qualified name.
fn containing_subject(
    roots: &[PreparedQuery<'_>],
    query: &str,
    subject: Subject<'_>,
    work: &WorkBudget,
) -> Result<OfChunks<Occurrence>, QueryError> {
    let text = subject.text;
    let plain = text.trim_matches(['`', '"', '\'']);
    let is_quoted = plain.len() + 2 <= text.len();
    let plain = plain.strip_suffix("()").unwrap_or(plain);
    let terms = terms_of(plain);
    if !subject.is_single && !is_quoted && query.split_whitespace().count() < MIN_PHRASE_WORDS {
        let chunks = with_all(roots, &terms)?;
        if count(&chunks) > MAX_COMPARED || has_named(roots, chunks, &terms)? {
            return Ok(Vec::new());
        }
    }
    let mut found = containing(roots, plain, &terms, work)?;
    if !subject.is_single {
        return if found.is_empty() { containing_fragment(roots, query, work) } else { Ok(found) };
    }
    if !found.is_empty() {
        return Ok(found);
    }
    // The same variable is `$NAME` in a script and `NAME` elsewhere, so search for the name without the sigil.
    let bare = plain.trim_matches(['$', '@', '%', '{', '}']);
    if bare.len() < plain.len() {
        found = containing(roots, bare, &terms, work)?;
    }
    let identifier = IdentifierQuery::new(bare);
    let member = identifier.member();
    let is_member = member.len() < bare.len() && member.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !found.is_empty() || !is_member || bare.contains('/') {
        return Ok(found);
    }
    // Search for the last member alone: nested keys are on separate lines, and members are called on variables rather
    // than on their types.
    found = containing(roots, member, &terms, work)?;
    let of_member = terms_of(member);
    if found.is_empty() && of_member.len() > 1 {
        found = containing(roots, member, &of_member, work)?;
    }
    Ok(found.into_iter().map(|(at, id, _)| (at, id, Occurrence::Member)).collect())
}

/// Returns the chunks of every index that contain all terms.
fn with_all(roots: &[PreparedQuery<'_>], terms: &[String]) -> Result<Vec<RoaringBitmap>, StorageError> {
    roots.iter().map(|root| root.with_all(terms)).collect()
}

fn count(chunks: &[RoaringBitmap]) -> usize {
    chunks.iter().map(|chunks| chunks.len() as usize).sum()
}

/// Returns the best chunks by keywords that pass the filter, among `chunks`; at most `most` in all indexes together.
fn best_by_keywords(
    roots: &[PreparedQuery<'_>],
    chunks: &[RoaringBitmap],
    most: usize,
) -> Result<Vec<(usize, ChunkId)>, StorageError> {
    let within: Vec<RoaringBitmap> =
        roots.iter().zip(chunks).map(|(root, chunks)| root.within(chunks.clone())).collect();
    let best = KeywordSearch::top(roots.iter().map(|root| &root.bm25).zip(within.iter().map(Some)), most)?;
    Ok(best.iter().enumerate().flat_map(|(at, best)| best.iter().map(move |(id, _)| (at, *id))).collect())
}

/// Returns the chunks that contain the longest fragment of a message that occurs in any chunk. In source code, a
/// message has placeholders in place of values, so a whole message rarely occurs.
fn containing_fragment(
    roots: &[PreparedQuery<'_>],
    query: &str,
    work: &WorkBudget,
) -> Result<OfChunks<Occurrence>, QueryError> {
    for fragment in fragments(query) {
        let found = containing(roots, &fragment, &terms_of(&fragment), work)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Splits a message at numbers, quoted texts and paths, and at the name of an error at its start. Returns longer
/// fragments first; empty if there is nothing to split at.
fn fragments(query: &str) -> Vec<String> {
    let words: Vec<&str> = query.split_whitespace().collect();
    let is_value = |word: &&str| {
        word.starts_with(['"', '\'', '`'])
            || word.ends_with(['"', '\'', '`'])
            || word.contains('/')
            || word.contains(|c: char| c.is_ascii_digit())
    };
    let mut fragments: Vec<&[&str]> = words.split(is_value).collect();
    if words.first().is_some_and(|first| first.ends_with(':')) {
        fragments.extend(words[1..].split(is_value).next());
    }
    let is_content = |word: &&&str| !is_function_word(&word.to_lowercase());
    fragments.retain(|fragment| {
        (MIN_FRAGMENT_WORDS..words.len()).contains(&fragment.len()) && fragment.iter().filter(is_content).count() > 1
    });
    fragments.sort_by_key(|words| std::cmp::Reverse(words.len()));
    fragments.iter().map(|words| words.join(" ")).collect()
}

/// Returns the chunks that contain a text as a whole word or phrase, among the chunks with all terms.
fn containing(
    roots: &[PreparedQuery<'_>],
    wanted: &str,
    terms: &[String],
    work: &WorkBudget,
) -> Result<OfChunks<Occurrence>, QueryError> {
    let mut chunks = with_all(roots, terms)?;
    if count(&chunks) == 0 {
        let matching = |root: &PreparedQuery<'_>| root.bm25.matching_chunks(Some(root.snapshot.live()));
        chunks = match wanted.chars().count() {
            1 if !wanted.is_ascii() => roots.iter().map(matching).collect(),
            _ => with_all(roots, &parts(terms))?,
        };
    }
    let is_literal = !wanted.contains(char::is_whitespace)
        && !wanted.contains("::")
        && wanted.contains([':', '/', '=', '(', '[', '<', '%', '@']);
    let max_compared = if is_literal { MAX_COMPARED_LITERAL } else { MAX_COMPARED };
    // A chunk with the term of an identifier always contains the identifier, so the chunk matches even if its text is
    // not read.
    let is_identifier = wanted.chars().all(|c| c.is_alphanumeric() || c == '_') && terms_of(wanted).len() > 1;
    let compared = if count(&chunks) <= max_compared {
        let ids =
            |(at, chunks): (usize, &RoaringBitmap)| chunks.iter().map(move |id| (at, ChunkId(id))).collect::<Vec<_>>();
        chunks.iter().enumerate().flat_map(ids).collect()
    } else if terms.len() > 1 {
        best_by_keywords(roots, &chunks, max_compared)?
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    for (at, id) in compared {
        work.check()?;
        chunks[at].remove(id.0);
        let Some(texts) = roots[at].snapshot.text(id)? else { continue };
        let best = [&texts.text, &texts.doc].into_iter().filter_map(|text| contains(text, wanted)).min();
        let Some(mut best) = best else { continue };
        if best == Occurrence::AsWritten && has_no_grammar(&roots[at], id)? && defines(&texts.text, wanted) {
            best = Occurrence::Definition;
        }
        found.push((at, id, best));
    }
    let best = found.iter().map(|(_, _, occurrence)| (*occurrence).max(Occurrence::AsWritten)).min();
    if let Some(best) = best.filter(|_| is_identifier) {
        let others = best_by_keywords(roots, &chunks, MAX_CONTAINING)?;
        found.extend(others.into_iter().map(|(at, id)| (at, id, best)));
    }
    Ok(found)
}

/// Returns whether a chunk is code in a language without a grammar.
fn has_no_grammar(root: &PreparedQuery<'_>, id: ChunkId) -> Result<bool, StorageError> {
    let is_code = |path: &str| !is_prose(path.rsplit('/').next().unwrap_or(path));
    let chunk = root.snapshot.chunk(id)?;
    Ok(chunk.is_some_and(|chunk| chunk.chunk_type() == ChunkType::Doc && is_code(chunk.path())))
}

/// Returns whether a line of a text assigns to a name at its start, or has a defining keyword directly before the name.
fn defines(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let Some(start) = line.find(name).filter(|_| is_whole_in(line, name)) else { return false };
        let (before, after) = (&line[..start], line[start + name.len()..].trim_start());
        let words = before.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        let is_assigned = after.starts_with(":=") || after.starts_with('=') && !after.starts_with("==");
        let is_declared = words.len() <= MAX_WORDS_BEFORE && words.last().is_some_and(|word| DEFINING.contains(word));
        is_declared || before.is_empty() && is_assigned
    })
}

/// Returns whether any of the chunks has all terms in its qualified name.
fn has_named(roots: &[PreparedQuery<'_>], chunks: Vec<RoaringBitmap>, terms: &[String]) -> Result<bool, StorageError> {
    for (root, mut named) in roots.iter().zip(chunks) {
        for term in terms {
            let postings = root.snapshot.postings(term)?;
            let is_in_name = |id: u32| {
                let frequencies = postings.find(ChunkId(id));
                frequencies.is_some_and(|frequencies| frequencies[Field::QualifiedName.index()] > 0)
            };
            named = named.into_iter().filter(|&id| is_in_name(id)).collect();
        }
        if !named.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns those of the terms of a text that a chunk contains even where the text is part of a longer word. Removes
/// terms joined by `.` or `-`, and in scripts without spaces all terms except pairs of characters.
fn parts(terms: &[String]) -> Vec<String> {
    let is_unspaced = |term: &str| term.chars().any(aurora_analysis::is_unspaced);
    let has_pairs = terms.iter().any(|term| is_unspaced(term) && term.chars().count() == 2);
    let is_joined = |term: &str| term.contains(['.', '-']);
    let is_longer = |term: &str| has_pairs && is_unspaced(term) && term.chars().count() != 2;
    terms.iter().filter(|term| !(is_joined(term) || is_longer(term))).cloned().collect()
}

/// Searches a text for a word or phrase at word boundaries, and returns the form of the best occurrence. Full-width and
/// other compatible characters count as another case.
fn contains(text: &str, wanted: &str) -> Option<Occurrence> {
    if wanted.is_empty() {
        return None;
    }
    if is_whole_in(text, wanted) {
        return Some(Occurrence::AsWritten);
    }
    let wanted = wanted.to_lowercase();
    let is_same = is_whole_in(&text.to_lowercase(), &wanted)
        || text.chars().any(has_ordinary_form) && is_whole_in(&composed(text).to_lowercase(), &composed(&wanted));
    is_same.then_some(Occurrence::OtherCase)
}

/// Returns whether a character is a combining accent, a ligature, or a full-width or half-width form.
fn has_ordinary_form(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{fb00}'..='\u{ffef}')
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
    fn words_match_whole_words() {
        let text = "if (retry_count > MAX_RETRIES) log(\"lazyfree-lazy-eviction\", total_Posts, C++);";
        for wanted in ["retry_count", "MAX_RETRIES", "lazyfree-lazy-eviction", "C++", "log(\"lazyfree"] {
            assert_eq!(contains(text, wanted), Some(Occurrence::AsWritten), "{wanted}");
        }
        for wanted in ["max_retries", "total_posts", "c++"] {
            assert_eq!(contains(text, wanted), Some(Occurrence::OtherCase), "{wanted}");
        }
        assert_eq!(contains("ｔｏｔａｌ＿ｐｏｓｔｓ", "total_posts"), Some(Occurrence::OtherCase));
        for wanted in ["retry", "RETRIES", "azyfree-lazy-eviction", ""] {
            assert_eq!(contains(text, wanted), None, "{wanted}");
        }
        assert_eq!(contains("größe仕様書", "仕"), Some(Occurrence::AsWritten));
    }

    #[test]
    fn definitions_are_recognised_without_a_grammar() {
        for line in [
            "const LIMIT = 5",
            "LIMIT := 5",
            "(def LIMIT 5)",
            "-define(LIMIT, 5).",
            "  integer, parameter :: LIMIT = 5",
            "  uint constant LIMIT = 5;",
            "let rec LIMIT x = x\nlet LIMIT = 5",
        ] {
            assert!(defines(line, "LIMIT"), "{line}");
        }
        for line in ["if LIMIT == 5", "LIMIT == 5", "wait(LIMIT)", "const x = LIMIT", "  LIMIT = 5", "const LIMITS = 5"]
        {
            assert!(!defines(line, "LIMIT"), "{line}");
        }
    }

    #[test]
    fn imports_are_not_calls() {
        for text in
            ["import { run } from './run'", "use a::{\n    run,\n};", "from a import run", "rerun(1)", "run_all()"]
        {
            assert!(!calls(text, "run"), "{text}");
        }
        for text in
            ["import { run } from './run'\nrun(1)", "x = run<T>(y)", "return <run a={1}/>", "new run", "run!(a)"]
        {
            assert!(calls(text, "run"), "{text}");
        }
    }

    #[test]
    fn messages_are_split_at_values() {
        assert_eq!(fragments("index out of bounds: the len is 3 but got 5"), ["index out of bounds: the len is"]);
        assert_eq!(fragments("ValueError: cannot parse the header"), ["cannot parse the header"]);
        assert_eq!(
            fragments("cannot open file '/tmp/x' for reading a header"),
            ["for reading a header", "cannot open file"]
        );
        for sentence in ["how are sessions refreshed", "what is in 3 of the files", ""] {
            assert!(fragments(sentence).is_empty(), "{sentence}");
        }
    }
}
