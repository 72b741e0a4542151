//! The facts about an entry that conditions can test.

/// The facts about an entry at a point in time. The caller computes the ages, because this crate has no clock.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Facts<'a> {
    /// The id, such as `reas:auth-flow-123`.
    pub id: &'a str,
    /// The kind, such as `reasoning`. Its name in conditions is `type`.
    pub kind: &'a str,
    /// The scope, such as `project`.
    pub scope: &'a str,
    /// Success score or confidence, from 0 to 1; `None` if the entry has no score.
    pub score: Option<f64>,
    /// The tags that `contains_tag` searches.
    pub tags: &'a [&'a str],
    /// The domain, such as `security`; `None` if the entry has no domain.
    pub domain: Option<&'a str>,
    /// The semantic role, such as `authentication-handler`; `None` if the entry has no role.
    pub semantic_role: Option<&'a str>,
    /// Whether the entry is a pattern, because its score is high enough.
    pub is_pattern: bool,
    /// Number of times the entry was used.
    pub access_count: u64,
    /// Days since the creation or the last edit.
    pub age_days: f64,
    /// Days since the last use, the last edit or the creation, whichever is latest.
    pub inactive_days: f64,
}
