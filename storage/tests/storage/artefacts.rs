//! Artefacts: equal content has equal bytes, an import restores the exported index, and invalid artefacts are refused.

use std::fs;
use std::path::Path;

use aurora_storage::{
    ArtefactManifest, Environment, ImportContext, KnownIndexes, OpenMode, StorageError, Workers, WriterOptions,
};
use proptest::prelude::*;

use crate::model::check;
use crate::repository::{Piece, Tree, directory, fresh_digest, open, replace, synthetic, update, write};
use crate::sequences::{any_piece, path};

/// Number of bytes before the manifest, and the positions of its length and its checksum.
const HEADER: usize = 48;
const LENGTH: std::ops::Range<usize> = 12..16;
const CHECKSUM: std::ops::Range<usize> = 16..48;

/// Exports an index as an artefact.
pub(crate) fn artefact(environment: &Environment) -> Vec<u8> {
    artefact_by(environment, Workers::default()).expect("the index can be exported")
}

/// Exports an index as an artefact with the threads of `workers`.
pub(crate) fn artefact_by(environment: &Environment, workers: Workers) -> Result<Vec<u8>, StorageError> {
    let mut bytes = Vec::new();
    environment.snapshot()?.export_to(&mut bytes, Path::new("memory"), "test 1", workers)?;
    Ok(bytes)
}

/// Returns the artefact of a tree that is written in one run.
fn fresh_artefact(tree: &Tree, memory: usize) -> Vec<u8> {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, tree, memory);
    artefact(&environment)
}

/// Imports an artefact.
pub(crate) fn import(directory: &Path, bytes: &[u8]) -> Result<ArtefactManifest, StorageError> {
    import_by(directory, bytes, Workers::default())
}

/// Imports an artefact with the threads of `workers`.
pub(crate) fn import_by(
    directory: &Path,
    mut bytes: &[u8],
    workers: Workers,
) -> Result<ArtefactManifest, StorageError> {
    let context =
        ImportContext { name: Path::new("memory"), root: "/elsewhere", now: 5, known: &KnownIndexes::none(), workers };
    Environment::import(directory, &mut bytes, context)
}

/// One run: files with their new chunks, or without chunks if they are removed.
fn any_run() -> impl Strategy<Value = Vec<(u8, Option<Vec<Piece>>)>> {
    let change = prop_oneof![
        4 => prop::collection::vec(any_piece(), 0..5).prop_map(Some),
        1 => Just(None),
    ];
    prop::collection::vec((0..6u8, change), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn an_artefact_depends_only_on_the_content(
        runs in prop::collection::vec(any_run(), 1..6),
        memory in prop::sample::select(vec![0usize, 64 << 20]),
    ) {
        let kept = directory();
        let environment = open(kept.path());
        let mut tree = Tree::new();
        for (time, run) in (10..).zip(&runs) {
            let writer = environment.writer(WriterOptions { memory, ..WriterOptions::default() }).expect("there is no other writer");
            for (number, pieces) in run {
                match pieces {
                    Some(pieces) => {
                        replace(&writer, &path(*number), pieces).expect("the file can be replaced");
                        tree.insert(path(*number), pieces.clone());
                        let mut seen_later = crate::repository::file(&path(*number), time);
                        seen_later.blob = vec![time as u8];
                        writer.update_file_record(seen_later).expect("the row can be updated");
                    }
                    None => {
                        writer.remove_file(&path(*number)).expect("the file can be removed");
                        tree.remove(&path(*number));
                    }
                }
            }
            writer.publish(aurora_storage::ManifestUpdate { now: time, root: time.to_string(), ..update() }).expect("the changes can be published");
        }
        let exported = artefact(&environment);
        prop_assert!(exported == fresh_artefact(&tree, 64 << 20));
        let elsewhere = directory();
        import(elsewhere.path(), &exported).expect("the artefact can be imported");
        let imported = Environment::open(elsewhere.path(), OpenMode::Existing).expect("the index can be opened");
        let snapshot = imported.snapshot().expect("the index can be opened");
        check(&snapshot, &tree);
        prop_assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, memory));
        prop_assert!(artefact(&imported) == exported);
        // The next run continues from the imported index.
        let change = synthetic(2, 3, 1);
        write(&imported, &change, memory);
        tree.extend(change);
        check(&imported.snapshot().expect("the index can be opened"), &tree);
    }
}

