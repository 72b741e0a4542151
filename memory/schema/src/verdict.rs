//! The decision whether an entry is stored, and whether it is a pattern.

use serde::Serialize;

/// Minimum score for an entry to be stored.
pub const MIN_SCORE: f64 = 0.5;

/// Minimum score for an entry to be a pattern.
pub const MIN_PATTERN_SCORE: f64 = 0.8;

/// The decision about an entry, which depends on its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The entry is not stored, because its score is below [`MIN_SCORE`].
    Refused(f64),
    /// The entry is stored, but not as a pattern, because it has no score or its score is below [`MIN_PATTERN_SCORE`].
    Stored(Option<f64>),
    /// The entry is stored as a pattern.
    Pattern(f64),
}

impl Verdict {
    /// Returns the verdict for a score from 0 to 1. `None` is the verdict for an entry without a score.
    pub fn from_score(score: Option<f64>) -> Self {
        match score {
            None => Self::Stored(None),
            Some(score) if score >= MIN_PATTERN_SCORE => Self::Pattern(score),
            Some(score) if score >= MIN_SCORE => Self::Stored(Some(score)),
            Some(score) => Self::Refused(score),
        }
    }

    /// Returns `true` if the entry is stored.
    pub fn is_stored(self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    /// Returns `true` if the entry is a pattern.
    pub fn is_pattern(self) -> bool {
        matches!(self, Self::Pattern(_))
    }

    /// Returns the reason for the verdict, as a sentence.
    pub fn reason(self) -> String {
        match self {
            Self::Refused(score) => {
                format!("The score {score} is below {MIN_SCORE}, so the entry is not stored.")
            }
            Self::Stored(Some(score)) => format!(
                "The score {score} is at least {MIN_SCORE} and below {MIN_PATTERN_SCORE}, so the entry is stored, but not as a pattern."
            ),
            Self::Stored(None) => "The entry has no score, so it is stored, but not as a pattern.".to_owned(),
            Self::Pattern(score) => {
                format!("The score {score} is at least {MIN_PATTERN_SCORE}, so the entry is stored as a pattern.")
            }
        }
    }
}

/// The outcome of adding or editing an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The id of the entry.
    pub id: String,
    /// Whether the entry is stored.
    pub stored: bool,
    /// Whether the entry is a pattern.
    pub is_pattern: bool,
    /// The reason for the outcome, as a sentence.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_equals_a_minimum_gets_the_better_verdict() {
        let check = |score: Option<f64>, expected: Verdict| assert_eq!(Verdict::from_score(score), expected);
        check(Some(0.0), Verdict::Refused(0.0));
        check(Some(0.499_999), Verdict::Refused(0.499_999));
        check(Some(0.5), Verdict::Stored(Some(0.5)));
        check(Some(0.799_999), Verdict::Stored(Some(0.799_999)));
        check(Some(0.8), Verdict::Pattern(0.8));
        check(None, Verdict::Stored(None));
        assert!(!Verdict::from_score(Some(f64::NAN)).is_stored());
    }

    #[test]
    fn reasons_name_the_rule() {
        let reasons = [Some(0.45), Some(0.5), None, Some(0.92)].map(|score| Verdict::from_score(score).reason());
        insta::assert_snapshot!(reasons.join("\n"), @"
        The score 0.45 is below 0.5, so the entry is not stored.
        The score 0.5 is at least 0.5 and below 0.8, so the entry is stored, but not as a pattern.
        The entry has no score, so it is stored, but not as a pattern.
        The score 0.92 is at least 0.8, so the entry is stored as a pattern.
        ");
    }
}
