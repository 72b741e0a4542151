use std::fs;
use std::io::{self, Write as _};

use crate::{Directory, EntryKind, Refusal, read_regular, refusal_of};

const LIMIT: u64 = 1 << 10;

/// Creates a directory `outside` with a file, and a directory `root` that the test is confined to.
fn test_tree() -> (tempfile::TempDir, Directory) {
    let place = tempfile::tempdir().expect("a directory");
    for name in ["outside", "root", "root/real"] {
        fs::create_dir(place.path().join(name)).expect("created");
    }
    for name in ["outside/secret", "root/real/file"] {
        fs::write(place.path().join(name), name).expect("written");
    }
    let root = Directory::open_root(&place.path().join("root")).expect("opened");
    (place, root)
}

fn refusal_in<T: std::fmt::Debug>(result: io::Result<T>) -> Option<Refusal> {
    refusal_of(&result.expect_err("refused"))
}

#[test]
fn files_below_the_directory_are_read_and_replaced() {
    let (_place, root) = test_tree();
    assert_eq!(root.read("real/file", LIMIT).expect("read"), b"root/real/file");
    let real = root.open_directory("real").expect("opened");
    real.replace("file", |file| file.write_all(b"new")).expect("replaced");
    assert_eq!(root.read_to_string("real/file", LIMIT).expect("read"), "new");
    assert_eq!(real.entries().expect("listed"), [("file".into(), EntryKind::File)], "no temporary file is left");
    real.rename("file", "other").expect("renamed");
    assert!(root.contains("real/other").expect("known") && !root.contains("real/file").expect("known"));
    root.remove("real").expect("removed");
    root.remove("real").expect("nothing to remove");
    assert!(root.entries().expect("listed").is_empty());
}

#[test]
fn writing_a_file_creates_its_directories() {
    let (_place, root) = test_tree();
    root.write("new/inner/file", b"one").expect("written");
    root.write("new/inner/file", b"two").expect("written");
    root.write("real/file", b"three").expect("written");
    assert_eq!(root.read("new/inner/file", LIMIT).expect("read"), b"two");
    assert_eq!(root.read("real/file", LIMIT).expect("read"), b"three");
    assert_eq!(refusal_in(root.write("real/file/below", b"")), Some(Refusal::NotDirectory));
    assert_eq!(refusal_in(root.write("../outside/file", b"")), Some(Refusal::Outside));
}

#[test]
fn a_failed_replacement_keeps_the_old_file() {
    let (_place, root) = test_tree();
    let real = root.open_directory("real").expect("opened");
    real.replace("file", |_| Err(io::Error::other("no"))).expect_err("fails");
    assert_eq!(real.read("file", LIMIT).expect("read"), b"root/real/file");
    assert_eq!(real.entries().expect("listed").len(), 1);
}

#[test]
fn paths_that_leave_the_directory_are_refused() {
    let (place, root) = test_tree();
    let absolute = place.path().join("outside/secret");
    for path in ["", "..", "../outside/secret", "real/../../outside/secret", absolute.to_str().expect("text")] {
        assert_eq!(refusal_in(root.read(path, LIMIT)), Some(Refusal::Outside), "{path}");
        assert_eq!(refusal_in(root.open_directory(path)), Some(Refusal::Outside), "{path}");
    }
    for name in ["real/new", "..", "."] {
        assert_eq!(refusal_in(root.create_new(name)), Some(Refusal::Outside), "{name}");
        assert_eq!(refusal_in(root.remove(name).map(|()| name)), Some(Refusal::Outside), "{name}");
    }
}

#[test]
fn sizes_are_limited() {
    let (_place, root) = test_tree();
    assert_eq!(root.read("real/file", 14).expect("read").len(), 14);
    assert_eq!(refusal_in(root.read("real/file", 13)), Some(Refusal::TooLarge { limit: 13 }));
    assert_eq!(refusal_in(read_regular(&root.path().join("real/file"), 3)), Some(Refusal::TooLarge { limit: 3 }));
}

