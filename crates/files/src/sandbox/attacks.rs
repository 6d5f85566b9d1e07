//! Attacks on real folders. Each test is named after the attack, or after the fault that it rules
//! out.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::named::read_any;
use super::policy::tests::security;
use super::*;
use crate::sandbox::{FollowLinks, HardLinks, Security};
use local_agent_text::types::SkipReason;

/// A vault, and next to it files that must not be reached.
struct World {
    _folder: TempDir,
    base: PathBuf,
    vault: PathBuf,
    outside: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let world = Self {
            vault: base.join("vault"),
            outside: base.join("outside"),
            base,
            _folder: folder,
        };
        fs::create_dir(&world.outside).unwrap();
        world.write("note.md", "inside");
        fs::write(world.outside.join("secret.md"), "SECRET").unwrap();
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.vault.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        let path = self.vault.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn open(&self) -> Sandbox {
        self.open_with(|_| {})
    }

    fn open_with(&self, change: impl FnOnce(&mut Security)) -> Sandbox {
        let mut rules = security();
        change(&mut rules);
        Sandbox::open(vec![root("notes", &self.vault)], Policy::from(&rules)).unwrap()
    }
}

fn root(name: &str, path: &Path) -> RootSpec {
    RootSpec {
        name: SourceName::new(name).unwrap(),
        path: path.to_path_buf(),
        kind: "notes".into(),
        code: false,
        selection: Selection::default(),
    }
}

fn at(path: &str) -> Address {
    Address {
        source: SourceName::new("notes").unwrap(),
        path: RelPath::new(path).unwrap(),
    }
}

fn text(sandbox: &Sandbox, request: &str) -> String {
    String::from_utf8(
        sandbox
            .read(&sandbox.resolve(request).unwrap())
            .unwrap()
            .bytes,
    )
    .unwrap()
}

fn code(sandbox: &Sandbox, request: &str) -> ErrorCode {
    sandbox.resolve(request).unwrap_err().code
}

/// The walk as lines of `path reason`; found files have no reason.
fn listing(sandbox: &Sandbox) -> Vec<String> {
    let entries = sandbox
        .walk(&SourceName::new("notes").unwrap(), &[".md"])
        .unwrap();
    let line = |e: &Entry| match e.what {
        WalkOutcome::Found(_) => e.path.to_string(),
        WalkOutcome::Skipped(reason) => format!("{} {reason}", e.path),
    };
    entries.iter().map(line).collect()
}

/// Asserts that every function rejects the request as if the file did not exist, and only the
/// operator learns the reason.
fn assert_unseen(sandbox: &Sandbox, path: &str, why: RefusalReason) {
    let request = format!("notes:{path}");
    let nothing = refusal::not_found(&request);
    assert_eq!(sandbox.resolve(&request).unwrap_err(), nothing, "{path}");
    assert_eq!(sandbox.read(&at(path)).unwrap_err(), nothing, "{path}");
    assert_eq!(sandbox.stamp(&at(path)).unwrap_err(), nothing, "{path}");
    assert_eq!(sandbox.explain(&request), Some(why), "{path}");
}

#[test]
fn what_stands_in_a_root_is_read_byte_for_byte() {
    let world = World::new();
    world.write("deep/er/a b ü.md", "x\r\ny\u{feff}");
    let sandbox = world.open();
    assert_eq!(text(&sandbox, "notes:deep/er/a b ü.md"), "x\r\ny\u{feff}");
    assert_eq!(text(&sandbox, "deep\\er/../er/a b ü.md"), "x\r\ny\u{feff}");
    let address = sandbox.resolve("note.md").unwrap();
    assert_eq!(address.to_string(), "notes:note.md");
    assert_eq!(
        sandbox.read(&address).unwrap().stamp,
        sandbox.stamp(&address).unwrap()
    );
    assert_eq!(sandbox.explain("note.md"), None);
}

#[test]
fn s01_s02_s03_s04_s05_text_attacks_are_denied_before_the_disk_is_asked() {
    let world = World::new();
    let sandbox = world.open();
    let absolute = world.vault.join("note.md").display().to_string();
    for request in [
        "../outside/secret.md",
        "notes:../outside/secret.md",
        "a/../../outside/secret.md",
        "..\\outside\\secret.md",
        absolute.as_str(),
        "/etc/passwd",
        "notes:/etc/passwd.md",
        "~/secret.md",
        "C:\\secret.md",
        "\\\\host\\s\\x.md",
        "note.md\0.txt",
        "note.md\n",
        "notes:note.md::$DATA",
        "notes:note.md:x.md",
        "nowhere:note.md",
    ] {
        assert_eq!(
            code(&sandbox, request),
            ErrorCode::PathDenied,
            "{request:?}"
        );
    }
    assert_eq!(
        code(&sandbox, "notes:$HOME/note.md"),
        ErrorCode::FileNotFound
    );
    assert_eq!(code(&sandbox, "  "), ErrorCode::InvalidArgs);
    for request in ["notes:gone.md", "gone.md", "gone/gone.md"] {
        assert_eq!(
            code(&sandbox, request),
            ErrorCode::FileNotFound,
            "{request:?}"
        );
    }
}

