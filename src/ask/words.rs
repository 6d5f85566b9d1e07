//! Closed-class words of the languages whose questions are understood best. A question in another language is still
//! answered: its frequent words have a low idf.

/// The function words of the language that `lower` (a question in lower case) seems to be written in: the list with
/// more hits; English when none has any.
pub(super) fn of_language(lower: &str) -> &'static [&'static str] {
    let count = |list: &[&str]| {
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty() && list.contains(w)).count()
    };
    if count(GERMAN) > count(ENGLISH) { GERMAN } else { ENGLISH }
}

const ENGLISH: &[&str] = &[
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before", "being", "both",
    "but", "by", "can", "could", "did", "do", "does", "doing", "done", "for", "from", "had", "has", "have", "having",
    "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "itself", "many",
    "may", "me", "might", "mine", "much", "must", "my", "no", "nor", "not", "of", "off", "on", "or", "our", "ours",
    "out", "over", "own", "please", "shall", "she", "should", "since", "so", "some", "such", "tell", "than", "that",
    "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "until",
    "up", "upon", "us", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "within", "would", "you", "your", "yours",
];

const GERMAN: &[&str] = &[
    "aber", "alle", "als", "also", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "da", "dann", "das",
    "dass", "dem", "den", "denn", "der", "des", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "doch",
    "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "euer", "für", "gegen", "hat",
    "hatte", "hatten", "haben", "habe", "ich", "ihm", "ihn", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "in",
    "ist", "kann", "kein", "keine", "können", "man", "mein", "meine", "mich", "mir", "mit", "muss", "müssen", "nach",
    "nicht", "noch", "nur", "ob", "oder", "ohne", "sein", "seine", "seinem", "seinen", "seiner", "seit", "sich", "sie",
    "sind", "so", "soll", "sollen", "sollte", "tun", "über", "um", "und", "uns", "unser", "unsere", "unserem",
    "unseren", "unserer", "unter", "viel", "viele", "vom", "von", "vor", "wann", "war", "waren", "warum", "was",
    "weil", "welche", "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn", "wer", "werden", "weshalb",
    "wessen", "wie", "wieso", "wieviel", "wieviele", "wir", "wird", "wo", "woher", "wohin", "worauf", "wurde",
    "wurden", "zu", "zum", "zur", "zwischen",
];

/// "how …", "wie …": an amount is asked for.
pub(super) const DEGREES: &[&str] = &[
    "much", "many", "long", "often", "far", "old", "large", "big", "small", "high", "low", "tall", "wide", "deep",
    "heavy", "hot", "cold", "warm", "fast", "viel", "viele", "lang", "lange", "oft", "weit", "alt", "groß", "klein",
    "hoch", "breit", "tief", "schwer", "heiß", "kalt", "warm", "schnell",
];

/// Cues: phrases of spaced scripts (matched at word boundaries), phrases of unspaced ones (matched anywhere).
pub(super) type Cues = (&'static [&'static str], &'static [&'static str]);

/// Whether `lower` (in lower case) holds one of `cues`.
pub(super) fn contains(cues: &Cues, lower: &str) -> bool {
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let spaced = format!(" {} ", words.join(" "));
    cues.0.iter().any(|cue| spaced.contains(&format!(" {cue} "))) || cues.1.iter().any(|cue| lower.contains(cue))
}

pub(super) const TIME: Cues = (
    &[
        "when",
        "what time",
        "what day",
        "which day",
        "what date",
        "what year",
        "which year",
        "which month",
        "wann",
        "wie viel uhr",
        "wieviel uhr",
        "welchem tag",
        "welchem jahr",
        "seit wann",
        "bis wann",
    ],
    &["いつ", "何時", "何日", "何月", "何年", "何曜日"],
);
pub(super) const NUMBER: Cues = (
    &[
        "how much",
        "how many",
        "what number",
        "which number",
        "what percentage",
        "what share",
        "wie viel",
        "wie viele",
        "wieviel",
        "wieviele",
        "welche nummer",
    ],
    &[
        "いくつ",
        "いくら",
        "どのくらい",
        "どれくらい",
        "何度",
        "何人",
        "何個",
        "何番",
        "何分",
        "何キロ",
        "何グラム",
        "何パーセント",
        "何本",
        "何枚",
        "何回",
        "何円",
    ],
);
pub(super) const PERSON: Cues = (&["who", "whom", "whose", "wer", "wem", "wen", "wessen"], &["誰", "だれ", "どなた"]);
pub(super) const PLACE: Cues = (&["where", "wo", "woher", "wohin"], &["どこ", "どちら"]);
pub(super) const REASON: Cues =
    (&["why", "what reason", "what reasons", "warum", "wieso", "weshalb"], &["なぜ", "どうして", "理由"]);
