//! `aur serve` as its clients see it: answers, statuses, who is refused, and what happens under load and at the end.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod answers;
mod client;
mod contents;
mod document;
mod faults;
mod fresh;
mod knowledge;
mod strangers;

use fixture::Fixture;

const CACHE: &str = r#""""A cache of pages."""


class PageCache:
    """Keeps the pages that were read last."""

    def evict_oldest(self, pages):
        """Remove the page that was not read for the longest time."""
        return drop_page(pages)


def drop_page(pages):
    """Remove a page."""
    return pages[1:]
"#;

const RETRY: &str = "package http

// RetryWithBackoff calls f again after a growing pause until it succeeds.
func RetryWithBackoff(f func() error) error {
	return f()
}
";

/// A small indexed repository.
fn indexed() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n").write("src/cache.py", CACHE).write("http/retry.go", RETRY);
    fixture.commit("first");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}
