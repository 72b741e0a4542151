//! A JSON value together with its place in the text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value: its text, and its path from the root.
#[derive(Debug, Clone)]
pub(super) struct Value<'t> {
    pub(super) raw: &'t str,
    /// The path of the value, such as `phases[2].name`; empty for the root.
    pub(super) place: String,
}

/// The type of a value.
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
    /// Returns the name of the type with its article.
    pub(super) fn with_article(self) -> &'static str {
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
    /// Creates the root value of a text, which must be valid JSON.
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

    /// Returns the byte offset of the value in `text`, which must contain it.
    pub(super) fn offset_in(&self, text: &str) -> usize {
        (self.raw.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
    }

    /// Returns the members of an object in order, including repeated keys; `None` if a key contains an unpaired surrogate
    /// escape.
    pub(super) fn members(&self) -> Option<Vec<(String, Value<'t>)>> {
        let members: Members<'t> = serde_json::from_str(self.raw).ok()?;
        let value = |(key, raw): (String, &'t RawValue)| {
            let shown = display_key(&key);
            let place = if self.place.is_empty() { shown } else { format!("{}.{shown}", self.place) };
            (key, Value { raw: raw.get(), place })
        };
        Some(members.0.into_iter().map(value).collect())
    }

    /// Returns the items of a list.
    pub(super) fn items(&self) -> Vec<Value<'t>> {
        // The text is valid JSON, so parsing a list does not fail.
        let items: Vec<&'t RawValue> = serde_json::from_str(self.raw).unwrap_or_default();
        let value = |(at, raw): (usize, &'t RawValue)| Value { raw: raw.get(), place: format!("{}[{at}]", self.place) };
        items.into_iter().enumerate().map(value).collect()
    }

    /// Returns the content of a string; `None` if it contains an unpaired surrogate escape.
    pub(super) fn text(&self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }
}

/// Formats a key for a message: on one line, and shortened.
fn display_key(key: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shown: String = key.chars().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    if key.chars().nth(MAX_CHARS).is_some() {
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
