//! The columns that an external stage declares in the pipeline file.

use std::collections::BTreeMap;
use std::fmt;

use aurora_pipeline::{
    Access, CHUNK_STORED, ColumnSpec, ColumnUses, DynamicType, Entity, FILE_STORED, Fingerprint, Problems,
};
use aurora_suggest::did_you_mean;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// The column that a stage fills to drop a file. Its value is the reason.
pub(crate) const FILE_SKIP: &str = "file.skip";
/// The column with the definitions that a stage finds in a file.
pub(crate) const FILE_DEFINITIONS: &str = "file.definitions";
/// The column with the text of a file, in which the definitions are found.
pub(crate) const FILE_TEXT: &str = "file.text";
/// Columns that a custom stage may only write if its type is `documents`.
pub(crate) const OF_DOCUMENTS: [&str; 5] = ["file.path", "file.size", "file.mtime", "file.language", "file.document"];
/// Maximum length of a column name, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Maximum weight of the words of a column as terms.
const MAX_TERM_WEIGHT: u64 = 10;
/// Maximum number of dimensions of a vector.
const MAX_DIMENSIONS: u64 = 4096;

/// The declaration of a column in `writes`: its type and its uses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenType {
    /// The type, as written in the pipeline file.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether `--where` can filter by the column.
    pub filter: bool,
    /// See [`ColumnUses::terms`].
    pub terms: Option<u64>,
    /// See [`ColumnUses::embed`].
    pub embed: bool,
    /// See [`ColumnUses::boost`].
    pub boost: Option<f32>,
    /// Length of every vector. Required for the type `vector`.
    pub dimensions: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTable {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default = "yes")]
    filter: bool,
    terms: Option<u64>,
    #[serde(default)]
    embed: bool,
    boost: Option<f32>,
    dimensions: Option<u64>,
}

fn yes() -> bool {
    true
}

impl<'de> Deserialize<'de> for WrittenType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TypeVisitor;
        impl<'de> Visitor<'de> for TypeVisitor {
            type Value = WrittenType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type such as \"string\", or a table with `type`")
            }

            fn visit_str<E: de::Error>(self, kind: &str) -> Result<WrittenType, E> {
                let kind = kind.to_owned();
                Ok(WrittenType { kind, filter: true, terms: None, embed: false, boost: None, dimensions: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenType, A::Error> {
                let table = WrittenTable::deserialize(de::value::MapAccessDeserializer::new(map))?;
                let WrittenTable { kind, filter, terms, embed, boost, dimensions } = table;
                Ok(WrittenType { kind, filter, terms, embed, boost, dimensions })
            }
        }
        deserializer.deserialize_any(TypeVisitor)
    }
}

/// The rows that a stage may drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DropRows {
    /// No rows.
    #[default]
    None,
    /// Files. The run report lists dropped files as skipped, with the stage's reason.
    Files,
    /// Chunks.
    Chunks,
}

impl DropRows {
    /// The names in configurations.
    pub const NAMES: &'static [&'static str] = &["none", "files", "chunks"];
}

/// The unit in which a stage processes rows. A unit fails or is dropped as a whole, and is never divided between
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowUnit {
    /// A file with all its chunks.
    File,
    /// A chunk, together with its file.
    Chunk,
}

impl RowUnit {
    /// The kind of the rows that represent units: file rows or chunk rows.
    pub fn entity(self) -> Entity {
        match self {
            Self::File => Entity::File,
            Self::Chunk => Entity::Chunk,
        }
    }
}

/// A column that a stage writes.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenColumn {
    /// Full name, such as `chunk.owner`.
    pub name: String,
    /// Type of the values.
    pub kind: DynamicType,
    /// Length of every vector, if the column contains vectors.
    pub dimensions: Option<usize>,
    uses: ColumnUses,
}

impl WrittenColumn {
    /// Whether the column belongs to files or to chunks.
    pub fn entity(&self) -> Entity {
        Entity::from_column(&self.name).unwrap_or(Entity::Chunk)
    }

    /// Returns the column as the stage declares it to the pipeline.
    fn spec(&self) -> ColumnSpec {
        let spec = ColumnSpec::dynamic(self.name.as_str(), self.kind).used(self.uses);
        self.dimensions.into_iter().fold(spec, ColumnSpec::with_dimensions)
    }

    /// The name without the prefix `file.` or `chunk.`.
    pub fn short_name(&self) -> &str {
        self.name.split_once('.').map_or(&self.name, |(_, short)| short)
    }
}

