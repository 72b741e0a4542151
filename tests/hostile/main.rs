//! Hostile repositories, artefacts, indexes and environments. No run writes or shows anything outside the repository
//! and the user's own directory, and every run ends within limits of time and memory.
//!
//! Each attack is a row of a table: a name, a function that prepares a sandbox, the commands to run in the sandbox, and
//! expectations. `Attack::check` checks what must hold for every attack. `AURORA_TEST_PROGRAM` names another program to
//! test, `AURORA_TEST_ONLY` selects attacks by a part of their name, and `AURORA_TEST_SHOW` prints the outcome of every
//! run.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod process;
mod random;
mod record;
mod sandbox;

mod artefacts;
mod configuration;
mod corruption;
mod environment;
mod inputs;
mod places;
mod searching;
mod sizes;
mod stores;
mod texts;
mod trust;
mod unreadable;

use std::process::Command;

use process::Outcome;
use sandbox::{CANARY_QUERY, SECRET, Sandbox, Start};

pub(crate) const INDEX: &[&str] = &["mem", "index", "--format", "json"];
pub(crate) const FORCE: &[&str] = &["mem", "index", "--force", "--format", "json"];
pub(crate) const SEARCH: &[&str] = &["mem", "search", CANARY_QUERY, "--format", "json"];

type Build = Box<dyn Fn(&Sandbox)>;
type Prepare = Box<dyn Fn(&Sandbox) -> Command>;
type Expect = Box<dyn Fn(&Sandbox, &[Outcome]) -> Result<(), String>>;

/// An attack: a row of a table.
pub(crate) struct Attack {
    name: String,
    start: Start,
    build: Build,
    runs: Vec<Prepare>,
    expect: Expect,
    changes_sources: bool,
    memory: Option<u64>,
}

impl Attack {
    /// Creates an attack on a repository that has an index.
    pub(crate) fn on_indexed(name: impl Into<String>, build: impl Fn(&Sandbox) + 'static) -> Self {
        Self::on(Start { indexed: true, mined: false }, name, build)
    }

    /// Creates an attack on a repository without an index, such as a fresh clone.
    pub(crate) fn on_fresh(name: impl Into<String>, build: impl Fn(&Sandbox) + 'static) -> Self {
        Self::on(Start::default(), name, build)
    }

    fn on(start: Start, name: impl Into<String>, build: impl Fn(&Sandbox) + 'static) -> Self {
        let expect = Box::new(|_: &Sandbox, _: &[Outcome]| Ok(()));
        Self {
            name: name.into(),
            start,
            build: Box::new(build),
            runs: Vec::new(),
            expect,
            changes_sources: false,
            memory: None,
        }
    }

    /// Adds a run of the program with these arguments.
    pub(crate) fn run(self, arguments: &'static [&'static str]) -> Self {
        self.run_with(move |sandbox| sandbox.aur(arguments))
    }

    /// Adds a run of the command that `prepare` returns.
    pub(crate) fn run_with(mut self, prepare: impl Fn(&Sandbox) -> Command + 'static) -> Self {
        self.runs.push(Box::new(prepare));
        self
    }

    /// Sets an expectation about the outcomes of the runs.
    pub(crate) fn expect(mut self, expect: impl Fn(&Sandbox, &[Outcome]) -> Result<(), String> + 'static) -> Self {
        self.expect = Box::new(expect);
        self
    }

    /// Adds mined questions to the sandbox, as created by `aur mem eval mine`.
    pub(crate) fn mined(mut self) -> Self {
        self.start.mined = true;
        self
    }

    /// Allows the runs to change the sources.
    pub(crate) fn changing_sources(mut self) -> Self {
        self.changes_sources = true;
        self
    }

    /// Sets the memory limit in bytes.
    pub(crate) fn within_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Runs the attack. If the attack succeeds, the error describes how.
    fn check(&self) -> Result<(), String> {
        let mut sandbox = Sandbox::new(self.start);
        sandbox.limits.memory = self.memory.unwrap_or(sandbox.limits.memory);
        (self.build)(&sandbox);
        let [outside, sources] = sandbox.record();
        let mut outcomes = Vec::new();
        for prepare in &self.runs {
            let outcome = sandbox.run(&mut prepare(&sandbox));
            if std::env::var_os("AURORA_TEST_SHOW").is_some() {
                eprintln!("{}: {}", self.name, outcome.summary());
            }
            if let Some(fault) = outcome.fault() {
                return Err(format!("{fault}: {}", outcome.summary()));
            }
            if outcome.out.contains(SECRET) || outcome.err.contains(SECRET) {
                return Err(format!("shows a file from outside: {}", outcome.summary()));
            }
            let [outside_now, sources_now] = sandbox.record();
            let mut changes = outside.changes(&outside_now);
            if !self.changes_sources {
                changes.extend(sources.changes(&sources_now));
            }
            changes.extend(sandbox.left_over());
            if !changes.is_empty() {
                return Err(format!("{}: {}", changes.join(", "), outcome.summary()));
            }
            outcomes.push(outcome);
        }
        (self.expect)(&sandbox, &outcomes).map_err(|error| {
            let ran: Vec<String> = outcomes.iter().map(Outcome::summary).collect();
            format!("{error}\n      {}", ran.join("\n      "))
        })
    }
}

/// Runs all attacks of a table, and fails if any attack succeeds.
pub(crate) fn assert_withstands(attacks: impl IntoIterator<Item = Attack>) {
    let only = std::env::var("AURORA_TEST_ONLY").unwrap_or_default();
    let (mut tried, mut succeeded) = (0, Vec::new());
    for attack in attacks.into_iter().filter(|attack| attack.name.contains(&only)) {
        tried += 1;
        if let Err(error) = attack.check() {
            succeeded.push(format!("  {}: {error}", attack.name));
        }
    }
    assert!(succeeded.is_empty(), "{} of {tried} attacks succeeded:\n{}", succeeded.len(), succeeded.join("\n"));
}

/// Returns an error with the expectation `what` unless `holds` is true.
pub(crate) fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("expected: {what}")) }
}
