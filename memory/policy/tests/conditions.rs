//! Tests of the evaluation and the canonical form of conditions.

use aurora_memory_policy::{Condition, Facts};

fn facts() -> Facts<'static> {
    Facts {
        id: "reas:auth-flow-123",
        kind: "reasoning",
        scope: "project",
        score: Some(0.92),
        tags: &["security", "Tested"],
        domain: Some("security"),
        semantic_role: None,
        is_pattern: true,
        access_count: 11,
        age_days: 400.0,
        inactive_days: 90.0,
    }
}

#[test]
fn conditions_are_written_in_canonical_form() {
    let check = |text: &str, expected: &str| {
        let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(condition.to_string(), expected);
        assert_eq!(serde_json::to_value(&condition).unwrap(), expected);
    };
    check("is_pattern==true and success_score>=0.80", "is_pattern == true AND score >= 0.8");
    check("confidence = .5e0".replace(".5e0", "0.5").as_str(), "score == 0.5");
    check("is_pattern != TRUE", "is_pattern == false");
    check("inactive_days > 90 && access_count <= 2", "last_accessed_days > 90 AND access_count <= 2");
    check("a".replace('a', "((true))").as_str(), "true");
    check("true || false && !true", "true OR false AND NOT true");
    check("(true || false) && true", "(true OR false) AND true");
    check("(true && false) && (true && true)", "true AND false AND true AND true");
    check("(true or false) or (true and true)", "true OR false OR true AND true");
    check("not (true and false)", "NOT (true AND false)");
    check("! ! True", "NOT NOT true");
    check("NOT (NOT false)", "NOT NOT false");
    check("type = \"it's\"", r"type == 'it\'s'");
    check(r#"id != '\\ \' \" \n \r \t \u{1F600} \u{7f}'"#, r#"id != '\\ \' " \n \r \t 😀 \u{7f}'"#);
    check("contains_tag ( \"security\" )", "contains_tag('security')");
    check("inactive_for_090_days", "inactive_for_90_days");
    check("score>-1", "score > -1");
    check("age_days < 10000000000000000000000", "age_days < 10000000000000000000000");
}

#[test]
fn conditions_are_evaluated() {
    let check = |text: &str, expected: bool| {
        let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(condition.holds(&facts()), expected, "{text}");
    };
    check("is_pattern == true AND success_score >= 0.8", true);
    check("is_pattern == false", false);
    check("is_pattern != false", true);
    check("access_count > 10", true);
    check("access_count > 11", false);
    check("access_count >= 11 AND access_count <= 11 AND access_count == 11 AND access_count != 12", true);
    check("last_accessed_days > 90", false);
    check("inactive_for_90_days", true);
    check("inactive_for_91_days", false);
    check("age_days >= 400", true);
    check("contains_tag('security') AND contains_tag('tested')", true);
    check("contains_tag('secur')", false);
    check("domain == 'Security'", true);
    check("domain != 'security'", false);
    check("type = 'reasoning' AND scope = 'project' AND id = 'reas:auth-flow-123'", true);
    check("id == 'Reas:auth-flow-123'", false);
    // AND binds more tightly than OR, and NOT more tightly than both.
    check("true OR false AND false", true);
    check("(true OR false) AND false", false);
    check("NOT true OR true", true);
    check("NOT (true OR true)", false);
}

#[test]
fn comparisons_with_absent_values_do_not_hold() {
    let check = |text: &str, expected: bool| {
        let facts = Facts { score: None, ..facts() };
        assert_eq!(Condition::parse(text).unwrap().holds(&facts), expected, "{text}");
    };
    check("score >= 0", false);
    check("score != 0.5", false);
    check("NOT score != 0.5", true);
    check("semantic_role == 'x'", false);
    check("semantic_role != 'x'", false);
    check("NOT semantic_role == 'x'", true);
    let no_number = Facts { score: Some(f64::NAN), ..facts() };
    assert!(!Condition::parse("score != 0.5 OR score == 0.5").unwrap().holds(&no_number));
}

#[test]
fn the_maximum_depth_and_length_are_accepted() {
    let nested = |depth: usize| format!("{}true{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Condition::parse(&nested(64)).is_ok());
    assert!(Condition::parse(&nested(65)).is_err());
    assert!(Condition::parse(&format!("{}true", "!".repeat(64))).is_ok());
    assert!(Condition::parse(&format!("{}true", "!".repeat(65))).is_err());
    // Closed parentheses do not count towards the depth.
    assert!(Condition::parse(&vec!["(NOT true)"; 200].join(" OR ")).is_ok());
    let of_length = |bytes: usize| format!("contains_tag('{}')", "x".repeat(bytes - 16));
    assert!(Condition::parse(&of_length(4096)).is_ok());
    assert!(Condition::parse(&of_length(4097)).is_err());
}
