//! Hints of states that no copy of a vault holds: another process, another user, or another
//! environment. Each test follows the hint to the letter and runs the command again.
//! `literals.rs` names the test of each hint.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use local_agent_testing::server::{Seen, Server, Step, serve};
use local_agent_text::types::Sha256;

use super::place::{give_model, indexed, model_folder, plain, used};
use crate::harness::{Run, World, program, spoken_failure};

/// The failure that a run printed.
fn failure(run: &Run) -> Value {
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    spoken_failure(&run.stderr).unwrap_or_else(|| panic!("{}{}", run.stdout, run.stderr))
}

fn has(failure: &Value, code: &str, hint: &str) {
    assert_eq!(
        (failure["error_code"].as_str(), failure["hint"].as_str()),
        (Some(code), Some(hint)),
        "{failure}"
    );
}

#[cfg(unix)]
#[test]
fn the_working_folder_was_removed() {
    let world = indexed();
    let line = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" status";
    let run = |line: &str| {
        let mut shell = world.command_of("/bin/sh");
        shell.args(["-c", line]).arg(program());
        Run::from(shell.output().unwrap())
    };
    has(
        &failure(&run(line)),
        "CONFIG_ERROR",
        "change to a folder that exists",
    );
    assert_eq!(run(&line.replace("exec", "cd .. && exec")).code, 0);
}

#[cfg(unix)]
#[test]
fn git_is_not_installed() {
    let world = indexed();
    world.write("report.md", "The oven is made of granite. [oven.md:6]\n");
    let since = ["verify", "report.md", "--changed-since", "HEAD"];
    let without = world.run_with(&[("PATH", "/nowhere")], &since);
    has(
        &failure(&without),
        "INVALID_ARGS",
        "install git, or use --lock",
    );
    let with = world.run_with(&[("PATH", "/usr/bin:/bin")], &since);
    assert!(failure(&with)["hint"] != "install git, or use --lock");
    let lock = ["verify", "report.md", "--lock", "report.lock"];
    world.ok(&[&lock[..], &["--update"]].concat());
    world.ok(&lock);
}

/// A world that belongs to a user without rights, who runs a copy of the program.
#[cfg(unix)]
struct OtherUser {
    world: World,
    /// `None` if the test itself has no rights of root.
    id: Option<u32>,
}

#[cfg(unix)]
impl OtherUser {
    fn owns(world: World, id: u32) -> Self {
        use std::os::unix::fs::{MetadataExt as _, chown};
        fs::copy(program(), Self::copy_in(&world)).unwrap();
        let is_root = fs::metadata(world.root()).unwrap().uid() == 0;
        let id = is_root.then_some(id);
        if id.is_some() {
            each(world.root(), &|path| chown(path, id, id).unwrap());
        }
        let user = Self { world, id };
        if user.can_start() {
            // The state folder was made by the user who runs the tests.
            user.ok(&["config", "trust"]);
        }
        user
    }

    fn copy_in(world: &World) -> PathBuf {
        world.root().join("local-agent")
    }

    fn command(&self, program: &Path) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = self.world.command_of(program);
        if let Some(id) = self.id {
            command.uid(id).gid(id);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = self.command(&Self::copy_in(&self.world));
        Run::from(command.args(args).output().unwrap())
    }

