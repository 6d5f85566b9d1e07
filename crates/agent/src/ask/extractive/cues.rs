//! Closed-class words of the languages whose questions are understood best: function words,
//! question words, numerals, the calendar. No word of any subject. A question in another language
//! is still answered: its frequent words have a low idf.

/// Words, one space apart.
type WordList = &'static str;

/// Phrases, separated by `|`: of scripts with spaces (found at word boundaries), and of scripts
/// without (found anywhere).
pub(super) struct Cues(WordList, WordList);

impl Cues {
    /// Its words of scripts with spaces, between spaces and `|`.
    pub(super) const fn spaced(&self) -> WordList {
        self.0
    }

    /// Whether `lower` (in lower case) holds one of them.
    pub(super) fn are_in(&self, lower: &str) -> bool {
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
pub(super) fn holds(list: WordList, word: &str) -> bool {
    list.split(' ').any(|w| w == word)
}

/// The function words of the language that `lower` (a question in lower case) seems to be written
/// in: the list with more hits; English when none has any.
pub(super) fn of_language(lower: &str) -> WordList {
    let count = |list: WordList| split(lower).filter(|w| holds(list, w)).count();
    let mut best = (count(ENGLISH), ENGLISH);
    for list in [GERMAN, FRENCH, SPANISH, RUSSIAN] {
        let found = count(list);
        if found > best.0 {
            best = (found, list);
        }
    }
    best.1
}

/// Whether every noun of the language is written with a capital.
pub(super) fn capitalises_nouns(list: WordList) -> bool {
    list == GERMAN
}

const ENGLISH: WordList = "a about after all am an and any are as at be been before being both but by can could did do does \
    doing done for from had has have having he her here hers him his how i if in into is it its itself many may me \
    might mine much must my no nor not of off on or our ours out over own please shall she should since so some such \
    tell than that the their theirs them then there these they this those to too under until up upon us was we were \
    what when where whether which while who whom whose why will with within would you your yours";

const GERMAN: WordList = "aber alle als also am an auch auf aus bei beim bin bis da dann das dass dem den denn der des die \
    dies diese diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es euer für gegen hat \
    hatte hatten haben habe ich ihm ihn ihr ihre ihrem ihren ihrer im in ist kann kein keine können man mein meine \
    mich mir mit muss müssen nach nicht noch nur ob oder ohne sein seine seinem seinen seiner seit sich sie sind so \
    soll sollen sollte tun über um und uns unser unsere unserem unseren unserer unter viel viele vom von vor wann war \
    waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden weshalb wessen wie wieso \
    wieviel wieviele wir wird wo woher wohin worauf wurde wurden zu zum zur zwischen";

const FRENCH: WordList = "a à ai au aux avec avons ce ces cet cette chez comment combien dans de des du elle elles en est et \
    était eu fait faire faut il ils j je l la le les leur lui là ma mes moi mon n ne nos notre nous on ont ou où par \
    pas pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa se ses si son sont sur t ta te tes ton tu un \
    une vos votre vous y d c m doit dois peut peux puis";

const SPANISH: WordList = "a al algo ante como cómo con cual cuál cuáles cuando cuándo cuanto cuánto cuánta cuántos cuántas de \
    debe debo del desde donde dónde e el él ella en era es esa ese eso esta está este esto fue ha hace hacer hay he la \
    las le lo los me mi mis muy más ni no nos o para pero por porque qué que quien quién quiénes se ser si sin sobre \
    son su sus también te tengo tiene tienen tu tus un una unos y ya yo puedo puede";

const RUSSIAN: WordList = "а без был была были было быть в вам вас во все всё где да для до его ее её если есть ещё же за и из \
    или им их к как какая какие каким какой какую какого когда кем кого кому который кто куда ли меня мне мой моя мы на \
    надо нам нас не нет ни но ну о об он она они от откуда по под почему при с сколько со так там то тоже только тот у \
    уже чего чем что чтобы это этот эта эти я нужно можно зачем чей чья";

/// Verbs that say little: a note on the servings of a chili need not say that it "makes" them.
pub(super) const LIGHT: WordList = "need needs needed make makes made take takes took get gets got keep keeps kept use uses used \
    go goes went give gives gave brauche braucht brauchen gibt geht macht machen musste mussten nimmt";

/// Words that ask.
pub(super) const ASKING: WordList = "what when where which who whom whose why how was wann wo welche welcher welches wer wem \
    wen wessen warum wieso weshalb wie wieviel wieviele quand où quel quelle qui pourquoi comment combien cuándo dónde \
    qué quién cuál cómo cuánto когда где кто что почему как сколько какой";

/// Chinese characters that mostly are grammar or ask.
pub(super) const CHINESE_GRAMMAR: &str = "的了是在和与及或而被把将对从向到于以为因所其这那哪谁什么怎吗呢吧啊也都就还又很有多少几何个些之";

/// "how …", "wie …": an amount is asked for.
pub(super) const DEGREES: WordList = "much many long often far old large big small high low tall wide deep heavy hot cold \
    warm fast viel viele lang lange oft weit alt groß klein hoch breit tief schwer heiß kalt warm schnell";

pub(super) const TIME: Cues = Cues(
    "when|what time|what day|which day|what date|what year|which year|which month|wann|\
     wie viel uhr|wieviel uhr|welchem tag|welchem jahr|until when|by when|since when|\
     bis wann|seit wann|quand|quel jour|à quelle heure|quelle date|cuándo|qué día|qué hora|\
     когда|во сколько|какого числа",
    "いつ|何時|何日|何月|何年|何曜日|何时|什么时候|哪一年|哪年|哪天|几点|几月|什么时间|哪一天|几号",
);
pub(super) const NUMBER: Cues = Cues(
    "how much|how many|what number|which number|what percentage|what temperature|\
     which temperature|what price|what speed|what height|what weight|what distance|\
     welche temperatur|welcher temperatur|wie viel|wie viele|wieviel|wieviele|welche nummer|\
     what amount|how big|how tall|how heavy|how old|how large|how fast|how often|combien|\
     quelle quantité|cuánto|cuánta|cuántos|cuántas|сколько|какая температура|\
     quelle température|qué temperatura",
    "いくつ|いくら|どのくらい|どれくらい|何度|何人|何個|何番|何分|何キロ|何グラム|何本|何枚|何回|何円|多少|几个|几次|几年|多大|多长|多高|多远|多久|几点|\
     第几",
);
pub(super) const EXTENT: Cues = Cues(
    "how long|how far|wie lange|wie lang|wie weit|combien de temps|cuánto tiempo|как долго|\
     сколько времени",
    "多久|多长时间",
);
pub(super) const PERSON: Cues = Cues(
    "who|whom|whose|wer|wem|wen|wessen|qui|quién|quiénes|кто|кого|кому|кем",
    "誰|だれ|どなた|谁|哪位",
);
pub(super) const REASON: Cues = Cues(
    "why|what reason|what reasons|warum|wieso|weshalb|how come|what for|what was the reason|\
     reason for|reasons for|pourquoi|pour quelle raison|por qué|почему|зачем|wozu",
    "なぜ|どうして|理由|为什么|为何|原因|为何|怎么会",
);
pub(super) const STEPS: Cues = Cues(
    "how do i|how do we|how do you|how can i|how can we|how to|how should i|how should we|\
     what do i do|what should i do|what must i do|step by step|schritt für schritt|pas à pas|paso a paso|what do we do|what should we do|\
     what are the steps|wie kann ich|wie können wir|wie kann man|wie mache ich|wie macht man|\
     was ist zu tun|was tun|was muss ich tun|was soll ich tun|wie gehe ich|how would i|\
     how could i|how does one|how can one|how can you|steps to|steps for|way to|\
     instructions for|what is the procedure|wie kann|wie geht|wie stelle|wie richte|wie mach|\
     wie wird|wie muss|comment faire|comment|cómo|как",
    "どうすれば|どうやって|方法|手順|やり方|使い方|怎么|怎样|如何|步骤",
);
pub(super) const DEFINITION: Cues = Cues(
    "what is|what are|who is|was ist|was sind|wer ist|what does|what s|define|meaning of|\
     definition of|stand for|was bedeutet|was heißt|was versteht|qu est ce|c est quoi|\
     que signifie|qué es|qué significa|что такое|что значит",
    "とは|是什么|什么是|的意思",
);
pub(super) const CODE: Cues = Cues(
    "command|commands|code|script|snippet|befehl|befehle|skript|kommando",
    "コマンド|コード|スクリプト",
);

/// The quarters of a year by their place; and what a quarter is called.
pub(super) const ORDINALS: [WordList; 4] = [
    "first 1st erstes ersten",
    "second 2nd zweites zweiten",
    "third 3rd drittes dritten",
    "fourth 4th viertes vierten",
];
pub(super) const QUARTER: WordList = "quarter quarters quartal quartals";

/// What gives a reason; in a heading also the question word itself.
pub(super) const BECAUSE: Cues = Cues(
    "because|since|so that|therefore|due to|reason|reasons|why|weil|denn|da|damit|deshalb|\
     daher|wegen|grund|gründe|warum|otherwise|that is why|as a result|in order to|to avoid|\
     caused by|thanks to|parce que|car|puisque|afin de|à cause|porque|ya que|para que|потому|\
     поэтому|чтобы|из за|так как",
    "ため|から|ので|理由|因为|由于|所以|原因|为了",
);

/// The states in which a note says that what it holds is not, or no longer, so.
pub(super) const NOT_IN_FORCE: Cues = Cues(
    "superseded|replaced|rejected|obsolete|deprecated|outdated|withdrawn|abgelöst|abgelehnt|veraltet|ersetzt|überholt|\
     zurückgezogen",
    "廃止|却下|旧版|無効",
);

/// Months, English and German, by number.
const MONTHS: [WordList; 12] = [
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
pub(super) const DAYS: WordList = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays \
    thursdays fridays saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags \
    mittwochs donnerstags freitags samstags sonntags uhr";

/// Amounts without a number.
pub(super) const SOME: WordList = "one once single both none no nobody nothing several few couple pair all every each free daily weekly \
    monthly yearly hourly pinch handful dash until till ein eine einen einem eins kein keine keinen beide beiden einige \
    mehrere paar alle jede jeder jedes niemand nichts kostenlos gratis täglich wöchentlich monatlich jährlich prise bis";

/// Characters that count, in scripts without spaces.
pub(super) const COUNTING: &str = "０１２３４５６７８９一二三四五六七八九十百千万億两";

/// Amounts of time in a word.
pub(super) const SPANS: WordList =
    "overnight forever permanently indefinitely nachts ewig unbefristet dauerhaft";

/// Numbers written out. "One" is more often a pronoun.
pub(super) const NUMERALS: WordList = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety dozen twice half hundred \
    thousand million billion zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn \
    sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig einmal zweimal \
    halb hundert tausend millionen";

/// Where something is.
pub(super) const PLACE: Cues = Cues(
    "where|in which folder|which place|what place|wo|woher|wohin|an welchem ort|où|dónde|где|куда",
    "どこ|哪里|哪儿|在哪",
);

/// A list is asked for.
pub(super) const LIST: Cues = Cues(
    "which|what are|list all|list the|list of|name all|name the|what kinds|what types|what things|what items|what all|who are|who all|\
     what ingredients|what do i need|what do we need|everything|all the|welche|was sind|liste|nenne|was brauche|was alles|\
     quels|quelles|cuáles|qué cosas|lista|какие|перечисли|список",
    "哪些|有哪|列出",
);

/// Two things are compared.
pub(super) const DIFFERENCE: Cues = Cues(
    "difference|differences|differ|differs|different|compare|compared|comparison|versus|vs|unterschied|unterschiede|\
     unterscheidet|unterscheiden|vergleich|vergleiche|différence|différences|comparer|diferencia|diferencias|comparar|\
     разница|отличается|отличие|сравни",
    "区别|不同|比较|違い",
);

/// The newest is asked for.
pub(super) const LATEST: Cues = Cues(
    "latest|last|most recent|most recently|newest|recently|current|currently|letzte|letzter|letztes|letzten|neueste|\
     neuester|neuestes|zuletzt|aktuell|aktuelle|dernier|dernière|récemment|último|última|más reciente|reciente|последний|\
     последняя|последнее|последние|недавно",
    "最近|最新|上次|最后",
);

/// "Last" in the name of a period.
pub(super) const NOT_LATEST: Cues = Cues(
    "last week|last month|last year|last quarter|last night|how long does|letzte woche|letzten monat|letztes jahr",
    "",
);

pub(super) const YESTERDAY: Cues = Cues("yesterday|gestern|hier soir|ayer|вчера", "昨天|昨日");
pub(super) const TODAY: Cues = Cues("today|heute|aujourd hui|hoy|сегодня", "今天|今日");
pub(super) const LAST_WEEK: Cues = Cues(
    "last week|letzte woche|letzter woche|vorige woche|la semaine dernière|la semana pasada|на прошлой неделе",
    "上周|先週",
);
pub(super) const THIS_WEEK: Cues = Cues(
    "this week|diese woche|dieser woche|cette semaine|esta semana|на этой неделе",
    "本周|这周|今週",
);
pub(super) const LAST_MONTH: Cues = Cues(
    "last month|letzten monat|letzter monat|vorigen monat|le mois dernier|el mes pasado|в прошлом месяце",
    "上个月|先月",
);
pub(super) const THIS_MONTH: Cues = Cues(
    "this month|diesen monat|diesem monat|ce mois|este mes|в этом месяце",
    "这个月|今月",
);
pub(super) const LAST_YEAR: Cues = Cues(
    "last year|letztes jahr|letzten jahr|voriges jahr|l année dernière|el año pasado|в прошлом году",
    "去年",
);

/// Tasks are asked for.
pub(super) const TASKS: Cues = Cues(
    "overdue|überfällig|chores|chore|task|tasks|todo|todos|to do|to dos|action items|action item|still open|still outstanding|outstanding|left to do|\
     remains to be done|still to do|still has to|still has to be|has to be done|what is left|what s left|are left|is left|left for|\
     what remains|remains|not yet done|not yet ticked|yet to be done|jobs left|still needs|still need to|still have to|aufgabe|aufgaben|offen|noch zu tun|noch tun|\
     noch erledigen|tâches|à faire|tareas|pendientes|задачи|дела",
    "待办|任务",
);
/// What should have been done by now.
pub(super) const OVERDUE: Cues = Cues("overdue|überfällig|en retard|atrasadas|просрочены", "逾期");
/// Something is to be done by a day.
pub(super) const DUE: Cues = Cues("due|fällig", "");
pub(super) const NEXT_WEEK: Cues = Cues(
    "next week|nächste woche|nächster woche|la semaine prochaine|la próxima semana|на следующей неделе",
    "下周|来週",
);
/// Words of a question about tasks that do not say which.
pub(super) const TASK_WORDS: WordList = "task tasks todo todos do open still left outstanding action item items pending list \
    overdue überfällig late due fällig chore chores remaining remains done finished unfinished need have has been job jobs yet ticked off aufgabe aufgaben offen offene offenen noch tun erledigen \
    tâche tâches faire reste tarea tareas pendiente pendientes задача задачи дела";
/// Tasks that are done are asked for.
pub(super) const DONE: Cues = Cues(
    "finished|completed|already done|erledigt|fertig|terminé|terminées|hecho|hechas|сделано|выполнено",
    "完成了|已完成",
);

pub(super) const SUM: Cues = Cues(
    "have i spent|have we spent|did i spend|did we spend|gone out|come in|came in|went out|total|in total|altogether|together|so far|come to|comes to|came to|added up|all items|sum|sum of|in all|overall|combined|all together|add up|insgesamt|summe|zusammen|au total|\
     somme|en total|suma|total de|всего|сумма|итого|в сумме",
    "总共|一共|合计|总计",
);
pub(super) const MINIMUM: Cues = Cues(
    "lowest|smallest|cheapest|least|minimum|shortest|fewest|niedrigste|niedrigster|kleinste|günstigste|billigste|\
     geringste|kürzeste|le moins|moins cher|mínimo|más barato|самый дешёвый|минимум|наименьший",
    "最低|最少|最便宜|最小",
);
pub(super) const MAXIMUM: Cues = Cues(
    "highest|largest|biggest|the most|am meisten|most expensive|maximum|longest|dearest|costliest|höchste|höchster|größte|größter|teuerste|\
     teuerster|längste|le plus cher|le plus|máximo|más caro|самый дорогой|максимум|наибольший",
    "最高|最多|最贵|最大",
);
pub(super) const AVERAGE: Cues = Cues(
    "average|mean|on average|durchschnitt|durchschnittlich|im schnitt|en moyenne|moyenne|promedio|в среднем",
    "平均",
);
pub(super) const COUNT: Cues = Cues(
    "how many|the number of|total number of|wie viele|wieviele|anzahl|combien de|cuántos|cuántas|сколько",
    "几个|几种|多少个|几本",
);
/// A number of days is asked for …
pub(super) const DAYS_ASKED: Cues = Cues(
    "how many days|how many weeks|how many months|how long|how much time|wie viele tage|wie viele wochen|wie lange|\
     combien de jours|cuántos días|сколько дней",
    "多少天|几天",
);
/// … between two of them …
pub(super) const BETWEEN: Cues = Cues(
    "between|passed|elapsed|zwischen|vergangen|vergingen|entre|passés|pasaron|между|прошло",
    "之间|相隔",
);
/// … or from now on.
pub(super) const UNTIL: Cues = Cues(
    "until|till|left|from now|remaining|bis|noch|jusqu|avant|hasta|faltan|до|осталось",
    "还有|距离",
);

/// A word is to be explained.
pub(super) const MEANS: Cues = Cues(
    "mean|means|meant by|meaning of|define|definition of|explain the term|the term|stand for|stands for|was bedeutet|\
     was heißt|bedeutet|que signifie|signifie|qué significa|significa|что значит|означает",
    "的意思|とは|意味",
);

/// Money is asked for.
pub(super) const MONEY: Cues = Cues(
    "cost|costs|price|prices|pay|paid|spend|spent|expensive|money|amount|kostet|kosten|preis|preise|bezahlt|ausgegeben|\
     coûte|coûté|prix|payer|cuesta|precio|pagar|стоит|цена",
    "多少钱|价格|花了",
);
/// Names of columns that hold money.
pub(super) const MONEY_COLUMNS: WordList = "price prices cost costs amount total sum budget fee preis preise betrag kosten summe prix \
    montant coût precio importe coste цена сумма eur usd gbp chf";
/// Marks of money.
pub(super) const MONEY_MARKS: &str = "€$£¥₽₹";

/// What a person is reached by.
pub(super) const PHONE: Cues = Cues(
    "phone number|phone|telephone|mobile number|mobile|cell number|ring|telefonnummer|handynummer|telefon|\
     numéro de téléphone|téléphone|teléfono|móvil|телефон|номер телефона",
    "电话|手机号",
);
pub(super) const EMAIL: Cues = Cues(
    "e mail|email|e mail address|email address|mail address|mailadresse|emailadresse|courriel|adresse mail|correo|\
     электронная почта",
    "邮箱|邮件地址",
);

/// A note is asked for in short.
pub(super) const SUMMARY: Cues = Cues(
    "note about|noted about|notes about|notes on|wrote about|gist|key points|main points|notiert|summarise|summarize|summary|sum up|overview of|give me an overview|tl dr|tldr|recap|zusammenfassung|fasse|überblick|\
     résume|résumé|resume|resumen|обзор",
    "总结|概括|要約|まとめ",
);

/// The first word of a question that is answered by yes or no.
pub(super) const POLAR: WordList = "is are was were do does did can could may must should will would has have had am shall \
    ist sind war waren hat haben kann können darf dürfen muss müssen soll sollen wird werden gibt habe bin \
    puis peut peux faut avons avez hay puede puedo tengo tiene debo можно нужно есть";

/// Words between two things that are compared.
pub(super) const SIDES: WordList = "and or versus vs und oder et ou y o и или";

/// Words before a version's number.
pub(super) const VERSION: WordList = "version versions v release releases fassung версия";

/// Units in which several things of a name differ: sizes, never prices or times.
pub(super) const SIZES: WordList =
    "mm cm m inch inches ml cl l litre litres liter g kg w kw v a gb mb tb";

/// Words that put one thing before or behind another in time.
const BEFORE_AND_AFTER: WordList = "before after vor nach avant après antes después";

/// Whether a question asks for what is before or after something with a name or a number.
pub(super) fn relation(text: &str) -> bool {
    let words: Vec<&str> = split(text).collect();
    words.windows(2).any(|pair| {
        holds("before after", pair[0])
            && pair[1].starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
    })
}

/// Whether a unit says that something was before or after another.
pub(super) fn relates(plain: &str) -> bool {
    let lower = plain.to_lowercase();
    let more =
        "previously former formerly predecessor successor then until later earlier bis dann vorher";
    split(&lower).any(|w| holds(BEFORE_AND_AFTER, w) || holds(more, w))
}

/// Words before what an attribute is one of: "the number **of** the flight".
const ATTRIBUTED: WordList = "of to for in at on from with by von für zu im am der des vom zum zur";

/// The word for the attribute in "what is the … of …": the last before the first preposition.
pub(super) fn attribute(text: &str) -> Option<&str> {
    let words: Vec<&str> = split(text).collect();
    let lower: Vec<String> = words.iter().map(|w| w.to_lowercase()).collect();
    let asks = matches!(
        lower
            .iter()
            .take(3)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice(),
        ["what", "is" | "was" | "are" | "s", "the"]
    );
    let end = lower.iter().skip(3).position(|w| holds(ATTRIBUTED, w))? + 3;
    (asks && end > 3).then(|| words[end - 1])
}
