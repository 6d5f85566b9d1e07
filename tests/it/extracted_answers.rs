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

const HARVEST: &str = "# Harvest\n\n| When | Crop | kg |\n| --- | --- | --- |\n\
    | 2026-04-18 | rhubarb | 2.1 |\n| 2026-05-02 | asparagus | 0.9 |\n\
    | 2026-05-16 | asparagus | 1.3 |\n| 2026-06-06 | broad beans | 3.4 |\n";

/// The rows of a month were only shown as closest, beside rows of other months.
#[test]
fn the_rows_of_the_days_in_question_are_the_answer() {
    let world = world(&[("harvest.md", HARVEST)]);
    let shown = answer(&world, "What did I harvest in May?");
    assert!(shown.contains("0.9") && shown.contains("1.3"), "{shown}");
    for other in ["2.1", "3.4", "Closest"] {
        assert!(!shown.contains(other), "{other}: {shown}");
    }
    let none = answer(&world, "Who paid the plumber in May?");
    assert!(none.contains("Closest") || !none.contains("0.9"), "{none}");
}

const SOWING: &str = "# Sowing\n\n| Sown | What | Bed | Germinated |\n| --- | --- | --- | --- |\n\
    | 2026-02-15 | tomato | sill | 2026-02-24 |\n| 2026-03-14 | parsnip | 4 | 2026-04-12 |\n\
    | 2026-03-20 | carrot | 2 | 2026-04-05 |\n";

/// With two columns of days, the one that the question names decides.
#[test]
fn the_column_of_days_is_the_one_that_the_question_names() {
    let world = world(&[("sowing.md", SOWING)]);
    let shown = answer(&world, "What germinated in April?");
    assert!(
        shown.contains("parsnip") && shown.contains("carrot") && !shown.contains("tomato"),
        "{shown}"
    );
    let shown = answer(&world, "What was sown in February?");
    assert!(
        shown.contains("tomato") && !shown.contains("parsnip"),
        "{shown}"
    );
    let shown = answer(
        &world,
        "How many days did the parsnip take from sowing to germination?",
    );
    assert!(shown.contains("29 days"), "{shown}");
}

/// "£ / month" was taken for a column of dates, and a policy number for an amount.
#[test]
fn a_column_of_rates_is_added_up_and_codes_are_no_amounts() {
    let note = "# Subscriptions\n\n| What | £ / month | Policy | Until |\n| --- | --- | --- | --- |\n\
        | Broadband | 31 | AB-77120-B | 12 Aug 2027 |\n| Mobile | 9.50 | AB-77121-C | monthly |\n\
        | Gym | 29 | CD-1204-X | monthly |\n";
    let world = world(&[("money/subscriptions.md", note)]);
    let shown = answer(&world, "What is the total of the subscriptions?");
    assert!(shown.contains("69.50 = 31 + 9.50 + 29"), "{shown}");
    let shown = answer(&world, "Which of the subscriptions is the cheapest?");
    assert!(
        shown.contains("Mobile") && !shown.contains("Gym"),
        "{shown}"
    );
}

/// Readings of a counter were added up.
#[test]
fn readings_of_a_counter_are_subtracted() {
    let note = "# Meter\n\n| Date | Gas m3 | Power kWh |\n| --- | --- | --- |\n\
        | 2026-01-01 | 8412 | 30117 |\n| 2026-03-01 | 8795 | 31002 |\n\
        | 2026-05-01 | 8850 | 31490 |\n| 2026-06-01 | 8871 | 31688 |\n";
    let world = world(&[("meter.md", note)]);
    let shown = answer(&world, "How many kWh of power in total?");
    assert!(shown.contains("1571") || shown.contains("1,571"), "{shown}");
    let steps = note
        .replace("# Meter", "# Walking")
        .replace("Power kWh", "Walked km");
    let world = self::world(&[("walking.md", &steps)]);
    let shown = answer(&world, "How many km walked in total?");
    assert!(
        !shown.contains("1571") && !shown.contains("1,571"),
        "{shown}"
    );
}

/// A line of a few words above a table, or above a list behind a blank line, was shown alone.
#[test]
fn a_short_line_above_a_table_or_a_list_comes_with_it() {
    let table = "# Shed\n\nThe padlock has four digits.\n\nTools out on loan\n| What | Who |\n| --- | --- |\n\
        | strimmer | Jan |\n| post driver | Lal |\n";
    let list = "# Blight\n\nBrown patches, white fuzz underneath.\n\nWhat I do\n\n1. Cut all haulm\n2. Bag it\n3. Tell the others\n";
    let world = world(&[("shed.md", table), ("blight.md", list)]);
    let shown = answer(&world, "Which tools are out on loan?");
    assert!(
        shown.contains("strimmer") && shown.contains("post driver"),
        "{shown}"
    );
    let shown = answer(&world, "What are the steps against blight?");
    assert!(
        shown.contains("Cut all haulm") && shown.contains("Tell the others"),
        "{shown}"
    );
}
