//! A computed difference has the direction of its amounts, a growth is no share, and a duration with its
//! own ends is between those.

use super::outcomes::{all_objected, all_passed};
use super::*;

const HARVEST: &str = "# Garden\n\n\
    - 2025-03-09: sowed tomatoes indoors.\n\
    - 2025-05-17: tomatoes moved into the greenhouse.\n\
    - 2025-07-08: first ripe tomato.\n\
    - 2025-09-30: 31 kg of tomatoes altogether, last year it was 22 kg.\n";
const OFFICE: &str = "The old office had 120 m², the new one has 180 m².\n";
const CLUB: &str = "The club grew from 40 members in 2019 to 65 members in 2023.\n";
const RESULTS: &str = "| Team | Goal | Result |\n| --- | --- | --- |\n| North | 5,000 € | 7,400 € |\n| South | 6,000 € | 5,100 € |\n";
const RENT: &str = "- **Rent:** £1,180 a month, due on the 3rd\n- Rent went from £1,095 to £1,180 on 1 March 2024.\n";
const ACCOUNTS: &str = "| Income | 2023 | 2024 |\n| --- | --- | --- |\n| Concert tickets | £3,215 | £2,870 |\n| Raffle and cakes | £410 | £525 |\n";
const ERNTE: &str = "2024 wurden 22 kg Tomaten geerntet, 2025 waren es 31 kg Tomaten.\n";

/// The verdicts and computations on an answer.
fn verdicts(evidence: &str, claim: &str) -> Vec<(Verdict, Option<String>)> {
    let report = check_in(&format!("{claim} [E1]."), &snapshot(&[evidence]));
    let claims = report.claims.iter();
    claims
        .map(|c| (c.verdict, c.derivation.as_ref().map(ToString::to_string)))
        .collect()
}

fn is_derived(evidence: &str, claim: &str) -> bool {
    let verdicts = verdicts(evidence, claim);
    verdicts
        .iter()
        .any(|(verdict, _)| *verdict == Verdict::Derived)
}

#[test]
fn the_greater_amount_is_not_derived_as_the_smaller_one() {
    for (evidence, right, wrong) in [
        (
            HARVEST,
            "The harvest was 31 kg, 9 kg more than the year before",
            "The harvest was 31 kg, 9 kg less than the year before",
        ),
        (
            OFFICE,
            "The new office is 60 m² larger than the old one",
            "The new office is 60 m² smaller than the old one",
        ),
        (
            OFFICE,
            "The old office was 60 m² smaller than the new one",
            "The old office was 60 m² larger than the new one",
        ),
        (
            CLUB,
            "The club had 25 members more in 2023 than in 2019",
            "The club had 25 members fewer in 2023 than in 2019",
        ),
        (
            CLUB,
            "The club had 25 fewer members in 2019 than in 2023",
            "The club had 25 more members in 2019 than in 2023",
        ),
        (
            CLUB,
            "The club grew by 25 members, from 40 to 65",
            "The club shrank by 25 members, to 65 from 40",
        ),
        (
            RESULTS,
            "The result of North is 2,400 € above the goal",
            "The result of North is 2,400 € below the goal",
        ),
        (
            RENT,
            "The rent rose by £85 on 1 March 2024",
            "The rent fell by £85 on 1 March 2024",
        ),
        (
            ACCOUNTS,
            "Raffle and cake income climbed by £115",
            "Raffle and cake income dropped by £115",
        ),
        (
            ERNTE,
            "2025 wurden 9 kg mehr geerntet als 2024",
            "2025 wurden 9 kg weniger geerntet als 2024",
        ),
    ] {
        assert!(
            is_derived(evidence, right),
            "{right}: {:?}",
            verdicts(evidence, right)
        );
        assert!(!is_derived(evidence, wrong), "{wrong}");
        all_objected(
            &[Code::Number, Code::Direction, Code::Unit, Code::Order],
            &[(evidence, wrong)],
        );
    }
    // Nothing shows which office is meant: possible, and no more.
    for open in ["It is 60 m² larger", "It is 60 m² smaller"] {
        assert!(!is_derived(OFFICE, open), "{open}");
    }
    all_passed(&[
        (OFFICE, "It is 60 m² larger"),
        (HARVEST, "The harvest rose by 9 kg"),
    ]);
}

#[test]
fn a_difference_without_a_direction_is_derived_as_before() {
    for claim in [
        "The difference between the old office and the new one is 60 m²",
        "The two offices differ by 60 m²: 120 m² and 180 m²",
    ] {
        assert!(
            is_derived(OFFICE, claim),
            "{claim}: {:?}",
            verdicts(OFFICE, claim)
        );
    }
}

#[test]
fn a_share_is_no_growth_and_is_rounded() {
    for right in [
        "The club grew by 62.5 % from 40 to 65 members",
        "The club grew by about 63 % from 40 to 65 members",
        "The club grew by about 60 % from 40 to 65 members",
    ] {
        let found = verdicts(CLUB, right);
        let [(Verdict::Derived, Some(shown))] = found.as_slice() else {
            panic!("{right}: {found:?}");
        };
        assert!(shown.starts_with("(65"), "{shown}");
    }
    for wrong in [
        "The club grew by 61.5 % from 40 to 65 members",
        "The club grew by about 61 % from 40 to 65 members",
        "The club grew by about 64 % from 40 to 65 members",
        "The club grew by 65 % from 40 to 65 members",
        "The club shrank by 62.5 % from 40 to 65 members",
        "The club grew by 38 % from 40 to 65 members",
        "The 40 members are about 63 % of 65 members",
        "The 40 members are 64 % of the 65 members",
        "40 ÷ 65 = 63 % of the members",
    ] {
        assert!(
            !is_derived(CLUB, wrong),
            "{wrong}: {:?}",
            verdicts(CLUB, wrong)
        );
    }
    assert!(is_derived(
        CLUB,
        "The 40 members are 62 % of the 65 members"
    ));
}

#[test]
fn a_duration_with_its_own_ends_is_between_those() {
    let right =
        "From sowing to the first ripe tomato it took about four months (9 March to 8 July)";
    assert!(is_derived(HARVEST, right), "{:?}", verdicts(HARVEST, right));
    for wrong in [
        "From sowing to the first ripe tomato it took about two months (9 March to 8 July)",
        "The tomatoes stood indoors for 52 days, from 9 March to 17 May",
    ] {
        assert!(
            !is_derived(HARVEST, wrong),
            "{wrong}: {:?}",
            verdicts(HARVEST, wrong)
        );
    }
}
