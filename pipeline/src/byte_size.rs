//! Sizes in bytes, as configurations write them.

/// Parses a number of bytes with an optional unit: `KiB`, `MiB`, `GiB`, `TiB`, or the decimal `KB`, `MB`, `GB`, `TB`.
/// `None` if it is malformed, or too large.
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

/// Formats a number of bytes exactly, in the largest possible binary unit.
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
        fn sizes_are_read_as_they_are_written(bytes in any::<u64>(), shift in 0u32..50) {
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
