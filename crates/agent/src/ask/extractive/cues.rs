//! Closed-class words of the languages whose questions are understood best: function words,
//! question words, numerals, the calendar. No word of any subject. A question in another language
//! is still answered: its frequent words have a low idf.

/// Words, one space apart.
type List = &'static str;

/// Phrases, separated by `|`: of scripts with spaces (found at word boundaries), and of scripts
/// without (found anywhere).
pub(super) struct Cues(List, List);

impl Cues {
    /// Whether `lower` (in lower case) holds one of them.
    pub fn are_in(&self, lower: &str) -> bool {
        let spaced = format!(" {} ", split(lower).collect::<Vec<_>>().join(" "));
        self.0
            .split('|')
            .any(|cue| spaced.contains(&format!(" {cue} ")))
            || self
                .1
                .split('|')
                .any(|cue| !cue.is_empty() && lower.contains(cue))
    }
}

/// The runs of letters and digits of `text`.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
}

/// Whether `list` holds `word`.
pub(super) fn holds(list: List, word: &str) -> bool {
    list.split(' ').any(|w| w == word)
}

/// The function words of the language that `lower` (a question in lower case) seems to be written
/// in: the list with more hits; English when none has any.
pub(super) fn of_language(lower: &str) -> List {
    let count = |list: List| split(lower).filter(|w| holds(list, w)).count();
    if count(GERMAN) > count(ENGLISH) {
        GERMAN
    } else {
        ENGLISH
    }
}

const ENGLISH: List = "a about after all am an and any are as at be been before being both but by can could did do does \
    doing done for from had has have having he her here hers him his how i if in into is it its itself many may me \
    might mine much must my no nor not of off on or our ours out over own please shall she should since so some such \
    tell than that the their theirs them then there these they this those to too under until up upon us was we were \
    what when where whether which while who whom whose why will with within would you your yours";

const GERMAN: List = "aber alle als also am an auch auf aus bei beim bin bis da dann das dass dem den denn der des die \
    dies diese diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es euer für gegen hat \
    hatte hatten haben habe ich ihm ihn ihr ihre ihrem ihren ihrer im in ist kann kein keine können man mein meine \
    mich mir mit muss müssen nach nicht noch nur ob oder ohne sein seine seinem seinen seiner seit sich sie sind so \
    soll sollen sollte tun über um und uns unser unsere unserem unseren unserer unter viel viele vom von vor wann war \
    waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden weshalb wessen wie wieso \
    wieviel wieviele wir wird wo woher wohin worauf wurde wurden zu zum zur zwischen";

/// Verbs that say little: a note on the servings of a chili need not say that it "makes" them.
pub(super) const LIGHT: List = "need needs needed make makes made take takes took get gets got keep keeps kept use uses used \
    go goes went give gives gave brauche braucht brauchen gibt geht macht machen musste mussten nimmt";

/// Words that ask.
pub(super) const ASKING: List = "what when where which who whom whose why how was wann wo welche welcher welches wer wem \
    wen wessen warum wieso weshalb wie wieviel wieviele";

/// Chinese characters that mostly are grammar or ask.
pub(super) const CHINESE_GRAMMAR: &str = "的了是在和与及或而被把将对从向到于以为因所其这那哪谁什么怎吗呢吧啊也都就还又很有多少几何个些之";

/// "how …", "wie …": an amount is asked for.
pub(super) const DEGREES: List = "much many long often far old large big small high low tall wide deep heavy hot cold \
    warm fast viel viele lang lange oft weit alt groß klein hoch breit tief schwer heiß kalt warm schnell";

pub(super) const TIME: Cues = Cues(
    "when|what time|what day|which day|what date|what year|which year|which month|wann|wie viel uhr|wieviel uhr|\
     welchem tag|welchem jahr",
    "いつ|何時|何日|何月|何年|何曜日|何时|什么时候|哪一年|哪年|哪天|几点|几月",
);
pub(super) const NUMBER: Cues = Cues(
    "how much|how many|what number|which number|what percentage|what temperature|which temperature|what price|what speed|\
     what height|what weight|what distance|welche temperatur|welcher temperatur|wie viel|wie viele|wieviel|wieviele|welche nummer",
    "いくつ|いくら|どのくらい|どれくらい|何度|何人|何個|何番|何分|何キロ|何グラム|何本|何枚|何回|何円|多少|几个|几次|几年|多大|多长|多高|多远|多久",
);
pub(super) const EXTENT: Cues = Cues("how long|how far|wie lange|wie lang|wie weit", "");
pub(super) const PERSON: Cues = Cues(
    "who|whom|whose|wer|wem|wen|wessen",
    "誰|だれ|どなた|谁|哪位",
);
pub(super) const REASON: Cues = Cues(
    "why|what reason|what reasons|warum|wieso|weshalb",
    "なぜ|どうして|理由|为什么|为何|原因",
);
pub(super) const STEPS: Cues = Cues(
    "how do i|how do we|how do you|how can i|how can we|how to|how should i|how should we|what do i do|what should i do|\
     what must i do|what do we do|what should we do|what are the steps|wie kann ich|wie können wir|wie kann man|\
     wie mache ich|wie macht man|was ist zu tun|was tun|was muss ich tun|was soll ich tun|wie gehe ich",
    "どうすれば|どうやって|方法|手順|やり方|使い方",
);
pub(super) const DEFINITION: Cues =
    Cues("what is|what are|who is|was ist|was sind|wer ist", "とは");
