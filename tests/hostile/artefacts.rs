//! Artefacts with valid checksums and invalid content. Each is either refused, or imported as a valid index.

use std::fs;

use serde_json::Value;

use crate::process::Outcome;
use crate::random::{Random, attempts};
use crate::sandbox::{SECRET, Sandbox, Start};
use crate::{Attack, assert_withstands, ensure};

const MAGIC: &[u8] = b"AURMEM\r\n";
/// Version of the layout of an artefact.
const VERSION: u32 = 2;
/// Number of rows per frame in the artefacts that the tests encode.
const FRAME_ROWS: usize = 8;
/// Length of the header: magic, version, length of the manifest, checksum of the manifest.
const HEADER: usize = 8 + 4 + 4 + 32;
const EXPORT: &[&str] = &["mem", "export", "attack.aur"];

/// The commands that write and read a kind of artefact.
#[derive(Clone, Copy)]
struct Kind {
    write: &'static [&'static str],
    read: &'static [&'static str],
}

const WHOLE: Kind = Kind { write: EXPORT, read: &["mem", "import", "attack.aur"] };
/// A shard with all files.
const SHARD: Kind = Kind {
    write: &["mem", "index", "--quiet", "--shard", "1/1", "--output", "attack.aur"],
    read: &["mem", "merge", "attack.aur"],
};

/// A decoded artefact.
#[derive(Clone)]
struct Artefact {
    manifest: Value,
    parts: Vec<Part>,
}

/// A part of an artefact: rows, each with a key and a value.
#[derive(Clone)]
struct Part {
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    /// Bytes after the rows.
    rest: Vec<u8>,
}

impl Artefact {
    /// Writes and decodes an artefact of a sandbox.
    fn written_by(sandbox: &Sandbox, kind: Kind) -> Self {
        let export = sandbox.run(&mut sandbox.aur(kind.write));
        assert_eq!(export.code, Some(0), "{}", export.summary());
        Self::parse(&fs::read(sandbox.path("attack.aur")).expect("the file can be read"))
    }

    fn parse(bytes: &[u8]) -> Self {
        let length = u32::from_le_bytes(bytes[12..16].try_into().expect("the slice has four bytes")) as usize;
        let (json, mut rest) = bytes[HEADER..].split_at(length);
        let manifest: Value = serde_json::from_slice(json).expect("the text is JSON");
        let mut parts = Vec::new();
        for part in manifest["parts"].as_array().expect("the value is a list") {
            let (frames, after) = rest.split_at(part["compressed"].as_u64().expect("the value is a number") as usize);
            parts.push(Part::parse(frames));
            rest = after;
        }
        Self { manifest, parts }
    }

    /// Encodes the artefact. Lengths and checksums are valid.
    fn bytes(&self) -> Vec<u8> {
        let mut manifest = self.manifest.clone();
        let mut frames = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let (plain, frame) = part.frames();
            if let Some(entry) = manifest["parts"].get_mut(at).and_then(Value::as_object_mut) {
                entry.insert("length".to_owned(), plain.into());
                entry.insert("compressed".to_owned(), frame.len().into());
                entry.insert("blake3".to_owned(), blake3::hash(&frame).to_hex().to_string().into());
            }
            frames.extend(frame);
        }
        join(&manifest, &frames)
    }

    fn part(&mut self, name: &str) -> &mut Part {
        let parts = self.manifest["parts"].as_array().expect("the value is a list");
        let at = parts.iter().position(|part| part["name"] == name).expect("the artefact has the part");
        &mut self.parts[at]
    }
}

fn join(manifest: &Value, frames: &[u8]) -> Vec<u8> {
    let json = serde_json::to_vec(manifest).expect("the value can be serialised");
    let mut bytes =
        [MAGIC, &VERSION.to_le_bytes(), &(json.len() as u32).to_le_bytes(), blake3::hash(&json).as_bytes()].concat();
    bytes.extend(json);
    bytes.extend_from_slice(frames);
    bytes
}

impl Part {
    fn parse(mut frames: &[u8]) -> Self {
        let mut rows = Vec::new();
        while !frames.is_empty() {
            let length = u32::from_le_bytes(frames[4..8].try_into().expect("the slice has four bytes")) as usize;
            let plain = zstd::decode_all(&frames[8..8 + length]).expect("the frame is valid");
            let mut bytes = plain.as_slice();
            while !bytes.is_empty() {
                let key = take(&mut bytes);
                rows.push((key, take(&mut bytes)));
            }
            frames = &frames[8 + length..];
        }
        Self { rows, rest: Vec::new() }
    }

