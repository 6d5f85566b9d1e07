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
    for command in ["status", "stop"] {
        let failure = world.fails(&["serve", command]);
        assert_eq!(failure["error_code"], "SERVER_UNREACHABLE");
        assert_eq!(failure["hint"], "local-agent serve --daemon");
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
    let stopped = world.json(&["serve", "stop"]);
    assert_eq!(
        (&stopped["stopped"], &stopped["pid"]),
        (&json!(true), &status["pid"])
    );
    assert!(!world.state().join("serve.running.json").exists());
    assert_eq!(world.code(&["serve", "status"]), "SERVER_UNREACHABLE");
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
    assert!(
        launchd.contains("<string>local-agent.serve</string>"),
        "{launchd}"
    );
    assert!(launchd.contains("<string>serve</string>"), "{launchd}");
    let task = unit("windows");
    assert!(
        task.starts_with("schtasks /Create /F /SC ONLOGON /TN local-agent-serve /TR "),
        "{task}"
    );
    world.usage(&["serve", "--print-unit", "cron"]);
}
