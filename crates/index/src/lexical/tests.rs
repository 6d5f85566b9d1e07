//! Tests of the projection as a whole: written, opened, searched.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;
use crate::ids::{ChunkId, DocumentId, IdSet, RowId as _};
use local_agent_text::types::Sha256;

fn stamp(n: u8) -> LexicalStamp {
    LexicalStamp::new(CommitId::from_bytes([n; 16]))
}

fn key(doc: i64, chunk: usize) -> ChunkKey {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::of(format!("{doc}/{chunk}").as_bytes()).as_bytes()[..16]);
    ChunkKey::from_bytes(bytes)
}

fn add(writer: &LexicalWriter, doc_id: i64, title: &str, chunks: &[&str]) {
    let path = format!("notes/{doc_id}.md");
    let chunks = chunks.iter().zip(0..).map(|(text, n)| ChunkEntry {
        chunk_id: ChunkId::from_row(doc_id * 100 + n as i64),
        key: key(doc_id, n),
        headings: title,
        text,
    });
    writer
        .add(&DocEntry {
            doc_id: DocumentId::from_row(doc_id),
            title,
            path: &path,
            chunks: chunks.collect(),
            ..DocEntry::default()
        })
        .unwrap();
}

fn writer(dir: &Path) -> LexicalWriter {
    LexicalWriter::open(dir, 15_000_000, 1).unwrap()
}

fn index(dir: &Path, docs: &[(&str, &[&str])]) -> Reader {
    let mut writer = writer(dir);
    for ((title, chunks), doc) in docs.iter().zip(1..) {
        add(&writer, doc, title, chunks);
    }
    writer.commit(&stamp(1)).unwrap();
    Reader::open(dir).unwrap().unwrap()
}

/// The documents found, best first, each once.
fn docs(reader: &Reader, query: &Query) -> Vec<i64> {
    let mut seen = Vec::new();
    for hit in reader.search(query, 100, None).unwrap() {
        if !seen.contains(&hit.doc_id.row()) {
            seen.push(hit.doc_id.row());
        }
    }
    seen
}

fn plain(reader: &Reader, text: &str) -> Vec<i64> {
    docs(reader, &Query::plain(text))
}

fn parsed(reader: &Reader, text: &str) -> Vec<i64> {
    docs(reader, &Query::parse(text, &BTreeSet::new()))
}

fn found(texts: &[&str], query: &str) -> Vec<i64> {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<_> = texts
        .iter()
        .map(std::slice::from_ref)
        .map(|t| ("", t))
        .collect();
    let docs: Vec<(&str, &[&str])> = docs.iter().map(|(a, b)| (*a, *b)).collect();
    parsed(&index(dir.path(), &docs), query)
}

/// Names, sizes and modification times of everything in `dir`.
fn listing(dir: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut list: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            (
                entry.file_name().to_string_lossy().into_owned(),
                meta.len(),
                meta.modified().unwrap(),
            )
        })
        .collect();
    list.sort();
    list
}

#[test]
fn w11_a_natural_question_finds_what_answers_it() {
    let texts = [
        "Water the tomatoes every second morning; in a drought every evening as well.",
        "The invoice for the fence was paid in March.",
        "Tomato soup: onions, stock, cream.",
    ];
    assert_eq!(
        found(&texts, "How often do I have to water my tomato plants?")[0],
        1
    );
    assert_eq!(found(&texts, "fence invoices paid")[0], 2);
    assert_eq!(found(&texts, "paid FENCE")[0], 2);
}

#[test]
fn w12_rank_is_by_relevance_and_not_by_position() {
    let late = format!(
        "{} The heron is a wading bird. Herons wade.",
        "Some words about the lake. ".repeat(3)
    );
    let early =
        "Heron was mentioned once in a list of words about the lake and the shore and the boats.";
    assert_eq!(found(&[early, &late], "wading heron"), [2, 1]);
}

