//! Parses evidence, which lists the turns that answer a question. Annotators typed the lists by hand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// Evidence that replaces the evidence of LoCoMo, by the text of the question.
pub(crate) type Corrections = BTreeMap<String, Vec<String>>;

/// Reads the file `errors.json` of dial481/locomo-audit. Questions without corrected evidence are omitted.
pub(crate) fn corrections(path: &Path) -> Result<Corrections, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    let errors: Vec<Value> = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    let corrected = errors.iter().filter_map(|error| {
        let ids = listed(&error["correct_evidence"]);
        Some((error["question"].as_str()?.to_owned(), ids)).filter(|(_, ids)| !ids.is_empty())
    });
    Ok(corrected.collect())
}

/// Returns the ids of the turns in an evidence list.
pub(crate) fn listed(evidence: &Value) -> Vec<String> {
    evidence.as_array().into_iter().flatten().filter_map(Value::as_str).flat_map(ids).collect()
}

/// Returns the ids of the turns in an item of an evidence list, such as `D8:6`.
///
/// An item is split at white space, commas and semicolons. A part is an id if it consists of `D`, an optional colon,
/// the number of the session, a colon and the number of the turn. Leading zeros are dropped. All other parts are
/// ignored. The caller checks whether a turn with the id exists.
fn ids(item: &str) -> Vec<String> {
    item.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter_map(id).collect()
}

fn id(part: &str) -> Option<String> {
    let numbers = part.strip_prefix('D')?;
    let (session, turn) = numbers.strip_prefix(':').unwrap_or(numbers).split_once(':')?;
    let (session, turn): (u32, u32) = (session.parse().ok()?, turn.parse().ok()?);
    Some(format!("D{session}:{turn}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every malformed item of `locomo10_v2`, and one valid item.
    #[test]
    fn malformed_items_are_parsed() {
        let check = |item: &str, expected: &[&str]| assert_eq!(ids(item), expected, "{item}");
        check("D8:6", &["D8:6"]);
        check("D8:6; D9:17", &["D8:6", "D9:17"]);
        check("D22:1 D22:2 D9:10 D9:11", &["D22:1", "D22:2", "D9:10", "D9:11"]);
        check("D:11:26", &["D11:26"]);
        check("D30:05", &["D30:5"]);
        check("D", &[]);
        check("", &[]);
    }
}
