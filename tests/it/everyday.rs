//! Everyday commands, and commands in the form that users of other programs type.

use std::fs;

use serde_json::Value;

use crate::harness::World;

/// Two notes that link to each other, one with a block and a tag, one alias.
fn linked() -> World {
    let world = World::with(&[
        (
            "Sync/Conflicts.md",
            "---\ntags: [sync]\naliases: [Clashes]\n---\n# Conflicts\n\nSync conflicts are kept as two files.\n\n\
             ## Mending\n\nOpen both files and delete one. ^mend\n\nSee [[Wikilinks]] and [home](../Home.md).\n",
        ),
        (
            "Wikilinks.md",
            "# Wikilinks\n\nA wikilink is written with two brackets. #writing\n",
        ),
        (
            "Home.md",
            "# Home\n\n[[Conflicts|what to do]] and [[Nobody]]. #writing/start\n",
        ),
    ]);
    world.ok(&["index"]);
    world
}

fn text_of(world: &World, address: &str) -> String {
    world.json(&["get", address])["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The files in a list of hits, best first.
fn files(run: &str) -> Vec<&str> {
    run.lines().collect()
}

#[test]
fn the_daily_commands_of_a_qmd_user_work_as_they_are_typed() {
    let world = World::empty();
    world.write(
        "notes/a.md",
        "# Sync\n\nSync conflicts are kept as two files.\n",
    );
    world.write("notes/b.md", "# Bread\n\nRye flour. #baking\n");
    for command in [
        &["collection", "add", "notes", "--name", "mine"][..],
        &["update"],
        &["embed"],
        &["collection", "list"],
        &["ls"],
        &["ls", "mine"],
        &["search", "sync", "conflicts"],
        &["search", "sync", "-n", "3", "-c", "mine", "--full"],
        &["search", "sync", "-c", " mine , mine"],
        &["vsearch", "files", "kept", "twice"],
        &[
            "query",
            "sync conflicts",
            "--all",
            "--min-score",
            "0.1",
            "--csv",
        ],
        &["query", "sync conflicts", "--md"],
        &["query", "sync conflicts", "--xml"],
        &["query", "sync conflicts", "--files", "--full-path"],
        &["query", "sync conflicts", "--json"],
        &[
            "query",
            "lex: sync\nvec: what is kept twice?\nhyde: Two files are kept.",
        ],
        &["get", "mine/a.md"],
        &["get", "a.md", "-l", "2", "--from", "1"],
        &["multi-get", "a.md, b.md", "-l", "1"],
        &["status"],
        &["collection", "rename", "mine", "yours"],
        &["collection", "remove", "yours"],
    ] {
        let run = world.run(command);
        assert_eq!(run.code, 0, "{command:?}\n{}\n{}", run.stdout, run.stderr);
    }
}

#[test]
fn words_need_no_quotes_and_formats_show_the_same_hits() {
    let world = linked();
    let quoted = world.json(&["query", "sync conflicts", "--mode", "lexical"]);
    let bare = world.json(&["search", "sync", "conflicts"]);
    assert_eq!(bare["hits"], quoted["hits"]);
    assert_eq!(bare["query"], "sync conflicts");
    assert_eq!(bare["hits"][0]["line"], 7);
    let qmd: Value =
        serde_json::from_str(&world.ok(&["search", "sync", "--format", "qmd"]).stdout).unwrap();
    let hit = &qmd[0];
    assert_eq!(hit["file"], "qmd://notes/Sync/Conflicts.md");
    assert_eq!(
        (&hit["title"], &hit["line"]),
        (&"Conflicts".into(), &7.into())
    );
    assert!(hit["snippet"].as_str().unwrap().contains("Sync conflicts"));
    // The id in another program's format finds the text again.
    let docid = hit["docid"].as_str().unwrap();
    assert!(text_of(&world, docid).contains("Sync conflicts"));
    let csv = world.ok(&["search", "sync", "--csv"]).stdout;
    let mut records = csv.split("\r\n");
    assert_eq!(
        records.next(),
        Some("docid,score,file,title,context,line,snippet")
    );
    assert!(records.next().unwrap().starts_with(docid));
    world.usage(&["query", "x", "--csv", "--xml"]);
    world.usage(&["query", "x", "--csv", "--json"]);
}

#[test]
fn a_hit_is_a_place_a_trail_and_the_words_with_what_was_asked_for() {
    let world = linked();
    let run = world.ok(&["search", "delete", "files"]);
    let shown = world.stable(&run.stdout);
    let mut lines = shown.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("Sync/Conflicts.md:"), "{shown}");
    assert!(first.contains("  Conflicts  0."), "{shown}");
    assert!(lines.next().unwrap().starts_with("    "), "{shown}");
    assert!(!shown.contains("provenance"), "{shown}");
    let explained = world.ok(&["search", "delete", "files", "--explain"]).stdout;
    assert!(
        explained.contains("provenance: source=notes"),
        "{explained}"
    );
    let coloured = world.ok(&["search", "delete", "--color", "always"]).stdout;
    assert!(
        coloured.contains("\u{1b}[1;4mdelete\u{1b}[0m"),
        "{coloured:?}"
    );
}

#[test]
fn hits_below_the_floor_are_not_listed() {
    let world = World::example();
    let usual = world.json(&[
        "query",
        "When does the market open on Saturday",
        "--mode",
        "lexical",
        "-n",
        "50",
    ]);
    let all = world.json(&[
        "query",
        "When does the market open on Saturday",
        "--mode",
        "lexical",
        "-n",
        "50",
        "--min-score",
        "0",
    ]);
    assert!(usual["count"].as_u64() < all["count"].as_u64());
    let least = usual["hits"].as_array().unwrap().last().unwrap()["score"].as_f64();
    let next = &all["hits"][usual["count"].as_u64().unwrap() as usize]["score"];
    assert!(least > next.as_f64());
    // A user's own limit applies to each hit too.
    let limit = all["hits"][1]["score"].to_string();
    let limited = world.json(&[
        "query",
        "When does the market open on Saturday",
        "--mode",
        "lexical",
        "-n",
        "50",
        "--min-score",
        &limit,
    ]);
    let reaches = |hit: &&Value| hit["score"].as_f64() >= limit.parse().ok();
    let expected = all["hits"].as_array().unwrap().iter().filter(reaches);
    let found = limited["hits"].as_array().unwrap();
    assert_eq!(found.len(), expected.count());
    assert!(!found.is_empty() && found.iter().all(|hit| reaches(&hit)));
}

#[test]
fn filters_alone_list_the_notes() {
    let world = linked();
    let listed = world.ok(&["query", "tag:writing", "--files"]).stdout;
    assert_eq!(files(&listed), ["notes:Home.md", "notes:Wikilinks.md"]);
    let body = world.json(&["query", "tag:writing", "-n", "1"]);
    assert_eq!((&body["count"], &body["documents"]), (&1.into(), &2.into()));
    let more = world.ok(&["query", "tag:writing", "-n", "1"]).stdout;
    assert!(more.ends_with("and 1 more (--all lists them)\n"), "{more}");
    assert_eq!(
        world.ok(&["query", "tag:nosuch"]).stdout,
        "No note has the tag `nosuch`.\n"
    );
    assert_eq!(world.json(&["tags", "writing"])["documents"], 2);
    let tags = world.ok(&["tags"]).stdout;
    assert_eq!(
        tags,
        "#sync  1 note\n#writing  1 note\n#writing/start  1 note\n"
    );
}

#[test]
fn a_word_that_no_note_holds_is_completed_or_corrected_and_said() {
    let world = linked();
    let begun = world.ok(&["search", "wikil", "--files"]);
    assert_eq!(files(&begun.stdout)[0], "notes:Wikilinks.md");
    let body = world.json(&["search", "wikil"]);
    let one = &body["corrections"][0];
    assert_eq!(
        (&one["why"], &one["used"]),
        (&"begins".into(), &true.into())
    );
    // The search found nothing, so the nearest word is searched instead.
    let slip = world.ok(&["search", "bracksets"]);
    assert!(slip.stdout.starts_with("Wikilinks.md:3"), "{}", slip.stdout);
    assert_eq!(
        slip.stderr,
        "no note holds the word `bracksets`; searched for `brackets`\n"
    );
    // There were hits, so the correction is only suggested.
    let offered = world.ok(&["search", "wikilink", "bracksets", "--min-score", "0"]);
    assert_eq!(
        offered.stderr,
        "no note holds the word `bracksets`; did you mean `brackets`?\n"
    );
    let nothing = world.ok(&["search", "qqqqzzzz"]);
    assert_eq!(nothing.stdout, "Nothing in the index fits this query.\n");
    assert_eq!(nothing.stderr, "no note holds the word `qqqqzzzz`\n");
}

#[test]
fn notes_are_read_by_name_link_heading_and_block() {
    let world = linked();
    let whole = text_of(&world, "Sync/Conflicts.md");
    for name in [
        "Conflicts",
        "[[Conflicts]]",
        "[[Conflicts|shown]]",
        "sync/conflicts",
        "Clashes",
    ] {
        assert_eq!(text_of(&world, name), whole, "{name}");
    }
    for heading in [
        "Sync/Conflicts.md#Mending",
        "[[Conflicts#Mending]]",
        "Conflicts#mending",
    ] {
        assert!(
            text_of(&world, heading).starts_with("## Mending\n"),
            "{heading}"
        );
    }
    let block = world.json(&["get", "[[Conflicts#^mend]]"]);
    assert_eq!(block["text"], "Open both files and delete one. ^mend\n");
    assert_eq!(block["first_line"], 11);
    assert_eq!(
        world.json(&["get", "Conflicts#^Mend"])["text"],
        block["text"]
    );
    for (request, code) in [
        ("Conflicts#Nosuch", "SYMBOL_NOT_FOUND"),
        ("Conflicts#^nosuch", "SYMBOL_NOT_FOUND"),
        ("Conflicst", "FILE_NOT_FOUND"),
        ("[[Nobody]]", "FILE_NOT_FOUND"),
        ("../Home", "PATH_DENIED"),
    ] {
        assert_eq!(world.code(&["get", request]), code, "{request}");
    }
    let failure = world.fails(&["get", "Conflicst"]);
    assert_eq!(failure["hint"], "local-agent get 'notes:Sync/Conflicts.md'");
    assert!(
        failure["error_message"]
            .as_str()
            .unwrap()
            .contains("the nearest names: `notes:Sync/Conflicts.md`")
    );
}

#[test]
fn the_first_digits_of_a_key_are_enough_where_they_are_unique() {
    let world = linked();
    let key = world.json(&["search", "brackets"])["hits"][0]["chunk_key"]
        .as_str()
        .unwrap()
        .to_owned();
    let whole = text_of(&world, &format!("#{key}"));
    assert_eq!(text_of(&world, &format!("#{}", &key[..12])), whole);
    assert_eq!(world.code(&["get", "#zz"]), "INVALID_ARGS");
    let many = World::example();
    assert_eq!(many.code(&["get", "#0"]), "AMBIGUOUS_PATH");
}

#[test]
fn many_documents_are_named_by_lists_and_something_must_come() {
    let world = linked();
    let key = world.json(&["search", "brackets"])["hits"][0]["chunk_key"]
        .as_str()
        .unwrap()
        .to_owned();
    let list = format!("Home.md, [[Conflicts]],#{key}");
    assert_eq!(world.json(&["multi-get", &list])["count"], 3);
    let some = world.json(&["multi-get", "Home.md", "nosuch.md"]);
    assert_eq!(some["count"], 1);
    assert_eq!(some["skipped"][0]["reason"], "FILE_NOT_FOUND");
    assert_eq!(world.code(&["multi-get", "nosuch.md"]), "FILE_NOT_FOUND");
    let cut = world.json(&["multi-get", "**/*.md", "--max-bytes", "40"]);
    assert_eq!(
        (&cut["count"], &cut["left_out_by_max_bytes"]),
        (&1.into(), &2.into())
    );
    assert_eq!(cut["documents"][0]["truncated"], true);
}

/// An empty note used up the whole budget, so it and all documents behind it were left out.
#[test]
fn an_empty_note_is_a_document_like_any_other() {
    let world = World::with(&[("a.md", "# A\n"), ("b.md", ""), ("c.md", "# C\n")]);
    let run = world.ok(&["multi-get", "*.md"]);
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(run.stdout, @r"
    == notes:a.md
        1  # A
    == notes:b.md
    == notes:c.md
        1  # C
    ");
    let body = world.json(&["multi-get", "b.md", "--max-bytes", "0"]);
    assert_eq!(
        (&body["count"], &body["documents"][0]["text"]),
        (&1.into(), &"".into())
    );
}

#[test]
fn an_embedded_link_names_its_note() {
    let world = linked();
    assert_eq!(
        text_of(&world, "![[Conflicts]]"),
        text_of(&world, "[[Conflicts]]")
    );
}

#[test]
fn files_of_other_kinds_are_counted() {
    let world = World::with(&[
        ("a.md", "# A\n"),
        ("paper.pdf", "%PDF"),
        ("other.PDF", "%PDF"),
        ("list.txt", "x"),
        (".hidden.txt", "x"),
        ("ignored/x.txt", "x"),
        (".gitignore", "ignored/\n"),
    ]);
    let said = world.ok(&["index"]).stdout;
    let line = "left out: 3 files, not notes (2 .pdf, 1 .txt)";
    assert_eq!(said.lines().nth(1), Some(line), "{said}");
    assert_eq!(world.json(&["status"])["left_out"][0]["files"], 2);
}

#[test]
fn links_lead_both_ways() {
    let world = linked();
    let out = world.ok(&["links", "Conflicts"]).stdout;
    assert_eq!(out, "notes:Wikilinks.md\nnotes:Home.md\n");
    let home = world.ok(&["links", "Home.md"]).stdout;
    assert_eq!(home, "notes:Sync/Conflicts.md\nNobody  (no such note)\n");
    let back = world.json(&["backlinks", "Conflicts"]);
    assert_eq!(back["backlinks"][0]["note"], "notes:Home.md");
    assert_eq!(back["backlinks"][0]["texts"][0], "what to do");
    assert_eq!(
        world.ok(&["backlinks", "Home"]).stdout,
        "notes:Sync/Conflicts.md  Conflicts\n"
    );
}

#[test]
fn similar_notes_are_compared_by_their_vectors() {
    let world = World::embedded();
    let body = world.json(&["similar", "Proofbox", "-n", "3"]);
    assert_eq!(
        (&body["note"], &body["count"]),
        (&"vault:projects/Proofbox.md".into(), &3.into())
    );
    let cosines: Vec<f64> = body["similar"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["cosine"].as_f64().unwrap())
        .collect();
    assert!(
        cosines.windows(2).all(|pair| pair[0] >= pair[1]),
        "{cosines:?}"
    );
    assert_eq!(linked().code(&["similar", "Home"]), "PHASE2_QUERY_ERROR");
}

#[test]
fn a_change_that_makes_a_wrong_configuration_is_not_written() {
    let world = World::example();
    world.ok(&["index"]);
    let file = world.vault().join("local-agent.yaml");
    let before = fs::read_to_string(&file).unwrap();
    let state = world.state().to_string_lossy().into_owned();
    let failed = world.fails(&["source", "add", &state, "--name", "own"]);
    assert_eq!(failed["error_code"], "CONFIG_ERROR", "{failed}");
    let said = failed["error_message"].as_str().unwrap();
    assert!(said.contains("this program's own records"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert!(!world.vault().join("local-agent.yaml.bak").exists());
}

#[cfg(unix)]
#[test]
fn the_configuration_stays_a_link_and_every_earlier_state_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::empty();
    let real = world.root().join("dotfiles.yaml");
    let folder = world.home().join(".config/local-agent");
    fs::create_dir_all(&folder).unwrap();
    let link = folder.join("config.yaml");
    let text = "sources: []\nsecurity: {roots_must_be_within_security_root: false}\n";
    fs::write(&real, text).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for name in ["a", "b", "c"] {
        let dir = world.root().join(name);
        fs::create_dir_all(&dir).unwrap();
        world.ok(&["-C", "/", "source", "add", dir.to_str().unwrap()]);
    }
    world.ok(&["-C", "/", "init", "--force"]);
    assert!(link.is_symlink());
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    let count = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.matches("- name:").count()
    };
    let names = [".bak", ".bak.1", ".bak.2", ".bak.3"].map(|end| format!("config.yaml{end}"));
    assert_eq!(names.each_ref().map(|name| count(name)), [0, 1, 2, 3]);
}

#[test]
fn sources_are_added_renamed_and_removed_without_losing_others() {
    let world = World::empty();
    world.write("a/x.md", "# Zebra\n\nThe zebra.\n");
    world.write("b c/y.md", "# Lion\n\nThe lion.\n");
    world.ok(&["init", "--here", "--source", "a"]);
    let file = world.vault().join("local-agent.yaml");
    let before = fs::read_to_string(&file).unwrap();
    let hint = world.fails(&["init", "--here", "--source", "b c"])["hint"].clone();
    assert_eq!(hint, "local-agent source add 'b c'");
    world.ok(&["source", "add", "b c"]);
    let backup = world.vault().join("local-agent.yaml.bak");
    assert_eq!(fs::read_to_string(backup).unwrap(), before);
    assert_eq!(world.json(&["index"])["total_docs"], 2);
    assert_eq!(
        world.stable(&world.ok(&["source", "list"]).stdout),
        "a\tnotes\t<vault>/a\nb c\tnotes\t<vault>/b c\n"
    );
    world.ok(&["source", "rename", "b c", "lions"]);
    // There is only one line about it, however many files are affected.
    let stale = world.ok(&["search", "lion"]).stderr;
    assert!(stale.lines().count() <= 2, "{stale}");
    world.ok(&["index"]);
    let lions = world.ok(&["ls", "lions"]).stdout;
    assert_eq!(lions, "lions:y.md\n");
    world.ok(&["source", "remove", "lions"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    for (args, code) in [
        (&["source", "add", "nosuch"][..], "INVALID_ARGS"),
        (&["source", "add", "a"], "INVALID_ARGS"),
        (&["source", "add", ".."], "INVALID_ARGS"),
        (&["source", "remove", "nosuch"], "INVALID_ARGS"),
        (&["source", "rename", "a", "x/y"], "INVALID_ARGS"),
    ] {
        assert_eq!(world.code(args), code, "{args:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn a_folder_is_a_source_once_and_fixes_of_names_are_of_the_same_command() {
    let world = World::empty();
    world.write("a/x.md", "# Zebra\n\nThe zebra.\n");
    world.ok(&["init", "--here", "--source", "a"]);
    let file = world.vault().join("local-agent.yaml");
    let before = fs::read_to_string(&file).unwrap();
    for args in [
        &["source", "add", "a"][..],
        &["source", "add", "a/../a/", "--name", "other"],
    ] {
        let failure = world.fails(args);
        assert_eq!(failure["error_code"], "INVALID_ARGS", "{failure}");
        let said = failure["error_message"].as_str().unwrap();
        assert!(said.ends_with("/a is the source `a` already"), "{said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let hint = world.fails(&["source", "rename", "a", "bad:x"])["hint"].clone();
    assert_eq!(hint, "local-agent source rename 'a' bad-x");
    world.ok(&["source", "rename", "a", "bad-x"]);
    world.ok(&["source", "rename", "bad-x", "notes"]);
}

#[test]
fn sources_that_overlap_are_said_once_where_sources_are_changed_or_read() {
    let world = World::empty();
    world.write("a/b/x.md", "# Zebra\n\nThe zebra.\n");
    world.ok(&["init", "--here", "--source", "a"]);
    let line = "the sources `a` and `b` overlap; shared files are found twice";
    let said = |args: &[&str]| world.ok(args).stderr.matches(line).count();
    assert_eq!(said(&["source", "add", "a/b"]), 1);
    assert_eq!(said(&["index"]), 1);
    assert_eq!(said(&["config", "check"]), 1);
    assert_eq!(said(&["query", "zebra"]), 0);
    assert_eq!(said(&["source", "list"]), 0);
}

#[test]
fn a_renamed_or_removed_source_is_left_out_until_the_next_index() {
    let world = World::empty();
    world.write("a/x.md", "# Zebra\n\nThe zebra eats grass.\n");
    world.write("b/y.md", "# Lion\n\nThe lion eats the zebra.\n");
    world.ok(&["init", "--here", "--source", "a"]);
    world.ok(&["source", "add", "b"]);
    world.ok(&["context", "add", "b/den", "where", "lions", "live"]);
    world.ok(&["index"]);
    world.ok(&["source", "rename", "b", "lions"]);
    assert_eq!(
        world.ok(&["context", "list"]).stdout,
        "lions/den\twhere lions live\n"
    );
    let run = world.ok(&["search", "zebra"]);
    assert!(
        !run.stdout.contains("lion") && run.stdout.contains("zebra"),
        "{}",
        run.stdout
    );
    let why = "source `b` is indexed and no longer configured";
    assert_eq!(run.stderr.matches(why).count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let asked = world.ok(&["ask", "What does the zebra eat?"]);
    assert!(asked.stderr.contains(why), "{}", asked.stderr);
    world.ok(&["index"]);
    let both = world.ok(&["search", "zebra"]);
    assert!(
        both.stdout.contains("lion") && both.stderr.is_empty(),
        "{}",
        both.stderr
    );
    let removed = world.ok(&["source", "remove", "lions"]).stdout;
    assert!(
        removed.contains("context removed: lions/den: where lions live\n"),
        "{removed}"
    );
    assert!(world.ok(&["config", "check"]).stderr.is_empty());
    world.ok(&["source", "remove", "a"]);
    // Nothing is configured: what the index still has is not shown, and `index` forgets it.
    let failure = world.fails(&["search", "zebra"]);
    assert_eq!(failure["hint"], "local-agent source add DIR");
    world.ok(&["index"]);
    assert_eq!(world.ok(&["ls"]).stdout, "");
    assert_eq!(world.code(&["search", "zebra"]), "CONFIG_ERROR");
}

#[test]
fn a_source_joins_those_of_a_configuration_for_the_python_version() {
    let world = World::empty();
    for (path, text) in [
        ("a/x.md", "# X\n"),
        ("b/y.md", "# Y\n"),
        ("c/z.md", "# Z\n"),
    ] {
        world.write(path, text);
    }
    world.write(
        "local-agent.yaml",
        "phase2:\n  sources:\n    - {name: a, root: a}\n    - {name: b, root: b}\n",
    );
    world.ok(&["config", "trust"]);
    world.ok(&["source", "add", "c"]);
    let listed = world.stable(&world.ok(&["source", "list"]).stdout);
    assert_eq!(
        listed,
        "a\tnotes\t<vault>/a\nb\tnotes\t<vault>/b\nc\tnotes\t<vault>/c\n"
    );
    world.ok(&["source", "rename", "b", "d"]);
    world.ok(&["source", "remove", "a"]);
    let listed = world.stable(&world.ok(&["source", "list"]).stdout);
    assert_eq!(listed, "d\tnotes\t<vault>/b\nc\tnotes\t<vault>/c\n");
}

#[test]
fn without_a_configuration_the_first_source_begins_one() {
    let world = World::empty();
    world.write("notes/a.md", "# A\n\nThe zebra.\n");
    for command in [&["query", "zebra"][..], &["index"], &["ask", "What zebra?"]] {
        let failure = world.fails(command);
        assert_eq!(failure["hint"], "local-agent init --here", "{command:?}");
    }
    world.ok(&["source", "add", "notes"]);
    world.ok(&["index"]);
    assert_eq!(world.json(&["search", "zebra"])["count"], 1);
}

#[test]
fn a_file_that_is_to_be_read_and_cannot_be_has_a_code() {
    let world = linked();
    for (question, code) in [
        ("Read nosuch.md and summarize it.", "FILE_NOT_FOUND"),
        ("Read ../../etc/passwd.md and summarize it.", "PATH_DENIED"),
        ("Summarize nosuch.md", "FILE_NOT_FOUND"),
        ("In nosuch.md, what deletes files?", "FILE_NOT_FOUND"),
        (
            "According to nosuch.org, what deletes files?",
            "PATH_DENIED",
        ),
        ("What does nosuch.md say about sync?", "FILE_NOT_FOUND"),
        ("Summarize code/lib.rs", "PATH_DENIED"),
        ("What does .env contain?", "PATH_DENIED"),
        // Names that no extension gives away.
        ("Read /etc/passwd and summarize it.", "PATH_DENIED"),
        ("Read ../../etc/passwd and summarize it.", "PATH_DENIED"),
        ("summarise .env", "PATH_DENIED"),
        ("Fasse /etc/passwd zusammen", "PATH_DENIED"),
        ("Summarize [[nosuch note]]", "FILE_NOT_FOUND"),
    ] {
        assert_eq!(world.code(&["ask", question]), code, "{question}");
    }
    // A question about the notes may mention a file.
    let run = world.ok(&["ask", "Is a wikilink like nosuch.md?"]);
    let said = "no readable file is called `nosuch.md`; the answer is from other notes";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // A note is named as `get` takes it.
    world.ok(&[
        "ask",
        "--read",
        "notes/Sync/Conflicts.md",
        "What is deleted?",
    ]);
    world.ok(&["ask", "--read", "Conflicts", "What is deleted?"]);
}

#[test]
fn roots_are_named_by_a_confined_process_too() {
    let world = World::empty();
    world.write("notes/a.md", "# A\n\nOne.\n");
    world.ok(&["init", "--here", "--source", "notes"]);
    let before = world.json(&["source", "list"]);
    for command in [
        &["index"][..],
        &["query", "one", "--mode", "lexical"],
        &["tool", "list"],
    ] {
        let body = world.json(command);
        for root in crate::harness::ROOTS {
            assert_eq!(body[root], before[root], "{command:?} {root}");
        }
    }
    let failure = world.fails(&[
        "tool",
        "run",
        "read_text_file",
        "--arg",
        "path=nosuch.md",
        "--json",
    ]);
    for root in crate::harness::ROOTS {
        assert_eq!(failure[root], before[root], "{root}");
    }
}

#[test]
fn clean_leaves_databases_that_this_program_did_not_make() {
    let world = World::example();
    world.ok(&["index"]);
    let foreign = world.state().join("index.sqlite");
    let mut bytes = fs::read(&foreign).unwrap();
    // The application id of the file's header.
    bytes[68..72].copy_from_slice(b"XXXX");
    fs::write(&foreign, &bytes).unwrap();
    let vectors = world.state().join("embeddings.sqlite");
    fs::write(&vectors, "my own words, not a database\n").unwrap();
    for args in [&["clean", "--all"][..], &["clean", "--all", "--yes"]] {
        let said = world.json(args);
        let left = said["left"].as_array().unwrap();
        assert_eq!(left.len(), 2, "{said}");
        let state = world.state().to_string_lossy().into_owned();
        assert!(!said["items"].to_string().contains(&state), "{said}");
        let told = world.ok(args).stderr;
        assert!(told.contains("another program"), "{told}");
    }
    assert_eq!(fs::read(&foreign).unwrap(), bytes);
    assert!(world.state().join("lexical").exists() && vectors.exists());
}

#[test]
fn clean_says_what_it_would_remove_and_keeps_what_cannot_be_made_again() {
    let world = linked();
    world.ok(&[
        "memory",
        "add",
        "--type",
        "user_fact",
        "--source",
        "manual",
        "--content",
        "Tea.",
    ]);
    let before = world.photograph();
    let said = world.json(&["clean", "--all"]);
    assert_eq!(said["removed"], false);
    assert!(said["bytes"].as_u64().unwrap() > 0);
    world.is_as(&before, &["clean", "--all"]);
    world.ok(&["clean", "--all", "--yes"]);
    assert_eq!(world.code(&["search", "wikilink"]), "INDEX_MISSING");
    assert_eq!(world.json(&["memory", "list"])["count"], 1);
    world.ok(&["index"]);
    assert_eq!(world.json(&["search", "wikilink"])["outcome"], "found");
}

#[test]
fn clean_before_the_first_index_makes_nothing_and_locks_nobody_out() {
    let world = World::empty();
    world.write("a.md", "# Crane\n\nThe crane is red.\n");
    let said = world.ok(&["clean", "--all", "--yes"]).stdout;
    assert!(!world.state().exists());
    assert!(!said.contains("next: local-agent index"), "{said}");
    world.ok(&["init", "--here"]);
    world.ok(&["index"]);
    assert_eq!(world.json(&["search", "crane"])["count"], 1);
}

#[test]
fn a_note_named_markdown_is_a_document_like_any_other() {
    let world = World::empty();
    world.write("a.markdown", "# Tin\n\nTin melts early.\n");
    world.ok(&["init", "--here"]);
    world.ok(&["index"]);
    assert_eq!(world.json(&["search", "tin"])["count"], 1);
    assert!(world.ok(&["get", "a.markdown"]).stdout.contains("melts"));
}

#[test]
fn an_empty_vault_or_note_gets_no_advice_that_leads_nowhere() {
    let world = World::empty();
    world.ok(&["init", "--here"]);
    let indexed = world.ok(&["index"]).stdout;
    assert!(
        indexed.contains(
            "There is nothing to search yet: put notes into the folders of `local-agent source list`, or add one with \
             `local-agent source add DIR`."
        ),
        "{indexed}"
    );
    world.ok(&["embed"]);
    let status = world.ok(&["status"]).stdout;
    assert!(!status.contains("local-agent embed"), "{status}");
    world.write("empty.md", "");
    world.write("full.md", "# Tin\n\nTin melts early.\n");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let failure = world.fails(&["similar", "empty.md"]);
    assert!(
        failure["error_message"]
            .as_str()
            .unwrap()
            .contains("has no text"),
        "{failure}"
    );
    assert_eq!(failure["hint"], "name another note");
    let alone = world.run(&["query", "--", "-foo"]);
    assert!(
        alone.stderr.contains("`-foo` leaves notes out"),
        "{}",
        alone.stderr
    );
    assert!(
        world.fails(&["runs", "show", "last"])["hint"]
            .to_string()
            .contains("local-agent ask")
    );
}

#[test]
fn a_hit_of_a_deleted_note_is_called_gone() {
    let world = linked();
    world.write("notes/gone.md", "# Gone\n\nThe narwhal sings.\n");
    world.ok(&["index"]);
    world.write("notes/kept.md", "# Kept\n\nThe narwhal sleeps.\n");
    world.ok(&["index"]);
    world.write("notes/kept.md", "# Kept\n\nThe narwhal wakes.\n");
    fs::remove_file(world.vault().join("notes/gone.md")).unwrap();
    let body = world.json(&["search", "narwhal"]);
    let state = |name: &str| {
        let hits = body["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["title"] == name).unwrap();
        (hit["fresh"].clone(), hit["gone"].clone())
    };
    assert_eq!(state("Gone"), (false.into(), true.into()));
    assert_eq!(state("Kept"), (false.into(), false.into()));
    let text = world.ok(&["search", "narwhal"]).stdout;
    assert!(
        text.contains("the file is gone") && text.contains("the file changed"),
        "{text}"
    );
}

#[test]
fn a_summary_of_a_named_note_says_what_it_leaves_out_and_ends_at_no_introduction() {
    let world = World::empty();
    let sections: String = (1..=20)
        .map(|n| format!("## Part {n}\n\nRule {n} of the policy holds for everybody who works here, at all times and in every office.\n\n"))
        .collect();
    let list = "## Equipment\n\nCompany provides:\n\n- A laptop\n- A chair\n\n";
    let text = format!("# Policy\n\nWe believe in trust.\n\n{list}{sections}");
    world.write("policy.md", &text);
    world.ok(&["init", "--here"]);
    world.ok(&["index"]);
    let answer = world.json(&["ask", "Summarize policy.md"]);
    let shown = answer["answer"].as_str().unwrap();
    assert!(
        shown.contains("Company provides:") && shown.contains("A chair"),
        "{shown}"
    );
    let left_out = answer["left_out"].as_array().unwrap();
    assert!(
        left_out.iter().any(|one| one["sentence"] == "Part 20"),
        "{answer}"
    );
    assert!(
        left_out
            .iter()
            .all(|one| !shown.contains(&format!("## {}\n", one["sentence"].as_str().unwrap()))),
        "{answer}"
    );
    assert!(
        answer["why"].as_str().unwrap().contains("Not shown: "),
        "{answer}"
    );
    let text = world.ok(&["ask", "Summarize policy.md"]).stdout;
    assert!(
        text.contains("Not shown: ") && text.contains("Part 20"),
        "{text}"
    );
}

/// Tests each command line in docs/qmd.md.
#[test]
fn the_commands_for_users_of_qmd_are_taken_as_they_stand() {
    let world = World::empty();
    world.write(
        "notes/a.md",
        "# Sync\n\nSync conflicts are kept as two files. #sync\n",
    );
    world.write("notes/b.md", "# Bread\n\nSee [[a]].\n");
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/qmd.md")).unwrap();
    let block = page
        .split("```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    for line in block.lines() {
        let program = env!("CARGO_BIN_EXE_local-agent");
        let line = line.replacen("local-agent", program, 1);
        let output = world.command_of("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        assert!(!output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn a_failure_in_a_pipe_is_text_unless_json_is_asked_for() {
    let world = World::with(&[("a.md", "# A\n")]);
    let run = world.run(&["get", "nosuch.md"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("error[FILE_NOT_FOUND]: "),
        "{}",
        run.stderr
    );
    let json = world.run(&["--json", "get", "nosuch.md"]);
    assert_eq!(json.json()["error_code"], "FILE_NOT_FOUND");
    assert_eq!(json.stderr, "");
}

#[test]
fn an_argument_that_looks_like_a_path_is_no_question() {
    let world = World::empty();
    assert_eq!(world.code(&["try", "/nosuch/folder"]), "INVALID_ARGS");
    assert_eq!(world.code(&["try", "./nosuch"]), "INVALID_ARGS");
}

#[test]
fn addresses_of_other_programs_are_taken_by_every_command_that_reads() {
    let world = linked();
    for place in ["qmd://notes/Sync", "notes/Sync", "Sync"] {
        assert_eq!(world.json(&["ls", place])["count"], 1, "{place}");
    }
    for glob in [
        "qmd://notes/Sync/*.md",
        "notes/Sync/*.md",
        "notes:Sync/*.md",
        "Sync/*.md",
    ] {
        assert_eq!(world.json(&["multi-get", glob])["count"], 1, "{glob}");
    }
    world.ok(&["get", "Home.md", "--full", "--line-numbers"]);
    world.ok(&["multi-get", "*.md", "--line-numbers"]);
    assert!(world.ok(&["cleanup"]).stdout.contains("--yes"));
}

#[test]
fn a_mask_gives_the_kinds_that_it_names() {
    let world = World::with(&[
        ("a.md", "# A\n"),
        ("more/b.md", "# B\n"),
        ("more/c.txt", "C\n"),
        ("code/d.py", "d = 1\n"),
        ("code/e.md", "# E\n"),
    ]);
    let add = ["collection", "add", "more", "--mask", "**/*.{md,txt}"];
    world.ok(&add);
    world.ok(&["collection", "add", "code", "--mask", "**/*.py"]);
    world.ok(&["index"]);
    let listed = |source: &str| world.json(&["ls", source])["count"].clone();
    assert_eq!((listed("more:"), listed("code:")), (2.into(), 1.into()));
    let code = &world.json(&["source", "list"])["sources"][2];
    assert_eq!(code["code"], true);
}

#[test]
fn a_hint_runs_the_command_that_failed() {
    let world = linked();
    for command in ["links", "backlinks"] {
        let failed = world.fails(&[command, "Conflict", "--json"]);
        let hint = failed["hint"].as_str().unwrap();
        assert_eq!(
            hint,
            format!("local-agent {command} 'notes:Sync/Conflicts.md'")
        );
    }
    let hit = &world.json(&["query", "kept as two files"])["hits"][0];
    let key = format!("#{}", &hit["chunk_key"].as_str().unwrap()[..12]);
    assert_eq!(
        world.json(&["links", &key])["note"],
        "notes:Sync/Conflicts.md"
    );
    assert_eq!(world.code(&["links", "#zz"]), "INVALID_ARGS");
}

#[test]
fn spellings_of_other_programs_get_a_tip() {
    let world = linked();
    for (line, tip) in [
        (&["find", "x"][..], "tip: `local-agent query WORDS`"),
        (
            &["query", "x", "--candidate-limit", "40"],
            "tip: leave this option out",
        ),
        (&["mcp", "--http"], "tip: `local-agent serve`"),
    ] {
        let said = world.usage(line);
        assert!(said.contains(tip), "{said}");
    }
    let failed = world.fails(&["query", "x", "-C", "40", "--json"]);
    assert!(failed["hint"].as_str().unwrap().contains("candidates"));
}

#[test]
fn a_collection_is_indexed_when_it_is_added() {
    let world = World::empty();
    world.write("notes/a.md", "# Sync\n\nSync conflicts are kept.\n");
    let added = world.ok(&["collection", "add", "notes"]).stdout;
    assert!(
        added.contains("\nindexed: 1 document in 1 chunk;"),
        "{added}"
    );
    assert!(!added.contains("next:"), "{added}");
    let found = world.json(&["search", "conflicts"]);
    assert_eq!(found["hits"][0]["rel_path"], "a.md");
    // The folder of another source is not looked at.
    fs::rename(world.vault().join("notes"), world.root().join("gone")).unwrap();
    world.write("more/b.md", "# Bread\n\nRye flour.\n");
    world.ok(&["collection", "add", "more"]);
    assert_eq!(
        world.json(&["search", "flour"])["hits"][0]["rel_path"],
        "b.md"
    );
    // With `--json` there is one object, and the index is not touched.
    world.write("last/c.md", "# Oven\n\nGranite.\n");
    let added = world.json(&["collection", "add", "last"]);
    assert_eq!(added["next"], "local-agent index");
    assert_eq!(
        world.json(&["search", "granite"])["outcome"],
        "nothing_found"
    );
}

#[test]
fn what_mends_a_stale_index_uses_the_same_configuration_in_json_too() {
    let world = World::with(&[("a.md", "# A\n\nThe oven is hot.\n")]);
    let file = world.vault().join("local-agent.yaml");
    let named = ["--config", file.to_str().unwrap()];
    world.ok(&[&named[..], &["index"]].concat());
    world.write("b.md", "# B\n\nThe pump is blue.\n");
    let found = world.json(&[&named[..], &["query", "oven"]].concat());
    let fixes = found["stale"].as_array().unwrap().iter();
    let fixes: Vec<&str> = fixes.map(|one| one["fix"].as_str().unwrap()).collect();
    assert!(!fixes.is_empty());
    for fix in fixes {
        assert!(fix.starts_with("local-agent --config "), "{fix}");
    }
}

/// They were found by `get net.py`, but not with the name of their source before a slash.
#[test]
fn files_of_other_kinds_are_read_by_every_form_of_their_address() {
    let world = World::empty();
    world.write("n/net.py", "def f():\n    TIMEOUT = 30\n");
    world.write("n/a.md", "# A\n\nText.\n");
    world.ok(&["collection", "add", "n", "--mask", "**/*.{md,py}"]);
    for address in ["n:net.py", "n/net.py", "qmd://n/net.py", "net.py"] {
        assert!(text_of(&world, address).contains("TIMEOUT"), "{address}");
    }
    for glob in ["*.py", "n/*.py", "n:*.py"] {
        assert_eq!(world.json(&["multi-get", glob])["count"], 1, "{glob}");
    }
    let failure = world.fails(&["get", "n:ne.py", "--json"]);
    assert_eq!(failure["hint"], "local-agent get 'n:net.py'");
}

#[test]
fn of_a_row_below_dated_headings_the_newest_answers_unless_a_time_is_asked_for() {
    let world = World::embedded();
    let asked = |question: &str| world.ok(&["ask", question, "--now", "2026-11-29"]).stdout;
    let now = asked("How much does rye flour cost?");
    assert!(now.contains("1.12") && !now.contains("1.08"), "{now}");
    let then = asked("How much did rye flour cost in 2024?");
    assert!(then.contains("1.08") && !then.contains("1.12"), "{then}");
    // Not yet in force.
    let before = world.ok(&[
        "ask",
        "How much does rye flour cost?",
        "--now",
        "2026-01-15",
    ]);
    assert!(before.stdout.contains("1.08"), "{}", before.stdout);
}

/// Entries of a log are no versions of one thing, and a question about the past or an extreme has
/// no newest answer.
#[test]
fn what_was_before_is_not_hidden_by_what_is_newer() {
    let world = World::with(&[
        (
            "Weight.md",
            "# Training log\n\n## 2026-01-07\n\n- Weight: 81 kg\n\n## 2026-01-09\n\n- Weight: 80 kg\n\n\
             ## 2026-02-18\n\n- Weight: 79 kg\n",
        ),
        (
            "House.md",
            "# House\n\n## Plan of 2026-01-07: ground floor\n\n- Bath: blue tiles\n\n\
             ## Plan of 2026-02-18: attic\n\n- Bath: green tiles\n",
        ),
    ]);
    world.ok(&["index"]);
    let asked = |question: &str| world.ok(&["ask", question, "--now", "2026-11-29"]).stdout;
    let highest = asked("What was my highest weight?");
    assert!(highest.contains("81"), "{highest}");
    let bath = asked("What colour is the bath on the ground floor?");
    let (blue, green) = (bath.find("blue"), bath.find("green"));
    assert!(
        blue.is_some() && (green.is_none() || blue < green),
        "{bath}"
    );
}

#[test]
fn an_answer_names_the_source_of_a_file_if_there_are_several_and_shows_its_passages() {
    let world = World::empty();
    world.write("a/kiln.md", "# Kiln\n\nThe kiln fires at 1240 degrees.\n");
    world.write("b/pump.md", "# Pump\n\nThe pump is blue.\n");
    world.ok(&["source", "add", "a"]);
    let question = "At what temperature does the kiln fire?";
    world.ok(&["index"]);
    let one = world.ok(&["ask", question]).stdout;
    assert!(one.contains("[1] kiln.md:3"), "{one}");
    world.ok(&["source", "add", "b"]);
    world.ok(&["index"]);
    let two = world.ok(&["ask", question]).stdout;
    assert!(two.contains("[1] a:kiln.md:3"), "{two}");
    let full = world.ok(&["ask", question, "--full"]).stdout;
    assert!(full.starts_with(&two), "{full}");
    assert!(
        full.contains("[E1] a:kiln.md:1\n# Kiln\n\nThe kiln fires"),
        "{full}"
    );
}
