//! One value in many notations: amounts, dates, times.

use super::outcomes::{all_objected, all_passed, all_rejected, all_undoubted};
use super::*;

#[test]
fn a_magnitude_is_read_in_every_notation() {
    all_undoubted(&[
        (
            "The fund holds 5 bn euros in bonds today.",
            "The fund holds 5 billion euros in bonds today",
        ),
        (
            "The fund holds 5 billion euros in bonds today.",
            "The fund holds 5 bn euros in bonds today",
        ),
        (
            "The fund holds €5bn in bonds today.",
            "The fund holds 5 billion euros in bonds today",
        ),
        (
            "About 3 m people live in the valley today.",
            "About 3 million people live in the valley today",
        ),
        (
            "About 3 million people live in the valley today.",
            "About 3 m people live in the valley today",
        ),
        (
            "About 3M people live in the valley today.",
            "About 3 million people live in the valley today",
        ),
        (
            "About 3 M people live in the valley today.",
            "About 3,000,000 people live in the valley today",
        ),
        (
            "The bridge cost $3 m to build.",
            "The bridge cost 3 million dollars to build",
        ),
        (
            "The bridge cost 3 m EUR to build.",
            "The bridge cost 3 million euros to build",
        ),
        ("The site has 20 k users.", "The site has 20,000 users"),
        (
            "Die Brücke kostete 3 Mio. Euro.",
            "Die Brücke kostete 3 Millionen Euro",
        ),
        (
            "Die Brücke kostete 3 Mrd. Euro.",
            "Die Brücke kostete 3 Milliarden Euro",
        ),
        (
            "Le pont a coûté 3 millions d’euros.",
            "Le pont a coûté 3 000 000 euros",
        ),
        (
            "El puente costó 3 millones de euros.",
            "El puente costó 3.000.000 euros",
        ),
        ("Мост стоил 3 млн рублей.", "Мост стоил 3 миллиона рублей"),
        (
            "The wall is 3 m tall at the gate.",
            "The wall is 3 metres tall at the gate",
        ),
    ]);
    all_rejected(
        &[Code::Number, Code::Unit],
        &[
            (
                "The fund holds 5 bn euros in bonds today.",
                "The fund holds 5 mn euros in bonds today",
            ),
            (
                "The fund holds 5 billion euros in bonds today.",
                "The fund holds 6 bn euros in bonds today",
            ),
            (
                "About 3 m people live in the valley today.",
                "About 3 billion people live in the valley today",
            ),
            (
                "About 3 m people live in the valley today.",
                "About 4 million people live in the valley today",
            ),
            (
                "Die Brücke kostete 3 Mio. Euro.",
                "Die Brücke kostete 3 Mrd. Euro",
            ),
            ("Мост стоил 3 млн рублей.", "Мост стоил 3 млрд рублей"),
        ],
    );
}