/// Returns an artefact with several blocks of ids, and posting lists with several parts.
fn sizeable() -> Vec<u8> {
    fresh_artefact(&synthetic(30, 40, 3), 64 << 20)
}

/// Creates a directory with an index. Also returns the digest of the index.
fn occupied() -> (tempfile::TempDir, String) {
    let tree = synthetic(3, 3, 9);
    let directory = directory();
    write(&open(directory.path()), &tree, 64 << 20);
    (directory, fresh_digest(&tree, 64 << 20))
}

/// Checks that an artefact is refused and that the existing index is unchanged. Returns the error of the import.
fn refused(directory: &Path, digest: &str, bytes: &[u8], what: &str) -> StorageError {
    let Err(error) = import(directory, bytes) else { panic!("{what} was imported") };
    let environment = Environment::open(directory, OpenMode::Existing).expect("the index can be opened");
    let kept = environment.snapshot().and_then(|snapshot| snapshot.digest()).expect("the index is valid");
    assert_eq!(kept, digest, "{what}");
    assert!(!directory.join("index.new").exists() && !directory.join("index.old").exists(), "{what}");
    error
}

#[test]
fn truncated_and_changed_artefacts_are_refused() {
    let bytes = sizeable();
    let (directory, digest) = occupied();
    let step = bytes.len() / 150;
    let positions = (0..HEADER).chain((HEADER..bytes.len()).step_by(step)).chain([bytes.len() - 1]);
    for at in positions {
        let error = refused(directory.path(), &digest, &bytes[..at], &format!("{at} bytes"));
        let expected = matches!(error, StorageError::ArtefactDamaged { .. } | StorageError::NotArtefact { .. });
        assert!(expected, "{at} bytes: {error}");
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = refused(directory.path(), &digest, &damaged, &format!("byte {at}"));
        let expected = matches!(
            error,
            StorageError::ArtefactDamaged { .. }
                | StorageError::NotArtefact { .. }
                | StorageError::ArtefactVersion { what: "artefact version", .. }
        );
        assert!(expected, "byte {at}: {error}");
    }
    let longer = [&bytes[..], b"x"].concat();
    let error = refused(directory.path(), &digest, &longer, "one byte more");
    assert!(error.to_string().contains("it continues after the last part"), "{error}");
    for other in [&b""[..], b"not an artefact", b"SQLite format 3\0 and more, so that it is longer than a header is"] {
        let error = refused(directory.path(), &digest, other, "another file");
        assert!(matches!(error, StorageError::NotArtefact { .. }), "{error}");
    }
    import(directory.path(), &bytes).expect("the artefact is valid");
}

/// Splits an artefact into its manifest and its parts.
fn split(bytes: &[u8]) -> (serde_json::Value, Vec<&[u8]>) {
    let length = u32::from_le_bytes(bytes[LENGTH].try_into().expect("there are four bytes")) as usize;
    let (json, mut rest) = bytes[HEADER..].split_at(length);
    let manifest: ArtefactManifest = serde_json::from_slice(json).expect("the manifest is valid JSON");
    let mut parts = Vec::new();
    for part in &manifest.parts {
        let (bytes, after) = rest.split_at(part.compressed as usize);
        parts.push(bytes);
        rest = after;
    }
    (serde_json::from_slice(json).expect("the manifest is valid JSON"), parts)
}

