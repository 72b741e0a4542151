//! The web page of `aur serve`: how its files are served, what they may contain, and how the page behaves in a browser.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

#[path = "../serve/client.rs"]
#[allow(dead_code, reason = "the tests in `tests/serve` use the rest")]
mod client;

mod browser;
mod files;
mod repository;
mod serving;
