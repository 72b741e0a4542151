//! Tests of the error messages for malformed conditions and retention rules.

use aurora_memory_policy::{Condition, EntryRules, check_rule};
use insta::assert_snapshot;

#[test]
fn malformed_conditions_are_reported() {
    let long = format!("contains_tag('{}')", "x".repeat(4096));
    let grows = vec!["true"; 512].join("&&");
    let texts = [
        "",
        "  ",
        "scor >= 0.8",
        "Score >= 0.8",
        "owner == 'me'",
        "domain > 3",
        "domain == 3",
        "domain == security",
        "access_count == 'x'",
        "access_count > many",
        "is_pattern",
        "is_pattern >= true",
        "is_pattern == 'true'",
        "score",
        "score >=",
        "score >= AND true",
        "score 0.8",
        "score => 0.8",
        "score <> 0.8",
        "0.5 < score",
        "score > 0.5 < 0.8",
        "score >= 1e3",
        "score >= .5",
        "score >= 5.",
        "score >= 1.2.3",
        "score >= -",
        "true & false",
        "true | false",
        "true AND",
        "AND true",
        "NOT",
        "true false",
        "(true",
        "true)",
        "(true false)",
        "()",
        "domain == 'security",
        r"domain == '\q'",
        r"domain == '\u{110000}'",
        "domain == ‘security’",
        "score > 0.5 # good",
        "contains_tag",
        "contains_tag(security)",
        "contains_tag('a', 'b')",
        "contains_tag('a'",
        "contains_tags('a')",
        "score('a')",
        "inactive_for_days",
        "inactive_for_0_days",
        "inactive_for_1.5_days",
        "inactive_for_99999_days",
        "ünknown == 1",
    ];
    let mut messages = String::new();
    for text in texts {
        let error = Condition::parse(text).expect_err(text);
        messages += &format!("`{text}`\n    {error}\n");
    }
    let deep = "(".repeat(65);
    let large = format!("score < 1{}", "0".repeat(400));
    for (what, text) in
        [("too long", &long), ("long in canonical form", &grows), ("too deep", &deep), ("too large", &large)]
    {
        let error = Condition::parse(text).expect_err(what);
        messages += &format!("[{what}]\n    {error}\n");
    }
    assert_snapshot!(messages, @r#"
    ``
        an empty condition at bytes 0..0; expected a condition such as `access_count > 10`
    `  `
        an empty condition at bytes 0..2; expected a condition such as `access_count > 10`
    `scor >= 0.8`
        unknown field `scor` at bytes 0..4; expected `score`, `access_count`, `age_days`, `last_accessed_days`, `is_pattern`, `domain`, `type`, `id`, `scope`, `semantic_role`, `contains_tag('…')`, `inactive_for_N_days`, true or false (did you mean `score`?)
    `Score >= 0.8`
        unknown field `Score` at bytes 0..5; expected `score`, `access_count`, `age_days`, `last_accessed_days`, `is_pattern`, `domain`, `type`, `id`, `scope`, `semantic_role`, `contains_tag('…')`, `inactive_for_N_days`, true or false (did you mean `score`?)
    `owner == 'me'`
        unknown field `owner` at bytes 0..5; expected `score`, `access_count`, `age_days`, `last_accessed_days`, `is_pattern`, `domain`, `type`, `id`, `scope`, `semantic_role`, `contains_tag('…')`, `inactive_for_N_days`, true or false
    `domain > 3`
        `domain` is a string and does not support `>` at bytes 7..8; expected == or !=
    `domain == 3`
        `domain` is a string and cannot be compared with `3` at bytes 10..11; expected a string in quotes (write '3')
    `domain == security`
        `domain` is a string and cannot be compared with `security` at bytes 10..18; expected a string in quotes (write 'security')
    `access_count == 'x'`
        `access_count` is a number and cannot be compared with `'x'` at bytes 16..19; expected a number such as 0.8
    `access_count > many`
        `access_count` is a number and cannot be compared with `many` at bytes 15..19; expected a number such as 0.8
    `is_pattern`
        the condition ends at bytes 10..10; expected == or != after `is_pattern` (write `is_pattern == true`)
    `is_pattern >= true`
        `is_pattern` is true or false and does not support `>=` at bytes 11..13; expected == or !=
    `is_pattern == 'true'`
        `is_pattern` is true or false and cannot be compared with `'true'` at bytes 14..20; expected true or false
    `score`
        the condition ends at bytes 5..5; expected ==, !=, <, <=, > or >= after `score`
    `score >=`
        the condition ends at bytes 8..8; expected a number such as 0.8 after the operator
    `score >= AND true`
        unexpected `AND` at bytes 9..12; expected a number such as 0.8 after the operator
    `score 0.8`
        unexpected `0.8` at bytes 6..9; expected ==, !=, <, <=, > or >= after `score`
    `score => 0.8`
        unexpected `=>` at bytes 6..8; expected >=
    `score <> 0.8`
        unexpected `<>` at bytes 6..8; expected !=
    `0.5 < score`
        unexpected `0.5` at bytes 0..3; expected a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`
    `score > 0.5 < 0.8`
        unexpected `<` at bytes 12..13; expected AND, OR or the end (join two comparisons with AND)
    `score >= 1e3`
        `1e3` is not a decimal number at bytes 9..12; expected digits with at most one decimal point between them, such as 0.8
    `score >= .5`
        `.5` is not a decimal number at bytes 9..11; expected digits with at most one decimal point between them, such as 0.8
    `score >= 5.`
        `5.` is not a decimal number at bytes 9..11; expected digits with at most one decimal point between them, such as 0.8
    `score >= 1.2.3`
        `1.2.3` is not a decimal number at bytes 9..14; expected digits with at most one decimal point between them, such as 0.8
    `score >= -`
        unexpected `-` at bytes 9..10; expected a field, an operator, a value, a parenthesis, AND, OR or NOT
    `true & false`
        unexpected `&` at bytes 5..6; expected AND
    `true | false`
        unexpected `|` at bytes 5..6; expected OR
    `true AND`
        the condition ends at bytes 8..8; expected a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`
    `AND true`
        unexpected `AND` at bytes 0..3; expected a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`
    `NOT`
        the condition ends at bytes 3..3; expected a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`
    `true false`
        unexpected `false` at bytes 5..10; expected AND, OR or the end
    `(true`
        unclosed `(` at bytes 0..1; expected a closing `)`
    `true)`
        unexpected `)` at bytes 4..5; expected AND, OR or the end
    `(true false)`
        unexpected `false` at bytes 6..11; expected AND, OR or `)`
    `()`
        unexpected `)` at bytes 1..2; expected a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`
    `domain == 'security`
        unterminated string at bytes 10..19; expected a closing '
    `domain == '\q'`
        `\q` is not an escape sequence at bytes 11..13; expected \\, \', \", \n, \r, \t or \u{N} with the hexadecimal number N of a character
    `domain == '\u{110000}'`
        `\u` is not an escape sequence at bytes 11..13; expected \\, \', \", \n, \r, \t or \u{N} with the hexadecimal number N of a character
    `domain == ‘security’`
        unexpected `‘` at bytes 10..13; expected '
    `score > 0.5 # good`
        unexpected `#` at bytes 12..13; expected a field, an operator, a value, a parenthesis, AND, OR or NOT
    `contains_tag`
        the condition ends at bytes 12..12; expected `(` after `contains_tag`
    `contains_tag(security)`
        unexpected `security` at bytes 13..21; expected a tag in quotes (write 'security')
    `contains_tag('a', 'b')`
        unexpected `,` at bytes 16..17; expected a field, an operator, a value, a parenthesis, AND, OR or NOT
    `contains_tag('a'`
        the condition ends at bytes 16..16; expected `)` after the tag
    `contains_tags('a')`
        unknown function `contains_tags` at bytes 0..13; expected `contains_tag` (did you mean `contains_tag`?)
    `score('a')`
        unknown function `score` at bytes 0..5; expected `contains_tag`
    `inactive_for_days`
        `inactive_for_days` has no valid number of days at bytes 0..17; expected `inactive_for_N_days` with a whole number N from 1 to 36500
    `inactive_for_0_days`
        `inactive_for_0_days` has no valid number of days at bytes 0..19; expected `inactive_for_N_days` with a whole number N from 1 to 36500
    `inactive_for_1.5_days`
        `inactive_for_1.5_days` has no valid number of days at bytes 0..21; expected `inactive_for_N_days` with a whole number N from 1 to 36500
    `inactive_for_99999_days`
        `inactive_for_99999_days` has no valid number of days at bytes 0..23; expected `inactive_for_N_days` with a whole number N from 1 to 36500
    `ünknown == 1`
        unexpected `ü` at bytes 0..2; expected a field, an operator, a value, a parenthesis, AND, OR or NOT
    [too long]
        a condition of 4112 bytes at bytes 0..4112; expected at most 4096 bytes
    [long in canonical form]
        a condition with a canonical form of 4603 bytes at bytes 0..3070; expected at most 4096 bytes
    [too deep]
        parentheses and NOT nest more than 64 levels deep at bytes 64..65; expected less nesting
    [too large]
        the number is too large at bytes 8..409; expected a number below 1.8 · 10^308
    "#);
}

#[test]
fn malformed_retention_rules_are_reported() {
    let pairs = [
        ("access_count > 0", "retain_while_activ"),
        ("access_count > 0", "retain_for_0_days"),
        ("access_count > 0", "retain_for_many_days"),
        ("access_count >", "keep"),
        ("contains_tag(security)", "retain_for_365_days"),
    ];
    let mut messages = String::new();
    for (condition, action) in pairs {
        messages += &format!("{}\n", check_rule(condition, action).unwrap_err());
    }
    messages += "all at once:\n";
    messages += &EntryRules::parse(Some("time_based"), pairs).unwrap_err().messages.join("\n");
    assert_snapshot!(messages, @"
    `then` must be `retain_indefinitely`, `retain_for_N_days`, `retain_while_active`, `decay_to_inactive`, `escalation_candidate`, not `retain_while_activ` (did you mean `retain_while_active`?)
    `then` must have a whole number of days from 1 to 36500, not `retain_for_0_days`
    `then` must have a whole number of days from 1 to 36500, not `retain_for_many_days`
    `if`: the condition ends at bytes 14..14; expected a number such as 0.8 after the operator; `then` must be `retain_indefinitely`, `retain_for_N_days`, `retain_while_active`, `decay_to_inactive`, `escalation_candidate`, not `keep`
    `if`: unexpected `security` at bytes 13..21; expected a tag in quotes (write 'security')
    all at once:
    `lifespan_policy` must be `conditional`, `time-based` or `indefinite`, not `time_based` (did you mean `time-based`?)
    `retention_rules[0].then` must be `retain_indefinitely`, `retain_for_N_days`, `retain_while_active`, `decay_to_inactive`, `escalation_candidate`, not `retain_while_activ` (did you mean `retain_while_active`?)
    `retention_rules[1].then` must have a whole number of days from 1 to 36500, not `retain_for_0_days`
    `retention_rules[2].then` must have a whole number of days from 1 to 36500, not `retain_for_many_days`
    `retention_rules[3].if`: the condition ends at bytes 14..14; expected a number such as 0.8 after the operator
    `retention_rules[3].then` must be `retain_indefinitely`, `retain_for_N_days`, `retain_while_active`, `decay_to_inactive`, `escalation_candidate`, not `keep`
    `retention_rules[4].if`: unexpected `security` at bytes 13..21; expected a tag in quotes (write 'security')
    ");
}
