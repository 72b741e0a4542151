//! Parts that are stored as differences from others.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use aurora_remote::{PruneOptions, RemoteError};
use serde_json::{Value, json};

use crate::fixture::{Project, Share, changed_tree, commit, key, tree};

/// Pushes a project, and then a second state of it with some changed chunks.
fn two_pushes() -> (Share, Project) {
    let (share, project) = (Share::new(), Project::with(&tree(25), &commit(1)));
    project.push(&share.open(), None).expect("the index can be pushed");
    project.write(&changed_tree(3, "second"), &commit(2));
    project.push(&share.open(), None).expect("the index can be pushed");
    (share, project)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("the name is UTF-8")
}

/// Returns the objects that have a base, with the object of the base.
fn differences(share: &Share) -> Vec<(PathBuf, PathBuf)> {
    let bases = |path: PathBuf| {
        let base = name(&path).split_once('-')?.1.to_owned();
        let base = share.object("parts").join(base);
        Some((path, base))
    };
    share.parts().into_iter().filter_map(bases).collect()
}

fn verify(share: &Share) -> Vec<String> {
    share.open().verify(true).expect("the remote can be read").problems
}

#[test]
fn a_part_that_changes_again_keeps_its_base() {
    let (share, project) = two_pushes();
    let first = differences(&share);
    assert!(!first.is_empty() && first.iter().all(|(_, base)| base.exists()), "{first:?}");
    let client = Project::empty();
    client.pull(&share.open(), &share.open().manifests().expect("there are manifests")[1]).expect("it can be pulled");
    project.write(&changed_tree(3, "third"), &commit(3));
    let pushed = project.push(&share.open(), None).expect("the index can be pushed");
    assert!(pushed.uploaded_bytes * 10 < pushed.manifest.bytes, "{pushed:?}");
    assert_eq!(pushed.downloaded_bytes, 0);
    let bases = |all: &[(PathBuf, PathBuf)]| {
        let mut bases: Vec<PathBuf> = all.iter().map(|(_, base)| base.clone()).collect();
        bases.sort_unstable();
        bases.dedup();
        bases
    };
    let all = differences(&share);
    assert!(all.len() > first.len());
    assert_eq!(bases(&all), bases(&first));
    // The client has the bases already.
    let pulled = client.pull_newest(&share.open()).expect("the index can be pulled");
    assert!(pulled.downloaded_bytes <= pushed.uploaded_bytes, "{pulled:?} after {pushed:?}");
    assert_eq!(client.digest(), project.digest());
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
    assert_eq!(verify(&share), [""; 0]);
}

