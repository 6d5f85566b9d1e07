//! `query`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::World;

#[test]
fn hits_of_the_example_by_words() {
    let world = World::example();
    let run = world.ok(&[
        "query",
        "proofbox humidity",
        "--mode",
        "lexical",
        "--limit",
        "2",
    ]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @r"
    projects/Proofbox.md:14  Proofbox  0.89
        … The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32
        °C and 80 %. Dough · Temperature · Humidity · Time; Country sourdough · 27 °C · 78 % · 3 h 30 …
    projects/Proofbox.md:27  Proofbox › Parts  0.89
        … - One temperature and humidity sensor at shelf height The sensor sat at the top until January
        2026 and read 3 °C too warm.
    ");
}

#[test]
fn hits_of_the_example_by_words_and_meaning() {
    let world = World::embedded();
    let run = world.ok(&["query", "sourdough proofbox temperature", "--limit", "1"]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @r"
    projects/Proofbox.md:14  Proofbox  1.00
        … The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32
        °C and 80 %. Dough · Temperature · Humidity · Time; Country sourdough · 27 °C · 78 % · 3 h 30 …
    ");
    let body = world.json(&[
        "query",
        "proofbox holds sourdough",
        "--limit",
        "1",
        "--explain",
    ]);
    assert_snapshot!(world.pretty(body), @r##"
    {
      "count": 1,
      "coverage": {
        "chunks": 130,
        "embedded": 130
      },
      "hits": [
        {
          "chunk_key": "<key>",
          "end_byte": 623,
          "explain": {
            "chunk_bm25": <n>,
            "cosine": <n>,
            "coverage": 1.0,
            "document_bm25": <n>,
            "document_likeness": <n>,
            "fused": 1.0,
            "fusion": "convex",
            "legibility": 1.0,
            "lexical_rank": 1,
            "lexical_scaled": 1.0,
            "lexical_score": <n>,
            "lexical_weight": 0.5,
            "likeness": <n>,
            "method": "both",
            "neighbours": 1.0,
            "vector_rank": 1,
            "vector_scaled": 1.0,
            "vector_weight": 0.5,
            "word_trust": 1.0
          },
          "fresh": true,
          "gone": false,
          "heading_path": "H1: Proofbox",
          "kind": "notes",
          "line": 10,
          "lines": "8-20",
          "metadata": "present",
          "method": "both",
          "rank": 1,
          "rel_path": "projects/Proofbox.md",
          "required_keys_present": false,
          "score": <n>,
          "source": "vault",
          "start_byte": 146,
          "text": "# Proofbox\n\nThe proofbox is a converted wardrobe in which dough rises at a steady warmth. Jonas built the box, I wrote the controller.\n\n## Targets\n\nThe proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32 °C and 80 %.\n\n| Dough | Temperature | Humidity | Time |\n| --- | ---: | ---: | --- |\n| Country sourdough | 27 °C | 78 % | 3 h 30 min |\n| Shokupan, last proof | 32 °C | 80 % | 55 min |\n| Cinnamon knots | 29 °C | 75 % | 1 h 15 min |",
          "title": "Proofbox",
          "yaml_error": null,
          "yaml_parse_ok": true,
          "yaml_present": true
        }
      ],
      "index_stale": [],
      "ok": true,
      "outcome": "found",
      "parsed": {
        "excluded": [],
        "excluded_phrases": [],
        "filters": [],
        "phrases": [],
        "words": [
          "proofbox",
          "holds",
          "sourdough"
        ]
      },
      "query": "proofbox holds sourdough",
      "stale": [],
      "vectors_without_say": null,
      "warnings": []
    }
    "##);
}

#[test]
fn weak_hits_are_left_out_for_people_and_counted() {
    let world = World::embedded();
    let few = world.ok(&["query", "rye price", "--limit", "20"]).stdout;
    let all = world.ok(&["query", "rye price", "--all"]).stdout;
    let scores = |text: &str| -> Vec<f32> {
        let ends = text.lines().filter(|line| !line.starts_with(' '));
        ends.filter_map(|line| line.rsplit(' ').next()?.parse().ok())
            .collect()
    };
    assert!(scores(&few).iter().all(|score| *score >= 0.1), "{few}");
    assert!(scores(&all).iter().any(|score| *score < 0.1), "{all}");
    let last = few.lines().last().unwrap();
    assert!(last.ends_with("left out (--all shows them)"), "{few}");
    // Programs get every hit.
    let body = world.json(&["query", "rye price", "--limit", "20"]);
    assert!(body["count"].as_u64().unwrap() as usize > scores(&few).len());
}

#[test]
fn hits_that_hold_a_rare_word_are_never_left_out() {
    let world = World::embedded();
    for query in ["launch code", "quantum Mietvertrag"] {
        let word = query.rsplit(' ').next().unwrap();
        let printed = world.ok(&["query", query]).stdout;
        assert!(printed.contains(word), "{query}: {printed}");
    }
}

#[test]
fn a_search_with_only_weak_hits_helps_as_if_nothing_was_found() {
    let world = World::embedded();
    world.ok(&["index"]);
    let run = world.ok(&["query", "zzzzqqq"]);
    assert!(
        run.stdout
            .starts_with("Nothing in the index fits this query."),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "no note holds the word `zzzzqqq`\n");
    for (typed, held) in [("sourdugh", "sourdough"), ("thermocuple", "thermocouple")] {
        let run = world.ok(&["query", typed]);
        assert!(run.stdout.contains(held), "{}", run.stdout);
        assert_eq!(
            run.stderr,
            format!("no note holds the word `{typed}`; searched for `{held}`\n")
        );
    }
    // Other programs ask for completions with a star, which is no letter of the word.
    let run = world.ok(&["search", "thermoc*"]);
    assert!(run.stdout.contains("thermocouple"), "{}", run.stdout);
    let said = "no note holds the word `thermoc`; searched for `thermocouple`";
    assert!(run.stderr.starts_with(said), "{}", run.stderr);
    // Words of grammar are not named.
    let run = world.ok(&["query", "Who is the zzzzqqq?"]);
    assert_eq!(run.stderr, "no note holds the word `zzzzqqq`\n");
}

#[test]
fn a_question_in_another_language_than_the_notes_shows_the_first_of_the_vectors() {
    let world = World::embedded();
    let found = world.ok(&["query", "Wie warm muss der Sauerteig stehen?"]);
    assert!(found.stdout.contains("Sourdough.md"), "{}", found.stdout);
}

#[test]
fn a_snippet_is_text_and_not_markup() {
    let world = World::with(&[(
        "oven.md",
        "# Oven\n\n> [!tip] Warm it\n> The [[Old oven|furnace]] is slow.\n\n| Part | Price |\n| --- | ---: |\n| door | **40** |\n\n- [x] buy a [door](http://x/y)\n",
    )]);
    world.ok(&["index"]);
    let printed = world.ok(&["query", "furnace", "--mode", "lexical"]).stdout;
    let line = printed.lines().nth(1).unwrap();
    assert_eq!(
        line,
        "    … The furnace is slow. Part · Price; door · 40 ☑ buy a door"
    );
    assert!(printed.starts_with("oven.md:4  "), "{printed}");
    let body = world.json(&["query", "furnace", "--mode", "lexical"]);
    let text = body["hits"][0]["text"].as_str().unwrap();
    assert!(text.contains("[[Old oven|furnace]]"), "{text}");
}

#[test]
fn one_object_a_hit_or_one_path_a_document() {
    let world = World::example();
    let run = world.ok(&["query", "bread", "--mode", "lexical", "--jsonl"]);
    let hits: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let body = world.json(&["query", "bread", "--mode", "lexical"]);
    assert_eq!(json!(hits), body["hits"]);
    let files = world
        .ok(&[
            "query", "proofbox", "--mode", "lexical", "--files", "--limit", "20",
        ])
        .stdout;
    let paths: Vec<&str> = files.lines().collect();
    assert!(paths.contains(&"vault:projects/Proofbox.md"), "{files}");
    assert_eq!(
        paths.iter().collect::<std::collections::HashSet<_>>().len(),
        paths.len(),
        "each once: {files}"
    );
    for args in [
        ["--json", "--jsonl"],
        ["--json", "--files"],
        ["--jsonl", "--files"],
    ] {
        world.usage(&[&["query", "bread"], &args[..]].concat());
    }
}

#[test]
fn finding_nothing_is_done_and_said() {
    let world = World::example();
    let run = world.ok(&["query", "qqqqzzzz", "--mode", "lexical"]);
    assert_snapshot!(run.stdout, @"Nothing in the index fits this query.");
    let body = world.json(&["query", "qqqqzzzz", "--mode", "lexical"]);
    assert_eq!(
        (&body["outcome"], &body["count"], &body["hits"]),
        (&json!("nothing_found"), &json!(0), &json!([]))
    );
    assert_eq!(
        world
            .ok(&["query", "qqqqzzzz", "--mode", "lexical", "--jsonl"])
            .stdout,
        ""
    );
    assert_eq!(
        world
            .ok(&["query", "qqqqzzzz", "--mode", "lexical", "--files"])
            .stdout,
        ""
    );
}

#[test]
fn w47_without_an_index_there_is_a_failure_and_nothing_is_made() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let before = world.photograph();
    for args in [
        &["query", "one"][..],
        &["query", "one", "--json"],
        &["query", "one", "--jsonl"],
        &["query", "one", "--mode", "lexical"],
        &["ask", "one", "--json"],
        &["get", "#00000000000000000000000000000000"],
    ] {
        assert_eq!(world.code(args), "INDEX_MISSING", "{args:?}");
    }
    world.is_as(&before, &["w48: a reader"]);
    assert_snapshot!(world.stable(&world.fails(&["query", "one", "--json"])["hint"].to_string()), @r#""local-agent index""#);
}

#[test]
fn words_need_no_model_and_meaning_names_the_one_that_is_missing() {
    let world = World::embedded();
    world.write("../other.yaml", "embed: {model: bge-small-en-v1.5}\n");
    let other = world.root().join("other.yaml");
    let other = ["--config", other.to_str().unwrap()];
    let lexical = world.json(&[&["query", "proofbox", "--mode", "lexical"], &other[..]].concat());
    assert_ne!(lexical["count"], 0);
    for args in [
        &["query", "proofbox"][..],
        &["query", "proofbox", "--mode", "vector"],
        &["ask", "proofbox?"],
    ] {
        let failure = world.fails(&[args, &other].concat());
        assert_eq!(failure["error_code"], "MODEL_NOT_FOUND", "{args:?}");
        let config = world.root().join("other.yaml");
        let pull = "models pull bge-small-en-v1.5";
        let hint = format!("local-agent --config {} {pull}", config.display());
        assert_eq!(failure["hint"], hint);
    }
}

#[test]
fn meaning_alone_needs_vectors() {
    let world = World::example();
    assert_eq!(
        world.code(&["query", "bread", "--mode", "vector"]),
        "PHASE2_QUERY_ERROR"
    );
    let run = world.ok(&["query", "bread"]);
    assert_snapshot!(run.stderr, @"stale: nothing was embedded yet, so meaning is not searched (fix: local-agent embed)");
}

#[test]
fn a_refresh_brings_the_index_up_to_date_first() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let body = world.json(&["query", "walrus", "--mode", "lexical", "--refresh"]);
    assert_eq!(body["outcome"], "nothing_found", "an index is made");
    world.write("b.md", "# B\n\nThe walrus.\n");
    assert_eq!(
        world.json(&["query", "walrus", "--mode", "lexical"])["count"],
        0
    );
    assert_eq!(
        world.json(&["query", "walrus", "--mode", "lexical", "--refresh"])["count"],
        1
    );
}

#[test]
fn two_indexes_of_the_same_files_answer_alike() {
    let (one, two) = (World::example(), World::example());
    for text in [
        "proofbox",
        "bread oven price",
        "order book backup",
        "\"sourdough starter\" -rye",
        "Brötchen",
        "食パン",
    ] {
        let hits = |world: &World| {
            world.json(&["query", text, "--mode", "lexical", "--limit", "30"])["hits"].clone()
        };
        assert_eq!(hits(&one), hits(&two), "{text}");
    }
}

#[test]
fn the_query_language_is_shown_as_it_was_understood() {
    let world = World::example();
    let body = world.json(&[
        "query",
        "bread \"wild yeast\" -oven tag:recipe nosuch:thing 12:30",
        "--mode",
        "lexical",
    ]);
    assert_snapshot!(serde_json::to_string_pretty(&body["parsed"]).unwrap(), @r#"
    {
      "excluded": [
        "oven"
      ],
      "excluded_phrases": [],
      "filters": [
        {
          "key": "tag",
          "negated": false,
          "value": "recipe"
        }
      ],
      "phrases": [
        "wild yeast"
      ],
      "words": [
        "bread",
        "nosuch:thing",
        "12:30"
      ]
    }
    "#);
}

/// Notes from three days with the same words, and one with a day only in its file's time.
fn dated() -> World {
    let world = World::with(&[
        (
            "log/2026-06-01.md",
            "The boiler is warm. The boiler of the boiler room.\n",
        ),
        (
            "plan.md",
            "---\ndate: 2026-06-28\n---\n# Plan\n\nThe boiler is replaced.\n",
        ),
        (
            "old.md",
            "---\nupdated: 2020-01-01\n---\n# Old\n\nThe boiler, the boiler: a boiler.\n",
        ),
        ("other.md", "# Other\n\nNothing about heat.\n"),
    ]);
    world.ok(&["index"]);
    world
}

fn paths(body: &Value) -> Vec<&str> {
    let hits = body["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["rel_path"].as_str().unwrap()).collect()
}

#[test]
fn newer_notes_come_first_only_when_they_are_asked_for() {
    let world = dated();
    let query = ["query", "boiler", "--mode", "lexical"];
    let usual = world.json(&query);
    assert_eq!(paths(&usual).len(), 3);
    let recent = [
        &query[..],
        &["--recent=10", "--now", "2026-06-28", "--explain"],
    ]
    .concat();
    let body = world.json(&recent);
    assert_eq!(paths(&body), ["plan.md", "log/2026-06-01.md", "old.md"]);
    let explained = |at: usize, name: &str| body["hits"][at]["explain"][name].as_f64().unwrap();
    assert_eq!(
        (explained(0, "age_days"), explained(0, "recency")),
        (0.0, 1.0)
    );
    assert_eq!(explained(1, "age_days"), 27.0);
    assert!((explained(1, "recency") - 0.5_f64.powf(2.7)).abs() < 1e-5);
    assert!(explained(2, "fused") < 1e-9);
    // The chance of relevance does not depend on the age of a hit.
    let chance = |body: &Value, path: &str| {
        let hits = body["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["rel_path"] == path);
        hit.unwrap()["score"].as_f64()
    };
    assert_eq!(chance(&body, "old.md"), chance(&usual, "old.md"));
    let one = world.json(&[&recent[..], &["--limit", "1"]].concat());
    assert_eq!(paths(&one), ["plan.md"]);
    // With a long half-life, the words determine the order again.
    let slow = [&query[..], &["--recent=36500", "--now", "2026-06-28"]].concat();
    assert_eq!(paths(&world.json(&slow)), paths(&usual));
    assert!(usual["hits"][0]["explain"].is_null());
}

#[test]
fn a_list_of_filters_is_by_day_with_recent() {
    let world = dated();
    let list = [
        "query",
        "path:*.md",
        "--recent",
        "--now",
        "2026-06-28",
        "-n",
        "3",
    ];
    let body = world.json(&list);
    // `other.md` was written today, whatever day that is.
    assert_eq!(paths(&body)[1..], ["plan.md", "log/2026-06-01.md"]);
    assert_eq!(world.run(&["query", "boiler", "--recent=0"]).code, 2);
    assert_eq!(
        world.run(&["query", "boiler", "--now", "2026-06-28"]).code,
        2
    );
}

/// Three notes about flour, one of them in a folder.
fn flours() -> World {
    let world = World::with(&[
        ("rye.md", "# Rye\n\nRye bread needs no flour of wheat.\n"),
        (
            "sub/oats.md",
            "# Oats\n\nOats and rye make a dark bread. #grain\n",
        ),
        ("sub/spelt.md", "# Spelt\n\nSpelt flour is sweet. #grain\n"),
    ]);
    world.ok(&["index"]);
    world
}

fn found_paths(world: &World, args: &[&str]) -> Vec<String> {
    let options = ["--json", "--min-score", "0"];
    let (command, words) = args.split_at(1);
    let body = world.ok(&[command, &options, words].concat()).json();
    let hits = body["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["rel_path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_exclusion_is_never_searched_for() {
    let world = flours();
    assert_eq!(
        found_paths(&world, &["query", "--", "-flour rye"]),
        ["sub/oats.md"]
    );
    assert_eq!(
        found_paths(&world, &["query", "--", "-flour", "rye"]),
        ["sub/oats.md"]
    );
    assert_eq!(
        found_paths(&world, &["search", "lex: -flour rye"]),
        ["sub/oats.md"]
    );
    assert_eq!(
        found_paths(&world, &["query", "tag:grain -flour"]),
        ["sub/oats.md"]
    );
    let both = ["query", "lex: -flour\nvec: which bread is dark?"];
    assert_eq!(found_paths(&world, &both), ["sub/oats.md"]);
    let said = world.usage(&["query", "-flour rye"]);
    assert!(said.contains("query -- '-flour rye'"), "{said}");
}

#[test]
fn a_format_of_json_may_be_named_beside_json() {
    let world = flours();
    let qmd = world.ok(&["query", "rye", "--format", "qmd"]).stdout;
    for args in [["--json", "--format", "qmd"], ["--format", "qmd", "--json"]] {
        let both = world.ok(&[&["query", "rye"][..], &args].concat()).stdout;
        assert_eq!(both, qmd);
    }
    let refused = world.run(&["query", " ", "--json", "--format", "qmd"]);
    assert_eq!(refused.json()["error_code"], "INVALID_QUERY");
    world.usage(&["query", "rye", "--json", "--format", "csv"]);
}

#[test]
fn the_format_of_qmd_lists_a_file_once() {
    let world = World::empty();
    let section = |name: &str| format!("## {name}\n\nRye bread of the kind {name}. {FILLER}\n\n");
    let sections: String = ["Dark", "Light", "Sour", "Sweet"].map(section).concat();
    world.write("a-long.md", &format!("# Rye\n\n{sections}"));
    world.write("b-short.md", "# Flour\n\nRye is a grain.\n");
    world.ok(&["init", "--here"]);
    world.ok(&["index"]);
    let files = |args: &[&str]| -> Vec<String> {
        let all = [&["search", "rye", "--format", "qmd"][..], args].concat();
        let hits: Value = serde_json::from_str(&world.ok(&all).stdout).unwrap();
        let files = hits.as_array().unwrap().iter();
        files
            .map(|hit| hit["file"].as_str().unwrap().to_owned())
            .collect()
    };
    let both = ["qmd://vault/a-long.md", "qmd://vault/b-short.md"];
    for args in [&[][..], &["--all"], &["-n", "2"]] {
        let mut found = files(args);
        found.sort_unstable();
        assert_eq!(found, both, "{args:?}");
    }
    assert_eq!(files(&["-n", "1"]).len(), 1);
}

/// Words that fill a chunk.
const FILLER: &str = "It stands for a night and is baked in the morning, on stone, as it was done \
    here for a hundred years, and is sold in the market hall on Saturdays before noon. ";

#[test]
fn a_query_that_is_read_otherwise_than_typed_says_so() {
    let world = flours();
    let said = |query: &str| world.ok(&["query", query, "--min-score", "0"]).stderr;
    assert!(said("lex: rye\nfoo bar").contains("note: line 2 has no type"));
    assert!(said("author:Ann rye").contains("note: no note has a property `author`"));
    assert!(said("path:nosuch rye").contains("note: no note fits `path:nosuch`"));
    assert_eq!(world.json(&["query", "rye bread"]).get("remarks"), None);
    let remarks = &world.json(&["query", "author:Ann rye"])["remarks"];
    assert!(remarks[0].as_str().unwrap().contains("`author`"));
    assert_eq!(world.code(&["query", "after:x rye"]), "INVALID_QUERY");
    world.ok(&["query", "after:2026 rye"]);
}

#[test]
fn a_path_may_begin_with_its_source() {
    let world = flours();
    for path in [
        "sub",
        "notes/sub",
        "notes:sub",
        "qmd://notes/sub",
        "notes/sub/o*",
    ] {
        let by_option = found_paths(&world, &["query", "dark bread", "--path", path, "-n", "1"]);
        assert_eq!(by_option, ["sub/oats.md"], "{path}");
        let filter = format!("path:\"{path}\"");
        assert!(found_paths(&world, &["query", &filter]).contains(&"sub/oats.md".to_owned()));
    }
    assert!(found_paths(&world, &["query", "path:notes"]).is_empty());
    assert!(found_paths(&world, &["query", "path:other/sub"]).is_empty());
}

#[test]
fn lines_of_a_hit_may_have_numbers() {
    let world = flours();
    let numbered = [
        "query",
        "dark bread",
        "--full",
        "--line-numbers",
        "--no-rerank",
    ];
    let said = world.ok(&numbered).stdout;
    assert!(said.contains("    3  Oats and rye"), "{said}");
}