    /// Returns the number of bytes of the rows, and the encoded frames.
    fn frames(&self) -> (usize, Vec<u8>) {
        let (mut plain, mut frames) = (0, Vec::new());
        let rows = self.rows.chunks(FRAME_ROWS).map(|rows| {
            let mut bytes = Vec::new();
            for field in rows.iter().flat_map(|(key, value)| [key, value]) {
                put_varint(&mut bytes, field.len() as u64);
                bytes.extend_from_slice(field);
            }
            bytes
        });
        for bytes in rows.chain([self.rest.clone()]).filter(|bytes| !bytes.is_empty()) {
            plain += bytes.len();
            frames.extend(framed(bytes.len(), &zstd::bulk::compress(&bytes, 1).expect("the frame is valid")));
        }
        (plain, frames)
    }
}

/// Returns a frame with its header.
fn framed(length: usize, compressed: &[u8]) -> Vec<u8> {
    [&(length as u32).to_le_bytes()[..], &(compressed.len() as u32).to_le_bytes(), compressed].concat()
}

/// Removes a length and the byte string that follows it from `bytes`, and returns the byte string.
fn take(bytes: &mut &[u8]) -> Vec<u8> {
    let (mut length, mut shift) = (0usize, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    let (field, rest) = bytes.split_at(length);
    *bytes = rest;
    field.to_vec()
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Replaces every occurrence of a text by another text of the same length.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len(), "{from} {to}");
    for at in 0..bytes.len().saturating_sub(from.len() - 1) {
        if &bytes[at..at + from.len()] == from.as_bytes() {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
}

/// Creates an attack that reads a modified artefact.
fn artefact(kind: Kind, name: impl Into<String>, change: impl Fn(&mut Artefact) + 'static) -> Attack {
    raw(kind, name, move |sandbox| {
        let mut artefact = Artefact::written_by(sandbox, kind);
        change(&mut artefact);
        artefact.bytes()
    })
}

fn raw(kind: Kind, name: impl Into<String>, bytes: impl Fn(&Sandbox) -> Vec<u8> + 'static) -> Attack {
    Attack::on_indexed(name, move |sandbox| {
        let bytes = bytes(sandbox);
        sandbox.write("attack.aur", bytes);
    })
    .run(kind.read)
}

fn refused(_: &Sandbox, outcomes: &[Outcome]) -> Result<(), String> {
    ensure(outcomes[0].code == Some(2), "the import is refused")
}

#[test]
fn paths_in_artefacts_cannot_leave_the_root() {
    const REAL: &str = "src/deep/cache.js";
    /// Paths that an import refuses, because they lead out of the root or cannot be paths of files.
    const OUTSIDE: &[&str] = &[
        "../../secret.txt",
        "/etc/passwd",
        "src/../../../a",
        "src/deep/../x",
        "src/deep/cache/..",
        "src//deep/cach",
        "./src/deep/cac",
        "src/deep/cache.j\0",
        "/////////////////",
    ];
    /// Unusual paths below the root, which an import may accept.
    const STRANGE: &[&str] = &[
        "src\\..\\..\\..",
        "C:/windows/",
        "\\\\host\\share",
        "src/deep/cache\n",
        "src/\x1b[31m\x1b[0m",
        ".git/config",
        ".aurora/index/a",
        "src/deep/........",
        "................a",
    ];
    let mut attacks = Vec::new();
    for (path, is_outside) in OUTSIDE.iter().map(|path| (path, true)).chain(STRANGE.iter().map(|path| (path, false))) {
        for (kind, parts) in [
            (WHOLE, &["files"][..]),
            (WHOLE, &["chunks"]),
            (WHOLE, &["files", "chunks"]),
            (WHOLE, &["files", "chunks", "dictionary"]),
            (SHARD, &["sources"]),
            (SHARD, &["files", "sources", "terms"]),
        ] {
            let attack = artefact(kind, format!("path {path:?} in {parts:?}"), move |artefact| {
                let path = &format!("{path:x<0$}", REAL.len());
                for part in parts {
                    let part = artefact.part(part);
                    for (key, value) in &mut part.rows {
                        replace(key, REAL, path);
                        replace(value, REAL, path);
                    }
                    part.rows.sort();
                }
            });
            attacks.push(attack.run(&["mem", "search", "evict", "--show-content", "--color", "never"]).expect(
                move |_, outcomes| {
                    let shown = &outcomes[1].out;
                    ensure(!shown.contains('\x1b') && !shown.contains('\0'), "no control character is printed")?;
                    ensure(!is_outside || outcomes[0].code == Some(2), "the import is refused")
                },
            ));
        }
    }
    assert_withstands(attacks);
}

#[test]
fn large_values_in_artefacts_are_bounded() {
    const LARGE: usize = 512 << 20;
    // The header of the frame states the real length of the rows, or a length that is too small.
    let value = |kind: Kind, part: &'static str, key: &'static [u8], is_honest: bool| {
        raw(kind, format!("a value of 512 MiB in {part}, {is_honest}"), move |sandbox| {
            let mut artefact = Artefact::written_by(sandbox, kind);
            artefact.part(part).rows = vec![(key.to_vec(), Vec::new())];
            let mut manifest = artefact.manifest.clone();
            let mut frames = Vec::new();
            for (at, part) in artefact.parts.iter().enumerate() {
                let (plain, frame) = if part.rows.len() == 1 && part.rows[0].1.is_empty() {
                    let (plain, frame) = large(key, LARGE);
                    let length = if is_honest { plain } else { 1000 };
                    (length, framed(length, &frame))
                } else {
                    part.frames()
                };
                manifest["parts"][at]["length"] = plain.into();
                manifest["parts"][at]["compressed"] = frame.len().into();
                manifest["parts"][at]["blake3"] = blake3::hash(&frame).to_hex().to_string().into();
                frames.extend(frame);
            }
            join(&manifest, &frames)
        })
        .within_memory(600 << 20)
        .expect(refused)
    };
    assert_withstands([
        value(WHOLE, "postings", &[0, 0, 0, 0], false),
        value(WHOLE, "chunks", &[0, 0, 0, 0], true),
        value(WHOLE, "files", b"src/token.py", true),
        value(WHOLE, "lengths", &[0, 0, 0, 0], true),
        value(WHOLE, "vectors", &[0, 0, 0, 0], true),
        value(WHOLE, "dictionary", b"a", true),
        value(WHOLE, "postings", &[0, 0, 0, 0], true),
        value(SHARD, "terms", b"a", false),
        value(SHARD, "content", &[0; 8], true),
        value(SHARD, "terms", b"a", true),
    ]);
}

/// Encodes a part with a single row, whose value consists of `zeros` zero bytes. Returns the length of the row and the
/// frame.
fn large(key: &[u8], zeros: usize) -> (usize, Vec<u8>) {
    use std::io::Write;
    let mut head = Vec::new();
    put_varint(&mut head, key.len() as u64);
    head.extend_from_slice(key);
    put_varint(&mut head, zeros as u64);
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).expect("the encoder can be created");
    encoder.write_all(&head).expect("memory can be written");
    let block = vec![0; 1 << 20];
    for _ in 0..zeros / block.len() {
        encoder.write_all(&block).expect("memory can be written");
    }
    (head.len() + zeros, encoder.finish().expect("the frame is valid"))
}

#[test]
fn files_that_are_not_artefacts_are_refused() {
    assert_withstands([
        raw(WHOLE, "an empty artefact", |_| Vec::new()).expect(refused),
        raw(WHOLE, "a manifest of four GiB", |_| {
            [MAGIC, &VERSION.to_le_bytes(), &u32::MAX.to_le_bytes(), &[0; 32]].concat()
        })
        .expect(refused),
        raw(WHOLE, "a manifest of nested lists", |_| {
            let json = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20)).into_bytes();
            let hash = blake3::hash(&json);
            [MAGIC, &VERSION.to_le_bytes(), &(json.len() as u32).to_le_bytes(), hash.as_bytes(), &json].concat()
        })
        .expect(refused),
        Attack::on_indexed("an artefact without end", |sandbox| {
            sandbox.link("attack.aur", "/dev/zero");
        })
        .run(WHOLE.read)
        .expect(refused),
        Attack::on_indexed("an artefact that is a directory", |sandbox| {
            sandbox.write("attack.aur/inside", "x");
        })
        .run(WHOLE.read)
        .expect(refused),
        Attack::on_indexed("an export over a link to the canary", |sandbox| {
            sandbox.link("attack.aur", sandbox.canary(".bashrc"));
        })
        .changing_sources()
        .run(EXPORT),
        Attack::on_indexed("an export over a pipe", |sandbox| {
            sandbox.fifo("attack.aur");
        })
        .changing_sources()
        .run(EXPORT),
    ]);
}

