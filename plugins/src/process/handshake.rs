//! The handshake: the first message in each direction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::codec::{Encoding, MAX_MESSAGE_BYTES};
use super::config::Process;
use crate::declaration::RowUnit;

/// Name of the protocol.
pub(super) const PROTOCOL: &str = "aurora-stage";
/// Protocol versions that this host supports.
pub(super) const VERSIONS: &[u32] = &[1];

/// The first message of the host.
#[derive(Serialize)]
pub(super) struct HostHello<'a> {
    r#type: &'static str,
    protocol: &'static str,
    versions: &'static [u32],
    encodings: &'static [&'static str],
    stage: &'a str,
    unit: &'static str,
    reads: Vec<String>,
    writes: BTreeMap<String, &'static str>,
    drops: crate::declaration::DropRows,
    config: &'a serde_json::Map<String, serde_json::Value>,
    max_message_bytes: usize,
    in_flight: usize,
}

impl<'a> HostHello<'a> {
    pub(super) fn new(stage: &'a str, config: &'a Process) -> Self {
        let declaration = config.declaration();
        let writes = declaration.written.iter().map(|column| (column.name.clone(), column.kind.as_str())).collect();
        Self {
            r#type: "hello",
            protocol: PROTOCOL,
            versions: VERSIONS,
            encodings: &["jsonl", "msgpack"],
            stage,
            unit: if declaration.unit == RowUnit::File { "file" } else { "chunk" },
            reads: declaration.reads,
            writes,
            drops: config.drops,
            config: &config.config,
            max_message_bytes: MAX_MESSAGE_BYTES,
            in_flight: config.in_flight,
        }
    }

    /// Creates the first message to a program that supplies documents.
    pub(super) fn for_documents(stage: &'a str, config: &'a Process) -> Self {
        Self { unit: "document", ..Self::new(stage, config) }
    }
}

/// The first message of the program.
#[derive(Debug, Deserialize)]
struct ProgramHello {
    r#type: String,
    protocol: String,
    version: u32,
    #[serde(default = "jsonl")]
    encoding: Encoding,
}

fn jsonl() -> Encoding {
    Encoding::Jsonl
}

/// Parses the first message of the program.
///
/// # Errors
/// Returns an error if the line is not a valid `hello`, or if the program uses an unsupported version of the protocol.
pub(super) fn accept(line: &[u8]) -> Result<Encoding, String> {
    let shown = || {
        let text = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        format!("its first line is not a `hello` of the protocol: {text:?}")
    };
    let hello: ProgramHello = serde_json::from_slice(line).map_err(|_| shown())?;
    if hello.r#type != "hello" || hello.protocol != PROTOCOL {
        return Err(shown());
    }
    if !VERSIONS.contains(&hello.version) {
        return Err(format!(
            "it speaks version {} of the protocol, but this program supports {VERSIONS:?}",
            hello.version
        ));
    }
    Ok(hello.encoding)
}