    fn ok(&self, args: &[&str]) {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}{}", run.stdout, run.stderr);
    }

    /// Waits until `serve stop` finds no server.
    fn waits_until_no_server_runs(&self) {
        for _ in 0..600 {
            let run = self.run(&["serve", "stop"]);
            let code = spoken_failure(&run.stderr).map(|said| said["error_code"].clone());
            if code == Some("SERVER_UNREACHABLE".into()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the server did not end");
    }

    /// Whether this user can start the program at all.
    fn can_start(&self) -> bool {
        let mut command = self.command(&Self::copy_in(&self.world));
        let can = command.arg("--version").output().is_ok();
        if !can {
            println!("skipped: another user cannot start the program here");
        }
        can
    }

    /// Fails because `folder` cannot be written, and does its job after it can.
    fn is_let_in(&self, folder: &Path, args: &[&str], hint: &str) {
        mode(folder, 0o500);
        has(&failure(&self.run(args)), "WRITE_ERROR", hint);
        mode(folder, 0o700);
        self.ok(args);
    }
}

/// Calls `act` for a path and everything below it.
#[cfg(unix)]
fn each(path: &Path, act: &dyn Fn(&Path)) {
    act(path);
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            each(&entry.path(), act);
        }
    }
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A user without rights; on Linux `nobody`.
#[cfg(unix)]
const NOBODY: u32 = 65534;

#[cfg(unix)]
#[test]
fn a_folder_may_not_be_written() {
    let world = used();
    world.write("client/mcp.json", "{\"mcpServers\": {}}\n");
    let user = OtherUser::owns(world, NOBODY);
    if !user.can_start() {
        return;
    }
    let client = user.world.vault().join("client");
    user.is_let_in(
        &client,
        &[
            "mcp",
            "install",
            "--client",
            "cursor",
            "--file",
            "client/mcp.json",
        ],
        "allow reading and writing there",
    );
    user.is_let_in(
        &user.world.state(),
        &["serve", "token"],
        "free some space or allow writing there, then run the same command again",
    );
    user.is_let_in(
        &user.world.home().join(".cache/local-agent"),
        &["clean", "--yes"],
        "allow writing there, then run the same command again",
    );
}

