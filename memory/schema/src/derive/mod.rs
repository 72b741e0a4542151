//! Derives the metadata that an entry leaves out: keywords, semantic role and domain.

mod domain;
mod keywords;
mod passages;
mod role;
mod words;

use serde_json::Value;

use crate::entry::Entry;
use passages::passages;

/// Sets `metadata.keywords`, `metadata.semantic_role` and `metadata.domain` where they are missing, and names what was set in
/// `metadata.derived`. The same content gives the same metadata.
pub(crate) fn complete(entry: &mut Entry) {
    let missing = ["keywords", "semantic_role", "domain"].map(|field| !entry.has_metadata(field));
    if missing == [false; 3] {
        return;
    }
    let passages = passages(entry);
    let ranked = keywords::ranked(&passages);
    let [keywords, role, domain] = [
        Value::from(keywords::best(&ranked)),
        role::of(entry, &ranked).map_or(Value::Null, Value::from),
        Value::from(domain::of(entry, &passages)),
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
