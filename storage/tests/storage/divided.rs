//! Divided artefacts: an import restores the divided index, few parts change with few files, and invalid parts are
//! refused.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use aurora_storage::{
    ArtefactManifest, Chunk, ColumnDeclaration, DividedPart, Environment, ImportContext, KnownIndexes, Manifest,
    OpenMode, StorageError, TermVector, Workers,
};
use proptest::prelude::*;

use crate::model::check;
use crate::repository::{Tree, directory, fresh_digest, key, open, synthetic, terms, write};
use crate::sequences::{any_piece, path};

/// The rows of a part, and its group.
type PartRows = (String, Vec<u8>);

/// A divided index: the manifest, the digest, and the parts in order.
#[derive(Clone, PartialEq)]
struct Divided {
    manifest: ArtefactManifest,
    digest: String,
    parts: Vec<PartRows>,
}

fn divide(environment: &Environment, threads: usize) -> Divided {
    let snapshot = environment.snapshot().expect("the index can be opened");
    let divided = snapshot.divide("test 1", Workers::new(threads), |part| part, Ok::<DividedPart, StorageError>);
    let (manifest, parts) = divided.expect("the index can be divided");
    for parts in parts.windows(2) {
        let preceding = if parts[0].group == parts[1].group { parts[0].end } else { 0 };
        assert_eq!(parts[1].previous_end, preceding);
    }
    let parts = parts.into_iter().map(|part| (part.group.to_owned(), part.rows)).collect();
    Divided { manifest, digest: snapshot.digest().expect("the index is valid"), parts }
}

fn import(directory: &Path, divided: &Divided, tree: &Tree, threads: usize) -> Result<Manifest, StorageError> {
    let pieces = tree.iter().flat_map(|(path, pieces)| pieces.iter().enumerate().map(move |piece| (path, piece)));
    let vectors: HashMap<String, TermVector> =
        pieces.map(|(path, (index, piece))| (key(path, index, piece), terms(piece))).collect();
    let terms = |chunk: &Chunk, _: &[ColumnDeclaration]| {
        vectors.get(&chunk.key).cloned().unwrap_or_else(|| TermVector::builder().finish())
    };
    let known = KnownIndexes::none();
    let context = ImportContext {
        name: Path::new("remote"),
        root: "/elsewhere",
        now: 5,
        known: &known,
        workers: Workers::new(threads),
    };
    let mut parts = divided.parts.iter().cloned().map(Ok);
    Environment::import_divided(directory, &divided.manifest, Some(&divided.digest), &mut parts, &terms, context)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn an_import_restores_the_divided_index(
        files in prop::collection::btree_map(0..6u8, prop::collection::vec(any_piece(), 0..5), 0..6),
        later in prop::collection::btree_map(0..6u8, prop::collection::vec(any_piece(), 0..5), 0..3),
    ) {
        let named = |files: BTreeMap<u8, Vec<_>>| files.into_iter().map(|(number, pieces)| (path(number), pieces));
        let mut tree: Tree = named(files).collect();
        let from = directory();
        let environment = open(from.path());
        write(&environment, &tree, 64 << 20);
        let changes: Tree = named(later).collect();
        write(&environment, &changes, 64 << 20);
        tree.extend(changes);
        let divided = divide(&environment, 1);
        prop_assert!(divide(&environment, 3) == divided);
        for threads in [1, 3] {
            let to = directory();
            import(to.path(), &divided, &tree, threads).expect("the parts can be imported");
            let imported = Environment::open(to.path(), OpenMode::Existing).expect("the index can be opened");
            let snapshot = imported.snapshot().expect("the index can be opened");
            check(&snapshot, &tree);
            prop_assert_eq!(snapshot.digest().expect("the index is valid"), fresh_digest(&tree, 64 << 20));
            prop_assert!(divide(&imported, 2) == divided);
        }
    }
}

#[test]
fn few_parts_change_with_few_files() {
    let mut tree = synthetic(400, 40, 3);
    let from = directory();
    let environment = open(from.path());
    write(&environment, &tree, 64 << 20);
    let before = divide(&environment, 2);
    // A new first file changes the number of every chunk.
    let changes: Tree = synthetic(2, 41, 5).into_iter().map(|(path, pieces)| (format!("0/{path}"), pieces)).collect();
    write(&environment, &changes, 64 << 20);
    tree.extend(changes);
    let after = divide(&environment, 2);
    let size = |parts: &[PartRows], known: &[PartRows]| {
        parts.iter().filter(|part| !known.contains(part)).map(|(_, rows)| rows.len()).sum::<usize>()
    };
    let (new, all) = (size(&after.parts, &before.parts), size(&after.parts, &[]));
    assert!(new > 0 && new * 8 < all, "{new} of {all} bytes are new");
    let to = directory();
    import(to.path(), &after, &tree, 2).expect("the parts can be imported");
    let imported = open(to.path());
    check(&imported.snapshot().expect("the index can be opened"), &tree);
}

#[test]
fn invalid_divided_artefacts_are_refused_and_the_old_index_stays() {
    let tree = synthetic(40, 20, 3);
    let from = directory();
    let environment = open(from.path());
    write(&environment, &tree, 64 << 20);
    let divided = divide(&environment, 2);
    assert!(divided.parts.len() > 5);
    let to = directory();
    let old = synthetic(3, 3, 9);
    write(&open(to.path()), &old, 64 << 20);
    let refused = |what: &str, change: &dyn Fn(&mut Divided)| {
        let mut changed = divided.clone();
        change(&mut changed);
        assert!(import(to.path(), &changed, &tree, 2).is_err(), "{what}");
        check(&open(to.path()).snapshot().expect("the index can be opened"), &old);
    };
    for at in 0..divided.parts.len() {
        refused("a changed byte", &|divided| {
            let rows = &mut divided.parts[at].1;
            let middle = rows.len() / 2;
            rows[middle] ^= 1;
        });
        refused("a truncated part", &|divided| _ = divided.parts[at].1.pop());
        refused("a missing part", &|divided| _ = divided.parts.remove(at));
        refused("a repeated part", &|divided| divided.parts.insert(at, divided.parts[at].clone()));
        refused("another group", &|divided| divided.parts[at].0 = "postings".to_owned());
    }
    refused("swapped parts", &|divided| {
        let last = divided.parts.len() - 1;
        divided.parts.swap(0, last);
    });
    refused("another digest", &|divided| divided.digest = "0".repeat(64));
    refused("more chunks", &|divided| divided.manifest.chunks += 1);
    refused("fewer chunks", &|divided| divided.manifest.chunks -= 1);
    refused("more files", &|divided| divided.manifest.files += 1);
    refused("more vectors", &|divided| divided.manifest.vectors += 1);
    refused("no model", &|divided| divided.manifest.model = None);
    refused("other totals", &|divided| divided.manifest.field_totals[0] += 1);
    import(to.path(), &divided, &tree, 2).expect("the unchanged parts can be imported");
}
