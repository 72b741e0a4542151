//! Pruning and verification.

use std::fs;

use aurora_remote::{PruneOptions, RemoteError};

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
fn a_prune_deletes_no_part_during_a_push_and_no_push_starts_during_a_prune() {
    let (share, project) = three_pushes();
    age_all(&share, 10);
    let before = share.parts().len();
    let lock = share.object("locks/push-0123");
    fs::write(&lock, "").expect("the lock can be written");
    let pruned = share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert!(pruned.push_in_progress && pruned.parts == 0 && pruned.manifests == 2, "{pruned:?}");
    assert_eq!(share.parts().len(), before);
    // The lock of a push that was killed days ago does not matter.
    share.age(&lock, 3);
    let pruned = share.open().prune(KEEP_ONE).expect("the remote can be pruned");
    assert!(!pruned.push_in_progress && pruned.parts > 0, "{pruned:?}");
    assert!(!lock.exists());
    let lock = share.object("locks/prune");
    fs::write(&lock, "").expect("the lock can be written");
    assert!(matches!(project.push(&share.open(), None), Err(RemoteError::Busy(_))));
    assert!(matches!(share.open().prune(KEEP_ONE), Err(RemoteError::Busy(_))));
    share.age(&lock, 1);
    project.push(&share.open(), None).expect("the prune was killed");
    share.open().prune(KEEP_ONE).expect("the other prune was killed");
}

#[test]
fn a_prune_deletes_no_part_if_a_manifest_cannot_be_read() {
    let (share, _project) = three_pushes();
    age_all(&share, 10);
    let before = share.parts();
    fs::write(share.object("manifests/0000000000000003"), "{}").expect("the manifest can be written");
    assert!(share.open().prune(KEEP_ONE).is_err());
    assert_eq!(share.parts(), before);
    assert!(!share.object("locks/prune").exists());
}

#[test]
fn a_location_without_a_remote_is_reported() {
    let share = Share::new();
    assert!(matches!(share.open().manifests(), Err(RemoteError::Missing(_))));
    assert!(matches!(share.open().prune(KEEP_ONE), Err(RemoteError::Missing(_))));
    assert!(matches!(share.open().verify(false), Err(RemoteError::Missing(_))));
}