#[test]
fn files_and_directories_are_not_confused() {
    let (_place, root) = test_tree();
    assert_eq!(refusal_in(root.read("real", LIMIT)), Some(Refusal::NotRegular));
    assert_eq!(refusal_in(root.open_for_writing("real")), Some(Refusal::NotRegular));
    assert_eq!(refusal_in(root.open_directory("real/file")), Some(Refusal::NotDirectory));
    assert_eq!(
        refusal_in(root.create_directory("real").and_then(|real| real.create_directory("file"))),
        Some(Refusal::NotDirectory)
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};

    use super::*;
    use crate::unix::open_by_components;

    #[test]
    fn symbolic_links_are_never_followed() {
        let (place, root) = test_tree();
        let links =
            [("link", "../outside/secret"), ("folder", "../outside"), ("inner", "real"), ("gone", "../outside/new")];
        for (name, target) in links {
            symlink(target, root.path().join(name)).expect("linked");
        }
        for path in ["link", "folder/secret", "inner/file", "gone"] {
            assert_eq!(refusal_in(root.read(path, LIMIT)), Some(Refusal::SymbolicLink), "{path}");
            assert_eq!(refusal_in(root.open_for_writing(path)), Some(Refusal::SymbolicLink), "{path}");
        }
        for name in ["link", "gone"] {
            assert_eq!(refusal_in(root.open_or_create(name)), Some(Refusal::SymbolicLink), "{name}");
            assert_eq!(root.create_new(name).expect_err("refused").kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(root.metadata(name).expect("known").kind, EntryKind::Link);
        }
        for name in ["folder", "inner", "link"] {
            assert_eq!(refusal_in(root.open_directory(name)), Some(Refusal::SymbolicLink), "{name}");
            assert_eq!(refusal_in(root.create_directory(name)), Some(Refusal::SymbolicLink), "{name}");
        }
        assert_eq!(refusal_in(root.metadata("folder/secret")), Some(Refusal::SymbolicLink));
        root.replace("link", |file| file.write_all(b"mine")).expect("replaced");
        root.remove("folder").expect("removed");
        assert_eq!(fs::read(place.path().join("outside/secret")).expect("still there"), b"outside/secret");
        assert!(!place.path().join("outside/new").exists());
        assert_eq!(root.read("link", LIMIT).expect("a file now"), b"mine");
    }

    #[test]
    fn removing_a_tree_keeps_the_targets_of_its_links() {
        let (place, root) = test_tree();
        symlink("../../outside", root.path().join("real/folder")).expect("linked");
        root.remove("real").expect("removed");
        assert!(place.path().join("outside/secret").exists());
    }

    #[test]
    fn pipes_sockets_and_devices_are_refused_without_blocking() {
        let (_place, root) = test_tree();
        mknodat(CWD, root.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).expect("made");
        let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).expect("bound");
        for name in ["pipe", "socket"] {
            assert_eq!(refusal_in(root.read(name, LIMIT)), Some(Refusal::NotRegular), "{name}");
            assert_eq!(refusal_in(root.open_or_create(name)), Some(Refusal::NotRegular), "{name}");
            assert_eq!(refusal_in(read_regular(&root.path().join(name), LIMIT)), Some(Refusal::NotRegular), "{name}");
        }
        assert_eq!(refusal_in(read_regular(Path::new("/dev/zero"), LIMIT)), Some(Refusal::NotRegular));
    }

    #[test]
    fn opening_by_components_refuses_the_same_paths() {
        let (_place, root) = test_tree();
        symlink("../outside", root.path().join("folder")).expect("linked");
        symlink("real/file", root.path().join("link")).expect("linked");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = openat(CWD, root.path(), flags | OFlags::DIRECTORY, Mode::empty()).expect("opened");
        let open = |path: &str| open_by_components(&handle, Path::new(path), flags);
        assert!(open("real/file").is_ok());
        for path in ["folder/secret", "link", "../outside/secret"] {
            assert!(open(path).is_err(), "{path}");
        }
    }
}

#[cfg(unix)]
fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;

    fs::symlink_metadata(path).expect("is there").permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn entries_of_a_private_directory_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_place, root) = test_tree();
    let set = |path: &str, mode| fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode));
    let private = root.create_private_directory("private").expect("created");
    private.write("below/file", b"text").expect("written");
    private.create_new("new").expect("created");
    for (path, expected) in [("", 0o700), ("below", 0o700), ("below/file", 0o600), ("new", 0o600)] {
        assert_eq!(mode(private.path().join(path)), expected, "{path}");
    }
    // A directory that the user has named may be private for other reasons.
    set("", 0o700).expect("set");
    set("real", 0o755).expect("set");
    root.create_directory("other").expect("created").create_new("file").expect("created");
    assert_eq!(mode(root.path().join("other")) & 0o700, 0o700);
    assert_eq!(mode(root.path().join("other/file")) & 0o077, mode(root.path().join("other")) & 0o066);
}

#[cfg(unix)]
#[test]
fn a_tree_is_made_private_without_following_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let (place, root) = test_tree();
    let outside = place.path().join("outside/secret");
    symlink(&outside, root.path().join("real/link")).expect("linked");
    for path in [outside.clone(), root.path().join("real"), root.path().join("real/file")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
    }
    let own = Directory::create_private_root(&root.path().join("real")).expect("opened");
    assert_eq!(mode(own.path()), 0o700);
    own.make_private();
    assert_eq!((mode(own.path().join("file")), mode(&outside)), (0o700, 0o755));
    own.create_new("new").expect("created");
    assert_eq!(mode(own.path().join("new")), 0o600);
    let made = Directory::create_private_root(&root.path().join("a/b")).expect("created");
    assert_eq!((mode(made.path()), mode(root.path().join("a"))), (0o700, 0o700));
}
