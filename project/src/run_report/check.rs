//! A requirement on a run, and its result.

use serde::Serialize;

/// A requirement on a run, and its result.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the requirement, such as `min_coverage`.
    pub name: String,
    /// The requirement, such as `at least 99 %`.
    pub required: String,
    /// The value of the run; `None` if it was not measured.
    pub measured: Option<String>,
    /// Description of the violation; `None` if the requirement is met or was not measured.
    pub violation: Option<String>,
}

impl Check {
    pub(super) fn met(name: impl Into<String>, required: impl Into<String>, measured: impl Into<String>) -> Self {
        Self { name: name.into(), required: required.into(), measured: Some(measured.into()), violation: None }
    }

    pub(super) fn not_measured(name: impl Into<String>, required: impl Into<String>) -> Self {
        Self { name: name.into(), required: required.into(), measured: None, violation: None }
    }

    pub(super) fn violated_if(self, is_violated: bool, violation: impl FnOnce() -> String) -> Self {
        Self { violation: is_violated.then(violation), ..self }
    }
}
