//! Evidence is compared with the current files (W3): moved text is found again, and deleted text is
//! never cited.

use std::fs;

use insta::assert_snapshot;
use local_agent_text::types::Sha256;
use serde_json::json;

use crate::harness::World;

const QUESTION: &str = "How many apples does the zebra eat a day?";

fn zoo() -> World {
    let world = World::with(&[
        ("zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n"),
        ("lion.md", "# Lion\n\nThe lion eats 9 kg of meat a day.\n"),
    ]);
    world.ok(&["index"]);
    world
}

#[test]
fn w03_text_that_moved_in_its_file_is_found_again_and_said_to_have_moved() {
    let world = zoo();
    world.write(
        "zebra.md",
        "Two new lines\nabove.\n\n# Zebra\n\nThe zebra eats 14 apples a day.\n",
    );
    let body = world.json(&["ask", QUESTION]);
    assert_eq!(body["outcome"], "answered", "{body}");
    let item = &body["evidence"][0];
    assert_eq!(item["rel_path"], "zebra.md");
    assert_eq!(body["freshness"]["E1"]["state"], "moved");
    let (start, end) = (
        item["start_byte"].as_u64().unwrap() as usize,
        item["end_byte"].as_u64().unwrap() as usize,
    );
    let bytes = fs::read(world.vault().join("zebra.md")).unwrap();
    assert!(
        String::from_utf8_lossy(&bytes[start..end]).contains("14 apples"),
        "the span is that of the file now"
    );
}

/// Regression: the search for the moved text stepped into the middle of its first letter.
#[test]
fn text_that_begins_with_a_letter_of_several_bytes_is_found_again() {
    let world = World::with(&[
        ("p.md", "Äpfel kosten heute 99 Cent.\n"),
        ("ja.md", "林檎は一個120円です。\n"),
    ]);
    world.ok(&["index"]);
    world.write("p.md", "Neu.\n\nÄpfel kosten heute 99 Cent.\n");
    world.write("ja.md", "新しい行。\n\n林檎は一個120円です。\n");
    let body = world.json(&["ask", "Was kosten Äpfel heute?"]);
    assert!(
        body["answer"].as_str().unwrap().contains("99 Cent"),
        "{body}"
    );
    assert_eq!(world.run(&["ask", "林檎は一個いくらですか。"]).code, 0);
}

