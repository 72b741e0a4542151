//! Extracts the bodies, paths and query strings of requests. Errors are reported as [`Problem`].

use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::Problem;
use crate::state::State;

/// The body of a request, in JSON. The thread that answers the request parses the body, because parsing a large body
/// takes too long for a thread that serves connections.
pub(crate) struct Body<T> {
    json: Bytes,
    parsed: PhantomData<fn() -> T>,
    _share: Option<OwnedSemaphorePermit>,
}

impl<T: DeserializeOwned> Body<T> {
    /// Parses the body. Text that is not JSON leads to status 400, and an unsuitable value to status 422.
    pub(crate) fn parse(&self) -> Result<T, Problem> {
        let axum::Json(value) = axum::Json::from_bytes(&self.json)?;
        Ok(value)
    }
}

impl<T> FromRequest<Arc<State>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<State>) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let error = "the body's content type is not `application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
        }
        // The memory is reserved before the body is read, because a slow client can take long to send the body.
        let share = state.body_share(request.headers().get(header::CONTENT_LENGTH), state.options.limits.body, 1)?;
        Ok(Self { json: Bytes::from_request(request, state).await?, parsed: PhantomData, _share: share })
    }
}

/// Returns `true` if the content type is `application/json` or `application/…+json`, with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.strip_prefix("application/").is_some_and(|name| name == "json" || name.ends_with("+json"))
}

/// The parameters in the query string of a URL.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(crate) struct Parameters<T>(pub(crate) T);

/// The variable parts of a URL's path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct PathParts<T>(pub(crate) T);

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

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

/// Deserializes a string or a list of strings.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a string, or a list of strings")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    })
}
