//! A value of a JSON text that knows its place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value: its text, and how to get to it from the whole.
#[derive(Debug, Clone)]
pub(super) struct Value<'t> {
    pub(super) raw: &'t str,
    /// `phases[2].name`; empty for the whole.
    pub(super) place: String,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    Text,
    Number,
    Bool,
    Null,
}

impl Kind {
    /// The kind with its article.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}

impl<'t> Value<'t> {
    /// A whole text, which is valid JSON.
    pub(super) fn whole(text: &'t str) -> Self {
        Self { raw: text.trim_ascii(), place: String::new() }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.raw.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::List,
            Some(b'"') => Kind::Text,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The offset of the value in the text that it is a part of.
    pub(super) fn offset_in(&self, text: &str) -> usize {
        (self.raw.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
    }

    /// The keys of an object with their values, in order, with those that are given twice; `None` where a key holds an
    /// escape that stands for half a character.
    pub(super) fn members(&self) -> Option<Vec<(String, Value<'t>)>> {
        let members: Members<'t> = serde_json::from_str(self.raw).ok()?;
        let value = |(key, raw): (String, &'t RawValue)| {
            let shown = shown(&key);
            let place = if self.place.is_empty() { shown } else { format!("{}.{shown}", self.place) };
            (key, Value { raw: raw.get(), place })
        };
        Some(members.0.into_iter().map(value).collect())
    }

    /// The values of a list.
    pub(super) fn items(&self) -> Vec<Value<'t>> {
        // The text is valid, so that a list is one.
        let items: Vec<&'t RawValue> = serde_json::from_str(self.raw).unwrap_or_default();
        let value = |(at, raw): (usize, &'t RawValue)| Value { raw: raw.get(), place: format!("{}[{at}]", self.place) };
        items.into_iter().enumerate().map(value).collect()
    }

    /// The text of a string; `None` where an escape stands for half a character.
    pub(super) fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }
}

/// A key as messages show it: in one line, and cut.
fn shown(key: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = key.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if key.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Collect).map(Self)
    }
}