#[test]
fn w14_a_filter_is_applied_before_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut docs: Vec<(&str, &[&str])> = vec![("", &["harbour harbour harbour"]); 30];
    docs.push((
        "",
        &["the old harbour and many other things that were seen on that day by the sea"],
    ));
    let reader = index(dir.path(), &docs);
    let only: IdSet<DocumentId> = [31].into_iter().map(DocumentId::from_row).collect();
    let hits = reader
        .search(&Query::plain("harbour"), 1, Some(&only))
        .unwrap();
    assert_eq!(
        hits.iter().map(|hit| hit.doc_id.row()).collect::<Vec<_>>(),
        [31]
    );
    assert!(
        reader
            .search(&Query::plain("harbour"), 5, Some(&IdSet::default()))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn equal_scores_are_ordered_by_chunk_key() {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<(&str, &[&str])> = vec![("", &["the same text"]); 20];
    let reader = index(dir.path(), &docs);
    let all: Vec<_> = reader
        .search(&Query::plain("text"), 50, None)
        .unwrap()
        .iter()
        .map(|hit| hit.key)
        .collect();
    assert_eq!(all.len(), 20);
    assert!(all.is_sorted());
    let few: Vec<_> = reader
        .search(&Query::plain("text"), 7, None)
        .unwrap()
        .iter()
        .map(|hit| hit.key)
        .collect();
    assert_eq!(few, all[..7]);
}

#[test]
fn few_hits_are_the_first_of_many_whatever_was_searched_before() {
    let dir = tempfile::tempdir().unwrap();
    let texts: Vec<String> = (0..120)
        .map(|n| format!("{} {}", "tide ".repeat(1 + n % 7), "water ".repeat(n % 11)))
        .collect();
    let chunks: Vec<[&str; 1]> = texts.iter().map(|text| [text.as_str()]).collect();
    let notes: Vec<(&str, &[&str])> = chunks.iter().map(|chunks| ("", &chunks[..])).collect();
    let reader = index(dir.path(), &notes);
    for text in ["tide", "water", "tide water", "absent"] {
        let query = Query::plain(text);
        let all = reader.search(&query, 1_000, None).unwrap();
        for k in [1, 2, 3, 10, 29, 30, 119] {
            let few = reader.search(&query, k, None).unwrap();
            assert_eq!(few, all[..k.min(all.len())], "{k} for {text}");
        }
    }
}

#[test]
fn a_chunk_is_helped_by_its_document() {
    let dir = tempfile::tempdir().unwrap();
    let reader = index(
        dir.path(),
        &[
            (
                "Zephyr project",
                &["Goals of the zephyr project.", "The budget is small."],
            ),
            ("Other", &["Weather notes.", "The budget is small."]),
        ],
    );
    let hits = reader
        .search(&Query::plain("zephyr budget"), 10, None)
        .unwrap();
    let of = |doc| hits.iter().position(|hit| hit.key == key(doc, 1)).unwrap();
    assert!(of(1) < of(2));
}

#[test]
fn a_document_that_matches_by_its_title_alone_gives_its_first_chunk() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = writer(dir.path());
    let aliases = ["Robin Hood".to_owned()];
    let anchors = ["the famous outlaw".to_owned()];
    let tags = ["legend/england".to_owned()];
    let chunks = vec![ChunkEntry {
        chunk_id: ChunkId::from_row(7),
        key: key(1, 0),
        headings: "",
        text: "A man of the forest.",
    }];
    let entry = DocEntry {
        doc_id: DocumentId::from_row(1),
        title: "Sherwood",
        path: "people/robin_hood.md",
        aliases: &aliases,
        tags: &tags,
        anchors: &anchors,
        outside: "quarterstaff",
        headings: "Merry men",
        chunks,
    };
    writer.add(&entry).unwrap();
    writer.commit(&stamp(1)).unwrap();
    let reader = Reader::open(dir.path()).unwrap().unwrap();
    for query in [
        "sherwood",
        "robin",
        "outlaws",
        "legend",
        "quarterstaff",
        "merry",
        "people",
        "\"robin hood\"",
    ] {
        let hits = reader
            .search(&Query::parse(query, &BTreeSet::new()), 5, None)
            .unwrap();
        assert_eq!(hits.len(), 1, "{query}");
        assert_eq!(
            (hits[0].chunk_id.row(), hits[0].chunk_score),
            (7, 0.0),
            "{query}"
        );
        assert!(hits[0].doc_score > 0.0);
    }
    assert!(
        parsed(&reader, "\"hood the famous\"").is_empty(),
        "no phrase reaches over two fields"
    );
}

