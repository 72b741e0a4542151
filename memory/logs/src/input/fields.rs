//! The fields of an interaction and their rules.

use std::collections::HashSet;

use aurora_suggest::did_you_mean;
use jiff::Timestamp;

use super::mistake::{Finding, Mistakes};
use super::value::{Kind, Value};
use crate::heading::{TITLE_RULE, is_title};
use crate::interaction::{Interaction, JsonText, Phase, Sections};
use crate::query_id::QueryId;
use crate::rfc_3339::rfc_3339;

const SECTIONS: [&str; 4] = ["phases", "interactions", "response", "summary"];
const INTERACTION: [&str; 7] = ["query", "id", "timestamp", "phases", "interactions", "response", "summary"];
const PHASE: [&str; 4] = ["number", "name", "text", "output"];
/// String fields of an exchange. Other keys are allowed and can have any value.
const EXCHANGE: [&str; 4] = ["agent", "user", "question", "answer"];
const MAX_PHASE_NUMBER: u32 = 999;

/// Reads the fields of one text and collects mistakes.
pub(super) struct Reading<'t> {
    text: &'t str,
    findings: Vec<Finding>,
}

/// The members of an object.
type Members<'t> = Vec<(String, Value<'t>)>;

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, findings: Vec::new() }
    }

    /// Returns the value that was read, or the mistakes.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, Mistakes> {
        match read {
            Some(read) if self.findings.is_empty() => Ok(read),
            _ => Err(Mistakes::new(self.text, self.findings)),
        }
    }

    /// Returns `None` only after recording a mistake.
    pub(super) fn interaction(&mut self, whole: &Value<'t>) -> Option<Interaction> {
        let members = self.object(whole, &INTERACTION)?;
        let query = self.required(whole, &members, "query").and_then(|value| self.non_empty_text(value));
        let id = non_null(&members, "id").map(|value| self.id(value));
        let time = non_null(&members, "timestamp").map(|value| self.time(value));
        self.required(whole, &members, "phases");
        let sections = self.sections(&members);
        Some(Interaction { query: query?, id: id.flatten(), time: time.flatten(), sections })
    }

    /// Returns `None` only after recording a mistake.
    pub(super) fn additions(&mut self, whole: &Value<'t>) -> Option<Sections> {
        let members = self.object(whole, &SECTIONS)?;
        let sections = self.sections(&members);
        if sections.is_empty() && self.findings.is_empty() {
            self.mistake(whole, format!("adds nothing: give at least one of {}", quoted_list(&SECTIONS)));
        }
        Some(sections)
    }

    fn sections(&mut self, members: &Members<'t>) -> Sections {
        let phases = non_null(members, "phases").map(|value| self.phases(value));
        let exchanges = non_null(members, "interactions").and_then(|value| self.exchanges(value));
        let response = non_null(members, "response").and_then(|value| self.text(value));
        let summary = non_null(members, "summary").map(|value| self.summary(value));
        Sections { phases: phases.unwrap_or_default(), exchanges, response, summary: summary.unwrap_or_default() }
    }

    fn phases(&mut self, list: &Value<'t>) -> Vec<Phase> {
        let Some(items) = self.list(list) else { return Vec::new() };
        items.iter().filter_map(|item| self.phase(item)).collect()
    }

    fn phase(&mut self, value: &Value<'t>) -> Option<Phase> {
        let members = self.object(value, &PHASE)?;
        let number = non_null(&members, "number").and_then(|value| self.phase_number(value));
        let name = self.required(value, &members, "name").and_then(|value| self.phase_name(value));
        let text = non_null(&members, "text").and_then(|value| self.text(value));
        // Unlike for other keys, `null` counts as a value here.
        let output = members.iter().find(|(key, _)| key == "output").map(|(_, value)| JsonText::new(value.raw));
        if output.is_none() {
            self.mistake(value, "must have the key `output`; use `null` for a phase without output".to_owned());
        }
        Some(Phase { number, name: name?, text, output: output? })
    }

    fn phase_number(&mut self, value: &Value<'t>) -> Option<u32> {
        let number = value.raw.parse().ok().filter(|number| (1..=MAX_PHASE_NUMBER).contains(number));
        if number.is_none() {
            self.refuse(value, &format!("a whole number from 1 to {MAX_PHASE_NUMBER}"));
        }
        number
    }

    /// Reads a name that can be read back unchanged from its heading.
    fn phase_name(&mut self, value: &Value<'t>) -> Option<String> {
        let name = self.text(value)?;
        let name = name.trim();
        if !is_title(name) {
            self.refuse(value, TITLE_RULE);
        }
        is_title(name).then(|| name.to_owned())
    }

    fn exchanges(&mut self, list: &Value<'t>) -> Option<JsonText> {
        let items = self.list(list)?;
        for item in &items {
            let Some(members) = self.any_object(item) else { continue };
            for (key, value) in &members {
                if EXCHANGE.contains(&key.as_str()) && value.kind() != Kind::Null {
                    self.text(value);
                }
            }
            let has = |key: &str| non_null(&members, key).is_some();
            let is_exchange = has("agent") && has("user") || (has("question") || has("user")) && has("answer");
            if !is_exchange {
                let rule = "must have `agent` and `user`, or `question` and `answer`";
                self.mistake(item, rule.to_owned());
            }
        }
        (!items.is_empty()).then(|| JsonText::new(list.raw))
    }

    fn summary(&mut self, value: &Value<'t>) -> Vec<(String, JsonText)> {
        let Some(members) = self.any_object(value) else { return Vec::new() };
        for (key, value) in &members {
            let number = value.raw.parse::<f64>().ok().filter(|_| value.kind() == Kind::Number);
            let rule = match key.as_str() {
                _ if value.kind() == Kind::Null => None,
                "duration_ms" | "cost_usd" => {
                    number.is_none_or(|number| number < 0.0).then_some("a number that is not negative")
                }
                "verification_score" => {
                    number.is_none_or(|number| !(0.0..=1.0).contains(&number)).then_some("a number from 0 to 1")
                }
                "complexity" => (value.kind() != Kind::Text).then_some("a string"),
                "tokens" => {
                    let is_count = number.is_some_and(|number| number >= 0.0) || value.kind() == Kind::Object;
                    (!is_count).then_some("a number that is not negative, or an object")
                }
                _ => None,
            };
            if let Some(rule) = rule {
                self.refuse(value, rule);
            }
        }
        let figures = members.into_iter().filter(|(_, value)| value.kind() != Kind::Null);
        figures.map(|(key, value)| (key, JsonText::new(value.raw))).collect()
    }

    fn id(&mut self, value: &Value<'t>) -> Option<QueryId> {
        let text = self.text(value)?;
        let id = QueryId::parse(&text);
        if let Err(error) = &id {
            self.mistake(value, error.to_string());
        }
        id.ok()
    }

    fn time(&mut self, value: &Value<'t>) -> Option<Timestamp> {
        let text = self.text(value)?;
        let time = rfc_3339(&text);
        if time.is_none() {
            let rule = "must be a time with an offset as in RFC 3339, from 1970 to 9999, such as 2025-12-13T14:32:15Z";
            self.mistake(value, rule.to_owned());
        }
        time
    }

    fn non_empty_text(&mut self, value: &Value<'t>) -> Option<String> {
        let text = self.text(value)?;
        if text.trim().is_empty() {
            self.mistake(value, "must not be empty".to_owned());
        }
        Some(text).filter(|text| !text.trim().is_empty())
    }

    fn text(&mut self, value: &Value<'t>) -> Option<String> {
        if value.kind() != Kind::Text {
            self.refuse(value, "a string");
            return None;
        }
        let text = value.text();
        if text.is_none() {
            self.mistake(value, "has an unpaired surrogate escape".to_owned());
        }
        text
    }

    fn list(&mut self, value: &Value<'t>) -> Option<Vec<Value<'t>>> {
        if value.kind() != Kind::List {
            self.refuse(value, "a list");
            return None;
        }
        Some(value.items())
    }

    /// Returns the members of an object and reports keys that are not in `known`.
    fn object(&mut self, value: &Value<'t>, known: &[&str]) -> Option<Members<'t>> {
        let members = self.any_object(value)?;
        for (key, member) in &members {
            if !known.contains(&key.as_str()) {
                let help = match did_you_mean(key, known.iter().copied()) {
                    Some(help) => help,
                    None => format!("known keys are {}", quoted_list(known)),
                };
                self.mistake(member, format!("is not a known key; {help}"));
            }
        }
        Some(members)
    }

    fn any_object(&mut self, value: &Value<'t>) -> Option<Members<'t>> {
        if value.kind() != Kind::Object {
            self.refuse(value, "an object");
            return None;
        }
        let Some(members) = value.members() else {
            self.mistake(value, "has a key with an unpaired surrogate escape".to_owned());
            return None;
        };
        let mut seen = HashSet::new();
        for (key, member) in &members {
            if !seen.insert(key) {
                self.mistake(member, "is given twice".to_owned());
            }
        }
        Some(members)
    }

    fn required<'m>(&mut self, object: &Value<'t>, members: &'m Members<'t>, key: &str) -> Option<&'m Value<'t>> {
        let found = non_null(members, key);
        if found.is_none() {
            self.mistake(object, format!("must have the key `{key}`"));
        }
        found
    }

    /// Reports a value of the wrong type or out of range.
    fn refuse(&mut self, value: &Value<'t>, expected: &str) {
        let found = match value.kind() {
            kind @ (Kind::Object | Kind::List | Kind::Null) => kind.with_article().to_owned(),
            kind if value.raw.len() > 60 => kind.with_article().to_owned(),
            _ => value.raw.to_owned(),
        };
        self.mistake(value, format!("must be {expected}, not {found}"));
    }

    fn mistake(&mut self, value: &Value<'t>, cause: String) {
        let cause = if value.place.is_empty() { format!("the JSON {cause}") } else { cause };
        self.findings.push(Finding { offset: value.offset_in(self.text), place: value.place.clone(), cause });
    }
}

/// Returns the value of a key, unless it is `null`.
fn non_null<'m, 't>(members: &'m Members<'t>, key: &str) -> Option<&'m Value<'t>> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value).filter(|value| value.kind() != Kind::Null)
}

fn quoted_list(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}