pub(super) const CODE: Cues = Cues(
    "command|commands|code|script|snippet|befehl|befehle|skript|kommando",
    "コマンド|コード|スクリプト",
);

/// Words that point back at what was said before, at the start of a sentence.
const BACKWARD: List = "it its this that these those they their them he his him she her such so then but and or also \
    both there here however er sie es das dies diese dieser dieses damit dafür dadurch deshalb daher dort dann aber \
    und seine ihre danach davon dazu vorher";
/// The same in scripts without spaces.
const BACKWARD_BARE: List = "それ これ あれ その この あの そこ ここ しかし だから また そして";

/// Whether a sentence begins with a word that stands for something said before.
pub(super) fn points_back(plain: &str) -> bool {
    let first = split(plain).next().unwrap_or("").to_lowercase();
    holds(BACKWARD, &first) || BACKWARD_BARE.split(' ').any(|w| plain.starts_with(w))
}

/// The quarters of a year by their place; and what a quarter is called.
pub(super) const ORDINALS: [List; 4] = [
    "first 1st erstes ersten",
    "second 2nd zweites zweiten",
    "third 3rd drittes dritten",
    "fourth 4th viertes vierten",
];
pub(super) const QUARTER: List = "quarter quarters quartal quartals";

/// What gives a reason; in a heading also the question word itself.
pub(super) const BECAUSE: Cues = Cues(
    "because|since|so that|therefore|due to|reason|reasons|why|weil|denn|da|damit|deshalb|daher|wegen|grund|gründe|warum",
    "ため|から|ので|理由|因为|由于|所以|原因",
);

/// The states in which a note says that what it holds is not, or no longer, so.
pub(super) const NOT_IN_FORCE: Cues = Cues(
    "superseded|replaced|rejected|obsolete|deprecated|outdated|withdrawn|abgelöst|abgelehnt|veraltet|ersetzt|überholt|\
     zurückgezogen",
    "廃止|却下|旧版|無効",
);

/// Months, English and German, by number.
const MONTHS: [List; 12] = [
    "january januar",
    "february februar",
    "march märz",
    "april",
    "may mai",
    "june juni",
    "july juli",
    "august",
    "september",
    "october oktober",
    "november",
    "december dezember",
];

/// The number, 1 to 12, of a month in lower case, written out or cut to its first three or more
/// letters.
pub(super) fn month(lower: &str) -> Option<u32> {
    let named = |names: &&str| {
        names
            .split(' ')
            .any(|name| lower.chars().count() > 2 && name.starts_with(lower))
    };
    MONTHS
        .iter()
        .position(named)
        .and_then(|i| u32::try_from(i + 1).ok())
}

/// Days of the week and the clock.
pub(super) const DAYS: List = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays \
    thursdays fridays saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags \
    mittwochs donnerstags freitags samstags sonntags uhr";

/// Amounts without a number.
pub(super) const SOME: List = "one once single both none no nobody nothing several few couple pair all every each free daily weekly \
    monthly yearly hourly pinch handful dash until till ein eine einen einem eins kein keine keinen beide beiden einige \
    mehrere paar alle jede jeder jedes niemand nichts kostenlos gratis täglich wöchentlich monatlich jährlich prise bis";

/// Characters that count, in scripts without spaces.
pub(super) const COUNTING: &str = "０１２３４５６７８９一二三四五六七八九十百千万億两";

/// Amounts of time in a word.
pub(super) const SPANS: List =
    "overnight forever permanently indefinitely nachts ewig unbefristet dauerhaft";

/// Numbers written out. "One" is more often a pronoun.
pub(super) const NUMERALS: List = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety dozen twice half hundred \
    thousand million billion zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn \
    sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig einmal zweimal \
    halb hundert tausend millionen";