#[test]
fn a_date_is_read_in_every_notation() {
    let texts = [
        "The lease of the barn starts on 3 Jan this year.",
        "The lease of the barn starts on January 3rd this year.",
        "The lease of the barn starts on the 3rd of January this year.",
        "The lease of the barn starts on 03.01. this year.",
        "The lease of the barn starts on 3.1. this year.",
        "The lease of the barn starts on Jan. 3 this year.",
    ];
    let mut cases = Vec::new();
    for text in texts {
        for claim in texts {
            cases.push((text, claim));
        }
    }
    all_undoubted(&cases);
    all_undoubted(&[
        (
            "The lease starts on 2024-01-03 at noon.",
            "The lease starts on 3 January 2024 at noon",
        ),
        (
            "The lease starts on 2024/01/03 at noon.",
            "The lease starts on January 3rd, 2024 at noon",
        ),
        (
            "The lease starts on 03.01.2024 at noon.",
            "The lease starts on 2024-01-03 at noon",
        ),
        (
            "The lease starts on 03.01.24 at noon.",
            "The lease starts on 3 January 2024 at noon",
        ),
        (
            "The lease starts on 3 January 2024 at noon.",
            "The lease starts on 03.01.24 at noon",
        ),
        (
            "The shop opens again in Sept after the holidays.",
            "The shop opens again in September after the holidays",
        ),
        (
            "The shop opens again in September after the holidays.",
            "The shop opens again in Sept after the holidays",
        ),
        (
            "The shop is closed on Mon and open on Tue.",
            "The shop is closed on Monday and open on Tuesday",
        ),
        (
            "The shop is closed on Monday and on Tuesday all day.",
            "The shop is closed on Mon and on Tue all day",
        ),
        (
            "It starts on Mon, 3 Jan at the gate.",
            "It starts on Monday, 3 January at the gate",
        ),
        (
            "Der Vertrag beginnt am 03.01. im Büro.",
            "Der Vertrag beginnt am 3. Januar im Büro",
        ),
        (
            "Le contrat commence le 3 janvier 2024.",
            "Le contrat commence le 03.01.2024",
        ),
        (
            "El contrato empieza el 3 de enero de 2024.",
            "El contrato empieza el 03.01.2024",
        ),
        (
            "Договор начинается 3 января 2024 года.",
            "Договор начинается 03.01.2024",
        ),
        ("合同于2024年1月3日开始。", "合同于2024-01-03开始"),
        (
            "契約は2024年1月3日に始まる。",
            "契約は2024年01月03日に始まる",
        ),
    ]);
    all_rejected(
        &[Code::Date, Code::Number],
        &[
            (
                texts[0],
                "The lease of the barn starts on 4 January this year",
            ),
            (texts[0], "The lease of the barn starts on 03.02. this year"),
            (
                texts[3],
                "The lease of the barn starts on January 4th this year",
            ),
            (
                texts[3],
                "The lease of the barn starts on 3 March this year",
            ),
            (
                "The shop opens again in Sept after the holidays.",
                "The shop opens again in October after the holidays",
            ),
            (
                "The shop is closed on Mon and on Thu all day.",
                "The shop is closed on Tuesday and on Thu all day",
            ),
            (
                "The lease starts on 03.01.24 at noon.",
                "The lease starts on 3 January 2023 at noon",
            ),
            ("合同于2024年1月3日开始。", "合同于2024年1月4日开始"),
        ],
    );
}

