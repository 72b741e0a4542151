//! Property tests of conditions, layers and decisions.

use aurora_memory_policy::{
    Condition, ConfigFile, Decay, EntryRules, Facts, Layer, Policies, PolicyLayer, Rates, activation_loss, decide,
    retention,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A reference implementation of a condition.
#[derive(Debug, Clone)]
enum Tree {
    Constant(bool),
    Number(&'static str, &'static str, f64),
    Text(&'static str, bool, String),
    IsPattern(bool, bool),
    Tag(String),
    InactiveFor(u32),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

/// An owned version of [`Facts`].
#[derive(Debug, Clone)]
struct OwnedFacts {
    kind: String,
    score: Option<f64>,
    tags: Vec<String>,
    domain: Option<String>,
    is_pattern: bool,
    access_count: u64,
    age_days: f64,
    inactive_days: f64,
}

impl OwnedFacts {
    fn with<T>(&self, call: impl FnOnce(&Facts<'_>) -> T) -> T {
        let tags: Vec<&str> = self.tags.iter().map(String::as_str).collect();
        call(&Facts {
            id: "an id",
            kind: &self.kind,
            scope: "project",
            score: self.score,
            tags: &tags,
            domain: self.domain.as_deref(),
            semantic_role: None,
            is_pattern: self.is_pattern,
            access_count: self.access_count,
            age_days: self.age_days,
            inactive_days: self.inactive_days,
        })
    }
}

impl Tree {
    fn holds(&self, facts: &OwnedFacts) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Number(field, operator, value) => {
                let found = match *field {
                    "score" | "success_score" | "confidence" => facts.score,
                    "access_count" => Some(facts.access_count as f64),
                    "age_days" => Some(facts.age_days),
                    _ => Some(facts.inactive_days),
                };
                let Some(found) = found else { return false };
                match *operator {
                    "==" | "=" => found == *value,
                    "!=" => found != *value,
                    "<" => found < *value,
                    "<=" => found <= *value,
                    ">" => found > *value,
                    _ => found >= *value,
                }
            }
            Self::Text(field, equal, value) => {
                let found = match *field {
                    "type" => Some(&facts.kind),
                    "domain" => facts.domain.as_ref(),
                    _ => None,
                };
                found.is_some_and(|found| (lower_case(found) == lower_case(value)) == *equal)
            }
            Self::IsPattern(equal, value) => (facts.is_pattern == *value) == *equal,
            Self::Tag(tag) => facts.tags.iter().any(|found| lower_case(found) == lower_case(tag)),
            Self::InactiveFor(days) => facts.inactive_days >= f64::from(*days),
            Self::Not(part) => !part.holds(facts),
            Self::And(parts) => parts.iter().fold(true, |all, part| all & part.holds(facts)),
            Self::Or(parts) => parts.iter().fold(false, |any, part| any | part.holds(facts)),
        }
    }

    /// Writes the condition with parentheses around every part. `style` selects one of two spellings for keywords,
    /// operators and quotes.
    fn text(&self, style: bool) -> String {
        let word = |first: &str, second: &str| if style { first.to_owned() } else { second.to_owned() };
        let join = |parts: &[Self], keyword: &str| {
            let parts: Vec<String> = parts.iter().map(|part| format!("({})", part.text(style))).collect();
            parts.join(keyword)
        };
        match self {
            Self::Constant(value) => word(&value.to_string(), &value.to_string().to_uppercase()),
            Self::Number(field, operator, value) => format!("{field}{operator}{value}"),
            Self::Text(field, equal, value) => {
                format!("{field} {} {}", if *equal { word("==", "=") } else { "!=".to_owned() }, quoted(value, style))
            }
            Self::IsPattern(equal, value) => format!("is_pattern{}{value}", if *equal { "==" } else { "!=" }),
            Self::Tag(tag) => format!("contains_tag({})", quoted(tag, style)),
            Self::InactiveFor(days) => format!("inactive_for_{days}_days"),
            Self::Not(part) => format!("{}({})", word("NOT ", "!"), part.text(style)),
            Self::And(parts) => join(parts, &word(" AND ", "&&")),
            Self::Or(parts) => join(parts, &word(" oR\t", "||")),
        }
    }
}

fn lower_case(text: &str) -> String {
    text.to_ascii_lowercase()
}

fn quoted(text: &str, single: bool) -> String {
    let quote = if single { '\'' } else { '"' };
    let escaped: String = text
        .chars()
        .flat_map(|character| {
            let slash = (character == '\\' || character == quote).then_some('\\');
            slash.into_iter().chain([character])
        })
        .collect();
    format!("{quote}{escaped}{quote}")
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("security".to_owned()),
        Just("Security".to_owned()),
        Just("it's \\ \"".to_owned()),
        any::<String>()
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-20i32..20).prop_map(f64::from),
        -2.0..2.0f64,
        any::<f64>().prop_filter("finite", |value| value.abs() < 1e20)
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let fields =
        ["score", "success_score", "confidence", "access_count", "age_days", "last_accessed_days", "inactive_days"];
    let operators = ["==", "=", "!=", "<", "<=", ">", ">="];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Tree::Constant),
        (prop::sample::select(fields.to_vec()), prop::sample::select(operators.to_vec()), number())
            .prop_map(|(field, operator, value)| Tree::Number(field, operator, value)),
        (prop::sample::select(vec!["type", "domain", "semantic_role"]), any::<bool>(), word())
            .prop_map(|(field, equal, value)| Tree::Text(field, equal, value)),
        any::<(bool, bool)>().prop_map(|(equal, value)| Tree::IsPattern(equal, value)),
        word().prop_map(Tree::Tag),
        (1u32..30).prop_map(Tree::InactiveFor),
    ];
    leaf.prop_recursive(4, 24, 4, |part| {
        prop_oneof![
            part.clone().prop_map(|part| Tree::Not(Box::new(part))),
            vec(part.clone(), 1..4).prop_map(Tree::And),
            vec(part, 1..4).prop_map(Tree::Or),
        ]
    })
}

