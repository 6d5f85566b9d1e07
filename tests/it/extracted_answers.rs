//! Answers without a chat model: what is shown of callouts, tables, folders and dated notes.

use crate::harness::World;

/// A vault with these notes, indexed without vectors.
fn world(notes: &[(&str, &str)]) -> World {
    let world = World::with(notes);
    world.ok(&["index"]);
    world
}

fn answer(world: &World, question: &str) -> String {
    world
        .ok(&["ask", question, "--now", "2026-06-18"])
        .stdout
        .clone()
}

/// A sentence over several lines of a block quote was never shown: its marks began a new quote inside
/// the answer, and verification refused it.
#[test]
fn a_sentence_over_lines_of_a_callout_is_an_answer() {
    for (marks, note) in [
        (">", "chili.md"),
        ("> >", "nested.md"),
        ("- > ", "in_a_list.md"),
    ] {
        let next = marks.replace('-', " ");
        let text = format!(
            "# Chilis\n\n{marks} [!info] Store\n{next} Dry the chilis at 50 °C\n{next} for ten hours.\n"
        );
        let world = world(&[(note, &text)]);
        let shown = answer(&world, "How long are the chilis dried?");
        assert!(
            shown.contains("Dry the chilis at 50 °C for ten hours."),
            "{marks}: {shown}"
        );
        assert!(!shown.contains("left out"), "{marks}: {shown}");
    }
}

/// "Wear gloves. ~~Do not wear gloves.~~" was shown as two sentences that say the opposite.
#[test]
fn what_is_crossed_out_is_no_answer() {
    let note = "# Gloves\n\nWear gloves when you cut chilis. ~~Do not wear gloves.~~\n";
    let world = world(&[("gloves.md", note)]);
    let shown = answer(&world, "Should I wear gloves?");
    assert!(
        shown.contains("Wear gloves when you cut chilis."),
        "{shown}"
    );
    assert!(!shown.contains("Do not wear"), "{shown}");
}

const RUNS: &str = "# Running log\n\n| Date | Distance | Time |\n| --- | --- | --- |\n\
    | 2026-04-26 | 5.0 km | 28:00 |\n| 2026-05-03 | 6.0 km | 33:10 |\n\
    | 2026-05-10 | 8.0 km | 45:30 |\n| 2026-05-24 | 10.0 km | 57:41 |\n";

/// "How many km" was answered by two of three rows, and by the number of rows.
#[test]
fn how_many_of_a_unit_is_a_sum() {
    let world = world(&[("log.md", RUNS)]);
    let shown = answer(&world, "How many km did I run in May 2026?");
    assert!(shown.starts_with("24.0 km = 6.0 + 8.0 + 10.0 "), "{shown}");
    let shown = answer(&world, "How many km of cable did I lay in May 2026?");
    assert!(!shown.contains("24.0 km ="), "{shown}");
}

/// Folders count their notes, not the rows of a table in one of them.
#[test]
fn how_many_of_a_folder_are_its_notes() {
    let soup = "# Soup\n\n| Ingredient | Amount |\n| --- | --- |\n| beetroot | 3 |\n| onion | 1 |\n\
        | carrot | 2 |\n| stock | 1 l |\n";
    let bread = "# Bread\n\nBake it.\n";
    let world = world(&[
        ("recipes/soup.md", soup),
        ("recipes/bread.md", bread),
        ("recipes/cake.md", "# Cake\n\nStir it.\n"),
        ("letters/anna.md", "# Anna\n\nShe likes recipes.\n"),
    ]);
    for question in [
        "How many recipes do I have?",
        "Wie viele Recipes habe ich?",
        "What is the number of recipes there?",
    ] {
        let shown = answer(&world, question);
        assert!(shown.starts_with("3 = 3 "), "{question}: {shown}");
        assert!(shown.contains("Cake"), "{question}: {shown}");
    }
    let shown = answer(&world, "How many recipes contain beetroot?");
    assert!(!shown.starts_with("3 = 3 "), "{shown}");
}

/// Rows that match were left out without a word.
#[test]
fn all_rows_that_match_are_shown_or_counted() {
    let mut coffee = "# Coffee purchases\n\nBeans for the office.\n\n\
        | Date | Roaster | Kilos | Paid |\n| --- | --- | ---: | ---: |\n"
        .to_owned();
    for day in 1..=24 {
        let roaster = ["Elbgold", "Bonanza", "The Barn"][day % 3];
        coffee += &format!("| 2026-01-{day:02} | {roaster} | {day}.0 | {day}.50 € |\n");
    }
    let world = world(&[("coffee.md", &coffee)]);
    let shown = answer(&world, "What did I buy at Elbgold?");
    assert_eq!(shown.matches("Elbgold").count(), 8, "{shown}");
    assert!(!shown.contains("Bonanza"), "{shown}");
}

