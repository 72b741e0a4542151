//! Converts the rows of a batch to types of the WIT world, and the result of a module to a response.

use aurora_pipeline::{DynamicType, Entity, Value, ValueRef};
use aurora_plugins::declaration::Declaration;
use aurora_plugins::exchange::{CellValue, Request, Response, RowNote};

use crate::interface::{self, Batch, Column, Output, Remark, Values};
use crate::state::{MAX_MESSAGE_BYTES, printable};

/// Converts rows to the parameter of `process`.
pub(crate) fn batch_of(request: &Request<'_>) -> Batch {
    let files = request.file_columns().map(|(name, values)| column("file", name, values));
    let chunks = request.chunk_columns().map(|(name, values)| column("chunk", name, values));
    Batch {
        files: request.rows().files.len() as u32,
        chunk_files: request.chunk_files().to_vec(),
        columns: files.chain(chunks).collect(),
    }
}

/// Converts the result of `process` to a response. The caller must still check the response.
///
/// # Errors
/// Returns an error if a column is not named `file.*` or `chunk.*`, is returned twice, or does not have the declared
/// type.
pub(crate) fn response_of(output: Output, declaration: &Declaration) -> Result<Response, String> {
    let mut response = Response::default();
    for Column { name, values } in output.columns {
        check_type(&name, &values, declaration)?;
        let table = match Entity::from_column(&name) {
            Some(Entity::File) => &mut response.files,
            Some(Entity::Chunk) => &mut response.chunks,
            None => return Err(format!("`{name}` is not the full name of a column")),
        };
        let short = name.split_once('.').map_or(name.as_str(), |(_, short)| short).to_owned();
        if table.columns.insert(short, cells(values)?).is_some() {
            return Err(format!("column `{name}` is returned twice"));
        }
    }
    response.errors = output.failed.into_iter().map(note).collect();
    response.drops = output.dropped.into_iter().map(note).collect();
    Ok(response)
}

/// Checks the type of a column. A wrong type is an error of the whole call. After such an error, the caller processes
/// each row separately, so that only rows with wrong values lose their values.
fn check_type(name: &str, values: &Values, declaration: &Declaration) -> Result<(), String> {
    let Some(declared) = declaration.written.iter().find(|column| column.name == name) else { return Ok(()) };
    let given = match values {
        Values::Texts(_) => DynamicType::String,
        Values::Integers(_) => DynamicType::Integer,
        Values::Floats(_) => DynamicType::Float,
        Values::Booleans(_) => DynamicType::Bool,
        Values::TextLists(_) => DynamicType::Strings,
        Values::Vectors(_) => DynamicType::Vector,
        Values::Documents(_) => DynamicType::Json,
    };
    let is_accepted = given == declared.kind || (given, declared.kind) == (DynamicType::Integer, DynamicType::Float);
    if is_accepted { Ok(()) } else { Err(format!("column `{name}`: {given} instead of {}", declared.kind)) }
}

fn column<'b>(entity: &str, name: &str, values: impl Iterator<Item = Option<ValueRef<'b>>>) -> Column {
    let values: Vec<Option<ValueRef<'b>>> = values.collect();
    let value_type = values.iter().flatten().next().map_or(DynamicType::String, ValueRef::dynamic_type);
    let rows = values.len();
    let mut typed = match value_type {
        DynamicType::String => Values::Texts(vec![None; rows]),
        DynamicType::Integer => Values::Integers(vec![None; rows]),
        DynamicType::Float => Values::Floats(vec![None; rows]),
        DynamicType::Bool => Values::Booleans(vec![None; rows]),
        DynamicType::Strings => Values::TextLists(vec![None; rows]),
        DynamicType::Vector => Values::Vectors(vec![None; rows]),
        DynamicType::Json => Values::Documents(vec![None; rows]),
    };
    for (row, value) in values.into_iter().enumerate() {
        match (&mut typed, value) {
            (Values::Texts(cells), Some(ValueRef::String(text))) => cells[row] = Some(text.into_owned()),
            (Values::Integers(cells), Some(ValueRef::Integer(number))) => cells[row] = Some(number),
            (Values::Floats(cells), Some(ValueRef::Float(number))) => cells[row] = Some(number),
            (Values::Booleans(cells), Some(ValueRef::Bool(truth))) => cells[row] = Some(truth),
            (Values::TextLists(cells), Some(ValueRef::Strings(texts))) => cells[row] = Some(texts.into_owned()),
            (Values::Vectors(cells), Some(ValueRef::Vector(numbers))) => cells[row] = Some(numbers.to_vec()),
            (Values::Documents(cells), Some(ValueRef::Json(document))) => cells[row] = Some(document.to_string()),
            // The cell is empty, or its type differs from the type of the first value.
            _ => {}
        }
    }
    Column { name: format!("{entity}.{name}"), values: typed }
}

fn cells(values: Values) -> Result<Vec<CellValue>, String> {
    fn all<T>(values: Vec<Option<T>>, make: impl Fn(T) -> Value) -> Vec<CellValue> {
        values.into_iter().map(|value| CellValue(value.map(&make))).collect()
    }
    Ok(match values {
        Values::Texts(values) => all(values, Value::String),
        Values::Integers(values) => all(values, Value::Integer),
        Values::Floats(values) => all(values, Value::Float),
        Values::Booleans(values) => all(values, Value::Bool),
        Values::TextLists(values) => all(values, Value::Strings),
        Values::Vectors(values) => all(values, Value::Vector),
        Values::Documents(values) => {
            let parse = |text: Option<String>| {
                let parsed = text.map(|text| serde_json::from_str(&text).map(Value::Json)).transpose();
                parsed.map(CellValue).map_err(|error| format!("a value of a JSON column is not valid JSON: {error}"))
            };
            values.into_iter().map(parse).collect::<Result<_, _>>()?
        }
    })
}

fn note(remark: Remark) -> RowNote {
    let entity = match remark.entity {
        interface::Entity::File => Entity::File,
        interface::Entity::Chunk => Entity::Chunk,
    };
    RowNote { entity, row: remark.row, message: printable(&remark.text, MAX_MESSAGE_BYTES) }
}
