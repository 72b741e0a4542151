//! Entries of the configuration reference, which is part of the documentation. The type that reads a key also declares
//! the reference entry of the key.

use serde::Serialize;
use serde_json::{Map, Value};

/// One key of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Name of the key in its table.
    pub name: &'static str,
    /// Type of the values.
    pub value: ValueType,
    /// Unit of a number, such as `lines`; empty if the value has no unit.
    pub unit: &'static str,
    /// Description of the key.
    pub meaning: &'static str,
    /// Measured effect of other values; empty if the effect was not measured.
    pub effect: &'static str,
    /// Description of the default if it is not a constant; otherwise empty.
    pub computed: &'static str,
}

/// The type of the values of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// `true` or `false`.
    Bool,
    /// A whole number from `least` to `most`.
    Count {
        /// The smallest value.
        least: u64,
        /// The largest value; `None` means no upper limit.
        most: Option<u64>,
    },
    /// A number of bytes, or a string with a unit such as `"512MiB"`.
    Size,
    /// A string.
    String,
    /// A list of strings.
    Strings,
    /// A table.
    Table,
    /// One of the given strings.
    OneOf(&'static [&'static str]),
}

impl Key {
    const fn new(name: &'static str, value: ValueType, unit: &'static str, meaning: &'static str) -> Self {
        Self { name, value, unit, meaning, effect: "", computed: "" }
    }

    /// A key with a Boolean value.
    pub const fn bool(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Bool, "", meaning)
    }

    /// A key whose value is any whole number.
    pub const fn count(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 0, most: None }, unit, meaning)
    }

    /// A key whose value is a whole number of at least 1.
    pub const fn count_up(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 1, most: None }, unit, meaning)
    }

    /// A key whose value is a whole number from 1 to `most`.
    pub const fn count_up_to(name: &'static str, most: usize, unit: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Count { least: 1, most: Some(most as u64) }, unit, meaning)
    }

    /// A key whose value is a size, optionally with a unit.
    pub const fn size(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Size, "bytes", meaning)
    }

    /// A key whose value is a string.
    pub const fn string(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::String, "", meaning)
    }

    /// A key whose value is a list of strings.
    pub const fn strings(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Strings, "", meaning)
    }

    /// A key whose value is a table.
    pub const fn table(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ValueType::Table, "", meaning)
    }

    /// A key whose value is one of `words`.
    pub const fn one_of(name: &'static str, words: &'static [&'static str], meaning: &'static str) -> Self {
        Self::new(name, ValueType::OneOf(words), "", meaning)
    }

    /// Sets the description of the measured effect of other values.
    #[must_use]
    pub const fn effect(mut self, effect: &'static str) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the description of a default that is not a constant.
    #[must_use]
    pub const fn computed(mut self, computed: &'static str) -> Self {
        self.computed = computed;
        self
    }
}

/// A configuration type that describes its keys for the reference and the schema. Its implementation of [`Default`]
/// defines the default values.
pub trait Described: Default + Serialize {
    /// Description of the table as a whole, in one or two sentences.
    const SUMMARY: &'static str;
    /// The entries of all keys.
    const KEYS: &'static [Key];
}

/// Declares the configuration of a stage type: a struct that implements [`Default`] and [`Described`]. The
/// documentation of the struct becomes [`Described::SUMMARY`]. Each field becomes a [`Key`], and the documentation of
/// the field becomes the meaning of the key. The default of a field is followed by the name of the constructor of its
/// key.
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
    /// Name of the table; for a stage, its type.
    pub name: &'static str,
    /// Description of the table.
    pub summary: &'static str,
    /// The entries of the keys.
    pub keys: &'static [Key],
    /// Default values by key.
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

    /// The default value of a key; `None` if the default is not a constant.
    pub fn default_of(&self, key: &Key) -> Option<&Value> {
        self.defaults.get(key.name).filter(|value| !value.is_null() && key.computed.is_empty())
    }
}
