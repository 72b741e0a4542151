//! Step 1: parses a query.
//!
//! Determines the terms of the typed text with their weights, the identifiers and paths, additional terms to search
//! for, and the kind of the query (name, path, error message, plain words), on which the weights of the ranking depend.

mod abbreviations;
mod edit_distance;
mod expansion;
mod inflection;
mod kind;
mod parsed_query;
mod spelling;
mod subject;
mod word_form;

use crate::config::SearchConfig;
use crate::corpus::Corpus;
use crate::query::QueryError;
use crate::work::WorkBudget;

pub use kind::QueryKind;
pub(crate) use parsed_query::{ExtraTerm, ParsedQuery, QueryTerm, Word};
pub(crate) use subject::Subject;
pub(crate) use word_form::{is_function_word, is_path};

/// A parsed and expanded query.
pub(crate) struct Understood {
    /// Terms, words and paths.
    pub(crate) parsed: ParsedQuery,
    /// The text to search for, with misspelt words corrected.
    pub(crate) text: String,
    /// Share of each kind in the query.
    pub(crate) kind: QueryKind,
    /// Notes for the user about corrections, each a sentence.
    pub(crate) notes: Vec<String>,
}

/// Parses `text`, corrects words that no chunk contains, and adds related terms.
///
/// # Errors
/// Returns [`QueryError::Empty`] or [`QueryError::NoTerms`] for a query without terms, and other errors if the index
/// cannot be read or the request is cancelled.
pub(crate) fn understand(
    corpus: &Corpus<'_>,
    config: &SearchConfig,
    text: &str,
    work: &WorkBudget,
) -> Result<Understood, QueryError> {
    let mut parsed = ParsedQuery::parse(text)?;
    let (mut text, mut notes) = (text.to_owned(), Vec::new());
    if config.expansion.spelling > 0.0
        && let Some((corrected, changes)) = spelling::correct(corpus, &text, work)?
    {
        let given = std::mem::replace(&mut parsed, ParsedQuery::parse(&corrected)?);
        parsed.weigh_guesses(&given, config.expansion.spelling);
        (text, notes) = (corrected, changes);
    }
    parsed.weigh_function_words(config.kinds.function_words);
    parsed.extras = expansion::expand(corpus, &parsed, &config.expansion, work)?;
    let kind = QueryKind::from_query(&text, &parsed);
    Ok(Understood { parsed, text, kind, notes })
}
