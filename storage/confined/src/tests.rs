use std::fs;
use std::io::{self, Write as _};

use crate::{Directory, EntryKind, Refusal, read_regular, refusal_of};

const LIMIT: u64 = 1 << 10;

/// Creates a directory `outside` with a file, and a directory `root` that the test is confined to.
fn test_tree() -> (tempfile::TempDir, Directory) {
    let temporary = tempfile::tempdir().expect("a temporary directory can be created");
    for name in ["outside", "root", "root/real"] {
        fs::create_dir(temporary.path().join(name)).expect("the entry can be created");
    }
    for name in ["outside/secret", "root/real/file"] {
        fs::write(temporary.path().join(name), name).expect("the file can be written");
    }
    let root = Directory::open_root(&temporary.path().join("root")).expect("the directory can be opened");
    (temporary, root)
}

fn refusal_in<T: std::fmt::Debug>(result: io::Result<T>) -> Option<Refusal> {
    refusal_of(&result.expect_err("the operation is refused"))
}

#[test]
fn files_below_the_directory_are_read_and_replaced() {
    let (_temporary, root) = test_tree();
    assert_eq!(root.read("real/file", LIMIT).expect("the file can be read"), b"root/real/file");
    let real = root.open_directory("real").expect("the directory can be opened");
    real.replace("file", |file| file.write_all(b"new")).expect("the entry can be replaced");
    assert_eq!(root.read_to_string("real/file", LIMIT).expect("the file can be read"), "new");
    assert_eq!(
        real.entries().expect("the entries can be listed"),
        [("file".into(), EntryKind::File)],
        "no temporary file is left"
    );
    real.rename("file", "other").expect("the entry can be renamed");
    assert!(
        root.contains("real/other").expect("the metadata can be read")
            && !root.contains("real/file").expect("the metadata can be read")
    );
    root.remove("real").expect("the entry can be removed");
    root.remove("real").expect("removing a missing entry succeeds");
    assert!(root.entries().expect("the entries can be listed").is_empty());
}

#[test]
fn writing_a_file_creates_its_directories() {
    let (_temporary, root) = test_tree();
    root.write("new/inner/file", b"one").expect("the file can be written");
    root.write("new/inner/file", b"two").expect("the file can be written");
    root.write("real/file", b"three").expect("the file can be written");
    assert_eq!(root.read("new/inner/file", LIMIT).expect("the file can be read"), b"two");
    assert_eq!(root.read("real/file", LIMIT).expect("the file can be read"), b"three");
    assert_eq!(refusal_in(root.write("real/file/below", b"")), Some(Refusal::NotDirectory));
    assert_eq!(refusal_in(root.write("../outside/file", b"")), Some(Refusal::Outside));
}

#[test]
fn a_failed_replacement_keeps_the_old_file() {
    let (_temporary, root) = test_tree();
    let real = root.open_directory("real").expect("the directory can be opened");
    real.replace("file", |_| Err(io::Error::other("no"))).expect_err("the error of the closure is returned");
    assert_eq!(real.read("file", LIMIT).expect("the file can be read"), b"root/real/file");
    assert_eq!(real.entries().expect("the entries can be listed").len(), 1);
}

