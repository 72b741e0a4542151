//! Links from an entry to other entries and to chunks.

use serde::Serialize;
use serde_json::{Value, json};

use super::{EditError, Entry, checked_label};
use crate::id;
use crate::limit::LIST_VALUES;

const SECTION: &str = "metadata";
const LINKS: &str = "links";

/// The relation of a link that does not specify one.
const DEFAULT_RELATION: &str = "related";

/// The weight of a link that does not specify one.
const DEFAULT_WEIGHT: f64 = 1.0;

/// A link to another entry or to a chunk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link<'e> {
    /// The id of the other entry or chunk, which does not have to exist.
    pub to: &'e str,
    /// The meaning of the link; `related` by default.
    pub relation: &'e str,
    /// The strength of the link, from 0 to 1; 1 by default.
    pub weight: f64,
}

impl<'e> Link<'e> {
    fn from_value(value: &'e Value) -> Option<Self> {
        let to = value.get("to")?.as_str()?;
        let relation = value.get("relation").and_then(Value::as_str).unwrap_or(DEFAULT_RELATION);
        let weight = value.get("weight").and_then(Value::as_f64).unwrap_or(DEFAULT_WEIGHT);
        Some(Self { to, relation, weight })
    }
}

impl Entry {
    /// Returns `metadata.links`, in the order of the document.
    pub fn links(&self) -> Vec<Link<'_>> {
        self.link_values().iter().filter_map(Link::from_value).collect()
    }

    /// Adds a link to another entry. If a link with the same target and relation exists, changes its weight. Secrets in
    /// the id and the relation are masked. Returns `true` if the links have changed.
    ///
    /// # Errors
    /// Returns [`EditError::Id`], [`EditError::LinkToItself`], [`EditError::Label`] or [`EditError::Weight`] if an
    /// argument is invalid, and [`EditError::TooMany`] if there would be too many links. After an error, the entry is
    /// unchanged.
    pub fn add_link(&mut self, to: &str, relation: &str, weight: f64) -> Result<bool, EditError> {
        if let Some(problem) = id::target_problem(to) {
            return Err(EditError::Id(problem));
        }
        if to == self.id {
            return Err(EditError::LinkToItself);
        }
        let (to, relation) = (aurora_redact::masked(to.to_owned()), checked_label(relation)?);
        if !(0.0..=1.0).contains(&weight) {
            return Err(EditError::Weight(weight));
        }
        let mut links = self.link_values().to_vec();
        let found = links.iter().map(Link::from_value).zip(0..).find_map(|(link, at)| {
            link.filter(|link| (link.to, link.relation) == (to.as_str(), relation.as_str()))
                .map(|link| (at, link.weight))
        });
        match found {
            Some((_, before)) if before == weight => return Ok(false),
            Some((at, _)) => links[at] = with_weight(&links[at], weight),
            None if links.len() >= LIST_VALUES => return Err(EditError::TooMany(LINKS)),
            None => links.push(json!(Link { to: &to, relation: &relation, weight })),
        }
        self.set(SECTION, LINKS, Some(Value::Array(links)));
        Ok(true)
    }

    /// Removes the links to another entry. If `relation` is not `None`, removes only the links with this relation.
    /// Returns the number of removed links.
    pub fn remove_link(&mut self, to: &str, relation: Option<&str>) -> usize {
        let mut links = self.link_values().to_vec();
        let before = links.len();
        let is_removed = |link: Link<'_>| link.to == to && relation.is_none_or(|relation| link.relation == relation);
        links.retain(|value| !Link::from_value(value).is_some_and(is_removed));
        let removed = before - links.len();
        if removed > 0 {
            let value = (!links.is_empty()).then_some(Value::Array(links));
            self.set(SECTION, LINKS, value);
        }
        removed
    }

    fn link_values(&self) -> &[Value] {
        self.field(SECTION, LINKS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Replaces the weight of a link, and preserves all other fields.
fn with_weight(link: &Value, weight: f64) -> Value {
    let mut link = link.as_object().cloned().unwrap_or_default();
    link.insert("weight".to_owned(), Value::from(weight));
    Value::Object(link)
}

#[cfg(test)]
mod tests {
    use crate::{Entry, Link};

    fn entry() -> Entry {
        let text =
            r#"{"id": "note:a", "type": "note", "content": {"text": "a"}, "metadata": {"links": [{"to": "know:b"}]}}"#;
        Entry::from_stored(text).unwrap()
    }

    #[test]
    fn links_are_added_changed_and_removed() {
        let mut entry = entry();
        assert_eq!(entry.links(), [Link { to: "know:b", relation: "related", weight: 1.0 }]);
        assert_eq!(entry.add_link("know:b", "related", 1.0), Ok(false));
        assert_eq!(entry.add_link("know:b", "related", 0.5), Ok(true));
        assert_eq!(entry.add_link("know:b", "supersedes", 1.0), Ok(true));
        assert_eq!(entry.links().iter().map(|link| link.weight).collect::<Vec<_>>(), [0.5, 1.0]);
        assert_eq!(entry.remove_link("know:b", Some("other")), 0);
        assert_eq!(entry.remove_link("know:b", Some("related")), 1);
        assert_eq!(entry.remove_link("know:b", None), 1);
        assert!(entry.links().is_empty() && !entry.document().contains_key("metadata"));
    }

    #[test]
    fn secrets_in_links_are_masked() {
        let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
        let mut entry = entry();
        let to = format!("know:{token}");
        assert_eq!(entry.add_link(&to, &token, 1.0), Ok(true));
        assert_eq!(entry.add_link(&to, &token, 1.0), Ok(false));
        let document = serde_json::to_string(&entry).unwrap();
        assert_eq!(entry.links().len(), 2);
        assert!(document.contains("ghp_") && !document.contains(&token[4..]), "{document}");
    }

    #[test]
    fn invalid_links_are_rejected() {
        let mut entry = entry();
        let mut check = |to: &str, relation: &str, weight: f64, expected: &str| {
            assert_eq!(entry.add_link(to, relation, weight).unwrap_err().to_string(), expected);
        };
        check("b", "related", 1.0, "the id must be an id such as `know:stripe-api`, not \"b\"");
        check("", "related", 1.0, "the id must not be empty");
        check("note:a", "related", 1.0, "an entry cannot be linked with itself");
        check("know:b", "\n", 1.0, "\"\\n\" must be a string of 1 to 128 bytes without control characters");
        check("know:b", "related", f64::NAN, "the weight of a link must be a number from 0 to 1, not NaN");
        assert_eq!(entry.links().len(), 1);
    }
}