/// The columns that a stage declares, with full names and parsed types.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Full names of the columns that the stage receives.
    pub reads: Vec<String>,
    /// The columns that the stage fills.
    pub written: Vec<WrittenColumn>,
    /// The kind of rows that the stage may drop.
    pub drops: DropRows,
    /// The unit of the stage's work. It is a file if the stage writes file columns, drops files, or writes no column
    /// and reads only file columns; otherwise it is a chunk.
    pub unit: RowUnit,
}

impl Declaration {
    /// Resolves the keys `reads`, `writes` and `drops`. Ignores columns with unknown types, which [`check`] reports.
    pub fn new(reads: &[String], writes: &BTreeMap<String, WrittenType>, drops: DropRows) -> Self {
        let reads: Vec<String> = reads.iter().map(|name| full_name(name)).collect();
        let written: Vec<WrittenColumn> = writes.iter().filter_map(|(name, written)| column(name, written)).collect();
        let of_files = written.iter().any(|column| column.entity() == Entity::File);
        let only_reads_files = || reads.iter().all(|name| Entity::from_column(name) == Some(Entity::File));
        let unit = match drops {
            DropRows::Files => RowUnit::File,
            DropRows::Chunks => RowUnit::Chunk,
            DropRows::None if of_files || written.is_empty() && only_reads_files() => RowUnit::File,
            DropRows::None => RowUnit::Chunk,
        };
        Self { reads, written, drops, unit }
    }

    /// Returns the access that the stage declares to the pipeline.
    pub fn access(&self) -> Access {
        let mut writes: Vec<ColumnSpec> = self.written.iter().map(WrittenColumn::spec).collect();
        if self.drops == DropRows::Files {
            writes.push(ColumnSpec::dynamic(FILE_SKIP, DynamicType::String));
        }
        let stored = match self.unit {
            RowUnit::File => FILE_STORED.spec(),
            RowUnit::Chunk => CHUNK_STORED.spec(),
        };
        let access = Access::transform()
            .reads(self.reads.iter().map(|name| ColumnSpec::named(name.as_str())))
            .reads_optional(["file.path", "file.status", "file.language"].map(ColumnSpec::named))
            .reads_optional([stored])
            .reads_optional(self.text_for_definitions())
            .writes(writes);
        if self.drops == DropRows::Chunks { access.restructures() } else { access }
    }

    /// Returns the column with the text of a file if the stage returns definitions, because their lines are checked
    /// against the text.
    fn text_for_definitions(&self) -> Option<ColumnSpec> {
        let gives_definitions = self.written.iter().any(|column| column.name == FILE_DEFINITIONS);
        gives_definitions.then(|| ColumnSpec::named(FILE_TEXT))
    }

    /// Returns the written column with this short name.
    pub fn column(&self, entity: Entity, short: &str) -> Option<&WrittenColumn> {
        self.written.iter().find(|column| column.entity() == entity && column.short_name() == short)
    }

    /// Whether a run stores the values of all written columns, so that the next run can reuse them. Values in JSON
    /// columns and reasons for dropping files are not stored.
    pub fn is_stored(&self) -> bool {
        self.drops != DropRows::Files && self.written.iter().all(|column| column.kind != DynamicType::Json)
    }

    /// Adds everything that the output depends on to a fingerprint. The output does not depend on the uses of columns.
    pub fn fingerprint(&self, fingerprint: Fingerprint) -> Fingerprint {
        let written = self.written.iter().map(|column| match column.dimensions {
            None => format!("{}:{}", column.name, column.kind),
            Some(dimensions) => format!("{}:{}[{dimensions}]", column.name, column.kind),
        });
        fingerprint
            .with("reads", self.reads.join(","))
            .with("writes", written.collect::<Vec<_>>().join(","))
            .with("drops", format!("{:?}", self.drops))
    }
}

/// Reports mistakes in the keys `reads`, `writes` and `drops`.
pub fn check(reads: &[String], writes: &BTreeMap<String, WrittenType>, drops: DropRows, problems: &mut Problems<'_>) {
    for (at, name) in reads.iter().enumerate() {
        let full = full_name(name);
        if Entity::from_column(&full).is_none() {
            problems
                .error("reads", format!("`{name}` is not the name of a column"))
                .help("columns are named `file.*` or `chunk.*`; the reference lists the built-in ones");
        } else if reads[..at].iter().any(|other| full_name(other) == full) {
            problems.error("reads", format!("column `{full}` is listed twice"));
        }
    }
    if writes.is_empty() && drops == DropRows::None {
        problems
            .error("writes", "the stage writes no column and drops no rows")
            .help("writes = { owner = \"string\" }");
    }
    for (name, written) in writes {
        check_written(name, written, problems);
        let full = full_name(name);
        if writes.keys().any(|other| other < name && full_name(other) == full) {
            problems.error("writes", format!("column `{full}` is written twice, under two spellings"));
        }
        if drops == DropRows::Chunks && Entity::from_column(&full) == Some(Entity::File) {
            problems
                .error("drops", format!("a stage that drops chunks cannot write the file column `{full}`"))
                .help("use two stages");
        }
    }
}