#[test]
fn chinese_japanese_and_korean_are_found() {
    let texts = [
        "黑豹队的防守只丢了308分，在联盟中排名第六。",
        "这座图书馆建于1904年，收藏了许多古籍。",
        "東京の地下鉄は毎日多くの人に使われている。",
        "서울의 도서관에서 책을 빌렸다.",
    ];
    assert_eq!(found(&texts, "黑豹队的防守丢了多少分？")[0], 1);
    assert_eq!(found(&texts, "图书馆是什么时候建的")[0], 2);
    assert_eq!(found(&texts, "地下鉄")[0], 3);
    assert_eq!(found(&texts, "도서관")[0], 4);
    assert_eq!(found(&texts, "籍"), [2], "a single character");
    assert_eq!(found(&texts, "\"许多古籍\""), [2]);
    assert!(found(&texts, "\"古许多籍\"").is_empty());
}

#[test]
fn inflected_russian_arabic_and_greek_words_are_found() {
    let texts = [
        "Кошки спят на тёплых крышах.",
        "قرأ الطالب الكتاب في المكتبة",
        "Οι γάτες κοιμούνται στις στέγες",
    ];
    assert_eq!(found(&texts, "кошка на теплой крыше")[0], 1);
    assert_eq!(found(&texts, "كتاب"), [2]);
    assert_eq!(found(&texts, "γάτα"), [3]);
}

#[test]
fn inflected_words_of_other_latin_languages_are_found_in_their_own_texts() {
    let texts = [
        "Die Häuser an der Straße sind alt, und die Dächer wurden nicht mit neuen Ziegeln gedeckt.",
        "Les chevaux de la ferme sont dans les champs, et le fermier les nourrit avec du foin.",
        "Las canciones de la fiesta fueron escritas por un músico que vive en el pueblo.",
        "The roofs of the barn were mended, and the hay is dry; it was a long summer.",
    ];
    assert_eq!(found(&texts, "Haus mit altem Dach")[0], 1);
    assert_eq!(found(&texts, "Haus"), [1]);
    assert_eq!(found(&texts, "ferme nourrir")[0], 2);
    assert_eq!(found(&texts, "canción escrita")[0], 3);
    assert_eq!(found(&texts, "mending a roof"), [4]);
}

#[test]
fn a_word_that_is_found_in_two_ways_counts_once() {
    let text = "Der Hund und die Katze sind im Garten, und das Haus ist nicht weit.";
    let score = |query: &str| {
        let dir = tempfile::tempdir().unwrap();
        let chunks: &[&str] = &[text];
        let reader = index(dir.path(), &[("", chunks), ("", chunks), ("", chunks)]);
        reader.search(&Query::plain(query), 1, None).unwrap()[0].chunk_score
    };
    // "Hund" has the same stem in both languages, "Katze" a different one in English and German.
    assert!(
        (score("Hund") - score("Katze")).abs() < 1e-4,
        "{} {}",
        score("Hund"),
        score("Katze")
    );
}

#[test]
fn the_grammar_of_a_japanese_question_weighs_less_than_what_it_asks_for() {
    let texts = [
        "湯種は一晩休ませる。",
        "パンはどのくらい焼きますか。よく聞かれます。",
    ];
    assert_eq!(found(&texts, "湯種はどのくらい休ませますか")[0], 1);
}

#[test]
fn german_words_are_found_with_and_without_umlauts() {
    let texts = [
        "Die Kündigungsfristen des Vertrags stehen im Anhang.",
        "Der Garten liegt hinter dem Haus.",
    ];
    assert_eq!(found(&texts, "Kündigungsfristen Vertrag"), [1]);
    assert_eq!(found(&texts, "kundigungsfristen"), [1]);
}

