//! Filters apply to both sides of a search, before anything is cut off (W14).

use std::collections::BTreeSet;

use crate::harness::World;

fn zoo() -> World {
    let world = World::empty();
    world.write(
        "pub/a.md",
        "---\ntags: [animal/bird, zoo]\ndate: 2026-01-10\nstatus: open\n---\n# Heron\n\nA heron is a grey bird.\n",
    );
    world.write(
        "pub/deep/b.md",
        "---\ntags: animal\ndate: 2026-02-10\nstatus: [Closed, old]\ndraft: true\n---\n# Stork\n\nA stork is a white bird.\n",
    );
    world.write(
        "public/c.md",
        "---\ndate: 2026-03-10\n---\n# Crane\n\nA crane is a tall bird. #animals\n",
    );
    world.write("private/d.md", "# Owl\n\nAn owl is a quiet bird.\n");
    world.write("more/e.md", "# Gull\n\nA gull is a loud bird of the sea.\n");
    world.ok(&[
        "init",
        "--here",
        "--source",
        "pub=pub",
        "--source",
        "public=public",
        "--source",
        "rest=private",
        "--source",
        "more=more",
    ]);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world
}

fn found(world: &World, args: &[&str]) -> BTreeSet<String> {
    let body = world.json(&[args, &["--limit", "50"]].concat());
    let path = |hit: &serde_json::Value| {
        format!(
            "{}:{}",
            hit["source"].as_str().unwrap(),
            hit["rel_path"].as_str().unwrap()
        )
    };
    body["hits"].as_array().unwrap().iter().map(path).collect()
}

#[test]
fn w14_every_filter_holds_for_words_for_meaning_and_for_both() {
    let world = zoo();
    let cases: &[(&[&str], &str, &[&str])] = &[
        (
            &["--source", "pub"],
            "source:pub",
            &["pub:a.md", "pub:deep/b.md"],
        ),
        (&["--path", "deep"], "path:deep", &["pub:deep/b.md"]),
        (&["--path", "*/b.md"], "path:*/b.md", &["pub:deep/b.md"]),
        (&["--path", "dee"], "path:dee", &[]),
        (
            &["--tag", "animal"],
            "tag:animal",
            &["pub:a.md", "pub:deep/b.md"],
        ),
        (
            &["--tag", "#animal/bird"],
            "tag:#animal/bird",
            &["pub:a.md"],
        ),
        (
            &["--after", "2026-02-10", "--before", "2026-03-10"],
            "after:2026-02-10 before:2026-03-10",
            &["pub:deep/b.md"],
        ),
        (
            &["--before", "2026-02-10"],
            "before:2026-02-10",
            &["pub:a.md"],
        ),
    ];
    for (flags, words, expected) in cases {
        let expected: BTreeSet<String> = expected.iter().map(|&path| path.to_owned()).collect();
        for mode in ["lexical", "vector", "hybrid"] {
            let by_flag = found(
                &world,
                &[&["query", "bird", "--mode", mode], *flags].concat(),
            );
            assert_eq!(by_flag, expected, "{flags:?} {mode}");
            let text = format!("bird {words}");
            assert_eq!(
                found(&world, &["query", &text, "--mode", mode]),
                expected,
                "{text} {mode}"
            );
        }
    }
    for (text, expected) in [
        ("bird status:open", &["pub:a.md"][..]),
        ("bird status:closed", &["pub:deep/b.md"]),
        (
            "bird -tag:animal -source:more",
            &["public:c.md", "rest:d.md"],
        ),
        ("bird -status:open -tag:zoo source:pub", &["pub:deep/b.md"]),
        ("bird -heron -stork source:pub", &[]),
        // Only the whole word, not its parts.
        (
            "bird -loud-heron source:pub",
            &["pub:a.md", "pub:deep/b.md"],
        ),
        ("bird \"grey bird\"", &["pub:a.md"]),
    ] {
        let expected: BTreeSet<String> = expected.iter().map(|&path| path.to_owned()).collect();
        for mode in ["lexical", "vector", "hybrid"] {
            assert_eq!(
                found(&world, &["query", text, "--mode", mode]),
                expected,
                "{text} {mode}"
            );
        }
    }
}

#[test]
fn the_day_of_a_note_is_the_one_that_its_property_or_its_name_states() {
    let world = World::with(&[
        ("Journal/2026-01-10.md", "# January\n\nA bird.\n"),
        ("Journal/2026-03-10.md", "# March\n\nA bird.\n"),
        (
            "2025-01-01.md",
            "---\ndate: 2026-02-20\n---\n# February\n\nA bird.\n",
        ),
        ("changed.md", "# Today\n\nA bird.\n"),
    ]);
    world.ok(&["index"]);
    let after = found(&world, &["query", "bird after:2026-02-01"]);
    let paths = ["2025-01-01.md", "Journal/2026-03-10.md", "changed.md"];
    let expected: BTreeSet<String> = paths.iter().map(|path| format!("notes:{path}")).collect();
    assert_eq!(after, expected);
    let before = found(&world, &["query", "bird", "--before", "2026-02-01"]);
    assert_eq!(
        before,
        BTreeSet::from(["notes:Journal/2026-01-10.md".to_owned()])
    );
}

