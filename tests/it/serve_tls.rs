//! `serve` with its own certificate, and with a configuration that changes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

use crate::harness::World;
use crate::serve::Served;

/// A key pair for `localhost`, `notes.example.org` and 127.0.0.1 that expires in a hundred years.
fn pem(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(name).to_str().unwrap().to_owned()
}

/// The reply to a request over TLS to a server of this name; the certificate is checked.
fn over_tls(served: &Served, name: &'static str, host: &str) -> Result<String, String> {
    let mut roots = RootCertStore::empty();
    let own = CertificateDer::from_pem_file(pem("serve.cert.pem")).unwrap();
    roots.add(own).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let port = served.port();
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let head = format!(
        "GET /api/status HTTP/1.1\r\nHost: {host}\r\nOrigin: https://{host}\r\nAuthorization: {}\r\nConnection: close\r\n\r\n",
        served.bearer()
    );
    stream
        .write_all(head.as_bytes())
        .map_err(|e| e.to_string())?;
    let mut all = String::new();
    let read = stream.read_to_string(&mut all);
    match read {
        Err(e) if all.is_empty() => Err(e.to_string()),
        _ => Ok(all),
    }
}

#[test]
fn with_a_certificate_it_speaks_tls_and_nothing_else() {
    let world = World::example();
    let (cert, key) = (pem("serve.cert.pem"), pem("serve.key.pem"));
    let tls = ["--tls-cert", cert.as_str(), "--tls-key", key.as_str()];
    let served = Served::start(&world, &[&tls[..], &["--open"]].concat());
    assert!(
        served
            .link
            .as_ref()
            .unwrap()
            .starts_with("https://127.0.0.1:")
    );
    let port = served.port();
    for host in ["localhost", "notes.example.org", "127.0.0.1"] {
        let reply = over_tls(&served, host, &format!("{host}:{port}")).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{host}: {reply}");
    }
    // A name that the certificate does not cover, and the right name at another port.
    for host in [
        format!("evil.example:{port}"),
        "notes.example.org:1".to_owned(),
    ] {
        let reply = over_tls(&served, "localhost", &host).unwrap();
        assert!(reply.starts_with("HTTP/1.1 403"), "{host}: {reply}");
    }
    let refused = over_tls(&served, "evil.example", &format!("localhost:{port}"));
    assert!(refused.unwrap_err().contains("certificate"));
    // Without TLS, the server sends no reply.
    let plain = served.get("/health");
    assert_eq!((plain.status, plain.body.as_str()), (0, ""));
}

#[test]
fn with_a_certificate_it_listens_for_other_machines() {
    let world = World::example();
    let (cert, key) = (pem("serve.cert.pem"), pem("serve.key.pem"));
    let served = Served::start(
        &world,
        &[
            "--listen",
            "0.0.0.0:0",
            "--tls-cert",
            &cert,
            "--tls-key",
            &key,
        ],
    );
    let reply = over_tls(
        &served,
        "localhost",
        &format!("localhost:{}", served.port()),
    );
    assert!(reply.unwrap().starts_with("HTTP/1.1 200"));
}

