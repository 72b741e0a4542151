//! Examples: built-in policies, overrides, retention rules, and both JSON formats.

use aurora_memory_policy::{
    ConfigFile, Decay, Decision, EntryRules, Facts, Layer, Lifespan, Policies, PolicyLayer, State, decide, retention,
};
use insta::assert_snapshot;

fn file(layer: Layer, text: &str) -> ConfigFile<'_> {
    ConfigFile { layer, name: "config.toml", text }
}

/// Formats the name, layer, lifespan, decay, state, days until expiry and flags of a decision.
fn summary(decision: &Decision) -> String {
    let state = match decision.state {
        State::Active => "active".to_owned(),
        State::Decayed => "decayed".to_owned(),
        State::Expired { since_days } => format!("expired {since_days} days ago"),
    };
    let left = decision.expires_in_days.map(|days| format!(", expires in {days} days")).unwrap_or_default();
    let flags: String = decision.escalation.iter().map(|flag| format!(", {flag}")).collect();
    let Decision { policy, layer, lifespan, decay, .. } = decision;
    format!("{policy} ({layer}): {lifespan}, {decay}, {state}{left}{flags}")
}

fn order(policies: &Policies) -> String {
    let names = policies
        .iter()
        .map(|policy| format!("{} ({}): {}, {}", policy.name, policy.layer, policy.lifespan, policy.decay));
    names.collect::<Vec<_>>().join("\n")
}

#[test]
fn built_in_policies() {
    let policies = Policies::built_in();
    assert!(policies.is_enabled());
    assert_eq!(policies.default_policy().name, "default");
    assert_snapshot!(order(&policies), @"
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    default (built-in): 180_days, logarithmic
    ");
    let check = |facts: Facts<'_>, expected: &str| {
        assert_eq!(summary(&decide(&policies, &EntryRules::default(), &facts)), expected);
    };
    let old = Facts { age_days: 500.0, inactive_days: 10.0, access_count: 5, ..Facts::default() };
    check(
        Facts { is_pattern: true, score: Some(0.8), domain: Some("security"), ..old },
        "patterns (built-in): indefinite, logarithmic, active",
    );
    check(
        Facts { is_pattern: true, score: Some(0.79), domain: Some("security"), ..old },
        "security_critical (built-in): 365_days, none, expired 135 days ago",
    );
    check(
        Facts { tags: &["security"], age_days: 364.5, ..old },
        "security_critical (built-in): 365_days, none, active, expires in 0.5 days",
    );
    check(
        Facts { access_count: 11, ..old },
        "high_usage (built-in): indefinite, logarithmic, active, candidate_for_fine_tuning",
    );
    check(Facts { access_count: 2, inactive_days: 90.5, ..old }, "inactive (built-in): decay, exponential, decayed");
    check(
        Facts { access_count: 2, inactive_days: 90.0, ..old },
        "default (built-in): 180_days, logarithmic, expired 320 days ago",
    );
    check(Facts { age_days: 180.0, ..old }, "default (built-in): 180_days, logarithmic, expired 0 days ago");
    check(Facts { age_days: 100.0, ..old }, "default (built-in): 180_days, logarithmic, active, expires in 80 days");
    // The entry gets the flag of a policy even if another policy decides.
    check(
        Facts { is_pattern: true, score: Some(0.9), access_count: 11, ..old },
        "patterns (built-in): indefinite, logarithmic, active, candidate_for_fine_tuning",
    );
}

const GLOBAL: &str = r#"
[memory.policies]
enabled = true
default = "default"

[memory.policy.default]
condition = "score >= 0.5"
lifespan = "180_days"
decay = "logarithmic"
"#;

const PROJECT: &str = r#"
[search]
hybrid = "ignored"

[memory.policy.fintech_critical]
condition = "domain == 'fintech' OR contains_tag('security')"
lifespan = "730_days"
decay_mechanism = "none"
description = "Two years for what moves money"

[memory.policy.default]
condition = "score >= 0.5"
lifespan = "90_days"
decay_mechanism = "exponential"
"#;

