//! The predecessor's defects, W1–W54, with the test that would fail if one came back.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use local_agent_index::ids::{ChunkId, RowId as _};
use local_agent_index::store::IndexReader;

use crate::harness::World;

/// Number, description, and the tests or benchmarks that guard against it; empty if the feature is
/// not built yet.
const DEFECTS: &[(u8, &str, &[&str])] = &[
    (
        1,
        "an answer without a citation was valid",
        &["c36_w1_a_fluent_answer_without_citations"],
    ),
    (
        2,
        "a real key made any sentence valid",
        &["c28_w2_one_citation_covers_one_sentence"],
    ),
    (
        3,
        "the file behind a citation was never looked at",
        &["c08_c09_w3_what_the_disk_no_longer_holds_carries_nothing"],
    ),
    (
        4,
        "disguised markers were not counted",
        &["w4_c31_every_disguise_of_a_source_marker_is_seen"],
    ),
    (
        5,
        "common headings could not be cited",
        &["w5_every_real_heading_and_path_can_be_cited"],
    ),
    (
        6,
        "a model had to copy whole keys",
        &["w6_a_label_becomes_the_whole_citation"],
    ),
    (
        7,
        "notes stood in the prompt as they were",
        &["w7_c35_evidence_cannot_leave_its_frame_and_holds_no_marks"],
    ),
    (
        8,
        "the program did not set the model's context window",
        &[
            "w8_ollama_is_asked_with_a_window_a_seed_and_a_limit",
            "w8_a_prompt_that_was_cut_is_asked_again_with_half_the_evidence",
        ],
    ),
    (
        9,
        "an invalid answer was printed all the same",
        &["w9_an_answer_that_is_refused_twice_is_replaced_by_the_notes_own_sentences"],
    ),
    (
        10,
        "the same question gave another answer",
        &["the_same_question_gives_the_same_bytes"],
    ),
    (
        11,
        "words were one substring",
        &["w11_a_natural_question_finds_what_answers_it"],
    ),
    (
        12,
        "rank was the position of the hit",
        &["w12_rank_is_by_relevance_and_not_by_position"],
    ),
    (
        13,
        "being in both lists beat any score",
        &["w13_being_in_both_lists_is_not_enough_to_be_first"],
    ),
    (
        14,
        "filters held for one side",
        &["w14_every_filter_holds_for_words_for_meaning_and_for_both"],
    ),
    (
        15,
        "all vectors were read for each question",
        &["benches/vectors.rs"],
    ),
    (
        16,
        "one file filled the evidence",
        &["w16_evidence_is_not_filled_by_one_file_or_by_copies"],
    ),
    (
        17,
        "vectors of another runtime were searched",
        &["s39_vectors_of_another_model_are_not_searched_and_said_so"],
    ),
    (
        18,
        "many candidates broke the database",
        &["w18_more_candidates_than_a_database_takes_parameters"],
    ),
    (
        19,
        "comments in code were headings",
        &["w19_comments_in_fences_are_no_headings_and_setext_lines_are"],
    ),
    (
        20,
        "a chunk was not what the file says",
        &["w20_a_chunk_is_a_slice_of_the_file_with_its_lines"],
    ),
    (
        21,
        "headings alone were nothing",
        &["w21_a_document_of_headings_alone_has_a_chunk"],
    ),
    (
        22,
        "a new section changed all keys",
        &["w22_a_section_at_the_top_keeps_the_keys_of_all_others"],
    ),
    (
        23,
        "equal paths of two sources collided",
        &["w23_the_same_path_in_two_sources_can_be_found_and_cited_in_both"],
    ),
    (
        24,
        "a run over a part marked the whole",
        &["w24_a_run_over_one_source_never_marks_the_others_as_current"],
    ),
    (
        25,
        "a link stopped the run",
        &["w25_a_link_out_of_a_source_does_not_stop_a_walk"],
    ),
    (
        26,
        "a hidden folder failed the run",
        &["w26_hidden_folders_are_passed_by_and_ignore_files_count"],
    ),
    (
        27,
        "nothing changed cost as much as everything",
        &["w27_a_run_without_changes_opens_no_file"],
    ),
    (
        28,
        "what is gone was still cited",
        &["w28_a_source_that_left_the_configuration_is_forgotten"],
    ),
    (
        29,
        "a thematic break was frontmatter",
        &["w29_an_unclosed_fence_is_a_thematic_break"],
    ),
    (
        30,
        "limits were characters",
        &["w30_small_sections_are_packed_under_the_path_they_share"],
    ),
    (
        31,
        "hashes were not those of the file",
        &["w25_w26_w28_w31_what_cannot_be_read_is_listed_with_its_reason_and_no_longer_found"],
    ),
    (
        32,
        "a limit deleted the other vectors",
        &["w32_a_limit_embeds_so_many_and_prunes_nothing"],
    ),
    (
        33,
        "a failure late lost all the work",
        &["s32_forty_kills_of_embed_leave_what_an_undisturbed_run_leaves"],
    ),
    (
        34,
        "one fingerprint stood for all rows",
        &["w34_vectors_of_two_models_never_share_a_matrix"],
    ),
    (
        35,
        "the fingerprint was about the machine",
        &["w35_the_fingerprint_is_about_vectors_only"],
    ),
    (
        36,
        "nothing to do loaded the model",
        &["w36_nothing_to_embed_loads_no_model"],
    ),
    (
        37,
        "vectors were scaled twice",
        &["every_vector_has_length_one"],
    ),
    (
        38,
        "a path was checked and opened later",
        &["s11_s12_w38_nothing_that_is_swapped_in_is_ever_read_with_openat2"],
    ),
    (
        39,
        "a link opened what a name could not",
        &["s23_w39_hidden_and_denied_names_are_out_of_reach_by_name_and_by_link"],
    ),
    (
        40,
        "files were read whole",
        &["s21_w40_no_more_than_the_cap_is_ever_read"],
    ),
    (
        41,
        "earlier answers were evidence",
        &["w41_earlier_answers_are_no_evidence"],
    ),
    (
        42,
        "bare names were not found",
        &["w42_bare_names_are_searched_recursively_and_ambiguity_lists_the_candidates"],
    ),
    (
        43,
        "side doors led outside",
        &["w43_a_found_file_may_not_reach_outside_its_folder"],
    ),
    (
        44,
        "a workroot had to have one name",
        &["w44_any_name_of_the_workroot_will_do"],
    ),
    (
        45,
        "a run's record was written at its end",
        &["w45_a_run_is_recorded_before_it_begins_and_an_end_that_never_came_is_seen"],
    ),
    (
        46,
        "whole texts were logged",
        &["s30_w46_secrets_and_whole_texts_are_not_recorded"],
    ),
    (
        47,
        "errors had a shape for each command",
        &["w47_every_command_line_of_the_ancestor_does_its_job_and_keeps_its_fields"],
    ),
    (48, "readers wrote", &["w48_no_reader_changes_a_byte"]),
    (
        49,
        "looking for a server took minutes",
        &["w49_a_server_that_does_not_answer_is_a_check_of_its_own"],
    ),
    (
        50,
        "doctor passed over what was missing",
        &["w50_missing_outdated_and_orphaned_vectors_are_counted_without_being_required"],
    ),
    (
        51,
        "mistyped settings were ignored",
        &["w51_unknown_keys_and_wrong_values_are_named_with_file_and_line"],
    ),
    (
        52,
        "memory broke with each edit",
        &["w52_keys_are_checked_and_links_know_what_became_of_their_text"],
    ),
    (
        53,
        "everything stood in one file",
        &["every_module_uses_only_what_stands_above_it"],
    ),
    (
        54,
        "nobody measured what is found",
        &["w54_questions_find_the_notes_that_answer_them"],
    ),
];

