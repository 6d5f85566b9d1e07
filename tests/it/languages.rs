//! Notes in several languages: the model that `auto` chooses, and questions in another language
//! than the answer.

use crate::harness::World;

/// English notes about a house and a bakery; each subject but the roof is only in one language.
const ENGLISH: &[(&str, &str)] = &[
    (
        "en/boiler.md",
        "# Boiler\n\nThe boiler was serviced in March by the plumber, and the pressure was set to two bar.\n",
    ),
    (
        "en/garden.md",
        "# Garden\n\nThe apple trees are pruned in winter, before the birds build their nests in them.\n",
    ),
    (
        "en/bread.md",
        "# Bread\n\nThe sourdough rests for eight hours in the cold room and is baked with a lot of steam.\n",
    ),
    (
        "en/bicycle.md",
        "# Bicycle\n\nThe chain of the bicycle was replaced, and the brakes were adjusted by the mechanic.\n",
    ),
    (
        "en/meeting.md",
        "# Meeting\n\nThe board decided to move the annual meeting to the autumn, because the hall was not free.\n",
    ),
    (
        "en/insurance.md",
        "# Insurance\n\nThe insurance pays for water damage, but not for damage by storms and by hail.\n",
    ),
    (
        "en/holiday.md",
        "# Holiday\n\nThe train to the coast leaves early in the morning, and the seats must be reserved.\n",
    ),
];

const GERMAN: &[(&str, &str)] = &[
    (
        "de/dach.md",
        "# Dach\n\nDer Dachdecker hat die kaputten Ziegel ersetzt und die Rinne gereinigt, das hat 840 Euro gekostet.\n",
    ),
    (
        "de/katze.md",
        "# Katze\n\nDie Katze bekommt jeden Morgen eine Tablette gegen ihre Schmerzen in den Gelenken.\n",
    ),
    (
        "de/steuer.md",
        "# Steuer\n\nDie Steuererklärung muss bis Ende Juli beim Finanzamt sein, sonst kostet es eine Strafe.\n",
    ),
    (
        "de/klavier.md",
        "# Klavier\n\nDas Klavier wurde von Herrn Brandt gestimmt, er kommt wieder im nächsten Frühling.\n",
    ),
    (
        "de/schule.md",
        "# Schule\n\nDie Kinder haben am Freitag keine Schule, weil die Lehrer eine Fortbildung haben.\n",
    ),
    (
        "de/suppe.md",
        "# Suppe\n\nDie Suppe kocht mit Linsen und Karotten eine halbe Stunde auf kleiner Flamme.\n",
    ),
    (
        "de/fahrt.md",
        "# Fahrt\n\nDie Fahrt zu den Großeltern dauert mit dem Auto fast vier Stunden, wenn kein Stau ist.\n",
    ),
];

fn embedded(notes: &[&[(&str, &str)]]) -> World {
    let world = World::with(&notes.concat());
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world
}

fn first(world: &World, arguments: &[&str]) -> String {
    let found = world.json(&[&["query"], arguments].concat());
    let path = found["hits"][0]["rel_path"].as_str();
    path.unwrap_or_default().to_owned()
}

#[test]
fn the_languages_of_the_notes_choose_the_model() {
    let english = embedded(&[ENGLISH]);
    assert_eq!(
        english.json(&["embed"])["model_id"],
        "all-MiniLM-L6-v2",
        "English notes"
    );
    let mixed = embedded(&[ENGLISH, GERMAN]);
    assert_eq!(
        mixed.json(&["embed"])["model_id"],
        "multilingual-e5-small",
        "half of the notes are German"
    );
}

