//! Tests of the error messages for malformed configurations.

use aurora_memory_policy::{ConfigFile, DecayRates, Layer, Policies, PolicyLayer};
use insta::assert_snapshot;

#[test]
fn malformed_policies_in_toml_are_reported() {
    let text = r#"
[search]
anything = "is ignored here"

[memory]
other = 1

[memory.policies]
enabled = "yes"
defualt = "default"
default = "fintech"

[memory.policies.fintech]
condition = "true"

[memory.policy]
number = 3

[memory.policy.fintech_critical]
condition = "domain == 'fintech' OR contains_tags('security')"
lifespan = "730 days"
decay = "nothing"
escalate = "candidate"

[memory.policy.escaped]
condition = "domain == \"fintech\" OR scor > 1"
lifespan = 730
decay = "none"
decay_mechanism = "none"
escalation_action = true
description = ["a"]

[memory.policy.several_lines]
condition = """
is_pattern == true
AND score > '0.8'
"""
lifespan = "indefinit"

[memory.policy.no_lifespan]
condition = "true"

[memory.policy.no_condition]
lifespan = "0_days"

[memory.policy."a b"]
condition = 1
lifespan = "99999_days"
"#;
    let file = ConfigFile { layer: Layer::Project, name: "config.toml", text };
    assert_snapshot!(Policies::load(&[file]).unwrap_err(), @r#"
    error[A0103]: `memory.policies.enabled` must be true or false, not "yes"
     --> config.toml:9:1
    9 | enabled = "yes"

    error[A0102]: unknown key `memory.policies.defualt`
      --> config.toml:10:1
    10 | defualt = "default"
       = help: did you mean `default`?

    error[A0103]: `memory.policies.default` must name a policy, not "fintech"
      --> config.toml:11:1
    11 | default = "fintech"
       = help: the policies are number, fintech_critical, escaped, several_lines, no_lifespan, no_condition, a b, patterns, security_critical, high_usage, inactive, default, usage_based

    error[A0102]: unknown key `memory.policies.fintech`
      --> config.toml:13:18
    13 | [memory.policies.fintech]
       = help: a policy is a table `[memory.policy.fintech]`

    error[A0103]: `memory.policy.number` must be a table, not 3
      --> config.toml:17:1
    17 | number = 3

    error[A0103]: `memory.policy.fintech_critical.condition`: unknown function `contains_tags`; expected `contains_tag`
      --> config.toml:20:37
    20 | condition = "domain == 'fintech' OR contains_tags('security')"
       = help: did you mean `contains_tag`?

    error[A0103]: `memory.policy.fintech_critical.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not "730 days"
      --> config.toml:21:1
    21 | lifespan = "730 days"
       = help: did you mean `730_days`?

    error[A0103]: `memory.policy.fintech_critical.decay` must be "logarithmic", "exponential" or "none", not "nothing"
      --> config.toml:22:1
    22 | decay = "nothing"

    error[A0102]: unknown key `memory.policy.fintech_critical.escalate`
      --> config.toml:23:1
    23 | escalate = "candidate"
       = help: did you mean `escalation`?

    error[A0103]: `memory.policy.escaped.condition`: unknown field `scor`; expected `score`, `access_count`, `age_days`, `last_accessed_days`, `is_pattern`, `domain`, `type`, `id`, `scope`, `semantic_role`, `contains_tag('…')`, `inactive_for_N_days`, true or false
      --> config.toml:26:13
    26 | condition = "domain == \"fintech\" OR scor > 1"
       = help: did you mean `score`?

    error[A0103]: `memory.policy.escaped.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not 730
      --> config.toml:27:1
    27 | lifespan = 730

    error[A0103]: `memory.policy.escaped.decay_mechanism` repeats the key `decay`
      --> config.toml:29:1
    29 | decay_mechanism = "none"
       = help: keep one

    error[A0103]: `memory.policy.escaped.escalation_action` must be a string, not true
      --> config.toml:30:1
    30 | escalation_action = true

    error[A0103]: `memory.policy.escaped.description` must be a string, not a list
      --> config.toml:31:1
    31 | description = ["a"]

    error[A0103]: `memory.policy.several_lines.condition`: `score` is a number and cannot be compared with `'0.8'`; expected a number such as 0.8
      --> config.toml:36:13
    36 | AND score > '0.8'

    error[A0103]: `memory.policy.several_lines.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not "indefinit"
      --> config.toml:38:1
    38 | lifespan = "indefinit"
       = help: did you mean `indefinite`?

    error[A0111]: `memory.policy.no_lifespan.lifespan` is missing; it must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500
      --> config.toml:40:16
    40 | [memory.policy.no_lifespan]

    error[A0111]: `memory.policy.no_condition.condition` is missing; only a default policy can omit it
      --> config.toml:43:16
    43 | [memory.policy.no_condition]

    error[A0103]: `memory.policy.no_condition.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not "0_days"
      --> config.toml:44:1
    44 | lifespan = "0_days"

    error[A0103]: `memory.policy.a b`: the name of a policy must have 1 to 64 ASCII letters, digits, `_` and `-`
      --> config.toml:46:16
    46 | [memory.policy."a b"]

    error[A0103]: `memory.policy.a b.condition` must be a condition in quotes, not 1
      --> config.toml:47:1
    47 | condition = 1

    error[A0103]: `memory.policy.a b.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not "99999_days"
      --> config.toml:48:1
    48 | lifespan = "99999_days"
    "#);
}

#[test]
fn malformed_policies_in_json_are_reported() {
    let text = r#"{
  "other": {"is": "ignored"},
  "memory": {
    "lifespan_policies": {
      "enabled": 1,
      "default_policy": "usage",
      "polices": {},
      "policies": {
        "critical": {"condition": "domain = fintech", "lifespan": "730", "decay_mechanism": "log"},
        "critical": {"condition": "true", "lifespan": "decay"},
        "partial": {"condition": "true", "condition": "false"},
        "none": null
      }
    }
  }
}"#;
    let load = |text| {
        let file = ConfigFile { layer: Layer::Flag, name: "policies.json", text };
        Policies::load(&[file]).unwrap_err().to_string()
    };
    assert_snapshot!(load(text), @r#"
    error[A0103]: `memory.lifespan_policies.enabled` must be true or false, not 1
     --> policies.json:5:7
    5 |       "enabled": 1,

    error[A0103]: `memory.lifespan_policies.default_policy` must name a policy, not "usage"
     --> policies.json:6:7
    6 |       "default_policy": "usage",
      = help: the policies are critical, partial, none, patterns, security_critical, high_usage, inactive, default, usage_based

    error[A0102]: unknown key `memory.lifespan_policies.polices`
     --> policies.json:7:7
    7 |       "polices": {},
      = help: did you mean `policies`?

    error[A0103]: `memory.lifespan_policies.policies.critical.condition`: `domain` is a string and cannot be compared with `fintech`; expected a string in quotes
     --> policies.json:9:45
    9 |         "critical": {"condition": "domain = fintech", "lifespan": "730", "decay_mechanism": "log"},
      = help: write 'fintech'

    error[A0103]: `memory.lifespan_policies.policies.critical.lifespan` must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500, not "730"
     --> policies.json:9:55
    9 |         "critical": {"condition": "domain = fintech", "lifespan": "730", "decay_mechanism": "log"},
      = help: did you mean `730_days`?

    error[A0103]: `memory.lifespan_policies.policies.critical.decay_mechanism` must be "logarithmic", "exponential" or "none", not "log"
     --> policies.json:9:74
    9 |         "critical": {"condition": "domain = fintech", "lifespan": "730", "decay_mechanism": "log"},

    error[A0103]: `memory.lifespan_policies.policies.critical` repeats the key `critical`
      --> policies.json:10:9
    10 |         "critical": {"condition": "true", "lifespan": "decay"},
       = help: keep one

    error[A0111]: `memory.lifespan_policies.policies.partial.lifespan` is missing; it must be "indefinite", "decay" or "N_days" with a whole number N from 1 to 36500
      --> policies.json:11:9
    11 |         "partial": {"condition": "true", "condition": "false"},

    error[A0103]: `memory.lifespan_policies.policies.partial.condition` repeats the key `condition`
      --> policies.json:11:42
    11 |         "partial": {"condition": "true", "condition": "false"},
       = help: keep one

    error[A0103]: `memory.lifespan_policies.policies.none` must be a table, not null
      --> policies.json:12:9
    12 |         "none": null
    "#);
    assert_snapshot!(load(r#"{"memory": {}, "lifespan_policies": {}}"#), @r#"
    error[A0111]: the file has neither `memory.lifespan_policies` nor `retention_policies`
     --> policies.json:1:1
    1 | {"memory": {}, "lifespan_policies": {}}
    "#);
    assert_snapshot!(load(r#"{"retention_policies": {}, "memory": {"lifespan_policies": {}}}"#), @r#"
    error[A0103]: `retention_policies` cannot be used in a file that has `memory.lifespan_policies`
     --> policies.json:1:2
    1 | {"retention_policies": {}, "memory": {"lifespan_policies": {}}}
      = help: move its policies there
    "#);
    assert_snapshot!(load("{\n  \"memory\": {\n    \"lifespan_policies\": {\"enabled\" true}\n}}"), @r#"
    error[A0100]: Expected colon after the string or word in object property
     --> policies.json:3:37
    3 |     "lifespan_policies": {"enabled" true}
    "#);
    assert_snapshot!(load("[]"), @"
    error[A0100]: the file must hold a JSON object
     --> policies.json:1:1
    1 | []
    ");
    assert_snapshot!(load(""), @"
    error[A0100]: the file must hold a JSON object
     --> policies.json:1:1
    1 |
    ");
}

#[test]
fn errors_of_all_files_are_reported_at_once_in_order() {
    let files = [
        ConfigFile { layer: Layer::Project, name: "project.toml", text: "[memory.policies]\ndefault = \"high_use\"\n" },
        ConfigFile { layer: Layer::Global, name: "global.toml", text: "memory = 1\n" },
        ConfigFile { layer: Layer::Flag, name: "flag.toml", text: "[memory.policy.inactive\n" },
    ];
    assert_snapshot!(Policies::load(&files).unwrap_err(), @r#"
    error[A0103]: `memory` must be a table, not 1
     --> global.toml:1:1
    1 | memory = 1

    error[A0103]: `memory.policies.default` must name a policy, not "high_use"
     --> project.toml:2:1
    2 | default = "high_use"
      = help: did you mean `high_usage`?

    error[A0100]: unclosed table, expected `]`
     --> flag.toml:1:24
    1 | [memory.policy.inactive
    "#);
    let error = PolicyLayer::from_toml("one.toml", "[memory]\npolicy = 3\npolicies = []").unwrap_err();
    assert_snapshot!(error, @"
    error[A0103]: `memory.policy` must be a table, not 3
     --> one.toml:2:1
    2 | policy = 3

    error[A0103]: `memory.policies` must be a table, not a list
     --> one.toml:3:1
    3 | policies = []
    ");
}

#[test]
fn invalid_decay_rates_are_reported() {
    let text = r#"
[memory.decay]
turn = -0.1
turns = 0.1
note = inf
knowledge = "slow"
log = { session = 10.5, team = 0.1, glbal = 0.1, user = nan }
reasoning = []
"#;
    let files = [
        ConfigFile { layer: Layer::Project, name: "project.toml", text },
        ConfigFile { layer: Layer::Global, name: "global.toml", text: "[memory]\ndecay = 0.1\n" },
    ];
    assert_snapshot!(DecayRates::load(&files).unwrap_err(), @r#"
    error[A0103]: `memory.decay` must be a table, not 0.1
     --> global.toml:2:1
    2 | decay = 0.1

    error[A0103]: `memory.decay.turn` must be a number per hour from 0 to 10, not -0.1
     --> project.toml:3:1
    3 | turn = -0.1

    error[A0102]: unknown key `memory.decay.turns`
     --> project.toml:4:1
    4 | turns = 0.1
      = help: did you mean `turn`?

    error[A0103]: `memory.decay.note` must be a number per hour from 0 to 10, not inf
     --> project.toml:5:1
    5 | note = inf

    error[A0103]: `memory.decay.knowledge` must be a number per hour from 0 to 10, not "slow"
     --> project.toml:6:1
    6 | knowledge = "slow"

    error[A0103]: `memory.decay.log.session` must be a number per hour from 0 to 10, not 10.5
     --> project.toml:7:9
    7 | log = { session = 10.5, team = 0.1, glbal = 0.1, user = nan }

    error[A0102]: unknown key `memory.decay.log.team`
     --> project.toml:7:25
    7 | log = { session = 10.5, team = 0.1, glbal = 0.1, user = nan }
      = help: the keys here are session, project, user, global

    error[A0102]: unknown key `memory.decay.log.glbal`
     --> project.toml:7:37
    7 | log = { session = 10.5, team = 0.1, glbal = 0.1, user = nan }
      = help: did you mean `global`?

    error[A0103]: `memory.decay.log.user` must be a number per hour from 0 to 10, not nan
     --> project.toml:7:50
    7 | log = { session = 10.5, team = 0.1, glbal = 0.1, user = nan }

    error[A0103]: `memory.decay.reasoning` must be a number per hour from 0 to 10, not a list
     --> project.toml:8:1
    8 | reasoning = []
    "#);
}
