//! Verdicts on results, which affect later searches.

use std::collections::BTreeMap;

use aurora_query::LearningConfig;
use aurora_storage::{AccessLog, Judgements, StorageError, Verdict};
use serde::Serialize;

/// The state of chunks after a verdict, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedbackReport {
    /// The given verdict.
    pub verdict: Verdict,
    /// The chunks, in the order of the request.
    pub chunks: Vec<JudgedChunk>,
}

/// The state of one chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedChunk {
    /// The chunk's key.
    pub id: String,
    /// Number of times that each verdict was given.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, u32>))]
    pub feedback: BTreeMap<Verdict, u32>,
    /// Amount that the verdicts add to the chunk's activation.
    pub learned: f64,
}

/// Records a verdict on the chunks with these keys, at the time `now` in Unix seconds. The verdict is recorded for all
/// of the chunks or for none.
///
/// # Errors
/// Fails if the log cannot be written or read. If only the read fails, the verdict has been recorded.
pub fn judge(
    log: &AccessLog,
    learning: &LearningConfig,
    verdict: Verdict,
    keys: &[String],
    now: i64,
) -> Result<FeedbackReport, StorageError> {
    let judged: Vec<(&str, i64)> = keys.iter().map(|key| (key.as_str(), now)).collect();
    log.judge(verdict, &judged)?;
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let records = log.get_many(&names)?;
    let chunk = |key: &String, judgements: Judgements| JudgedChunk {
        id: key.clone(),
        feedback: Verdict::ALL.iter().map(|&verdict| (verdict, judgements.count(verdict))).collect(),
        learned: rounded(learning.learned(&judgements)),
    };
    let judgements = records.into_iter().map(|record| record.unwrap_or_default().judgements);
    Ok(FeedbackReport { verdict, chunks: keys.iter().zip(judgements).map(|(key, found)| chunk(key, found)).collect() })
}

/// Rounds to two decimals, because floating-point sums of tenths are not exact.
fn rounded(learned: f32) -> f64 {
    (f64::from(learned) * 100.0).round() / 100.0
}
