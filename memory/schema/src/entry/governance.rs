//! The tags and retention rules of an entry.

use serde_json::Value;

use super::{EditError, Entry, checked_label};
use crate::field::LIFESPAN_POLICIES;
use crate::limit::LIST_VALUES;

const SECTION: &str = "governance";
const TAGS: &str = "compliance_tags";

impl Entry {
    /// Returns `governance.compliance_tags`.
    pub fn tags(&self) -> Vec<&str> {
        self.texts(SECTION, TAGS)
    }

    /// Returns `governance.lifespan_policy`: `conditional`, `time-based` or `indefinite`.
    pub fn lifespan_policy(&self) -> Option<&str> {
        self.text(SECTION, "lifespan_policy").filter(|name| LIFESPAN_POLICIES.contains(name))
    }

    /// Returns the conditions and actions of `governance.retention_rules`, in the order of the document.
    pub fn retention_rules(&self) -> Vec<(&str, &str)> {
        let rules = self.field(SECTION, "retention_rules").and_then(Value::as_array);
        rules
            .into_iter()
            .flatten()
            .filter_map(|rule| Some((rule.get("if")?.as_str()?, rule.get("then")?.as_str()?)))
            .collect()
    }

    /// Removes and adds tags. Secrets in the added tags are masked. A tag in both lists is not removed. Returns `true`
    /// if the tags have changed.
    ///
    /// # Errors
    /// Returns [`EditError::Label`] if an added tag is invalid, and [`EditError::TooMany`] if there would be too many
    /// tags. After an error, the entry is unchanged.
    pub fn set_tags(&mut self, add: &[&str], remove: &[&str]) -> Result<bool, EditError> {
        let add: Vec<String> = add.iter().map(|tag| checked_label(tag)).collect::<Result<_, _>>()?;
        let add: Vec<&str> = add.iter().map(String::as_str).collect();
        let before = self.tags();
        let mut tags: Vec<&str> =
            before.iter().filter(|tag| !remove.contains(tag) || add.contains(tag)).copied().collect();
        for tag in add {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        if tags.len() > LIST_VALUES {
            return Err(EditError::TooMany("tags"));
        }
        if tags == before {
            return Ok(false);
        }
        let value = (!tags.is_empty()).then(|| Value::from(tags));
        self.set(SECTION, TAGS, value);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::{EditError, Entry};

    fn entry(governance: &str) -> Entry {
        let text =
            format!(r#"{{"id": "note:a", "type": "note", "content": {{"text": "a"}}, "governance": {governance}}}"#);
        Entry::from_stored(&text).unwrap()
    }

    #[test]
    fn tags_are_added_and_removed() {
        let check = |add: &[&str], remove: &[&str], expected: &[&str], is_changed: bool| {
            let mut entry = entry(r#"{"compliance_tags": ["a", "b"]}"#);
            assert_eq!(entry.set_tags(add, remove), Ok(is_changed));
            assert_eq!(entry.tags(), expected);
        };
        check(&["c", "a", "c"], &["b", "z"], &["a", "c"], true);
        check(&["a"], &["a"], &["a", "b"], false);
        check(&[], &[], &["a", "b"], false);
        check(&[], &["a", "b"], &[], true);
        let mut empty = entry(r#"{"compliance_tags": ["a"]}"#);
        assert_eq!(empty.set_tags(&[], &["a"]), Ok(true));
        assert!(!empty.document().contains_key("governance"));
    }

    #[test]
    fn a_secret_in_a_tag_is_masked() {
        let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
        let mut entry = entry("{}");
        assert_eq!(entry.set_tags(&[&token, "a"], &[]), Ok(true));
        let masked = aurora_redact::masked(token.clone());
        assert_ne!(masked, token);
        assert_eq!(entry.tags(), [masked.as_str(), "a"]);
        assert_eq!(entry.set_tags(&[&token], &[]), Ok(false));
    }

    #[test]
    fn invalid_tags_are_rejected_and_change_nothing() {
        let mut entry = entry("{}");
        assert_eq!(entry.set_tags(&["ok", " "], &[]), Err(EditError::Label("\" \"".to_owned())));
        let many: Vec<String> = (0..257).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(entry.set_tags(&many, &[]).unwrap_err().to_string(), "an entry has at most 256 tags");
        assert!(entry.tags().is_empty());
    }
}