/// Builds an artefact from any manifest, with a correct checksum of the manifest.
fn joined(manifest: &serde_json::Value, parts: &[&[u8]]) -> Vec<u8> {
    let json = serde_json::to_vec(manifest).expect("the manifest can be serialised");
    let mut bytes = b"AURMEM\r\n\x02\0\0\0".to_vec();
    bytes.extend_from_slice(&(json.len() as u32).to_le_bytes());
    bytes.extend_from_slice(blake3::hash(&json).as_bytes());
    assert_eq!((bytes.len(), CHECKSUM.end), (HEADER, HEADER));
    bytes.extend_from_slice(&json);
    bytes.extend(parts.iter().copied().flatten());
    bytes
}

#[test]
fn a_manifest_with_a_wrong_value_is_refused() {
    let bytes = sizeable();
    let (directory, digest) = occupied();
    let (manifest, parts) = split(&bytes);
    let column = serde_json::json!({
        "name": "owner", "stage": "owner", "kind": "string", "filter": true, "terms": null, "embed": false, "boost": null,
    });
    let columns = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut column = column.clone();
        change(&mut column);
        serde_json::json!([column])
    };
    let many: Vec<_> =
        (0..65).map(|at| columns(&|column| column["name"] = format!("c{at:02}").into())[0].clone()).collect();
    let lies: [(&str, serde_json::Value); 28] = [
        ("/chunks", 1199.into()),
        ("/chunks", 4_294_967_294u32.into()),
        ("/chunks", 0.into()),
        ("/files", 29.into()),
        ("/vectors", 1.into()),
        ("/terms", 1.into()),
        ("/postings", 1.into()),
        ("/field_totals/0", 7.into()),
        ("/model/dimensions", 7.into()),
        ("/model/dimensions", 0.into()),
        ("/model/dimensions", u64::MAX.into()),
        ("/model", serde_json::Value::Null),
        ("/parts/0/length", u64::MAX.into()),
        ("/parts/0/compressed", u64::MAX.into()),
        ("/parts/3/compressed", 1.into()),
        ("/parts/1/name", "../../etc".into()),
        ("/parts", serde_json::json!([])),
        ("/columns", serde_json::Value::Null),
        ("/columns", many.into()),
        ("/columns", serde_json::json!([column, column])),
        ("/columns", columns(&|column| column["name"] = "a".repeat(1 << 20).into())),
        ("/columns", columns(&|column| column["name"] = "a=b\n".into())),
        ("/columns", columns(&|column| column["stage"] = "a".repeat(1 << 20).into())),
        ("/columns", columns(&|column| column["kind"] = "date".into())),
        ("/columns", columns(&|column| column["terms"] = 11.into())),
        ("/columns", columns(&|column| column["boost"] = 0.1.into())),
        ("/columns", columns(&|column| (column["kind"], column["boost"]) = ("float".into(), 1e30.into()))),
        ("/columns", columns(&|column| column["surprise"] = true.into())),
    ];
    for (pointer, lie) in lies {
        let mut lying = manifest.clone();
        *lying.pointer_mut(pointer).expect("the manifest has this value") = lie.clone();
        let error = refused(directory.path(), &digest, &joined(&lying, &parts), &format!("{pointer} = {lie}"));
        assert!(matches!(error, StorageError::ArtefactDamaged { .. }), "{pointer} = {lie}: {error}");
    }
    let mut newer = manifest.clone();
    newer["index_format"] = 99.into();
    newer["surprise"] = true.into();
    let error = refused(directory.path(), &digest, &joined(&newer, &parts), "another format");
    assert!(matches!(error, StorageError::ArtefactVersion { what: "index format", found: 99, .. }), "{error}");
    import(directory.path(), &joined(&manifest, &parts)).expect("the artefact is valid");
}

