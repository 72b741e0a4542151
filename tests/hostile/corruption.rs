//! Random damage to the files below `.aurora`, with or without valid checksums.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::process::Outcome;
use crate::random::{Random, attempts};
use crate::sandbox::{Sandbox, Start};
use crate::{Attack, FORCE, INDEX, assert_withstands, ensure};

const ASK: &[&str] = &["mem", "search", "parse token", "--format", "json", "--no-record", "--show-content"];
const BLAME: &[&str] = &["mem", "blame", "src/token.py"];
/// All files below `.aurora`.
const FILES: &[&str] = &[
    "index/data.mdb",
    "index/lock.mdb",
    "access/data.mdb",
    "access/lock.mdb",
    "history.walk",
    "history.comparisons",
    "tree.walk",
    "tree.check",
    "writer.lock",
    "eval/manifest.json",
    "eval/exact.jsonl",
    "reasoning/pattern.json",
];

/// Returns the path, name and content of each result of a search.
fn found_chunks(outcome: &Outcome) -> Vec<String> {
    let results = outcome.json()["results"].as_array().cloned().unwrap_or_default();
    results.iter().map(|result| format!("{} {} {}", result["file"], result["name"], result["content"])).collect()
}

/// Whether a run reports a problem.
fn has_warning(outcome: &Outcome) -> bool {
    let json = outcome.json();
    let notes = |key: &str| json[key].as_array().is_some_and(|notes| !notes.is_empty());
    outcome.code != Some(0)
        || !outcome.err.is_empty()
        || notes("notes")
        || notes("warnings")
        || json["results"]
            .as_array()
            .is_some_and(|results| results.iter().any(|result| result["changed_since_index"] != Value::Bool(false)))
}

#[test]
fn random_damage_is_reported_or_harmless() {
    let test = "random_damage_is_reported_or_harmless";
    let sandbox = Sandbox::new(Start { indexed: true, mined: true });
    let undamaged = found_chunks(&sandbox.run(&mut sandbox.aur(ASK)));
    assert!(!undamaged.is_empty());
    attempts(test, 60, |random| {
        let file = if random.below(2) == 0 { FILES[0] } else { FILES[random.below(FILES.len())] };
        let path = PathBuf::from(".aurora").join(file);
        let mut bytes = fs::read(sandbox.path(&path)).unwrap_or_default();
        let mut changes = Vec::new();
        for _ in 0..1 + random.below(4) {
            changes.push(random.damage(&mut bytes));
        }
        let undamaged = undamaged.clone();
        let attack = Attack::on_indexed(format!("{file}: {}", changes.join(", ")), move |sandbox| {
            sandbox.write(&path, &bytes);
        });
        let attack = attack.mined();
        let attack =
            attack.run(ASK).run(&["mem", "verify"]).run(BLAME).run(INDEX).run(FORCE).run(ASK).run(&["mem", "verify"]);
        assert_withstands([attack.expect(move |_, outcomes| {
            let (first, last) = (&outcomes[0], &outcomes[5]);
            ensure(
                has_warning(first) || found_chunks(first) == undamaged,
                "the search gives the right answer or a warning",
            )?;
            ensure(outcomes[4].code == Some(0), "a forced run repairs the index")?;
            ensure(found_chunks(last) == undamaged, "the repaired index gives the right answer")?;
            ensure(outcomes[6].code == Some(0), "the repaired index is valid")
        })]);
    });
}

/// Returns the offset and the length of the content of each segment of a file. A segment consists of the length, the
/// content, and a BLAKE3 checksum.
fn segments(bytes: &[u8]) -> Vec<(usize, usize)> {
    let segment = |at: usize| {
        let length = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
        let end = at.checked_add(8)?.checked_add(usize::try_from(length).ok()?)?;
        let fits = bytes.get(end..end + 32)? == blake3::hash(bytes.get(at + 8..end)?).as_bytes();
        fits.then_some((at + 8, length as usize))
    };
    let mut found = Vec::new();
    let mut at = (8..bytes.len().min(400)).find(|&at| segment(at).is_some());
    while let Some((start, length)) = at.and_then(segment) {
        found.push((start, length));
        at = Some(start + length + 32);
    }
    found
}

/// Changes the content of one segment, and updates the length and the checksum of the segment.
fn forge(bytes: &mut Vec<u8>, random: &mut Random) -> Option<&'static str> {
    let segments = segments(bytes);
    let (start, length) = *segments.get(random.below(segments.len()))?;
    let mut content = bytes[start..start + length].to_vec();
    let change = random.damage(&mut content);
    let forged = [&(content.len() as u64).to_le_bytes(), &content[..], blake3::hash(&content).as_bytes()].concat();
    bytes.splice(start - 8..start + length + 32, forged);
    Some(change)
}

#[test]
fn files_with_forged_checksums_break_no_run() {
    let test = "files_with_forged_checksums_break_no_run";
    let sandbox = Sandbox::new(Start { indexed: true, mined: true });
    let kept: Vec<(&str, Vec<u8>)> = ["history.walk", "history.comparisons", "tree.walk"]
        .into_iter()
        .filter_map(|name| Some((name, fs::read(sandbox.path(".aurora").join(name)).ok()?)))
        .filter(|(_, bytes)| !segments(bytes).is_empty())
        .collect();
    assert!(!kept.is_empty(), "some files have segments");
    attempts(test, 60, |random| {
        let (name, mut bytes) = kept[random.below(kept.len())].clone();
        let changes: Vec<_> = (0..1 + random.below(4)).filter_map(|_| forge(&mut bytes, random)).collect();
        let attack = Attack::on_indexed(format!("{name}: {}", changes.join(", ")), move |sandbox| {
            sandbox.write(format!(".aurora/{name}"), &bytes);
            sandbox.write("src/token.py", "def parse_token(text):\n    return text.partition(':')\n");
            sandbox.write("src/added.py", "def added():\n    return 1\n");
            sandbox.git(&["add", "src"]);
            sandbox.git(&["commit", "--quiet", "--message", "second"]);
        });
        let attack = attack.run(INDEX).run(ASK).run(BLAME).run(&["mem", "verify"]).run(FORCE);
        assert_withstands([attack.expect(|_, outcomes| {
            ensure(outcomes[0].code == Some(0) && outcomes[4].code == Some(0), "the run succeeds")?;
            ensure(outcomes[3].code == Some(0), "the index is valid")
        })]);
    });
}
