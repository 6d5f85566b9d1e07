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
