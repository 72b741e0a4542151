//! The traversal of all terms.

use std::collections::BTreeSet;

use aurora_storage::{Snapshot, Walk};

use crate::repository::{directory, open, replace, synthetic, update, write};
use aurora_storage::WriterOptions;

fn walked(snapshot: &Snapshot, prefix: &str, decide: impl Fn(&[u8]) -> Walk) -> BTreeSet<String> {
    let mut visited = BTreeSet::new();
    let mut visit = |term: &[u8]| {
        visited.insert(String::from_utf8(term.to_vec()).expect("the term is UTF-8"));
        decide(term)
    };
    snapshot.walk_terms(prefix, &mut visit).expect("the index is valid");
    visited
}

fn listed(snapshot: &Snapshot, prefix: &str) -> BTreeSet<String> {
    snapshot.terms_with_prefix(prefix).map(|term| term.expect("the index is valid").0).collect()
}

/// Several segments with enough blocks that whole blocks are skipped.
#[test]
fn a_walk_visits_the_same_terms_as_a_listing() {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(60, 40, 0), 1 << 24);
    let writer = environment.writer(WriterOptions::default()).expect("there is no other writer");
    for (path, pieces) in &synthetic(4, 30, 7) {
        replace(&writer, &format!("more/{path}"), pieces).expect("the file can be replaced");
    }
    writer.publish(update()).expect("the changes can be published");
    let snapshot = environment.snapshot().expect("the index can be opened");

    let all = listed(&snapshot, "");
    assert!(all.len() > 100, "{}", all.len());
    assert_eq!(walked(&snapshot, "", |_| Walk::Next), all);
    let first = all.iter().next().expect("there are terms").clone();
    let middle = all.iter().nth(all.len() / 2).expect("there are terms").clone();
    for prefix in [&first[..1], &middle[..1], &middle[..2.min(middle.len())], middle.as_str(), "~"] {
        assert_eq!(walked(&snapshot, prefix, |_| Walk::Next), listed(&snapshot, prefix), "{prefix}");
    }
    for length in 1..4 {
        let visited = walked(&snapshot, "", |_| Walk::SkipPrefix(length));
        let beginnings = |terms: &BTreeSet<String>| -> BTreeSet<Vec<u8>> {
            terms.iter().map(|term| term.as_bytes()[..length.min(term.len())].to_vec()).collect()
        };
        assert_eq!(beginnings(&visited), beginnings(&all));
        assert!(visited.len() <= 2 * beginnings(&all).len(), "each prefix is visited at most once per segment");
    }
    assert_eq!(walked(&snapshot, "", |_| Walk::Stop).len(), 1);
}
