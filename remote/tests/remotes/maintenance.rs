//! Pruning and verification.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use aurora_remote::{PruneOptions, PushProgress, RemoteError};

use crate::fixture::{Project, Share, commit, tree};

const KEEP_ONE: PruneOptions = PruneOptions { keep: 1, older_than: 0, dry_run: false };

/// Pushes three states of a project, which have many parts in common.
fn three_pushes() -> (Share, Project) {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    for number in 1..4 {
        let mut changed = tree(1);
        changed.values_mut().for_each(|texts| texts[0].push_str(&format!(" change {number}")));
        project.write(&changed, &commit(number));
        project.push(&share.open(), None).expect("the index can be pushed");
    }
    (share, project)
}

/// Makes all objects look old.
fn age_all(share: &Share, days: u64) {
    let manifests = fs::read_dir(share.object("manifests")).expect("there are manifests").flatten();
    let paths = manifests.map(|entry| entry.path()).chain(share.parts());
    paths.for_each(|path| share.age(&path, days));
}

#[test]
fn a_prune_keeps_everything_that_a_manifest_needs() {
    let (share, project) = three_pushes();
    let before = share.parts().len();
    // All objects are young.
    let pruned = share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert_eq!((pruned.manifests, pruned.kept, pruned.parts), (0, 3, 0));
    age_all(&share, 10);
    let month = PruneOptions { older_than: 30 * 24 * 3600, ..KEEP_ONE };
    assert_eq!(share.open().prune(month).expect("the remote can be pruned").manifests, 0);
    let dry = share.open().prune(PruneOptions { dry_run: true, ..KEEP_ONE }).expect("the remote can be read");
    assert_eq!((dry.manifests, dry.kept), (2, 1));
    assert_eq!(share.parts().len(), before);
    let pruned = share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert_eq!(pruned, dry);
    assert!(pruned.parts > 0 && share.parts().len() + pruned.parts as usize == before);
    let verified = share.open().verify(true).expect("the remote can be read");
    assert_eq!((verified.manifests, verified.unused, verified.problems.len()), (1, 0, 0), "{verified:?}");
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn a_push_during_which_a_prune_deletes_parts_uploads_them_again() {
    let (share, project) = three_pushes();
    project.write(&tree(61), &commit(4));
    let has_pruned = AtomicBool::new(false);
    let prune = |progress| {
        // The push has already listed the parts that the prune deletes.
        if matches!(progress, PushProgress::Parts { .. }) && !has_pruned.swap(true, Ordering::Relaxed) {
            age_all(&share, 10);
            for sequence in 1..4 {
                fs::remove_file(share.object(&format!("manifests/000000000000000{sequence}"))).expect("it exists");
            }
            let pruned = share.open().prune(KEEP_ONE).expect("the remote can be pruned");
            assert!(pruned.parts > 0, "{pruned:?}");
        }
    };
    fs::remove_dir_all(share.records.path().join("records")).expect("the records exist");
    let pushed = project.push_with(&share.open(), None, &prune).expect("the index can be pushed");
    assert!(pushed.written && has_pruned.load(Ordering::Relaxed));
    assert_eq!(share.open().verify(true).expect("the remote can be read").problems, [""; 0]);
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn killed_pushes_and_prunes_prevent_nothing() {
    let (share, project) = three_pushes();
    age_all(&share, 10);
    let push = share.object("locks/push-0123");
    fs::write(&push, "").expect("the object can be written");
    let dry = share.open().prune(PruneOptions { dry_run: true, ..KEEP_ONE }).expect("the remote can be read");
    assert!(push.exists());
    assert_eq!(share.open().prune(KEEP_ONE).expect("the remote can be pruned"), dry);
    assert!(dry.parts > 0 && !push.exists());
    // A push that writes its manifest in a store without conditional writes keeps its lock.
    let manifest = share.object("locks/manifest-0123");
    fs::write(&manifest, "").expect("the object can be written");
    share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert!(manifest.exists());
    share.age(&manifest, 1);
    share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert!(!manifest.exists());
    let prune = share.object("locks/prune-0123");
    fs::write(&prune, "").expect("the object can be written");
    assert!(matches!(share.open().prune(KEEP_ONE), Err(RemoteError::Busy(_))));
    // A push waits for the end of a prune.
    let waits = |progress| {
        if progress == PushProgress::Waiting {
            fs::remove_file(&prune).expect("the object exists");
        }
    };
    project.push_with(&share.open(), None, &waits).expect("the prune has ended");
    assert!(!prune.exists());
    fs::write(&prune, "").expect("the object can be written");
    share.age(&prune, 1);
    project
        .push_with(&share.open(), None, &|progress| assert_ne!(progress, PushProgress::Waiting))
        .expect("it was killed");
    share.open().prune(KEEP_ONE).expect("the other prune was killed");
    assert!(fs::read_dir(share.object("locks")).is_ok_and(|mut locks| locks.next().is_none()));
}

#[test]
fn a_prune_deletes_no_part_if_a_manifest_cannot_be_read() {
    let (share, _project) = three_pushes();
    age_all(&share, 10);
    let before = share.parts();
    fs::write(share.object("manifests/0000000000000003"), "{}").expect("the manifest can be written");
    assert!(share.open().prune(KEEP_ONE).is_err());
    assert_eq!(share.parts(), before);
    assert!(fs::read_dir(share.object("locks")).is_ok_and(|mut locks| locks.next().is_none()));
}

#[test]
fn a_location_without_a_remote_is_reported() {
    let share = Share::new();
    assert!(matches!(share.open().manifests(), Err(RemoteError::Missing(_))));
    assert!(matches!(share.open().prune(KEEP_ONE), Err(RemoteError::Missing(_))));
    assert!(matches!(share.open().verify(false), Err(RemoteError::Missing(_))));
}