#[test]
fn names_versions_and_compounds_are_found_whole_and_in_parts() {
    let texts = [
        "Upgrade to 2.8.3 before Friday.",
        "Upgrade to 2.8.4 or 3.2.8 before Friday.",
        "Call getUserName from src/auth/session_store.rs first.",
        "A well-known e-mail address in JavaScript.",
    ];
    assert_eq!(found(&texts, "2.8.3")[0], 1);
    assert_eq!(found(&texts, "\"2.8.3\""), [1]);
    for query in [
        "getusername",
        "user name",
        "get_user_name",
        "session_store.rs",
        "SessionStore",
        "sessionstore",
        "auth",
    ] {
        assert_eq!(found(&texts, query), [3], "{query}");
    }
    for query in [
        "well known",
        "\"well known\"",
        "well-known",
        "email",
        "e-mails",
        "javascript",
        "\"known e-mail address\"",
    ] {
        assert_eq!(found(&texts, query), [4], "{query}");
    }
}

#[test]
fn an_over_long_token_is_found() {
    let long = "x1".repeat(3_000);
    assert_eq!(
        found(&["nothing", &format!("before {long} after")], &long),
        [2]
    );
}

#[test]
fn phrases_are_required_word_for_word() {
    let texts = [
        "the quick brown fox",
        "the brown quick fox",
        "quick foxes are brown",
    ];
    assert_eq!(found(&texts, "\"quick brown\""), [1]);
    assert_eq!(found(&texts, "\"quick foxes\" brown"), [3]);
    assert_eq!(found(&texts, "\"to be\""), [] as [i64; 0]);
    let texts = ["to be or not to be", "be to"];
    assert_eq!(
        found(&texts, "\"to be or not\""),
        [1],
        "stop words are words of a phrase"
    );
    assert_eq!(
        found(&texts, "\"to be\" zebra"),
        [1],
        "a word beside a phrase is not required"
    );
}

#[test]
fn exclusions_take_out_whole_documents() {
    let dir = tempfile::tempdir().unwrap();
    let reader = index(
        dir.path(),
        &[
            ("", &["Apples are ripe.", "Wasps like them."]),
            ("", &["Apples are stored in the cellar."]),
            ("Wasp nests", &["Apples again."]),
            ("", &["Apples, e-mail."]),
        ],
    );
    assert_eq!(parsed(&reader, "apples -wasp -email"), [2]);
    assert_eq!(parsed(&reader, "apples -e-mail -\"wasp nests\"").len(), 2);
    assert_eq!(parsed(&reader, "apples -\"in the\" -zebra").len(), 3);
}

#[test]
fn what_a_query_excludes_is_what_a_search_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let german =
        "Die Häuser an der Straße sind alt, und die Dächer wurden nicht mit neuen Ziegeln gedeckt.";
    let reader = index(
        dir.path(),
        &[
            ("", &[german, "Ein Garten wird im Frühling nicht gegossen."]),
            (
                "",
                &["Wir waren im Sommer in 京都 und haben Straße um Straße gesehen."],
            ),
            ("", &["Wir waren in 東京都, in der Straße der alten Leute."]),
            ("", &["Die Straße steht in der mail an alle."]),
            ("", &["Die Straße steht in der e-mail an alle."]),
        ],
    );
    let all = BTreeSet::from([1, 2, 3, 4, 5]);
    for (word, out) in [
        ("Haus", &[1][..]),
        ("東京都", &[3]),
        ("e-mail", &[5]),
        ("Zebra", &[]),
        ("\"der mail\"", &[4]),
    ] {
        let query = Query::parse(&format!("Straße -{word}"), &BTreeSet::new());
        let excluded = reader.excluded(&query).unwrap();
        let excluded: Vec<i64> = excluded.iter().map(DocumentId::row).collect();
        assert_eq!(excluded, out, "{word}");
        let left: BTreeSet<i64> = docs(&reader, &query).into_iter().collect();
        let kept: BTreeSet<i64> = all.iter().copied().filter(|id| !out.contains(id)).collect();
        assert_eq!(left, kept, "{word}");
    }
}