#[test]
fn w03_text_that_was_edited_away_is_read_again_and_said() {
    let world = zoo();
    world.write("zebra.md", "# Zebra\n\nThe zebra eats 15 apples a day.\n");
    let body = world.json(&["ask", QUESTION]);
    assert_eq!(body["index_stale"], json!(["notes:zebra.md"]));
    let answer = body["answer"].as_str().unwrap_or_default();
    assert!(
        answer.contains("15 apples") && !answer.contains("14 apples"),
        "{body}"
    );
    // Everything cited from the note consists of its current bytes.
    let bytes = fs::read(world.vault().join("zebra.md")).unwrap();
    for item in body["evidence"].as_array().unwrap() {
        if item["rel_path"] == "zebra.md" {
            let place = |key: &str| usize::try_from(item[key].as_u64().unwrap()).unwrap();
            let cited = &bytes[place("start_byte")..place("end_byte")];
            assert_eq!(item["text_sha256"], Sha256::of(cited).to_string(), "{item}");
        }
    }
    let run = world.ok(&["ask", QUESTION]);
    assert_snapshot!(run.stderr, @r"
    stale: notes:zebra.md changed, went or cannot be read since indexing (fix: local-agent index)
    stale: nothing was embedded yet, so meaning is not searched (fix: local-agent embed)
    ");
}

#[test]
fn w03_text_that_now_stands_twice_is_dropped() {
    let world = zoo();
    world.write(
        "zebra.md",
        "New.\n\n# Zebra\n\nThe zebra eats 14 apples a day.\n\n# Zebra\n\nThe zebra eats 14 apples a day.\n",
    );
    assert_eq!(
        world.json(&["ask", QUESTION])["index_stale"],
        json!(["notes:zebra.md"])
    );
}

#[test]
fn a_deleted_file_is_never_cited() {
    let world = zoo();
    world.ok(&["embed"]);
    fs::remove_file(world.vault().join("zebra.md")).unwrap();
    let body = world.json(&["ask", QUESTION]);
    assert_eq!(body["index_stale"], json!(["notes:zebra.md"]));
    assert!(!body.to_string().contains("14 apples"), "{body}");
    assert!(
        body["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["rel_path"] != "zebra.md")
    );
    world.ok(&["index"]);
    assert_eq!(world.json(&["ask", QUESTION])["index_stale"], json!([]));
}

#[test]
fn a_file_that_became_a_link_or_lost_its_text_is_never_cited() {
    let world = zoo();
    fs::write(world.vault().join("zebra.md"), b"\xff\xfe\x00").unwrap();
    assert_eq!(
        world.json(&["ask", QUESTION])["index_stale"],
        json!(["notes:zebra.md"])
    );
    #[cfg(unix)]
    {
        fs::remove_file(world.vault().join("zebra.md")).unwrap();
        world.write(
            "../outside.md",
            "# Zebra\n\nThe zebra eats 14 apples a day.\n",
        );
        std::os::unix::fs::symlink(
            world.root().join("outside.md"),
            world.vault().join("zebra.md"),
        )
        .unwrap();
        assert_eq!(
            world.json(&["ask", QUESTION])["index_stale"],
            json!(["notes:zebra.md"])
        );
    }
}

/// Lexical search is up to date at once. Semantic search is out of date until `embed`, and a
/// message says so.
#[test]
fn vectors_that_are_behind_are_said_to_be() {
    let world = zoo();
    world.ok(&["embed"]);
    world.write("heron.md", "# Heron\n\nThe heron eats 3 fish a day.\n");
    world.ok(&["index"]);
    let run = world.ok(&["ask", "How many fish does the heron eat a day?"]);
    assert!(
        run.stdout.contains("The heron eats 3 fish a day."),
        "{}",
        run.stdout
    );
    assert_snapshot!(run.stderr, @"coverage: 2 of 3 chunks can be found by meaning (fix: local-agent embed)");
    world.ok(&["embed"]);
    assert_eq!(world.ok(&["ask", QUESTION]).stderr, "");
}

/// A note that came and went left every chunk with its vector; `query --json` and doctor said that
/// the vectors were old.
#[test]
fn vectors_of_each_chunk_are_not_behind_whatever_came_and_went() {
    let world = zoo();
    world.ok(&["embed"]);
    world.write("heron.md", "# Heron\n\nThe heron eats 3 fish a day.\n");
    world.ok(&["index"]);
    fs::remove_file(world.vault().join("heron.md")).unwrap();
    world.ok(&["index"]);
    assert_eq!(world.json(&["query", "zebra apples"])["stale"], json!([]));
    let doctor = world.run(&["doctor", "--offline", "--require-phase3"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
}

/// `query` shows the indexed text, and a message names files that changed since.
#[test]
fn a_hit_of_a_file_that_changed_is_shown_as_old() {
    let world = zoo();
    world.ok(&["embed"]);
    assert_eq!(
        world.json(&["query", "zebra apples"])["index_stale"],
        json!([])
    );
    world.write("zebra.md", "# Zebra\n\nThe zebra eats 15 apples a day.\n");
    let body = world.json(&["query", "zebra apples"]);
    assert_eq!(body["index_stale"], json!(["notes:zebra.md"]), "{body}");
    let fresh: Vec<_> = body["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| (&hit["rel_path"], &hit["fresh"]))
        .collect();
    assert!(
        fresh.contains(&(&json!("zebra.md"), &json!(false))),
        "{body}"
    );
    assert!(
        fresh
            .iter()
            .all(|(path, fresh)| *fresh == (*path != "zebra.md")),
        "{body}"
    );
    let run = world.ok(&["query", "zebra apples"]);
    assert!(run.stdout.contains(
        "    stale: the file changed or cannot be read; this is the text that was indexed\n"
    ));
    assert_snapshot!(run.stderr, @"stale: notes:zebra.md changed, went or cannot be read since indexing (fix: local-agent index)");
    fs::remove_file(world.vault().join("zebra.md")).unwrap();
    assert_eq!(
        world.json(&["query", "zebra apples"])["index_stale"],
        json!(["notes:zebra.md"])
    );
    world.ok(&["index"]);
    world.ok(&["embed"]);
    assert_eq!(world.ok(&["query", "lion meat"]).stderr, "");
}

/// Regression: "nothing" was reported for notes that had never been read.
#[test]
fn nothing_is_found_and_it_is_said_which_files_were_not_searched() {
    let world = zoo();
    world.ok(&["embed"]);
    assert_eq!(world.ok(&["ask", "Where does the okapi sleep?"]).stderr, "");
    world.write(
        "okapi.md",
        "# Okapi\n\nThe okapi sleeps under the fig tree.\n",
    );
    for args in [
        &["ask", "Where does the okapi sleep?"][..],
        &["query", "okapi \"fig tree\""],
        &["status"],
    ] {
        let run = world.ok(args);
        let said = run.stdout.clone() + &run.stderr;
        assert!(
            said.contains("stale: files are new (1): notes:okapi.md (fix: local-agent index)"),
            "{args:?}: {said}"
        );
        let body = world.json(args);
        assert_eq!(body["stale"][0]["what"], "files", "{args:?}: {body}");
    }
    world.ok(&["index"]);
    world.ok(&["embed"]);
    assert!(
        world
            .ok(&["ask", "Where does the okapi sleep?"])
            .stdout
            .contains("fig tree")
    );
    assert_eq!(world.json(&["status"])["stale"], json!([]));
}

/// Regression: "8 of 7 chunks" had vectors.
#[test]
fn vectors_of_chunks_that_are_gone_do_not_count() {
    let world = zoo();
    world.ok(&["embed"]);
    fs::remove_file(world.vault().join("lion.md")).unwrap();
    world.ok(&["index"]);
    assert_eq!(
        world.json(&["status"])["coverage"],
        json!({"chunks": 1, "embedded": 1})
    );
}

/// Regression: a search of one source named new files of others; a source that was removed from the
/// configuration was not mentioned.
#[test]
fn what_is_behind_is_said_of_the_sources_that_were_searched_and_of_those_that_are_configured_no_longer()
 {
    let world = World::empty();
    world.write("a/zebra.md", "# Zebra\n\nThe zebra eats 14 apples a day.\n");
    world.write("b/lion.md", "# Lion\n\nThe lion eats 9 kg of meat a day.\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world.write(
        "b/okapi.md",
        "# Okapi\n\nThe okapi sleeps under the fig tree.\n",
    );
    let new = "stale: files are new (1): b:okapi.md (fix: local-agent index)\n";
    for ask in [
        &["query", "okapi \"fig tree\""][..],
        &["ask", "Where does the okapi sleep?"],
    ] {
        assert_eq!(world.ok(ask).stderr, new, "{ask:?}");
        assert_eq!(
            world.ok(&[ask, &["--source", "b"]].concat()).stderr,
            new,
            "{ask:?}"
        );
        assert_eq!(
            world.ok(&[ask, &["--source", "a"]].concat()).stderr,
            "",
            "{ask:?}"
        );
    }
    let settings = fs::read_to_string(world.vault().join("local-agent.yaml")).unwrap();
    let kept = settings.replace("  - name: \"b\"\n    root: \"b\"\n", "");
    assert_ne!(kept, settings);
    world.write("local-agent.yaml", &kept);
    assert_snapshot!(world.json(&["status"])["stale"][0]["why"].as_str().unwrap(), @"source `b` is indexed and no longer configured");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    assert_eq!(world.json(&["status"])["stale"], json!([]));
}
