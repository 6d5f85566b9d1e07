//! `get` and `multi-get`.

use std::fs;

use insta::assert_snapshot;

use crate::harness::World;

#[test]
fn documents_lines_and_chunks() {
    let world = World::example();
    assert_snapshot!(world.ok(&["get", "projects/Proofbox.md:12:3"]).stdout, @r#"
    12  ## Targets
    13  
    14  The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32 °C and 80 %.
    "#);
    assert_snapshot!(world.ok(&["get", "vault:Inbox.md"]).stdout, @r#"
    1  - [ ] ask Jonas for the spare key of the cargo bike
    2  - [ ] new apron strings, 2 × 90 cm
    3  - [x] return the borrowed banneton to the mill
    4  - [ ] someone left a blue umbrella at the counter on 28 March #lost-and-found
    "#);
    assert_snapshot!(world.pretty(world.json(&["get", "Proofbox.md:8:1"])), @r##"
    {
      "address": "vault:projects/Proofbox.md",
      "first_line": 8,
      "ok": true,
      "sha256": "<sha256>",
      "text": "# Proofbox\n",
      "total_lines": 57,
      "truncated": false
    }
    "##);
    let hit =
        world.json(&["query", "proofbox", "--mode", "lexical", "--limit", "1"])["hits"][0].clone();
    let key = format!("#{}", hit["chunk_key"].as_str().unwrap());
    assert_eq!(world.json(&["get", &key])["text"], hit["text"]);
    let numbered = world.ok(&["get", &key]).stdout;
    assert!(
        numbered
            .lines()
            .next()
            .unwrap()
            .trim_start()
            .starts_with(hit["lines"].as_str().unwrap().split('-').next().unwrap())
    );
}

#[test]
fn a_folder_is_called_a_folder_and_its_notes_are_one_command_away() {
    let world = World::example();
    for name in ["projects/", "projects", "vault:projects"] {
        let run = world.run(&["get", name, "--json"]);
        let body = run.json();
        assert_eq!(body["error_code"], "PATH_IS_DIRECTORY", "{name}: {body}");
        assert_eq!(body["hint"], "local-agent ls 'vault/projects'", "{name}");
    }
    assert!(
        world
            .ok(&["ls", "vault/projects"])
            .stdout
            .contains("Proofbox.md")
    );
}

#[test]
fn a_key_that_no_chunk_has_is_not_answered_with_another_indexing() {
    let world = World::example();
    let body = world.run(&["get", "#ffffffffffffffff", "--json"]).json();
    let hint = body["hint"].as_str().unwrap();
    assert!(hint.contains("local-agent query"), "{body}");
}

#[test]
fn a_source_of_an_answer_is_an_address_of_get() {
    let world = World::example();
    let question = "At what temperature and humidity does the proofbox hold sourdough?";
    let answer = world.ok(&["ask", question]).stdout;
    let source = answer
        .lines()
        .find(|line| line.starts_with("[1] "))
        .unwrap();
    let place = source[4..].split(" › ").next().unwrap();
    assert!(
        world.ok(&["get", place]).stdout.contains("27 °C"),
        "{place}"
    );
}

#[test]
fn raw_is_the_bytes_of_the_file() {
    let world = World::with(&[("a.md", "one\r\ntwo\u{202e}\x1b[31m\n\nlast")]);
    assert_eq!(
        world.ok(&["get", "a.md", "--raw"]).stdout,
        "one\r\ntwo\u{202e}\x1b[31m\n\nlast"
    );
    assert_eq!(
        world.ok(&["get", "a.md:2:1", "--raw"]).stdout,
        "two\u{202e}\x1b[31m\n"
    );
    assert_eq!(
        world.json(&["get", "a.md"])["text"],
        "one\r\ntwo\u{202e}\x1b[31m\n\nlast"
    );
}

#[test]
fn every_refusal_has_its_code() {
    let world = World::empty();
    world.write("a/x.md", "# X\n");
    world.write("b/x.md", "# X\n");
    world.write("a/dir.md/y.md", "# Y\n");
    world.write("a/large.md", &"large ".repeat(2_000_000));
    world.write("a/.hidden/z.md", "# Z\n");
    world.write("a/.env.md", "secret");
    world.write("a/key.pem", "secret");
    fs::write(world.vault().join("a/bytes.md"), b"\xff\xfe").unwrap();
    world.write("../outside.md", "# Outside\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    for (request, code) in [
        ("a:missing.md", "FILE_NOT_FOUND"),
        ("missing.md", "FILE_NOT_FOUND"),
        ("x.md", "AMBIGUOUS_PATH"),
        ("a:dir.md", "PATH_IS_DIRECTORY"),
        ("a:large.md", "FILE_TOO_LARGE"),
        ("a:bytes.md", "FILE_READ_ERROR"),
        ("a:../../outside.md", "PATH_DENIED"),
        ("../outside.md", "PATH_DENIED"),
        ("/etc/passwd", "PATH_DENIED"),
        ("/etc/hosts.md", "PATH_DENIED"),
        ("C:\\notes\\x.md", "PATH_DENIED"),
        ("a:.hidden/z.md", "PATH_DENIED"),
        ("a:key.pem", "PATH_DENIED"),
        ("a:script.sh", "PATH_DENIED"),
        ("nope:x.md", "PATH_DENIED"),
        ("a:", "PATH_IS_DIRECTORY"),
        ("", "INVALID_ARGS"),
        ("a:x.md:99", "INVALID_ARGS"),
        ("#12xy", "INVALID_ARGS"),
        ("#00", "FILE_NOT_FOUND"),
        ("#00000000000000000000000000000000", "FILE_NOT_FOUND"),
    ] {
        assert_eq!(world.code(&["get", request]), code, "{request:?}");
        assert_eq!(world.code(&["get", request, "--json"]), code, "{request:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(
            world.root().join("outside.md"),
            world.vault().join("a/link.md"),
        )
        .unwrap();
        for request in ["a:link.md", "link.md"] {
            let failure = world.fails(&["get", request]);
            assert_eq!(failure["error_code"], "PATH_DENIED", "{failure}");
            let said = failure["error_message"].as_str().unwrap();
            assert!(said.contains("it is a symbolic link"), "{said}");
        }
    }
    assert_snapshot!(world.stable(&world.fails(&["get", "x.md"])["error_message"].to_string()), @r#""`x.md` fits more than one file: `a:x.md`, `b:x.md`.""#);
}

#[test]
fn any_path_needs_a_configuration_of_the_operator() {
    let world = World::with(&[("a.md", "# A\n")]);
    world.write("../outside.md", "# Outside\n");
    let outside = world.root().join("outside.md");
    let outside = outside.to_str().unwrap();
    assert_eq!(world.code(&["get", outside]), "PATH_DENIED");
    world.write("../open.yaml", "security: {allow_any_path: true}\n");
    let open = world.root().join("open.yaml");
    let open = open.to_str().unwrap();
    assert_snapshot!(world.ok(&["get", outside, "--config", open]).stdout, @"    1  # Outside");
    world.write(
        "local-agent.yaml",
        "sources: [{name: notes, root: .}]\nsecurity: {allow_any_path: true}\n",
    );
    assert_eq!(world.code(&["get", outside]), "CONFIG_UNTRUSTED");
}

#[test]
fn a_chunk_whose_file_changed_is_not_shown_as_if_it_stood_there() {
    let world = World::with(&[("a.md", "# A\n\nThe zebra.\n")]);
    world.ok(&["index"]);
    let key = world.json(&["query", "zebra", "--mode", "lexical"])["hits"][0]["chunk_key"]
        .as_str()
        .unwrap()
        .to_owned();
    world.write("a.md", "# A\n\nThe horse.\n");
    assert_eq!(world.code(&["get", &format!("#{key}")]), "FILE_READ_ERROR");
}

#[test]
fn globs_name_many_documents() {
    let world = World::example();
    let run = world.ok(&["multi-get", "daily/2026-0[14]-*.md"]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @r#"
    == vault:daily/2026-01-07.md
        1  ---
        2  date: 2026-01-07
        3  weather: clear, -7 °C
        4  mood: 6
        5  tags: daily
        6  ---
        7  First day after the holidays. The tap in the courtyard froze at 5 am, so the water for the dough came from the workshop.
        8  
        9  Moved the sensor of the [[Proofbox]] from the top to shelf height. It had been reading 3 °C too warm all winter, which explains December's tired sourdough.
       10  
       11  Moved the nightly backup to 02:15. #software/backup
    == vault:daily/2026-04-01.md
        1  ---
        2  date: 2026-04-01
        3  weather: sun, 13 °C
        4  mood: 8
        5  tags: [daily]
        6  ---
        7  First Wednesday delivery. Henrik came at 06:10 with 580 kg, Tomasz had the passage free, nobody joked about the date.
        8  
        9  - Deck 2 light bulb is broken, ordered a new one
       10  - 96 rolls to the kindergarten, on the [[Cargo Bike|Magpie]]
       11  - A customer asked if we do wedding cakes. We do not.
       12  
       13  Review of [[D-007 Order book on SQLite#^review-date|the SQLite decision]] is next Monday. No lost order so far.
    "#);
    let body = world.json(&["multi-get", "vault:daily/*.md"]);
    assert_eq!(
        (body["count"].as_u64(), body["outcome"].as_str()),
        (Some(5), Some("found"))
    );
    assert_eq!(
        world.json(&["multi-get", "*.md"])["count"],
        3,
        "a star stays inside its folder"
    );
    assert_eq!(world.code(&["multi-get", "zoo/**"]), "FILE_NOT_FOUND");
    assert_eq!(
        world.code(&["multi-get", "zoo/**", "--json"]),
        "FILE_NOT_FOUND"
    );
    assert_eq!(world.code(&["multi-get", "["]), "INVALID_ARGS");
    let cut = world.json(&["multi-get", "daily/*.md", "--max-bytes", "900"]);
    assert!(cut["left_out_by_max_bytes"].as_u64().unwrap() > 0);
    assert_eq!(
        cut["count"].as_u64().unwrap() + cut["left_out_by_max_bytes"].as_u64().unwrap(),
        5
    );
}

/// The name of a note ended the quotes of a printed fix, and what followed was a command.
#[test]
fn a_fix_names_a_note_as_one_word_for_a_shell() {
    let world = World::with(&[("b';touch x;'.md", "# b\n")]);
    world.ok(&["index"]);
    let failure = world.fails(&["get", "b';touch"]);
    let hint = failure["hint"].as_str().unwrap();
    assert_eq!(hint, r"local-agent get 'notes:b'\'';touch x;'\''.md'");
}
