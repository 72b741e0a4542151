//! Bodies and query strings of requests, with problems in place of the framework's texts.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use serde::{Deserialize, Deserializer};

use crate::problem::Problem;

/// A body in JSON. Text that is no JSON has status 400, a value that is not as it should be 422.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub(crate) struct Body<T>(pub(crate) T);

/// The parameters in the query string of a URL.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(crate) struct Parameters<T>(pub(crate) T);

/// The variable parts of a URL's path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct Place<T>(pub(crate) T);

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::invalid(rejection.body_text())
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid(rejection.body_text())
    }
}

/// A value, or several in a list.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text, or a list of texts")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    })
}
