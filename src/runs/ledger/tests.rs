//! What the ledger promises as a whole.

use super::*;

fn world() -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(&dir.path().join("runs"), &dir.path().join("durable.sqlite"));
    (dir, ledger)
}

fn begin(ledger: &Ledger) -> Result<Option<Failure>> {
    ledger.append(&[(Kind::Begin, None, Some(Sha256::of(b"record")))])
}

fn text(ledger: &Ledger) -> String {
    std::fs::read_to_string(ledger.path()).unwrap()
}

fn state(ledger: &Ledger) -> Result<Anchor> {
    ledger.anchor(ledger.read()?.as_ref())
}

#[test]
fn each_line_holds_the_hash_of_the_line_before() {
    let (_dir, ledger) = world();
    assert!(ledger.read().unwrap().is_none());
    assert_eq!(state(&ledger).unwrap(), Anchor::Unknown);
    for _ in 0..3 {
        assert_eq!(begin(&ledger).unwrap(), None);
    }
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!(chain.lines.len(), 4);
    assert_eq!(chain.lines[0].0.kind, Kind::Open);
    let lines: Vec<String> = text(&ledger).lines().map(str::to_owned).collect();
    for pair in lines.windows(2) {
        assert!(pair[1].contains(&Sha256::of(pair[0].as_bytes()).to_string()));
    }
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    assert!(chain.holds(&Sha256::of(lines[2].as_bytes())) && !chain.holds(&Sha256::of(b"no")));
    assert!(!private::is_open_to_others(&ledger.path()));
}

#[test]
fn s31_any_change_of_any_line_is_seen_and_nothing_is_written_on_top() {
    let (_dir, ledger) = world();
    for _ in 0..4 {
        begin(&ledger).unwrap();
    }
    let whole = text(&ledger);
    let lines: Vec<&str> = whole.lines().collect();
    let join = |lines: &[&str]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
    let damaged = vec![
        ("a line is gone", join(&[&lines[..2], &lines[3..]].concat())),
        ("the first line is gone", join(&lines[1..])),
        ("the tail is cut", join(&lines[..3])),
        ("all but the first is cut", join(&lines[..1])),
        ("the tail is cut in a line", whole[..whole.len() - 20].to_owned()),
        ("a line is doubled", join(&[lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]])),
        ("it is empty", String::new()),
        ("it is junk", "junk\n".to_owned()),
    ];
    for (what, bytes) in damaged {
        std::fs::write(ledger.path(), &bytes).unwrap();
        assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken, "{what}");
        assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken, "{what}");
        assert_eq!(text(&ledger), bytes, "{what}: nothing is written to it");
    }
    std::fs::remove_file(ledger.path()).unwrap();
    assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
    std::fs::write(ledger.path(), &whole).unwrap();
    begin(&ledger).unwrap();
}

/// A writer looks at the end alone, so that the thousandth run costs what the first did; a reader looks at all of it.
#[test]
fn s31_a_change_that_keeps_the_length_is_seen_by_every_reader() {
    let (_dir, ledger) = world();
    for _ in 0..4 {
        begin(&ledger).unwrap();
    }
    let whole = text(&ledger);
    let lines: Vec<&str> = whole.lines().collect();
    let join = |lines: &[&str]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
    let mut damaged = vec![join(&[lines[0], lines[2], lines[1], lines[3], lines[4]])];
    for (n, line) in lines.iter().enumerate() {
        let year = line.replace("\"at\":\"2", "\"at\":\"1");
        let mut changed = lines.clone();
        changed[n] = &year;
        damaged.push(join(&changed));
    }
    for bytes in damaged {
        std::fs::write(ledger.path(), &bytes).unwrap();
        assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken, "{bytes}");
    }
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken, "the last line is the changed one");
}

#[test]
fn s31_a_ledger_that_is_rewritten_as_a_whole_is_another_one() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    let forged = Ledger::new(&dir.path().join("forged"), &dir.path().join("other.sqlite"));
    // Within one second the lines of two ledgers differ only in what they enter.
    forged.append(&[(Kind::Begin, None, Some(Sha256::of(b"another record")))]).unwrap();
    std::fs::copy(forged.path(), ledger.path()).unwrap();
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
}