pub(super) const STEPS: Cues = (
    &[
        "how do i",
        "how do we",
        "how do you",
        "how can i",
        "how can we",
        "how to",
        "how should i",
        "how should we",
        "what do i do",
        "what should i do",
        "what must i do",
        "what do we do",
        "what is the procedure",
        "what are the steps",
        "wie kann ich",
        "wie können wir",
        "wie kann man",
        "wie mache ich",
        "wie macht man",
        "was ist zu tun",
        "was tun",
        "was muss ich tun",
        "was soll ich tun",
        "wie gehe ich",
    ],
    &["どうすれば", "どうやって", "方法", "手順", "やり方", "使い方"],
);
pub(super) const CODE: Cues = (
    &[
        "command",
        "commands",
        "code",
        "script",
        "snippet",
        "shell",
        "sql",
        "regex",
        "config",
        "configuration",
        "befehl",
        "befehle",
        "skript",
        "kommando",
        "konfiguration",
    ],
    &["コマンド", "コード", "スクリプト", "設定"],
);

/// Words that point back at what was said before, at the start of a sentence.
pub(super) const BACKWARD: &[&str] = &[
    "it", "its", "this", "that", "these", "those", "they", "their", "them", "he", "his", "him", "she", "her", "such",
    "so", "then", "but", "and", "or", "also", "both", "there", "here", "however", "er", "sie", "es", "das", "dies",
    "diese", "dieser", "dieses", "damit", "dafür", "dadurch", "deshalb", "daher", "dort", "dann", "aber", "und",
    "sein", "seine", "ihr", "ihre", "danach", "davon", "dazu",
];

/// The same in a script without spaces.
pub(super) const BACKWARD_BARE: &[&str] =
    &["それ", "これ", "あれ", "その", "この", "あの", "そこ", "ここ", "しかし", "だから", "また", "そして"];

/// What gives a reason.
pub(super) const BECAUSE: Cues = (
    &[
        "because",
        "since",
        "so that",
        "therefore",
        "due to",
        "reason",
        "in order to",
        "weil",
        "denn",
        "da",
        "damit",
        "deshalb",
        "daher",
        "wegen",
        "grund",
    ],
    &["ため", "から", "ので", "理由"],
);

/// Words by which a note says that what it holds is no longer so: the usual states of a decision.
pub(super) const NOT_IN_FORCE: Cues = (
    &[
        "superseded",
        "rejected",
        "obsolete",
        "deprecated",
        "outdated",
        "withdrawn",
        "replaced by",
        "no longer",
        "abgelöst",
        "abgelehnt",
        "veraltet",
        "ersetzt durch",
        "überholt",
        "zurückgezogen",
        "nicht mehr",
    ],
    &["廃止", "却下", "旧版", "無効"],
);

/// Months as they are written out and shortened, and days of the week.
pub(super) const CALENDAR: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "montags",
    "dienstags",
    "mittwochs",
    "donnerstags",
    "freitags",
    "samstags",
    "sonntags",
    "uhr",
];

/// Numbers written out, up to where people write digits.
pub(super) const NUMERALS: &[&str] = &[
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "dozen",
    "once",
    "twice",
    "half",
    "hundred",
    "thousand",
    "million",
    "billion",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "einmal",
    "zweimal",
    "halb",
    "hundert",
    "tausend",
    "million",
    "millionen",
];