#[test]
fn s06_a_sibling_of_the_root_is_not_the_root() {
    let world = World::new();
    fs::create_dir(world.base.join("vault-evil")).unwrap();
    fs::write(world.base.join("vault-evil/a.md"), "EVIL").unwrap();
    let sandbox = world.open_with(|s| s.deny_absolute_paths = false);
    let evil = world.base.join("vault-evil/a.md").display().to_string();
    assert_eq!(code(&sandbox, &evil), ErrorCode::PathDenied);
    assert_eq!(
        code(&sandbox, "notes:../vault-evil/a.md"),
        ErrorCode::PathDenied
    );
    assert_eq!(
        text(&sandbox, &world.vault.join("note.md").display().to_string()),
        "inside"
    );
}

#[test]
fn s07_s08_links_out_are_as_missing_whatever_links_are_allowed() {
    let world = World::new();
    world.link(world.outside.join("secret.md"), "file.md");
    world.link("../outside/secret.md", "up.md");
    world.link(&world.outside, "folder");
    world.link("../outside", "upfolder");
    let never = world.open();
    for path in ["file.md", "up.md", "folder/secret.md", "upfolder/secret.md"] {
        assert_unseen(&never, path, RefusalReason::Symlink);
    }
    let inside = world.open_with(|s| s.follow_links = FollowLinks::Inside);
    for path in ["file.md", "up.md", "folder/secret.md", "upfolder/secret.md"] {
        assert_unseen(&inside, path, RefusalReason::LinkLeaves);
    }
}

#[test]
fn s08_a_linked_parent_is_never_entered_however_deep() {
    let world = World::new();
    fs::create_dir_all(world.outside.join("in/here")).unwrap();
    fs::write(world.outside.join("in/here/a.md"), "SECRET").unwrap();
    world.write("deep/er/still/a.md", "inside");
    world.link("../../../outside/in", "deep/er/out");
    world.link(world.outside.join("in"), "abs");
    for (follow, why) in [
        (FollowLinks::Never, RefusalReason::Symlink),
        (FollowLinks::Inside, RefusalReason::LinkLeaves),
    ] {
        let sandbox = world.open_with(|s| s.follow_links = follow);
        // It makes no difference whether the file below the linked parent exists.
        for path in [
            "deep/er/out/here/a.md",
            "deep/er/out/here/gone.md",
            "deep/er/out/gone/a.md",
            "abs/here/a.md",
        ] {
            assert_unseen(&sandbox, path, why);
        }
        assert_eq!(text(&sandbox, "notes:deep/er/out/../still/a.md"), "inside");
    }
}

#[test]
fn links_that_stay_inside_are_followed_only_when_allowed() {
    let world = World::new();
    world.write("deep/er/a.md", "A");
    world.link("../deep/er", "links/folder");
    world.link("folder/../er/./a.md", "links/file.md");
    let inside = world.open_with(|s| s.follow_links = FollowLinks::Inside);
    assert_eq!(text(&inside, "notes:links/folder/a.md"), "A");
    assert_eq!(text(&inside, "notes:links/file.md"), "A");
    assert_eq!(
        inside.resolve("notes:links/file.md").unwrap().to_string(),
        "notes:links/file.md"
    );
    assert_unseen(&world.open(), "links/folder/a.md", RefusalReason::Symlink);
}

#[test]
fn s09_chains_and_loops_of_links_end() {
    let world = World::new();
    world.link("b.md", "a.md");
    world.link("a.md", "b.md");
    world.link(".", "self");
    world.link("note.md", "l1.md");
    for n in 2..=9 {
        world.link(format!("l{}.md", n - 1), &format!("l{n}.md"));
    }
    let inside = world.open_with(|s| s.follow_links = FollowLinks::Inside);
    assert_unseen(&inside, "a.md", RefusalReason::LinkLoop);
    assert_eq!(text(&inside, "notes:l8.md"), "inside");
    assert_unseen(&inside, "l9.md", RefusalReason::LinkLoop);
    assert_eq!(
        text(&inside, &format!("notes:{}note.md", "self/".repeat(8))),
        "inside"
    );
    assert_unseen(
        &inside,
        &format!("{}note.md", "self/".repeat(9)),
        RefusalReason::LinkLoop,
    );
    assert_eq!(
        listing(&inside)
            .iter()
            .filter(|l| l.ends_with(" symlink"))
            .count(),
        12
    );
}

#[test]
fn s10_a_link_to_a_link_that_leaves_leaves() {
    let world = World::new();
    world.link(world.outside.join("secret.md"), "second.md");
    world.link("second.md", "first.md");
    world.link("../vault/../outside/secret.md", "third.md");
    let inside = world.open_with(|s| s.follow_links = FollowLinks::Inside);
    for path in ["first.md", "second.md", "third.md"] {
        assert_unseen(&inside, path, RefusalReason::LinkLeaves);
    }
}

