//! Measures recall and precision of the rules: `cargo run --release -p aurora-redact --example measure --
//! FILE|DIRECTORY`.
//!
//! A file contains labelled examples, one JSON object per line. The keys are `rule`, `text`, `positive` (whether the
//! text contains a secret) and `secret` (the secret part of the text, or an empty string for the whole text). A secret
//! counts as found if at least half of it is masked, because the prefix of a token is not masked. For a directory, the
//! tool prints the number of secrets and of personal data by rule and the throughput. With `AURORA_MEASURE_SHOW=RULE`,
//! it also prints the text of the rule's matches.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use aurora_redact::{find, find_personal};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: measure FILE|DIRECTORY")?;
    let path = Path::new(&path);
    if path.is_dir() { measure_tree(path) } else { measure_examples(&fs::read_to_string(path)?) }
}

/// Results for the examples of a rule.
#[derive(Default)]
struct Outcome {
    /// Number of examples with a secret.
    positive: u32,
    /// Number of examples whose secret was found.
    found: u32,
    /// Number of examples without a secret.
    negative: u32,
    /// Number of examples without a secret whose text was masked nevertheless (false positives).
    masked: u32,
}

fn measure_examples(lines: &str) -> Result<(), Box<dyn Error>> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for line in lines.lines() {
        let example: Value = serde_json::from_str(line)?;
        let text = |key: &str| example[key].as_str().ok_or_else(|| format!("no `{key}` in {line}"));
        let outcome = outcomes.entry(text("rule")?.to_owned()).or_default();
        if example["positive"].as_bool().ok_or("no `positive`")? {
            outcome.positive += 1;
            outcome.found += u32::from(is_found(text("text")?, text("secret")?));
        } else {
            outcome.negative += 1;
            outcome.masked += u32::from(!find(text("text")?).is_empty());
        }
    }
    let mut all = Outcome::default();
    for (rule, outcome) in &outcomes {
        if outcome.found < outcome.positive || outcome.masked > 0 {
            let Outcome { positive, found, negative, masked } = outcome;
            println!("{rule:45} found {found}/{positive}, masked negatives {masked}/{negative}");
        }
        all.positive += outcome.positive;
        all.found += outcome.found;
        all.negative += outcome.negative;
        all.masked += outcome.masked;
    }
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole.max(1));
    println!("{} rules: recall {:.3} of {}", outcomes.len(), share(all.found, all.positive), all.positive);
    println!("masked negatives {}/{}", all.masked, all.negative);
    println!("precision {:.3}", share(all.found, all.found + all.masked));
    Ok(())
}

/// Whether at least half of the secret is masked.
fn is_found(text: &str, secret: &str) -> bool {
    let secret =
        if secret.is_empty() { 0..text.len() } else { text.find(secret).map_or(0..0, |at| at..at + secret.len()) };
    let masked = |span: std::ops::Range<usize>| span.end.min(secret.end).saturating_sub(span.start.max(secret.start));
    let found: usize = find(text).into_iter().map(|found| masked(found.span)).sum();
    found * 2 >= secret.len().max(1)
}

fn measure_tree(root: &Path) -> Result<(), Box<dyn Error>> {
    let (mut files, mut bytes, mut time) = (0, 0, Duration::ZERO);
    let mut rules: BTreeMap<&str, u32> = BTreeMap::new();
    let shown = std::env::var("AURORA_MEASURE_SHOW");
    visit(root, &mut |text| {
        let begun = Instant::now();
        let found = find(text);
        time += begun.elapsed();
        files += 1;
        bytes += text.len();
        for secret in found.iter().chain(&find_personal(text)).filter(|secret| !secret.continues) {
            *rules.entry(secret.rule).or_default() += 1;
            if shown.as_deref() == Ok(secret.rule) {
                println!("{}", &text[secret.span.clone()]);
            }
        }
    })?;
    println!("{files} files, {:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64().max(f64::MIN_POSITIVE));
    for (rule, count) in rules {
        println!("{count:>7} {rule}");
    }
    Ok(())
}

/// Calls `see` with the content of every text file in a directory tree.
fn visit(directory: &Path, see: &mut impl FnMut(&str)) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
        match kind? {
            kind if kind.is_dir() => visit(&path, see)?,
            kind if kind.is_file() => _ = fs::read_to_string(&path).map(|text| see(&text)),
            _ => {}
        }
    }
    Ok(())
}
