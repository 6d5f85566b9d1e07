//! True sentences about plain notes that were refused: computed values, other notations, denials in
//! other words; each with the same sentence made false.

use super::outcomes::{all_objected, all_passed, all_rejected};
use super::*;

const CHOIR: &str = "## Choir\n\n- dues 8.50 a month, students half\n- spring concert: 212 tickets at 14, 38 free ones\n- hall \
    320, heating extra 45\n- Mr Abara only until Easter\n";
const POND: &str = "## Pond\n\nThe liner cost 1,600 for 40 m, the pump draws 24 kWh a week. Rental from 3 to 9 May at 62 a \
    day. Fish food 35 quid. Go 1.22 or newer is needed for the controller.\n";
const PORTUGUESE: &str = "## Treinos\n\n- 10 ago: 22 km, com o Rui\n- 21 set: 30 km, por causa da chuva mais curto\n- 5 out: 32 \
    km, o último longo que fiz\n";
const SPANISH: &str = "## Papeles\n\nLa tarjeta es válida hasta el 1-7-2029 y se recoge en la comisaría. El sello es del 3/2024 \
    y no se renueva.\n";
const ITALIAN: &str = "## Olio\n\nOlio nostro: 2023 410 litri, 2024 265 litri, a causa della mosca. La pasta riposa 40 minuti, \
    non in frigo, e poi si tira.\n";
const GERMAN: &str = "## Umbau\n\nKeine Fußbodenheizung, die Aufbauhöhe reicht nicht. Der Zug startet an der Kirche, weil am \
    Kindergarten gebaut wird. Der TÜV ist im 11/2025 fällig.\n";
const FRENCH: &str = "## Litiges\n\nVidal a livré du bleu au lieu de la fourme, vendu en promo à −20 %. Le fumier de Mme Leroux \
    est gratuit, et il reste dix-huit pieds.\n";
const LOCK: &str = "## Locking\n\n- a reader never takes the lease, a compactor does\n- `--force-unlock` only if the host name in \
    the lease matches, else refuse\n- the old lock was a file\n\nPort 80 was closed by the firewall change. We open port 80 \
    for the renewal path only.\n";
const VILLAIN: &str = "The real villain is Ysolde, not the Reef Witch. The Reef Witch wants the crown destroyed.\n\nThe pump does \
    not work automatically, only by hand.\n\nGreenhouses need the committee's permission; sheds do not.\n";

#[test]
fn a_computed_number_is_not_refused() {
    all_passed(&[
        (CHOIR, "Students pay £4.25 a month, half of the dues."),
        (CHOIR, "The spring concert brought in 2,968 from tickets."),
        (CHOIR, "The hall with heating comes to 365."),
        (
            POND,
            "The rental from 3 to 9 May is 434 for the seven days.",
        ),
        (
            ITALIAN,
            "Nel 2024 l'olio è stato di 265 litri, cioè 145 in meno rispetto al 2023.",
        ),
    ]);
    all_rejected(
        &[Code::Number, Code::Unit],
        &[
            (CHOIR, "The spring concert sold 231 tickets at 14."),
            (CHOIR, "The hall costs 311."),
            (POND, "The rental is 57 a day."),
        ],
    );
}

#[test]
fn days_and_units_in_another_notation_are_not_refused() {
    all_passed(&[
        (
            PORTUGUESE,
            "O treino mais longo foi o de 5 de outubro, com 32 km.",
        ),
        (PORTUGUESE, "O Rui veio no treino de 10 de agosto."),
        (SPANISH, "La tarjeta es válida hasta el 1 de julio de 2029."),
        (SPANISH, "El sello es de marzo de 2024."),
        (GERMAN, "Der TÜV ist im November 2025 fällig."),
        (POND, "The pump draws 24 kilowatt hours a week."),
        (POND, "The fish food was 35 pounds."),
        (FRENCH, "La fourme a été vendue en promo à moins 20 %."),
    ]);
    all_rejected(
        &[Code::Date, Code::Unit, Code::Number],
        &[
            (
                PORTUGUESE,
                "O treino mais longo foi o de 5 de novembro, com 32 km.",
            ),
            (SPANISH, "La tarjeta es válida hasta el 2 de julio de 2029."),
            (GERMAN, "Der TÜV ist im Oktober 2025 fällig."),
            (POND, "The pump draws 24 kilowatts a week."),
            (POND, "The fish food was 35 euros."),
        ],
    );
}

