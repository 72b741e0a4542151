//! The types whose values a column can hold.

use std::borrow::Cow;
use std::sync::Arc;

use crate::value::{Value, ValueRef};

/// A type whose values a column can hold.
///
/// Both methods have defaults. A type that owns heap memory should implement [`Cell::heap_bytes`], because the memory
/// budget counts these bytes.
pub trait Cell: Clone + Send + Sync + 'static {
    /// Number of heap bytes that the value owns. Shared memory counts for every owner.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// The value that custom stages receive; `None` if the type cannot be passed to them or the cell is empty.
    fn value(&self) -> Option<ValueRef<'_>> {
        None
    }
}

macro_rules! plain_cells {
    ($($cell:ty => |$value:ident| $form:expr;)*) => {$(
        impl Cell for $cell {
            fn value(&self) -> Option<ValueRef<'_>> {
                let $value = self;
                $form
            }
        }
    )*};
}

plain_cells! {
    bool => |v| Some(ValueRef::Bool(*v));
    u8 => |v| Some(ValueRef::Integer(i64::from(*v)));
    u16 => |v| Some(ValueRef::Integer(i64::from(*v)));
    u32 => |v| Some(ValueRef::Integer(i64::from(*v)));
    i8 => |v| Some(ValueRef::Integer(i64::from(*v)));
    i16 => |v| Some(ValueRef::Integer(i64::from(*v)));
    i32 => |v| Some(ValueRef::Integer(i64::from(*v)));
    i64 => |v| Some(ValueRef::Integer(*v));
    u64 => |v| i64::try_from(*v).ok().map(ValueRef::Integer);
    usize => |v| i64::try_from(*v).ok().map(ValueRef::Integer);
    f32 => |v| Some(ValueRef::Float(f64::from(*v)));
    f64 => |v| Some(ValueRef::Float(*v));
    &'static str => |v| Some(ValueRef::from(*v));
    () => |_v| None;
}

impl<const N: usize> Cell for [u8; N] {
    fn value(&self) -> Option<ValueRef<'_>> {
        let text: String = self.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(ValueRef::String(Cow::Owned(text)))
    }
}

impl Cell for String {
    fn heap_bytes(&self) -> usize {
        self.capacity()
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        Some(ValueRef::from(self.as_str()))
    }
}

impl Cell for Arc<str> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        Some(ValueRef::from(&**self))
    }
}

impl<T: Cell> Cell for Arc<T> {
    fn heap_bytes(&self) -> usize {
        size_of::<T>() + T::heap_bytes(self)
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        T::value(self)
    }
}

impl<T: Cell> Cell for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::heap_bytes)
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        self.as_ref().and_then(T::value)
    }
}

impl<T: Cell> Cell for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self.iter().map(T::heap_bytes).sum::<usize>()
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        let texts = self.iter().map(|cell| match cell.value() {
            Some(ValueRef::String(text)) => Some(text.into_owned()),
            _ => None,
        });
        Some(ValueRef::Strings(Cow::Owned(texts.collect::<Option<_>>()?)))
    }
}

impl Cell for Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::String(text) => text.capacity(),
            Self::Strings(texts) => texts.heap_bytes(),
            Self::Vector(numbers) => numbers.heap_bytes(),
            Self::Json(value) => json_bytes(value),
            Self::Integer(_) | Self::Float(_) | Self::Bool(_) => 0,
        }
    }
    fn value(&self) -> Option<ValueRef<'_>> {
        Some(self.borrowed())
    }
}

fn json_bytes(value: &serde_json::Value) -> usize {
    let own = size_of::<serde_json::Value>();
    match value {
        serde_json::Value::String(text) => text.capacity(),
        serde_json::Value::Array(items) => items.iter().map(|item| own + json_bytes(item)).sum(),
        serde_json::Value::Object(fields) => {
            fields.iter().map(|(name, value)| size_of::<String>() + name.len() + own + json_bytes(value)).sum()
        }
        _ => 0,
    }
}
