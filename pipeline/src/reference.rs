//! What the reference of the configuration says about each key: a row beside the type that reads it.

use serde::Serialize;
use serde_json::{Map, Value};

/// One key of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name within its table.
    pub name: &'static str,
    /// What values it takes.
    pub value: ValueType,
    /// Unit of a number, such as `lines`; empty where there is none.
    pub unit: &'static str,
    /// What the key does.
    pub meaning: &'static str,
    /// What was measured with other values; empty where nothing was.
    pub effect: &'static str,
    /// How the default is found where it is not a constant; else empty.
    pub computed: &'static str,
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// `true` or `false`.
    Bool,
    /// A whole number from `least` to `most`; `None` where there is no upper bound.
    Count {
        /// The smallest value.
        least: u64,
        /// The largest value.
        most: Option<u64>,
    },
    /// A number of bytes, plain or as a string with a unit: `"512MiB"`.
    Size,
    /// A string.
    String,
    /// A list of strings.
    Strings,
    /// A table.
    Table,
    /// One of a few strings.
    OneOf(&'static [&'static str]),
}

impl Key {
    const fn new(name: &'static str, value: ValueType, unit: &'static str, meaning: &'static str) -> Self {
        Self { name, value, unit, meaning, effect: "", computed: "" }
    }

    /// A switch.
    pub const fn bool(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Bool, "", meaning)
    }

    /// A whole number without bounds.
    pub const fn count(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 0, most: None }, unit, meaning)
    }

    /// A whole number from 1, without an upper bound.
    pub const fn count_up(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 1, most: None }, unit, meaning)
    }

    /// A whole number from 1 to `most`.
    pub const fn count_up_to(name: &'static str, most: usize, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 1, most: Some(most as u64) }, unit, meaning)
    }

    /// A size that may be written with a unit.
    pub const fn size(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Size, "bytes", meaning)
    }

    /// A string.
    pub const fn string(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::String, "", meaning)
    }

    /// A list of strings.
    pub const fn strings(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Strings, "", meaning)
    }

    /// A table.
    pub const fn table(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Table, "", meaning)
    }

    /// One of a few words.
    pub const fn one_of(name: &'static str, words: &'static [&'static str], meaning: &'static str) -> Self {
        Self::new(name, ValueType::OneOf(words), "", meaning)
    }

    /// Adds what was measured with other values.
    #[must_use]
    pub const fn effect(mut self, effect: &'static str) -> Self {
        self.effect = effect;
        self
    }

    /// Says how a default is found that is not a constant.
    #[must_use]
    pub const fn computed(mut self, computed: &'static str) -> Self {
        self.computed = computed;
        self
    }
}

/// A configuration that describes its keys, so that the reference and the schema can list them. Defaults are not
/// described: they are read from [`Default`].
pub trait Described: Default + Serialize {
    /// What the table as a whole configures, in one or two sentences.
    const SUMMARY: &'static str;
    /// A row for every key.
    const KEYS: &'static [Key];
}

/// What the reference says about one table.
#[derive(Clone, Debug)]
pub struct TableReference {
    /// The table's name; for a stage, its type.
    pub name: &'static str,
    /// What the table configures.
    pub summary: &'static str,
    /// Its keys, described.
    pub keys: &'static [Key],
    /// The value of every key in the default configuration.
    pub defaults: Map<String, Value>,
}

impl TableReference {
    pub(crate) fn of<C: Described>(name: &'static str) -> Self {
        let defaults = match serde_json::to_value(C::default()) {
            Ok(Value::Object(defaults)) => defaults,
            // A configuration that is not a table has no keys; a test of the reference says so.
            _ => Map::new(),
        };
        Self { name, summary: C::SUMMARY, keys: C::KEYS, defaults }
    }

    /// The default of a key: `None` where it is not a constant.
    pub fn default_of(&self, key: &Key) -> Option<&Value> {
        self.defaults.get(key.name).filter(|value| !value.is_null() && key.computed.is_empty())
    }
}