#[test]
fn paths_that_leave_the_directory_are_refused() {
    let (temporary, root) = test_tree();
    let absolute = temporary.path().join("outside/secret");
    for path in
        ["", "..", "../outside/secret", "real/../../outside/secret", absolute.to_str().expect("the path is UTF-8")]
    {
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
    let (_temporary, root) = test_tree();
    assert_eq!(root.read("real/file", 14).expect("the file can be read").len(), 14);
    assert_eq!(refusal_in(root.read("real/file", 13)), Some(Refusal::TooLarge { limit: 13 }));
    assert_eq!(refusal_in(read_regular(&root.path().join("real/file"), 3)), Some(Refusal::TooLarge { limit: 3 }));
}

#[test]
fn files_and_directories_are_not_confused() {
    let (_temporary, root) = test_tree();
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
        let (temporary, root) = test_tree();
        let links =
            [("link", "../outside/secret"), ("folder", "../outside"), ("inner", "real"), ("gone", "../outside/new")];
        for (name, target) in links {
            symlink(target, root.path().join(name)).expect("the link can be created");
        }
        for path in ["link", "folder/secret", "inner/file", "gone"] {
            assert_eq!(refusal_in(root.read(path, LIMIT)), Some(Refusal::SymbolicLink), "{path}");
            assert_eq!(refusal_in(root.open_for_writing(path)), Some(Refusal::SymbolicLink), "{path}");
        }
        for name in ["link", "gone"] {
            assert_eq!(refusal_in(root.open_or_create(name)), Some(Refusal::SymbolicLink), "{name}");
            assert_eq!(
                root.create_new(name).expect_err("the operation is refused").kind(),
                io::ErrorKind::AlreadyExists
            );
            assert_eq!(root.metadata(name).expect("the metadata can be read").kind, EntryKind::Link);
        }
        for name in ["folder", "inner", "link"] {
            assert_eq!(refusal_in(root.open_directory(name)), Some(Refusal::SymbolicLink), "{name}");
            assert_eq!(refusal_in(root.create_directory(name)), Some(Refusal::SymbolicLink), "{name}");
        }
        assert_eq!(refusal_in(root.metadata("folder/secret")), Some(Refusal::SymbolicLink));
        root.replace("link", |file| file.write_all(b"mine")).expect("the entry can be replaced");
        root.remove("folder").expect("the entry can be removed");
        assert_eq!(
            fs::read(temporary.path().join("outside/secret")).expect("the target of the link still exists"),
            b"outside/secret"
        );
        assert!(!temporary.path().join("outside/new").exists());
        assert_eq!(root.read("link", LIMIT).expect("a file has replaced the link"), b"mine");
    }

    #[test]
    fn removing_a_tree_keeps_the_targets_of_its_links() {
        let (temporary, root) = test_tree();
        symlink("../../outside", root.path().join("real/folder")).expect("the link can be created");
        root.remove("real").expect("the entry can be removed");
        assert!(temporary.path().join("outside/secret").exists());
    }

    #[test]
    fn pipes_sockets_and_devices_are_refused_without_blocking() {
        let (_temporary, root) = test_tree();
        mknodat(CWD, root.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o666), 0)
            .expect("the pipe can be created");
        let _socket =
            std::os::unix::net::UnixListener::bind(root.path().join("socket")).expect("the socket can be created");
        for name in ["pipe", "socket"] {
            assert_eq!(refusal_in(root.read(name, LIMIT)), Some(Refusal::NotRegular), "{name}");
            assert_eq!(refusal_in(root.open_or_create(name)), Some(Refusal::NotRegular), "{name}");
            assert_eq!(refusal_in(read_regular(&root.path().join(name), LIMIT)), Some(Refusal::NotRegular), "{name}");
        }
        assert_eq!(refusal_in(read_regular(Path::new("/dev/zero"), LIMIT)), Some(Refusal::NotRegular));
    }

    #[test]
    fn opening_by_components_refuses_links_and_paths_outside() {
        let (_temporary, root) = test_tree();
        symlink("../outside", root.path().join("folder")).expect("the link can be created");
        symlink("real/file", root.path().join("link")).expect("the link can be created");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let handle =
            openat(CWD, root.path(), flags | OFlags::DIRECTORY, Mode::empty()).expect("the directory can be opened");
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

    fs::symlink_metadata(path).expect("the entry exists").permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn entries_of_a_private_directory_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_temporary, root) = test_tree();
    let set = |path: &str, mode| fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode));
    let private = root.create_private_directory("private").expect("the entry can be created");
    private.write("below/file", b"text").expect("the file can be written");
    private.create_new("new").expect("the entry can be created");
    for (path, expected) in [("", 0o700), ("below", 0o700), ("below/file", 0o600), ("new", 0o600)] {
        assert_eq!(mode(private.path().join(path)), expected, "{path}");
    }
    // A directory that the user has named may be private for other reasons.
    set("", 0o700).expect("the permissions can be changed");
    set("real", 0o755).expect("the permissions can be changed");
    root.create_directory("other")
        .expect("the entry can be created")
        .create_new("file")
        .expect("the entry can be created");
    assert_eq!(mode(root.path().join("other")) & 0o700, 0o700);
    assert_eq!(mode(root.path().join("other/file")) & 0o077, mode(root.path().join("other")) & 0o066);
}

#[cfg(unix)]
#[test]
fn a_tree_is_made_private_without_following_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let (temporary, root) = test_tree();
    let outside = temporary.path().join("outside/secret");
    symlink(&outside, root.path().join("real/link")).expect("the link can be created");
    for path in [outside.clone(), root.path().join("real"), root.path().join("real/file")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the permissions can be changed");
    }
    let own = Directory::create_private_root(&root.path().join("real")).expect("the directory can be opened");
    assert_eq!(mode(own.path()), 0o700);
    own.make_private();
    assert_eq!((mode(own.path().join("file")), mode(&outside)), (0o700, 0o755));
    own.create_new("new").expect("the entry can be created");
    assert_eq!(mode(own.path().join("new")), 0o600);
    let made = Directory::create_private_root(&root.path().join("a/b")).expect("the entry can be created");
    assert_eq!((mode(made.path()), mode(root.path().join("a"))), (0o700, 0o700));
}