#[test]
fn a_number_is_read_in_every_notation() {
    let texts = [
        "The hall seats 1500 guests in rows.",
        "The hall seats 1,500 guests in rows.",
        "The hall seats 1.500 guests in rows.",
        "The hall seats 1'500 guests in rows.",
        "The hall seats 1’500 guests in rows.",
        "The hall seats 1 500 guests in rows.",
        "The hall seats 1\u{a0}500 guests in rows.",
        "The hall seats 1\u{2009}500 guests in rows.",
        "The hall seats 1\u{202f}500 guests in rows.",
        "The hall seats ١٥٠٠ guests in rows.",
        "The hall seats ۱۵۰۰ guests in rows.",
        "The hall seats १५०० guests in rows.",
        "The hall seats １５００ guests in rows.",
    ];
    let mut cases = Vec::new();
    for text in texts {
        for claim in texts {
            cases.push((text, claim));
        }
    }
    all_undoubted(&cases);
    all_undoubted(&[
        (
            "The rope weighs 1.500 kg when dry.",
            "The rope weighs 1.5 kg when dry",
        ),
        (
            "The rope weighs 1,500 kg when dry.",
            "The rope weighs 1500 kg when dry",
        ),
        (
            "Das Seil wiegt 1,5 kg im Lager.",
            "Das Seil wiegt 1.5 kg im Lager",
        ),
        (
            "The rope is 3½ m long when dry.",
            "The rope is 3.5 m long when dry",
        ),
        (
            "The rope is 3.5 m long when dry.",
            "The rope is 3½ m long when dry",
        ),
        (
            "The rope is 3 ½ m long when dry.",
            "The rope is 3,5 m long when dry",
        ),
        ("Use ¾ cup of milk for it.", "Use 0.75 cup of milk for it"),
        ("Use 0.75 cup of milk for it.", "Use ¾ cup of milk for it"),
        (
            "Walking takes three and a half hours here.",
            "Walking takes 3.5 hours here",
        ),
        (
            "Bake it for 5–7 minutes in total.",
            "Bake it for 5 to 7 minutes in total",
        ),
        (
            "Bake it for 5 to 7 minutes in total.",
            "Bake it for between 5 and 7 minutes in total",
        ),
        (
            "Bake it between 5 and 7 minutes in total.",
            "Bake it 5–7 minutes in total",
        ),
        (
            "Bake it for 5-7 minutes in total.",
            "Bake it for 5 minutes to 7 minutes in total",
        ),
        (
            "يسع المبنى ١٥٠٠ ضيف في الصفوف.",
            "يسع المبنى 1500 ضيف في الصفوف",
        ),
        ("النسبة ٢٫٥٪ في السنة.", "النسبة 2.5% في السنة"),
        ("हॉल में १५०० मेहमान बैठते हैं।", "हॉल में 1500 मेहमान बैठते हैं"),
        ("大厅有三个入口。", "大厅有3个入口"),
        ("大厅有3个入口。", "大厅有三个入口"),
        ("大厅有十二个入口。", "大厅有12个入口"),
        ("大厅有二十五个入口。", "大厅有25个入口"),
        ("该市有5万人口。", "该市有50000人口"),
        ("该市有五万人口。", "该市有5万人口"),
        ("该市有三百五十万人口。", "该市有350万人口"),
        ("その市には五万人が住む。", "その市には50,000人が住む"),
        ("大楼于二〇一九年完工。", "大楼于2019年完工"),
    ]);
    all_rejected(
        &[Code::Number, Code::Unit, Code::Date],
        &[
            (texts[0], "The hall seats 1.6 guests in rows"),
            (texts[0], "The hall seats 1.600 guests in rows"),
            (texts[2], "The hall seats 15 guests in rows"),
            (texts[3], "The hall seats 1'600 guests in rows"),
            (texts[5], "The hall seats 1 600 guests in rows"),
            (texts[9], "The hall seats ١٦٠٠ guests in rows"),
            (texts[12], "The hall seats １６００ guests in rows"),
            (
                "The rope is 3½ m long when dry.",
                "The rope is 3¼ m long when dry",
            ),
            (
                "The rope is 3½ m long when dry.",
                "The rope is 4½ m long when dry",
            ),
            ("Use ¾ cup of milk for it.", "Use ½ cup of milk for it"),
            (
                "The rope weighs 1.5 kg when dry.",
                "The rope weighs 1500 kg when dry",
            ),
            ("大厅有3个入口。", "大厅有四个入口"),
            ("大厅有十二个入口。", "大厅有二十个入口"),
            ("该市有5万人口。", "该市有6万人口"),
            ("该市有五万人口。", "该市有五亿人口"),
        ],
    );
}

#[test]
fn a_range_with_another_end_is_not_in_the_text() {
    all_objected(
        &[Code::Number],
        &[
            (
                "Bake it for 5–7 minutes in total.",
                "Bake it for 5 to 9 minutes in total",
            ),
            (
                "Bake it for 5–7 minutes in total.",
                "Bake it for between 4 and 7 minutes in total",
            ),
            (
                "Bake it for 5 to 7 minutes in total.",
                "Bake it for 5–8 minutes in total",
            ),
        ],
    );
}

