//! Pushes and pulls.

use std::fs;
use std::thread;

use aurora_remote::RemoteError;

use crate::fixture::{Project, Share, commit, tree};

#[test]
fn a_pulled_index_equals_the_pushed_one() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    let pushed = project.push(&share.open(), None).expect("the index can be pushed");
    assert!(pushed.written && pushed.uploaded_parts > 5, "{pushed:?}");
    let clone = Project::empty();
    let pulled = clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
    assert_eq!(pulled.index.head_commit, Some(commit(1)));
    assert_eq!(pulled.downloaded_bytes - pulled.downloaded_by_group["list"], pushed.manifest.bytes);
    assert_eq!(pulled.downloaded_bytes, pushed.uploaded_bytes);
    // A pulled index can be pushed again, and has the same parts.
    let again = clone.push(&share.open(), None).expect("the index can be pushed");
    assert_eq!((again.written, again.uploaded_parts), (false, 0), "{again:?}");
}

#[test]
fn a_push_after_a_small_change_transfers_a_small_share() {
    let (share, project) = (Share::new(), Project::with(&tree(300), &commit(1)));
    let first = project.push(&share.open(), None).expect("the index can be pushed");
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    // The new first file shifts the numbers of all chunks.
    let mut changed = tree(2);
    changed.insert("a.rs".to_owned(), vec!["fn first() { a b c }".to_owned()]);
    changed.values_mut().for_each(|texts| texts[0].push_str(" changed"));
    project.write(&changed, &commit(2));
    let second = project.push(&share.open(), None).expect("the index can be pushed");
    assert!(second.written && second.uploaded_bytes > 0);
    assert!(second.uploaded_bytes * 8 < first.uploaded_bytes, "{second:?} after {first:?}");
    assert_eq!(second.manifest.previous.as_ref().map(|previous| previous.sequence), Some(1));
    let pulled = clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert!(pulled.downloaded_bytes * 8 < first.uploaded_bytes, "{pulled:?}");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn damaged_missing_and_truncated_parts_are_refused_and_repaired_by_a_push() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    project.push(&share.open(), None).expect("the index can be pushed");
    let clone = Project::with(&tree(1), &commit(9));
    let before = clone.digest();
    for part in share.parts() {
        let bytes = fs::read(&part).expect("the part can be read");
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        let longer = [&bytes[..], b"x"].concat();
        for damaged in [Some(&flipped[..]), Some(&bytes[..bytes.len() - 1]), Some(&longer), Some(&[]), None] {
            match damaged {
                Some(damaged) => fs::write(&part, damaged).expect("the part can be written"),
                None => fs::remove_file(&part).expect("the part can be removed"),
            }
            // The cache would hide the damage of parts that an earlier pull has verified.
            fs::remove_dir_all(clone.home().join("parts")).unwrap_or_default();
            let error = clone.pull_newest(&share.open()).expect_err("the part is damaged");
            assert!(matches!(error, RemoteError::Damaged { .. }), "{error}");
            assert_eq!(clone.digest(), before);
            let verified = share.open().verify(true).expect("the remote can be read");
            assert!(!verified.problems.is_empty());
        }
        // A missing part is uploaded again, also if it was truncated before.
        fs::write(&part, &bytes[1..]).expect("the part can be written");
        project.push(&share.open(), None).expect("the index can be pushed");
        assert!(fs::read(&part).expect("the part exists") == bytes);
    }
    clone.pull_newest(&share.open()).expect("the remote is intact again");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn an_interrupted_push_continues() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    let whole = project.push(&share.open(), None).expect("the index can be pushed");
    // A killed push has uploaded some parts but no manifest, and has left its lock.
    fs::remove_file(share.object("manifests/0000000000000001")).expect("the manifest exists");
    fs::remove_dir_all(share.records.path().join("records")).expect("the records exist");
    fs::write(share.object("locks/push-0123"), "").expect("the lock can be written");
    for part in share.parts().iter().step_by(2) {
        fs::remove_file(part).expect("the part can be removed");
    }
    let clone = Project::empty();
    assert!(share.open().manifests().expect("the remote can be read").is_empty());
    let rest = project.push(&share.open(), None).expect("the push continues");
    assert!(rest.written && rest.uploaded_parts > 0 && rest.uploaded_parts < whole.uploaded_parts, "{rest:?}");
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn an_interrupted_pull_continues_from_its_verified_parts() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    project.push(&share.open(), None).expect("the index can be pushed");
    let parts = share.parts();
    let missing = share.directory.path().join("missing");
    let clone = Project::empty();
    // The pull fails while it downloads, and keeps the objects that have arrived. One of them is damaged below.
    let cache = clone.home().join("parts");
    let mut kept = Vec::new();
    for hidden in parts.iter().filter(|part| fs::metadata(part).is_ok_and(|part| part.len() > 3000)) {
        fs::rename(hidden, &missing).expect("the part can be moved");
        assert!(clone.pull_newest(&share.open()).is_err());
        fs::rename(&missing, hidden).expect("the part can be moved back");
        kept = fs::read_dir(&cache).expect("there is a cache").flatten().map(|entry| entry.path()).collect();
        if kept.len() > 3 {
            break;
        }
    }
    assert!(kept.len() > 3);
    fs::write(&kept[0], "damaged").expect("the part can be written");
    fs::write(cache.join("unknown"), "old").expect("the file can be written");
    let pulled = clone.pull_newest(&share.open()).expect("the pull continues");
    let whole = Project::empty().pull_newest(&share.open()).expect("the index can be pulled");
    assert!(pulled.downloaded_bytes < whole.downloaded_bytes, "{pulled:?}");
    assert_eq!(clone.digest(), project.digest());
    assert!(!cache.join("unknown").exists());
}

#[test]
fn concurrent_pushes_get_different_numbers() {
    let share = Share::new();
    let projects: Vec<Project> =
        (1..5).map(|number| Project::with(&tree(number * 9), &commit(number as u32))).collect();
    thread::scope(|scope| {
        for project in &projects {
            scope.spawn(|| project.push(&share.open(), None).expect("the index can be pushed"));
        }
    });
    let remote = share.open();
    let manifests = remote.manifests().expect("the remote can be read");
    let mut numbers: Vec<u64> = manifests.iter().map(|listed| listed.manifest.sequence).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(remote.verify(true).expect("the remote can be read").problems, [""; 0]);
    for listed in &manifests {
        let clone = Project::empty();
        clone.pull(&remote, listed).expect("the index can be pulled");
        let from = projects.iter().find(|project| project.digest().as_ref() == Some(&listed.manifest.digest));
        assert_eq!(clone.digest(), from.expect("one project has pushed the index").digest());
    }
    assert!(fs::read_dir(share.object("locks")).is_ok_and(|mut locks| locks.next().is_none()));
}