#[test]
fn a_query_of_stop_words_still_searches() {
    let texts = ["To be or not to be, that is the question.", "Gardens."];
    assert_eq!(found(&texts, "to be or not to be"), [1]);
    assert_eq!(found(&texts, "the garden"), [2]);
}

#[test]
fn a_blank_query_finds_nothing() {
    for query in ["", "   ", "-", "...", "\"\"", "tag:x", "\0"] {
        assert!(found(&["some text"], query).is_empty(), "{query:?}");
    }
}

#[test]
fn an_index_that_grew_ranks_like_one_written_at_once() {
    let text = |n: i64| {
        format!(
            "entry {n} about {} and {}",
            ["oak", "elm", "ash"][n as usize % 3],
            "tree ".repeat(n as usize % 5)
        )
    };
    let (grown, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut one = writer(grown.path());
    for n in 0..40 {
        add(
            &one,
            n,
            "draft",
            &["something else about oak", "and more oak"],
        );
        if n % 3 == 0 {
            one.commit(&stamp(1)).unwrap();
        }
        one.remove_doc(DocumentId::from_row(n));
        add(&one, n, "", &[&text(n), "oak tree"]);
        one.commit(&stamp(1)).unwrap();
    }
    for n in 30..40 {
        one.remove_doc(DocumentId::from_row(n));
    }
    one.remove_doc(DocumentId::from_row(12_345));
    one.commit(&stamp(2)).unwrap();
    let mut two = writer(whole.path());
    (0..30)
        .rev()
        .for_each(|n| add(&two, n, "", &[&text(n), "oak tree"]));
    two.commit(&stamp(2)).unwrap();
    let (one, two) = (
        Reader::open(grown.path()).unwrap().unwrap(),
        Reader::open(whole.path()).unwrap().unwrap(),
    );
    assert!(one.segments.len() <= 4, "few segments");
    assert_eq!((one.doc_count(), one.chunk_count()), (30, 60));
    let query = Query::plain("oak trees 7");
    assert_eq!(
        one.search(&query, 100, None).unwrap(),
        two.search(&query, 100, None).unwrap()
    );
    let keys = |reader: &Reader| {
        reader
            .chunk_keys()
            .unwrap()
            .into_iter()
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(keys(&one), keys(&two));
    assert!(keys(&one).contains(&(ChunkId::from_row(700), key(7, 0))));
}

#[test]
fn clear_removes_everything_and_keeps_the_stamp_honest() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(dir.path(), &[("", &["old text"])]));
    let mut writer = writer(dir.path());
    assert_eq!(writer.stamp(), Some(stamp(1)));
    add(&writer, 5, "", &["pending text"]);
    writer.clear().unwrap();
    add(&writer, 9, "", &["new text"]);
    assert_eq!(
        plain(&Reader::open(dir.path()).unwrap().unwrap(), "text"),
        [1],
        "nothing is visible before commit"
    );
    writer.commit(&stamp(2)).unwrap();
    let reader = Reader::open(dir.path()).unwrap().unwrap();
    assert_eq!(plain(&reader, "text"), [9]);
    assert_eq!(reader.stamp(), Some(stamp(2)));
}

#[test]
fn s38_a_projection_that_is_gone_or_of_another_commit_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Reader::open(&dir.path().join("none")).unwrap().is_none());
    assert!(Reader::open(dir.path()).unwrap().is_none());
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "nothing was created"
    );
    let reader = index(dir.path(), &[("", &["text"])]);
    assert_eq!(reader.stamp(), Some(stamp(1)));
    assert_ne!(reader.stamp(), Some(stamp(2)));
    let older = LexicalStamp {
        analyzer_version: ANALYZER_VERSION + 1,
        ..stamp(1)
    };
    assert_ne!(reader.stamp(), Some(older));
    fs::remove_dir_all(dir.path()).unwrap();
    assert!(Reader::open(dir.path()).unwrap().is_none());
}

