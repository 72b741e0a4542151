//! Formats numbers, sizes and durations for people, in the same way in all reports.

use std::time::Duration;

/// Formats a number with grouped digits: `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats bytes with three significant digits: `812 B`, `1.21 MiB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// Formats a duration: `830 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.9995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 59.95 {
        format!("{seconds:.1} s")
    } else {
        let whole = seconds.round() as u64;
        let (hours, minutes, seconds) = (whole / 3600, whole % 3600 / 60, whole % 60);
        match hours {
            0 => format!("{minutes} min {seconds} s"),
            _ => format!("{hours} h {minutes} min"),
        }
    }
}

/// Formats a value with three significant digits.
pub fn significant(value: f64) -> String {
    match value {
        ..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats a count with its noun: `1 file`, `1,204 files`, `2 entries`.
pub fn counted(number: u64, noun: &str) -> String {
    let number_shown = count(number);
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("{number_shown} {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{number_shown} {stem}ies"),
        _ => format!("{number_shown} {noun}s"),
    }
}

/// Parses a duration such as `45m`, `1h30m`, `90s` or `500ms`, of at most 1,000 days. The units are `d`, `h`, `m`, `s`
/// and `ms`. Returns `None` if the text is malformed, or if the duration is zero or too long.
pub fn parse_duration(text: &str) -> Option<Duration> {
    const MAX: Duration = Duration::from_secs(1_000 * 86_400);
    let (mut rest, mut total) = (text.trim(), Duration::ZERO);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let millis: u64 = match unit {
            "d" => 86_400_000,
            "h" => 3_600_000,
            "m" | "min" => 60_000,
            "s" => 1_000,
            "ms" => 1,
            _ => return None,
        };
        let part = number.parse::<u64>().ok()?.checked_mul(millis)?;
        total = total.checked_add(Duration::from_millis(part))?;
        rest = after.trim_start();
    }
    (!total.is_zero() && total <= MAX).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text| parse_duration(text).map(|time| time.as_secs_f64());
        assert_eq!(seconds("45m"), Some(2_700.0));
        assert_eq!(seconds("1h30m"), Some(5_400.0));
        assert_eq!(seconds("1 h"), None);
        assert_eq!(seconds("1h 30s"), Some(3_630.0));
        assert_eq!(seconds("500ms"), Some(0.5));
        for wrong in ["", "45", "m", "-1m", "0s", "1.5h", "1x", "99999999999999999999d", "1001d", "5m3", "é"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
