//! Checks licences and duplicate versions of dependencies against `deny.toml`, as `cargo deny` does. Installing `cargo
//! deny` takes minutes, but these tests take almost no time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// Returns all dependencies, including those of other platforms. Cargo may have to download their packages.
fn metadata() -> Metadata {
    MetadataCommand::new().other_options(vec!["--locked".into()]).exec().expect("`cargo metadata` succeeds")
}

fn rules() -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
    std::fs::read_to_string(path).expect("the file can be read").parse().expect("the text is TOML")
}

fn foreign(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| !metadata.workspace_members.contains(&package.id))
}

#[test]
fn every_licence_is_allowed() {
    let rules = rules();
    let allowed: BTreeSet<&str> = strings(&rules["licenses"]["allow"]).collect();
    let exceptions = rules["licenses"]["exceptions"].as_array().expect("the value is a list");
    let (mut used, mut excepted) = (BTreeSet::new(), BTreeSet::new());
    let metadata = metadata();
    let licences: BTreeSet<&str> = foreign(&metadata).filter_map(|package| package.license.as_deref()).collect();
    for package in foreign(&metadata) {
        let name = package.name.as_str();
        let exception = exceptions.iter().find(|exception| exception["crate"].as_str() == Some(name));
        let of_exception: BTreeSet<&str> = exception.iter().flat_map(|found| strings(&found["allow"])).collect();
        let licence = package.license.as_deref().unwrap_or_default();
        let expression = Expression::parse(licence);
        let is_allowed = |id: &str| allowed.contains(id) || of_exception.contains(id);
        assert!(expression.is_met(&is_allowed), "{name} {}: licence `{licence}` is not in deny.toml", package.version);
        used.extend(expression.ids().filter(|id| allowed.contains(id)).map(str::to_owned));
        excepted.extend(exception.map(|_| name.to_owned()));
    }
    // cargo-deny expects a licence with an SPDX exception to be listed as `LICENCE WITH EXCEPTION`. Such an exception
    // only adds permissions, so `Expression` ignores it.
    let is_used =
        |id: &str| used.contains(id) || id.contains(" WITH ") && licences.iter().any(|text| text.contains(id));
    let idle: Vec<_> = allowed.iter().filter(|id| !is_used(id)).collect();
    assert!(idle.is_empty(), "no dependency has the licences {idle:?}: remove them from deny.toml");
    assert_eq!(excepted.len(), exceptions.len(), "an exception names a crate that is no longer a dependency");
}

#[test]
fn every_duplicate_version_has_a_reason() {
    let rules = rules();
    let skipped: BTreeSet<&str> = rules["bans"]["skip"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .inspect(|entry| assert!(entry["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{entry}"))
        .map(|entry| entry["crate"].as_str().expect("the value is a string"))
        .collect();
    let metadata = metadata();
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in &metadata.packages {
        versions.entry(package.name.as_str()).or_default().insert(package.version.to_string());
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut needed = BTreeSet::new();
    for (name, versions) in &versions {
        let full = |version: &String| format!("{name}@{version}");
        let (known, rest): (Vec<_>, Vec<_>) =
            versions.iter().partition(|version| skipped.contains(full(version).as_str()));
        assert!(rest.len() <= 1, "{name} comes in versions {rest:?}: update, or give a reason in deny.toml");
        needed.extend(known.into_iter().map(full));
    }
    let idle: Vec<_> = skipped.iter().filter(|skipped| !needed.contains(**skipped)).collect();
    assert!(idle.is_empty(), "{idle:?} are no longer duplicates: remove them from deny.toml");
}

fn strings(list: &toml::Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(toml::Value::as_str)
}

/// An SPDX expression as a list of alternatives. Each alternative is a list of licences that apply together.
#[derive(Debug, PartialEq)]
struct Expression<'a>(Vec<Vec<&'a str>>);

impl<'a> Expression<'a> {
    /// Parses `AND`, `OR`, `WITH`, parentheses, and `/`, which older crates use in place of `OR`.
    fn parse(text: &'a str) -> Self {
        let tokens: Vec<&str> = text
            .split_inclusive(['(', ')', '/', ' '])
            .flat_map(|piece| {
                let word = piece.trim_end_matches(['(', ')', '/', ' ']);
                [word, piece[word.len()..].trim()]
            })
            .filter(|token| !token.is_empty())
            .collect();
        let mut rest = tokens.as_slice();
        let parsed = alternatives(&mut rest);
        assert!(rest.is_empty(), "not an SPDX expression: {text}");
        Self(parsed)
    }

    fn is_met(&self, is_allowed: &dyn Fn(&str) -> bool) -> bool {
        self.0.iter().any(|all| all.iter().all(|id| is_allowed(id)))
    }

    fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().flatten().copied()
    }
}

fn alternatives<'a>(tokens: &mut &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut found = conjunction(tokens);
    while let ["OR" | "/", rest @ ..] = *tokens {
        *tokens = rest;
        found.extend(conjunction(tokens));
    }
    found
}

fn conjunction<'a>(tokens: &mut &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut found = licence(tokens);
    while let ["AND", rest @ ..] = *tokens {
        *tokens = rest;
        let right = licence(tokens);
        let both = found.iter().flat_map(|left| right.iter().map(|right| [left.as_slice(), right].concat()));
        found = both.collect();
    }
    found
}

fn licence<'a>(tokens: &mut &[&'a str]) -> Vec<Vec<&'a str>> {
    match *tokens {
        ["(", rest @ ..] => {
            *tokens = rest;
            let inner = alternatives(tokens);
            *tokens = tokens.strip_prefix(&[")"]).expect("the parenthesis is closed");
            inner
        }
        // Exceptions only add permissions, so they are ignored.
        [id, "WITH", _, rest @ ..] | [id, rest @ ..] => {
            *tokens = rest;
            vec![vec![id]]
        }
        [] => panic!("a licence is missing"),
    }
}

#[test]
fn expressions_are_parsed_as_spdx_defines_them() {
    let cases: [(&str, &[&[&str]]); 5] = [
        ("MIT", &[&["MIT"]]),
        ("MIT/Apache-2.0", &[&["MIT"], &["Apache-2.0"]]),
        ("Apache-2.0 / MIT", &[&["Apache-2.0"], &["MIT"]]),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", &[&["MIT", "Unicode-3.0"], &["Apache-2.0", "Unicode-3.0"]]),
        ("Apache-2.0 WITH LLVM-exception OR MIT", &[&["Apache-2.0"], &["MIT"]]),
    ];
    for (text, expected) in cases {
        let expected = expected.iter().map(|all| all.to_vec()).collect();
        assert_eq!(Expression::parse(text), Expression(expected), "{text}");
    }
}
