//! `config show`, `config check`, `config trust`.

use insta::assert_snapshot;

use crate::harness::World;

/// A folder whose configuration names a source outside it.
fn greedy() -> World {
    let world = World::empty();
    world.write(
        "../private/diary.md",
        "# Diary\n\nThe safe opens with 4711.\n",
    );
    world.write(
        "local-agent.yaml",
        "sources:\n  - {name: private, root: ../private}\nstate_dir: .local-agent\n",
    );
    world
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let world = World::with(&[("a.md", "# A\n")]);
    let run = world.ok(&["config", "show", "--ollama-base-url", "http://127.0.0.1:9"]);
    assert_eq!(run.stderr, "");
    let shown = world.stable(&run.stdout);
    let lines = |words: &[&str]| {
        shown
            .lines()
            .filter(|line| words.iter().any(|word| line.starts_with(word)))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_snapshot!(lines(&["file:", "workroot", "sources", "index.db_path", "ask.top_n", "llm.base_url"]), @r#"
    file: <vault>/local-agent.yaml (found, trusted)
    workroot = "<vault>"  # found <vault>/local-agent.yaml
    sources = [{"kind":"notes","name":"notes","root":"<vault>"}]  # <vault>/local-agent.yaml:9
    index.db_path = "<vault>/.local-agent/index.sqlite"  # default
    ask.top_n = 8  # default
    llm.base_url = "http://127.0.0.1:9"  # flag --ollama-base-url
    "#);
    let body = world.json(&["config", "show"]);
    let settings = body["settings"].as_array().unwrap();
    assert!(
        settings
            .iter()
            .all(|s| s["key"].is_string() && s["origin"].is_string() && s.get("value").is_some())
    );
    assert_eq!(body["files"][0]["kind"], "found");
}

#[test]
fn a_good_configuration_is_said_to_be_good() {
    let world = World::with(&[("a.md", "# A\n")]);
    assert_snapshot!(world.ok(&["config", "check"]).stdout, @"configuration: ok (1 source)");
    assert_eq!(
        world.json(&["config", "check"])["problems"],
        serde_json::json!([])
    );
}

#[test]
fn w51_unknown_keys_and_wrong_values_are_named_with_file_and_line() {
    let world = World::empty();
    world.write(
        "local-agent.yaml",
        "sources: [{name: notes, root: .}]\nask:\n  strict: ture\n  topn: 3\nembed: {batch_tokens: -1}\n",
    );
    let run = world.run(&["config", "check"]);
    assert_eq!(run.code, 1);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    error[CONFIG_ERROR]: <vault>/local-agent.yaml:3: `ask.strict` takes `true` or `false`, not `ture`
    fix: write `true`
    error[CONFIG_ERROR]: <vault>/local-agent.yaml:4: there is no key `ask.topn`; did you mean `ask.top_n`?
    fix: write `ask.top_n`; docs/config.md lists every key
    error[CONFIG_ERROR]: <vault>/local-agent.yaml:5: `embed.batch_tokens` takes a whole number, 64 to 1048576, not `-1`
    fix: mend line 5 of <vault>/local-agent.yaml, then run `local-agent config check`
    "#);
    let run = world.run(&["config", "check", "--json"]);
    assert_eq!(
        (run.code, run.json()["problems"].as_array().unwrap().len()),
        (1, 3)
    );
    for args in [
        &["index"][..],
        &["query", "x"],
        &["ask", "x"],
        &["get", "a.md"],
        &["status", "--json"],
        &["embed"],
    ] {
        assert_eq!(world.code(args), "CONFIG_ERROR", "{args:?}");
    }
    world.write("local-agent.yaml", "sources: [\n");
    assert_eq!(world.code(&["index"]), "CONFIG_ERROR");
    assert_eq!(
        world.code(&["index", "--config", "nowhere.yaml"]),
        "CONFIG_ERROR"
    );
}

#[test]
fn c31_a_found_configuration_opens_nothing_outside_before_it_is_trusted() {
    let world = greedy();
    let before = world.photograph();
    for args in [
        &["index"][..],
        &["index", "--json"],
        &["ask", "safe?"],
        &["get", "private:diary.md"],
    ] {
        assert_eq!(world.code(args), "CONFIG_UNTRUSTED", "{args:?}");
        world.is_as(&before, args);
    }
    let run = world.run(&["config", "check"]);
    assert_eq!(run.code, 1);
    assert_snapshot!(world.stable(&run.stdout), @r#"
    error[CONFIG_UNTRUSTED]: <vault>/local-agent.yaml asks for more than its own folder: line 2 (the source `private` is outside its folder)
    fix: read those lines; if you agree to them, run `local-agent config trust`
    "#);
    assert_snapshot!(world.stable(&world.ok(&["config", "trust"]).stdout), @"trusted: <vault>/local-agent.yaml as it is now (sha256 <sha256>)");
    assert_eq!(
        world.run(&["config", "check"]).code,
        1,
        "agreement does not widen the security root"
    );
    world.write(
        "local-agent.yaml",
        "sources:\n  - {name: private, root: ../private}\nsecurity: {roots_must_be_within_security_root: false}\n",
    );
    assert_eq!(
        world.code(&["index"]),
        "CONFIG_UNTRUSTED",
        "any edit asks again"
    );
    let body = world.json(&["config", "trust", "local-agent.yaml"]);
    assert_eq!(body["sha256"].as_str().unwrap().len(), 64);
    world.ok(&["index"]);
    assert_eq!(
        world.json(&["query", "safe", "--mode", "lexical"])["count"],
        1
    );
}

#[test]
fn there_must_be_something_to_trust() {
    let world = World::empty();
    assert_eq!(world.code(&["config", "trust"]), "CONFIG_ERROR");
    assert_eq!(
        world.code(&["config", "trust", "nowhere.yaml", "--json"]),
        "CONFIG_ERROR"
    );
}

#[test]
fn a_server_address_that_is_none_is_found_by_the_check() {
    let world = World::with(&[("a.md", "# A\n")]);
    for url in [
        "http://127.0.0.1:9/../path",
        "http://user:word@127.0.0.1",
        "ftp://127.0.0.1",
        "http://127.0.0.1?x=1",
        "nonsense",
    ] {
        let run = world.run(&["config", "check", "--json", "--ollama-base-url", url]);
        assert_eq!(
            (run.code, run.json()["problems"][0]["error_code"].as_str()),
            (1, Some("CONFIG_ERROR")),
            "{url}"
        );
    }
    world.ok(&[
        "config",
        "check",
        "--ollama-base-url",
        "http://127.0.0.1:9/",
    ]);
}

#[test]
fn a_server_cannot_be_asked_for_the_choice_of_a_compiled_in_model() {
    let world = World::empty();
    world.write(
        "local-agent.yaml",
        "sources: [{name: n, root: .}]\nembed: {provider: ollama, model: auto}\n",
    );
    let envelope = world.fails(&["index", "--json"]);
    assert_eq!(envelope["error_code"], "CONFIG_ERROR");
    let message = envelope["error_message"].as_str().unwrap();
    assert!(message.contains("embed.model: auto"), "{message}");
    // The suggested fix, done by hand.
    world.write(
        "local-agent.yaml",
        "sources: [{name: n, root: .}]\nembed: {provider: ollama, model: nomic-embed-text}\n",
    );
    world.ok(&["config", "check"]);
}
