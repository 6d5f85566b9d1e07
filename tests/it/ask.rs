//! `ask`.

use std::fs;

use insta::assert_snapshot;
use local_agent_text::error::ErrorCode;
use local_agent_text::evidence::EvidenceSnapshot;
use serde_json::json;

use crate::harness::World;

const PROOFBOX: &str = "At what temperature and humidity does the proofbox hold sourdough?";

#[test]
fn an_answer_of_the_example_with_its_citation() {
    let world = World::embedded();
    let run = world.ok(&["ask", PROOFBOX]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(world.stable(&run.stdout), @r#"
    The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32 °C and 80 %.   [1]

    [1] projects/Proofbox.md:14 › Proofbox
    2 statements, word for word from your notes
    "#);
}

#[test]
fn without_a_model_words_alone_answer() {
    let world = World::example();
    let run = world.ok(&["ask", PROOFBOX]);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32 °C and 80 %.   [1]

    Dough              Temperature  Humidity  Time
    Country sourdough  27 °C        78 %      3 h 30 min   [1]

    [1] projects/Proofbox.md:14 › Proofbox, lines 14-18
    3 statements: 2 word for word from your notes, 1 quoted in part
    "#);
    assert_snapshot!(run.stderr, @"stale: nothing was embedded yet, so meaning is not searched (fix: local-agent embed)");
}

#[test]
fn canonical_citations_are_printed_when_they_are_asked_for() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let question = "How many apples does the zebra eat a day?";
    let run = world.ok(&["ask", question, "--citations", "canonical"]);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    The zebra eats 14 apples a day. [source: zoo.md#H1: Zoo | <key>]

    1 statement, word for word from your notes
    "#);
}

#[test]
fn passages_that_are_not_certain_are_shown_as_the_closest() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let question = "What colour did the vet paint the door of the zebra?";
    let run = world.ok(&["ask", question]);
    assert!(
        run.stdout
            .starts_with("I found no sentence that answers this for certain. Closest:")
            && run.stdout.contains("Zoo: The zebra eats 14 apples a day."),
        "{}",
        run.stdout
    );
    let body = world.json(&["ask", question]);
    assert_eq!(body["outcome"], "closest");
    assert!(body["answer"].as_str().unwrap().contains("14 apples"));
}

#[test]
fn a_day_is_counted_from_the_one_that_is_given() {
    let world = World::with(&[
        ("daily/2026-05-11.md", "Painted the door green.\n"),
        ("daily/2026-05-12.md", "Painted the gate blue.\n"),
    ]);
    world.ok(&["index"]);
    let body = world.json(&["ask", "What did I paint yesterday?", "--now", "2026-05-12"]);
    let answer = body["answer"].as_str().unwrap();
    assert!(
        answer.contains("green") && !answer.contains("blue"),
        "{answer}"
    );
    let run = world.run(&["ask", "What did I paint yesterday?", "--now", "soon"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("write a day as 2026-06-20"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_answer_as_an_object() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    assert_snapshot!(world.pretty(world.json(&["ask", "How many apples does the zebra eat a day?"])), @r#"
    {
      "answer": "The zebra eats 14 apples a day. [source: zoo.md#H1: Zoo | <key>]",
      "answerer": "extractive",
      "citation_validation": {
        "all_citations_unparseable": false,
        "answer_sha256": "<sha256>",
        "citation_markers_found": 1,
        "claims": [
          {
            "citations": [
              {
                "chunk_key": "<key>",
                "codes": [],
                "freshness": {
                  "state": "fresh"
                },
                "label": "E1",
                "span": {
                  "end": 91,
                  "start": 32
                }
              }
            ],
            "codes": [],
            "derivation": null,
            "doubts": [],
            "evidence": {
              "label": "E1",
              "lines": "3",
              "path": "zoo.md",
              "source": "notes",
              "span": {
                "end": 37,
                "start": 7
              }
            },
            "findings": [],
            "remarks": [],
            "span": {
              "end": 91,
              "start": 0
            },
            "text": "The zebra eats 14 apples a day.",
            "verdict": "verified",
            "why": "Word for word in E1 (zoo.md, line 3)."
          }
        ],
        "codes": [],
        "counts": {
          "missing": 0,
          "not_in_snapshot": 0,
          "path_mismatches": 0,
          "sha_mismatches": 0
        },
        "doubts": [],
        "heading_match_strategy": "prefix",
        "mismatched_sha": [],
        "missing_chunk_keys": [],
        "normalize_heading": true,
        "not_in_snapshot_chunk_keys": [],
        "ok": true,
        "outcome": "passed",
        "parsed_citations": [
          {
            "chunk_key": "<key>",
            "heading_path": "H1: Zoo",
            "rel_path": "zoo.md"
          }
        ],
        "parsed_citations_count": 1,
        "path_mismatches": [],
        "sha256": "<sha256>",
        "sha_unchecked_chunk_keys": [],
        "snapshot_id": "<sha256>",
        "unparseable_citations_count": 0,
        "valid": true,
        "version": 2
      },
      "citation_validation_footer": "(missing=0, path_mismatches=0, sha_mismatches=0, not_in_snapshot=0)",
      "computed": null,
      "coverage": {
        "chunks": 1,
        "embedded": 0
      },
      "doubts": [],
      "evidence": [
        {
          "chunk_key": "<key>",
          "end_byte": 38,
          "heading_path": "H1: Zoo",
          "label": "E1",
          "lines": "1-3",
          "rel_path": "zoo.md",
          "score": 1.0,
          "source": "notes",
          "start_byte": 0,
          "text_sha256": "<sha256>"
        }
      ],
      "file": null,
      "freshness": {
        "E1": {
          "state": "fresh"
        }
      },
      "index_stale": [],
      "left_out": [],
      "memory": [],
      "model": null,
      "ok": true,
      "opinions": [],
      "outcome": "answered",
      "provider": "extractive",
      "provider_why": "no chat model is configured",
      "question": "How many apples does the zebra eat a day?",
      "rounds": [],
      "run_id": "<run>",
      "run_record": "<vault>/.local-agent/runs/<run>/run.json",
      "scope": "notes",
      "sent_to": [],
      "snapshot_id": "<sha256>",
      "stale": [
        {
          "fix": "local-agent embed",
          "what": "vectors",
          "why": "nothing was embedded yet, so meaning is not searched"
        }
      ],
      "verified": true,
      "warnings": [],
      "why": null
    }
    "#);
}

#[test]
fn questions_in_german_and_japanese_are_answered() {
    let world = World::embedded();
    for (question, file, words) in [
        (
            "Wie lang ist die Kündigungsfrist?",
            "de/Mietvertrag Mühlgasse.md",
            "sechs Monate zum Quartalsende",
        ),
        (
            "最終発酵の温度は何度ですか。",
            "ja/食パンの手順.md",
            "最終発酵は32度",
        ),
    ] {
        let body = world.json(&["ask", question]);
        assert_eq!(body["outcome"], "answered");
        let answer = body["answer"].as_str().unwrap();
        assert!(
            answer.contains(words) && answer.contains(&format!("[source: {file}")),
            "{answer}"
        );
        assert_eq!(body["citation_validation"]["valid"], true);
    }
}

/// "The search found no text that could be quoted" was said although nothing was searched.
#[test]
fn a_question_whose_limits_no_note_fits_says_so() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let run = world.ok(&["ask", "How many apples?", "--tag", "nosuch"]);
    assert_snapshot!(run.stdout, @r#"
    The notes hold nothing on this.
    Nothing was searched: no note fits `tag:nosuch`.
    "#);
}

#[test]
fn nothing_that_fits_is_an_abstention_and_exit_code_0() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let run = world.ok(&["ask", "qqqq zzzz xxxx?"]);
    assert_snapshot!(run.stdout, @r#"
    The notes hold nothing on this.
    The search found no text that could be quoted.
    "#);
    let body = world.json(&["ask", "qqqq zzzz xxxx?", "--strict"]);
    assert_eq!(
        (&body["outcome"], &body["answer"], &body["verified"]),
        (&json!("abstained"), &json!(null), &json!(false))
    );
    assert!(body["why"].is_string());
}

#[test]
fn w05_headings_and_paths_with_brackets_bars_and_arrows_are_citable() {
    let world = World::with(&[
        (
            "a # b.md",
            "# [1.2.0] - 2024 | a > b\n\nThe walrus weighs 900 kg.\n",
        ),
        (
            "c [x] %41.md",
            "# C#\n\n## x | y\n\nThe heron weighs 2 kg.\n",
        ),
        ("d.md", "Setext ] heading\n===\n\nThe otter weighs 8 kg.\n"),
    ]);
    world.ok(&["index"]);
    for (question, citation) in [
        (
            "What does the walrus weigh?",
            "[source: a %23 b.md#H1: [1.2.0%5D - 2024 %7C a %3E b | ",
        ),
        (
            "What does the heron weigh?",
            "[source: c [x%5D %2541.md#H1: C%23 > H2: x %7C y | ",
        ),
        (
            "What does the otter weigh?",
            "[source: d.md#H1: Setext %5D heading | ",
        ),
    ] {
        let body = world.json(&["ask", question, "--strict"]);
        let answer = body["answer"].as_str().unwrap_or_else(|| panic!("{body}"));
        assert!(answer.contains(citation), "{answer}");
        let report = &body["citation_validation"];
        assert_eq!(
            (&report["valid"], &report["unparseable_citations_count"]),
            (&json!(true), &json!(0))
        );
    }
}

#[test]
fn w23_a_path_of_two_sources_is_cited_with_its_source_even_if_only_one_has_evidence() {
    let world = World::empty();
    world.write("a/x.md", "# Log\n\nThe red boat needs 3 planks.\n");
    world.write(
        "a/y.md",
        "# Log\n\nThe blue kite needs 7 metres of string.\n",
    );
    world.write("b/x.md", "# Bread\n\nRye wants more water than wheat.\n");
    world.ok(&["init", "--here", "--source", "a=a", "--source", "b=b"]);
    world.ok(&["index"]);
    for (question, scope, citation) in [
        (
            "How many planks does the red boat need?",
            &["--source", "a"][..],
            "[source: a:x.md#H1: Log | ",
        ),
        (
            "How many planks does the red boat need?",
            &[][..],
            "[source: a:x.md#H1: Log | ",
        ),
        (
            "How many metres of string does the blue kite need?",
            &[][..],
            "[source: y.md#H1: Log | ",
        ),
    ] {
        let body = world.json(&[&["ask", question], scope].concat());
        let answer = body["answer"].as_str().unwrap_or_else(|| panic!("{body}"));
        assert!(answer.contains(citation), "{answer}");
        assert_eq!(body["citation_validation"]["valid"], true);
    }
}

#[test]
fn the_snapshot_that_is_written_can_be_read_and_not_be_changed() {
    let world = World::example();
    let body = world.json(&["ask", PROOFBOX, "--snapshot-out", "out/snapshot.json"]);
    let file = world.vault().join("out/snapshot.json");
    let text = fs::read_to_string(&file).unwrap();
    let snapshot = EvidenceSnapshot::from_json(&text).unwrap();
    assert_eq!(body["snapshot_id"], snapshot.id().to_string());
    assert_eq!(snapshot.question(), PROOFBOX);
    assert_eq!(
        snapshot.items().len(),
        body["evidence"].as_array().unwrap().len()
    );
    for item in snapshot.items() {
        let bytes = fs::read(world.vault().join(item.path.as_str())).unwrap();
        assert_eq!(
            item.span.slice(&bytes),
            Some(item.text.as_bytes()),
            "w20: {}",
            item.path
        );
    }
    let changed = text.replacen("27 °C", "28 °C", 1);
    assert_ne!(changed, text);
    assert_eq!(
        EvidenceSnapshot::from_json(&changed).unwrap_err().code,
        ErrorCode::SnapshotTampered
    );
    fs::write(world.vault().join("in the way"), "").unwrap();
    assert_eq!(
        world.code(&[
            "ask",
            PROOFBOX,
            "--snapshot-out",
            "in the way/snapshot.json"
        ]),
        "WRITE_ERROR"
    );
}

#[test]
fn nothing_outside_the_snapshot_is_cited() {
    let world = World::embedded();
    for question in [
        PROOFBOX,
        "How do I restore the order book from a backup?",
        "What is Leyla allergic to?",
    ] {
        let body = world.json(&["ask", question]);
        let keys: Vec<&str> = body["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["chunk_key"].as_str().unwrap())
            .collect();
        let cited = body["citation_validation"]["parsed_citations"]
            .as_array()
            .unwrap();
        assert!(!cited.is_empty());
        for one in cited {
            assert!(keys.contains(&one["chunk_key"].as_str().unwrap()), "{one}");
        }
    }
}

#[test]
fn the_same_question_gives_the_same_bytes() {
    let world = World::embedded();
    let ask = || {
        let mut body = world.json(&["ask", "What did the new oven cost in all?"]);
        // Only the name of the run may differ between the two.
        for name in ["run_id", "run_record"] {
            assert!(
                body.as_object_mut()
                    .unwrap()
                    .remove(name)
                    .is_some_and(|value| value.is_string())
            );
        }
        body.to_string()
    };
    assert_eq!(ask(), ask());
}

#[test]
fn validation_that_is_switched_off_is_said_and_still_done() {
    let world = World::example();
    world.write("../off.yaml", "phase3: {ask: {citation_validation: {enabled: false}}}\nsources: [{name: vault, root: ., kind: notes}]\nstate_dir: .local-agent\n");
    let config = world.root().join("off.yaml");
    let run = world.ok(&["ask", PROOFBOX, "--config", config.to_str().unwrap()]);
    assert!(run.stdout.starts_with("UNVERIFIED"), "{}", run.stdout);
    let body = world.json(&["ask", PROOFBOX, "--config", config.to_str().unwrap()]);
    assert_eq!(
        (&body["verified"], &body["citation_validation"]["valid"]),
        (&json!(false), &json!(true))
    );
    assert!(!body["warnings"].as_array().unwrap().is_empty());
}

/// Regression: the flag had no effect and printed no message.
#[test]
fn a_model_that_is_asked_for_and_not_configured_is_said_to_be_missing() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    for flag in ["--big", "--fast"] {
        let run = world.ok(&["ask", "How many apples does the zebra eat?", flag]);
        assert!(
            run.stderr
                .contains("extractive: no chat model is configured"),
            "{flag}: {}",
            run.stderr
        );
    }
    assert!(
        !world
            .ok(&["ask", "How many apples does the zebra eat?"])
            .stderr
            .contains("chat model")
    );
}

#[test]
fn a_list_of_links_takes_no_place_in_the_evidence() {
    let contents = "# Boiler pressure\n\n- [Boiler pressure](boiler.md)\n- [Pressure of water](water.md)\n\
                    - [Boiler repair](repair.md)\n";
    let world = World::with(&[
        ("contents.md", contents),
        ("boiler.md", "# Boiler\n\nThe boiler pressure is 2 bar.\n"),
        (
            "water.md",
            "# Water\n\nThe pressure of the water is 4 bar.\n",
        ),
    ]);
    world.ok(&["index"]);
    let body = world.json(&["ask", "What is the boiler pressure?"]);
    let items = body["evidence"].as_array().unwrap().iter();
    let files: Vec<&str> = items
        .map(|item| item["rel_path"].as_str().unwrap())
        .collect();
    assert!(files.contains(&"boiler.md"), "{files:?}");
    assert!(!files.contains(&"contents.md"), "{files:?}");
    // A list of names is evidence if nothing else is.
    for file in ["boiler.md", "water.md"] {
        fs::remove_file(world.vault().join(file)).unwrap();
    }
    world.ok(&["index"]);
    let body = world.json(&["ask", "What is the boiler pressure?"]);
    let items = body["evidence"].as_array().unwrap().iter();
    let files: Vec<&str> = items
        .map(|item| item["rel_path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["contents.md"]);
}

#[test]
fn tasks_are_counted_in_every_note_that_the_question_covers() {
    let note = |n: u32| {
        let folder = if n.is_multiple_of(4) {
            "garden"
        } else {
            "house"
        };
        let text = format!("# Note {n}\n\n- [ ] thing {n} 📅 2026-06-01\n");
        (format!("{folder}/note {n}.md"), text)
    };
    let notes: Vec<(String, String)> = (0..40).map(note).collect();
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let world = World::with(&notes);
    world.ok(&["index"]);
    let question = "How many tasks are overdue?";
    let run = world.ok(&["ask", question, "--now", "2026-06-20"]);
    let first = run.stdout.lines().next().unwrap();
    assert_eq!(first, "40 = 40 overdue tasks in 40 notes");
    let below = ["ask", question, "--now", "2026-06-20", "--path", "garden"];
    assert_eq!(world.json(&below)["computed"]["value"], "10");
    let scoped = world.json(&["ask", question, "--now", "2026-06-20", "--source", "notes"]);
    assert_eq!(scoped["computed"]["value"], "40");
}

#[test]
fn the_verifier_computes_a_sum_again() {
    let table = "# Shed\n\n| Item | Price |\n| --- | --- |\n| Oak | 12.50 € |\n| Glue | 30 € |\n| Nails | 7.20 € |\n";
    let world = World::with(&[("shed.md", table)]);
    world.ok(&["index"]);
    let question = "What is the total price of the items for the shed?";
    let said = world.ok(&["ask", question]).stdout;
    let first = said.lines().next().unwrap();
    assert_eq!(
        first,
        "49.70 € = 12.50 + 30 + 7.20 (3 rows added up, 1 note; computed twice)"
    );
    let json = world.json(&["ask", question]);
    let derivation = &json["computed"]["derivation"];
    assert_eq!(derivation["operation"], "sum");
    assert_eq!(derivation["result"], "49.70 €");
}

#[test]
fn the_notes_of_a_folder_are_listed() {
    let world = World::with(&[
        ("recipes/rye.md", "# Rye bread\n\nBake for 55 minutes.\n"),
        (
            "recipes/sweet/bun.md",
            "# Sweet bun\n\nBake for 20 minutes.\n",
        ),
        ("recipes/untitled.md", "No heading, and a recipe.\n"),
        (
            "archive/recipes/stollen.md",
            "# Stollen\n\nBake it in December.\n",
        ),
        ("oven/manual.md", "# Oven manual\n\nThe oven is a Heuft.\n"),
        (
            "oven/repair.md",
            "# Oven repair\n\nThe door was mended in May.\n",
        ),
        ("log.md", "# Log\n\nThe recipes are in a folder.\n"),
    ]);
    world.ok(&["index"]);
    let [listed, asked] = ["List all recipes", "Which recipes do I have?"]
        .map(|question| world.ok(&["ask", question, "--fast"]).stdout);
    assert_eq!(listed, asked);
    assert_snapshot!(listed, @r"
    Stollen   [1]

    Rye bread   [2]

    Sweet bun   [3]

    [1] archive/recipes/stollen.md:1 › Stollen
    [2] recipes/rye.md:1 › Rye bread
    [3] recipes/sweet/bun.md:1 › Sweet bun
    3 statements, word for word from your notes
    These are the titles of 3 of 4 notes in the folders `archive/recipes`, `recipes`, `recipes/sweet`.
    ");
    let below = world.json(&["ask", "List all recipes", "--path", "recipes"]);
    let why = "These are the titles of 2 of 3 notes in the folders `recipes`, `recipes/sweet`.";
    assert_eq!(below["why"], why, "{below}");
    // One oven is asked for, not all notes about it.
    let oven = world.json(&["ask", "Which oven do we have?"]);
    assert!(!oven["why"].to_string().contains("titles"), "{oven}");
}