#[test]
fn an_artefact_with_a_part_of_another_artefact_is_refused() {
    let (one, other) = (sizeable(), fresh_artefact(&synthetic(30, 40, 4), 64 << 20));
    let (directory, digest) = occupied();
    let ((manifest, parts), (others_manifest, others_parts)) = (split(&one), split(&other));
    let mut tried = Vec::new();
    for at in 0..parts.len() {
        let name = manifest["parts"][at]["name"].as_str().expect("the part has a name");
        // Nothing in a part of vectors shows to which chunks the vectors belong.
        if parts[at] == others_parts[at] || name == "vectors" {
            continue;
        }
        let (mut mixed, mut mixed_parts) = (manifest.clone(), parts.clone());
        mixed["parts"][at] = others_manifest["parts"][at].clone();
        mixed_parts[at] = others_parts[at];
        let error = refused(directory.path(), &digest, &joined(&mixed, &mixed_parts), name);
        assert!(matches!(error, StorageError::ArtefactDamaged { .. }), "{name}: {error}");
        tried.push(name);
    }
    for name in ["chunks", "dictionary", "postings"] {
        assert!(tried.contains(&name), "{tried:?}");
    }
}

#[test]
fn an_export_replaces_the_whole_file() {
    let directory = directory();
    let target = directory.path().join("index.aur");
    let home = directory.path().join(".aurora");
    let environment = open(&home);
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(matches!(snapshot.export(&target, "test 1", Workers::default()), Err(StorageError::Refused(_))));
    assert!(!target.exists());
    write(&environment, &synthetic(4, 4, 0), 64 << 20);
    fs::write(&target, "something else").expect("the file can be written");
    let manifest = environment
        .snapshot()
        .and_then(|snapshot| snapshot.export(&target, "test 1", Workers::default()))
        .expect("the index can be exported");
    assert_eq!(fs::read(&target).expect("the file can be read"), artefact(&environment));
    assert_eq!((manifest.files, manifest.chunks, manifest.complete), (4, 16, true));
    let mut entries: Vec<_> = fs::read_dir(directory.path())
        .expect("the directory can be listed")
        .map(|entry| entry.expect("the entry can be read").file_name())
        .collect();
    entries.sort();
    assert_eq!(entries, [".aurora", "index.aur"]);
    assert!(matches!(
        environment.snapshot().and_then(|snapshot| snapshot.export(&home, "test 1", Workers::default())),
        Err(StorageError::Refused(_))
    ));
    #[cfg(unix)]
    {
        let link = home.join("link.aur");
        std::os::unix::fs::symlink(&target, &link).expect("the link can be created");
        fs::write(&target, "something else").expect("the file can be written");
        environment
            .snapshot()
            .and_then(|snapshot| snapshot.export(&link, "test 1", Workers::default()))
            .expect("the index can be exported");
        assert!(link.is_symlink() && fs::read(&target).expect("the file can be read") == artefact(&environment));
    }
    let nowhere = directory.path().join("missing/index.aur");
    assert!(
        environment.snapshot().and_then(|snapshot| snapshot.export(&nowhere, "test 1", Workers::default())).is_err()
    );
}

#[test]
fn an_import_replaces_an_index_that_cannot_be_opened() {
    let directory = directory();
    fs::create_dir_all(directory.path().join("index")).expect("the directory can be created");
    fs::write(directory.path().join("index/data.mdb"), "not an index ".repeat(1000)).expect("the file can be written");
    let tree = synthetic(3, 3, 1);
    let imported = import(directory.path(), &fresh_artefact(&tree, 64 << 20)).expect("the artefact can be imported");
    assert_eq!(imported.chunks, 9);
    let environment = Environment::open(directory.path(), OpenMode::Existing).expect("the index can be opened");
    let snapshot = environment.snapshot().expect("the index can be opened");
    check(&snapshot, &tree);
    let manifest = snapshot.manifest();
    assert_eq!((manifest.generation, manifest.root.as_str(), manifest.updated), (1, "/elsewhere", 5));
}
