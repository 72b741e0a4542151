//! The reference of the configuration: an entry for each key, next to the type that reads the key.

use serde::Serialize;
use serde_json::{Map, Value};

/// One key of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Name within its table.
    pub name: &'static str,
    /// Type of the values.
    pub value: ValueType,
    /// Unit of a number, such as `lines`; empty if the value has no unit.
    pub unit: &'static str,
    /// Description of the key.
    pub meaning: &'static str,
    /// Measured effect of other values; empty if it was not measured.
    pub effect: &'static str,
    /// Description of a default that is not a constant; otherwise empty.
    pub computed: &'static str,
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// `true` or `false`.
    Bool,
    /// A whole number from `least` to `most`; `None` means no upper bound.
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

    /// Adds the measured effect of other values.
    #[must_use]
    pub const fn effect(mut self, effect: &'static str) -> Self {
        self.effect = effect;
        self
    }

    /// Describes a default that is not a constant.
    #[must_use]
    pub const fn computed(mut self, computed: &'static str) -> Self {
        self.computed = computed;
        self
    }
}

/// A configuration that describes its keys, so that the reference and the schema can list them. The defaults come from
/// [`Default`].
pub trait Described: Default + Serialize {
    /// Description of the table as a whole, in one or two sentences.
    const SUMMARY: &'static str;
    /// An entry for every key.
    const KEYS: &'static [Key];
}

/// Declares the configuration of a stage type: a struct with its defaults, which [`Described`] describes. The
/// documentation of the struct is the summary. A field is a key: its documentation is the meaning of the key, and the
/// constructor of the [`Key`] follows its default.
#[macro_export]
macro_rules! stage_options {
    (
        $(#[doc = $summary:literal])+
        $(#[derive($($derived:ident),+)])?
        pub struct $name:ident {$(
            $(#[doc = $meaning:literal])+
            $(#[effect = $effect:literal])?
            $field:ident: $type:ty = $default:expr, $key:ident $(($($argument:expr),+))?;
        )*}
    ) => {
        $(#[doc = $summary])+
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize $($(, $derived)+)?)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {$(
            $(#[doc = $meaning])+
            pub $field: $type,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self {$($field: $default),*}
            }
        }

        impl $crate::Described for $name {
            const SUMMARY: &'static str = concat!($($summary),+).trim_ascii_start();
            const KEYS: &'static [$crate::Key] = &[$(
                $crate::Key::$key(
                    stringify!($field),
                    $($($argument,)+)?
                    concat!($($meaning),+).trim_ascii_start(),
                )
                $(.effect($effect))?
            ),*];
        }
    };
}

/// The reference entry of one table.
#[derive(Clone, Debug)]
pub struct TableReference {
    /// The table's name; for a stage, its type.
    pub name: &'static str,
    /// Description of the table.
    pub summary: &'static str,
    /// Descriptions of its keys.
    pub keys: &'static [Key],
    /// The value of every key in the default configuration.
    pub defaults: Map<String, Value>,
}

impl TableReference {
    pub(crate) fn new<C: Described>(name: &'static str) -> Self {
        let defaults = match serde_json::to_value(C::default()) {
            Ok(Value::Object(defaults)) => defaults,
            // A configuration that is not a table has no keys. A test of the reference detects this mistake.
            _ => Map::new(),
        };
        Self { name, summary: C::SUMMARY, keys: C::KEYS, defaults }
    }

    /// The default of a key; `None` if it is not a constant.
    pub fn default_of(&self, key: &Key) -> Option<&Value> {
        self.defaults.get(key.name).filter(|value| !value.is_null() && key.computed.is_empty())
    }
}
