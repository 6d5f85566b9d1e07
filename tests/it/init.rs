//! `init`.

use std::fs;

use insta::assert_snapshot;

use crate::harness::World;

#[test]
fn here_writes_one_file_that_works_at_once() {
    let world = World::empty();
    world.write("a.md", "# A\n\nOne.\n");
    assert_snapshot!(world.stable(&world.ok(&["init", "--here"]).stdout), @r#"
    written: <vault>/local-agent.yaml
    source: vault = .
    next: local-agent index && local-agent embed && local-agent ask "your question"
    "#);
    assert_snapshot!(world.stable(&fs::read_to_string(world.vault().join("local-agent.yaml")).unwrap()), @r#"
    # Configuration of local-agent. `local-agent config show` says what is in force and where it comes from;
    # docs/config.md lists every key. Remove the `# ` before a key to change its default.

    # One entry a folder: `name` (unique), `root`, and `kind`, a free word shown with each hit (`notes`
    # when absent). `include` and `exclude` are lists of patterns as in a `.gitignore` (`archive/`,
    # `*.draft.md`): files that `exclude` names, or that `include` does not, do not exist for this
    # program; `exclude` ignores case. `code: true` takes source code for documents, too, and `extensions:
    # [.txt, .org]` files of other kinds (docs/documents.md lists them).
    sources:
      - name: "vault"
        root: "."

    # What may be opened.
    security:
      # Extensions of files that may be read; `index` takes the markdown among them.
      # allowed_exts: [.md, .markdown, .txt, .json]

    # How files are cut into chunks.
    index:
      # Longest chunk in tokens of the embedded model (`obsidian_v2`).
      # max_tokens: 185

    # How evidence is found.
    retrieve:
      # How the two lists become one: by weighted scores, or by reciprocal ranks.
      # fusion: convex

    # How a question is answered and checked.
    ask:
      # Who writes the answer: `extractive`: the best sentences themselves; `ollama`; `openai`: any server
      # with `/v1/chat/completions`; `auto`: Ollama if a chat model is configured and there, else
      # `extractive`.
      # provider: auto
      # Evidence items shown to the answerer.
      # top_n: 8
      # Fail when a sentence of the answer does not pass verification or is in doubt, instead of leaving it
      # out or marking it.
      # strict: false

    # The chat models. Nothing here is contacted unless a command asks a model.
    llm:
      # The chat model; unset: answers are extractive.
      # model: ""
      # The model server: scheme, host, optional port; also of `openai`. `--ollama-base-url`,
      # LOCAL_AGENT_OLLAMA_BASE_URL and OLLAMA_BASE_URL come first.
      # base_url: http://127.0.0.1:11434

    # The audit log.
    runs:
      # Keep the evidence bytes with each run, so that it can be replayed after the files have changed.
      # keep_evidence: false
    "#);
    assert_eq!(world.json(&["index"])["total_docs"], 1);
    assert_eq!(world.json(&["config", "show"])["files"][0]["trusted"], true);
}

#[test]
fn an_existing_configuration_is_replaced_only_when_asked() {
    let world = World::with(&[("a.md", "# A\n")]);
    let file = world.vault().join("local-agent.yaml");
    let before = fs::read(&file).unwrap();
    assert_eq!(world.code(&["init", "--here"]), "CONFIG_ERROR");
    assert_eq!(world.code(&["init", "--here", "--json"]), "CONFIG_ERROR");
    fs::create_dir(world.vault().join("sub")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_snapshot!(world.pretty(world.json(&["init", "--here", "--force", "--source", "other=sub"])), @r#"
    {
      "backup": "<vault>/local-agent.yaml.bak",
      "ok": true,
      "sources": [
        "other"
      ],
      "written": "<vault>/local-agent.yaml"
    }
    "#);
    assert_ne!(fs::read(&file).unwrap(), before);
}

#[test]
fn without_here_the_users_own_configuration_is_written_and_holds_everywhere() {
    let world = World::empty();
    world.write("notes/a.md", "# A\n\nThe zebra.\n");
    let body = world.json(&["init", "--source", "mine=notes"]);
    assert!(
        body["written"]
            .as_str()
            .unwrap()
            .starts_with(world.home().to_str().unwrap()),
        "{body}"
    );
    world.ok(&["index"]);
    assert!(
        !world.state().exists(),
        "the state lies in the user's data folder"
    );
    let output = world
        .command()
        .current_dir(world.root())
        .args(["query", "zebra", "--mode", "lexical", "--files"])
        .output();
    assert_eq!(
        String::from_utf8(output.unwrap().stdout).unwrap(),
        "mine:a.md\n"
    );
}

#[test]
fn sources_are_name_and_folder() {
    let world = World::empty();
    for source in ["notes", "=x", "a b:c=x", "", "nosuch", "n=nosuch"] {
        assert_eq!(
            world.code(&["init", "--here", "--source", source]),
            "INVALID_ARGS",
            "{source}"
        );
    }
    assert!(!world.vault().join("local-agent.yaml").exists());
}

/// Regression: `init notes` was an unexpected argument.
#[test]
fn folders_are_named_with_and_without_the_option() {
    let world = World::empty();
    world.write("notes/a.md", "# A\n\nOne.\n");
    world.write("more/b.md", "# B\n\nTwo.\n");
    let run = world.ok(&["init", "--here", "notes", "--source", "rest=more"]);
    assert!(
        run.stdout
            .contains("source: notes = notes\nsource: rest = more\n"),
        "{}",
        run.stdout
    );
    assert_eq!(world.json(&["index"])["total_docs"], 2);
    let again = world.fails(&["init", "--here", "more"]);
    assert_eq!(again["hint"], "local-agent source add 'more'");
    assert_eq!(world.code(&["init", "nosuch"]), "INVALID_ARGS");
}

#[test]
fn a_folder_that_cannot_be_written_is_a_write_error() {
    let world = World::empty();
    fs::write(world.home().join(".config"), "in the way").unwrap();
    fs::create_dir(world.vault().join("notes")).unwrap();
    assert_eq!(
        world.code(&["init", "--source", "mine=notes"]),
        "WRITE_ERROR"
    );
}

/// Regression: `index` refused what `init` had written.
#[test]
fn a_configuration_in_a_folder_names_nothing_outside_of_it() {
    let world = World::empty();
    for source in ["o=..", "o=../elsewhere", "o=sub/../../elsewhere", "o=/"] {
        assert_eq!(
            world.code(&["init", "--here", "--source", source]),
            "INVALID_ARGS",
            "{source}"
        );
    }
    assert!(!world.vault().join("local-agent.yaml").exists());
    let error = world.fails(&["init", "--here", "--source", "o=../elsewhere"]);
    assert_snapshot!(world.stable(error["error_message"].as_str().unwrap()), @"../elsewhere lies outside of <vault>, the folder that the configuration is for");
    world.write("sub/a.md", "# A\n\nOne.\n");
    let absolute = world.vault().join("sub").display().to_string();
    world.ok(&["init", "--here", "--source", "one=other/../sub"]);
    world.ok(&[
        "init",
        "--here",
        "--force",
        "--source",
        &format!("two={absolute}"),
    ]);
    assert_eq!(world.json(&["index"])["total_docs"], 1);
}

/// Regression: it printed `next: local-agent index`, which fails without a source.
#[test]
fn without_a_source_the_next_step_names_one() {
    let world = World::empty();
    let run = world.ok(&["init"]);
    assert_snapshot!(run.stdout.lines().last().unwrap(), @"next: local-agent source add path/to/notes");
}

/// Regression: `$PWD/notes` behind a link was reported as outside.
#[cfg(unix)]
#[test]
fn a_source_may_be_named_through_a_link_above_the_folder() {
    let world = World::empty();
    world.write("sub/a.md", "# A\n\nOne.\n");
    let link = world.root().join("link");
    std::os::unix::fs::symlink(world.vault(), &link).unwrap();
    let source = format!("one={}", link.join("sub").display());
    let run = world.ok(&["init", "--here", "--source", &source]);
    assert!(run.stdout.contains("source: one = sub\n"), "{}", run.stdout);
    assert_eq!(world.json(&["index"])["total_docs"], 1);
}
