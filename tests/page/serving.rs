//! The responses of the server to requests for the files of the web page.

use crate::client::{Answer, Server};
use crate::files::files;
use crate::fixture::Fixture;
use crate::repository;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let line = answer.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {answer:?}"))
}

#[test]
fn every_file_is_served_under_a_strict_policy_and_revalidated() {
    let fixture = Fixture::plain();
    let server = Server::start(&fixture, &["--root", "."]);
    for (name, text) in files() {
        let path = if name == "index.html" { "/".to_owned() } else { format!("/page/{name}") };
        let answer = server.get(&path);
        assert_eq!((answer.status, answer.body.as_str()), (200, text.as_str()), "{name}");
        let kind = match name.rsplit_once('.').expect("the name has a suffix").1 {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(header(&answer, "content-type"), kind, "{name}");
        assert_eq!(
            header(&answer, "content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        assert_eq!(header(&answer, "referrer-policy"), "no-referrer");
        assert_eq!(header(&answer, "cache-control"), "no-cache");
        let tag = header(&answer, "etag");
        let known = |tags: &str| server.request("GET", &path, &[&format!("if-none-match: {tags}")], "");
        for tags in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}")] {
            let again = known(&tags);
            assert_eq!((again.status, again.body.as_str()), (304, ""), "{name}: {tags}");
            assert_eq!(header(&again, "etag"), tag);
        }
        assert_eq!(known("\"other\"").status, 200, "{name}");
    }
    assert_eq!(server.request("HEAD", "/", &[], "").status, 200);
    assert_eq!(server.request("POST", "/", &[], "").status, 405);
    for path in ["/page/", "/page/none.js", "/page/../Cargo.toml", "/page/%2e%2e%2fCargo.toml", "/page"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}

#[test]
fn the_page_needs_no_token_but_its_data_does() {
    let fixture = repository::other(None);
    fixture.write_for_user("token", TOKEN);
    let file = fixture.user_directory().join("token");
    let server = Server::start(&fixture, &["--token-file", file.to_str().expect("the path is UTF-8")]);
    for path in ["/", "/?q=queue", "/page/app.js"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for path in ["/api/v1/stats", "/api/v1/roots", "/pages", "/page", "//"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
}

/// Users share links to the page in chats and mails. For the browser, a chat or mail client is another site.
#[test]
fn a_link_on_another_site_opens_the_page_and_nothing_else() {
    let fixture = repository::other(None);
    let server = Server::start(&fixture, &[]);
    let from = |path: &str, mode: &str, destination: &str| {
        let mode = format!("sec-fetch-mode: {mode}");
        let destination = format!("sec-fetch-dest: {destination}");
        server.request("GET", path, &["sec-fetch-site: cross-site", &mode, &destination], "").status
    };
    assert_eq!(from("/?q=queue", "navigate", "document"), 200);
    assert_eq!(from("/", "navigate", "iframe"), 403);
    assert_eq!(from("/", "no-cors", "script"), 403);
    assert_eq!(from("/page/app.js", "no-cors", "script"), 403);
    assert_eq!(from("/api/v1/stats", "navigate", "document"), 403);
    let stranger = server.request("GET", "/", &["host: attacker.example", "sec-fetch-mode: navigate"], "");
    assert_eq!(stranger.status, 421);
}