#[test]
fn a_project_overrides_the_global_policies() {
    let (global, project) = (file(Layer::Global, GLOBAL), file(Layer::Project, PROJECT));
    let check = |files: &[ConfigFile<'_>], facts: Facts<'_>, expected: &str| {
        let policies = Policies::load(files).unwrap();
        assert_eq!(summary(&decide(&policies, &EntryRules::default(), &facts)), expected);
    };
    let fintech =
        Facts { domain: Some("fintech"), score: Some(0.6), age_days: 100.0, access_count: 3, ..Facts::default() };
    let other = Facts { domain: Some("web"), age_days: 30.0, ..fintech };
    check(&[global], fintech, "default (global): 180_days, logarithmic, active, expires in 80 days");
    check(&[global], other, "default (global): 180_days, logarithmic, active, expires in 150 days");
    // Files are merged in the order of the layers, not in the order of the arguments.
    for files in [[global, project], [project, global]] {
        check(&files, fintech, "fintech_critical (project): 730_days, none, active, expires in 630 days");
        check(&files, other, "default (project): 90_days, exponential, active, expires in 60 days");
        check(&files, Facts { age_days: 91.0, ..other }, "default (project): 90_days, exponential, expired 1 days ago");
        // The policy of the project is evaluated before the built-in policy `security_critical`.
        let security = Facts { tags: &["security"], ..other };
        check(&files, security, "fintech_critical (project): 730_days, none, active, expires in 700 days");
        // The default policy applies even if its condition does not hold.
        check(
            &files,
            Facts { score: None, ..other },
            "default (project): 90_days, exponential, active, expires in 60 days",
        );
    }
    assert_snapshot!(order(&Policies::load(&[global, project]).unwrap()), @"
    fintech_critical (project): 730_days, none
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    default (project): 90_days, exponential
    ");
}

#[test]
fn overriding_keeps_the_position_and_the_unset_keys_of_a_policy() {
    let global = "
[memory.policy.inactive]
condition = 'inactive_for_30_days'
[memory.policy.b]
condition = 'true'
lifespan = 'decay'
[memory.policy.a]
condition = 'true'
lifespan = '10_days'
";
    let flag = "
[memory.policy.c]
condition = 'false'
lifespan = 'indefinite'
[memory.policy.high_usage]
escalation = ''
lifespan = '20_days'
[memory.policy.a]
decay = 'none'
";
    let files = [file(Layer::Global, global), file(Layer::Flag, flag), file(Layer::Environment, "")];
    let policies = Policies::load(&files).unwrap();
    assert_snapshot!(order(&policies), @"
    c (flag): indefinite, logarithmic
    b (global): decay, exponential
    a (flag): 10_days, none
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (flag): 20_days, logarithmic
    inactive (global): decay, exponential
    default (built-in): 180_days, logarithmic
    ");
    let inactive = policies.iter().find(|policy| policy.name == "inactive").unwrap();
    assert_eq!(inactive.condition.as_ref().unwrap().to_string(), "inactive_for_30_days");
    assert_eq!((inactive.lifespan, inactive.decay), (Lifespan::Decay, Decay::Exponential));
    let high_usage = policies.iter().find(|policy| policy.name == "high_usage").unwrap();
    assert_eq!((high_usage.condition.is_some(), &high_usage.escalation), (true, &None));
}

#[test]
fn the_default_policy_can_be_replaced() {
    let named = "[memory.policies]\ndefault = 'short'\n[memory.policy.short]\nlifespan = '7_days'\n";
    let policies = Policies::load(&[file(Layer::Global, named)]).unwrap();
    assert_snapshot!(order(&policies), @"
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    short (global): 7_days, logarithmic
    ");
    // The built-in default policy now has a condition and is evaluated like any other policy.
    let both = format!("{named}[memory.policy.default]\ncondition = 'score >= 0.5'\n");
    let policies = Policies::load(&[file(Layer::Global, &both)]).unwrap();
    assert_snapshot!(order(&policies), @"
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    default (global): 180_days, logarithmic
    short (global): 7_days, logarithmic
    ");
    // A project can set another default policy, even if the default policy of the global file has no condition.
    let project = file(Layer::Project, "[memory.policies]\ndefault = 'patterns'");
    let policies = Policies::load(&[file(Layer::Global, named), project]).unwrap();
    assert_snapshot!(order(&policies), @"
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    patterns (built-in): indefinite, logarithmic
    ");
}

#[test]
fn evaluation_can_be_switched_off() {
    let policies = Policies::load(&[file(Layer::Project, "[memory.policies]\nenabled = false")]).unwrap();
    let rules = EntryRules::parse(None, [("true", "decay_to_inactive"), ("true", "escalation_candidate")]).unwrap();
    let decision = decide(&policies, &rules, &Facts { age_days: 1e6, access_count: 100, ..Facts::default() });
    assert_eq!(summary(&decision), "memory.policies.enabled (project): indefinite, logarithmic, active");
    assert_snapshot!(decision.steps[0].explanation, @"The evaluation of policies is switched off. The entry is kept forever. Its activation falls with the logarithm of the days without use.");
    assert_eq!(decision.steps.len(), 1);
    let again = file(Layer::Flag, "[memory.policies]\nenabled = true");
    assert!(Policies::load(&[file(Layer::Project, "[memory.policies]\nenabled = false"), again]).unwrap().is_enabled());
}

#[test]
fn rules_of_an_entry() {
    let policies = Policies::built_in();
    let check = |lifespan_policy, rules: &[(&str, &str)], facts: Facts<'_>, expected: &str| {
        let rules = EntryRules::parse(lifespan_policy, rules.iter().copied()).unwrap();
        let decision = decide(&policies, &rules, &facts);
        assert_eq!(summary(&decision), expected);
        assert_eq!(retention(&policies, &rules, &facts).state, decision.state);
    };
    let facts = Facts { age_days: 200.0, inactive_days: 100.0, access_count: 3, ..Facts::default() };
    let code = [
        ("access_count > 0", "retain_while_active"),
        ("contains_tag('security')", "retain_for_365_days"),
        ("inactive_for_90_days", "decay_to_inactive"),
    ];
    let conditional = Some("conditional");
    check(conditional, &code, facts, "governance.retention_rules[0] (entry): indefinite, logarithmic, active");
    let unused = Facts { access_count: 0, ..facts };
    check(conditional, &code, unused, "governance.retention_rules[2] (entry): decay, exponential, decayed");
    let security = Facts { tags: &["security"], ..unused };
    check(
        conditional,
        &code,
        security,
        "governance.retention_rules[1] (entry): 365_days, logarithmic, active, expires in 165 days",
    );
    check(
        conditional,
        &code,
        Facts { inactive_days: 1.0, ..unused },
        "default (built-in): 180_days, logarithmic, expired 20 days ago",
    );
    let reasoning = [
        ("access_count > 10", "escalation_candidate"),
        ("is_pattern == true", "retain_indefinitely"),
        ("success_score >= 0.8", "retain_for_365_days"),
    ];
    let used = Facts { access_count: 11, score: Some(0.92), ..facts };
    check(
        conditional,
        &reasoning,
        used,
        "governance.retention_rules[2] (entry): 365_days, logarithmic, active, expires in 165 days, candidate_for_fine_tuning",
    );
    // Without `lifespan_policy`, the rules are used. With `time-based` and `indefinite`, they are ignored.
    check(
        None,
        &reasoning,
        Facts { is_pattern: true, ..used },
        "governance.retention_rules[1] (entry): indefinite, logarithmic, active, candidate_for_fine_tuning",
    );
    check(Some("time-based"), &code, facts, "default (built-in): 180_days, logarithmic, expired 20 days ago");
    check(Some("indefinite"), &code, unused, "governance.lifespan_policy (entry): indefinite, logarithmic, active");
    check(
        Some("indefinite"),
        &[],
        used,
        "governance.lifespan_policy (entry): indefinite, logarithmic, active, candidate_for_fine_tuning",
    );
}

#[test]
fn explanations() {
    let rules = [("confidence >= 0.8", "retain_for_180_days"), ("access_count > 5", "escalation_candidate")];
    let rules = EntryRules::parse(Some("conditional"), rules).unwrap();
    let policies = Policies::load(&[file(Layer::Global, GLOBAL), file(Layer::Project, PROJECT)]).unwrap();
    let facts = Facts {
        id: "know:oauth2-providers",
        kind: "knowledge",
        scope: "project",
        score: None,
        tags: &["validated", "security"],
        domain: Some("auth"),
        semantic_role: None,
        is_pattern: false,
        access_count: 12,
        age_days: 729.0,
        inactive_days: 12.000_000_1,
    };
    let explain = |facts: &Facts<'_>| {
        let steps = decide(&policies, &rules, facts).steps;
        let lines = steps.iter().map(|step| format!("{} ({}): {}", step.name, step.layer, step.explanation));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(explain(&facts), @"
    governance.retention_rules[0] (entry): The condition does not hold: `score` is absent.
    governance.retention_rules[1] (entry): The condition holds: `access_count` is 12. The entry gets the escalation flag `candidate_for_fine_tuning`.
    fintech_critical (project): The condition holds: `domain` is 'auth', the tags are validated, security. The entry is kept for 730 days after its creation or last edit; it expires in 1 day. Its activation does not fall.
    patterns (built-in): The condition does not hold: `is_pattern` is false, `score` is absent.
    security_critical (built-in): The condition holds: the tags are validated, security, `domain` is 'auth'. `fintech_critical` has already decided.
    high_usage (built-in): The condition holds: `access_count` is 12. `fintech_critical` has already decided. The entry gets the escalation flag `candidate_for_fine_tuning`.
    inactive (built-in): The condition does not hold: `last_accessed_days` is 12, `access_count` is 12.
    default (project): The condition does not hold: `score` is absent.
    ");
    assert_snapshot!(explain(&Facts { tags: &[], access_count: 1, age_days: 91.26, score: Some(0.6), ..facts }), @"
    governance.retention_rules[0] (entry): The condition does not hold: `score` is 0.6.
    governance.retention_rules[1] (entry): The condition does not hold: `access_count` is 1.
    fintech_critical (project): The condition does not hold: `domain` is 'auth', there are no tags.
    patterns (built-in): The condition does not hold: `is_pattern` is false, `score` is 0.6.
    security_critical (built-in): The condition does not hold: there are no tags, `domain` is 'auth'.
    high_usage (built-in): The condition does not hold: `access_count` is 1.
    inactive (built-in): The condition does not hold: `last_accessed_days` is 12, `access_count` is 1.
    default (project): No earlier condition decides, so the default policy applies. The entry is kept for 90 days after its creation or last edit; it expired 1.3 days ago. Its activation falls with the logarithm of the days without use, and by ln 2 with every half-life of further disuse.
    ");
    let inactive = Facts { tags: &[], access_count: 1, inactive_days: 100.0, ..facts };
    let decision = decide(&Policies::built_in(), &EntryRules::default(), &inactive);
    assert_snapshot!(serde_json::to_string_pretty(&decision).unwrap(), @r#"
    {
      "policy": "inactive",
      "layer": "built-in",
      "lifespan": "decay",
      "decay": "exponential",
      "escalation": [],
      "state": {
        "kind": "decayed"
      },
      "expires_in_days": null,
      "steps": [
        {
          "name": "patterns",
          "layer": "built-in",
          "condition": "is_pattern == true AND score >= 0.8",
          "held": false,
          "decides": false,
          "explanation": "The condition does not hold: `is_pattern` is false, `score` is absent."
        },
        {
          "name": "security_critical",
          "layer": "built-in",
          "condition": "contains_tag('security') OR domain == 'security'",
          "held": false,
          "decides": false,
          "explanation": "The condition does not hold: there are no tags, `domain` is 'auth'."
        },
        {
          "name": "high_usage",
          "layer": "built-in",
          "condition": "access_count > 10",
          "held": false,
          "decides": false,
          "explanation": "The condition does not hold: `access_count` is 1."
        },
        {
          "name": "inactive",
          "layer": "built-in",
          "condition": "last_accessed_days > 90 AND access_count <= 2",
          "held": true,
          "decides": true,
          "explanation": "The condition holds: `last_accessed_days` is 100, `access_count` is 1. The entry is kept in the decayed state, and search ranks it low. Its activation falls with the logarithm of the days without use, and by ln 2 with every half-life of further disuse."
        },
        {
          "name": "default",
          "layer": "built-in",
          "condition": null,
          "held": false,
          "decides": false,
          "explanation": "The default policy applies only if no condition holds."
        }
      ]
    }
    "#);
}

const POLICIES_OF_C2: &str = r#"{
  "llm": {"not": "looked at"},
  "memory": {
    "learning": {"success_boost": 0.2},
    "lifespan_policies": {
      "enabled": true,
      "default_policy": "default",
      "policies": {
        "fintech_critical": {
          "condition": "domain == 'fintech' OR contains_tag('security')",
          "lifespan": "730_days",
          "decay_mechanism": "none",
          "description": "Says \"money\"\nin two lines"
        },
        "default": {"condition": "score >= 0.5", "lifespan": "90_days", "decay_mechanism": "exponential"}
      }
    }
  }
}"#;

#[test]
fn json_is_converted_to_toml() {
    let to_toml = |text| {
        let layer = PolicyLayer::from_seed_json("config.json", text).unwrap();
        let written = layer.to_toml();
        assert_eq!(PolicyLayer::from_toml("config.toml", &written).unwrap().to_toml(), written);
        written
    };
    assert_snapshot!(to_toml(POLICIES_OF_C2), @r#"
    [memory.policies]
    enabled = true
    default = "default"

    [memory.policy.fintech_critical]
    condition = "domain == 'fintech' OR contains_tag('security')"
    lifespan = "730_days"
    decay = "none"
    description = """
    Says "money"
    in two lines"""

    [memory.policy.default]
    condition = "score >= 0.5"
    lifespan = "90_days"
    decay = "exponential"
    "#);
    let policies_of_6_7_1 = r#"{"retention_policies": {
      "patterns": {"condition": "is_pattern == true AND success_score >= 0.8", "lifespan": "indefinite", "decay_mechanism": "logarithmic"},
      "security_critical": {"condition": "contains_tag('security') OR domain == 'security'", "lifespan": "365_days", "decay_mechanism": "none"},
      "high_usage": {"condition": "access_count > 10", "lifespan": "indefinite", "escalation_action": "candidate_for_fine_tuning"},
      "inactive": {"condition": "last_accessed_days > 90 AND access_count <= 2", "lifespan": "decay", "decay_mechanism": "exponential"},
    }}"#;
    assert_snapshot!(to_toml(policies_of_6_7_1), @r#"
    [memory.policy.patterns]
    condition = "is_pattern == true AND score >= 0.8"
    lifespan = "indefinite"
    decay = "logarithmic"

    [memory.policy.security_critical]
    condition = "contains_tag('security') OR domain == 'security'"
    lifespan = "365_days"
    decay = "none"

    [memory.policy.high_usage]
    condition = "access_count > 10"
    lifespan = "indefinite"
    escalation = "candidate_for_fine_tuning"

    [memory.policy.inactive]
    condition = "last_accessed_days > 90 AND access_count <= 2"
    lifespan = "decay"
    decay = "exponential"
    "#);
    assert!(PolicyLayer::from_toml("config.toml", "[search]\nx = 1").unwrap().is_empty());
}

#[test]
fn a_json_file_is_a_layer() {
    let json = ConfigFile { layer: Layer::Flag, name: "policies.JSON", text: POLICIES_OF_C2 };
    let policies = Policies::load(&[json]).unwrap();
    let facts = Facts { domain: Some("fintech"), ..Facts::default() };
    let decision = decide(&policies, &EntryRules::default(), &facts);
    assert_eq!(summary(&decision), "fintech_critical (flag): 730_days, none, active, expires in 730 days");
}

#[test]
fn the_configuration_of_appendix_c_names_a_default_that_it_does_not_define() {
    let text = r#"{"memory": {"lifespan_policies": {"default_policy": "usage_based", "policies": {
        "default": {"condition": "score >= 0.5", "lifespan": "180_days"}}}}}"#;
    let policies = Policies::load(&[ConfigFile { layer: Layer::Global, name: "config.json", text }]).unwrap();
    assert_snapshot!(order(&policies), @"
    patterns (built-in): indefinite, logarithmic
    security_critical (built-in): 365_days, none
    high_usage (built-in): indefinite, logarithmic
    inactive (built-in): decay, exponential
    default (global): 180_days, logarithmic
    usage_based (built-in): indefinite, logarithmic
    ");
}
