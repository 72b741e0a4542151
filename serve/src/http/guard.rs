//! Who may ask: names of the server, origins of pages, and the token.

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::host::{Host, HostPort};
use crate::http::page;
use crate::options::{Listen, ServeOptions};
use crate::problem::Problem;
use crate::state::State;

/// Paths that need no token: they tell no more than that the server runs. The files of the page need none either.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Refuses requests of strangers.
///
/// A page of a stranger reaches a server on this machine by a name of its own that it lets point here (DNS rebinding): its
/// requests have that name as `Host`. Or it sends requests to the server's address: these have the page's `Origin`.
pub(crate) async fn guard(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let allowed_origin = origin.as_ref().filter(|origin| is_allowed_origin(origin, &state.options)).cloned();
    let mut response = match check(&request, &state.options) {
        Err(problem) => problem.into_response(),
        Ok(()) if is_preflight(&request) && allowed_origin.is_some() => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
    };
    if let Some(origin) = allowed_origin {
        allow(origin, response.headers_mut());
    }
    response
}

fn check(request: &Request, options: &ServeOptions) -> Result<(), Problem> {
    let headers = request.headers();
    let host = host(request).ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, "the request names no host"))?;
    if matches!(options.listen, Listen::Tcp(_)) && !is_known_host(&host.host, options) {
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "the server is not known by this name")
            .with_help("`--allow-host NAME` allows it"));
    }
    if let Some(origin) = headers.get(header::ORIGIN)
        && !origin.to_str().is_ok_and(|origin| host.is_origin(origin))
        && !is_allowed_origin(origin, options)
    {
        return Err(Problem::forbidden("pages of this origin may not use the server")
            .with_help("`--allow-origin ORIGIN` allows it"));
    }
    let is_cross_site = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if is_cross_site && headers.get(header::ORIGIN).is_none() && !follows_link(request) {
        return Err(Problem::forbidden("pages of other sites may not use the server"));
    }
    let path = request.uri().path();
    let is_open = OPEN_PATHS.contains(&path) || page::is_part(path) || is_preflight(request);
    match &options.token {
        Some(token) if !is_open => {
            let shown = headers.get(header::AUTHORIZATION);
            if shown.is_some_and(|shown| token.is_shown_by(shown.as_bytes())) {
                return Ok(());
            }
            Err(Problem::new(StatusCode::UNAUTHORIZED, "the request does not show the server's token")
                .with_help("send it as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// Whether a browser opens the page in a window of its own, as for a link in a chat. The page tells the stranger nothing: no
/// other page can read it or show it in a frame.
fn follows_link(request: &Request) -> bool {
    let is = |name: &str, value: &str| request.headers().get(name).is_some_and(|given| given == value);
    request.uri().path() == page::PATH && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// The host to which the client believes that it sends the request; `None` if it names none or several.
fn host(request: &Request) -> Option<HostPort> {
    if let Some(authority) = request.uri().authority() {
        return HostPort::parse(authority.as_str());
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => HostPort::parse(host.to_str().ok()?),
        _ => None,
    }
}

/// Whether the server may have this name. An address cannot be made to point elsewhere, a name can.
fn is_known_host(host: &Host, options: &ServeOptions) -> bool {
    match host {
        Host::Address(_) => true,
        Host::Name(name) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || options.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
        }
    }
}

fn is_allowed_origin(origin: &HeaderValue, options: &ServeOptions) -> bool {
    options.origins.iter().any(|allowed| origin.as_bytes().eq_ignore_ascii_case(allowed.as_bytes()))
}

/// Whether a browser asks what a page of another origin may do.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Tells a browser that a page of another origin may use the answer.
fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
}
