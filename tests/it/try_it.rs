//! `try`.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::World;

#[test]
fn a_folder_is_answered_from_at_once_and_nothing_is_written_into_it() {
    let world = World::empty();
    world.write(
        "zoo/zebra.md",
        "# Zebra\n\nThe zebra eats 14 apples a day.\n",
    );
    world.write(
        "zoo/lion.md",
        "# Lion\n\nThe lion eats 9 kg of meat a day.\n",
    );
    let zoo = |world: &World| {
        world
            .photograph()
            .into_iter()
            .filter(|f| f.0.starts_with(world.vault()))
            .collect::<Vec<_>>()
    };
    let before = zoo(&world);
    let args = ["try", "zoo", "How many apples does the zebra eat a day?"];
    let run = world.ok(&args);
    assert_eq!(run.stderr, "");
    assert_snapshot!(world.stable(&run.stdout), @r#"
    ? How many apples does the zebra eat a day?
    The zebra eats 14 apples a day.   [1]

    [1] zebra.md:3 › Zebra
    1 statement, word for word from your notes

    2 notes, 2 chunks; found by meaning: 2 of 2.
    "#);
    assert!(zoo(&world) == before);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let state = world.json(&args)["state"].as_str().unwrap().to_owned();
        let mode = std::fs::metadata(state).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "the notes' text is in it");
    }
    let again = world.json(&args);
    assert_eq!(
        again["embed"]["embedded_written"], 0,
        "a second run goes on where the first stopped"
    );
    assert_eq!(
        (
            &again["index"]["docs_changed"],
            &again["answers"][0]["outcome"]
        ),
        (&json!(0), &json!("answered"))
    );
}

#[test]
fn without_a_budget_words_alone_answer() {
    let world = World::empty();
    world.write(
        "zoo/zebra.md",
        "# Zebra\n\nThe zebra eats 14 apples a day.\n",
    );
    let body = world.json(&[
        "try",
        "--budget",
        "0",
        "zoo",
        "How many apples does the zebra eat a day?",
    ]);
    assert_eq!(
        (&body["embed"], &body["answers"][0]["outcome"]),
        (&json!(null), &json!("answered"))
    );
    assert_eq!(
        body["answers"][0]["coverage"],
        json!({"chunks": 1, "embedded": 0})
    );
    let none = world.json(&["try", "--budget", "0", "zoo", "Who painted the ceiling?"]);
    assert_eq!(
        (
            &none["answers"][0]["outcome"],
            &none["answers"][0]["answer"]
        ),
        (&json!("abstained"), &json!(null))
    );
    assert!(
        body["state"]
            .as_str()
            .unwrap()
            .starts_with(world.home().to_str().unwrap())
    );
}

#[test]
fn without_arguments_the_example_inside_the_program_is_asked() {
    let world = World::empty();
    let run = world.ok(&["try", "--budget", "0"]);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    ? At what temperature and humidity does the proofbox hold sourdough?
    The proofbox holds sourdough at 27 °C and 78 % relative humidity. For shokupan it is set to 32 °C and 80 %.   [1]

    Dough              Temperature  Humidity  Time
    Country sourdough  27 °C        78 %      3 h 30 min   [1]

    [1] projects/Proofbox.md:14 › Proofbox, lines 14-18
    3 statements: 2 word for word from your notes, 1 quoted in part

    ? Why did we move the order book from PostgreSQL to SQLite?
    - We moved the order book to SQLite because nobody but me could restart or restore the PostgreSQL server.
    - Two tablets write about 160 orders a day; SQLite in WAL mode handles that without noticing.   [1]

    [1] decisions/D-007 Order book on SQLite.md:20 › D-007 Move the order book to SQLite, lines 20-21
    2 statements, word for word from your notes

    ? How do I restore the order book from a backup?
    To restore the order book, stop the program, copy the newest backup over orders.sqlite, and start the program again.

        # everything a tired person needs at 3 am
        sudo systemctl stop orderbook
        cp /srv/backup/orders-latest.sqlite /srv/orders/orders.sqlite
        sudo systemctl start orderbook

    Then open the pick-up list on a tablet and compare three names with the paper list from the night. The last restore test was on 15 February 2026 and took six minutes.   [1]

    [1] how-to/Back up the order book.md:31 › Back up the order book, lines 31-40
    4 statements, word for word from your notes

    60 notes, 130 chunks; found by meaning: 0 of 130.
    Run it again without `--budget 0` to search by meaning too.
    "#);
    let run = world.ok(&["try", "--budget", "0", "What is Leyla allergic to?"]);
    assert!(
        run.stdout.contains("Leyla is allergic to hazelnuts."),
        "{}",
        run.stdout
    );
    assert_eq!(world.vault().read_dir().unwrap().count(), 0);
}

#[test]
fn a_folder_without_a_question_is_prepared_and_a_missing_folder_is_refused() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n")]);
    let run = world.ok(&["try", "--budget", "0", "."]);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    1 note, 1 chunk; found by meaning: 0 of 1.
    Run it again without `--budget 0` to search by meaning too.
    Ask: local-agent try '<vault>' "your question"
    "#);
    assert_eq!(
        world.code(&["try", "nowhere", "a question"]),
        "INVALID_ARGS"
    );
    world.usage(&["try", "--budget", "soon"]);
}

/// Neither the caller's configuration nor the user's has any effect.
#[test]
fn a_broken_configuration_nearby_does_not_matter() {
    let world = World::empty();
    world.write("local-agent.yaml", "sauces: 1\n");
    world.write(
        "zoo/zebra.md",
        "# Zebra\n\nThe zebra eats 14 apples a day.\n",
    );
    world.ok(&["try", "--budget", "0", "zoo", "What does the zebra eat?"]);
}