#[test]
fn a_denial_of_something_else_does_not_refuse() {
    all_passed(&[
        (LOCK, "The lease file took the place of the old lock."),
        (
            LOCK,
            "Forcing an unlock works only if the host name in the lease matches.",
        ),
        (LOCK, "The firewall change had closed port 80."),
        (
            VILLAIN,
            "The true villain is Ysolde, whereas the Reef Witch wants the crown destroyed.",
        ),
        (VILLAIN, "The pump works only by hand."),
        (VILLAIN, "A shed does not need the committee's permission."),
        (
            GERMAN,
            "Auf die Fußbodenheizung wird verzichtet, da die Aufbauhöhe nicht reicht.",
        ),
        (ITALIAN, "La pasta riposa 40 minuti fuori dal frigo."),
    ]);
    all_objected(
        &[Code::Negation],
        &[
            (LOCK, "A reader takes the lease, and a compactor does too."),
            (VILLAIN, "The pump works automatically."),
            (
                VILLAIN,
                "A greenhouse does not need the committee's permission.",
            ),
        ],
    );
}

const WEDDING: &str = "## Mariage\n\nPas de DJ, le cousin Hugo fait la musique. Fleurs : pivoines si c'est la saison, sinon \
    roses. Mairie samedi 14 h, église non.\n";
const STICK: &str = "## Pai\n\n- andarilho em vez de bengala desde a queda\n- tensão 14/8 em jan., 13/7 em fev. e não mais\n";
const PLAY: &str = "## Teatro\n\nProve martedì e giovedì, tranne il 1° nov. Hazel doesn't get on with Basil, keep apart.\n";
const ROOF: &str =
    "## Zolder\n\nOfferte Van Dijk 3.450, De Groot 3.980 maar die doet ook het dakraam.\n";

#[test]
fn replacements_alternatives_and_short_months_are_no_contradiction() {
    all_passed(&[
        (
            WEDDING,
            "C'est le cousin Hugo qui s'occupe de la musique à la place d'un DJ.",
        ),
        (
            WEDDING,
            "Il y aura des pivoines, ou des roses si ce n'est pas la saison.",
        ),
        (STICK, "Desde a queda usa andarilho e já não a bengala."),
        (STICK, "A tensão baixou entre janeiro e fevereiro."),
        (PLAY, "Il primo novembre non si prova."),
        (
            PLAY,
            "Hazel and Basil must be kept separate because they do not get along.",
        ),
        (ROOF, "Alleen De Groot doet ook het dakraam."),
    ]);
    all_objected(
        &[Code::Date, Code::Negation, Code::Name],
        &[
            (STICK, "A tensão baixou entre março e abril."),
            (PLAY, "Il primo dicembre non si prova."),
            (ROOF, "Alleen De Boer doet ook het dakraam."),
        ],
    );
}

#[test]
fn a_limit_a_title_and_a_german_noun_are_no_contradiction() {
    all_passed(&[
        (
            POND,
            "Go 1.22 is the oldest version that works for the controller.",
        ),
        (FRENCH, "Le fumier de Madame Leroux est gratuit."),
        (
            GERMAN,
            "Der Zug startet an der Kirche, weil es am Kindergarten Bauarbeiten gibt.",
        ),
        (FRENCH, "Il reste 18 pieds."),
    ]);
    all_objected(
        &[Code::Name, Code::Number],
        &[
            (FRENCH, "Le fumier de Madame Duval est gratuit."),
            (FRENCH, "Il reste 17 pieds."),
        ],
    );
}