#[test]
fn a_machine_without_a_cache_downloads_the_bases() {
    let (share, project) = two_pushes();
    let before = differences(&share).len();
    for (number, word) in [(3, "third"), (4, "fourth")] {
        fs::remove_dir_all(project.home().join("parts")).expect("there is a cache");
        if number == 4 {
            // A push needs no cache.
            fs::write(project.home().join("parts"), "").expect("the file can be written");
        }
        project.write(&changed_tree(3, word), &commit(number));
        let pushed = project.push(&share.open(), None).expect("the index can be pushed");
        assert!(pushed.downloaded_bytes > 0, "{pushed:?}");
        assert!(pushed.uploaded_bytes * 10 < pushed.manifest.bytes, "{pushed:?}");
    }
    assert!(differences(&share).len() >= before + 2);
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn damaged_bases_in_the_cache_are_downloaded_again() {
    let (share, project) = two_pushes();
    let client = Project::empty();
    client.pull_newest(&share.open()).expect("the index can be pulled");
    for (_, base) in differences(&share) {
        for cache in [project.home(), client.home()] {
            fs::write(cache.join("parts").join(name(&base)), "damaged").expect("the object can be written");
        }
    }
    project.write(&changed_tree(3, "third"), &commit(3));
    let pushed = project.push(&share.open(), None).expect("the index can be pushed");
    assert!(pushed.downloaded_bytes > 0, "{pushed:?}");
    let pulled = client.pull_newest(&share.open()).expect("the index can be pulled");
    assert!(pulled.downloaded_bytes > pushed.uploaded_bytes, "{pulled:?}");
    assert_eq!(client.digest(), project.digest());
    assert_eq!(verify(&share), [""; 0]);
}

#[test]
fn a_push_continues_from_the_newest_manifest_with_a_trusted_signature() {
    let (share, project, (secret, public)) = (Share::new(), Project::with(&tree(25), &commit(1)), key());
    let trusting = || share.open_with(&[&public], true);
    project.push(&trusting(), Some(&secret)).expect("the index can be pushed");
    let stranger = Project::with(&changed_tree(1, "other"), &commit(2));
    stranger.push(&share.open(), None).expect("the index can be pushed");
    project.write(&changed_tree(3, "second"), &commit(3));
    let pushed = project.push(&trusting(), Some(&secret)).expect("the index can be pushed");
    assert!(pushed.uploaded_bytes * 10 < pushed.manifest.bytes, "{pushed:?}");
    let clone = Project::empty();
    clone.pull_newest(&share.open_with(&[&public], false)).expect("the signature is trusted");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn damaged_bases_and_differences_are_refused() {
    let (share, project) = two_pushes();
    let client = Project::with(&tree(1), &commit(9));
    let before = client.digest();
    let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 1).expect("the bytes can be compressed");
    for (difference, base) in differences(&share) {
        let intact = |path: &Path| fs::read(path).expect("the object can be read");
        let (of_difference, of_base) = (intact(&difference), intact(&base));
        let flipped = |bytes: &[u8]| {
            let mut flipped = bytes.to_vec();
            flipped[bytes.len() / 2] ^= 1;
            Some(flipped)
        };
        // The last base is itself a difference, and the last difference is the base.
        let damages = [
            (
                &base,
                vec![
                    None,
                    flipped(&of_base),
                    Some(of_base[1..].to_vec()),
                    Some(bomb.clone()),
                    Some(of_difference.clone()),
                ],
            ),
            (&difference, vec![None, flipped(&of_difference), Some(bomb.clone()), Some(of_base.clone())]),
        ];
        for (path, damaged) in damages {
            for content in damaged {
                let original = intact(path);
                match content {
                    Some(content) => fs::write(path, content).expect("the object can be written"),
                    None => fs::remove_file(path).expect("the object can be removed"),
                }
                fs::remove_dir_all(client.home().join("parts")).unwrap_or_default();
                let error = client.pull_newest(&share.open()).expect_err("an object is damaged");
                assert!(matches!(error, RemoteError::Damaged { .. }), "{error}");
                assert_eq!(client.digest(), before);
                assert!(!verify(&share).is_empty());
                fs::write(path, original).expect("the object can be written");
            }
        }
    }
    assert_eq!(verify(&share), [""; 0]);
    // A part whose base is missing or truncated is uploaded without a base.
    for (number, (_, base)) in differences(&share).into_iter().enumerate() {
        if number % 2 == 0 {
            fs::remove_file(&base).unwrap_or_default();
        } else if base.exists() {
            fs::write(&base, "x").expect("the object can be written");
        }
    }
    project.push(&share.open(), None).expect("the index can be pushed");
    client.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(client.digest(), project.digest());
}

/// Replaces the newest manifest by one whose list has other entries.
fn forge(share: &Share, change: impl Fn(&mut Value)) {
    let path = share.object("manifests/0000000000000002");
    let envelope: Value = serde_json::from_slice(&fs::read(&path).expect("it exists")).expect("it is JSON");
    let mut manifest: Value = serde_json::from_str(envelope["manifest"].as_str().expect("it is text")).expect("JSON");
    let read = |part: &Value| -> Value {
        let object = |hash: &Value| share.object(&format!("parts/{}", hash.as_str().expect("it is text")));
        let base = part.get("base").map(|base| fs::read(object(&base["hash"])).expect("the object exists"));
        let base = base.map(|base| zstd::bulk::decompress(&base, 1 << 20).expect("the base is valid"));
        let hash = part["part"]["hash"].as_str().expect("it is text");
        let name = part.get("base").map(|base| format!("{hash}-{}", base["hash"].as_str().expect("it is text")));
        let bytes = fs::read(object(&json!(name.unwrap_or_else(|| hash.to_owned())))).expect("the object exists");
        let mut context = zstd::zstd_safe::DCtx::create();
        if let Some(base) = &base {
            context.ref_prefix(base).expect("the base is valid");
        }
        let mut content = Vec::with_capacity(1 << 20);
        context.decompress(&mut content, &bytes).expect("the object is valid");
        serde_json::from_slice(&content).expect("it is JSON")
    };
    let write = |value: &Value| {
        let bytes = serde_json::to_vec(value).expect("it is JSON");
        let (hash, object) = (blake3::hash(&bytes).to_hex().to_string(), zstd::bulk::compress(&bytes, 3));
        let object = object.expect("the bytes can be compressed");
        fs::write(share.object(&format!("parts/{hash}")), &object).expect("the object can be written");
        json!({ "hash": hash, "length": bytes.len(), "compressed": object.len() })
    };
    let mut head = read(&json!({ "part": { "hash": manifest["list"] } }));
    for piece in head["pieces"].as_array_mut().expect("there are pieces") {
        let mut entries = read(piece);
        entries.as_array_mut().expect("there are entries").iter_mut().for_each(&change);
        *piece = json!({ "group": "list", "end": 1, "part": write(&entries) });
    }
    let list = write(&head);
    manifest["list"] = list["hash"].clone();
    manifest["list_length"] = list["length"].clone();
    manifest["list_bytes"] = list["compressed"].clone();
    let forged = json!({ "manifest": manifest.to_string() }).to_string();
    fs::write(path, forged).expect("the manifest can be written");
    fs::remove_dir_all(share.records.path().join("records")).unwrap_or_default();
}

/// A change of an entry in a list.
type Forgery = fn(&mut Value);

#[test]
fn forged_lists_of_parts_are_refused_and_replaced_by_a_push() {
    let forgeries: [(&str, Forgery); 8] = [
        ("a base that does not exist", |entry| {
            if let Some(base) = entry.get_mut("base") {
                base["hash"] = json!("0".repeat(64));
            }
        }),
        ("a part that is its own base", |entry| {
            if entry.get("base").is_some() {
                entry["base"]["hash"] = entry["part"]["hash"].clone();
            }
        }),
        ("no base", |entry| drop(entry.as_object_mut().map(|entry| entry.remove("base")))),
        ("a base with a path", |entry| {
            if let Some(base) = entry.get_mut("base") {
                base["hash"] = json!("../../../../../../../../etc/passwd");
            }
        }),
        ("a huge base", |entry| {
            if let Some(base) = entry.get_mut("base") {
                base["length"] = json!(u64::MAX);
            }
        }),
        ("a huge part", |entry| entry["part"]["length"] = json!(1u64 << 40)),
        ("sizes whose sum overflows", |entry| entry["part"]["compressed"] = json!(u64::MAX)),
        ("a base of a base", |entry| {
            if let Some(base) = entry.get_mut("base") {
                base["base"] = base.clone();
            }
        }),
    ];
    for (what, change) in forgeries {
        let (share, project) = two_pushes();
        forge(&share, change);
        let clone = Project::empty();
        let error = clone.pull_newest(&share.open()).expect_err(what);
        assert!(matches!(error, RemoteError::Damaged { .. }), "{what}: {error}");
        assert_eq!(clone.digest(), None);
        assert!(!verify(&share).is_empty(), "{what}");
        assert!(project.push(&share.open(), None).expect("the index can be pushed").written);
        clone.pull_newest(&share.open()).expect("the index can be pulled");
        assert_eq!(clone.digest(), project.digest());
    }
    // The forgery itself causes no error.
    let (share, project) = two_pushes();
    forge(&share, |_| {});
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the list is valid");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn a_fresh_clone_never_downloads_much_more_than_without_differences() {
    let (share, project) = (Share::new(), Project::with(&tree(20), &commit(1)));
    let mut has_rewritten = false;
    for night in 1..15 {
        let mut changed = tree(20);
        for (at, texts) in changed.values_mut().enumerate() {
            let kept = texts.len() - night;
            texts.iter_mut().skip(kept).for_each(|text| *text = text.replace(" w", &format!(" x{at}")));
        }
        project.write(&changed, &commit(night as u32));
        let pushed = project.push(&share.open(), None).expect("the index can be pushed");
        let alone = Share::new();
        let whole = project.push(&alone.open(), None).expect("the index can be pushed");
        assert!(pushed.manifest.bytes * 100 <= whole.manifest.bytes * 112, "night {night}: {pushed:?}, {whole:?}");
        has_rewritten |= night > 1 && pushed.uploaded_bytes * 3 > whole.manifest.bytes;
    }
    assert!(has_rewritten);
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn a_prune_keeps_the_bases_of_the_remaining_manifests() {
    let (share, project) = two_pushes();
    let manifests = fs::read_dir(share.object("manifests")).expect("there are manifests").flatten();
    let paths = manifests.map(|entry| entry.path()).chain(share.parts());
    paths.for_each(|path| share.age(&path, 10));
    let keep_one = PruneOptions { keep: 1, older_than: 0, dry_run: false };
    let pruned = share.open().prune(keep_one).expect("the remote can be pruned");
    assert_eq!((pruned.manifests, pruned.kept), (1, 1));
    let left = differences(&share);
    assert!(!left.is_empty() && left.iter().all(|(_, base)| base.exists()), "{left:?}");
    assert_eq!(verify(&share), [""; 0]);
    let clone = Project::empty();
    clone.pull_newest(&share.open()).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
}

#[test]
fn interrupted_transfers_of_differences_continue() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    project.push(&share.open(), None).expect("the index can be pushed");
    let old = share.parts();
    let first = share.open().manifests().expect("the remote can be read");
    let client = Project::empty();
    client.pull_newest(&share.open()).expect("the index can be pulled");
    let before = client.digest();
    project.write(&changed_tree(9, "second"), &commit(2));
    let whole = project.push(&share.open(), None).expect("the index can be pushed");
    // The push was killed before it wrote the manifest.
    fs::remove_file(share.object("manifests/0000000000000002")).expect("the manifest exists");
    fs::remove_dir_all(share.records.path().join("records")).expect("the records exist");
    let new: Vec<PathBuf> = share.parts().into_iter().filter(|part| !old.contains(part)).collect();
    assert!(new.len() > 3);
    for (at, part) in new.iter().enumerate() {
        match at % 3 {
            0 => fs::remove_file(part).expect("the object can be removed"),
            1 => fs::write(part, "").expect("the object can be written"),
            _ => {}
        }
    }
    client.pull(&share.open(), &first[0]).expect("the old index is intact");
    let rest = project.push(&share.open(), None).expect("the push continues");
    assert!(rest.written && rest.uploaded_parts < whole.uploaded_parts, "{rest:?} after {whole:?}");
    // A pull loses its connection at each object.
    for hidden in new.iter().filter(|part| name(part).contains('-')) {
        let content = fs::read(hidden).expect("the object exists");
        fs::remove_file(hidden).expect("the object can be removed");
        drop(client.pull_newest(&share.open()).expect_err("an object is missing"));
        assert_eq!(client.digest(), before);
        fs::write(hidden, content).expect("the object can be written");
        fs::remove_dir_all(client.home().join("parts")).expect("there is a cache");
    }
    drop(fs::remove_file(&new[0]));
    assert!(client.pull_newest(&share.open()).is_err());
    project.push(&share.open(), None).expect("the push repairs the remote");
    client.pull_newest(&share.open()).expect("the pull continues");
    assert_eq!(client.digest(), project.digest());
}

#[test]
fn concurrent_pushes_of_differences_are_complete() {
    let (share, base) = (Share::new(), Project::with(&tree(60), &commit(1)));
    base.push(&share.open(), None).expect("the index can be pushed");
    let projects: Vec<Project> = (0..4).map(|_| Project::with(&tree(60), &commit(1))).collect();
    for (at, project) in projects.iter().enumerate() {
        // Two of them push the same index.
        project.write(&changed_tree(5, &format!("change{}", at / 2)), &commit(2 + at as u32 / 2));
    }
    thread::scope(|scope| {
        for project in &projects {
            scope.spawn(|| project.push(&share.open(), None).expect("the index can be pushed"));
        }
    });
    assert!(!differences(&share).is_empty());
    assert_eq!(verify(&share), [""; 0]);
    for listed in share.open().manifests().expect("the remote can be read") {
        let clone = Project::empty();
        clone.pull(&share.open(), &listed).expect("the index can be pulled");
        assert_eq!(clone.digest().as_ref(), Some(&listed.manifest.digest));
    }
}
