//! Dates in logs and patterns.

pub(crate) use aurora_memory_schema::parse_time as unix_seconds;

/// Returns the last date in a text such as a file name: `oauth-setup-2025-12-15`.
pub(crate) fn last_date_in(text: &str) -> Option<&str> {
    let is_edge = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_digit());
    (0..text.len().saturating_sub(9)).rev().find_map(|at| {
        let date = text.get(at..at + 10)?;
        let before = at.checked_sub(1).and_then(|i| text.as_bytes().get(i));
        (is_edge(before) && is_edge(text.as_bytes().get(at + 10)) && unix_seconds(date).is_some()).then_some(date)
    })
}

#[cfg(test)]
mod tests {
    use super::{last_date_in, unix_seconds};
    use proptest::prelude::*;

    #[test]
    fn reads_dates_with_and_without_time() {
        assert_eq!(unix_seconds("1970-01-01"), Some(0));
        assert_eq!(unix_seconds("2000-03-01"), Some(951_868_800));
        assert_eq!(unix_seconds("2025-12-12T14:20:00Z"), Some(1_765_549_200));
        assert_eq!(unix_seconds("2025-12-12T15:20:00.25+01:00"), Some(1_765_549_200));
        assert_eq!(unix_seconds("2025-12-12 14:20"), Some(1_765_549_200));
        for wrong in ["2025-02-29", "2025-13-01", "12-12-2025", "2025-12-12T", "2025-12-12x", ""] {
            assert_eq!(unix_seconds(wrong), None, "{wrong}");
        }
        assert_eq!(last_date_in("oauth-2024-01-01-2025-12-15"), Some("2025-12-15"));
        assert_eq!(last_date_in("run-12025-12-15"), None);
    }

    proptest! {
        #[test]
        fn the_next_day_is_a_day_later(year in 1600i64..2400, month in 1u32..=12, day in 1u32..=28) {
            let today = unix_seconds(&format!("{year:04}-{month:02}-{day:02}")).unwrap();
            let next = if day == 28 { None } else { unix_seconds(&format!("{year:04}-{month:02}-{:02}", day + 1)) };
            prop_assert!(next.is_none_or(|next| next - today == 86_400));
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".{0,40}") {
            let _ = (unix_seconds(&text), last_date_in(&text));
        }
    }
}
