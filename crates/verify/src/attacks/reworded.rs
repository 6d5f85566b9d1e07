//! Values that a note has in another language, in another notation, or that follow from a change, a
//! duration or a comparison.

use super::outcomes::{all_objected, all_passed, all_undoubted};
use super::*;

const CODES: &[Code] = &[Code::Number, Code::Unit, Code::Date, Code::Quantifier];

const POOL: &str = "# Pool\n\nThe pool opens at 7:15 on weekdays and at 9:00 on Sundays. Staff arrive at least half an hour \
     before opening. A ticket was 4 euros last year and is 5.50 euros now. Guests may stay up to 14 nights. Groups of at \
     most 12 children may swim without a teacher. The hose runs for 15 minutes. Families pay 30 euros together.\n";
const OBRAS: &str = "# Obras\n\n- 5/3: chegaram as cadeiras verdes.\n- Pagamento em prestações de julho de 2025 a junho de \
     2026.\n- Barulho aos sábados até às 13h00.\n- Só metade das janelas foi trocada.\n";
const CLUB: &str = "# Club\n\nThe balance is 3,400 euros. The reserve is 3,000 euros.\n";

#[test]
fn a_part_of_a_unit_is_an_amount() {
    all_undoubted(&[
        (POOL, "The hose runs for a quarter of an hour"),
        (POOL, "Staff arrive at least 30 minutes before opening"),
    ]);
    all_objected(
        CODES,
        &[
            (POOL, "The hose runs for an hour and a half"),
            (POOL, "The hose runs for three quarters of an hour"),
        ],
    );
}

#[test]
fn a_bound_may_be_behind_its_number() {
    all_passed(&[
        (
            POOL,
            "Groups of 12 children at most may swim without a teacher",
        ),
        (POOL, "Guests may stay for two weeks at most"),
    ]);
    all_objected(
        CODES,
        &[(
            POOL,
            "Groups of 12 children at least may swim without a teacher",
        )],
    );
}

#[test]
fn dates_and_weekdays_of_another_language_are_read() {
    all_passed(&[
        (OBRAS, "The green chairs arrived on 5 March"),
        (
            OBRAS,
            "The payment is in instalments from July 2025 to June 2026",
        ),
        (OBRAS, "Noise is allowed on Saturdays until one o'clock"),
        (OBRAS, "Only half of the windows were replaced"),
    ]);
    all_objected(
        CODES,
        &[
            (OBRAS, "The green chairs arrived on 6 April"),
            (
                OBRAS,
                "The payment is in instalments from July 2025 to May 2026",
            ),
            (OBRAS, "Noise is allowed on Tuesdays until one o'clock"),
        ],
    );
}

#[test]
fn a_shifted_time_is_doubtful_and_not_refused() {
    all_passed(&[(POOL, "On weekdays the staff must be there by 6:45")]);
    all_objected(
        CODES,
        &[(POOL, "On weekdays the staff must be there by 5:30")],
    );
}

#[test]
fn a_change_is_the_difference_of_two_amounts() {
    all_passed(&[(POOL, "The ticket rose by 1.50 euros")]);
    all_objected(CODES, &[(POOL, "The ticket rose by 2.50 euros")]);
}

#[test]
fn what_all_pay_together_is_not_paid_by_each() {
    all_undoubted(&[(POOL, "Families pay 30 euros altogether")]);
    all_objected(CODES, &[(POOL, "Families pay 30 euros each")]);
}

#[test]
fn above_is_not_below() {
    all_passed(&[(
        CLUB,
        "The balance is 3,400 euros, which is 400 euros above the reserve",
    )]);
    all_objected(
        CODES,
        &[(
            CLUB,
            "The balance is 3,400 euros, which is 400 euros below the reserve",
        )],
    );
}

#[test]
fn a_written_computation_must_be_right() {
    all_passed(&[(CLUB, "Balance and reserve are 3,400 + 3,000 = 6,400 euros")]);
    all_objected(
        CODES,
        &[(CLUB, "Balance and reserve are 3,400 + 3,000 = 3,400 euros")],
    );
}
