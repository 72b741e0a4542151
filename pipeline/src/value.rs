//! Values as custom stages receive them: single cells of a column, independent of the column's Rust type.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The type of a column's values as custom stages receive them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum DynamicType {
    /// UTF-8 text.
    String,
    /// A signed 64-bit integer.
    Integer,
    /// A 64-bit float.
    Float,
    /// True or false.
    Bool,
    /// A list of strings.
    Strings,
    /// A list of 32-bit floats. Only built-in columns have this type.
    Vector,
    /// Structured data as JSON. Only built-in columns have this type.
    Json,
}

impl DynamicType {
    /// The types that a custom column may have.
    pub const CUSTOM: [Self; 5] = [Self::String, Self::Integer, Self::Float, Self::Bool, Self::Strings];

    /// The name of the type in configurations and messages.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An owned value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// A 64-bit float.
    Float(f64),
    /// UTF-8 text.
    String(String),
    /// A list of strings.
    Strings(Vec<String>),
    /// A list of 32-bit floats.
    Vector(Vec<f32>),
    /// Structured data.
    Json(serde_json::Value),
}

impl Value {
    /// The type of this value.
    pub fn dynamic_type(&self) -> DynamicType {
        self.borrowed().dynamic_type()
    }

    /// Borrows the value without copying it.
    pub fn borrowed(&self) -> ValueRef<'_> {
        match self {
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Float(value) => ValueRef::Float(*value),
            Self::String(value) => ValueRef::String(Cow::Borrowed(value)),
            Self::Strings(value) => ValueRef::Strings(Cow::Borrowed(value)),
            Self::Vector(value) => ValueRef::Vector(value),
            Self::Json(value) => ValueRef::Json(Cow::Borrowed(value)),
        }
    }
}

/// A value that is borrowed from its column if the column stores it in this representation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ValueRef<'a> {
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// A 64-bit float.
    Float(f64),
    /// UTF-8 text.
    String(Cow<'a, str>),
    /// A list of strings.
    Strings(Cow<'a, [String]>),
    /// A list of 32-bit floats.
    Vector(&'a [f32]),
    /// Structured data.
    Json(Cow<'a, serde_json::Value>),
}

impl ValueRef<'_> {
    /// The type of this value.
    pub fn dynamic_type(&self) -> DynamicType {
        match self {
            Self::String(_) => DynamicType::String,
            Self::Integer(_) => DynamicType::Integer,
            Self::Float(_) => DynamicType::Float,
            Self::Bool(_) => DynamicType::Bool,
            Self::Strings(_) => DynamicType::Strings,
            Self::Vector(_) => DynamicType::Vector,
            Self::Json(_) => DynamicType::Json,
        }
    }

    /// Converts the value to an owned one.
    pub fn into_owned(self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(value),
            Self::Integer(value) => Value::Integer(value),
            Self::Float(value) => Value::Float(value),
            Self::String(value) => Value::String(value.into_owned()),
            Self::Strings(value) => Value::Strings(value.into_owned()),
            Self::Vector(value) => Value::Vector(value.to_vec()),
            Self::Json(value) => Value::Json(value.into_owned()),
        }
    }
}

impl<'a> From<&'a str> for ValueRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a [String]> for ValueRef<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::Strings(Cow::Borrowed(texts))
    }
}