#[test]
fn programs_of_this_machine_know_the_certificate_of_the_server() {
    let world = World::example();
    world.ok(&["index"]);
    let (cert, key) = (pem("serve.cert.pem"), pem("serve.key.pem"));
    let served = Served::start(&world, &["--tls-cert", &cert, "--tls-key", &key]);
    assert_eq!(world.json(&["serve", "status"])["healthy"], true);
    let address = format!("https://{}", served.address);
    for args in [
        &["mcp", "--via-server"][..],
        &["mcp", "--via-server", &address],
    ] {
        let done = world.run(args);
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
    }
    // Another certificate is not that of the server.
    let file = world.state().join("serve.running.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut running: serde_json::Value = serde_json::from_str(&text).unwrap();
    running["certificate_sha256"] = json!("0".repeat(64));
    std::fs::write(&file, running.to_string()).unwrap();
    let failure = world.fails(&["mcp", "--via-server", "--json"]);
    assert_eq!(failure["error_code"], "SERVER_UNREACHABLE", "{failure}");
}

#[test]
fn files_that_make_no_identity_are_typed_failures() {
    let world = World::example();
    let (cert, key) = (pem("serve.cert.pem"), pem("serve.key.pem"));
    let try_with = |cert: &str, key: &str| {
        let failure = world.fails(&["serve", "--tls-cert", cert, "--tls-key", key]);
        let hint = failure["hint"].as_str().unwrap();
        // One of the two files is there, and is not replaced.
        assert!(hint.starts_with("name the two files of one pair; `openssl req"));
        assert!(hint.contains("new-key.pem") && !hint.contains("serve.key.pem"));
        [&failure["error_code"], &failure["error_message"]]
            .map(|text| text.as_str().unwrap().to_owned())
    };
    assert_eq!(try_with("gone.pem", &key)[0], "FILE_NOT_FOUND");
    assert_eq!(try_with(&cert, "gone.pem")[0], "FILE_NOT_FOUND");
    let [code, message] = try_with(&key, &key);
    assert!(
        code == "INVALID_ARGS" && message.contains("holds no certificate"),
        "{message}"
    );
    let [code, message] = try_with(&cert, &cert);
    assert!(
        code == "INVALID_ARGS" && message.contains("holds no unencrypted key"),
        "{message}"
    );
    let [code, message] = try_with(&cert, &pem("other.key.pem"));
    assert!(
        code == "INVALID_ARGS" && message.contains("is not the key of"),
        "{message}"
    );
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(world.vault().join("damaged.pem"), damaged).unwrap();
    assert_eq!(try_with("damaged.pem", &key)[0], "INVALID_ARGS");
    world.usage(&["serve", "--tls-cert", &cert]);
}

#[test]
fn a_changed_configuration_is_taken_up_and_a_broken_one_is_not() {
    let world = World::empty();
    world.write("a/zebra.md", "# Zebra\n\nThe zebra eats apples.\n");
    world.write("b/lion.md", "# Lion\n\nThe lion eats meat.\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    let file = world.vault().join("local-agent.yaml");
    let before = std::fs::read_to_string(&file).unwrap();
    let served = Served::start(&world, &[]);
    let get = || served.get("/api/get?address=b:lion.md").status;
    let stale = || served.get("/api/status").json()["stale"].to_string();
    assert_eq!(get(), 200);
    // The file is broken: the old configuration stays in force, and the status reports this.
    std::fs::write(&file, "sources: 7\n").unwrap();
    assert_eq!(get(), 200);
    let said = stale();
    assert!(
        said.contains("the changed configuration is not in force"),
        "{said}"
    );
    assert!(said.contains("local-agent config check"), "{said}");
    assert!(served.get("/status").body.contains("is not in force"));
    // The file is fixed and changed: the second source excludes the note.
    let sources = "sources:\n  - {name: a, root: a}\n  - {name: b, root: b, exclude: [lion.md]}\n";
    std::fs::write(&file, sources).unwrap();
    assert_ne!(get(), 200);
    assert!(!stale().contains("not in force"), "{}", stale());
    std::fs::write(&file, &before).unwrap();
    assert_eq!(get(), 200);
    // Other folders for its own files need a restart.
    let sources = sources.replace(", exclude: [lion.md]", "");
    std::fs::write(&file, format!("{sources}state_dir: elsewhere\n")).unwrap();
    assert_eq!(get(), 200);
    let said = stale();
    assert!(said.contains("takes a restart"), "{said}");
    std::fs::write(&file, &before).unwrap();
    let found = served.post("/api/search", &json!({"query": "lion"}));
    assert_eq!(found.json()["count"], 1, "{}", found.body);
}

#[cfg(target_os = "linux")]
#[test]
fn a_new_source_that_the_kernel_keeps_closed_is_said() {
    use local_agent_files::sandbox::{Confinement, confinement_offered};
    if confinement_offered() == Confinement::Absent {
        println!("skipped: this kernel confines nothing");
        return;
    }
    let world = World::empty();
    world.write("a/zebra.md", "# Zebra\n\nThe zebra eats apples.\n");
    world.write("b/owl.md", "# Owl\n\nThe owl sleeps.\n");
    world.ok(&["init", "--here", "--source", "a=a"]);
    world.ok(&["index"]);
    let served = Served::start(&world, &[]);
    let added = world.ok(&["source", "add", "b", "--name", "b"]).stdout;
    assert!(added.contains("local-agent serve stop"), "{added}");
    world.write("a/deep/foal.md", "# Foal\n\nThe foal sleeps.\n");
    let below = world
        .ok(&["source", "add", "a/deep", "--name", "deep"])
        .stdout;
    assert!(!below.contains("serve stop"), "{below}");
    let said = served.get("/api/status").json()["stale"].to_string();
    assert!(
        said.contains("the source `b` lies outside of the folders"),
        "{said}"
    );
    assert!(
        said.contains("local-agent serve stop && local-agent serve"),
        "{said}"
    );
    // The folder is there, and indexing again would not let this server read it.
    assert!(!said.contains("is gone"), "{said}");
    world.ok(&["index"]);
    let said = served.get("/api/status").json()["stale"].to_string();
    assert!(
        !said.contains("is gone") && !said.contains("local-agent index"),
        "{said}"
    );
    world.ok(&["serve", "stop"]);
    drop(served);
    let served = Served::start(&world, &[]);
    let said = served.get("/api/status").json()["stale"].to_string();
    assert!(!said.contains("lies outside"), "{said}");
}