#[test]
fn a_question_finds_the_note_in_another_language() {
    let world = embedded(&[ENGLISH, GERMAN]);
    for (question, expected) in [
        ("when is the tax return due", "de/steuer.md"),
        ("what medicine does the cat get", "de/katze.md"),
        ("Wann werden die Apfelbäume geschnitten?", "en/garden.md"),
        ("Wie lange ruht der Sauerteig?", "en/bread.md"),
        ("who tuned the piano", "de/klavier.md"),
        ("Was kostete der Dachdecker?", "de/dach.md"),
        ("Who adjusted the brakes of the bicycle?", "en/bicycle.md"),
    ] {
        let first_of_all = first(&world, &[question, "--min-score", "0"]);
        assert_eq!(first_of_all, expected, "{question}");
    }
    let found = first(&world, &["what medicine does the cat get"]);
    assert_eq!(found, "de/katze.md");
}

/// The notes of one language, and what a question about them in another one finds.
#[test]
fn notes_in_one_language_answer_a_question_in_another() {
    let world = embedded(&[GERMAN]);
    for (question, expected) in [
        ("when is the tax return due", "de/steuer.md"),
        ("what medicine does the cat get", "de/katze.md"),
        ("who tuned the piano", "de/klavier.md"),
        ("Какое лекарство получает кошка?", "de/katze.md"),
        ("猫吃什么药？", "de/katze.md"),
    ] {
        assert_eq!(first(&world, &[question]), expected, "{question}");
        let by_vectors = first(&world, &[question, "--mode", "vector"]);
        assert_eq!(by_vectors, expected, "{question}");
    }
    for nonsense in ["zzqx flurbl wombat", "qqqq wwww"] {
        assert_eq!(first(&world, &[nonsense]), "", "{nonsense}");
    }
    let said = world
        .ok(&["query", "what medicine does the cat get for tea"])
        .stderr;
    assert!(
        !said.contains("`what`") && !said.contains("`the`"),
        "{said}"
    );
}

#[test]
fn a_model_that_reads_english_only_says_so_of_a_question_in_another_language() {
    let world = embedded(&[ENGLISH]);
    let fix = "local-agent embed --model multilingual-e5-small";
    for (question, language) in [
        ("Wie lange ruht der Sauerteig?", "German"),
        ("Сколько часов стоит тесто?", "Russian"),
        ("面团要放多久？", "Chinese"),
    ] {
        let said = format!(
            "the model all-MiniLM-L6-v2 reads English only, and the question is in {language}"
        );
        for command in ["query", "vsearch"] {
            let run = world.ok(&[command, question]);
            assert!(run.stderr.contains(&said), "{command}: {}", run.stderr);
            assert!(run.stderr.contains(fix), "{command}: {}", run.stderr);
        }
        let body = world.json(&["query", question]);
        let stale = body["stale"].as_array().unwrap();
        let one = stale.iter().find(|one| one["why"] == said.as_str());
        assert_eq!(one.unwrap()["fix"], fix, "{body}");
        let answer = world.run(&["ask", question, "--json"]);
        assert!(answer.stdout.contains(&said), "{}", answer.stdout);
    }
    let english = world.ok(&["query", "who painted the ceiling of the chapel"]);
    assert!(
        !english.stderr.contains("English only"),
        "{}",
        english.stderr
    );
    world.ok(&["embed", "--model", "multilingual-e5-small"]);
    let found = first(&world, &["Wie lange ruht der Sauerteig?"]);
    assert_eq!(found, "en/bread.md", "the fix mends it");
}

#[test]
fn a_configured_model_that_reads_english_only_is_changed_in_the_configuration() {
    let configured = |world: &World, model: &str| {
        let text = format!("sources: [{{name: notes, root: .}}]\nembed: {{model: {model}}}\n");
        world.write("local-agent.yaml", &text);
    };
    let world = World::with(ENGLISH);
    configured(&world, "all-MiniLM-L6-v2");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let question = "Wie lange ruht der Sauerteig?";
    let said = world.ok(&["query", question]).stderr;
    let fix = "set embed.model to multilingual-e5-small, then run `local-agent embed`";
    assert!(said.contains(fix), "{said}");
    configured(&world, "multilingual-e5-small");
    world.ok(&["embed"]);
    assert_eq!(
        first(&world, &[question, "--min-score", "0"]),
        "en/bread.md"
    );
}

