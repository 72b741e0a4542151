//! Signatures, replayed manifests, and manifests that lie.

use std::fs;

use aurora_remote::{RemoteError, Signature};
use aurora_storage::{Chunk, Field, StorageError, TermVector, Terms};

use crate::fixture::{Project, Share, commit, key, terms, tree};

const FIRST: &str = "manifests/0000000000000001";
const SECOND: &str = "manifests/0000000000000002";

#[test]
fn only_signatures_of_trusted_keys_are_accepted() {
    let (share, project) = (Share::new(), Project::with(&tree(5), &commit(1)));
    let ((secret, public), (other_secret, other)) = (key(), key());
    let clone = Project::empty();
    let refused = |keys: &[&str], allows_unsigned| {
        let error = clone.pull_newest(&share.open_with(keys, allows_unsigned)).expect_err("the signature is wrong");
        assert!(matches!(error, RemoteError::Untrusted { .. }), "{error}");
        assert_eq!(clone.digest(), None);
    };
    project.push(&share.open(), None).expect("the index can be pushed");
    refused(&[], false);
    refused(&[&public], false);
    // The same index is pushed again because the first manifest has no signature.
    assert!(project.push(&share.open_with(&[&public], false), Some(&secret)).expect("the index can be pushed").written);
    assert!(
        !project.push(&share.open_with(&[&public], false), Some(&secret)).expect("the index can be pushed").written
    );
    refused(&[], false);
    refused(&[&other], false);
    clone.pull_newest(&share.open_with(&[&other, &public], false)).expect("the key is trusted");
    assert_eq!(clone.digest(), project.digest());
    // After a rotation, clients that trust both keys accept old and new manifests.
    project.write(&tree(6), &commit(2));
    project.push(&share.open_with(&[&public, &other], false), Some(&other_secret)).expect("the index can be pushed");
    let states: Vec<Signature> = share
        .open_with(&[&public, &other], false)
        .manifests()
        .expect("the remote can be read")
        .into_iter()
        .map(|listed| listed.signature)
        .collect();
    assert!(
        matches!(&states[..], [Signature::Trusted(new), Signature::Trusted(old), Signature::Unsigned] if new != old)
    );
}

#[test]
fn changed_manifests_are_refused_even_if_unsigned_ones_are_allowed() {
    let (share, project, (secret, public)) = (Share::new(), Project::with(&tree(5), &commit(1)), key());
    let trusting = share.open_with(&[&public], false);
    project.push(&trusting, Some(&secret)).expect("the index can be pushed");
    let text = fs::read_to_string(share.object(FIRST)).expect("the manifest can be read");
    for (from, to) in [(commit(1), commit(3)), ("\\\"generation\\\":1".to_owned(), "\\\"generation\\\":2".to_owned())] {
        assert!(text.contains(&from), "{text}");
        fs::write(share.object(FIRST), text.replace(&from, &to)).expect("the manifest can be written");
        for allows_unsigned in [false, true] {
            fs::remove_dir_all(share.records.path().join("records")).unwrap_or_default();
            let error = Project::empty().pull_newest(&share.open_with(&[&public], allows_unsigned));
            assert!(matches!(error, Err(RemoteError::Untrusted { .. })), "{error:?}");
        }
    }
}

#[test]
fn other_versions_of_the_program_must_compute_the_same_terms() {
    let (share, project, (secret, public)) = (Share::new(), Project::with(&tree(5), &commit(1)), key());
    let signed = share.open_with(&[&public], false);
    project.push(&signed, Some(&secret)).expect("the index can be pushed");
    let other_terms: Terms<'_> = &|chunk: &Chunk, _| {
        let mut builder = TermVector::builder();
        builder.add(Field::Body, &chunk.text);
        builder.finish()
    };
    let listed = &signed.manifests().expect("the remote can be read")[0];
    let mut unsigned = listed.clone();
    unsigned.signature = Signature::Unsigned;
    for (remote, program, listed) in [(&signed, "test 2", listed), (&share.open_with(&[], true), "test 1", &unsigned)] {
        let clone = Project::empty();
        let error = clone.pull_as(program, other_terms, remote, listed).expect_err("the digest differs");
        assert!(matches!(error, RemoteError::Storage(StorageError::ArtefactDamaged { .. })), "{error}");
        assert_eq!(clone.digest(), None);
        clone.pull_as(program, &terms, remote, listed).expect("the digest is the same");
        assert_eq!(clone.digest(), project.digest());
    }
}