/// The day that a sentence mentions was printed as the day of the entry.
#[test]
fn the_day_before_a_passage_is_the_day_of_its_note() {
    let world = world(&[(
        "daily/2026-06-16.md",
        "# Tuesday\n\nInes called: the opening of the museum moves to 3 October 2026.\n",
    )]);
    let shown = answer(&world, "When did Ines call?");
    assert!(!shown.contains("2026-10-03:"), "{shown}");
    assert!(shown.contains("3 October 2026"), "{shown}");
    assert!(shown.contains("2026-06-16"), "{shown}");
}

const MANUAL: &str = "# Manual\n\nThe machine is red.\n\n## Descaling the espresso machine\n\n\
    Use citric acid, 20 g a litre, every three months.\n";

/// A contents list with page numbers, and a list of links, were the answer to "how do I".
#[test]
fn a_list_that_leads_elsewhere_is_no_answer() {
    let contents = "# Table of contents\n\n1. Descaling the espresso machine ........ 3\n\
        2. Replacing the gasket of the espresso machine ........ 5\n3. Index ........ 9\n";
    let links = "# Links\n\n- [Espresso machine descaling guide](https://example.org/descale)\n\
        - [Gasket video](https://example.org/gasket)\n- [Filter shop](https://example.org/filter)\n";
    let world = world(&[
        ("contents.md", contents),
        ("links.md", links),
        ("manual.md", MANUAL),
    ]);
    let shown = answer(&world, "How do I descale the espresso machine?");
    assert!(shown.contains("Use citric acid"), "{shown}");
    assert!(!shown.contains("........"), "{shown}");
    assert!(!shown.contains("[1] links.md"), "{shown}");
}

/// "The parties of the treaty are:" was an answer, with nothing behind it.
#[test]
fn an_introduction_alone_is_no_answer() {
    let note = "# Treaty\n\nIt was signed in May.\n\nThe parties of the harbour treaty are:\n\n\
        ## Members\n\nSee the appendix.\n";
    let world = world(&[("treaty.md", note)]);
    let asked = ["ask", "Who are the parties of the harbour treaty?"];
    assert_eq!(world.json(&asked)["outcome"], "closest");
}

/// Of forty announced items, or rows, a part was shown, without a word.
#[test]
fn a_list_that_is_cut_says_so() {
    let lead = "# Launch\n\nBefore the launch of the rocket the crew checks the following:\n\n";
    let (mut list, mut table) = (
        lead.to_owned(),
        format!("{lead}| Valve | State |\n| --- | --- |\n"),
    );
    for n in 0..40 {
        list += &format!("- valve number {n} of the tank is closed and sealed with wire\n");
        table += &format!("| valve number {n} of the tank | closed and sealed with wire |\n");
    }
    let questions = [
        "What does the crew check before the launch of the rocket?",
        "Which things does the crew check before the launch of the rocket?",
        "List the things that the crew checks before the launch of the rocket",
    ];
    // A question for one fact is answered by one row.
    for (note, what, first) in [(list, "items", 0), (table, "rows", 1)] {
        let world = world(&[("launch.md", &note)]);
        for question in &questions[first..] {
            let shown = answer(&world, question);
            let all = shown.contains("number 39 ");
            let says = shown.contains(&format!(" of 40 {what} are shown."));
            assert!(shown.contains("number 5 "), "{question}: {shown}");
            assert!(all != says, "{question}: {shown}");
        }
    }
}

/// "Show me" was a word that the tasks had to have, and so were "June" and "week".
#[test]
fn tasks_are_found_by_the_day_they_are_due() {
    let world = world(&[
        (
            "daily/2026-06-12.md",
            "# Friday\n\n- [ ] Pay the insurance 📅 2026-06-15\n- [ ] Call the vet 📅 2026-06-20\n",
        ),
        (
            "projects/brochure.md",
            "# Brochure\n\n- [ ] Send proofs to Ines 📅 2026-06-30\n- [ ] Print it 📅 2026-09-01\n\
             - [x] Pay the designer 📅 2026-06-02\n",
        ),
    ]);
    for (question, tasks) in [
        (
            "Which tasks are due in June?",
            &["insurance", "vet", "proofs"][..],
        ),
        ("What is due this week?", &["insurance", "vet"]),
        (
            "Show me all open tasks",
            &["insurance", "vet", "proofs", "Print"],
        ),
    ] {
        let shown = answer(&world, question);
        for task in ["insurance", "vet", "proofs", "Print", "designer"] {
            assert_eq!(
                shown.contains(task),
                tasks.contains(&task),
                "{question}: {task}: {shown}"
            );
        }
    }
}

/// "2,180" was either of two numbers, though the note is English.
#[test]
fn amounts_with_marks_between_thousands_are_compared() {
    let note = "# Brochure\n\nThe brochure is printed in June, and these are the quotes that the printers sent us.\n\n\
        | Printer | Price | Delivery |\n| --- | --- | --- |\n| Hanisch | 2,180 € | 12 days |\n\
        | Flyerfix | 1,640 € | 5 days |\n| Oderdruck | 900 € | 9 days |\n";
    let world = world(&[("brochure.md", note)]);
    let shown = answer(&world, "What is the sum of the printer prices?");
    assert!(shown.starts_with("4720 € = 2180 + 1640 + 900 "), "{shown}");
}
