//! Derives missing metadata of an entry: the keywords, the semantic role and the domain.

mod domain;
mod keywords;
mod passages;
mod role;
mod words;

use serde_json::Value;

use crate::entry::Entry;
use passages::passages;

/// Derives `metadata.keywords`, `metadata.semantic_role` and `metadata.domain` if they are missing. Adds the names of
/// the derived fields to `metadata.derived`. Derivation is deterministic.
pub(crate) fn complete(entry: &mut Entry) {
    let missing = ["keywords", "semantic_role", "domain"].map(|field| !entry.has_metadata(field));
    if missing == [false; 3] {
        return;
    }
    let passages = passages(entry);
    let ranked = keywords::rank(&passages);
    let [keywords, role, domain] = [
        Value::from(keywords::select(&ranked)),
        role::derive(entry, &ranked).map_or(Value::Null, Value::from),
        Value::from(domain::derive(entry, &passages)),
    ];
    drop(passages);
    for ((field, value), is_missing) in
        [("keywords", keywords), ("semantic_role", role), ("domain", domain)].into_iter().zip(missing)
    {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if is_missing && !is_empty {
            entry.set_derived(field, value);
        }
    }
}
