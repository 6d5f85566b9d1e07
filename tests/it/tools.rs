//! `tool`: tests the output of each tool, that the ledger records every call, and that no result
//! depends on files outside the roots.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::World;
#[cfg(target_os = "linux")]
use crate::harness::at_terminal;

fn zoo() -> World {
    let world = World::with(&[
        (
            "zoo.md",
            "---\ntags: [animals]\n---\n# Zoo\n\nThe zebra eats 14 apples a day, says [[Ada]].\n\n## Prices\n\nA ticket is 9 euros.\n",
        ),
        ("people/Ada.md", "# Ada\n\nShe feeds the zebra. #animals\n"),
        (".env.md", "TOKEN=1\n"),
        ("sub/.git/a.md", "x\n"),
    ]);
    std::fs::write(
        world.vault().join("local-agent.yaml"),
        "sources:\n  - {name: notes, root: .}\n  - {name: code, root: src, code: true}\n",
    )
    .unwrap();
    world.write(
        "src/feed.rs",
        "/// Feeds.\npub fn feed(count: u32) -> u32 {\n    count + 1\n}\n\nfn main() {\n    feed(14);\n}\n",
    );
    world
}

fn text(world: &World, tool: &str, args: &[&str]) -> String {
    let args: Vec<&str> = args.iter().flat_map(|arg| ["--arg", arg]).collect();
    world.stable(
        &world
            .ok(&[&["tool", "run", tool], args.as_slice()].concat())
            .stdout,
    )
}