/// Makes one random change to an artefact. Lengths and checksums become valid when the artefact is encoded.
fn mutate(artefact: &mut Artefact, random: &mut Random) -> String {
    let at = random.below(artefact.parts.len());
    let name = artefact.manifest["parts"][at]["name"].as_str().unwrap_or_default().to_owned();
    let part = &mut artefact.parts[at];
    let row = random.below(part.rows.len());
    match random.below(12) {
        _ if part.rows.is_empty() => {
            part.rest = random.any().to_le_bytes().to_vec();
            format!("{name}: bytes in an empty part")
        }
        0..=4 => format!("{name}: value of row {row}: {}", random.damage(&mut part.rows[row].1)),
        5 => format!("{name}: key of row {row}: {}", random.damage(&mut part.rows[row].0)),
        6 => {
            part.rows.remove(row);
            format!("{name}: without row {row}")
        }
        7 => {
            let copy = part.rows[row].clone();
            part.rows.push(copy);
            format!("{name}: row {row} twice")
        }
        8 => {
            let other = random.below(part.rows.len());
            let value = part.rows[other].1.clone();
            part.rows[row].1 = value;
            format!("{name}: value of row {other} in row {row}")
        }
        9 => {
            random.damage(&mut part.rest);
            format!("{name}: something after the rows")
        }
        10 => {
            let counts = [
                "files",
                "chunks",
                "vectors",
                "terms",
                "postings",
                "complete",
                "index_format",
                "model",
                "fingerprints",
                "field_totals",
            ];
            let key = random.pick(&counts);
            let value: Value = match random.below(4) {
                0 => Value::Null,
                1 => serde_json::json!([random.boundary()]),
                2 => "x".repeat(random.below(100_000)).into(),
                _ => random.boundary().into(),
            };
            match artefact.manifest.get_mut("shard") {
                Some(shard) if random.below(2) == 0 => {
                    let key = random.pick(&["number", "count", "tree", "ids"]);
                    shard[key] = value;
                    format!("shard: {key}")
                }
                _ => {
                    artefact.manifest[key] = value;
                    format!("manifest: {key}")
                }
            }
        }
        _ => {
            let other = random.below(artefact.parts.len());
            artefact.parts.swap(at, other);
            format!("parts {at} and {other} exchanged")
        }
    }
}

