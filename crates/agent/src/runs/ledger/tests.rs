//! Tests of the ledger as a whole.

use super::*;

fn world() -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(&dir.path().join("runs"), &dir.path().join("durable.sqlite"));
    (dir, ledger)
}

fn begin(ledger: &Ledger) -> Result<Option<Failure>> {
    ledger.append(&[(LineKind::Begin, None, Some(Sha256::of(b"record")))])
}

fn text(ledger: &Ledger) -> String {
    std::fs::read_to_string(ledger.path()).unwrap()
}

fn state(ledger: &Ledger) -> Result<Anchor> {
    ledger.look()?.anchor
}

/// Replaces the file's bytes, as another program would: later than the last line was written, by
/// the clock of the file system, which ticks every few milliseconds.
fn damage(ledger: &Ledger, bytes: impl AsRef<[u8]>) {
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(ledger.path(), bytes).unwrap();
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
    assert_eq!(chain.lines[0].0.kind, LineKind::Open);
    let lines: Vec<String> = text(&ledger).lines().map(str::to_owned).collect();
    for pair in lines.windows(2) {
        assert!(pair[1].contains(&Sha256::of(pair[0].as_bytes()).to_string()));
    }
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    assert!(chain.holds(&Sha256::of(lines[2].as_bytes())) && !chain.holds(&Sha256::of(b"no")));
    assert!(!private::is_open_to_others(&ledger.path()));
}

/// The stored head names the old folder, so a ledger that was lost in the new one was not missed.
#[test]
fn a_ledger_that_is_lost_after_a_move_is_missed() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    let moved = dir.path().join("moved");
    std::fs::rename(dir.path().join("runs"), &moved).unwrap();
    let ledger = Ledger::new(&moved, &dir.path().join("durable.sqlite"));
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    let run = moved.join(RunId::new(OffsetDateTime::now_utc()).unwrap().as_str());
    std::fs::create_dir(&run).unwrap();
    let record = |text: &str| std::fs::write(run.join("run.json"), text).unwrap();
    std::fs::remove_file(ledger.path()).unwrap();
    // The first run of all is there before the ledger.
    record(r#"{"ended_at": null}"#);
    assert_eq!(state(&ledger).unwrap(), Anchor::Unknown);
    record(r#"{"ended_at": "2026-05-01T00:00:00Z"}"#);
    let code = |ledger: &Ledger| state(ledger).unwrap_err().code;
    assert_eq!(code(&ledger), ErrorCode::LedgerBroken);
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
    damage(&ledger, "");
    assert_eq!(code(&ledger), ErrorCode::LedgerBroken);
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
        (
            "the tail is cut in a line",
            whole[..whole.len() - 20].to_owned(),
        ),
        (
            "a line is doubled",
            join(&[lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]]),
        ),
        ("it is empty", String::new()),
        ("it is junk", "junk\n".to_owned()),
    ];
    for (what, bytes) in damaged {
        damage(&ledger, &bytes);
        assert_eq!(
            state(&ledger).unwrap_err().code,
            ErrorCode::LedgerBroken,
            "{what}"
        );
        assert_eq!(
            begin(&ledger).unwrap_err().code,
            ErrorCode::LedgerBroken,
            "{what}"
        );
        assert_eq!(text(&ledger), bytes, "{what}: nothing is written to it");
    }
    std::fs::remove_file(ledger.path()).unwrap();
    assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
    std::fs::write(ledger.path(), &whole).unwrap();
    begin(&ledger).unwrap();
}

#[test]
fn s31_a_change_that_keeps_the_length_is_seen_by_every_reader_and_by_the_next_writer() {
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
        damage(&ledger, &bytes);
        assert_eq!(
            state(&ledger).unwrap_err().code,
            ErrorCode::LedgerBroken,
            "{bytes}"
        );
        assert_eq!(
            begin(&ledger).unwrap_err().code,
            ErrorCode::LedgerBroken,
            "{bytes}"
        );
        assert_eq!(text(&ledger), bytes, "nothing is written behind a change");
    }
    damage(&ledger, &whole);
    begin(&ledger).unwrap();
    begin(&ledger).unwrap();
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}