fn facts() -> impl Strategy<Value = OwnedFacts> {
    let texts = (word(), vec(word(), 0..3), option::of(word()));
    (texts, option::of(number()), any::<bool>(), 0u64..20, 0.0..30.0f64, 0.0..30.0f64).prop_map(
        |((kind, tags, domain), score, is_pattern, access_count, age_days, inactive_days)| OwnedFacts {
            kind,
            score,
            tags,
            domain,
            is_pattern,
            access_count,
            age_days: age_days.round(),
            inactive_days: inactive_days.round(),
        },
    )
}

/// Generates a text of tokens in random order.
fn random_tokens() -> impl Strategy<Value = String> {
    let words = [
        "score",
        "domain",
        "is_pattern",
        "contains_tag",
        "inactive_for_90_days",
        "(",
        ")",
        "AND",
        "or",
        "NOT",
        "!",
        "&&",
        "|",
        "==",
        "<=",
        "=",
        "'a'",
        "'",
        "\\",
        "\"b\"",
        "0.8",
        "-1",
        ".5",
        "true",
        "ü",
        "\u{0}",
        "#",
    ];
    vec((prop::sample::select(words.to_vec()), prop::sample::select(vec!["", " "])), 0..12)
        .prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space]).collect())
}

/// Generates policies in TOML, each with a condition, a lifespan, a decay and a flag.
fn layer_text() -> impl Strategy<Value = String> {
    let lifespans = prop::sample::select(vec!["indefinite", "decay", "10_days", "20_days"]);
    let decays = prop::sample::select(vec!["logarithmic", "exponential", "none"]);
    let flag = prop::sample::select(vec!["", "a", "b"]);
    let name = prop::sample::select(vec!["inactive", "default", "p0", "p1", "p2", "p3"]);
    vec((name, tree(), lifespans, decays, flag), 0..5).prop_map(|policies| {
        let mut text = String::new();
        for (index, (name, condition, lifespan, decay, flag)) in policies.iter().enumerate() {
            if policies[..index].iter().any(|(earlier, ..)| earlier == name) {
                continue;
            }
            let condition = toml::Value::String(condition.text(true));
            text += &format!("[memory.policy.{name}]\ncondition = {condition}\nlifespan = '{lifespan}'\n");
            text += &format!("decay = '{decay}'\nescalation = '{flag}'\n");
        }
        text
    })
}

