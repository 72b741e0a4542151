//! The stage types and built-in columns that a program registers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserializer;
use serde::de::{Error as _, Visitor, value};
use toml::Spanned;
use toml::de::{DeTable, Deserializer as TomlDeserializer, Error as TomlError};

use crate::access::Access;
use crate::built_in_column::{BuiltInColumn, ColumnReference};
use crate::column::{CellType, ColumnSpec};
use crate::problems::Problems;
use crate::program_spec::ProgramSpec;
use crate::reference::{Described, TableReference};
use crate::stage::{BuildContext, Stage, StageConfig};
use crate::stage_error::StageError;
use crate::value::DynamicType;

/// The stage types that pipelines may use and the built-in columns that stages may use, both by name.
#[derive(Default)]
pub struct Registry {
    types: BTreeMap<&'static str, StageType>,
    columns: BTreeMap<&'static str, BuiltInColumn>,
    /// Stage types that this build of the program does not contain, with advice on how to get them.
    absent: BTreeMap<&'static str, &'static str>,
}

/// Parses the table of a stage.
type ParseConfig = fn(Spanned<DeTable<'_>>) -> Result<Box<dyn ParsedConfig>, TomlError>;

pub(crate) struct StageType {
    pub(crate) parse: ParseConfig,
    /// The configuration keys, if the configuration type is a struct.
    pub(crate) keys: Option<&'static [&'static str]>,
    /// The reference entry, if the configuration type describes its keys.
    pub(crate) reference: Option<TableReference>,
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a type under [`StageConfig::TYPE`].
    pub fn register<C: StageConfig>(&mut self) {
        let known = StageType { parse: parse::<C>, keys: keys_of::<C>(), reference: None };
        self.types.insert(C::TYPE, known);
    }

    /// Registers a type like [`Registry::register`], and adds its keys to the reference and the schema.
    pub fn register_described<C: StageConfig + Described>(&mut self) {
        let reference = Some(TableReference::new::<C>(C::TYPE));
        let known = StageType { parse: parse::<C>, keys: keys_of::<C>(), reference };
        self.types.insert(C::TYPE, known);
    }

    /// Registers the name of a stage type that this build of the program does not contain. `help` becomes the help text
    /// of the error for a pipeline that uses the type.
    pub fn register_absent(&mut self, name: &'static str, help: &'static str) {
        self.absent.insert(name, help);
    }

    /// Returns advice on how to get a stage type that this build of the program does not contain.
    pub(crate) fn help_for_absent(&self, name: &str) -> Option<String> {
        self.absent.get(name).map(|help| (*help).to_owned())
    }

    /// Registers a built-in column, so that stages can use it by name.
    pub fn register_column(&mut self, column: BuiltInColumn) {
        self.columns.insert(column.reference.name, column);
    }

    /// The columns that stages may use by name, in alphabetical order.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnReference> {
        self.columns.values().map(|column| &column.reference)
    }

    /// The built-in columns whose values are stored in the batch column `column`: the one that is the whole batch
    /// column, and those that are fields of its values.
    pub fn held_by<'r>(&'r self, column: &'r str) -> impl Iterator<Item = &'r BuiltInColumn> {
        self.columns.values().filter(move |built_in| built_in.source.name() == column)
    }

    /// The reference entries of the types that describe their keys, in alphabetical order.
    pub fn reference(&self) -> impl Iterator<Item = &TableReference> {
        self.types.values().filter_map(|known| known.reference.as_ref())
    }

    /// The names of all types, in alphabetical order.
    pub fn stage_types(&self) -> impl Iterator<Item = &'static str> {
        self.types.keys().copied()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&StageType> {
        self.types.get(name)
    }

    /// Replaces each built-in column in the declared access of a stage with the batch column that stores the values of
    /// the built-in column. Returns the built-in columns that the stage declares to write although they are read-only
    /// or have another type, each with the declared type.
    pub(crate) fn resolve_columns(&self, access: &mut Access) -> Vec<(ColumnReference, DynamicType)> {
        let mut used: BTreeMap<&str, &BuiltInColumn> = BTreeMap::new();
        let mut resolve_read = |column: &mut ColumnSpec| {
            let known = self.columns.get(column.name()).filter(|_| column.cell == CellType::Any);
            if let Some(known) = known {
                used.insert(known.reference.name, known);
                *column = known.source.clone();
            }
        };
        access.reads.iter_mut().chain(&mut access.optional).for_each(&mut resolve_read);
        let mut seen = BTreeSet::new();
        access.reads.retain(|column| seen.insert(column.name.clone()));
        let mut refused = Vec::new();
        let mut updated = Vec::new();
        for column in &mut access.writes {
            let CellType::Dynamic(given) = column.cell else { continue };
            let Some(known) = self.columns.get(column.name()) else { continue };
            if known.set.is_none() || known.reference.value != given {
                refused.push((known.reference, given));
                // Use the real type of the column, so that the wrong type is not reported again for each stage that
                // reads the column.
                if known.set.is_some() {
                    *column = known.source.clone();
                }
                continue;
            }
            used.insert(known.reference.name, known);
            *column = ColumnSpec { dimensions: column.dimensions, ..known.source.clone() };
            updated.extend(known.is_updated.then(|| known.source.clone()));
        }
        access.optional.extend(updated);
        access.built_in = used.into_values().cloned().collect();
        refused
    }

    /// Returns a stage type that, with an empty configuration, writes the column.
    pub(crate) fn writer_of(&self, column: &str) -> Option<&'static str> {
        self.types.iter().find_map(|(name, known)| {
            let config = (known.parse)(Spanned::new(0..0, DeTable::new())).ok()?;
            config.access().writes_column(column).then_some(*name)
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.types.keys()).finish()
    }
}

/// A [`StageConfig`] whose type is erased.
pub(crate) trait ParsedConfig: Send {
    fn access(&self) -> Access;
    fn program(&self) -> Option<ProgramSpec>;
    fn check(&self, problems: &mut Problems<'_>);
    fn build(self: Box<Self>, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError>;
}

impl<C: StageConfig> ParsedConfig for C {
    fn access(&self) -> Access {
        C::access(self)
    }

    fn program(&self) -> Option<ProgramSpec> {
        C::program(self)
    }

    fn check(&self, problems: &mut Problems<'_>) {
        C::check(self, problems);
    }

    fn build(self: Box<Self>, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        C::build(*self, cx)
    }
}

fn parse<C: StageConfig>(table: Spanned<DeTable<'_>>) -> Result<Box<dyn ParsedConfig>, TomlError> {
    let config = C::deserialize(TomlDeserializer::from(table))?;
    Ok(Box::new(config))
}

/// Returns the field names that a type's `Deserialize` implementation requests. With the names, all unknown keys can be
/// reported at once, even if the type does not deny unknown fields.
fn keys_of<C: StageConfig>() -> Option<&'static [&'static str]> {
    let mut keys = None;
    // Deserialization always fails, but only after the probe has recorded the fields.
    drop(C::deserialize(FieldProbe { keys: &mut keys }));
    keys
}

struct FieldProbe<'a> {
    keys: &'a mut Option<&'static [&'static str]>,
}

impl<'de> Deserializer<'de> for FieldProbe<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(value::Error::custom("only the field names are needed"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.keys = Some(fields);
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        *self.keys = Some(&[]);
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