#[test]
fn replayed_manifests_are_detected() {
    let (share, project, (secret, public)) = (Share::new(), Project::with(&tree(5), &commit(1)), key());
    let open = || share.open_with(&[&public], false);
    project.push(&open(), Some(&secret)).expect("the index can be pushed");
    project.write(&tree(6), &commit(2));
    project.push(&open(), Some(&secret)).expect("the index can be pushed");
    let clone = Project::empty();
    clone.pull_newest(&open()).expect("the index can be pulled");
    let second = fs::read(share.object(SECOND)).expect("the manifest can be read");
    // The newest manifest disappears.
    fs::remove_file(share.object(SECOND)).expect("the manifest can be removed");
    assert!(matches!(open().manifests(), Err(RemoteError::Replayed { found: 1, seen: 2 })));
    assert!(matches!(project.push(&open(), Some(&secret)), Err(RemoteError::Replayed { .. })));
    // The old manifest is stored under the number of the new one.
    fs::copy(share.object(FIRST), share.object(SECOND)).expect("the manifest can be copied");
    assert!(matches!(open().manifests(), Err(RemoteError::Damaged { .. })));
    // All manifests disappear.
    fs::remove_file(share.object(FIRST)).expect("the manifest can be removed");
    fs::remove_file(share.object(SECOND)).expect("the manifest can be removed");
    assert!(matches!(open().manifests(), Err(RemoteError::Replayed { found: 0, seen: 2 })));
    fs::write(share.object(SECOND), &second).expect("the manifest can be written");
    assert_eq!(open().manifests().expect("the manifest is back").len(), 1);
    // Another user of the same key pushes another manifest under a known number.
    let (other, stranger) = (Share::new(), Project::with(&tree(7), &commit(3)));
    for commits in 3..5 {
        stranger.write(&tree(7), &commit(commits));
        stranger.push(&other.open_with(&[&public], false), Some(&secret)).expect("the index can be pushed");
    }
    fs::copy(other.object(SECOND), share.object(SECOND)).expect("the manifest can be copied");
    assert!(matches!(open().manifests(), Err(RemoteError::Changed(2))));
}

#[test]
fn manifests_with_impossible_values_are_refused() {
    let (share, project) = (Share::new(), Project::with(&tree(30), &commit(1)));
    project.push(&share.open(), None).expect("the index can be pushed");
    let text = fs::read_to_string(share.object(FIRST)).expect("the manifest can be read");
    let bytes = share.open().manifests().expect("the remote can be read")[0].manifest.bytes;
    let clone = Project::empty();
    for (from, to) in [
        ("\\\"layout\\\":2".to_owned(), "\\\"layout\\\":1"),
        ("\\\"sequence\\\":1".to_owned(), "\\\"sequence\\\":3"),
        ("\\\"files\\\":30".to_owned(), "\\\"files\\\":31"),
        ("\\\"chunks\\\":900".to_owned(), "\\\"chunks\\\":4000000000"),
        ("\\\"index_format\\\":".to_owned(), "\\\"index_format\\\":9"),
        (format!("\\\"bytes\\\":{bytes}"), "\\\"bytes\\\":18446744073709551615"),
        ("\\\"list_length\\\":".to_owned(), "\\\"list_length\\\":999999999999"),
        ("\\\"list_bytes\\\":".to_owned(), "\\\"list_bytes\\\":999999999999"),
        ("\\\"digest\\\":\\\"".to_owned(), "\\\"digest\\\":\\\"../../"),
        (commit(1), "../../../../etc/passwd"),
        ("}".to_owned(), ",\\\"extra\\\":1}"),
        ("{".to_owned(), ""),
    ] {
        assert!(text.contains(&from), "{from} in {text}");
        fs::write(share.object(FIRST), text.replacen(&from, to, 1)).expect("the manifest can be written");
        fs::remove_dir_all(share.records.path().join("records")).unwrap_or_default();
        clone.pull_newest(&share.open()).expect_err(to);
        assert_eq!(clone.digest(), None);
    }
    fs::write(share.object(FIRST), &text).expect("the manifest can be written");
    for name in ["x", "00000000000000001", "-000000000000001", "9999999999999999"] {
        let stray = share.object("manifests").join(name);
        fs::write(&stray, &text).expect("the object can be written");
        assert!(share.open().manifests().is_err(), "{name}");
        fs::remove_file(&stray).expect("the object can be removed");
    }
    for format in ["aurora remote 1\n", "aurora remote 3\n"] {
        fs::write(share.object("format"), format).expect("the object can be written");
        assert!(matches!(share.open().manifests(), Err(RemoteError::Layout(_))));
        assert!(matches!(project.push(&share.open(), None), Err(RemoteError::Layout(_))));
    }
}
