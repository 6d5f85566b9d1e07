//! Fixes of `local-agent serve` at its start, and of a client that passes its calls on to a server.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::client_calls::{ClientRow, ToldFailure};
use super::place::indexed;
use crate::harness::World;
use crate::serve::Served;
use local_agent_testing::server::{Step, ok_json, serve};

/// The variable with the token of a server.
const TOKEN: &str = "LOCAL_AGENT_SERVER_TOKEN";

/// What a client is told when another program answers.
const WHERE: &str = "use the address that `local-agent serve status` prints where the server runs";

/// A start that fails, and those that its fix asks for: each has the server at work.
struct FailedStart {
    state: &'static str,
    args: &'static [&'static str],
    fix: &'static str,
    mended: &'static [&'static [&'static str]],
}

const STARTS: &[FailedStart] = &[
    FailedStart {
        state: "a proxy that is named by its address",
        args: &["--behind-proxy", "https://notes.example.org/"],
        fix: "give the name alone: --behind-proxy notes.example.org",
        mended: &[&["--behind-proxy", "notes.example.org"]],
    },
    FailedStart {
        state: "other machines can reach the server without TLS",
        args: &["--listen", "0.0.0.0:0"],
        fix: "leave --listen out, give --tls-cert FILE and --tls-key FILE, or put a proxy that ends \
              TLS before it and name it: --behind-proxy notes.example.org",
        mended: &[
            &[],
            &[
                "--listen",
                "0.0.0.0:0",
                "--behind-proxy",
                "notes.example.org",
            ],
        ],
    },
];

pub(super) fn rows() -> Vec<ClientRow> {
    let mut rows: Vec<ClientRow> = STARTS.iter().map(started).collect();
    rows.extend([
        on_a_taken_port(),
        a_second_server(),
        without_a_certificate(),
        with_half_a_certificate(),
        at_no_address(),
        at_a_closed_port(),
        without_a_server(),
        without_status(),
        with_a_wrong_token(),
    ]);
    rows.extend(at_other_programs());
    rows
}

/// The failure of a command.
fn told(world: &World, args: &[&str]) -> ToldFailure {
    ToldFailure::in_object(&world.fails(&[args, &["--json"]].concat()))
}

/// The failure has this code and fix.
fn is_told(world: &World, args: &[&str], code: &str, fix: &str) -> ToldFailure {
    let told = told(world, args);
    assert_eq!(told, ToldFailure::new(code, fix), "{args:?}");
    told
}

fn started(case: &FailedStart) -> ClientRow {
    let world = indexed();
    let call = [&["serve"][..], case.args].concat();
    let told = is_told(&world, &call, "INVALID_ARGS", case.fix);
    let mut ways = Vec::new();
    for args in case.mended {
        drop(Served::start(&world, args));
        let words = [&["local-agent", "serve"][..], args].concat();
        ways.push(format!("`{}`", words.join(" ")));
    }
    let call = format!("local-agent {}", call.join(" "));
    ClientRow::mended(case.state, &call, told, &ways.join(" or "))
}

fn on_a_taken_port() -> ClientRow {
    let world = indexed();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let fix = "local-agent serve --listen 127.0.0.1:0 takes a free port";
    let told = is_told(
        &world,
        &["serve", "--listen", &address],
        "CONFIG_ERROR",
        fix,
    );
    drop(Served::start(&world, &["--listen", "127.0.0.1:0"]));
    let call = "local-agent serve --listen 127.0.0.1:<taken>";
    let how = "`local-agent serve --listen 127.0.0.1:0`";
    ClientRow::mended("another program has the port", call, told, how)
}

fn a_second_server() -> ClientRow {
    let world = indexed();
    let mut first = Served::start(&world, &[]);
    let told = is_told(&world, &["serve"], "LOCKED", "local-agent serve stop");
    world.ok(&["serve", "stop"]);
    assert_eq!(first.child.wait().unwrap().code(), Some(0));
    drop(Served::start(&world, &[]));
    let how = "`local-agent serve stop`";
    ClientRow::mended("a server runs already", "local-agent serve", told, how)
}

/// The fix is a command of another program, which makes both files in this folder.
fn without_a_certificate() -> ClientRow {
    let world = indexed();
    let files = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let told = told(&world, &[&["serve"][..], &files].concat());
    assert_eq!(told.code, "FILE_NOT_FOUND");
    make_certificate(&world, &told.fix);
    drop(Served::start(&world, &files));
    let call = "local-agent serve --tls-cert cert.pem --tls-key key.pem";
    let told = ToldFailure::new(&told.code, &world.stable_paths(&told.fix));
    ClientRow::mended("the certificate is not there", call, told, "that command")
}

/// Nothing replaces the file that is there: the fix makes a new pair beside it.
fn with_half_a_certificate() -> ClientRow {
    let world = indexed();
    world.write("key.pem", "the key of another certificate");
    let files = |certificate, key| ["serve", "--tls-cert", certificate, "--tls-key", key];
    let told = told(&world, &files("cert.pem", "key.pem"));
    assert_eq!(told.code, "FILE_NOT_FOUND");
    let command = told.fix.split('`').nth(1).unwrap();
    make_certificate(&world, command);
    let key = std::fs::read_to_string(world.vault().join("key.pem")).unwrap();
    assert_eq!(key, "the key of another certificate");
    drop(Served::start(
        &world,
        &files("new-cert.pem", "new-key.pem")[1..],
    ));
    let call = "local-agent serve --tls-cert cert.pem --tls-key key.pem";
    let how = "the new pair is named";
    ClientRow::mended("the key is there without its certificate", call, told, how)
}

