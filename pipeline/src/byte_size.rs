//! Sizes in bytes in configuration files.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A size in the configuration of a stage: a number of bytes, or a string with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ByteSize(pub u64);

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = ByteSize;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"512MiB\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ByteSize, E> {
                let size = parse_bytes(text).filter(|bytes| *bytes > 0).map(ByteSize);
                size.ok_or_else(|| E::custom(format!("`{text}` is not a size such as \"512MiB\"")))
            }

            fn visit_i64<E: Error>(self, bytes: i64) -> Result<ByteSize, E> {
                let size = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0).map(ByteSize);
                size.ok_or_else(|| E::custom(format!("{bytes} is not a size")))
            }

            fn visit_u64<E: Error>(self, bytes: u64) -> Result<ByteSize, E> {
                if bytes == 0 { Err(E::custom("0 is not a size")) } else { Ok(ByteSize(bytes)) }
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

/// Parses a size such as `1.5 GiB`. The units are `B`, the binary `KiB`, `MiB`, `GiB` and `TiB` (or `K`, `M`, `G` and
/// `T`), and the decimal `KB`, `MB`, `GB` and `TB`, in upper or lower case. A number without a unit counts bytes.
/// Returns `None` if the text is malformed or the number is too large.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000 * 1000,
        "gb" => 1000 * 1000 * 1000,
        "tb" => 1000 * 1000 * 1000 * 1000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let bytes = number.parse::<f64>().ok()? * factor as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// Formats a number of bytes exactly, in the largest binary unit that divides it.
pub fn format_bytes(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn formatted_sizes_parse_to_the_same_number(bytes in any::<u64>(), shift in 0u32..50) {
            let bytes = (bytes >> shift << shift).max(1);
            prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Some(bytes));
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("1.5 GiB"), Some(3 << 29));
        assert_eq!(parse_bytes("10MB"), Some(10_000_000));
        assert_eq!(parse_bytes("64k"), Some(65_536));
        for wrong in ["", "GiB", "1 GiBB", "-1", "1e3", "99999999TiB"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }
}