#[test]
fn readers_create_nothing_and_work_in_read_only_folders() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(dir.path(), &[("", &["some text"])]));
    for name in [".tantivy-meta.lock", ".tantivy-writer.lock"] {
        let _ = fs::remove_file(dir.path().join(name));
    }
    let mut permissions = fs::metadata(dir.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(dir.path(), permissions.clone()).unwrap();
    let before = listing(dir.path());
    let modified = fs::metadata(dir.path()).unwrap().modified().unwrap();
    let reader = Reader::open(dir.path()).unwrap().unwrap();
    assert_eq!(plain(&reader, "text"), [1]);
    assert_eq!(reader.damaged_files().unwrap(), [] as [&str; 0]);
    drop(reader);
    assert_eq!(listing(dir.path()), before);
    assert_eq!(
        fs::metadata(dir.path()).unwrap().modified().unwrap(),
        modified
    );
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    fs::set_permissions(dir.path(), permissions).unwrap();
}

#[test]
fn damage_is_a_typed_failure_with_the_command_that_mends_it() {
    type Change = fn(&[u8]) -> Vec<u8>;
    let damage: [(&str, Change); 4] = [
        ("json", |_| b"{\"segments\": 7}".to_vec()),
        ("json", |bytes| {
            String::from_utf8_lossy(bytes)
                .replace("\"back\"", "\"beck\"")
                .into_bytes()
        }),
        ("fast", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("term", |_| Vec::new()),
    ];
    for (part, change) in damage {
        let dir = tempfile::tempdir().unwrap();
        drop(index(dir.path(), &[("", &["some text"])]));
        for (name, ..) in listing(dir.path()) {
            let path = dir.path().join(&name);
            if name == "meta.json" && part == "json" || name.ends_with(part) && part != "json" {
                fs::write(&path, change(&fs::read(&path).unwrap())).unwrap();
            }
        }
        let error = Reader::open(dir.path()).map(|_| ()).unwrap_err();
        assert_eq!(
            (error.code, error.hint.as_deref()),
            (ErrorCode::DbCorrupt, Some("local-agent index --verify")),
            "{part}"
        );
        let mut writer = writer(dir.path());
        assert_eq!(writer.stamp(), None, "begun anew");
        add(&writer, 3, "", &["some text"]);
        writer.commit(&stamp(3)).unwrap();
        assert_eq!(
            plain(&Reader::open(dir.path()).unwrap().unwrap(), "text"),
            [3]
        );
    }
}

#[test]
fn no_damaged_byte_makes_a_search_panic() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(
        dir.path(),
        &[
            ("One", &["some text", "other text"]),
            ("Two", &["more text here"]),
        ],
    ));
    for (name, size, _) in listing(dir.path()) {
        let path = dir.path().join(&name);
        let whole = fs::read(&path).unwrap();
        for at in (0..size as usize).step_by(41) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xA5;
            fs::write(&path, &bytes).unwrap();
            if let Ok(Some(reader)) = Reader::open(dir.path()) {
                let _ = reader.search(
                    &Query::parse("text \"more text\"", &BTreeSet::new()),
                    5,
                    None,
                );
                let _ = reader.chunk_keys();
                let _ = reader.damaged_files();
            }
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_changed_byte_is_found_by_its_checksum() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(dir.path(), &[("", &["some text"])]));
    let (name, ..) = listing(dir.path())
        .into_iter()
        .find(|(name, ..)| name.ends_with("idx"))
        .unwrap();
    let path = dir.path().join(&name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] ^= 1;
    fs::write(&path, bytes).unwrap();
    let reader = Reader::open(dir.path()).unwrap().unwrap();
    assert_eq!(reader.damaged_files().unwrap(), [name]);
}

/// `doctor` once reported damage when a writer merged away a file that it was about to read.
#[test]
fn files_that_a_writer_merges_away_are_not_damaged() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(dir.path(), &[("", &["some text"])]));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for n in 2..60 {
                let mut writer = writer(dir.path());
                writer.remove_doc(DocumentId::from_row(i64::from(n) - 1));
                add(&writer, i64::from(n), "", &["some text"]);
                writer.commit(&stamp(n)).unwrap();
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !over.load(std::sync::atomic::Ordering::Relaxed) {
            let reader = Reader::open(dir.path()).unwrap().unwrap();
            assert_eq!(reader.damaged_files().unwrap(), [] as [&str; 0]);
        }
    });
}