#[test]
fn doctor_names_the_command_that_takes_a_model_that_reads_the_notes() {
    let world = World::with(&[
        (
            "oven.md",
            "# 烤箱\n\n烤箱是用花岗岩做的，放在厨房的角落里。\n",
        ),
        ("pump.md", "# 水泵\n\n水泵在五月修好了，现在放在地下室。\n"),
    ]);
    world.ok(&["index"]);
    world.ok(&["embed", "--model", "all-MiniLM-L6-v2"]);
    let report = world.run(&["doctor", "--offline"]);
    let fix = "local-agent embed --model auto";
    assert!(report.stdout.contains(fix), "{}", report.stdout);
    world.ok(&["embed", "--model", "auto"]);
    let report = world.ok(&["doctor", "--offline"]);
    assert!(!report.stdout.contains(fix), "{}", report.stdout);
}

#[test]
fn a_short_question_in_a_script_that_the_model_cannot_read_is_said_to_be_unreadable() {
    let world = embedded(&[ENGLISH]);
    for question in ["котёл", "泵漏水"] {
        let body = world.json(&["query", question, "--min-score", "0", "--explain"]);
        let said = body["vectors_without_say"].as_str().unwrap_or_default();
        assert!(
            said.contains("cannot read the script of this query"),
            "{body}"
        );
        let body = world.json(&["vsearch", question]);
        let said = body["vectors_without_say"].as_str().unwrap_or_default();
        assert!(
            said.contains("cannot read the script of this query"),
            "{body}"
        );
    }
}

#[test]
fn auto_says_when_it_would_take_another_model_by_now_and_takes_it_when_asked() {
    let world = embedded(&[ENGLISH]);
    let reason = |world: &World| world.json(&["status"])["model_reason"].clone();
    let natural = "no passage of the index is in another language than English";
    assert_eq!(reason(&world), natural, "the reason stays after `embed`");
    for (path, text) in GERMAN {
        world.write(path, text);
    }
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let now = reason(&world);
    let now = now.as_str().unwrap_or_default();
    assert!(
        now.starts_with(
            "it made the vectors that are there; `local-agent embed --model auto` would take \
             multilingual-e5-small now, because "
        ) && now.contains("of 14 passages"),
        "{now}"
    );
    let embedded = world.json(&["embed", "--model", "auto"]);
    assert_eq!(embedded["model_id"], "multilingual-e5-small");
    let status = world.json(&["status"]);
    assert_eq!(status["model"], "multilingual-e5-small");
    assert_eq!(status["coverage"]["embedded"], 14);
    assert!(
        !reason(&world)
            .as_str()
            .unwrap_or_default()
            .contains("would take")
    );
}

#[test]
fn question_words_are_not_completed_and_capitals_are_searched() {
    let world = World::with(&[
        ("boat.md", "# Boat\n\nHowever the boat leaks, it floats.\n"),
        ("car.md", "# Car\n\nThe car leaks oil.\n"),
        (
            "office.md",
            "# Office\n\nThe IT department is on floor three. Ask IT for a laptop.\n",
        ),
        (
            "words.md",
            "# Note\n\nwhat are there any of them, and why are they so.\n",
        ),
        (
            "scale.md",
            "# Waage\n\nDie Katze wiegt viel, und die Waage wird am Dienstag repariert.\n",
        ),
        (
            "bike.md",
            "# Rad\n\nDas Schloss hat den Code 4711, und der wird oft vergessen.\n",
        ),
    ]);
    world.ok(&["index"]);
    for question in ["how leaks", "Wie wird der Code vergessen"] {
        let body = world.json(&["query", question, "--mode", "lexical"]);
        assert!(body["corrections"].is_null(), "{body}");
    }
    let code = first(&world, &["Wie wird der Code geändert", "--mode", "lexical"]);
    assert_eq!(code, "bike.md");
    let it = first(
        &world,
        &["what is IT", "--mode", "lexical", "--min-score", "0"],
    );
    assert_eq!(it, "office.md");
}
