//! A stage that returns its input, for tests of both encodings and for benchmarks of the protocol.
//!
//! `echo-stage [jsonl|msgpack]`: fills every written column with the values of the first string column in the input.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Hello {
    writes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Batch<'a> {
    id: u64,
    #[serde(borrow)]
    files: Table<'a>,
    #[serde(borrow)]
    chunks: Table<'a>,
}

#[derive(Deserialize)]
struct Table<'a> {
    count: usize,
    #[serde(borrow)]
    columns: BTreeMap<&'a str, Vec<Option<Text<'a>>>>,
}

/// A text, which is borrowed if it contains no escapes.
#[derive(Clone, Serialize)]
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    r#type: &'static str,
    id: u64,
    files: Columns<'a>,
    chunks: Columns<'a>,
}

#[derive(Default, Serialize)]
struct Columns<'a> {
    columns: BTreeMap<&'a str, Vec<Option<Text<'a>>>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let encoding = std::env::args().nth(1).unwrap_or_else(|| "jsonl".to_owned());
    let mut input = BufReader::with_capacity(1 << 20, io::stdin().lock());
    let mut output = io::stdout().lock();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let hello: Hello = serde_json::from_str(&line)?;
    writeln!(output, r#"{{"type":"hello","protocol":"aurora-stage","version":1,"encoding":"{encoding}"}}"#)?;
    output.flush()?;
    let (mut message, mut answer) = (Vec::new(), Vec::new());
    while read(&mut input, &encoding, &mut message)? {
        answer.clear();
        if encoding == "msgpack" {
            answer.extend([0; 4]);
            let batch: Batch<'_> = rmp_serde::from_slice(&message)?;
            echo(batch, &hello).serialize(&mut rmp_serde::Serializer::new(&mut answer).with_struct_map())?;
            let length = u32::try_from(answer.len() - 4)?;
            answer[..4].copy_from_slice(&length.to_be_bytes());
        } else {
            serde_json::to_writer(&mut answer, &echo(serde_json::from_slice(&message)?, &hello))?;
            answer.push(b'\n');
        }
        output.write_all(&answer)?;
        output.flush()?;
    }
    Ok(())
}

/// Reads the next message. Returns `false` at the end of the input.
fn read(input: &mut impl BufRead, encoding: &str, message: &mut Vec<u8>) -> io::Result<bool> {
    message.clear();
    if input.fill_buf()?.is_empty() {
        return Ok(false);
    }
    if encoding != "msgpack" {
        return read_line(input, message);
    }
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    message.resize(u32::from_be_bytes(length) as usize, 0);
    input.read_exact(message)?;
    Ok(true)
}

/// Reads a line like [`BufRead::read_until`], but with a faster search for its end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        let end = memchr::memchr(b'\n', available);
        let used = end.map_or(available.len(), |end| end + 1);
        line.extend_from_slice(&available[..used]);
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(true);
        }
    }
}

fn echo<'a>(mut batch: Batch<'a>, hello: &'a Hello) -> Answer<'a> {
    let mut answer = Answer { r#type: "result", id: batch.id, files: Columns::default(), chunks: Columns::default() };
    let last = |entity: &str| hello.writes.keys().rfind(|name| entity_and_name(name).0 == entity);
    let last = [last("file"), last("chunk")];
    for name in hello.writes.keys() {
        let (entity, short) = entity_and_name(name);
        let (table, columns) = if entity == "file" {
            (&mut batch.files, &mut answer.files)
        } else {
            (&mut batch.chunks, &mut answer.chunks)
        };
        let first = table.columns.values_mut().next();
        // The values are moved into the last written column of the files or chunks, and cloned for all other columns.
        let values =
            first.map(|values| if last.contains(&Some(name)) { std::mem::take(values) } else { values.clone() });
        columns.columns.insert(short, values.unwrap_or_else(|| vec![None; table.count]));
    }
    answer
}

fn entity_and_name(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("chunk", name))
}
