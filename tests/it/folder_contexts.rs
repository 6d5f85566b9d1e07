//! `context` and `import`: notes about folders, and folders of other programs.

use crate::harness::World;

fn world() -> World {
    let world = World::with(&[
        ("projects/oven.md", "# Oven\n\nThe oven needs a new door.\n"),
        ("bread.md", "# Bread\n\nThe bread rests beside the oven.\n"),
    ]);
    world.ok(&["index"]);
    world
}

#[test]
fn the_longest_folders_text_comes_with_every_hit() {
    let world = world();
    world.ok(&[
        "context",
        "add",
        "notes",
        "everything",
        "about",
        "the",
        "bakery",
    ]);
    world.ok(&[
        "context",
        "add",
        "qmd://notes/projects",
        "one file a project",
    ]);
    let hits = world.json(&["query", "oven", "--min-score", "0"])["hits"].clone();
    let of = |path: &str| {
        let hits = hits.as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["rel_path"] == path).unwrap();
        hit["context"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("projects/oven.md"), "one file a project");
    assert_eq!(of("bread.md"), "everything about the bakery");
    assert!(
        world
            .ok(&["query", "oven", "--format", "qmd"])
            .stdout
            .contains("one file a project")
    );
    let printed = world.ok(&["query", "oven", "--min-score", "0"]).stdout;
    assert!(
        printed.contains("    about this folder: one file a project\n"),
        "{printed}"
    );
    for format in ["--csv", "--md", "--xml"] {
        let printed = world.ok(&["query", "oven", format]).stdout;
        assert!(printed.contains("one file a project"), "{printed}");
    }
    let listed = world.ok(&["context", "list"]).stdout;
    assert_eq!(
        listed,
        "notes\teverything about the bakery\nnotes/projects\tone file a project\n"
    );
    world.ok(&["context", "rm", "notes/projects"]);
    assert_eq!(world.json(&["context", "list"])["count"], 1);
    world.ok(&["config", "check"]);
}

/// A folder without the name of its only source was taken for the name of a source.
#[test]
fn a_folder_of_the_only_source_needs_no_source() {
    let world = world();
    for place in ["projects", "./projects/", "projects/oven.md"] {
        let run = world.ok(&["context", "add", place, "one file a project"]);
        assert_eq!(run.stderr, "", "{place}");
        assert!(
            world
                .ok(&["context", "list"])
                .stdout
                .starts_with("notes/projects")
        );
        world.ok(&["context", "rm", place]);
    }
    world.ok(&["context", "add", "projects", "one file a project"]);
    std::fs::remove_dir_all(world.vault().join("projects")).unwrap();
    world.ok(&["context", "rm", "projects"]);
}

#[test]
fn places_that_are_not_there_are_refused() {
    let world = world();
    assert_eq!(
        world.code(&["context", "add", "nosuch/a", "x"]),
        "INVALID_ARGS"
    );
    assert_eq!(
        world.code(&["context", "remove", "notes/a"]),
        "INVALID_ARGS"
    );
}

#[test]
fn a_folder_that_is_not_there_is_said_with_the_nearest_name() {
    let world = world();
    let run = world.ok(&["context", "add", "notes/project", "one file a project"]);
    assert_eq!(
        run.stderr,
        "warning: there is no folder `notes/project` yet; like it are: projects\n"
    );
    let run = world.ok(&["context", "add", "notes/projects", "one file a project"]);
    assert_eq!(run.stderr, "");
}