/// The head used to be read after the file, so a line written in between raised a false alarm.
#[test]
fn a_reader_beside_writers_never_raises_an_alarm() {
    let (_dir, ledger) = world();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let is_over = || stop.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|threads| {
        let write = || {
            while !is_over() {
                begin(&ledger).unwrap();
            }
        };
        let writers = [threads.spawn(write), threads.spawn(write)];
        let (mut looks, mut longest) = (0, 0);
        while looks < 400
            || longest < 60
                && !writers
                    .iter()
                    .any(std::thread::ScopedJoinHandle::is_finished)
        {
            looks += 1;
            let look = ledger.look().unwrap();
            let lines = look.chain.map_or(0, |chain| chain.lines.len());
            assert!(
                matches!(look.anchor, Ok(Anchor::Kept)) || lines == 0,
                "{:?} at {lines} lines",
                look.anchor
            );
            assert!(lines >= longest, "it never gets shorter");
            longest = lines;
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(longest >= 60);
    });
}

/// A reader sees the state before or after a ledger is set aside.
#[test]
fn a_reader_beside_renewals_never_raises_an_alarm() {
    let (_dir, ledger) = world();
    begin(&ledger).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                ledger.renew().unwrap();
            }
        });
        let looks: Vec<_> = (0..100).map(|_| ledger.look().unwrap().anchor).collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(
            looks.iter().all(|anchor| *anchor == Ok(Anchor::Kept)),
            "{looks:?}"
        );
    });
}

/// A reader that had waited in vain took what it saw in the middle of a renewal for a damage.
#[test]
fn what_is_seen_while_somebody_writes_is_no_alarm() {
    let (_dir, ledger) = world();
    begin(&ledger).unwrap();
    let folder = private::make_folder(&ledger.runs_dir).unwrap();
    let lock = ledger.lock(&folder).unwrap();
    folder.rename(FILE, "ledger.set-aside.jsonl").unwrap();
    let busy = ledger.look_within(Duration::from_millis(5)).unwrap_err();
    assert_eq!(busy.code, ErrorCode::Locked, "{}", busy.message);
    drop(lock);
    let look = ledger.look_within(Duration::from_millis(5)).unwrap();
    assert_eq!(look.anchor.unwrap_err().code, ErrorCode::LedgerBroken);
}

#[test]
fn s31_a_ledger_that_is_rewritten_as_a_whole_is_another_one() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    let forged = Ledger::new(&dir.path().join("forged"), &dir.path().join("other.sqlite"));
    // Within one second the lines of two ledgers differ only in what they enter.
    forged
        .append(&[(LineKind::Begin, None, Some(Sha256::of(b"another record")))])
        .unwrap();
    std::fs::copy(forged.path(), ledger.path()).unwrap();
    assert_eq!(begin(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
}

#[test]
fn s32_what_a_crash_leaves_is_mended_by_the_next_line() {
    let (_dir, ledger) = world();
    begin(&ledger).unwrap();
    begin(&ledger).unwrap();
    let whole = text(&ledger);
    // The file ends with half a line.
    std::fs::write(ledger.path(), format!("{whole}{{\"n\":3,\"at\":\"20")).unwrap();
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    begin(&ledger).unwrap();
    assert!(text(&ledger).starts_with(&whole) && text(&ledger).lines().count() == 4);
    // The file ends with a complete line that the head does not count.
    let mut writer = Writer::open(
        StateDirectory::open(ledger.path().parent().unwrap())
            .unwrap()
            .unwrap(),
        FILE,
    )
    .unwrap();
    writer.head = ledger.read().unwrap().unwrap().head();
    writer.enter(&NewLine::new(LineKind::Begin)).unwrap();
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
    for subject in [
        "notes:a.md",
        "forged\n{\"n\":1}",
        &"\u{1}".repeat(10_000),
        &key,
    ] {
        assert_eq!(ledger.enter_tool(None, tool(subject)).unwrap(), None);
    }
    begin(&ledger).unwrap();
    let text = text(&ledger);
    assert_eq!(text.lines().count(), 6);
    assert!(
        text.lines().all(|line| line.len() < 4096) && !text.contains(&key),
        "{text}"
    );
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!((chain.lines.len(), &chain.broken), (6, &None));
    assert_eq!(chain.lines[1].0.tool.as_ref().unwrap(), &tool("notes:a.md"));
    damage(&ledger, text.replace("\"bytes\":7", "\"bytes\":8"));
    assert_eq!(state(&ledger).unwrap_err().code, ErrorCode::LedgerBroken);
}

#[test]
fn a_lost_database_is_said_and_not_begun_again_until_somebody_says_so() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    let durable = dir.path().join("durable.sqlite");
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(dir.path().join(format!("durable.sqlite{suffix}")));
    }
    assert!(
        matches!(state(&ledger).unwrap(), Anchor::Unreadable(f) if f.code == ErrorCode::DurableMissing)
    );
    assert_eq!(
        begin(&ledger).unwrap().unwrap().code,
        ErrorCode::DurableMissing
    );
    assert!(
        !durable.exists(),
        "the ledger goes on, and nothing is begun in silence"
    );
    assert!(Durable::begin_anew(&durable, "now").unwrap());
    ledger.vouch().unwrap();
    let kinds: Vec<LineKind> = ledger
        .read()
        .unwrap()
        .unwrap()
        .lines
        .iter()
        .map(|(line, _)| line.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            LineKind::Open,
            LineKind::Begin,
            LineKind::Begin,
            LineKind::Anchor
        ]
    );
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}