#[test]
fn every_tool_is_listed_with_its_rule() {
    let world = zoo();
    let names: Vec<String> = world
        .ok(&["tool", "list"])
        .stdout
        .lines()
        .map(|l| l.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_snapshot!(names.join("\n"), @r"
    read_text_file allow
    list_dir allow
    grep allow
    outline allow
    read_symbol allow
    find_defs allow
    find_refs allow
    related_files allow
    propose_write allow
    delete allow
    ");
    let body = world.json(&["tool", "list"]);
    let cited: Vec<&Value> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|t| t["admissible_as_evidence"] == true)
        .map(|t| &t["name"])
        .collect();
    assert_eq!(cited, ["read_text_file", "read_symbol"]);
    let described = world.json(&["tool", "describe", "grep"]);
    assert_eq!(described["schema"]["additionalProperties"], false);
    assert_eq!(described["schema"]["required"], json!(["pattern"]));
    assert_eq!(world.code(&["tool", "describe", "rm"]), "TOOL_ERROR");
}

#[test]
fn what_each_tool_prints() {
    let world = zoo();
    assert_snapshot!(text(&world, "list_dir", &["path=notes:"]), @r"
    DIR:  people
    DIR:  src
    DIR:  sub
    FILE: zoo.md (110 bytes)
    ");
    assert_snapshot!(text(&world, "read_text_file", &["path=zoo.md", "start_line=4", "max_lines=3"]), @r"
    4|# Zoo
    5|
    6|The zebra eats 14 apples a day, says [[Ada]].
    ");
    assert_snapshot!(text(&world, "grep", &["pattern=zebra"]), @r"
    notes:people/Ada.md:3: She feeds the zebra. #animals
    --
    notes:zoo.md:6: The zebra eats 14 apples a day, says [[Ada]].
    ");
    assert_snapshot!(text(&world, "outline", &["path=zoo.md"]), @r"
    4-10: # Zoo
    8-10: ## Prices
    ");
    assert_snapshot!(text(&world, "outline", &["path=code:feed.rs"]), @r"
    2-4: function feed
    6-8: function main
    ");
    assert_snapshot!(text(&world, "read_symbol", &["path=zoo.md", "symbol=Prices"]), @r"
    ## Prices

    A ticket is 9 euros.
    ");
    assert_snapshot!(text(&world, "find_defs", &["symbol=feed"]), @"code:feed.rs:2: function feed");
    assert_snapshot!(text(&world, "find_refs", &["symbol=feed"]), @"code:feed.rs:7: call feed");
    assert_snapshot!(text(&world, "related_files", &["path=zoo.md"]), @r"
    links to: notes:people/Ada.md
    shares #animals: notes:people/Ada.md
    ");
}

#[test]
fn the_object_of_a_tool() {
    let world = zoo();
    let body = world.json(&[
        "tool",
        "run",
        "read_text_file",
        "--json-args",
        r#"{"path": "people/Ada.md"}"#,
    ]);
    assert_snapshot!(world.pretty(body), @r##"
    {
      "chars_full": 37,
      "chars_returned": 37,
      "end": "end_of_file",
      "mode": "chars",
      "next_start_line": null,
      "ok": true,
      "path": "notes:people/Ada.md",
      "sha256": "<sha256>",
      "text": "# Ada\n\nShe feeds the zebra. #animals\n",
      "tool": "read_text_file",
      "truncated": false
    }
    "##);
}

#[test]
fn failures_are_typed_and_say_what_to_do() {
    let world = zoo();
    let code = |args: &[&str]| world.code(&[&["tool", "run"], args].concat());
    assert_eq!(code(&["rm", "--arg", "path=/"]), "TOOL_ERROR");
    assert_eq!(code(&["read_text_file"]), "INVALID_ARGS");
    assert_eq!(code(&["read_text_file", "--arg", "path"]), "INVALID_ARGS");
    assert_eq!(
        code(&["read_text_file", "--json-args", "{"]),
        "INVALID_ARGS"
    );
    assert_eq!(
        code(&["read_text_file", "--arg", "path=a.md", "--arg", "mode=x"]),
        "INVALID_ARGS"
    );
    for path in [
        "../x.md",
        "/etc/passwd",
        ".env.md",
        "sub/.git/a.md",
        "notes:src/feed.rs",
        "~/a.md",
    ] {
        assert_eq!(
            code(&["read_text_file", "--arg", &format!("path={path}")]),
            "PATH_DENIED",
            "{path}"
        );
    }
    assert_eq!(
        code(&["read_text_file", "--arg", "path=gone.md"]),
        "FILE_NOT_FOUND"
    );
    assert_eq!(
        code(&[
            "read_symbol",
            "--arg",
            "path=zoo.md",
            "--arg",
            "symbol=Nothing"
        ]),
        "SYMBOL_NOT_FOUND"
    );
}

#[test]
fn the_configuration_can_deny_a_tool() {
    let world = zoo();
    let config = world.root().join("deny.yaml");
    std::fs::write(&config, "tools: {grep: deny}\n").unwrap();
    let config = config.to_str().unwrap();
    assert_eq!(
        world.code(&[
            "--config",
            config,
            "tool",
            "run",
            "grep",
            "--arg",
            "pattern=x"
        ]),
        "TOOL_DENIED"
    );
    world.ok(&["--config", config, "tool", "run", "list_dir"]);
}

#[test]
fn s31_every_call_is_a_line_of_the_ledger_with_its_true_reason() {
    let world = zoo();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", world.vault().join("link.md")).unwrap();
    world.ok(&["tool", "run", "list_dir"]);
    let refused = world.fails(&["tool", "run", "read_text_file", "--arg", "path=link.md"]);
    let missing = world.fails(&["tool", "run", "read_text_file", "--arg", "path=gone.md"]);
    assert_eq!(
        refused["error_message"]
            .as_str()
            .unwrap()
            .replace("link", "gone"),
        missing["error_message"]
    );
    world.code(&["tool", "run", "read_text_file", "--arg", "path=../x.md"]);
    let calls = world.json(&["tool", "log"])["calls"].clone();
    let rows: Vec<Value> = calls
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|c| {
            json!([
                c["tool"]["caller"],
                c["tool"]["name"],
                c["tool"]["subject"],
                c["tool"]["outcome"],
                c["tool"]["why"]
            ])
        })
        .collect();
    assert_eq!(
        json!(rows),
        json!([
            ["person", "list_dir", "", "ok", null],
            [
                "person",
                "read_text_file",
                "link.md",
                "FILE_NOT_FOUND",
                "symlink"
            ],
            [
                "person",
                "read_text_file",
                "gone.md",
                "FILE_NOT_FOUND",
                "missing"
            ],
            ["person", "read_text_file", "../x.md", "PATH_DENIED", null],
        ])
    );
    world.ok(&["runs", "verify"]);
    let ledger = world.state().join("runs/ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replace("link.md", "fine.md")).unwrap();
    assert_eq!(world.code(&["tool", "log"]), "LEDGER_BROKEN");
    assert_eq!(world.run(&["runs", "verify"]).code, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn only_the_controlling_terminal_can_say_yes() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let world = zoo();
    let program = env!("CARGO_BIN_EXE_local-agent");
    let args = [
        "tool",
        "run",
        "propose_write",
        "--arg",
        "path=notes:new.md",
        "--arg",
        "content=hello",
    ];
    // Without a terminal, and with a pipe that says yes.
    let mut child = Command::new("setsid")
        .arg("--wait")
        .arg(program)
        .args(args)
        .env_clear()
        .env("HOME", world.home())
        .current_dir(world.vault())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(b"y\nyes\n");
    let out = child.wait_with_output().unwrap();
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("WRITE_DENIED"),
        "{out:?}"
    );
    // Nobody was asked, so the message must not say that somebody refused.
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("needs a yes at the terminal"),
        "{out:?}"
    );
    assert!(!world.vault().join("new.md").exists());
    // With a terminal at which somebody answers; text typed before the question does not count as
    // an answer.
    for (early, answer, applied) in [
        ("", "n\n", false),
        ("", "\n", false),
        ("yes\n", "n\n", false),
        ("", "yes\n", true),
    ] {
        let line = format!("{program} {}", args.map(|a| format!("'{a}'")).join(" "));
        let said = at_terminal(world.command_of("script"), &line, early, || answer);
        assert!(said.contains("+hello") && said.contains("[y/N]"), "{said}");
        assert_eq!(
            world.vault().join("new.md").exists(),
            applied,
            "{early:?} {answer:?}: {said}"
        );
    }
    let log = world.json(&["tool", "log"]);
    let outcomes: Vec<&Value> = log["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["tool"]["outcome"])
        .collect();
    assert_eq!(
        outcomes,
        [
            "ok",
            "agreed",
            "WRITE_DENIED",
            "WRITE_DENIED",
            "WRITE_DENIED",
            "WRITE_DENIED"
        ]
    );
    // The ledger says whether a person refused, or nobody could be asked. The newest call is first.
    let whys: Vec<&str> = log["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c["tool"]["why"].as_str())
        .collect();
    assert_eq!(whys.len(), 4, "{log}");
    assert!(whys[3].contains("there is none"), "{whys:?}");
    for why in &whys[..3] {
        assert!(why.contains("did not agree"), "{whys:?}");
    }
}

#[cfg(unix)]
mod invisible {
    //! Worlds that differ only outside the roots give exactly the same bytes for every request.

    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use local_agent_agent::config::Config;
    use local_agent_agent::tools::{ToolFactory, ToolPolicy};
    use local_agent_files::sandbox::FollowLinks;
    use local_agent_files::sandbox::{Policy, RootSpec, Sandbox, Selection};
    use local_agent_text::types::SourceName;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// The content outside the root, to which links inside it lead.
    #[derive(Debug, Clone)]
    enum Outside {
        Nothing,
        File(Vec<u8>),
        Folder(Vec<String>),
        Link(String),
        Fifo,
    }

    fn outside() -> impl Strategy<Value = Outside> {
        prop_oneof![
            Just(Outside::Nothing),
            prop::collection::vec(any::<u8>(), 0..60).prop_map(Outside::File),
            "(# secret [a-z]{1,9}\n)?\\PC{0,40}".prop_map(|text| Outside::File(text.into_bytes())),
            prop::collection::vec("[a-z]{1,8}(\\.md)?", 0..4).prop_map(Outside::Folder),
            prop::sample::select(vec!["/etc/passwd", "nowhere", "../vault/note.md"])
                .prop_map(|t| Outside::Link(t.to_owned())),
            Just(Outside::Fifo),
        ]
    }

    fn world(base: &Path, outside: &Outside, follow: FollowLinks) -> Sandbox {
        let vault = base.join("vault");
        fs::create_dir_all(vault.join("sub")).unwrap();
        fs::create_dir(base.join("beside")).unwrap();
        fs::write(
            vault.join("note.md"),
            "# Note\n\nThe secret word is here. [[x]] #tag\n",
        )
        .unwrap();
        fs::write(vault.join("sub/a.rs"), "fn secret() {}\n").unwrap();
        // The target's path is the same in both worlds; its content differs.
        let target = base.join("beside/x.md");
        match outside {
            Outside::Nothing => {}
            Outside::File(bytes) => fs::write(&target, bytes).unwrap(),
            Outside::Folder(names) => {
                fs::create_dir(&target).unwrap();
                for name in names {
                    fs::write(target.join(name), "SECRET secret").unwrap();
                }
            }
            Outside::Link(to) => symlink(to, &target).unwrap(),
            Outside::Fifo => drop(
                std::process::Command::new("mkfifo")
                    .arg(&target)
                    .status()
                    .unwrap(),
            ),
        }
        for (link, to) in [
            ("x.md", "../beside/x.md"),
            ("dir", "../beside"),
            ("sub/x.md", "../../beside/x.md"),
            ("via.md", "x.md"),
        ] {
            symlink(to, vault.join(link)).unwrap();
        }
        let mut rules = Config::defaults(Path::new("/nowhere")).unwrap().security;
        rules.follow_links = follow;
        let name = SourceName::new("notes").unwrap();
        let spec = RootSpec {
            name,
            path: vault,
            kind: "notes".into(),
            code: true,
            selection: Selection::default(),
        };
        Sandbox::open(vec![spec], Policy::from(&rules)).unwrap()
    }

    /// Calls every tool with paths that lead outside, in all spellings.
    fn answers(sandbox: &Sandbox, extra: &str) -> Vec<String> {
        let tools = ToolFactory::new(sandbox.clone(), ToolPolicy::default());
        let paths = [
            "x.md",
            "notes:x.md",
            "dir/x.md",
            "dir",
            "notes:dir",
            "sub/x.md",
            "via.md",
            "../beside/x.md",
            "note.md",
            "notes:",
            extra,
        ];
        let mut out = Vec::new();
        for tool in tools.all() {
            let calls: Vec<Value> = match tool.name() {
                "grep" => [
                    vec![json!({"pattern": "secret", "context": 2})],
                    paths
                        .iter()
                        .map(|p| json!({"pattern": "s", "path": p}))
                        .collect(),
                ]
                .concat(),
                "find_defs" | "find_refs" => [
                    vec![json!({"name": "secret"}), json!({"name": "x"})],
                    paths
                        .iter()
                        .map(|p| json!({"name": "secret", "path": p}))
                        .collect(),
                ]
                .concat(),
                "read_symbol" => paths
                    .iter()
                    .map(|p| json!({"path": p, "symbol": "secret"}))
                    .collect(),
                "propose_write" => paths
                    .iter()
                    .map(|p| json!({"path": p, "content": "new"}))
                    .collect(),
                _ => paths.iter().map(|p| json!({"path": p})).collect(),
            };
            for call in calls {
                out.push(format!(
                    "{} {call} → {}",
                    tool.name(),
                    tool.run(&call).to_json()
                ));
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
        #[test]
        fn s29_no_tool_tells_worlds_apart_that_differ_only_outside(
            one in outside(),
            other in outside(),
            inside in any::<bool>(),
            extra in "(notes:)?(\\.\\./|dir/|sub/|beside/){0,3}[a-z]{0,3}x?(\\.md)?",
        ) {
            let follow = if inside { FollowLinks::Inside } else { FollowLinks::Never };
            let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let one = answers(&world(a.path(), &one, follow), &extra);
            let other = answers(&world(b.path(), &other, follow), &extra);
            for (one, other) in one.iter().zip(&other) {
                prop_assert_eq!(one, other);
                prop_assert!(!one.contains("SECRET"), "{}", one);
            }
        }
    }
}