#[cfg(unix)]
#[test]
fn a_user_has_no_home() {
    // No table of users knows this number.
    let user = OtherUser::owns(plain(), 54_321);
    if user.id.is_none() || !user.can_start() {
        return;
    }
    let without = |args: &[&str]| {
        let mut command = user.command(&OtherUser::copy_in(&user.world));
        Run::from(command.env_remove("HOME").args(args).output().unwrap())
    };
    has(&failure(&without(&["index"])), "CONFIG_ERROR", "set HOME");
    user.ok(&["index"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_changes_or_its_folder_is_closed_while_a_person_reads_the_proposal() {
    use crate::harness::at_terminal;
    let user = OtherUser::owns(used(), NOBODY);
    if !user.can_start() {
        return;
    }
    let (world, file) = (&user.world, user.world.vault().join("deep/pump.md"));
    let line = format!(
        "'{}' tool run propose_write --arg path=notes:deep/pump.md --arg content=mended",
        OtherUser::copy_in(world).display()
    );
    let propose = |first: &dyn Fn()| {
        at_terminal(user.command(Path::new("script")), &line, "", || {
            first();
            "yes\n"
        })
    };
    let said = propose(&|| fs::write(&file, "of another person\n").unwrap());
    for part in [
        "WRITE_CONFLICT",
        "look at the file again, then propose again",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "of another person\n");
    user.ok(&["get", "deep/pump.md"]);
    let folder = world.vault().join("deep");
    let said = propose(&|| mode(&folder, 0o500));
    for part in [
        "WRITE_ERROR",
        "check the permissions of its folder and the space left",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "of another person\n");
    mode(&folder, 0o700);
    let said = propose(&|| ());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mended", "{said}");
}

/// All three wait long for the other process, so they wait at the same time.
#[cfg(unix)]
#[test]
fn another_process_does_not_end() {
    std::thread::scope(|scope| {
        scope.spawn(a_database_is_locked);
        scope.spawn(a_database_is_read);
        scope.spawn(a_server_is_stopped_by_a_signal);
    });
}

#[cfg(unix)]
fn open(world: &World, name: &str, begin: &str) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(world.state().join(name)).unwrap();
    db.execute_batch(begin).unwrap();
    db
}

#[cfg(unix)]
fn a_database_is_locked() {
    let world = used();
    let add = ["memory", "add", "I bake on Mondays"];
    let other = open(&world, "durable.sqlite", "BEGIN EXCLUSIVE");
    has(
        &world.fails(&add),
        "LOCKED",
        "wait for the other process to end",
    );
    drop(other);
    world.ok(&add);
}

#[cfg(unix)]
fn a_database_is_read() {
    let world = used();
    let rebuild = ["index", "--rebuild"];
    let read = "BEGIN; SELECT count(*) FROM sqlite_schema";
    let other = open(&world, "index.sqlite", read);
    // What is written from now on stays in the log, because the reader needs the older state.
    world.write("oven.md", "# Oven\n\nIt is cold today.\n");
    world.ok(&["index"]);
    has(
        &world.fails(&rebuild),
        "LOCKED",
        "wait for it to end, and run it again",
    );
    drop(other);
    world.ok(&rebuild);
}

/// Ends a process at the end of a test, even one that is stopped.
#[cfg(unix)]
struct EndedByForce(String);

#[cfg(unix)]
impl Drop for EndedByForce {
    fn drop(&mut self) {
        let line = format!("kill -KILL {} 2>/dev/null", self.0);
        let _ = Command::new("/bin/sh").args(["-c", &line]).status();
    }
}

#[cfg(unix)]
fn a_server_is_stopped_by_a_signal() {
    let world = indexed();
    world.ok(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    let pid = world.json(&["serve", "status"])["pid"].to_string();
    let signal = |name: &str| {
        let sent = Command::new("/bin/sh")
            .args(["-c", &format!("kill -{name} {pid}")])
            .status();
        assert!(sent.unwrap().success());
    };
    let _ended = EndedByForce(pid.clone());
    signal("STOP");
    has(
        &world.fails(&["serve", "stop"]),
        "SERVER_BUSY",
        "local-agent serve status",
    );
    let status = world.run(&["serve", "status"]);
    assert!(status.stdout.contains(&pid) || status.stderr.contains(&pid));
    signal("CONT");
    // Either it ended by itself by now, or it is ended.
    world.run(&["serve", "stop"]);
    assert_eq!(world.code(&["serve", "status"]), "SERVER_UNREACHABLE");
}

/// A person who started the server with `sudo` can end it without: no signal is sent.
#[cfg(unix)]
#[test]
fn a_server_of_another_user_is_stopped() {
    let user = OtherUser::owns(indexed(), NOBODY);
    if user.id.is_none() || !user.can_start() {
        println!("skipped: one user cannot start a server for another here");
        return;
    }
    let world = &user.world;
    world.ok(&["config", "trust"]);
    world.ok(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    let pid = world.json(&["serve", "status"])["pid"].to_string();
    let _ended = EndedByForce(pid.clone());
    each(&world.state(), &|path| {
        std::os::unix::fs::chown(path, user.id, user.id).unwrap();
    });
    let stopped = user.run(&["serve", "stop"]);
    assert_eq!(stopped.code, 0, "{}", stopped.stderr);
    user.waits_until_no_server_runs();
}

/// `watch` goes on when its user may start no thread, and works again when he may.
#[cfg(target_os = "linux")]
#[test]
fn no_thread_is_left_for_a_round_of_watch() {
    use crate::watch::Watch;
    // A user of its own: the limit counts every thread of a user, in all worlds.
    const USER: u32 = 54_322;
    let user = OtherUser::owns(plain(), USER);
    if user.id.is_none() || !user.can_start() {
        println!("skipped: only root can limit the threads of one user");
        return;
    }
    let world = &user.world;
    let limited = |most: &str, program: &Path| {
        let mut command = user.command(Path::new("prlimit"));
        command
            .arg(format!("--nproc={most}"))
            .arg("--")
            .arg(program);
        command
    };
    let mut command = limited("60", &OtherUser::copy_in(world));
    command.args(["watch", "--json", "--no-embed"]);
    command.args(["--debounce", "50", "--poll", "1"]);
    let mut watch = Watch::of(command);
    watch.hears("updated");
    let shell = limited("61", Path::new("/bin/sh"));
    let Some(others) = Sleepers::until_none_can_start(shell) else {
        println!("skipped: the system does not limit the threads of a user");
        return;
    };
    world.write("later.md", "# Later\n\nThe kiln was relined in June.\n");
    let failed = watch.hears("failed");
    let hint = "end other processes; `watch` tries again by itself";
    assert_eq!(failed["hint"], hint, "{failed}");
    drop(others);
    assert_eq!(watch.hears("updated")["index"]["docs_changed"], 1);
}

/// A group of processes that do nothing; they end when this is dropped.
#[cfg(target_os = "linux")]
struct Sleepers(u32);

#[cfg(target_os = "linux")]
impl Sleepers {
    /// A shell starts processes until the system refuses one more. Then it ends, and leaves room for
    /// one. `None` if it never refuses.
    fn until_none_can_start(mut shell: Command) -> Option<Self> {
        use std::os::unix::process::CommandExt as _;
        let line = "n=0; while [ $n -lt 200 ]; do sleep 600 & n=$((n+1)); done";
        shell.args(["-c", line]).stderr(Stdio::null());
        let mut child = shell.process_group(0).spawn().unwrap();
        let sleepers = Self(child.id());
        let has_all = child.wait().unwrap().success();
        (!has_all).then_some(sleepers)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Sleepers {
    fn drop(&mut self) {
        let line = format!("kill -KILL -{}", self.0);
        let _ = Command::new("/bin/sh").args(["-c", &line]).status();
    }
}

/// What the same fix moved aside before is kept.
#[cfg(unix)]
#[test]
fn a_second_file_is_moved_aside() {
    let world = used();
    for name in ["durable.sqlite.aside", "durable.sqlite.aside.2"] {
        fs::write(world.state().join("durable.sqlite"), "no database").unwrap();
        let hint = world.fails(&["memory", "list"])["hint"].to_string();
        assert!(hint.contains(&format!("/{name} && ")), "{hint}");
        fs::write(world.state().join(name), name).unwrap();
    }
    let hint = world.fails(&["memory", "list"])["hint"].to_string();
    let command = hint.split('`').nth(1).unwrap();
    let line = command.replace("local-agent memory", "\"$0\" memory");
    let mut shell = world.command_of("/bin/sh");
    let typed = shell.args(["-c", &line]).arg(program()).env("PATH", "/bin");
    let typed = Run::from(typed.output().unwrap());
    assert_eq!(typed.code, 0, "{}{}", typed.stdout, typed.stderr);
    for name in ["durable.sqlite.aside", "durable.sqlite.aside.2"] {
        let kept = fs::read_to_string(world.state().join(name)).unwrap();
        assert_eq!(kept, name);
    }
    world.ok(&["memory", "list"]);
}

/// With `--json` on the line, as in the rows of the table, the tip is another one.
#[cfg(unix)]
#[test]
fn a_word_is_left_out() {
    let world = indexed();
    let run = world.run(&["query", "granite", "-May"]);
    let tip = "to leave out notes with a word: `";
    let (_, behind) = run.stderr.split_once(tip).unwrap();
    let (command, _) = behind.split_once('`').unwrap();
    assert_eq!(command, "local-agent query -- 'granite -May'");
    let line = command.replacen("local-agent", "\"$0\"", 1);
    let mut shell = world.command_of("/bin/sh");
    let typed = Run::from(shell.args(["-c", &line]).arg(program()).output().unwrap());
    assert_eq!(typed.code, 0, "{}", typed.stderr);
    assert!(typed.stdout.contains("oven.md"), "{}", typed.stdout);
}

#[test]
fn the_server_of_another_program_is_asked_for() {
    let world = indexed();
    for (other, tip) in [
        (&["daemon"][..], "`local-agent serve` is the server"),
        (
            &["mcp", "--http"],
            "`local-agent serve` serves agents over HTTP at /mcp",
        ),
    ] {
        let run = world.run(&[other, &["--json"]].concat());
        has(&run.json(), "INVALID_ARGS", tip);
    }
    drop(crate::serve::Served::start(&world, &[]));
}

#[test]
fn the_packed_weights_are_no_folder() {
    let world = indexed();
    let cache = world.home().join(".cache/local-agent");
    let packed = cache.join("models");
    let _ = fs::remove_dir_all(&packed);
    fs::create_dir_all(&cache).unwrap();
    fs::write(&packed, "a file").unwrap();
    let verify = ["models", "verify", "bert"];
    give_model(&world, "bert", "bert");
    has(
        &failure(&world.run(&verify)),
        "FILE_READ_ERROR",
        "remove that folder; it is made again",
    );
    fs::remove_file(&packed).unwrap();
    world.ok(&verify);
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with the tiny model. Until `is_mended` is set, it names a wrong hash of its weights.
fn hub(is_mended: Arc<AtomicBool>) -> Server {
    let encoders = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/encoders");
    serve(move |seen| {
        let resolve = format!("/resolve/{COMMIT}/");
        let file = seen.path.split_once(&resolve).map(|(_, file)| file);
        let bytes = file.and_then(|file| fs::read(encoders.join("bert").join(file)).ok());
        let Some(bytes) = bytes else {
            let nothing = "HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            return vec![Step::Bytes(nothing.into())];
        };
        let is_wrong = file == Some("model.safetensors") && !is_mended.load(Ordering::SeqCst);
        let hash = match is_wrong {
            true => Sha256::of(b"another file"),
            false => Sha256::of(&bytes),
        };
        vec![Step::Bytes(part(seen, &bytes, &hash.to_string()))]
    })
}

/// The part of `bytes` that a request asks for.
fn part(seen: &Seen, bytes: &[u8], etag: &str) -> Vec<u8> {
    let range = seen.header("range").and_then(|r| r.strip_prefix("bytes="));
    let (from, to) = range.and_then(|r| r.split_once('-')).unwrap_or(("0", ""));
    let from = from.parse::<usize>().unwrap().min(bytes.len());
    let to = to.parse().map_or(bytes.len(), |to: usize| to + 1);
    let body = &bytes[from..to.min(bytes.len())];
    let mut reply = format!(
        "HTTP/1.1 206 X\r\nx-repo-commit: {COMMIT}\r\netag: \"{etag}\"\r\naccept-ranges: bytes\r\n\
         content-range: bytes {from}-{}/{}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        (from + body.len()).saturating_sub(1),
        bytes.len(),
        body.len()
    )
    .into_bytes();
    reply.extend_from_slice(body);
    reply
}

#[test]
fn a_hub_sends_wrong_bytes() {
    let world = indexed();
    let is_mended = Arc::new(AtomicBool::new(false));
    let pull = |hub: &Server| {
        world.run(&[
            "models",
            "pull",
            "mine",
            "--repo",
            "owner/mine",
            "--revision",
            COMMIT,
            "--endpoint",
            &hub.url(""),
        ])
    };
    let at_first = hub(is_mended.clone());
    let hint = "pull again, or from another --endpoint";
    has(&failure(&pull(&at_first)), "MODEL_CHECKSUM_MISMATCH", hint);
    assert_eq!(world.code(&["models", "verify", "mine"]), "MODEL_NOT_FOUND");
    let other = hub(Arc::new(AtomicBool::new(true)));
    assert_eq!(pull(&other).code, 0);
    world.ok(&["models", "verify", "mine"]);
    fs::remove_dir_all(model_folder(&world, "mine")).unwrap();
    has(&failure(&pull(&at_first)), "MODEL_CHECKSUM_MISMATCH", hint);
    is_mended.store(true, Ordering::SeqCst);
    let again = pull(&at_first);
    assert_eq!(again.code, 0, "{}", again.stderr);
    world.ok(&["models", "verify", "mine"]);
}