#[test]
fn a_time_is_read_in_every_notation() {
    let texts = [
        "The gate of the yard closes at 14:30 each day.",
        "The gate of the yard closes at 14h30 each day.",
        "The gate of the yard closes at 2:30 pm each day.",
        "The gate of the yard closes at 2.30 pm each day.",
        "The gate of the yard closes at 2:30 p.m. each day.",
        "The gate of the yard closes at 14.30 each day.",
        "The gate of the yard closes at 14.30 Uhr each day.",
        "The gate of the yard closes at 2.30 Uhr each day.",
        "The gate of the yard closes at 14 Uhr 30 each day.",
        "The gate of the yard closes at 14 h 30 each day.",
    ];
    let mut cases = Vec::new();
    for text in texts {
        for claim in texts {
            cases.push((text, claim));
        }
    }
    all_undoubted(&cases);
    all_undoubted(&[
        (
            "The gate closes at 14 Uhr each day.",
            "The gate closes at 14:00 each day",
        ),
        (
            "The gate closes at 2 pm each day.",
            "The gate closes at 14:00 each day",
        ),
        (
            "Das Tor schließt um 14 Uhr.",
            "Das Tor schließt um 14:00 Uhr",
        ),
        ("La porte ferme à 14h30.", "La porte ferme à 14:30"),
        ("大门14:30关闭。", "大门14点30分关闭"),
    ]);
    all_objected(
        &[Code::Date, Code::Number],
        &[
            (texts[0], "The gate of the yard closes at 14:20 each day"),
            (texts[0], "The gate of the yard closes at 2:30 am each day"),
            (texts[1], "The gate of the yard closes at 15h30 each day"),
            (texts[0], "The gate of the yard closes at 15h30 each day"),
            (texts[0], "The gate of the yard closes at 3.30 Uhr each day"),
            (
                texts[6],
                "The gate of the yard closes at 14.45 Uhr each day",
            ),
            (texts[2], "The gate of the yard closes at 2:45 pm each day"),
        ],
    );
}

#[test]
fn words_and_numbers_that_only_look_like_other_notations_are_left_alone() {
    all_undoubted(&[
        (
            "The Sun rises over the bay at dawn.",
            "Over the bay the Sun rises at dawn",
        ),
        (
            "Ports 80 443 are open on the host.",
            "Port 443 is open on the host",
        ),
        (
            "The colours 200 301 404 are codes of the web.",
            "The code 301 is one of the web",
        ),
        (
            "A rope of 3 m hangs from the ceiling.",
            "From the ceiling hangs a rope of 3 m",
        ),
        (
            "The train leaves in 14 h 30 min from here.",
            "From here the train leaves in 14 h 30 min",
        ),
        ("这一点十分重要。", "这一点十分重要的"),
        ("万一下雨，比赛取消。", "万一下雨，比赛就取消"),
        ("三四个人参加了会议。", "会议有三四个人参加"),
        (
            "The bill is due on the 3rd, $2.50 per day.",
            "On the 3rd, $2.50 per day are due",
        ),
        ("Er kommt so gegen 3 Uhr an.", "So gegen 3 Uhr kommt er an"),
        (
            "It grew by 3.5 million in 2019.",
            "In 2019 it grew by 3.5 million",
        ),
        ("Il reste 3 m de corde.", "Il y reste 3 m de corde"),
    ]);
    all_passed(&[(
        "The shop is open Mon–Fri from nine.",
        "The shop is open Monday to Friday from nine",
    )]);
    all_rejected(
        &[Code::Number, Code::Unit, Code::Date],
        &[
            (
                "The scale shows 3.01 on the dial of the lab.",
                "The scale shows 3.1 on the dial of the lab",
            ),
            (
                "The rope of the hall is 3 m long.",
                "The rope of the hall is 3 km long",
            ),
            (
                "The train leaves at 9:15 from the yard.",
                "The train leaves at 9:45 from the yard",
            ),
            ("这本书有三百页。", "这本书有五百页"),
            (
                "The hall seats 12 500 guests in rows.",
                "The hall seats 13 500 guests in rows",
            ),
        ],
    );
}
