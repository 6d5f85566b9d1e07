//! Years: each must be in the cited text, its heading or its path.

use super::outcomes::{all_objected, all_rejected, all_undoubted};
use super::*;

#[test]
fn a_year_that_stands_nowhere_is_rejected() {
    const ROOF: &str = "The roof of the old mill was repaired by volunteers.";
    all_rejected(
        &[Code::Date],
        &[
            (ROOF, "The roof of the old mill was repaired in 2019"),
            (
                ROOF,
                "Since 2019 volunteers repaired the roof of the old mill",
            ),
            (
                ROOF,
                "From 2019–2021 volunteers repaired the roof of the old mill",
            ),
            (ROOF, "Volunteers repaired the roof of the old mill (2019)"),
            (
                "The guide of the club lists all huts.",
                "The 2019 edition of the guide of the club lists all huts",
            ),
            (
                "The order has the number 120195 in the list.",
                "The order is in the list of 2019",
            ),
            (
                "The order weighs 1.2019 kg in the list.",
                "The order is in the list of 2019",
            ),
            (
                "The trail is 2019 km long in the list.",
                "The trail is in the list of 2019",
            ),
            (
                "Das Dach der alten Mühle wurde repariert.",
                "Das Dach der alten Mühle wurde 2019 repariert",
            ),
            (
                "Le toit du vieux moulin a été réparé.",
                "Le toit du vieux moulin a été réparé en 2019",
            ),
            (
                "El tejado del viejo molino fue reparado.",
                "El tejado del viejo molino fue reparado en 2019",
            ),
            (
                "Крыша старой мельницы была отремонтирована.",
                "Крыша старой мельницы была отремонтирована в 2019 году",
            ),
            (
                "ورشة السقف القديم انتهت في الربيع",
                "ورشة السقف القديم انتهت في الربيع 2019",
            ),
        ],
    );
}

#[test]
fn a_year_added_to_a_day_of_the_text_is_doubtful() {
    all_objected(
        &[Code::Date],
        &[
            ("It opens on 3 March.", "It opens on 3 March 2019"),
            ("The mill opens in March.", "The mill opens in March 2019"),
            ("Sie öffnet am 3. März.", "Sie öffnet am 3. März 2019"),
            (
                "It opens on 3 March with 2,019 guests.",
                "It opens on 3 March 2019",
            ),
        ],
    );
}

#[test]
fn a_year_in_any_notation_is_in_the_text() {
    all_undoubted(&[
        (
            "The roof was repaired in 2019 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired in FY2019 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired in FY19 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired in ’19 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired in 2018/19 by volunteers.",
            "Volunteers repaired the roof in 2018 and 2019",
        ),
        (
            "The roof was repaired 2018–19 by volunteers.",
            "Volunteers repaired the roof from 2018 to 2019",
        ),
        (
            "The roof was repaired on 2019-03-04 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired (see 20190304) by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired on 04.03.2019 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired on 04.03.19 by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        (
            "The roof was repaired in the ’90s by volunteers.",
            "Volunteers repaired the roof in the 1990s",
        ),
        (
            "# Mill 2019\n\nThe roof was repaired by volunteers.",
            "Volunteers repaired the roof in 2019",
        ),
        ("屋顶于2019年修好。", "屋顶于2019年修好了"),
        (
            "Das Dach wurde 2019 repariert.",
            "2019 wurde das Dach repariert",
        ),
        (
            "The festival ran from 2019 to 2021 in Bern.",
            "The festival ran 2019–2021 in Bern",
        ),
    ]);
}

#[test]
fn a_year_of_the_heading_or_the_path_is_in_the_text() {
    let text = "The roof was repaired by volunteers.\n";
    for (path, heading) in [
        ("journal/2019-03-04.md", "H1: Mill"),
        ("journal/20190304.md", "H1: Mill"),
        ("2019/mill.md", "H1: Mill"),
        ("mill.md", "H1: Spring 2019"),
    ] {
        let excerpts = vec![excerpt(path, heading, 0, text)];
        let frozen = EvidenceSnapshot::freeze("When was it repaired?", excerpts).unwrap();
        let report = check_in("Volunteers repaired the roof in 2019 [E1].", &frozen);
        assert!(report.ok, "{path}: {:?}", report.codes);
        let report = check_in("Volunteers repaired the roof in 2018 [E1].", &frozen);
        assert_eq!(report.codes, [Code::Date], "{path}");
    }
}