/// A process keeps the database open between two lines. It must not write the head into a file that
/// was moved away.
#[test]
fn the_head_goes_into_the_file_that_is_there_now() {
    let (dir, ledger) = world();
    begin(&ledger).unwrap();
    let files = ["durable.sqlite", "durable.sqlite-wal", "durable.sqlite-shm"];
    let other = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::rename(dir.path().join(file), other.path().join(file)).unwrap();
    }
    for file in files {
        std::fs::copy(other.path().join(file), dir.path().join(file)).unwrap();
    }
    begin(&ledger).unwrap();
    let durable = Durable::open_read(&dir.path().join(files[0])).unwrap();
    let heads = durable.unwrap().heads().unwrap();
    assert_eq!(heads.iter().map(|(_, head)| head.lines).max(), Some(3));
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
    damage(&ledger, "junk\n");
    assert!(begin(&ledger).is_err());
    let aside = ledger.renew().unwrap().aside.unwrap();
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
    assert_eq!(
        (chain.lines.len(), &chain.broken, chain.torn),
        (17, &None, 0)
    );
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
}

#[test]
fn a_new_ledger_takes_over_every_line_that_something_vouches_for() {
    let (_dir, ledger) = world();
    for _ in 0..6 {
        begin(&ledger).unwrap();
    }
    let whole = text(&ledger);
    let lines: Vec<&str> = whole.lines().collect();
    // The fourth line is changed; the hash of every other line is in the next one, or in the
    // database.
    damage(
        &ledger,
        whole.replacen(lines[3], &lines[3].replace("\"at\":\"2", "\"at\":\"1"), 1),
    );
    let done = ledger.renew().unwrap();
    assert_eq!((done.lines, &done.found, &done.lost), (5, &vec![], &vec![]));
    let chain = ledger.read().unwrap().unwrap();
    assert!(
        chain.lines[1..]
            .iter()
            .all(|(line, _)| line.earlier && line.kind == LineKind::Begin)
    );
    assert_eq!(state(&ledger).unwrap(), Anchor::Kept);
    begin(&ledger).unwrap();
    assert!(
        !ledger
            .read()
            .unwrap()
            .unwrap()
            .lines
            .last()
            .unwrap()
            .0
            .earlier
    );
    // An intact ledger loses nothing.
    assert_eq!(ledger.renew().unwrap().lines, 6);
}

#[test]
fn lines_that_wait_together_are_each_entered_once() {
    let (dir, ledger) = world();
    let other = Ledger::new(&dir.path().join("runs"), &dir.path().join("durable.sqlite"));
    std::thread::scope(|threads| {
        for ledger in [&ledger, &other] {
            for n in 0..12_u8 {
                threads.spawn(move || {
                    for m in 0..4_u8 {
                        let sha = Some(Sha256::of(&[n, m]));
                        assert_eq!(
                            ledger
                                .append(&[(LineKind::Begin, None, sha), (LineKind::End, None, sha)])
                                .unwrap(),
                            None
                        );
                        // When a call returns, its own lines are on the disk.
                        let chain = ledger.read().unwrap().unwrap();
                        assert!(
                            chain
                                .lines
                                .iter()
                                .any(|(line, _)| line.record_sha256 == sha)
                        );
                    }
                });
            }
        }
    });
    let chain = ledger.read().unwrap().unwrap();
    assert_eq!(
        (chain.lines.len(), &chain.broken),
        (1 + 2 * 12 * 4 * 2, &None)
    );
    for pair in chain.lines[1..].chunks(2) {
        assert_eq!(
            pair[0].0.record_sha256, pair[1].0.record_sha256,
            "lines of one caller stay together"
        );
    }
}