#[test]
fn every_defect_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests: BTreeSet<String> = ["src", "crates", "tests/it"]
        .iter()
        .flat_map(|dir| sources(&root.join(dir)))
        .flat_map(|text| names(&text))
        .collect();
    let numbers: Vec<u8> = DEFECTS.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..=54).collect::<Vec<u8>>());
    for (number, what, guards) in DEFECTS {
        for guard in *guards {
            let there = if guard.contains('/') {
                root.join(guard).is_file()
            } else {
                tests.contains(*guard)
            };
            assert!(
                there,
                "W{number} ({what}) is said to be held off by `{guard}`, which is not there"
            );
        }
    }
    let open: Vec<u8> = DEFECTS
        .iter()
        .filter(|(_, _, guards)| guards.is_empty())
        .map(|(number, ..)| *number)
        .collect();
    assert_eq!(open, Vec::<u8>::new());
}

fn sources(dir: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// The functions below a `#[test]` attribute.
fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
            names.push(rest.split('(').next().unwrap().to_owned());
        }
        is_test = line.starts_with("#[test]") || is_test && line.starts_with("#[");
    }
    names
}

/// Sets old time stamps: a recently written file is read again, whatever its stamp.
fn age(world: &World) {
    for entry in ignore::Walk::new(world.vault()) {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            let file = fs::File::options().write(true).open(entry.path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(3600))
                .unwrap();
        }
    }
}

