//! Tests of the derivation of keywords, semantic roles and domains, and of the indexed texts.

mod common;

use aurora_memory_schema::{Kind, searchable};
use common::{EXAMPLES, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn check(kind: Kind, content: &Value) -> String {
    let draft = read(kind, &json!({ "content": content }).to_string());
    let entry = draft.entry();
    assert_eq!(entry.derived(), ["keywords", "semantic_role", "domain"]);
    let (role, domain) = (entry.semantic_role().unwrap_or_default(), entry.domain().unwrap_or_default());
    format!("{role} | {domain} | {}", entry.keywords().join(", "))
}

#[test]
fn metadata_is_derived_from_the_content() {
    let shown = [
        check(
            Kind::Reasoning,
            &json!({
                "pattern": "oauth-impl-20251213", "original_query": "Implement OAuth login with refresh tokens", "success_score": 0.9,
                "subgoals": [
                    {"id": "SG1", "description": "Research providers of OAuth", "agent": "researcher"},
                    {"id": "SG2", "description": "Implement token validation in token_manager", "agent": "coder"}
                ],
                "tool_sequence": ["grep", "read"]
            }),
        ),
        check(
            Kind::Reasoning,
            &json!({"pattern": "fix-slow-query", "original_query": "Why is the orders query slow?", "success_score": 0.9}),
        ),
        check(
            Kind::Knowledge,
            &json!({
                "topic": "Comparison of message brokers", "summary": "Kafka or RabbitMQ",
                "facts": [{"statement": "Kafka keeps messages in partitions"}, {"statement": "RabbitMQ routes messages"}]
            }),
        ),
        check(
            Kind::Note,
            &json!({"text": "# React forms\n\nThe submit button of a form renders twice. See the `FormState` hook."}),
        ),
        check(Kind::Turn, &json!({"text": "Could you make the pytest fixtures faster? The fixtures take a minute."})),
        check(
            Kind::Code,
            &json!({"file": "src/limit.py", "function": "allow_request", "signature": "def allow_request(client: str) -> bool"}),
        ),
        check(Kind::Note, &json!({"text": "Call Anna about the lunch on Thursday"})),
    ];
    insta::assert_snapshot!(shown.join("\n"), @"
    oauth-decomposition-pattern | security | oauth, token, login, refresh, providers
    slow-decomposition-pattern | performance | slow, query, orders
    message-knowledge | data | message, comparison, brokers, kafka, rabbitmq
    form-note | frontend | form, react, submit, button, renders
    fixtures-turn | testing | fixtures, pytest, faster, minute
    allow_request-code | api | allow_request, limit
    call-note | general | call, anna, lunch, thursday
    ");
}

#[test]
fn existing_metadata_is_not_replaced() {
    let text = r#"{"content": {"text": "rotate keys"}, "metadata": {"keywords": ["vault"], "domain": "ops"}}"#;
    let draft = read(Kind::Note, text);
    let entry = draft.entry();
    assert_eq!((entry.keywords(), entry.domain()), (vec!["vault"], Some("ops")));
    assert_eq!((entry.semantic_role(), entry.derived()), (Some("rotate-note"), vec!["semantic_role"]));
    let draft =
        read(Kind::Note, r#"{"content": {"text": "!"}, "metadata": {"keywords": [], "derived": ["keywords"]}}"#);
    assert_eq!((draft.entry().semantic_role(), draft.entry().derived()), (None, vec!["keywords", "domain"]));
}

#[test]
fn searchable_texts_are_readable() {
    let shown = EXAMPLES.map(|(kind, text)| {
        let found = searchable(read(kind, text).entry());
        format!("## {}\n{}\n-- {}\n-- {}", found.title, found.text, found.doc, found.terms.join(" "))
    });
    insta::assert_snapshot!(shown.join("\n\n"), @"
    ## throttling-setup
    Pattern: throttling-setup
    Query: Limit how often a client may call the endpoint
    Role: throttling-decomposition-pattern
    Domain: api
    Keywords: throttling, bucket, client, header, window
    SG1: Compare token bucket with sliding window (researcher)
    SG2: Answer clients with 429 and a header (coder)
    Tools: websearch, edit, read
    -- Limit how often a client may call the endpoint
    -- throttling bucket client header window websearch edit read

    ## Status 429 and its headers
    Topic: Status 429 and its headers
    Summary: What clients expect when they are throttled
    Role: headers-knowledge
    Domain: api
    Keywords: headers, status, clients, expect, throttled
    F1: Retry-After is in seconds, or a date
    Fact: The X-RateLimit headers are no standard
    Sources: https://www.rfc-editor.org/rfc/rfc6585
    -- What clients expect when they are throttled
    -- headers status clients expect throttled

    ## Deploys
    # Deploys

    Never on a Friday.
    -- 
    -- deploys friday

    ## Why does the deploy hang?
    Why does the deploy hang?
    -- 
    -- deploy hang

    ## allow
    File: src/limit.py
    Function: allow
    Signature: def allow(client: str) -> bool
    Role: allow-code
    Domain: general
    Keywords: allow, limit, refill
    Calls: refill
    -- 
    -- allow limit refill time code:src/limit.py:Bucket
    ");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn derivation_is_deterministic_idempotent_and_bounded(text in "[a-zA-Z_0-9 .,'é日本トの𐐀-]{0,200}") {
        let document = json!({"content": {"text": format!("a{text}")}}).to_string();
        let draft = read(Kind::Note, &document);
        prop_assert_eq!(&read(Kind::Note, &document), &draft);
        let again = read(Kind::Note, &json!(draft.entry()).to_string());
        prop_assert_eq!(again.entry(), draft.entry());
        let keywords = draft.entry().keywords();
        prop_assert!(keywords.len() <= 7);
        prop_assert!(keywords.iter().all(|word| word.to_lowercase() == **word && word.len() <= 128));
    }
}
