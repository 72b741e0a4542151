//! Numbers in metadata. Comparisons are exact, even between a whole number and a float.

use std::cmp::Ordering;

/// A number that an index stores or that a condition contains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// Parses a number; `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.parse().map(Self::Integer).or_else(|_| text.parse().map(Self::Float)).ok()
    }

    /// Returns whether the number is neither infinite nor NaN.
    pub(super) fn is_finite(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(number) => number.is_finite(),
        }
    }
}

/// Compares by value; `None` if either number is NaN.
impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (*self, *other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => compare_whole(a, b),
            (Self::Float(a), Self::Integer(b)) => compare_whole(b, a).map(Ordering::reverse),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

/// Compares a whole number with a float exactly. The conversion of a large whole number to a float would round it.
fn compare_whole(whole: i64, float: f64) -> Option<Ordering> {
    /// 2^63, the first float above every `i64`.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match float {
        _ if float.is_nan() => None,
        _ if float >= BEYOND => Some(Ordering::Less),
        _ if float < -BEYOND => Some(Ordering::Greater),
        _ => Some(whole.cmp(&(float as i64)).then(0.0f64.total_cmp(&(float.fract() + 0.0)))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn large_numbers_are_compared_exactly() {
        let compare = |a: &str, b: &str| {
            let number = |text| Number::parse(text).expect("a number");
            number(a).partial_cmp(&number(b))
        };
        for (a, b, order) in [
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("9223372036854775807", "9223372036854775808.0", Ordering::Less),
            ("-9223372036854775808", "-9223372036854775808.0", Ordering::Equal),
            ("-9223372036854775808", "-1e300", Ordering::Greater),
            ("0", "-0.0", Ordering::Equal),
            ("5", "5.0", Ordering::Equal),
            ("5", "5.5", Ordering::Less),
            ("-5", "-5.5", Ordering::Greater),
            ("99999999999999999999", "9223372036854775807", Ordering::Greater),
        ] {
            assert_eq!(compare(a, b), Some(order), "{a} {b}");
            assert_eq!(compare(b, a), Some(order.reverse()), "{b} {a}");
        }
        assert_eq!(compare("1", "NaN"), None);
        assert!(Number::parse("many").is_none() && Number::parse("").is_none());
    }

    proptest! {
        #[test]
        fn small_numbers_compare_as_floats_do(a in -1000i64..1000, b in -1000.0f64..1000.0) {
            prop_assert_eq!(Number::Integer(a).partial_cmp(&Number::Float(b)), (a as f64).partial_cmp(&b));
        }
    }
}