#[test]
fn s13_a_hard_link_is_as_missing_unless_allowed() {
    let world = World::new();
    fs::hard_link(world.outside.join("secret.md"), world.vault.join("hard.md")).unwrap();
    let sandbox = world.open();
    assert_unseen(&sandbox, "hard.md", RefusalReason::HardLink);
    assert_eq!(listing(&sandbox), ["hard.md hard_link", "note.md"]);
    let allowed = world.open_with(|s| s.hard_links = HardLinks::Allow);
    assert_eq!(text(&allowed, "notes:hard.md"), "SECRET");
}

#[test]
fn s14_twins_by_case_and_composition_are_never_taken_for_one_another() {
    let world = World::new();
    world.write("x/Caf\u{e9}.md", "composed");
    world.write("x/Cafe\u{301}.md", "decomposed");
    let sandbox = world.open();
    if fs::read_dir(world.vault.join("x")).unwrap().count() == 2 {
        assert_eq!(text(&sandbox, "Caf\u{e9}.md"), "composed");
        assert_eq!(text(&sandbox, "Cafe\u{301}.md"), "decomposed");
        assert_eq!(code(&sandbox, "CAFÉ.md"), ErrorCode::AmbiguousPath);
    }
    world.write("y/Plan.md", "plan");
    assert_eq!(
        sandbox.resolve("plan.MD").unwrap().to_string(),
        "notes:y/Plan.md"
    );
    world.write("credentials.JSON", "{}");
    assert_eq!(
        code(&sandbox, "notes:credentials.JSON"),
        ErrorCode::PathDenied
    );
}

#[test]
fn s15_trailing_dots_and_spaces_hide_nothing() {
    let world = World::new();
    world.write("id_rsa./a.md", "KEY");
    world.write("git. /a.md", "fine here");
    let sandbox = world.open();
    for request in [
        "notes:id_rsa./a.md",
        "notes:.git /a.md",
        "notes:note.md.",
        "notes:note.md ",
        "notes:.. /a.md",
    ] {
        assert_eq!(
            code(&sandbox, request),
            ErrorCode::PathDenied,
            "{request:?}"
        );
    }
}

#[test]
fn s16_over_long_requests_are_denied_and_repeated_only_in_part() {
    let sandbox = World::new().open();
    for request in [
        "x".repeat(10_000) + ".md",
        "d/".repeat(1000) + "a.md",
        "n".repeat(256) + ".md",
    ] {
        let failure = sandbox.resolve(&request).unwrap_err();
        assert_eq!(failure.code, ErrorCode::PathDenied);
        assert!(failure.message.len() < 400);
    }
}

#[test]
fn s17_names_that_begin_with_two_dots_are_read_and_listed() {
    let world = World::new();
    world.write("..foo/..bar.md", "ok");
    let sandbox = world.open();
    assert_eq!(text(&sandbox, "notes:..foo/..bar.md"), "ok");
    assert_eq!(listing(&sandbox), ["..foo/..bar.md", "note.md"]);
}

#[test]
fn s18_proc_and_dev_are_out_of_reach() {
    let world = World::new();
    world.link("/proc/self/environ", "env.md");
    world.link("/proc/self", "proc");
    world.link("/dev/zero", "zero.md");
    for follow in [FollowLinks::Never, FollowLinks::Inside] {
        let sandbox = world.open_with(|s| s.follow_links = follow);
        let why = if follow == FollowLinks::Never {
            RefusalReason::Symlink
        } else {
            RefusalReason::LinkLeaves
        };
        for path in ["env.md", "proc/environ.md", "zero.md"] {
            assert_unseen(&sandbox, path, why);
        }
    }
    for request in [
        "/proc/self/environ",
        "/dev/stdin",
        "notes:/proc/self/cmdline",
    ] {
        assert_eq!(code(&world.open(), request), ErrorCode::PathDenied);
    }
}

#[test]
fn s19_fifos_sockets_and_devices_block_nothing() {
    let world = World::new();
    assert!(
        Command::new("mkfifo")
            .arg(world.vault.join("pipe.md"))
            .status()
            .unwrap()
            .success()
    );
    assert!(
        Command::new("mkfifo")
            .arg(world.vault.join(".gitignore"))
            .status()
            .unwrap()
            .success()
    );
    let _socket = UnixListener::bind(world.vault.join("socket.md")).unwrap();
    let sandbox = world.open();
    assert_unseen(&sandbox, "pipe.md", RefusalReason::NotRegular);
    assert_unseen(&sandbox, "socket.md", RefusalReason::NotRegular);
    assert_eq!(
        listing(&sandbox),
        [
            ".gitignore not_regular",
            "note.md",
            "pipe.md not_regular",
            "socket.md not_regular"
        ]
    );
    // Even without the check before it, opening does not wait for a writer.
    let dir = Dir::open_ambient_dir(&world.vault, ambient_authority()).unwrap();
    let opened = place::open_file(&dir, "pipe.md", sandbox.policy());
    assert_eq!(
        opened.unwrap_err(),
        Refusal::Unseen(RefusalReason::NotRegular)
    );
}

