//! The copy that a database is read from.

use std::fs;
use std::path::{Path, PathBuf};

use aurora_memory_import::{ActrDatabase, ActrOptions};

use crate::database::TestDatabase;
use crate::read;

fn open(path: &Path, directory: &mut PathBuf) -> ActrDatabase<'static> {
    let options = ActrOptions { root: None, check_rule: |_, _| Ok(()) };
    ActrDatabase::open(path, options, |created| created.clone_into(directory)).expect("a database")
}

#[test]
fn only_the_user_may_read_a_copy_and_it_goes_with_its_reader() {
    let database = TestDatabase::new(&[]);
    let mut directory = PathBuf::new();
    let reader = open(&database.path(), &mut directory);
    assert!(directory.join("memory.db").is_file());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: PathBuf| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(directory.clone()), mode(directory.join("memory.db"))), (0o700, 0o600));
    }
    drop(reader);
    assert!(!directory.exists());
}

/// A copy would fail, since the file is larger than any database that is copied.
#[cfg(unix)]
#[test]
fn a_file_that_is_no_database_is_not_copied() {
    let place = TestDatabase::empty();
    fs::File::create(place.path()).and_then(|file| file.set_len(65 << 30)).expect("a sparse file");
    let error = read(&place.path()).expect_err("no database");
    assert!(error.to_string().ends_with("cannot be read as a database of SQLite"), "{error}");
}

#[test]
fn copies_of_killed_imports_are_removed_and_those_in_use_stay() {
    let database = TestDatabase::new(&[]);
    let mut used = PathBuf::new();
    let reader = open(&database.path(), &mut used);
    let killed = used.with_file_name(format!("aurora-import-killed-{}", std::process::id()));
    fs::create_dir(&killed).expect("created");
    fs::write(killed.join("memory.db"), "a copy").expect("written");
    fs::write(killed.join("lock"), "").expect("written");
    read(&database.path()).expect("a database");
    // Another test may be removing it.
    for _ in 0..500 {
        if !killed.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!killed.exists() && used.join("memory.db").is_file());
    drop(reader);
}