#[test]
fn s32_what_a_crash_leaves_is_mended_by_the_next_line() {
    let (_dir, ledger) = world();
    begin(&ledger).unwrap();
    begin(&ledger).unwrap();
    let whole = text(&ledger);
    // Half a line.
    std::fs::write(ledger.path(), format!("{whole}{{\"n\":3,\"at\":\"20")).unwrap();
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    begin(&ledger).unwrap();
    assert!(text(&ledger).starts_with(&whole) && text(&ledger).lines().count() == 4);
    // A whole line of which the head was not told.
    let mut writer =
        Writer::open(StateDirectory::open(ledger.path().parent().unwrap()).unwrap().unwrap(), FILE).unwrap();
    writer.head = ledger.read().unwrap().unwrap().head();
    writer.add(Kind::Begin, None, None, None).unwrap();
    writer.finish().unwrap();
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    begin(&ledger).unwrap();
    assert_eq!(ledger.read().unwrap().unwrap().lines.len(), 6);
}

#[test]
fn s28_s30_s31_a_call_of_a_tool_is_a_line_of_the_chain_redacted_and_on_one_line() {
    let (_dir, ledger) = world();
    let tool = |subject: &str| ToolLine {
        caller: "model".to_owned(),
        name: "read_text_file".to_owned(),
        subject: subject.to_owned(),
        outcome: "ok".to_owned(),
        why: None,
        bytes: 7,
    };
    let key = format!("sk-ant-{}", "a1B2c3D4".repeat(6));
    for subject in ["notes:a.md", "forged\n{\"n\":1}", &"\u{1}".repeat(10_000), &key] {
        assert_eq!(ledger.enter_tool(None, tool(subject)).unwrap(), None);
    }
    begin(&ledger).unwrap();
    let text = text(&ledger);
    assert_eq!(text.lines().count(), 6);
    assert!(text.lines().all(|line| line.len() < 4096) && !text.contains(&key), "{text}");
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!((chain.lines.len(), &chain.broken), (6, &None));
    assert_eq!(chain.lines[1].0.tool.as_ref().unwrap(), &tool("notes:a.md"));
    std::fs::write(ledger.path(), text.replace("\"bytes\":7", "\"bytes\":8")).unwrap();
    assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
}

#[test]
fn a_lost_head_is_written_into_the_ledger() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(dir.path().join(format!("durable.sqlite{suffix}")));
    }
    assert_eq!(state(&ledger).unwrap(), Anchor::Unknown);
    begin(&ledger).unwrap();
    let kinds: Vec<Kind> = ledger.read().unwrap().unwrap().lines.iter().map(|(line, _)| line.kind).collect();
    assert_eq!(kinds, [Kind::Open, Kind::Begin, Kind::Anchor, Kind::Begin]);
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}

#[test]
fn beside_a_foreign_database_the_ledger_goes_on_and_says_that_nobody_keeps_its_head() {
    let (dir, ledger) = world();
    rusqlite::Connection::open(dir.path().join("durable.sqlite"))
        .unwrap()
        .execute_batch("PRAGMA user_version = 1; CREATE TABLE memory (x)")
        .unwrap();
    assert_eq!(begin(&ledger).unwrap().unwrap().code, ErrorCode::DbForeign);
    assert_eq!(begin(&ledger).unwrap().unwrap().code, ErrorCode::DbForeign);
    assert_eq!(ledger.read().unwrap().unwrap().lines.len(), 3);
    assert!(matches!(state(&ledger).unwrap(), Anchor::Unreadable(_)));
}

#[test]
fn a_renewed_ledger_holds_the_hash_of_the_broken_one() {
    let (_dir, ledger) = world();
    begin(&ledger).unwrap();
    std::fs::write(ledger.path(), "junk\n").unwrap();
    assert!(begin(&ledger).is_err());
    let aside = ledger.renew().unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "junk\n");
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!(chain.lines[0].0.record_sha256, Some(Sha256::of(b"junk\n")));
    begin(&ledger).unwrap();
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}

#[test]
fn s35_many_writers_at_once_make_one_chain() {
    let (_dir, ledger) = world();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| (0..4).for_each(|_| assert_eq!(begin(&ledger).unwrap(), None)));
        }
    });
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!((chain.lines.len(), &chain.broken, chain.torn), (17, &None, 0));
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}
