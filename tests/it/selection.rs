//! `include` and `exclude` of a source: for every command, the files that they leave out do not
//! exist.

use crate::harness::World;

fn vault() -> World {
    World::with(&[
        ("bread.md", "# Bread\n\nThe bread rests for nine hours.\n"),
        (
            "archive/old.md",
            "# Old bread\n\nThe old bread rested for two hours.\n",
        ),
        (
            "plan.draft.md",
            "# Plan\n\nThe bread of tomorrow is a draft.\n",
        ),
    ])
}

fn configure(world: &World, lines: &str) {
    world.write(
        "local-agent.yaml",
        &format!("sources:\n  - name: notes\n    root: .\n{lines}"),
    );
}

#[test]
fn what_a_source_excludes_is_neither_found_nor_read() {
    let world = vault();
    configure(&world, "    exclude: [archive/, \"*.draft.md\"]\n");
    world.ok(&["index"]);
    assert_eq!(world.json(&["status"])["documents"], 1);
    let hits = world.json(&["query", "bread", "--min-score", "0"]);
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "{hits}");
    assert_eq!(world.code(&["get", "archive/old.md"]), "PATH_DENIED");
    assert_eq!(world.code(&["get", "notes:plan.draft.md"]), "PATH_DENIED");
    assert_eq!(world.code(&["get", "notes:Archive/OLD.md"]), "PATH_DENIED");
    assert_eq!(
        world.code(&["ask", "What does it say?", "--read", "archive/old.md"]),
        "PATH_DENIED"
    );
}

#[test]
fn what_a_source_does_not_include_is_pruned_at_the_next_index() {
    let world = vault();
    configure(&world, "");
    world.ok(&["index"]);
    assert_eq!(world.json(&["status"])["documents"], 3);
    configure(&world, "    include: [archive/]\n");
    world.ok(&["index"]);
    let hits = world.json(&["query", "bread", "--min-score", "0"]);
    let found: Vec<&str> = hits["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["rel_path"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["archive/old.md"]);
}

#[test]
fn a_pattern_that_cannot_be_read_is_a_typed_failure_that_names_its_line() {
    let world = vault();
    configure(&world, "    exclude: [\"[z-a]\"]\n");
    let envelope = world.run(&["index", "--json"]).json();
    assert_eq!(envelope["error_code"], "CONFIG_ERROR");
    let message = envelope["error_message"].as_str().unwrap();
    assert!(message.contains("`[z-a]`"), "{message}");
}

#[test]
fn source_add_writes_the_patterns_and_rename_keeps_them() {
    let world = vault();
    configure(&world, "");
    std::fs::create_dir(world.vault().join("more")).unwrap();
    world.ok(&[
        "source",
        "add",
        "more",
        "--name",
        "more",
        "--exclude",
        "*.tmp.md",
        "--include",
        "a/",
    ]);
    world.ok(&["source", "rename", "more", "others"]);
    let text = std::fs::read_to_string(world.vault().join("local-agent.yaml")).unwrap();
    assert!(
        text.contains("include: [\"a/\"]") || text.contains("include: [a/]"),
        "{text}"
    );
    assert!(text.contains("*.tmp.md"), "{text}");
}