/// The machine's operator chose what is mounted below a root; the same rules apply to it.
#[test]
#[cfg(target_os = "linux")]
fn s20_a_mount_point_below_a_root_is_a_folder_like_others() {
    let Ok(folder) = tempfile::Builder::new()
        .prefix("sandbox-test-")
        .tempdir_in("/dev/shm")
    else {
        return;
    };
    fs::write(folder.path().join("a.md"), "mounted").unwrap();
    symlink("/etc/hostname", folder.path().join("b.md")).unwrap();
    let sandbox = Sandbox::open(
        vec![root("notes", Path::new("/dev"))],
        Policy::from(&security()),
    )
    .unwrap();
    let below = format!(
        "shm/{}",
        folder.path().file_name().unwrap().to_str().unwrap()
    );
    assert_eq!(text(&sandbox, &format!("notes:{below}/a.md")), "mounted");
    assert_unseen(&sandbox, &format!("{below}/b.md"), RefusalReason::Symlink);
}

#[test]
fn s21_w40_no_more_than_the_cap_is_ever_read() {
    let world = World::new();
    world.write("full.md", &"x".repeat(100));
    world.write("over.md", &"x".repeat(101));
    fs::File::create(world.vault.join("sparse.md"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let sandbox = world.open_with(|s| s.max_file_bytes = 100);
    assert_eq!(sandbox.read(&at("full.md")).unwrap().bytes.len(), 100);
    for path in ["over.md", "sparse.md"] {
        assert!(sandbox.resolve(&format!("notes:{path}")).is_ok());
        let failure = sandbox.read(&at(path)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::FileTooLarge);
        assert_eq!(sandbox.stamp(&at(path)).unwrap_err(), failure);
    }
    assert_eq!(
        listing(&sandbox),
        [
            "full.md",
            "note.md",
            "over.md too_large",
            "sparse.md too_large"
        ]
    );

    let dir = Dir::open_ambient_dir(&world.vault, ambient_authority()).unwrap();
    let (file, stamp) = place::open_file(&dir, "full.md", sandbox.policy()).unwrap();
    world.write("full.md", &"x".repeat(5000));
    let grown = place::read_to_cap(file, stamp, sandbox.policy());
    assert_eq!(
        grown,
        Err(Refusal::TooLarge {
            size: 101,
            cap: 100
        })
    );
    let boundless = world.open_with(|s| s.max_file_bytes = u64::MAX);
    assert_eq!(text(&boundless, "notes:note.md"), "inside");
}

#[test]
fn s22_bytes_are_handed_on_as_they_are() {
    let world = World::new();
    let bytes = b"\xff\xfe\x00a\xef\xbb\xbf\r\n\x00\x80";
    fs::write(world.vault.join("odd.md"), bytes).unwrap();
    assert_eq!(world.open().read(&at("odd.md")).unwrap().bytes, bytes);
}

#[test]
fn s23_w39_hidden_and_denied_names_are_out_of_reach_by_name_and_by_link() {
    let world = World::new();
    for path in [
        ".git/a.md",
        "x/.obsidian/a.md",
        "x/keys.pem/a.md",
        "x/.hidden.md",
        "x/data.bin",
    ] {
        world.write(path, "HIDDEN");
    }
    world.link(".git", "git");
    world.link("x/.hidden.md", "open.md");
    world.link("x/data.bin", "data.md");
    world.link("x/keys.pem/a.md", "key.md");
    let sandbox = world.open_with(|s| s.follow_links = FollowLinks::Inside);
    for request in [
        "notes:.git/a.md",
        "x/.obsidian/a.md",
        "notes:x/keys.pem/a.md",
        "x/.hidden.md",
        "x/data.bin",
    ] {
        assert_eq!(code(&sandbox, request), ErrorCode::PathDenied, "{request}");
    }
    for path in ["git/a.md", "open.md", "data.md", "key.md"] {
        assert_unseen(&sandbox, path, RefusalReason::Denied);
    }
}

#[test]
fn s24_the_last_extension_counts_in_any_case() {
    let world = World::new();
    world.write("a.md.exe", "no");
    world.write("B.MD", "yes");
    let sandbox = world.open();
    assert_eq!(code(&sandbox, "notes:a.md.exe"), ErrorCode::PathDenied);
    assert_eq!(text(&sandbox, "notes:B.MD"), "yes");
    assert_eq!(listing(&sandbox), ["B.MD", "note.md"]);
}

#[test]
fn s29_no_answer_differs_by_what_lies_outside() {
    let answers = |world: &World, follow| {
        let sandbox = world.open_with(|s| s.follow_links = follow);
        let requests = [
            "notes:file.md",
            "file.md",
            "notes:folder/secret.md",
            "folder/secret.md",
            "notes:via.md",
        ];
        let resolved: Vec<_> = requests
            .iter()
            .map(|r| sandbox.resolve(r).unwrap_err())
            .collect();
        let read: Vec<_> = ["file.md", "folder/secret.md", "via.md"]
            .iter()
            .map(|p| sandbox.read(&at(p)))
            .collect();
        (resolved, read, listing(&sandbox))
    };
    for follow in [FollowLinks::Never, FollowLinks::Inside] {
        let [full, empty, odd] = [(); 3].map(|()| World::new());
        for world in [&full, &empty, &odd] {
            world.link("../outside/secret.md", "file.md");
            world.link("../outside", "folder");
            world.link("file.md", "via.md");
        }
        fs::remove_dir_all(&empty.outside).unwrap();
        fs::remove_file(odd.outside.join("secret.md")).unwrap();
        fs::create_dir(odd.outside.join("secret.md")).unwrap();
        assert_eq!(answers(&full, follow), answers(&empty, follow));
        assert_eq!(answers(&full, follow), answers(&odd, follow));
    }
}

#[test]
fn s29_every_reason_inside_is_answered_like_a_missing_file() {
    let request = "notes:it.md";
    let answer = |make: &dyn Fn(&World)| {
        let world = World::new();
        make(&world);
        (
            world.open().resolve(request).unwrap_err(),
            world.open().read(&at("it.md")).unwrap_err(),
        )
    };
    let nothing = answer(&|_| {});
    assert_eq!(nothing.0, nothing.1);
    assert_eq!(answer(&|w| w.link("note.md", "it.md")), nothing);
    assert_eq!(answer(&|w| w.link("/etc/shadow", "it.md")), nothing);
    assert_eq!(
        answer(&|w| fs::hard_link(w.vault.join("note.md"), w.vault.join("it.md")).unwrap()),
        nothing
    );
    assert_eq!(
        answer(&|w| drop(UnixListener::bind(w.vault.join("it.md")).unwrap())),
        nothing
    );
    assert_eq!(answer(&|w| fs::remove_dir_all(&w.vault).unwrap()), nothing);
}

#[test]
fn a_folder_inside_is_said_to_be_one() {
    let world = World::new();
    world.write("folder.md/a.md", "x");
    let sandbox = world.open();
    assert_eq!(
        code(&sandbox, "notes:folder.md"),
        ErrorCode::PathIsDirectory
    );
    assert_eq!(code(&sandbox, "folder.md"), ErrorCode::PathIsDirectory);
    assert_eq!(
        sandbox.read(&at("folder.md")).unwrap_err().code,
        ErrorCode::PathIsDirectory
    );
    assert_eq!(listing(&sandbox), ["folder.md/a.md", "note.md"]);
}

#[test]
fn an_address_is_judged_like_a_request() {
    let world = World::new();
    world.write(".hidden/a.md", "x");
    let sandbox = world.open();
    assert_eq!(
        sandbox.read(&at(".hidden/a.md")).unwrap_err().code,
        ErrorCode::PathDenied
    );
    assert_eq!(
        sandbox.read(&at("note.exe")).unwrap_err().code,
        ErrorCode::PathDenied
    );
    let elsewhere = Address {
        source: SourceName::new("elsewhere").unwrap(),
        path: RelPath::new("a.md").unwrap(),
    };
    assert_eq!(
        sandbox.read(&elsewhere).unwrap_err().code,
        ErrorCode::PathDenied
    );
}

#[test]
fn w25_a_link_out_of_a_source_does_not_stop_a_walk() {
    let world = World::new();
    world.link(world.outside.join("secret.md"), "a/leak.md");
    world.link(&world.outside, "a/folder");
    world.link("nowhere", "dangling.md");
    world.write("z.md", "z");
    let expected = [
        "a/folder symlink",
        "a/leak.md symlink",
        "dangling.md symlink",
        "note.md",
        "z.md",
    ];
    assert_eq!(listing(&world.open()), expected);
    assert_eq!(
        listing(&world.open_with(|s| s.follow_links = FollowLinks::Inside)),
        expected
    );
}

#[test]
fn w26_hidden_folders_are_passed_by_and_ignore_files_count() {
    let world = World::new();
    for path in [
        ".trash/a.md",
        ".github/a.md",
        ".obsidian/a.md",
        ".a.md",
        "logs/a.md",
        "logs/keep.md",
        "drafts/a.md",
        "drafts/deep/b.md",
        "top.md",
        "sub/top.md",
        "sub/tmp.md",
        "tmp.md",
        "sub/private.md",
        "secret.pem/a.md",
    ] {
        world.write(path, "x");
    }
    world.write(
        ".gitignore",
        "\u{feff}# comment\nlogs/*\n!logs/keep.md\n/top.md\ntmp.md\n[\n",
    );
    world.write(".ignore", "drafts/\n");
    world.write("sub/.gitignore", "!tmp.md\nprivate.md\n");
    world.write("sub/.local-agentignore", "!private.md\n");
    let expected = [
        "logs/keep.md",
        "note.md",
        "secret.pem denied",
        "sub/private.md",
        "sub/tmp.md",
        "sub/top.md",
    ];
    assert_eq!(listing(&world.open()), expected);
    let shown = listing(&world.open_with(|s| s.deny_hidden_paths = false));
    assert!(shown.contains(&".github/a.md".to_owned()) && shown.contains(&".a.md".to_owned()));
    assert!(
        !shown
            .iter()
            .any(|l| l.starts_with(".obsidian") || l.starts_with(".trash"))
    );
}

#[test]
fn an_ignore_file_that_is_not_read_is_listed() {
    let world = World::new();
    world.link("../outside/secret.md", ".gitignore");
    world.write("a/.ignore", &"#\n".repeat(1 << 20));
    assert_eq!(
        listing(&world.open()),
        [".gitignore symlink", "a/.ignore too_large", "note.md"]
    );
}

#[test]
fn names_that_no_path_can_hold_are_listed() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    for name in [
        &b"a\xff.md"[..],
        b"b\\c.md",
        b"d\ne.md",
        b"f\xff.exe",
        b"g%.md",
    ] {
        let path = world.vault.join(std::ffi::OsStr::from_bytes(name));
        if fs::write(path, "x").is_err() {
            return; // a file system that does not allow such names
        }
    }
    fs::create_dir(world.vault.join(std::ffi::OsStr::from_bytes(b"h\xff"))).unwrap();
    let listed = listing(&world.open());
    assert_eq!(
        listed,
        [
            "a%FF.md bad_name",
            "b%5Cc.md bad_name",
            "d%0Ae.md bad_name",
            "g%.md",
            "h%FF bad_name",
            "note.md"
        ]
    );
}

#[test]
fn a_walk_is_sorted_and_finds_exactly_what_can_be_read() {
    let world = World::new();
    for n in 0..1500 {
        world.write(&format!("many/{n}.md"), "x");
    }
    for path in [
        "a/b.md", "a.md", "a b.md", "a-b/c.md", "skip.txt", "UPPER.MD",
    ] {
        world.write(path, "x");
    }
    world.link("a.md", "link.md");
    let sandbox = world.open();
    let entries = sandbox
        .walk(&SourceName::new("notes").unwrap(), &[".MD"])
        .unwrap();
    assert_eq!(entries.len(), 1500 + 7);
    assert!(
        entries
            .windows(2)
            .all(|w| w[0].path.as_str().as_bytes() < w[1].path.as_str().as_bytes())
    );
    for entry in entries {
        match (entry.what, sandbox.read(&at(entry.path.as_str()))) {
            (WalkOutcome::Found(stamp), Ok(file)) => assert_eq!(stamp, file.stamp),
            (WalkOutcome::Skipped(SkipReason::Symlink), Err(_)) => {}
            other => panic!("{}: {other:?}", entry.path),
        }
    }
}

#[test]
fn a_very_deep_tree_is_walked_to_a_limit_without_exhausting_anything() {
    let world = World::new();
    let deep = "d/".repeat(300);
    world.write(&format!("{deep}a.md"), "x");
    let listed = listing(&world.open());
    assert_eq!(listed.len(), 2);
    assert!(listed[0].ends_with(" unreadable"), "{listed:?}");
}

#[test]
fn w41_earlier_answers_are_no_evidence() {
    let world = World::new();
    world.write("runs/1/answer.md", "model text");
    let policy = || Policy::from(&security()).keep_out([world.vault.join("runs")]);
    let roots = vec![
        root("notes", &world.vault),
        root("runs", &world.vault.join("runs")),
    ];
    let sandbox = Sandbox::open(roots, policy()).unwrap();
    assert_eq!(
        code(&sandbox, "notes:runs/1/answer.md"),
        ErrorCode::PathDenied
    );
    assert_eq!(code(&sandbox, "runs:1/answer.md"), ErrorCode::FileNotFound);
    assert_eq!(code(&sandbox, "answer.md"), ErrorCode::FileNotFound);
    assert!(sandbox.roots()[1].unavailable.is_some());
    assert_eq!(listing(&sandbox), ["note.md", "runs denied"]);
    world.link("runs/1/answer.md", "answer-link.md");
    let mut rules = security();
    rules.follow_links = FollowLinks::Inside;
    let policy = Policy::from(&rules).keep_out([world.vault.join("runs")]);
    let sandbox = Sandbox::open(vec![root("notes", &world.vault)], policy).unwrap();
    assert_unseen(&sandbox, "answer-link.md", RefusalReason::Denied);
}

#[test]
fn w42_bare_names_are_searched_recursively_and_ambiguity_lists_the_candidates() {
    let world = World::new();
    world.write("a/one.md", "1");
    world.write("a/two.md", "2");
    world.write("b/two.md", "2");
    world.write("b/note.md", "nested");
    let sandbox = world.open();
    assert_eq!(
        sandbox.resolve("one.md").unwrap().to_string(),
        "notes:a/one.md"
    );
    assert_eq!(
        sandbox.resolve("note.md").unwrap().to_string(),
        "notes:note.md"
    );
    let failure = sandbox.resolve("two.md").unwrap_err();
    assert_eq!(failure.code, ErrorCode::AmbiguousPath);
    assert!(
        failure
            .message
            .contains("`notes:a/two.md`, `notes:b/two.md`"),
        "{}",
        failure.message
    );
}

#[test]
fn bare_paths_need_one_root_and_nested_roots_show_a_file_once() {
    let world = World::new();
    world.write("corpus/a.md", "A");
    let other = world.base.join("other");
    fs::create_dir_all(other.join("corpus")).unwrap();
    fs::write(other.join("corpus/b.md"), "B").unwrap();
    fs::write(other.join("note.md"), "other").unwrap();
    let roots = vec![
        root("all", &world.vault),
        root("corpus", &world.vault.join("corpus")),
        root("other", &other),
    ];
    let sandbox = Sandbox::with_base(roots, Policy::from(&security()), &world.vault).unwrap();
    assert_eq!(
        sandbox.resolve("corpus/b.md").unwrap().to_string(),
        "other:corpus/b.md"
    );
    assert_eq!(
        sandbox.resolve("corpus/a.md").unwrap().to_string(),
        "all:corpus/a.md"
    );
    assert_eq!(sandbox.resolve("a.md").unwrap().to_string(), "corpus:a.md");
    assert_eq!(code(&sandbox, "note.md"), ErrorCode::AmbiguousPath);
    assert_eq!(
        sandbox.resolve("other:note.md").unwrap().to_string(),
        "other:note.md"
    );
}

#[test]
fn paths_relative_to_the_base_reach_the_roots_below_it() {
    let world = World::new();
    let roots = vec![root("notes", &world.vault)];
    let sandbox = Sandbox::with_base(roots, Policy::from(&security()), &world.base).unwrap();
    assert_eq!(
        sandbox.resolve("vault/note.md").unwrap().to_string(),
        "notes:note.md"
    );
    assert_eq!(code(&sandbox, "outside/secret.md"), ErrorCode::FileNotFound);
    assert_eq!(code(&sandbox, "vault/../../x.md"), ErrorCode::PathDenied);
}

#[test]
fn a_missing_root_is_kept_and_says_why() {
    let world = World::new();
    let roots = vec![
        root("gone", &world.base.join("gone")),
        root("notes", &world.vault),
    ];
    let sandbox = Sandbox::open(roots, Policy::from(&security())).unwrap();
    assert!(sandbox.roots()[0].unavailable.is_some() && sandbox.roots()[1].unavailable.is_none());
    assert_eq!(
        sandbox.resolve("note.md").unwrap().to_string(),
        "notes:note.md"
    );
    assert_eq!(code(&sandbox, "gone:note.md"), ErrorCode::FileNotFound);
    assert_eq!(
        sandbox.explain("gone:note.md"),
        Some(RefusalReason::RootUnavailable)
    );
    let failure = sandbox
        .walk(&SourceName::new("gone").unwrap(), &[".md"])
        .unwrap_err();
    assert_eq!(failure.code, ErrorCode::ConfigError);
    assert!(
        Sandbox::open(
            vec![root("r", Path::new("relative"))],
            Policy::from(&security())
        )
        .is_err()
    );
    let twice = vec![root("notes", &world.vault), root("notes", &world.base)];
    assert!(Sandbox::open(twice, Policy::from(&security())).is_err());
}

#[test]
fn a_root_that_was_removed_does_not_look_like_an_empty_one() {
    let world = World::new();
    let sandbox = world.open();
    fs::remove_dir_all(&world.vault).unwrap();
    assert!(
        sandbox
            .walk(&SourceName::new("notes").unwrap(), &[".md"])
            .is_err()
    );
}

#[test]
fn files_without_permission_are_as_missing() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    world.write("closed/a.md", "x");
    world.write("closed.md", "x");
    for path in ["closed", "closed.md"] {
        fs::set_permissions(world.vault.join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let sandbox = world.open();
    if fs::read(world.vault.join("closed.md")).is_err() {
        assert_eq!(
            sandbox.read(&at("closed.md")).unwrap_err(),
            refusal::not_found("notes:closed.md")
        );
        assert_eq!(
            sandbox.explain("notes:closed.md"),
            Some(RefusalReason::NoPermission)
        );
        assert_unseen(&sandbox, "closed/a.md", RefusalReason::NoPermission);
        assert!(listing(&sandbox).contains(&"closed unreadable".to_owned()));
    }
    fs::set_permissions(
        world.vault.join("closed"),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
}

#[test]
fn a_person_may_name_any_file_but_not_any_name() {
    let world = World::new();
    let mut rules = security();
    rules.max_file_bytes = 10;
    assert_eq!(
        read_any(&world.outside.join("secret.md"), &Policy::from(&rules))
            .unwrap_err()
            .code,
        ErrorCode::PathDenied
    );
    rules.allow_any_path = true;
    let policy = Policy::from(&rules);
    let code = |path: &str| {
        read_any(&world.base.join(path), &policy)
            .map(|_| ())
            .unwrap_err()
            .code
    };
    assert_eq!(
        read_any(&world.outside.join("secret.md"), &policy)
            .unwrap()
            .bytes,
        b"SECRET"
    );
    world.write("big.md", "more than ten bytes");
    world.write(".ssh/a.md", "KEY");
    world.write("a.exe", "x");
    fs::create_dir(world.vault.join("folder.md")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(world.vault.join("pipe.md"))
            .status()
            .unwrap()
            .success()
    );
    world.link(".ssh/a.md", "key.md");
    world.link("a.exe", "exe.md");
    world.link("../outside/secret.md", "fine.md");
    assert_eq!(code("vault/big.md"), ErrorCode::FileTooLarge);
    assert_eq!(code("vault/.ssh/a.md"), ErrorCode::PathDenied);
    assert_eq!(code("vault/a.exe"), ErrorCode::PathDenied);
    assert_eq!(code("vault/folder.md"), ErrorCode::PathIsDirectory);
    for path in [
        "vault/pipe.md",
        "vault/key.md",
        "vault/exe.md",
        "vault/gone.md",
    ] {
        assert_eq!(code(path), ErrorCode::FileNotFound, "{path}");
    }
    assert_eq!(
        read_any(&world.vault.join("fine.md"), &policy)
            .unwrap()
            .bytes,
        b"SECRET"
    );
}

#[test]
fn a_private_card_makes_its_board_private_and_no_board_is_written() {
    let world = World::new();
    let card = |text: &str| format!(r#"{{"nodes":[{{"type":"text","text":"{text}"}}]}}"#);
    world.write("open.canvas", &card("words"));
    world.write("own.canvas", &card("my #private card"));
    let named = Selection::default().with_extensions(&[".canvas".to_owned()]);
    let notes = RootSpec {
        selection: named.unwrap(),
        ..root("notes", &world.vault)
    };
    let rules = Security {
        private_tags: vec!["private".to_owned()],
        ..security()
    };
    let sandbox = Sandbox::open(vec![notes], Policy::from(&rules)).unwrap();
    let at = |name: &str| sandbox.resolve(name).unwrap();
    let (open, own) = (at("open.canvas"), at("own.canvas"));
    let read = String::from_utf8(sandbox.read(&open).unwrap().bytes).unwrap();
    assert_eq!(read, "## line 1 of the file\n\nwords\n");
    assert!(sandbox.read(&own).is_ok());
    let refused = sandbox.subject("open.canvas").unwrap_err();
    assert_eq!(refused.code, ErrorCode::WriteDenied);
    let kept = sandbox.without_private(Arc::new(PrivateNotes::new(&rules)));
    assert!(kept.read(&open).is_ok());
    let refused = kept.read(&own).unwrap_err();
    assert_eq!(refused.code, ErrorCode::FileNotFound);
}

#[test]
fn an_excluded_folder_is_not_listed() {
    let world = World::new();
    world.write("archive/2020/old.md", "old");
    world.write("open/new.md", "new");
    let notes = RootSpec {
        selection: Selection::new(&[], &["archive/".to_owned()]).unwrap(),
        ..root("notes", &world.vault)
    };
    let sandbox = Sandbox::open(vec![notes], Policy::from(&security())).unwrap();
    for folder in ["notes:archive", "notes:archive/2020", "Archive"] {
        let refused = sandbox.list(folder).unwrap_err();
        assert_eq!(refused.code, ErrorCode::PathDenied, "{folder}");
    }
    let (_, listed) = sandbox.list("notes:").unwrap();
    let names: Vec<&str> = listed.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(names, ["note.md", "open"]);
    assert_eq!(sandbox.list("open").unwrap().1.len(), 1);
}

#[test]
fn a_private_note_hides_no_open_note_of_the_same_name() {
    let world = World::new();
    let rules = security();
    for (private, open, request) in [
        ("todo.md", "a/todo.md", "todo.md"),
        ("b/plan.md", "c/Plan.md", "plan.md"),
    ] {
        world.write(private, "#private");
        world.write(open, "open");
        let sandbox = world.open();
        let kept = sandbox.without_private(Arc::new(PrivateNotes::new(&rules)));
        let found = kept.resolve(request).unwrap();
        assert_eq!(found.path.as_str(), open);
    }
}

#[test]
fn a_file_with_the_longest_name_can_go_to_the_trash() {
    let world = World::new();
    let name = format!("{}ü.md", "x".repeat(250));
    world.write(&name, "long");
    let sandbox = world.open();
    let address = at(&name);
    let sha256 = local_agent_text::types::Sha256::of(b"long");
    let kept = sandbox.move_to_trash(&address, sha256).unwrap();
    assert!(kept.ends_with("x.md"), "{kept}");
    let bytes = fs::read(world.vault.join(&kept)).unwrap();
    assert_eq!(bytes, b"long");
    assert!(sandbox.read(&address).is_err());
}
