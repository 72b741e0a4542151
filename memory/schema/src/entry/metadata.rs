//! The score, creation time, keywords, role and domain of an entry.

use serde_json::Value;

use super::Entry;
use crate::kind::Kind;
use crate::time;
use crate::verdict::Verdict;

const SECTION: &str = "metadata";

/// The fields of `metadata` that can contain the creation time. The first field that exists is used.
const CREATED: [&str; 3] = ["created", "timestamp", "acquired"];

impl Entry {
    /// Returns the score, from 0 to 1. It is `content.success_score` of reasoning, and `content.confidence` of
    /// knowledge. Returns `None` for other kinds.
    pub fn score(&self) -> Option<f64> {
        let field = match self.kind {
            Kind::Reasoning => "success_score",
            Kind::Knowledge => "confidence",
            Kind::Note | Kind::Turn | Kind::Code => return None,
        };
        self.field("content", field)?.as_f64()
    }

    /// Returns `true` if the score is high enough for a pattern; see [`Verdict`].
    pub fn is_pattern(&self) -> bool {
        Verdict::from_score(self.score()).is_pattern()
    }

    /// Returns the creation time in Unix seconds, from `metadata.created`, `metadata.timestamp` or `metadata.acquired`.
    pub fn created(&self) -> Option<i64> {
        CREATED.iter().find_map(|field| self.text(SECTION, field)).and_then(time::unix_seconds)
    }

    /// Returns `metadata.semantic_role`.
    pub fn semantic_role(&self) -> Option<&str> {
        self.text(SECTION, "semantic_role")
    }

    /// Returns `metadata.keywords`.
    pub fn keywords(&self) -> Vec<&str> {
        self.texts(SECTION, "keywords")
    }

    /// Returns `metadata.domain`.
    pub fn domain(&self) -> Option<&str> {
        self.text(SECTION, "domain")
    }

    /// Returns `metadata.derived`, which contains the names of the derived fields of `metadata`.
    pub fn derived(&self) -> Vec<&str> {
        self.texts(SECTION, "derived")
    }

    /// Sets a field of `metadata`, and adds its name to `metadata.derived`.
    pub(crate) fn set_derived(&mut self, field: &str, value: Value) {
        let mut derived: Vec<String> = self.derived().into_iter().map(str::to_owned).collect();
        if !derived.iter().any(|name| name == field) {
            derived.push(field.to_owned());
        }
        self.set(SECTION, field, Some(value));
        self.set(SECTION, "derived", Some(Value::from(derived)));
    }

    /// Returns `true` if `metadata` has the field.
    pub(crate) fn has_metadata(&self, field: &str) -> bool {
        self.field(SECTION, field).is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::Entry;

    #[test]
    fn the_first_existing_time_field_is_used() {
        let check = |metadata: &str, expected: Option<i64>| {
            let text = format!(r#"{{"id": "note:a", "type": "note", "content": {{}}, "metadata": {metadata}}}"#);
            assert_eq!(Entry::from_stored(&text).unwrap().created(), expected, "{metadata}");
        };
        check(r#"{"acquired": "1970-01-03", "timestamp": "1970-01-02T00:00:01Z"}"#, Some(86_401));
        check(r#"{"created": "1970-01-01", "timestamp": "1970-01-02"}"#, Some(0));
        check(r#"{"created": 5}"#, None);
        check("[]", None);
    }
}
