//! `conflicts`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::World;

/// Notes that state their day, with two contradictions.
const DATED: [(&str, &str); 2] = [
    (
        "projects/harbour.md",
        "---\ndate: 2026-01-10\n---\n# Harbour\n\nThe Lisbon harbour budget is 5 million euros. The old \
         crane of Lisbon lifts 12 tonnes.\n\n- Opening of the Lisbon pier: 3 May 2026\n- Owner: Ann\n",
    ),
    (
        "meetings/2026-03-02 harbour.md",
        "# Meeting\n\nPresent: Ann, Bob.\n\nThe budget of the Lisbon harbour is **7 million euros**.\n\
         The new crane of Lisbon lifts 20 tonnes.\n\n- Opening of the Lisbon pier: 9 May 2026\n",
    ),
];

/// The notes of [`DATED`], notes with two more contradictions, and many that only look
/// contradictory.
fn harbour() -> World {
    let world = World::with(&DATED);
    for (path, text) in [
        (
            "server/install.md",
            "# Server\n\n| Setting | Default |\n| --- | --- |\n| port | 8080 |\n| workers | 4 |\n",
        ),
        (
            "server/reference.md",
            "# Server\n\n| Setting | Default |\n| --- | --- |\n| port | 9090 |\n| workers | 4 |\n",
        ),
        ("shop/a.md", "# Shop\n\nThe shop in Porto opens at 9:00.\n"),
        (
            "shop/b.md",
            "# Hours\n\nThe shop in Porto opens at 10:00.\n",
        ),
        (
            "daily/2026-02-01.md",
            "Weight of Ann: 61 kg. Bob ran 5 km in Porto.\n",
        ),
        (
            "daily/2026-02-02.md",
            "Weight of Ann: 62 kg. Bob ran 7 km in Porto.\n",
        ),
        (
            "bread/rye.md",
            "# Rye\n\nSalt: 10 g. Bake for 50 minutes.\n",
        ),
        (
            "bread/wheat.md",
            "# Wheat\n\nSalt: 12 g. Bake for 40 minutes.\n",
        ),
    ] {
        world.write(path, text);
    }
    world.ok(&["index"]);
    world
}

/// The values of both sides of each conflict.
fn values(body: &Value) -> Vec<String> {
    let value = |side: &Value| side["value"].as_str().unwrap().to_owned();
    let conflicts = body["conflicts"].as_array().unwrap().iter();
    let mut all: Vec<String> = conflicts
        .map(|one| format!("{} / {}", value(&one["a"]), value(&one["b"])))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn notes_that_contradict_each_other_are_listed_with_their_days() {
    let world = World::with(&DATED);
    world.ok(&["index"]);
    let run = world.ok(&["conflicts", "--path", "projects"]);
    assert_eq!(run.stdout, "No conflicts in 1 passage.\n");
    let run = world.ok(&["conflicts"]);
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @r"
    The budget of the Lisbon harbour is **…**.
        7 million euros  notes:meetings/2026-03-02 harbour.md:5  2026-03-02, newest
            The budget of the Lisbon harbour is **7 million euros**.
        5 million euros  notes:projects/harbour.md:6  2026-01-10
            The Lisbon harbour budget is 5 million euros.

    Opening of the Lisbon pier: …
        9 May 2026  notes:meetings/2026-03-02 harbour.md:8  2026-03-02, newest
            Opening of the Lisbon pier: 9 May 2026
        3 May 2026  notes:projects/harbour.md:8  2026-01-10
            Opening of the Lisbon pier: 3 May 2026

    2 conflicts in 2 passages.
    ");
}

#[test]
fn the_values_of_the_same_thing_and_nothing_else_are_compared() {
    let world = harbour();
    let body = world.json(&["conflicts"]);
    assert_eq!(
        values(&body),
        [
            "7 million euros / 5 million euros",
            "8080 / 9090",
            "9 May 2026 / 3 May 2026",
            "9:00 / 10:00",
        ]
    );
    assert_eq!((&body["found"], &body["topic"]), (&4.into(), &Value::Null));
    assert_eq!(body["compared"], body["passages"]);
    let mut conflicts = body["conflicts"].as_array().unwrap().iter();
    let budget = conflicts
        .find(|one| one["a"]["value"] == "7 million euros")
        .unwrap();
    let (a, b) = (&budget["a"], &budget["b"]);
    assert_eq!(a["note"], "notes:meetings/2026-03-02 harbour.md");
    assert_eq!(
        (&a["is_newest"], &b["is_newest"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        (&b["date"], &b["date_is_stated"]),
        (&"2026-01-10".into(), &true.into())
    );
    assert_eq!((&a["fresh"], &a["line"]), (&true.into(), &5.into()));
    let key = a["chunk_key"].as_str().unwrap();
    let passage = world.json(&["get", &format!("#{key}")]);
    assert!(passage["text"].as_str().unwrap().contains("7 million"));
}

#[test]
fn a_topic_and_limits_narrow_what_is_compared() {
    let world = harbour();
    let body = world.json(&["conflicts", "Porto", "shop"]);
    assert_eq!(values(&body), ["9:00 / 10:00"]);
    assert_eq!(body["topic"], "Porto shop");
    let body = world.json(&["conflicts", "--path", "server"]);
    assert_eq!(values(&body), ["8080 / 9090"]);
    let body = world.json(&["conflicts", "--limit", "1"]);
    assert_eq!(
        (body["conflicts"].as_array().unwrap().len(), &body["found"]),
        (1, &4.into())
    );
    assert_eq!(
        world.code(&["conflicts", "--source", "none", "--json"]),
        "INVALID_ARGS"
    );
}

#[test]
fn a_file_that_changed_since_it_was_indexed_is_named() {
    let world = harbour();
    world.write("shop/a.md", "# Shop\n\nThe shop in Porto opens at 10:00.\n");
    let body = world.json(&["conflicts", "--path", "shop"]);
    assert_eq!(body["index_stale"], serde_json::json!(["notes:shop/a.md"]));
    let run = world.ok(&["conflicts", "--path", "shop"]);
    assert!(
        run.stderr.contains("notes:shop/a.md changed"),
        "{}",
        run.stderr
    );
    world.ok(&["index"]);
    assert!(values(&world.json(&["conflicts", "--path", "shop"])).is_empty());
}
