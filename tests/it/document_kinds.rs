//! Documents other than notes: text, Org files and source code, if a source allows them.

use crate::harness::World;

fn world(lines: &str) -> World {
    let world = World::with(&[
        ("bread.md", "# Bread\n\nThe bread rests for nine hours.\n"),
        (
            "log.txt",
            "# not a heading\nThe kettle was descaled on 3 May.\n\nThe grinder was sold in June.\n",
        ),
        (
            "plan.org",
            "#+TITLE: Garden plan\n#+FILETAGS: :garden:\n\n* TODO Pond :water:\nThe pond gets forty carp in April.\n",
        ),
        (
            "src/oven.py",
            "import time\n\n\ndef preheat(minutes):\n    \"\"\"Preheat the furnace chamber.\"\"\"\n    time.sleep(minutes * 60)\n",
        ),
    ]);
    world.write(
        "local-agent.yaml",
        &format!("sources:\n  - name: notes\n    root: .\n{lines}"),
    );
    world.ok(&["index"]);
    world
}

fn paths(world: &World, query: &str) -> Vec<String> {
    let body = world.json(&["query", query, "--min-score", "0"]);
    let hits = body["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["rel_path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn only_notes_are_documents_until_a_source_names_more() {
    let world = world("");
    assert_eq!(world.json(&["status"])["documents"], 1);
    assert!(paths(&world, "carp").is_empty());
    assert_eq!(world.code(&["get", "plan.org"]), "PATH_DENIED");
}

#[test]
fn named_kinds_are_found_read_and_cited() {
    let world = world("    code: true\n    extensions: [.txt, .ORG]\n");
    assert_eq!(world.json(&["status"])["documents"], 4);
    assert_eq!(paths(&world, "carp"), ["plan.org"]);
    assert_eq!(paths(&world, "tag:water"), ["plan.org"]);
    assert_eq!(paths(&world, "kettle descaled"), ["log.txt"]);
    assert_eq!(paths(&world, "furnace chamber"), ["src/oven.py"]);
    let hit = &world.json(&["query", "carp"])["hits"][0];
    assert_eq!(hit["title"], "Garden plan");
    let answer = world.json(&["ask", "How many carp does the pond get?"]);
    assert!(
        answer["answer"].to_string().contains("forty carp"),
        "{answer}"
    );
    assert!(world.ok(&["get", "log.txt"]).stdout.contains("grinder"));
    world.ok(&["doctor", "--no-ollama"]);
}

#[test]
fn what_is_taken_back_is_pruned() {
    let world = world("    extensions: [.txt]\n");
    assert_eq!(world.json(&["status"])["documents"], 2);
    world.write("local-agent.yaml", "sources:\n  - {name: notes, root: .}\n");
    world.ok(&["index"]);
    assert_eq!(world.json(&["status"])["documents"], 1);
}

#[test]
fn source_add_writes_extensions_and_refuses_what_is_none() {
    let world = world("");
    std::fs::create_dir(world.vault().join("more")).unwrap();
    let add = ["source", "add", "more", "--extension", ".txt", "--code"];
    world.ok(&add);
    let listed = world.json(&["source", "list"]);
    assert_eq!(listed["sources"][1]["extensions"][0], ".txt");
    assert_eq!(listed["sources"][1]["code"], true);
    std::fs::create_dir(world.vault().join("other")).unwrap();
    let failure = world.fails(&["source", "add", "other", "--extension", "txt"]);
    assert_eq!(failure["error_code"], "INVALID_ARGS");
    let said = failure["error_message"].as_str().unwrap();
    assert!(said.contains("`txt` is not an extension"), "{said}");
}

#[test]
fn an_org_file_is_read_by_its_headlines() {
    let world = World::empty();
    world.write(
        "c.org",
        "#+TITLE: Haus\n\n* Werkstatt :arbeit:\nDie Drehbank braucht 9 Liter Öl.\n** TODO Filter\n\
         :PROPERTIES:\n:ID: 77\n:END:\nFilter wechseln am Montag.\n#+begin_src sh\n* kein Titel\n#+end_src\n\
         * Einkauf\nMehl fehlt.\n",
    );
    world.write(
        "local-agent.yaml",
        "sources:\n  - {name: notes, root: ., extensions: [.org]}\n",
    );
    world.ok(&["index"]);
    let answer = world.json(&["ask", "Wann Filter wechseln?"]);
    let text = answer["answer"].as_str().unwrap();
    assert!(text.contains("Filter wechseln am Montag."), "{answer}");
    assert!(
        !text.contains("Drehbank") && !text.contains('*') && !text.contains("TODO"),
        "{text}"
    );
    let section = world.ok(&["get", "c.org#Werkstatt"]).stdout;
    assert!(
        section.contains("Drehbank") && !section.contains("Mehl"),
        "{section}"
    );
    let filter = world.ok(&["get", "c.org#Filter"]).stdout;
    assert!(
        filter.contains("am Montag") && !filter.contains("Drehbank"),
        "{filter}"
    );
    let outline = world
        .ok(&["tool", "run", "outline", "--arg", "path=c.org"])
        .stdout;
    assert!(
        outline.contains("Werkstatt") && outline.contains("Einkauf"),
        "{outline}"
    );
    assert!(!outline.contains("kein Titel"), "{outline}");
    assert_eq!(world.json(&["query", "tag:arbeit"])["count"], 1);
    assert_eq!(world.json(&["query", "Mehl"])["hits"][0]["line"], 14);
    world.ok(&["doctor", "--no-ollama"]);
}
