//! Tests of searching logs.

use aurora_logs::{DateRange, Pattern, PatternError, SearchHit};
use proptest::prelude::*;

use crate::test_directory::TestDirectory;

fn search(test: &TestDirectory, pattern: &Pattern) -> Vec<SearchHit> {
    let mut hits = Vec::new();
    for log in test.logs(DateRange::default()) {
        let mut take = |hit| {
            hits.push(hit);
            true
        };
        test.logs.search(&log, pattern, &mut take).unwrap();
    }
    hits
}

fn check(test: &TestDirectory, pattern: Pattern, expected: &str) {
    let mut found = String::new();
    for hit in search(test, &pattern) {
        let SearchHit { file, id, name, phase, line_start, line_end, matching_lines, lines } = hit;
        let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
        found.push_str(&format!("{file}:{line_start}-{line_end} {name} {phase:?} {id} {matching_lines}:"));
        for line in lines {
            found.push_str(&format!(" [{} {} {:?}]", line.line, line.text, &line.text[line.found.clone()]));
        }
        found.push('\n');
    }
    assert_eq!(found.trim_end(), expected.trim());
}

const LOG: &str = "---\n## Query: 2025-12-13T14:32:15Z | ID: aurora-1\n\n**User Query**: \"OAuth\"\n\n### Phase 1: ASSESS\nuses OAuth2\nand tokens\n```\n### Phase 2: no oauth\n```\n\n### Phase 3: DECOMPOSE\nTOKEN of oauth\n\n### Execution Summary\n- end\n";