fn check_written(name: &str, written: &WrittenType, problems: &mut Problems<'_>) {
    let full = full_name(name);
    if Entity::from_column(&full).is_none() {
        problems
            .error("writes", format!("`{name}` is not the name of a column"))
            .help("`owner` is a column of chunks, `file.owner` one of files");
        return;
    }
    if OF_DOCUMENTS.contains(&full.as_str()) {
        problems
            .error("writes", format!("column `{full}` is written by stages of the type `documents` only"))
            .help("give the column another name");
        return;
    }
    let short = full.split_once('.').map_or(full.as_str(), |(_, short)| short);
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    let is_name = short.starts_with(|first: char| first.is_ascii_lowercase()) && short.bytes().all(is_inner);
    if !is_name || short.len() > MAX_NAME_BYTES {
        let message = format!(
            "`{name}` is not the name of a column: a lower-case letter, then lower-case letters, digits, `_` and `-`, at most {MAX_NAME_BYTES} in all"
        );
        problems.error("writes", message);
    }
    let Some(kind) = type_of(&written.kind) else {
        let known: Vec<&str> = DynamicType::CUSTOM.iter().map(|kind| kind.as_str()).collect();
        let help = did_you_mean(&written.kind, known.iter().copied())
            .unwrap_or_else(|| format!("the types are `{}`", known.join("`, `")));
        problems.error("writes", format!("column `{name}` has the unknown type `{}`", written.kind)).help(help);
        return;
    };
    let is_text = matches!(kind, DynamicType::String | DynamicType::Strings);
    let is_number = matches!(kind, DynamicType::Integer | DynamicType::Float);
    if (written.terms.is_some() || written.embed) && !is_text {
        problems
            .error("writes", format!("column `{name}` of type `{kind}` has no text for `terms` or `embed`"))
            .help("these uses need the type `string` or `strings`");
    }
    if written.boost.is_some() && !is_number {
        problems
            .error("writes", format!("column `{name}` of type `{kind}` has no number for `boost`"))
            .help("this use needs the type `integer` or `float`");
    }
    let dimensions_problem = match (kind, written.dimensions) {
        (DynamicType::Vector, None) => Some("does not declare the `dimensions` of its vectors".to_owned()),
        (DynamicType::Vector, Some(1..=MAX_DIMENSIONS)) => None,
        (DynamicType::Vector, Some(_)) => Some(format!("must have vectors of 1 to {MAX_DIMENSIONS} `dimensions`")),
        (_, None) => None,
        (_, Some(_)) => Some(format!("of type `{kind}` has no `dimensions`")),
    };
    if let Some(problem) = dimensions_problem {
        problems
            .error("writes", format!("column `{name}` {problem}"))
            .help("writes = { \"chunk.embedding\" = { type = \"vector\", dimensions = 384 } }");
    }
    if written.terms.is_some_and(|weight| !(1..=MAX_TERM_WEIGHT).contains(&weight)) {
        problems
            .error("writes", format!("`terms` of column `{name}` is not a whole number from 1 to {MAX_TERM_WEIGHT}"));
    }
    if written.boost.is_some_and(|weight| !(-1.0..=1.0).contains(&weight)) {
        problems.error("writes", format!("`boost` of column `{name}` is not between -1 and 1"));
    }
}

fn type_of(name: &str) -> Option<DynamicType> {
    let all = DynamicType::CUSTOM.into_iter().chain([DynamicType::Vector, DynamicType::Json]);
    all.into_iter().find(|kind| kind.as_str() == name)
}

fn column(name: &str, written: &WrittenType) -> Option<WrittenColumn> {
    let kind = type_of(&written.kind)?;
    let uses = ColumnUses {
        filter: written.filter,
        terms: written.terms.and_then(|weight| u8::try_from(weight).ok()),
        embed: written.embed,
        boost: written.boost,
    };
    let dimensions = written.dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
    Some(WrittenColumn { name: full_name(name), kind, dimensions, uses })
}

fn full_name(name: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("chunk.{name}") }
}
