//! `verify`.

use std::fs;

use insta::assert_snapshot;
use local_agent_text::error::ErrorCode;

use crate::harness::World;

const PLAN: &str = "# Plan\n\nThe harbour budget is 5 million euros in 2026.\nIt was not approved by the council.\n\nAlice leads the project.\n";

/// A vault with a plan, and an answer next to it.
fn world(answer: &str) -> World {
    let world = World::empty();
    world.write("plan.md", PLAN);
    fs::write(world.root().join("answer.md"), answer).unwrap();
    world
}

fn judge(world: &World) -> crate::harness::Run {
    let (answer, vault) = (world.root().join("answer.md"), world.vault());
    world.run(&[
        "verify",
        answer.to_str().unwrap(),
        "--vault",
        vault.to_str().unwrap(),
    ])
}

#[test]
fn another_tools_answer_passes_when_its_lines_carry_it() {
    let world = world(
        "The harbour budget is 5 million euros in 2026 [plan.md:3]. Alice is the one who leads the project ([1](plan.md#L6)).\n",
    );
    let run = judge(&world);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_snapshot!(world.stable(&run.stdout), @r"
    verified  The harbour budget is 5 million euros in 2026.
              Word for word in E1 (plan.md, line 3).
    checked   Alice is the one who leads the project ().
              Properly cited to E2 (plan.md, line 6). The wording is the answer's own and is not proven.
    passed: every claim is cited, and nothing was found against it
    ");
}

#[test]
fn what_the_cited_lines_do_not_say_is_rejected_with_reasons() {
    let world = world(
        "The harbour budget is 6 million euros in 2026 [plan.md:3].\n\nIt was approved by the council [plan.md:4-4].\n",
    );
    let run = judge(&world);
    assert_eq!(run.code, 1);
    assert_snapshot!(world.stable(&run.stdout), @r"
    REJECTED  The harbour budget is 6 million euros in 2026.
              NUMBER: The claim says “6”, but the cited text says “5”.
              vault:plan.md, line 3: “The harbour budget is 5 million euros in 2026.”
    REJECTED  It was approved by the council.
              NEGATION: The cited text negates “approved”, but the claim does not.
              vault:plan.md, line 4: “It was not approved by the council.”
    rejected: NUMBER, NEGATION
    ");
}

#[test]
fn citations_of_nothing_are_named_and_rejected() {
    for (answer, code, why) in [
        (
            "Alice leads it [gone.md:1-2].",
            "NOT_IN_SNAPSHOT",
            "gone.md",
        ),
        (
            "Alice leads it [plan.md:90-91].",
            "SPAN_OUT_OF_RANGE",
            "has 6 lines",
        ),
        (
            "Alice leads it [Plan.md:6].",
            "PATH_MISMATCH",
            "is called `plan.md`, not `Plan.md`",
        ),
        (
            "Alice leads it [the plan](plan.md#people).",
            "SPAN_OUT_OF_RANGE",
            "no heading “people”",
        ),
        ("Alice leads it [[Gone]].", "NOT_IN_SNAPSHOT", "Gone.md"),
        (
            "Alice leads it `src/gone.rs:3`.",
            "NOT_IN_SNAPSHOT",
            "gone.rs",
        ),
        (
            "Alice leads it [../../etc/passwd.md:1].",
            "NOT_IN_SNAPSHOT",
            "passwd",
        ),
        (
            "Alice leads it [E1].",
            "NOT_IN_SNAPSHOT",
            "A label names nothing in a folder",
        ),
    ] {
        let world = world(answer);
        let run = judge(&world);
        assert_eq!(run.code, 1, "{answer}");
        assert!(run.stderr.contains(why), "{answer}: {}", run.stderr);
        assert!(run.stdout.contains(code), "{answer}: {}", run.stdout);
    }
}

#[test]
fn the_object_counts_in_the_answer_as_it_was_given() {
    let text = "Alice leads the project [plan.md:6]. Bob owns it.\n";
    let world = world(text);
    let (answer, vault) = (world.root().join("answer.md"), world.vault());
    let run = world.run(&[
        "verify",
        answer.to_str().unwrap(),
        "--vault",
        vault.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(run.code, 1);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["outcome"], "rejected");
    assert_eq!(json["codes"], serde_json::json!(["UNCITED"]));
    let claim = &json["claims"][0];
    let at = |span: &serde_json::Value| {
        &text[span["start"].as_u64().unwrap() as usize..span["end"].as_u64().unwrap() as usize]
    };
    assert_eq!(claim["verdict"], "verified");
    assert_eq!(at(&claim["span"]), "Alice leads the project [plan.md:6].");
    assert_eq!(at(&claim["citations"][0]["span"]), "[plan.md:6]");
    assert_eq!(claim["evidence"]["lines"], "6");
    assert!(
        json["counts"]["missing"] == 0 && claim["why"].is_string() && claim["codes"].is_array()
    );
}

#[test]
fn a_snapshot_is_judged_without_the_files() {
    let world = World::with(&[("zoo.md", "# Zoo\n\nThe zebra eats 14 apples a day.\n")]);
    world.ok(&["index"]);
    let (snapshot, answer) = (world.root().join("s.json"), world.root().join("a.md"));
    let snapshot = snapshot.to_str().unwrap();
    world.ok(&[
        "ask",
        "How many apples does the zebra eat a day?",
        "--snapshot-out",
        snapshot,
    ]);
    let judge = |text: &str| {
        fs::write(&answer, text).unwrap();
        world.run(&["verify", answer.to_str().unwrap(), "--snapshot", snapshot])
    };
    assert_eq!(judge("The zebra eats 14 apples a day [E1].").code, 0);
    let wrong = judge("The zebra eats 41 apples a day [E1].");
    assert!(
        wrong.code == 1 && wrong.stdout.contains("NUMBER"),
        "{}",
        wrong.stdout
    );
    // In a run's record, the snapshot is in a field.
    let held = format!(
        "{{\"snapshot\": {}}}",
        fs::read_to_string(snapshot).unwrap()
    );
    fs::write(world.root().join("run.json"), held).unwrap();
    let run = world.root().join("run.json");
    assert_eq!(
        world
            .run(&[
                "verify",
                answer.to_str().unwrap(),
                "--snapshot",
                run.to_str().unwrap()
            ])
            .code,
        1
    );
    // A snapshot that was changed afterwards is not valid.
    fs::write(
        &run,
        fs::read_to_string(snapshot)
            .unwrap()
            .replace("14 apples", "41 apples"),
    )
    .unwrap();
    let tampered = world.run(&[
        "verify",
        answer.to_str().unwrap(),
        "--snapshot",
        run.to_str().unwrap(),
    ]);
    assert!(
        tampered.code == 1
            && tampered
                .stderr
                .contains(ErrorCode::SnapshotTampered.as_str()),
        "{}",
        tampered.stderr
    );
}

/// A vault with a plan in a folder, a source file, and an answer next to it.
fn repository(answer: &str) -> World {
    let world = world(answer);
    world.write("work/Budget.md", "# Budget\n\n## Costs of 2026\n\nThe harbour costs 5 million euros. ^costs\n\n## Later\n\nThe bridge costs 9 million euros.\n");
    world.write("src/retry.rs", "/// Waits before another attempt.\npub fn retry() {\n    // The limit is 7 attempts.\n    let limit = 7;\n}\n");
    world
}

#[test]
fn every_form_of_a_citation_is_judged_against_what_it_names() {
    for cite in [
        "[work/Budget.md:5]",
        "[vault:work/Budget.md:5]",
        "`work/Budget.md:5`",
        "(work/Budget.md:5)",
        "[the budget](work/Budget.md#L5)",
        "[budget](work/Budget.md)",
        "[1](work/Budget.md#costs-of-2026)",
        "[[Budget]]",
        "[[budget#Costs of 2026|budget]]",
        "[[Budget#^costs]]",
        "[[Budget#^Costs]]",
        "[^1]",
    ] {
        let note = "\n\n[^1]: work/Budget.md:5\n";
        let judge_with = |n: u32| {
            let text = format!("The harbour costs {n} million euros {cite}.{note}");
            judge(&repository(&text))
        };
        let (right, wrong) = (judge_with(5), judge_with(9));
        assert_eq!(right.code, 0, "{cite}: {}{}", right.stdout, right.stderr);
        // A whole note contains both sums, for two different things.
        assert!(
            wrong.code == 1 || cite == "[[Budget]]" || cite == "[budget](work/Budget.md)",
            "{cite}: {}",
            wrong.stdout
        );
    }
}

#[test]
fn code_is_evidence_and_its_lines_are_counted() {
    let right = judge(&repository("The limit is 7 attempts (src/retry.rs:3)."));
    assert_eq!(right.code, 0, "{}{}", right.stdout, right.stderr);
    let wrong = judge(&repository("The limit is 9 attempts `src/retry.rs:3-4`."));
    assert!(
        wrong.code == 1 && wrong.stdout.contains("NUMBER"),
        "{}",
        wrong.stdout
    );
    // Text that only looks like a position is not a citation.
    let host = judge(&repository(
        "The limit is 7 attempts [src/retry.rs:3], not `127.0.0.1:80`.",
    ));
    assert!(!host.stdout.contains("NOT_IN_SNAPSHOT"), "{}", host.stdout);
}

#[test]
fn without_a_folder_the_configured_sources_are_the_evidence() {
    let world = World::with(&[("plan.md", PLAN)]);
    let answer = world.root().join("answer.md");
    for (text, code) in [
        ("Alice leads the project [plan.md:6].", 0),
        ("The harbour budget is 6 million euros [plan.md:3].", 1),
    ] {
        fs::write(&answer, text).unwrap();
        let run = world.run(&["verify", answer.to_str().unwrap()]);
        assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    }
    // The name with which `search` tells agents to cite.
    world.ok(&["index"]);
    let hit = world.json(&["query", "who leads the project"]);
    let source = hit["hits"][0]["source"]
        .as_str()
        .unwrap_or("notes")
        .to_owned();
    fs::write(
        &answer,
        format!("Alice leads the project [{source}:plan.md:6]."),
    )
    .unwrap();
    let run = world.run(&["verify", answer.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
}

/// A repository with a document in `docs/`, the code that it cites, and one commit.
fn committed(document: &str) -> World {
    let world = World::empty();
    world.write("docs/retry.md", document);
    world.write("src/retry.rs", CODE);
    git(&world, &["init", "-q"]);
    commit(&world);
    world
}

const CODE: &str = "/// Waits before another attempt.\npub fn retry() {\n    // The limit is 7 attempts.\n    let limit = 7;\n}\n";
const DOCUMENT: &str =
    "The limit is 7 attempts (src/retry.rs:3). It waits before another attempt (src/retry.rs:1).\n";

fn git(world: &World, args: &[&str]) {
    let identity = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
    ];
    let run = std::process::Command::new("git")
        .args(identity)
        .args(args)
        .env("HOME", world.home())
        .current_dir(world.vault())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

fn commit(world: &World) {
    git(world, &["add", "-A"]);
    git(world, &["commit", "-q", "-m", "x"]);
}

/// The results of the two gates after a change of the code: by revision and by lock file.
fn gates(world: &World, code: &str) -> [crate::harness::Run; 2] {
    let verify =
        |more: &[&str]| world.run(&[&["verify", "docs/retry.md", "--vault", "."], more].concat());
    world.ok(&[
        "verify",
        "docs/retry.md",
        "--vault",
        ".",
        "--lock",
        "claims.lock",
        "--update",
    ]);
    world.write("src/retry.rs", code);
    [
        verify(&["--changed-since", "HEAD"]),
        verify(&["--lock", "claims.lock"]),
    ]
}

#[test]
fn a_passage_that_moved_holds_and_one_that_changed_its_meaning_does_not() {
    for (code, expected, words) in [
        (CODE.to_owned(), 0, "holds:"),
        (
            format!("//! Retries.\n\nuse std::time::Duration;\n\n{CODE}"),
            0,
            "moved",
        ),
        (
            CODE.replace(
                "    // The limit is 7 attempts.",
                "    // The limit is 7 attempts, as before.",
            ),
            0,
            "holds",
        ),
        (
            CODE.replace("7 attempts", "9 attempts"),
            1,
            "BROKEN  The limit is 7 attempts.",
        ),
        (
            format!(
                "//! Retries.\n\n{}",
                CODE.replace("7 attempts", "9 attempts")
            ),
            1,
            "BROKEN",
        ),
    ] {
        let world = committed(DOCUMENT);
        for (gate, run) in gates(&world, &code).into_iter().enumerate() {
            assert_eq!(
                run.code, expected,
                "gate {gate}: {code}\n{}{}",
                run.stdout, run.stderr
            );
            assert!(
                run.stdout.contains(words),
                "gate {gate}: {code}\n{}",
                run.stdout
            );
        }
    }
}

/// A doubt, words that are gone, and a file that was deleted or renamed counted as "still carries it".
#[test]
fn a_passage_that_was_replaced_or_deleted_no_longer_carries_its_claim() {
    let note = "Backups\n\nBackups are encrypted with age.\n";
    let other = |line: &str| Some(note.replace("Backups are encrypted with age.", line));
    for (edited, expected) in [
        (other("Backups are encrypted with age, every night."), 0),
        (other("The moon is made of cheese."), 1),
        (other("Backups are stored in plain text."), 1),
        (other("Backups were encrypted until 2024."), 1),
        (other(""), 1),
        (None, 1),
    ] {
        let world = World::empty();
        world.write("docs/b.md", "Backups are encrypted [n.md:3].\n");
        world.write("n.md", note);
        git(&world, &["init", "-q"]);
        commit(&world);
        let verify = ["verify", "docs/b.md", "--vault", "."];
        world.ok(&[&verify[..], &["--lock", "claims.lock", "--update"]].concat());
        match &edited {
            Some(text) => world.write("n.md", text),
            None => fs::rename(world.vault().join("n.md"), world.vault().join("m.md")).unwrap(),
        }
        for gate in [["--changed-since", "HEAD"], ["--lock", "claims.lock"]] {
            let run = world.run(&[&verify[..], &gate].concat());
            assert_eq!(run.code, expected, "{gate:?} {edited:?}: {}", run.stdout);
        }
    }
}

/// Every claim about blank lines was checked.
#[test]
fn lines_without_text_carry_nothing() {
    let run = judge(&world("Alice leads it [plan.md:2].\n"));
    assert_eq!(run.code, 1);
    let why = "SPAN_OUT_OF_RANGE: The cited lines have no text.";
    assert!(run.stdout.contains(why), "{}", run.stdout);
}

#[test]
fn a_doubt_is_named_in_the_last_line_and_fails_with_strict() {
    let world = world("Only Alice leads the project at the harbour office [plan.md:6].\n");
    let run = judge(&world);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let last = "passed, 1 claim in doubt: every claim is cited, and nothing disproves it";
    assert!(run.stdout.contains(last), "{}", run.stdout);
    let (answer, vault) = (world.root().join("answer.md"), world.vault());
    let [answer, vault] = [&answer, &vault].map(|path| path.to_str().unwrap());
    let args = ["verify", answer, "--vault", vault, "--strict"];
    let body = world.run(&[&args[..], &["--json"]].concat());
    assert_eq!((body.code, &body.json()["ok"]), (1, &false.into()));
    let run = world.run(&args);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.contains("rejected: 1 claim in doubt"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_gate_that_cannot_compare_says_what_is_missing() {
    let world = committed(DOCUMENT);
    let verify = ["verify", "docs/retry.md", "--vault", "."];
    let code = |more: &[&str]| world.code(&[&verify[..], more].concat());
    assert_eq!(
        code(&["--changed-since", "no-such-revision"]),
        "INVALID_ARGS"
    );
    assert_eq!(code(&["--lock", "claims.lock"]), "FILE_NOT_FOUND");
    world.write("claims.lock", "{}");
    assert_eq!(code(&["--lock", "claims.lock"]), "INVALID_ARGS");
    // A document that does not pass is not recorded.
    world.write(
        "docs/retry.md",
        "The limit is 8 attempts (src/retry.rs:3).\n",
    );
    fs::remove_file(world.vault().join("claims.lock")).unwrap();
    let run = world.run(&[&verify[..], &["--lock", "claims.lock", "--update"]].concat());
    assert!(run.code == 1 && !world.vault().join("claims.lock").exists());
}

const PLANS: &str = "# Price list 2024\n\n## Plans\n\n| Plan | Price | Encryption | Support |\n| --- | --- | --- | --- |\n| Free | 0 € | Yes | Forum |\n| Basic | 18 € | Yes | E-mail |\n| Enterprise | 240 € | Yes | Phone |\n\nThe Basic plan has no audit logs.\n";

/// An answer about the plans, judged.
fn judged_plans(answer: &str) -> crate::harness::Run {
    let world = world(answer);
    world.write("plans.md", PLANS);
    judge(&world)
}

/// Rows without their header were read as loose words, and the heading was no evidence for a year.
#[test]
fn cited_rows_are_read_with_their_header_and_the_headings_above_them() {
    for (answer, code) in [
        ("The Basic plan costs 18 € [plans.md:7-9].\n", 0),
        ("In the 2024 price list, Basic was 18 € [plans.md:8].\n", 0),
        ("In the 2023 price list, Basic was 18 € [plans.md:8].\n", 1),
        ("The Basic plan costs 240 € [plans.md:7-9].\n", 1),
        (
            "The Free plan does not include encryption [plans.md:7].\n",
            1,
        ),
        ("The Free plan includes encryption [plans.md:7].\n", 0),
        // Only what is cited counts: the other rows are not read.
        ("The Enterprise plan costs 240 € [plans.md:7].\n", 1),
    ] {
        let run = judged_plans(answer);
        assert_eq!(run.code, code, "{answer}{}{}", run.stdout, run.stderr);
    }
}

#[test]
fn an_objection_shows_the_sentence_that_it_is_about() {
    let run = judge(&world(
        "The harbour budget is 6 million euros [plan.md:3].\n",
    ));
    let source = "plan.md, line 3: “The harbour budget is 5 million euros in 2026.”";
    assert!(run.stdout.contains(source), "{}", run.stdout);
    let run = judge(&world("Alice leads the project [plan.md:6].\n"));
    assert!(!run.stdout.contains('“'), "{}", run.stdout);
}

#[test]
fn what_looks_like_a_citation_and_is_none_is_explained() {
    for (answer, why) in [
        ("Alice leads it [plan.md].", "name the line, `[plan.md:12]`"),
        (
            "Alice leads it [plan.md:6-5].",
            "they are counted from 1, the first one first",
        ),
        ("Alice leads it [plan.md:0].", "counted from 1"),
    ] {
        let run = judge(&world(answer));
        assert_eq!(run.code, 1, "{answer}");
        assert!(run.stderr.contains(why), "{answer}: {}", run.stderr);
    }
    let run = judge(&world("Nobody reads [gone.md] or [the list].\n"));
    assert_eq!(run.stderr, "");
    for answer in [
        "Alice leads the project (source: `plan.md:6`).",
        "Alice leads the project [source: plan.md:6].",
    ] {
        let run = judge(&world(answer));
        assert_eq!(run.code, 0, "{answer}: {}{}", run.stdout, run.stderr);
    }
}

/// A line that moved and was edited was looked for in its old place, where another text stands now.
#[test]
fn a_line_that_moved_and_was_edited_is_found_where_its_words_are() {
    let before =
        "# Plans\n\nPrices are net.\n\n- The Basic plan costs 18 € with support by e-mail.\n";
    let after = "# Plans\n\nPrices are net.\n\nThe trial is free.\n\nAsk us for more.\n\n- The Basic plan costs 18 € with support by mail.\n";
    for (text, code, said) in [
        (after.to_owned(), 0, "holds"),
        (after.replace("18 €", "20 €"), 1, "n.md:9"),
        (
            "# Plans\n\nPrices are net.\n\nThe trial is free.\n".to_owned(),
            1,
            "is not in the file any more",
        ),
    ] {
        let world = World::empty();
        world.write("docs/b.md", "The Basic plan costs 18 € [n.md:5].\n");
        world.write("n.md", before);
        git(&world, &["init", "-q"]);
        commit(&world);
        let verify = ["verify", "docs/b.md", "--vault", "."];
        world.ok(&[&verify[..], &["--lock", "claims.lock", "--update"]].concat());
        world.write("n.md", &text);
        for gate in [["--changed-since", "HEAD"], ["--lock", "claims.lock"]] {
            let run = world.run(&[&verify[..], &gate].concat());
            assert_eq!(run.code, code, "{gate:?} {text}: {}", run.stdout);
            assert!(run.stdout.contains(said), "{gate:?} {text}: {}", run.stdout);
        }
    }
}

/// Without a folder of notes a citation lay "below no root", and nothing said how to name one.
#[test]
fn a_citation_without_a_folder_of_notes_says_how_to_name_one() {
    let world = World::empty();
    world.write("notes/oven.md", "# Oven\n\nIt is hot in the oven.\n");
    world.write("draft.md", "It is hot in the oven [oven.md:3].\n");
    let run = world.run(&["verify", "draft.md"]);
    assert_eq!(run.code, 1);
    let hint = "No folder of notes is known. Name that of the cited files, `--vault DIR`, or add it: \
                `local-agent source add DIR`.";
    assert!(run.stdout.contains(hint), "{}", run.stdout);
    world.ok(&["verify", "draft.md", "--vault", "notes"]);
    world.ok(&["source", "add", "notes"]);
    world.ok(&["verify", "draft.md"]);
}
