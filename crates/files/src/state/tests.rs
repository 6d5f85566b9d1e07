use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn code(error: io::Error) -> ErrorCode {
    refusal(&error).unwrap_or_else(|| panic!("{error}")).code
}

/// A file outside that must not change, and a folder in which everything is a link to it.
fn world() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (outside, state) = (dir.path().join("outside"), dir.path().join("state"));
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("file"), "precious\n").unwrap();
    fs::create_dir(&state).unwrap();
    symlink(outside.join("file"), state.join("file")).unwrap();
    symlink(outside.join("folder"), state.join("folder")).unwrap();
    symlink(outside.join("nothing"), state.join("dead")).unwrap();
    (dir, outside, state)
}

#[test]
fn no_operation_goes_through_a_link() {
    let (_dir, outside, state) = world();
    let folder = StateDirectory::open(&state).unwrap().unwrap();
    for name in ["file", "dead"] {
        assert_eq!(
            code(folder.read(name).unwrap_err()),
            ErrorCode::ConfigUntrusted,
            "read {name}"
        );
        assert_eq!(
            code(folder.update(name).unwrap_err()),
            ErrorCode::ConfigUntrusted,
            "update {name}"
        );
        assert_eq!(
            code(folder.checked_path(name, &[]).unwrap_err()),
            ErrorCode::ConfigUntrusted,
            "path {name}"
        );
        assert_eq!(
            folder.create_new(name).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists,
            "create {name}"
        );
    }
    assert_eq!(
        code(folder.child("folder").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(folder.make_child("folder").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(folder.remove_folder("folder").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(StateDirectory::open(&state.join("folder")).unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(StateDirectory::make(&state.join("folder")).unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    // A link is replaced, not followed.
    folder.replace("file", b"new").unwrap();
    assert!(folder.remove("dead").unwrap());
    assert_eq!(
        fs::read_to_string(outside.join("file")).unwrap(),
        "precious\n"
    );
    assert!(!outside.join("nothing").exists() && outside.join("folder").is_dir());
}

#[test]
fn the_endings_that_a_library_adds_are_looked_at_too() {
    let (_dir, outside, state) = world();
    fs::write(state.join("index.sqlite"), "").unwrap();
    symlink(outside.join("file"), state.join("index.sqlite-wal")).unwrap();
    let folder = StateDirectory::open(&state).unwrap().unwrap();
    assert!(folder.checked_path("index.sqlite", &["-shm"]).is_ok());
    assert_eq!(
        code(
            folder
                .checked_path("index.sqlite", &["-shm", "-wal"])
                .unwrap_err()
        ),
        ErrorCode::ConfigUntrusted
    );
}

#[test]
fn a_file_with_a_second_name_is_not_changed_in_place() {
    let (_dir, outside, state) = world();
    fs::hard_link(outside.join("file"), state.join("lock")).unwrap();
    let folder = StateDirectory::open(&state).unwrap().unwrap();
    assert_eq!(
        code(folder.update("lock").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    folder.replace("lock", b"new").unwrap();
    assert_eq!(
        fs::read_to_string(outside.join("file")).unwrap(),
        "precious\n"
    );
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(dir.path().join("fifo"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let folder = StateDirectory::open(dir.path()).unwrap().unwrap();
    assert_eq!(
        code(folder.read("fifo").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(folder.update("fifo").unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
    assert_eq!(
        code(folder.checked_path("fifo", &[]).unwrap_err()),
        ErrorCode::ConfigUntrusted
    );
}

#[test]
fn a_name_is_never_a_path() {
    let (_dir, outside, state) = world();
    let folder = StateDirectory::open(&state).unwrap().unwrap();
    for name in [
        "../outside/file",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a/b",
        "a\\b",
        "a\0b",
    ] {
        assert_eq!(
            folder.read(name).unwrap_err().kind(),
            io::ErrorKind::InvalidInput,
            "{name:?}"
        );
        assert!(
            folder.remove(name).is_err()
                && folder.rename(name, "x").is_err()
                && folder.rename("x", name).is_err()
        );
    }
    assert!(outside.join("file").exists());
}

#[test]
fn what_is_made_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateDirectory::make(&dir.path().join("a/b")).unwrap();
    folder.replace("one", b"1").unwrap();
    drop(folder.create_new("two").unwrap());
    drop(folder.update("three").unwrap());
    folder.make_child("c").unwrap();
    let at = |name: &str| dir.path().join("a/b").join(name);
    assert_eq!(
        (mode(&dir.path().join("a")), mode(&at("")), mode(&at("c"))),
        (0o700, 0o700, 0o700)
    );
    assert_eq!(
        (mode(&at("one")), mode(&at("two")), mode(&at("three"))),
        (0o600, 0o600, 0o600)
    );
    // Files that others could access are private now.
    fs::set_permissions(at("one"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(at(""), fs::Permissions::from_mode(0o755)).unwrap();
    folder.make_private().unwrap();
    assert_eq!((mode(&at("")), mode(&at("one"))), (0o700, 0o600));
}

#[test]
fn a_file_is_replaced_whole_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateDirectory::open(dir.path()).unwrap().unwrap();
    assert!(folder.read_bytes("x", 10).unwrap().is_none());
    folder.replace("x", b"one").unwrap();
    folder.replace("x", b"two").unwrap();
    assert_eq!(folder.read_bytes("x", 3).unwrap().unwrap(), b"two");
    assert_eq!(
        folder.read_bytes("x", 2).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
    assert_eq!(
        folder.entries().unwrap(),
        [DirectoryEntry {
            name: "x".to_owned(),
            kind: EntryKind::File
        }]
    );
    let (name, _) = folder.create_unfinished().unwrap();
    assert!(is_unfinished(&name) && !is_unfinished("x") && !is_unfinished("tmp-.part"));
    folder.remove_unfinished();
    assert_eq!(folder.entries().unwrap().len(), 1);
    assert!(folder.remove("x").unwrap() && !folder.remove("x").unwrap());
}

#[test]
fn a_path_is_one_word_of_a_command_whatever_it_contains() {
    assert_eq!(quoted(Path::new("/a/b-c_d.e")), "/a/b-c_d.e");
    assert_eq!(quoted(Path::new("/my notes/it's")), r"'/my notes/it'\''s'");
    assert_eq!(in_quotes("b';touch x"), r"'b'\'';touch x'");
}