#[test]
fn words_are_found_in_a_section() {
    let test = TestDirectory::new();
    test.put("2025/12/a-2025-12-13.md", LOG);
    test.put_packed("2025/11/b-2025-11-13.md.gz", b"one oauth\r\ntwo\n");
    check(&test, Pattern::words("oauth").unwrap(), "
2025/12/a-2025-12-13.md:2-5 Query None aurora-1 1: [4 **User Query**: \"OAuth\" \"OAuth\"]
2025/12/a-2025-12-13.md:6-12 Phase 1: ASSESS Some(1) aurora-1 2: [7 uses OAuth2 \"OAuth\"] [10 ### Phase 2: no oauth \"oauth\"]
2025/12/a-2025-12-13.md:13-15 Phase 3: DECOMPOSE Some(3) aurora-1 1: [14 TOKEN of oauth \"oauth\"]
2025/11/b-2025-11-13.md.gz:1-2  None  1: [1 one oauth \"oauth\"]");
    // A hit must contain every word, but the words can be on different lines.
    check(&test, Pattern::words(" Token  oauth oauth").unwrap(), "
2025/12/a-2025-12-13.md:6-12 Phase 1: ASSESS Some(1) aurora-1 3: [7 uses OAuth2 \"OAuth\"] [8 and tokens \"token\"] [10 ### Phase 2: no oauth \"oauth\"]
2025/12/a-2025-12-13.md:13-15 Phase 3: DECOMPOSE Some(3) aurora-1 1: [14 TOKEN of oauth \"TOKEN\"]");
    check(
        &test,
        Pattern::words("decompose").unwrap(),
        "
2025/12/a-2025-12-13.md:13-15 Phase 3: DECOMPOSE Some(3) aurora-1 1: [13 ### Phase 3: DECOMPOSE \"DECOMPOSE\"]",
    );
    check(&test, Pattern::words("saml").unwrap(), "");
    check(&test, Pattern::words("o.uth").unwrap(), "");
}

#[test]
fn regular_expressions_match_lines() {
    let test = TestDirectory::new();
    test.put("2025/12/a-2025-12-13.md", LOG);
    check(
        &test,
        Pattern::regex("^uses O[A-Z]uth\\d$").unwrap(),
        "
2025/12/a-2025-12-13.md:6-12 Phase 1: ASSESS Some(1) aurora-1 1: [7 uses OAuth2 \"uses OAuth2\"]",
    );
    check(
        &test,
        Pattern::regex("(?i)token\\s").unwrap(),
        "
2025/12/a-2025-12-13.md:13-15 Phase 3: DECOMPOSE Some(3) aurora-1 1: [14 TOKEN of oauth \"TOKEN \"]",
    );
    assert_eq!(search(&test, &Pattern::regex("").unwrap()).len(), 5);
    assert!(matches!(Pattern::regex("a("), Err(PatternError::Regex(_))));
    assert!(matches!(Pattern::regex("a{1000}{1000}{1000}"), Err(PatternError::Regex(_))));
    assert!(matches!(Pattern::words(" \n"), Err(PatternError::Empty)));
    let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    assert!(matches!(Pattern::words(&many.join(" ")), Err(PatternError::TooManyWords)));
    assert!(Pattern::words(&many[1..].join(" ")).is_ok());
}

#[test]
fn the_best_five_lines_are_shown() {
    let test = TestDirectory::new();
    let lines: String =
        (0..20).map(|number| format!("{number} {}\n", if number == 17 { "a b" } else { "a" })).collect();
    test.put("2025/12/a.md", format!("{lines}b\n"));
    let hits = search(&test, &Pattern::words("a b").unwrap());
    assert_eq!((hits.len(), hits[0].matching_lines), (1, 21));
    let shown: Vec<u64> = hits[0].lines.iter().map(|line| line.line).collect();
    assert_eq!(shown, [1, 2, 3, 4, 18]);
}

#[test]
fn long_lines_are_shortened_around_the_match() {
    let test = TestDirectory::new();
    let line = format!("{}é needle {}\n", "é".repeat(1000), "x".repeat(1000));
    test.put("2025/12/a.md", format!("{line}{}needle\nneedle\n", "y".repeat((1 << 20) - 3)));
    let hits = search(&test, &Pattern::words("needle").unwrap());
    let lines: Vec<u64> = hits[0].lines.iter().map(|line| line.line).collect();
    // The second line is longer than 1 MiB. Its match is not found, because it crosses the position at which the line
    // is truncated.
    assert_eq!(lines, [1, 3]);
    let shown = &hits[0].lines[0];
    assert!(shown.text.starts_with("…é") && shown.text.ends_with("x…") && shown.text.len() < 420, "{shown:?}");
    assert_eq!(&shown.text[shown.found.clone()], "needle");
}

#[test]
fn a_search_stops_if_the_caller_returns_false() {
    let test = TestDirectory::new();
    test.put("2025/12/a.md", "## A\nx\n## B\nx\n## C\nx\n");
    let mut seen = 0;
    let mut take = |_| {
        seen += 1;
        seen < 2
    };
    test.logs.search(&test.log("a"), &Pattern::words("x").unwrap(), &mut take).unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn a_damaged_log_yields_hits_in_its_readable_part_and_an_error() {
    let test = TestDirectory::new();
    let text: String = (0..20_000).map(|number| format!("## Part {number}\nneedle {}\n", number * number)).collect();
    test.put_packed("2025/12/a.md.gz", text.as_bytes());
    let whole = std::fs::read(test.path("2025/12/a.md.gz")).unwrap();
    test.put("2025/12/a.md.gz", &whole[..whole.len() / 2]);
    let mut seen = 0;
    let mut take = |_| {
        seen += 1;
        true
    };
    let result = test.logs.search(&test.log("a"), &Pattern::words("needle").unwrap(), &mut take);
    assert!(result.is_err() && seen > 100, "{result:?} {seen}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares the search with a naive search, in plain and in compressed logs.
    #[test]
    fn a_search_finds_the_same_sections_as_a_naive_search(text in "(## [ab]\n|[abAB ]{0,6}\n|```\n)*", packed in any::<bool>()) {
        let test = TestDirectory::new();
        match packed {
            true => test.put_packed("2025/12/a.md.gz", text.as_bytes()),
            false => test.put("2025/12/a.md", &text),
        }
        let mut tracker = aurora_logs::SectionTracker::default();
        let mut sections = vec![(1_u64, String::new())];
        for (at, line) in text.lines().enumerate() {
            if tracker.line(line.as_bytes()).is_some() {
                sections.push((at as u64 + 1, String::new()));
            }
            let last = sections.last_mut().unwrap();
            last.1.push_str(&line.to_lowercase());
            last.1.push('\n');
        }
        let expected: Vec<u64> =
            sections.iter().filter(|(_, text)| text.contains('a') && text.contains('b')).map(|(line, _)| *line).collect();
        let found: Vec<u64> = search(&test, &Pattern::words("B a").unwrap()).iter().map(|hit| hit.line_start).collect();
        prop_assert_eq!(found, expected);
    }
}