proptest! {
    #[test]
    fn a_condition_evaluates_like_its_tree(tree in tree(), facts in facts(), style: bool) {
        let condition = Condition::parse(&tree.text(style)).unwrap();
        prop_assert_eq!(facts.with(|facts| condition.holds(facts)), tree.holds(&facts), "{}", condition);
    }

    #[test]
    fn the_canonical_form_parses_to_an_equal_condition(tree in tree(), style: bool) {
        let condition = Condition::parse(&tree.text(style)).unwrap();
        let canonical = condition.to_string();
        let again = Condition::parse(&canonical).unwrap();
        prop_assert_eq!(&again, &condition);
        prop_assert_eq!(again.to_string(), canonical);
        prop_assert_eq!(Condition::parse(&tree.text(!style)).unwrap(), condition);
    }

    #[test]
    fn conditions_obey_the_laws_of_logic(a in tree(), b in tree(), c in tree(), facts in facts()) {
        let (a, b, c) = (a.text(true), b.text(true), c.text(true));
        let holds = |text: String| {
            let condition = Condition::parse(&text).unwrap();
            facts.with(|facts| condition.holds(facts))
        };
        prop_assert_eq!(holds(format!("NOT (({a}) AND ({b}))")), holds(format!("NOT ({a}) OR NOT ({b})")));
        prop_assert_eq!(holds(format!("NOT (({a}) OR ({b}))")), holds(format!("NOT ({a}) AND NOT ({b})")));
        prop_assert_eq!(holds(format!("NOT NOT ({a})")), holds(a.clone()));
        prop_assert_eq!(holds(format!("({a}) OR ({b}) AND ({c})")), holds(format!("({a}) OR (({b}) AND ({c}))")));
        prop_assert_eq!(holds(format!("({a}) OR NOT ({a})")), true);
        prop_assert_eq!(holds(format!("({a}) AND NOT ({a})")), false);
    }

    #[test]
    fn parsing_a_condition_never_panics(text in prop_oneof![any::<String>(), random_tokens()]) {
        match Condition::parse(&text) {
            Ok(condition) => prop_assert_eq!(Condition::parse(&condition.to_string()).unwrap(), condition),
            Err(error) => prop_assert!(text.get(error.span.clone()).is_some(), "{}: {}", text, error),
        }
    }

    #[test]
    fn parsing_a_layer_never_panics(text in prop_oneof![any::<String>(), random_tokens()]) {
        let whole = [
            text.clone(),
            format!("[memory.policy.a]\ncondition = {text}"),
            format!("[memory.policy.a]\nlifespan = \"{text}\""),
            format!("[memory.policies]\ndefault = '{text}'"),
            format!("{{\"retention_policies\": {{\"a\": {{\"condition\": \"{text}\"}}}}}}"),
        ];
        for text in whole {
            for name in ["a.toml", "a.json"] {
                let _ = Policies::load(&[ConfigFile { layer: Layer::Global, name, text: &text }]).map_err(|errors| errors.to_string());
            }
        }
    }

    #[test]
    fn layers_round_trip_through_toml(text in layer_text()) {
        let layer = PolicyLayer::from_toml("a.toml", &text).unwrap();
        let written = layer.to_toml();
        prop_assert_eq!(PolicyLayer::from_toml("b.toml", &written).unwrap().to_toml(), written);
    }

    #[test]
    fn the_first_condition_that_holds_decides(
        global in layer_text(),
        project in layer_text(),
        facts in facts(),
        rules in vec((tree(), prop::sample::select(vec!["retain_indefinitely", "retain_for_15_days", "escalation_candidate"])), 0..3),
    ) {
        let file = |layer, text| ConfigFile { layer, name: "a.toml", text };
        let policies = Policies::load(&[file(Layer::Global, &global), file(Layer::Project, &project)]).unwrap();
        let rules: Vec<(String, &str)> = rules.into_iter().map(|(tree, action)| (tree.text(true), action)).collect();
        let rules = EntryRules::parse(None, rules.iter().map(|(condition, action)| (condition.as_str(), *action))).unwrap();
        facts.with(|facts| {
            let decision = decide(&policies, &rules, facts);
            let short = retention(&policies, &rules, facts);
            prop_assert_eq!(
                (short.lifespan, short.decay, short.state, short.expires_in_days),
                (decision.lifespan, decision.decay, decision.state, decision.expires_in_days)
            );
            prop_assert_eq!(decision.steps.iter().filter(|step| step.decides).count(), 1);
            let deciding = decision.steps.iter().position(|step| step.decides).unwrap();
            prop_assert_eq!(&decision.steps[deciding].name, &decision.policy);
            let is_last = deciding + 1 == decision.steps.len();
            prop_assert!(is_last || decision.steps[deciding].held);
            for step in &decision.steps[..deciding] {
                prop_assert!(!step.held || step.explanation.contains("escalation flag"), "{}", step.explanation);
            }
            for policy in policies.iter() {
                let held = policy.condition.as_ref().is_some_and(|condition| condition.holds(facts));
                if let Some(flag) = policy.escalation.as_ref().filter(|_| held || policy.name == decision.policy) {
                    prop_assert_eq!(decision.escalation.iter().filter(|other| *other == flag).count(), 1);
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn disuse_never_raises_an_activation(days in 0.0..5_000.0f64, more in 0.0..5_000.0f64, half_life in 0.0..400.0f64) {
        let rates = Rates { half_life, ..Rates::default() };
        for decay in [Decay::Logarithmic, Decay::Exponential, Decay::None] {
            let loss = |days| activation_loss(decay, days, &rates);
            prop_assert!(loss(days) >= 0.0 && loss(days + more) >= loss(days));
        }
    }
}
