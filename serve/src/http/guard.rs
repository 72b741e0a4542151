//! Controls access by the name of the server, the origin of the page, and the token.

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

/// Paths that need no token, because they reveal only that the server runs. The files of the web page need no token
/// either.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Rejects requests from untrusted pages and clients.
///
/// An untrusted page can reach a server on this machine in two ways. It can make a name resolve to this machine (DNS
/// rebinding); its requests then have this name as `Host`. Or it can send requests to the server's address; these have
/// the page's `Origin`.
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
    let host = host(request).ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, "the request has no valid host"))?;
    if matches!(options.listen, Listen::Tcp(_)) && !is_known_host(&host.host, options) {
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "this host name is not allowed")
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
            if shown.is_some_and(|shown| token.matches_header(shown.as_bytes())) {
                return Ok(());
            }
            Err(Problem::new(StatusCode::UNAUTHORIZED, "the request lacks the server's token")
                .with_help("send it as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// Returns `true` if a browser opens the web page as a separate document, for example because the user follows a link
/// in a chat. This reveals nothing to the site with the link: no other page can read the web page or show it in a
/// frame.
fn follows_link(request: &Request) -> bool {
    let is = |name: &str, value: &str| request.headers().get(name).is_some_and(|given| given == value);
    request.uri().path() == page::PATH && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// Returns the host that the client addresses, or `None` if the request names no host or several hosts.
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

/// Returns `true` if the server may be addressed by this host. IP addresses are safe, because unlike names they cannot
/// be made to resolve to another machine.
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

/// Returns `true` if the request is a CORS preflight request of a browser.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Adds the CORS headers that allow a page of another origin to read the answer.
fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, content-type"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
}
