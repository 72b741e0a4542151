//! Whether an entry is stored, and whether it is a pattern.

use serde::Serialize;

/// Entries below this score are not stored.
pub const LOWEST_SCORE: f64 = 0.5;

/// From this score on an entry is a pattern.
pub const PATTERN_SCORE: f64 = 0.8;

/// What an entry's score decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The score is below [`LOWEST_SCORE`]: the entry is not stored.
    Refused(f64),
    /// Stored, but no pattern: the score is below [`PATTERN_SCORE`], or there is none.
    Stored(Option<f64>),
    /// Stored as a pattern.
    Pattern(f64),
}

impl Verdict {
    /// The verdict for a score from 0 to 1, or for an entry without one.
    pub fn of(score: Option<f64>) -> Self {
        match score {
            None => Self::Stored(None),
            Some(score) if score >= PATTERN_SCORE => Self::Pattern(score),
            Some(score) if score >= LOWEST_SCORE => Self::Stored(Some(score)),
            Some(score) => Self::Refused(score),
        }
    }

    /// Whether the entry is stored.
    pub fn is_stored(self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    /// Whether the entry is a pattern.
    pub fn is_pattern(self) -> bool {
        matches!(self, Self::Pattern(_))
    }

    /// The rule that applied, as a sentence.
    pub fn reason(self) -> String {
        match self {
            Self::Refused(score) => {
                format!("The score {score} is below {LOWEST_SCORE}, so the entry is not stored.")
            }
            Self::Stored(Some(score)) => format!(
                "The score {score} is at least {LOWEST_SCORE} and below {PATTERN_SCORE}, so the entry is stored, but not as a pattern."
            ),
            Self::Stored(None) => "The entry has no score, so it is stored, but not as a pattern.".to_owned(),
            Self::Pattern(score) => {
                format!("The score {score} is at least {PATTERN_SCORE}, so the entry is stored as a pattern.")
            }
        }
    }
}

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The entry's id.
    pub id: String,
    /// Whether the entry is stored.
    pub stored: bool,
    /// Whether the entry is a pattern.
    pub is_pattern: bool,
    /// The rule that applied, as a sentence.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_belong_to_the_better_side() {
        let check = |score: Option<f64>, expected: Verdict| assert_eq!(Verdict::of(score), expected);
        check(Some(0.0), Verdict::Refused(0.0));
        check(Some(0.499_999), Verdict::Refused(0.499_999));
        check(Some(0.5), Verdict::Stored(Some(0.5)));
        check(Some(0.799_999), Verdict::Stored(Some(0.799_999)));
        check(Some(0.8), Verdict::Pattern(0.8));
        check(None, Verdict::Stored(None));
        assert!(!Verdict::of(Some(f64::NAN)).is_stored());
    }

    #[test]
    fn reasons_name_the_rule() {
        let reasons = [Some(0.45), Some(0.5), None, Some(0.92)].map(|score| Verdict::of(score).reason());
        insta::assert_snapshot!(reasons.join("\n"), @"
        The score 0.45 is below 0.5, so the entry is not stored.
        The score 0.5 is at least 0.5 and below 0.8, so the entry is stored, but not as a pattern.
        The entry has no score, so it is stored, but not as a pattern.
        The score 0.92 is at least 0.8, so the entry is stored as a pattern.
        ");
    }
}