#[test]
fn readers_work_while_a_writer_commits_and_merges() {
    let dir = tempfile::tempdir().unwrap();
    drop(index(dir.path(), &[("", &["steady text"])]));
    std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            let mut writer = writer(dir.path());
            for n in 2..40 {
                add(&writer, n, "", &["steady text"]);
                writer.commit(&stamp(n as u8)).unwrap();
            }
        });
        while !done.is_finished() {
            let reader = Reader::open(dir.path()).unwrap().unwrap();
            let hits = reader.search(&Query::plain("steady"), 1_000, None).unwrap();
            assert_eq!(hits.len() as u64, reader.chunk_count());
            // The n-th commit has n documents.
            let last = reader.stamp().unwrap().index_commit.as_bytes()[0];
            assert_eq!(
                hits.len(),
                usize::from(last),
                "stamp and content are of one commit"
            );
        }
    });
}

#[test]
fn several_threads_may_add() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = LexicalWriter::open(dir.path(), 60_000_000, 2).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                (0..50).for_each(|n| add(writer, thread * 50 + n, "", &["shared text", "second"]));
            });
        }
    });
    writer.commit(&stamp(1)).unwrap();
    let reader = Reader::open(dir.path()).unwrap().unwrap();
    assert_eq!((reader.doc_count(), reader.chunk_count()), (200, 400));
}

#[test]
fn a_second_writer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = writer(dir.path());
    let error = LexicalWriter::open(dir.path(), 15_000_000, 1)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::Locked);
}

#[test]
fn coverage_weighs_rare_terms_more() {
    let dir = tempfile::tempdir().unwrap();
    let docs: Vec<(&str, &[&str])> = vec![
        ("", &["common words"]),
        ("", &["common things"]),
        ("", &["common heron"]),
    ];
    let reader = index(dir.path(), &docs);
    let stats = reader
        .term_stats(&Query::plain("the common Herons"))
        .unwrap();
    assert_eq!(
        stats
            .iter()
            .map(|s| (s.term.as_str(), s.doc_freq))
            .collect::<Vec<_>>(),
        [("common", 3), ("heron", 1)]
    );
    assert_eq!(coverage(&stats, "A heron is a common bird."), 1.0);
    assert_eq!(coverage(&stats, "nothing"), 0.0);
    assert!(coverage(&stats, "one heron") > 0.8);
    assert!(coverage(&stats, "so common") < 0.2);
    assert_eq!(coverage(&[], "text"), 0.0);
}

#[test]
fn terms_are_stems_without_stop_words() {
    assert_eq!(
        terms("The Gardens of e-mail, 2.8"),
        ["garden", "e", "mail", "2", "8"]
    );
    assert_eq!(terms("to be"), ["to", "be"]);
    assert_eq!(terms("图书馆 x"), ["图书", "书馆", "x"]);
}

/// In an earlier version, each addition included the removal of the previous version, and removals
/// from several threads reached tantivy out of order: newly added documents disappeared.
#[test]
fn nothing_is_lost_when_many_threads_add_at_once() {
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = LexicalWriter::open(dir.path(), 30_000_000, 2).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let writer = &writer;
                scope.spawn(move || {
                    (0..40).for_each(|n| {
                        add(writer, thread * 40 + n + 1, "heron", &["a heron", "wades"]);
                    });
                });
            }
        });
        writer.commit(&stamp(1)).unwrap();
        assert_eq!(
            Reader::open(dir.path()).unwrap().unwrap().doc_count(),
            8 * 40,
            "round {round}"
        );
    }
}

/// A flipped bit in the version of a dictionary was once an error without a way out.
#[test]
fn an_error_of_no_kind_is_a_damage_and_one_of_the_system_is_not() {
    let io = |error| failure(&TantivyError::IoError(std::sync::Arc::new(error))).code;
    let version = std::io::Error::other("Unsupported sstable version");
    assert_eq!(io(version), ErrorCode::DbCorrupt);
    assert_eq!(io(std::io::Error::from_raw_os_error(5)), ErrorCode::DbError);
}