#[test]
fn mutated_artefacts_are_refused_or_valid() {
    assert_mutants_are_refused_or_valid("mutated_artefacts_are_refused_or_valid", WHOLE);
}

#[test]
fn mutated_shards_are_refused_or_valid() {
    assert_mutants_are_refused_or_valid("mutated_shards_are_refused_or_valid", SHARD);
}

fn assert_mutants_are_refused_or_valid(test: &str, kind: Kind) {
    let source = Sandbox::new(Start { indexed: true, mined: false });
    let original = Artefact::written_by(&source, kind);
    attempts(test, 60, |random| {
        let mut artefact = original.clone();
        let mut changes = Vec::new();
        for _ in 0..1 + random.below(3) {
            changes.push(mutate(&mut artefact, random));
        }
        let bytes = artefact.bytes();
        let attack = raw(kind, changes.join("; "), move |_| bytes.clone())
            .run(&["mem", "search", "evict", "--show-content", "--format", "json"])
            .run(&["mem", "verify"])
            .run(&["mem", "stats"])
            .run(&["mem", "index", "--format", "json"])
            .run(&["mem", "search", "parse_token", "--show-content"])
            .expect(|_, outcomes| {
                ensure(matches!(outcomes[0].code, Some(0 | 2)), "the artefact is imported or refused")?;
                ensure(outcomes[2].code == Some(0), "the index after the import is valid")?;
                ensure(outcomes[4].code == Some(0), "the next run succeeds")?;
                ensure(
                    outcomes[5].out.contains("src/token.py") && !outcomes[5].out.contains(SECRET),
                    "the next run finds the sources",
                )
            });
        assert_withstands([attack]);
    });
}