#[test]
fn w14_an_answer_stays_inside_its_scope() {
    let world = zoo();
    let body = world.json(&["ask", "Which bird is quiet?", "--source", "pub"]);
    for item in body["evidence"].as_array().unwrap() {
        assert_eq!(item["source"], "pub");
    }
    assert_eq!(
        world.json(&["ask", "Which bird is quiet?", "--path", "nowhere"])["outcome"],
        "abstained"
    );
}

#[test]
fn a_source_or_a_day_that_is_none_is_a_failure() {
    let world = zoo();
    for args in [
        &["query", "bird", "--source", "nope"][..],
        &["ask", "bird?", "--source", "nope"],
        &["query", "bird", "--after", "yesterday"],
        &["query", "bird", "--before", "2026-02-30"],
    ] {
        assert_eq!(world.code(args), "INVALID_ARGS", "{args:?}");
    }
}

#[test]
fn w23_the_same_path_in_two_sources_can_be_found_and_cited_in_both() {
    let world = World::empty();
    world.write("a/x.md", "# Log\n\nThe red boat needs 3 planks.\n");
    world.write("b/x.md", "# Log\n\nThe green boat needs 5 nails.\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    let both: BTreeSet<String> = ["a:x.md", "b:x.md"].map(str::to_owned).into();
    assert_eq!(found(&world, &["query", "boat", "--mode", "lexical"]), both);
    for (question, citation) in [
        (
            "How many planks does the red boat need?",
            "[source: a:x.md#H1: Log | ",
        ),
        (
            "How many nails does the green boat need?",
            "[source: b:x.md#H1: Log | ",
        ),
    ] {
        let body = world.json(&["ask", question]);
        let answer = body["answer"].as_str().unwrap();
        assert!(answer.contains(citation), "{answer}");
        assert_eq!(body["citation_validation"]["valid"], true);
    }
    // They have identical text, but are still two chunks.
    world.write("b/x.md", "# Log\n\nThe red boat needs 3 planks.\n");
    let body = world.json(&["query", "boat", "--mode", "lexical", "--refresh"]);
    assert_ne!(body["hits"][0]["chunk_key"], body["hits"][1]["chunk_key"]);
}

#[test]
fn a_property_that_is_true_or_false_filters_as_it_is_written() {
    let world = zoo();
    let found = |query: &str| {
        let hits = world.json(&["query", query, "--min-score", "0"])["hits"].clone();
        let hits = hits.as_array().unwrap();
        hits.iter()
            .map(|hit| hit["rel_path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("bird draft:true"), ["deep/b.md"]);
    assert!(found("bird draft:false").is_empty());
    assert!(!found("bird -draft:true").contains(&"deep/b.md".to_owned()));
}

#[test]
fn filters_ignore_case_in_every_script_and_org_keywords_are_filters() {
    let world = World::empty();
    world.write(
        "Übungen/a.md",
        "---\nСтатус: Готово\n---\n# Heron\n\nA heron is a bird. #Übung/Neu\n",
    );
    world.write("other/b.md", "# Stork\n\nA stork is a bird.\n");
    world.write(
        "other/c.org",
        "#+TITLE: Crane\n#+PLACE: Lake\n* Crane\nA crane is a bird.\n",
    );
    world.write(
        "local-agent.yaml",
        "sources:\n  - {name: notes, root: ., extensions: [.org]}\n",
    );
    world.ok(&["index"]);
    for (filter, path) in [
        ("статус:готово", "Übungen/a.md"),
        ("Статус:ГОТОВО", "Übungen/a.md"),
        ("tag:übung", "Übungen/a.md"),
        ("tag:#ÜBUNG/neu", "Übungen/a.md"),
        ("path:übungen", "Übungen/a.md"),
        ("path:ÜBUNGEN/*", "Übungen/a.md"),
        ("source:NOTES path:u\u{308}bungen/", "Übungen/a.md"),
        ("place:lake", "other/c.org"),
    ] {
        let query = format!("bird {filter}");
        let found = found(&world, &["query", &query, "--mode", "lexical"]);
        assert_eq!(found, BTreeSet::from([format!("notes:{path}")]), "{filter}");
    }
}

#[test]
fn several_sources_are_named_with_commas() {
    let world = zoo();
    let both = found(&world, &["query", "bird", "-c", "pub,more"]);
    let twice = found(&world, &["query", "bird", "-c", "pub", "-c", "more"]);
    assert_eq!(both, twice);
    assert!(both.len() > 2, "{both:?}");
}