/// Runs the command, or copies a pair where its program is missing.
fn make_certificate(world: &World, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let made = Command::new(words[0])
        .args(&words[1..])
        .current_dir(world.vault())
        .output();
    match made {
        Ok(made) => assert!(made.status.success(), "{made:?}"),
        Err(e) => {
            eprintln!("{command} was not run: {e}");
            let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
            let new = if command.contains("new-key.pem") {
                "new-"
            } else {
                ""
            };
            for name in ["cert.pem", "key.pem"] {
                let own = data.join(format!("serve.{name}"));
                std::fs::copy(own, world.vault().join(format!("{new}{name}"))).unwrap();
            }
        }
    }
}

/// The address that a server of this world prints serves a client.
fn relays(world: &World, served: &Served) {
    let url = format!("http://{}", served.address);
    world.ok(&["mcp", "--via-server", &url]);
}

fn at_no_address() -> ClientRow {
    let world = indexed();
    let via = ["mcp", "--via-server", "http://192.0.2.1:8377"];
    let fix = WHERE;
    let told = is_told(&world, &via, "INVALID_ARGS", fix);
    relays(&world, &Served::start(&world, &[]));
    let state = "the token would cross the network in clear text";
    ClientRow::mended(
        state,
        &format!("local-agent {}", via.join(" ")),
        told,
        "the printed address",
    )
}

fn at_a_closed_port() -> ClientRow {
    let world = indexed();
    world.ok(&["serve", "token"]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let via = ["mcp", "--via-server", &url];
    let fix = "start it with `local-agent serve`, or use the address that `local-agent serve \
               status` prints";
    let told = is_told(&world, &via, "SERVER_UNREACHABLE", fix);
    let served = Served::start(&world, &["--listen", url.trim_start_matches("http://")]);
    world.ok(&via);
    drop(served);
    relays(&world, &Served::start(&world, &[]));
    let call = "local-agent mcp --via-server <its address>";
    let how = "`local-agent serve` or the printed address";
    ClientRow::mended("no server runs at an address", call, told, how)
}

fn without_status() -> ClientRow {
    let world = indexed();
    let status = ["serve", "status"];
    let told = is_told(
        &world,
        &status,
        "SERVER_UNREACHABLE",
        "local-agent serve --daemon",
    );
    let served = Served::start(&world, &[]);
    world.ok(&status);
    drop(served);
    let how = "a server at work";
    ClientRow::mended("no server runs", "local-agent serve status", told, how)
}

fn without_a_server() -> ClientRow {
    let world = indexed();
    world.ok(&["serve", "token"]);
    let via = ["mcp", "--via-server"];
    let told = is_told(&world, &via, "SERVER_UNREACHABLE", "local-agent serve");
    let served = Served::start(&world, &[]);
    world.ok(&via);
    drop(served);
    let how = "`local-agent serve`";
    ClientRow::mended("no server runs", "local-agent mcp --via-server", told, how)
}

fn with_a_wrong_token() -> ClientRow {
    let world = indexed();
    let served = Served::start(&world, &[]);
    let url = format!("http://{}", served.address);
    let via = ["mcp", "--via-server", &url, "--json"];
    let refused = world.run_with(&[(TOKEN, "00")], &via).json();
    let fix = "set LOCAL_AGENT_SERVER_TOKEN to what `local-agent serve token` prints where that \
               server runs";
    let told = ToldFailure::in_object(&refused);
    assert_eq!(told, ToldFailure::new("SERVER_UNAUTHORIZED", fix));
    let token = world.ok(&["serve", "token"]).stdout;
    let right = world.run_with(&[(TOKEN, token.trim())], &via);
    assert_eq!(right.code, 0, "{}{}", right.stdout, right.stderr);
    let call = "local-agent mcp --via-server <its address>";
    ClientRow::mended("a wrong token", call, told, "that token")
}

/// Other programs answer at the named address: one that speaks JSON, one that speaks no HTTP, and
/// one that refuses access.
fn at_other_programs() -> Vec<ClientRow> {
    let world = indexed();
    let served = Served::start(&world, &[]);
    let body = json!({"ok": false, "error_message": "the Host header names another server"});
    let refusal = format!(
        "HTTP/1.1 403 X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.to_string().len()
    );
    let programs = [
        ("another program answers", ok_json("[1]"), "SERVER_ERROR"),
        (
            "another program answers without HTTP",
            b"220 mail\r\n".to_vec(),
            "SERVER_ERROR",
        ),
        (
            "the server refuses access",
            refusal.into_bytes(),
            "SERVER_UNAUTHORIZED",
        ),
    ];
    let mut rows = Vec::new();
    for (state, bytes, code) in programs {
        let stranger = serve(move |_| vec![Step::Bytes(bytes.clone())]);
        let told = is_told(
            &world,
            &["mcp", "--via-server", &stranger.url("")],
            code,
            WHERE,
        );
        relays(&world, &served);
        let call = "local-agent mcp --via-server <its address>";
        rows.push(ClientRow::mended(state, call, told, "the printed address"));
    }
    rows
}
