//! Serves the web page. Its static files are embedded in the program and contain no data of an index.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::problem::Problem;

/// Path of the page.
pub(crate) const PATH: &str = "/";
/// Prefix of the paths of the page's files.
const FILES_PREFIX: &str = "/page/";

/// Content security policy: the page may only run its own scripts and connect to its own server, and other pages must
/// not frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
struct PageFile {
    name: &'static str,
    content: &'static [u8],
}

/// Embeds files of the directory `page`.
macro_rules! files {
    ($($name:literal,)*) => {
        [$(PageFile { name: $name, content: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/page/", $name)) },)*]
    };
}

static FILES: &[PageFile] = &files![
    "index.html",
    "icon.svg",
    "address.js",
    "api.js",
    "app.js",
    "base.css",
    "blame.js",
    "code.js",
    "contents.css",
    "contents.js",
    "dialogs.css",
    "dom.js",
    "explanation.js",
    "facets.js",
    "file.css",
    "file.js",
    "format.js",
    "graph.css",
    "graph.js",
    "keys.js",
    "layers.js",
    "lines.js",
    "paths.js",
    "progress.js",
    "relation-lists.js",
    "results.js",
    "run-events.js",
    "runs.css",
    "runs.js",
    "scrolling.js",
    "search.css",
    "search.js",
    "text.js",
    "theme.js",
    "timeline.js",
    "token.js",
    "treemap.js",
];

/// Returns `true` if a path is the path of the page or of one of its files.
pub(crate) fn is_part(path: &str) -> bool {
    path == PATH || path.starts_with(FILES_PREFIX)
}

/// Returns the routes of the page, which the OpenAPI document does not describe.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(PATH, get(async |head: HeaderMap| answer("index.html", &head)))
        .route("/page/{name}", get(async |Path(name): Path<String>, head: HeaderMap| answer(&name, &head)))
}

/// Answers with a file of the page, or with status 304 if the client has the current version.
fn answer(name: &str, head: &HeaderMap) -> Response {
    let Some(at) = FILES.iter().position(|file| file.name == name) else {
        return Problem::not_found("the page has no such file").into_response();
    };
    let tag = &TAGS[at];
    let known = head.get_all(header::IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|tags| tags.to_str().ok()).flat_map(|tags| tags.split(','));
    let is_known = known.any(|known| known.trim().trim_start_matches("W/") == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, media_type(name))], FILES[at].content).into_response()
    };
    let headers = response.headers_mut();
    // The files may change with the version of the program, so clients must revalidate them.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Prevents another page that opens this page in a window from keeping a reference to the window.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// Entity tags of [`FILES`], in the same order.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tag = |file: &PageFile| format!("\"{}\"", &blake3::hash(file.content).to_hex()[..20]);
    FILES.iter().map(tag).collect()
});