#[test]
fn w27_a_run_without_changes_opens_no_file() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b/c.md", "# C\n\nTwo.\n")]);
    age(&world);
    assert_eq!(world.json(&["index"])["docs_read"], 2);
    let body = world.json(&["index"]);
    assert_eq!(
        (&body["docs_read"], &body["docs_unchanged"]),
        (&0.into(), &2.into())
    );
    world.write("a.md", "# A\n\nOther.\n");
    let body = world.json(&["index"]);
    assert_eq!(
        (&body["docs_read"], &body["docs_changed"]),
        (&1.into(), &1.into())
    );
    assert_eq!(world.json(&["index", "--verify"])["docs_read"], 2);
}

#[test]
fn w16_evidence_is_not_filled_by_one_file_or_by_copies() {
    let world = World::empty();
    let section = |n: usize| {
        let words: String = (0..90).map(|word| format!("word{n}x{word} ")).collect();
        format!("## Pond {n}\n\nHeron {n} met nobody at the pond. {words}\n\n")
    };
    world.write(
        "long.md",
        &format!("# Herons\n\n{}", (0..20).map(section).collect::<String>()),
    );
    for copy in 0..10 {
        world.write(
            &format!("copy{copy}.md"),
            "# Stork\n\nA stork and a heron met at the pond in May.\n",
        );
    }
    world.write(
        "other.md",
        "# Crane\n\nThe crane met no heron at the pond.\n",
    );
    world.ok(&["init", "--here", "--source", "notes=."]);
    world.ok(&["index"]);
    let file = world.root().join("snapshot.json");
    world.ok(&[
        "ask",
        "Where did the heron meet the stork?",
        "--snapshot-out",
        file.to_str().unwrap(),
    ]);
    let snapshot: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let paths: Vec<&str> = snapshot["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["path"].as_str().unwrap())
        .collect();
    let count = |start: &str| paths.iter().filter(|path| path.starts_with(start)).count();
    assert_eq!(count("copy"), 1, "{paths:?}");
    assert!(count("long") <= 3, "{paths:?}");
    assert_eq!(count("other"), 1, "{paths:?}");
}

#[test]
fn w18_more_candidates_than_a_database_takes_parameters() {
    let world = World::with(&[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    world.ok(&["index"]);
    let index = IndexReader::required(&world.state().join("index.sqlite")).unwrap();
    let ids: Vec<ChunkId> = (1..=100_000).map(ChunkId::from_row).collect();
    assert_eq!(index.chunks(&ids).unwrap().len(), 2);
}

#[test]
fn w36_nothing_to_embed_loads_no_model() {
    let world = World::empty();
    world.write("a.md", "# A\n\nOne.\n");
    let model = world.root().join("model");
    let config = world.root().join("config.yaml");
    let vault = world.vault();
    let text = format!(
        "workroot: {0}\nsources:\n  - name: notes\n    root: {0}\nembed:\n  model_path: {1}\n",
        vault.display(),
        model.display()
    );
    fs::write(&config, text).unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/all-MiniLM-L6-v2");
    for file in ignore::Walk::new(&shipped)
        .flatten()
        .filter(|entry| entry.path().is_file())
    {
        let to = model.join(file.path().strip_prefix(&shipped).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(file.path(), to).unwrap();
    }
    let config = ["--config", config.to_str().unwrap(), "--json"];
    let embed = [&["embed"], &config[..]].concat();
    world.ok(&[&["index"], &config[..]].concat());
    world.ok(&embed);
    // The right length, but not weights: loading them fails.
    let weights = model.join("model.safetensors");
    fs::write(
        &weights,
        vec![0; fs::metadata(&weights).unwrap().len() as usize],
    )
    .unwrap();
    world.ok(&embed);
    world.write("b.md", "# B\n\nTwo.\n");
    world.ok(&[&["index"], &config[..]].concat());
    assert_eq!(world.fails(&embed)["error_code"], "MODEL_INVALID");
}

#[test]
fn w54_questions_find_the_notes_that_answer_them() {
    let world = World::embedded();
    let questions = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/questions.jsonl");
    let (mut asked, mut found) = (0, 0);
    let mut missed = Vec::new();
    for line in fs::read_to_string(questions).unwrap().lines().step_by(3) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let expected: Vec<&str> = line["expected_files"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|f| f.as_str())
            .collect();
        if expected.is_empty() {
            continue;
        }
        asked += 1;
        let question = line["question"].as_str().unwrap();
        let hits = world.json(&["query", "--limit", "8", question]);
        let hits = hits["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["rel_path"].as_str().unwrap().to_owned());
        if hits
            .collect::<Vec<_>>()
            .iter()
            .any(|path| expected.contains(&path.as_str()))
        {
            found += 1;
        } else {
            missed.push(question.to_owned());
        }
    }
    assert!(
        asked >= 20 && found * 100 >= asked * 95,
        "{found} of {asked}; not found: {missed:?}"
    );
}
