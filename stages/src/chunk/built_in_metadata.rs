//! The metadata that document formats give their chunks. Custom columns have other names.

/// The keys, in alphabetical order.
pub(crate) const BUILT_IN_METADATA: [&str; 20] = [
    "complexity",
    "conversation",
    "conversation_date",
    "conversation_log",
    "conversation_section",
    "created_at",
    "domain",
    "execution_time_ms",
    "generated",
    "is_pattern",
    "keywords",
    "pattern_type",
    "phase_name",
    "phase_number",
    "query",
    "semantic_role",
    "success_score",
    "total_cost_usd",
    "usage_count",
    "verification_option",
];
