//! `serve --daemon`, `serve status`, `serve stop`, and the units.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::World;
use crate::serve::Served;

/// Ends the server of a world at the end of a test, whatever happened.
#[cfg(unix)]
struct Stopped<'w>(&'w World);

#[cfg(unix)]
impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.run(&["serve", "stop"]);
    }
}

#[cfg(unix)]
#[test]
fn a_server_without_a_terminal_is_started_asked_and_ended() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::example();
    for (command, hint) in [
        ("status", "local-agent serve --daemon"),
        ("stop", "nothing to do: no server runs"),
    ] {
        let failure = world.fails(&["serve", command]);
        assert_eq!(failure["error_code"], "SERVER_UNREACHABLE");
        assert_eq!(failure["hint"], hint);
    }
    let started = world.json(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    let _stopped = Stopped(&world);
    let url = started["url"].as_str().unwrap().to_owned();
    for name in ["serve.running.json", "serve.log"] {
        let mode = std::fs::metadata(world.state().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let status = world.json(&["serve", "status"]);
    assert_eq!(
        (&status["url"], &status["healthy"]),
        (&json!(url), &json!(true))
    );
    let words = world.ok(&["serve", "status"]).stdout;
    assert!(
        words.starts_with(&format!("runs at {url} and answers (process ")),
        "{words}"
    );
    // A state folder has at most one server.
    for more in [&["--daemon"][..], &[]] {
        let args = [&["serve", "--listen", "127.0.0.1:0"][..], more].concat();
        let failure = world.fails(&args);
        assert_eq!(failure["error_code"], "LOCKED");
        assert!(
            failure["error_message"].as_str().unwrap().contains(&url),
            "{failure}"
        );
        assert_eq!(failure["hint"], "local-agent serve stop");
    }
    assert_eq!(world.json(&["serve", "status"])["pid"], status["pid"]);
    // What the server says stays, also beyond its end.
    let log = world.state().join("serve.log");
    std::fs::write(&log, "said before\n").unwrap();
    world.fails(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "said before\n");
    let stopped = world.json(&["serve", "stop"]);
    assert_eq!(
        (&stopped["stopped"], &stopped["pid"]),
        (&json!(true), &status["pid"])
    );
    assert!(!world.state().join("serve.running.json").exists());
    assert_eq!(world.code(&["serve", "status"]), "SERVER_UNREACHABLE");
    world.json(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("said before\n"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_server_is_asked_and_ended_and_a_token_revoked_with_a_broken_configuration() {
    let world = World::example();
    world.json(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    let _stopped = Stopped(&world);
    world.ok(&["serve", "token", "add", "phone", "--role", "search"]);
    let file = world.vault().join("local-agent.yaml");
    let before = std::fs::read_to_string(&file).unwrap();
    for broken in [format!("{before}bogus: 1\n"), "sources: [\n".to_owned()] {
        std::fs::write(&file, broken).unwrap();
        assert_eq!(world.json(&["serve", "status"])["healthy"], true);
        assert_eq!(world.json(&["serve", "token", "list"])["count"], 1);
        assert!(world.json(&["serve", "link"])["link"].is_string());
        // What uses more than the state folder is refused.
        assert_eq!(world.code(&["status", "--json"]), "CONFIG_ERROR");
    }
    world.ok(&["serve", "token", "remove", "phone"]);
    assert_eq!(world.json(&["serve", "stop"])["stopped"], true);
    // Without a server, the problem is that the configuration cannot be read.
    assert_eq!(world.code(&["serve", "status", "--json"]), "CONFIG_ERROR");
    std::fs::write(&file, before).unwrap();
    assert_eq!(world.json(&["serve", "token", "list"])["count"], 0);
}

#[cfg(unix)]
#[test]
fn a_running_server_gives_links_to_the_owner_and_to_named_tokens() {
    let world = World::example();
    let served = Served::start(&world, &[]);
    world.ok(&["serve", "token", "add", "phone", "--role", "search"]);
    let host = ("Host", served.address.as_str());
    let open = |args: &[&str]| {
        let link = world.json(args)["link"].as_str().unwrap().to_owned();
        let path = link.split_once(&served.address).unwrap().1;
        let line = format!("GET {path}");
        let entered = served.with(&line, &[host], "");
        assert_eq!(entered.status, 303, "{}", entered.body);
        let used = served.with(&line, &[host], "");
        used.is_refused(403, "ACCESS_DENIED");
        assert_eq!(
            used.json()["hint"],
            "local-agent serve link prints a new one"
        );
        let cookie = entered.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().to_owned()
    };
    let get = |cookie: &str, path: &str| {
        served.with(&format!("GET {path}"), &[host, ("Cookie", cookie)], "")
    };
    for args in [&["serve", "link"][..], &["serve", "--open"]] {
        assert_eq!(get(&open(args), "/memory").status, 200, "{args:?}");
    }
    let phone = open(&["serve", "link", "--name", "phone"]);
    assert_eq!(get(&phone, "/").status, 200);
    get(&phone, "/memory").is_refused(403, "ACCESS_DENIED");
    world.ok(&["serve", "token", "remove", "phone"]);
    get(&phone, "/").is_refused(401, "ACCESS_DENIED");
    assert_eq!(
        world.code(&["serve", "link", "--name", "phone", "--json"]),
        "INVALID_ARGS"
    );
    drop(served);
    assert_eq!(
        world.code(&["serve", "link", "--json"]),
        "SERVER_UNREACHABLE"
    );
}

#[cfg(unix)]
#[test]
fn a_server_without_a_terminal_starts_in_a_folder_named_from_here() {
    let world = World::example();
    let output = world
        .command()
        .current_dir(world.root())
        .args(["-C", "vault", "serve", "--daemon", "--json"])
        .args(["--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    let _stopped = Stopped(&world);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.json(&["serve", "status"])["healthy"], true);
}

#[cfg(unix)]
#[test]
fn a_server_that_cannot_start_says_why() {
    let world = World::example();
    let failure = world.fails(&["serve", "--daemon", "--listen", "0.0.0.0:0"]);
    assert_eq!(failure["error_code"], "INVALID_ARGS");
    assert!(
        failure["error_message"]
            .as_str()
            .unwrap()
            .contains("no TLS"),
        "{failure}"
    );
}

#[cfg(unix)]
#[test]
fn what_a_killed_server_left_names_nobody() {
    let world = World::example();
    let mut served = Served::start(&world, &[]);
    assert_eq!(world.json(&["serve", "status"])["healthy"], true);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    assert!(world.state().join("serve.running.json").exists());
    assert_eq!(world.code(&["serve", "status"]), "SERVER_UNREACHABLE");
    let served = Served::start(&world, &[]);
    assert_eq!(served.get("/api/status").status, 200);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_file_of_the_server_is_not_followed() {
    let world = World::example();
    let target = world.root().join("target");
    std::fs::write(&target, "mine").unwrap();
    std::os::unix::fs::symlink(&target, world.state().join("serve.log")).unwrap();
    let failure = world.fails(&["serve", "--daemon", "--listen", "127.0.0.1:0"]);
    assert_eq!(failure["error_code"], "CONFIG_UNTRUSTED");
    assert_eq!(std::fs::read_to_string(target).unwrap(), "mine");
}

#[test]
fn the_units_start_this_server_with_its_configuration() {
    let world = World::example();
    let unit = |kind: &str| world.stable(&world.ok(&["serve", "--print-unit", kind]).stdout);
    assert_snapshot!(unit("systemd"), @r"
    [Unit]
    Description=local-agent serves this user's notes

    [Service]
    ExecStart=<package>/local-agent -C <vault> serve
    Restart=on-failure
    RestartSec=30
    Nice=10

    [Install]
    WantedBy=default.target
    ");
    let launchd = unit("launchd");
    assert!(launchd.contains("<string>local-agent.serve."), "{launchd}");
    assert!(launchd.contains("<string>serve</string>"), "{launchd}");
    let task = unit("windows");
    assert!(
        task.starts_with("schtasks /Create /F /SC ONLOGON /TN local-agent-serve-")
            && task.contains(" /TR "),
        "{task}"
    );
    // The unit of another folder has another name, so that both can be there.
    let other = World::example();
    let of_other = other.ok(&["serve", "--print-unit", "windows"]).stdout;
    let name = |text: &str| text.split(" /TR ").next().map(str::to_owned);
    assert_ne!(
        name(&of_other),
        name(&world.ok(&["serve", "--print-unit", "windows"]).stdout)
    );
    world.usage(&["serve", "--print-unit", "cron"]);
}

#[test]
fn a_unit_has_every_option_that_was_given() {
    let world = World::example();
    let unit = |args: &[&str]| {
        let shown = world.ok(args).stdout;
        let line = shown.lines().find(|line| line.starts_with("ExecStart="));
        world.stable(line.unwrap())
    };
    assert_snapshot!(unit(&[
        "serve", "--print-unit", "systemd", "--listen", "0.0.0.0:9000", "--tls-cert", "cert.pem",
        "--tls-key", "key.pem", "--behind-proxy", "notes.example.org", "--requests-per-minute", "60",
        "--ollama-base-url", "http://127.0.0.1:9",
    ]), @"ExecStart=<package>/local-agent -C <vault> --ollama-base-url http://127.0.0.1:9 serve --listen 0.0.0.0:9000 --tls-cert <vault>/cert.pem --tls-key <vault>/key.pem --behind-proxy notes.example.org --requests-per-minute 60");
    assert_snapshot!(unit(&[
        "watch", "--print-unit", "systemd", "--debounce", "50", "--poll", "9", "--no-notifications",
        "--no-embed", "--quiet",
    ]), @"ExecStart=<package>/local-agent -C <vault> watch --debounce 50 --poll 9 --no-notifications --no-embed --quiet");
    world.usage(&["serve", "--print-unit", "systemd", "--open"]);
    let cron = world
        .ok(&["watch", "--print-unit", "cron", "--no-embed"])
        .stdout;
    assert!(
        !cron.contains(" embed ") && !cron.contains("phase3"),
        "{cron}"
    );
}

/// A workroot without a file of its own was lost, so the unit used other folders.
#[test]
fn a_unit_keeps_the_workroot_that_was_named() {
    let world = World::example();
    let root = world.root().join("elsewhere");
    std::fs::create_dir_all(root.join("notes")).unwrap();
    let config = world.root().join("c.yaml");
    std::fs::write(&config, "sources: [{name: n, root: notes}]\n").unwrap();
    let named = [
        "--workroot",
        root.to_str().unwrap(),
        "--config",
        config.to_str().unwrap(),
    ];
    for line in [
        &["serve", "--print-unit", "systemd"][..],
        &["mcp", "install", "--client", "claude-code", "--print"],
    ] {
        let shown = world.ok(&[&named[..], line].concat()).stdout;
        let root = root.canonicalize().unwrap();
        assert!(
            shown.contains("--workroot") && shown.contains(root.to_str().unwrap()),
            "{shown}"
        );
    }
}

#[test]
fn every_text_that_a_command_prints_comes_in_an_object_too() {
    let world = World::example();
    for args in [
        &["skill", "show"][..],
        &["mcp", "install", "--client", "cursor", "--print"],
        &["serve", "--print-unit", "systemd"],
        &["watch", "--print-unit", "cron"],
    ] {
        assert_eq!(world.json(args)["text"], world.ok(args).stdout, "{args:?}");
    }
    // The object is that of the published schema.
    world.json(&["context", "add", "/", "Words."]);
    world.json(&["context", "remove", "/"]);
}