#[test]
fn folders_of_qmd_become_sources_with_their_contexts() {
    let world = World::with(&[
        ("a/one.md", "# One\n\nA kite.\n"),
        ("b/two.txt", "Two kites.\n"),
    ]);
    let config = world.home().join(".config/qmd");
    std::fs::create_dir_all(&config).unwrap();
    let text = format!(
        "collections:\n  kites:\n    path: {0}/a\n    pattern: \"**/*.md\"\n    context:\n      \"/\": All about kites\n  more:\n    path: {0}/b\n    pattern: \"**/*.txt\"\n  gone:\n    path: /nosuch\n    pattern: \"**/*.md\"\n",
        world.vault().display()
    );
    std::fs::write(config.join("index.yml"), text).unwrap();
    let done = world.json(&["import", "qmd"]);
    assert_eq!(done["added"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(done["contexts"], 1);
    assert!(done["left_out"].to_string().contains("/nosuch"), "{done}");
    world.ok(&["index"]);
    let hits = world.json(&["query", "kites", "--source", "more", "--min-score", "0"]);
    assert_eq!(hits["hits"][0]["rel_path"], "two.txt", "{hits}");
    let again = world.json(&["import", "qmd"]);
    assert!(again["added"].as_array().unwrap().is_empty(), "{again}");
    // All of it is one change of the configuration.
    let backups = std::fs::read_dir(world.vault()).unwrap();
    let backups = backups.filter(|one| {
        let name = one.as_ref().unwrap().file_name();
        name.to_string_lossy().contains(".bak")
    });
    assert_eq!(backups.count(), 1);
    // The second time nothing is duplicated and nothing is lost.
    let again = world.json(&["import", "qmd"]);
    assert_eq!(again["added"].as_array().unwrap().len(), 0, "{again}");
    assert_eq!(world.json(&["source", "list"])["count"], 3);
}

#[test]
fn without_a_configuration_of_the_other_program_the_hint_names_a_file() {
    let world = world();
    assert_eq!(world.code(&["import", "gno"]), "FILE_NOT_FOUND");
}

#[test]
fn a_place_may_be_a_path_and_this_folder_needs_no_name() {
    let world = World::with(&[("projects/kite.md", "# Kite\n\nRed.\n")]);
    let listed = || world.ok(&["context", "list"]).stdout;
    world.ok(&["context", "add", "these are all my notes"]);
    assert_eq!(listed(), "notes\tthese are all my notes\n");
    // A text that is there is not replaced by a forgotten one.
    let taken = world.fails(&["context", "add", "only mine", "--json"]);
    assert_eq!(
        (&taken["error_message"], &taken["hint"]),
        (
            &"`notes` has a text already: these are all my notes".into(),
            &"local-agent context add . 'only mine'".into()
        )
    );
    world.write("my folder/a.md", "# A\n");
    for place in ["projects", "my folder", "notes/my folder"] {
        let alone = world.fails(&["context", "add", place, "--json"]);
        let message = format!("what `{place}` holds is missing");
        assert_eq!(alone["error_message"], message.as_str());
    }
    world.ok(&["context", "add", ".", "only mine"]);
    let projects = world.vault().join("projects");
    let projects = projects.to_str().unwrap();
    world.ok(&["context", "add", projects, "one file a project"]);
    assert_eq!(
        listed(),
        "notes\tonly mine\nnotes/projects\tone file a project\n"
    );
    let outside = world.fails(&["context", "add", "../home", "x", "--json"]);
    assert!(
        outside["error_message"]
            .as_str()
            .unwrap()
            .ends_with("/home is in no source"),
        "{outside}"
    );
    world.ok(&["context", "rm", "./projects"]);
    assert_eq!(listed(), "notes\tonly mine\n");
}

#[test]
fn contexts_of_the_users_own_file_are_not_copied_into_the_file_of_a_folder() {
    let world = World::empty();
    world.write("../mine/a.md", "# A\n\nBlue.\n");
    let mine = world.root().join("mine");
    let own = |args: &[&str]| world.ok(&[&["-C", mine.to_str().unwrap()], args].concat());
    own(&["source", "add", ".", "--name", "notes"]);
    own(&["context", "add", "notes", "my own"]);
    own(&["context", "add", "/", "a private remark"]);
    world.write("b.md", "# B\n\nRed.\n");
    world.ok(&["init", "--here", "--source", "notes=."]);
    world.ok(&["context", "add", "notes", "of the folder"]);
    assert_eq!(
        world.ok(&["context", "list"]).stdout,
        "notes\tof the folder\n"
    );
    assert_eq!(
        own(&["context", "list"]).stdout,
        "notes\tmy own\n/\ta private remark\n"
    );
}

#[test]
fn a_text_that_is_not_in_force_here_is_said_and_no_other_is_lost() {
    let world = World::empty();
    world.write("sub/a.md", "# A\n\nBlue.\n");
    world.ok(&["source", "add", "sub", "--name", "notes"]);
    world.ok(&["context", "add", "notes", "of the user"]);
    world.write(
        "sub/local-agent.yaml",
        "contexts: [\"notes: of the folder\"]\n",
    );
    let sub = world.vault().join("sub");
    let here = ["-C", sub.to_str().unwrap()];
    world.ok(&[&here[..], &["config", "trust"]].concat());
    let added = world.ok(&[&here[..], &["context", "add", "notes/x", "more"]].concat());
    assert!(
        added.stderr.contains("are not in force here"),
        "{}",
        added.stderr
    );
    assert_eq!(added.stdout, "notes\tof the folder\n");
    assert_eq!(
        world.ok(&["context", "list"]).stdout,
        "notes\tof the user\nnotes/x\tmore\n"
    );
}
