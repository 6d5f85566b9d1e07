//! The ledger: one line a begin, end or removal, each with the hash of the line before.
//!
//! Whoever changes, removes or reorders a line breaks the chain behind it. A tail that was cut off leaves a whole chain;
//! it is seen because `durable.sqlite` knows how far the ledger had grown. Who can write both can forge both.
//!
//! A crash may leave a line that the head does not know yet (the ledger is ahead: it is believed, for it continues the
//! chain) or half a line at the end (it was never acknowledged: it is cut off by the next writer). A ledger that is
//! behind its head, or that does not continue from it, is `LEDGER_BROKEN`, and nothing is written to it. A writer whose
//! ledger is exactly as long as its head says looks at the last line alone; `runs verify` and doctor read all of it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{RunId, private, stamp};
use crate::error::{ErrorCode, Failure, Result};
use crate::store::{Durable, Head, JobLock};
use crate::types::Sha256;

/// How long one run waits for another to write its line.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The first line.
    Open,
    /// A run begins.
    Begin,
    /// It ended, and this is its record.
    End,
    /// Its record was removed on purpose.
    Prune,
    /// The head was lost; from here on it is kept again.
    Anchor,
    /// A tool was called.
    Tool,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Counts from 0.
    pub n: u64,
    /// RFC 3339, UTC.
    pub at: String,
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Of a `tool` line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolLine>,
    /// SHA-256 of `run.json` as it was written; of the whole earlier ledger in an `open` that follows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_sha256: Option<Sha256>,
    /// SHA-256 of the line before, without its line break; none in the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev: Option<Sha256>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLine {
    /// `person`, `model` or `agent`.
    pub caller: String,
    pub name: String,
    /// The path, name or pattern it was about; shortened and redacted.
    pub subject: String,
    /// `ok`, `agreed` (a person said yes to a change, which is about to be made), or the code of a failure.
    pub outcome: String,
    /// The true reason behind a `FILE_NOT_FOUND`, for the operator alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Of what was handed out, or is to be written.
    pub bytes: u64,
}

/// Characters of a subject that a line keeps. Lines stay far below the 4096 bytes that a writer reads of the end.
const SUBJECT: usize = 200;

/// Whether `durable.sqlite` vouches for the ledger's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Anchor {
    /// It knows this ledger, and the ledger goes at least as far.
    Kept,
    /// It does not know this ledger.
    Unknown,
    /// It cannot be read or is not ours.
    Unreadable(Failure),
}

/// A ledger as it was read.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    /// Every line that continues the chain, with its hash.
    pub lines: Vec<(Line, Sha256)>,
    /// Where each of them ends in the file.
    ends: Vec<u64>,
    /// Bytes behind the last line break: a line that was being written when the machine stopped.
    pub torn: u64,
    /// The first line that does not continue the chain, counted from 1, and why; everything behind it is not read.
    pub broken: Option<(u64, String)>,
}

impl Chain {
    fn parse(bytes: &[u8]) -> Self {
        let mut chain = Self::default();
        let mut at = 0;
        for raw in bytes.split_inclusive(|b| *b == b'\n') {
            let Some(text) = raw.strip_suffix(b"\n") else {
                chain.torn = raw.len() as u64;
                break;
            };
            at += raw.len() as u64;
            let number = chain.lines.len() as u64;
            match chain.next(text) {
                Ok(line) => {
                    chain.lines.push((line, Sha256::of(text)));
                    chain.ends.push(at);
                }
                Err(why) => {
                    chain.broken = Some((number + 1, why));
                    break;
                }
            }
        }
        chain
    }

    fn next(&self, text: &[u8]) -> std::result::Result<Line, String> {
        let line: Line = serde_json::from_slice(text).map_err(|e| format!("it is no line of a ledger ({e})"))?;
        if line.n != self.lines.len() as u64 {
            return Err(format!("it is numbered {} where {} is expected", line.n, self.lines.len()));
        }
        if line.prev != self.lines.last().map(|(_, sha)| *sha) {
            return Err("it does not hold the hash of the line before".to_owned());
        }
        if (line.kind == Kind::Open) != self.lines.is_empty() {
            return Err("it opens a ledger in the middle of one".to_owned());
        }
        Ok(line)
    }

    /// The hash of the first line: the ledger's name.
    pub fn id(&self) -> Option<Sha256> {
        self.lines.first().map(|(_, sha)| *sha)
    }

    fn head(&self) -> Option<Head> {
        let ((_, sha256), bytes) = self.lines.last().zip(self.ends.last())?;
        Some(Head { ledger: self.id()?, lines: self.lines.len() as u64, bytes: *bytes, sha256: *sha256 })
    }

    /// Whether the chain goes at least as far as `head` and passes through it.
    fn continues(&self, head: &Head) -> bool {
        let last = head.lines.checked_sub(1).and_then(|n| self.lines.get(usize::try_from(n).ok()?));
        last.is_some_and(|(_, sha)| *sha == head.sha256)
    }

    /// Whether some line has this hash: whoever noted a head earlier asks whether the ledger has only grown since.
    pub fn holds(&self, sha: &Sha256) -> bool {
        self.lines.iter().any(|(_, own)| own == sha)
    }
}

/// The ledger of one folder of runs, and the database that knows its head.
#[derive(Debug, Clone)]
pub struct Ledger {
    runs_dir: PathBuf,
    durable: PathBuf,
}

impl Ledger {
    /// Touches nothing.
    pub fn new(runs_dir: &Path, durable: &Path) -> Self {
        Self { runs_dir: runs_dir.to_owned(), durable: durable.to_owned() }
    }

    /// Where its lines stand.
    pub fn path(&self) -> PathBuf {
        self.runs_dir.join("ledger.jsonl")
    }

    fn lock(&self) -> Result<JobLock> {
        private::make_folder(&self.runs_dir)?;
        let holder = format!("pid {}, which writes to the ledger, since {}", std::process::id(), now());
        JobLock::take(&self.runs_dir.join("ledger.lock"), &holder, PATIENCE)
    }

    /// Reads the whole chain. `None`: there is no ledger.
    pub fn read(&self) -> Result<Option<Chain>> {
        match std::fs::read(self.path()) {
            Ok(bytes) if bytes.is_empty() => Ok(None),
            Ok(bytes) => Ok(Some(Chain::parse(&bytes))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Failure::new(
                ErrorCode::FileReadError,
                format!("the ledger {} cannot be read: {e}", self.path().display()),
            )
            .with_hint("local-agent doctor")),
        }
    }

    /// Compares a chain with the head that is kept of it. `LEDGER_BROKEN` when it is behind, or gone, or another.
    pub fn anchor(&self, chain: Option<&Chain>) -> Result<Anchor> {
        let durable = match Durable::open_read(&self.durable) {
            Ok(Some(durable)) => durable,
            Ok(None) => return Ok(Anchor::Unknown),
            Err(failure) => return Ok(Anchor::Unreadable(failure)),
        };
        self.compare(&durable, chain)
    }

    fn compare(&self, durable: &Durable, chain: Option<&Chain>) -> Result<Anchor> {
        if let Some((line, why)) = chain.and_then(|chain| chain.broken.as_ref()) {
            return Err(self.broken(&format!("line {line}: {why}")));
        }
        let known = match chain.and_then(Chain::id) {
            Some(id) => durable.head(&id)?,
            None => None,
        };
        match (chain, known, durable.head_of_folder(&self.runs_dir)?) {
            (Some(chain), Some(head), _) if chain.continues(&head) => Ok(Anchor::Kept),
            (Some(chain), Some(head), _) => {
                let (has, had) = (chain.lines.len(), head.lines);
                Err(self.broken(&format!("it has {has} lines that fit, and had {had} when it was last written to")))
            }
            (Some(_), None, Some(_)) => Err(self.broken("it is not the ledger that was kept here")),
            (None, _, Some(_)) => Err(self.broken("it is gone")),
            (_, None, None) | (None, Some(_), None) => Ok(Anchor::Unknown),
        }
    }

    fn broken(&self, why: &str) -> Failure {
        Failure::new(ErrorCode::LedgerBroken, format!("the ledger {} was changed: {why}", self.path().display()))
            .with_hint("local-agent runs verify, then local-agent runs head --renew (keeps the broken one aside)")
    }

    /// Adds lines. Returns why the head could not be kept, when `durable.sqlite` is not ours; every other failure is
    /// one.
    pub(super) fn append(&self, events: &[(Kind, Option<RunId>, Option<Sha256>)]) -> Result<Option<Failure>> {
        let add = |writer: &mut Writer| {
            events.iter().try_for_each(|(kind, run, sha)| writer.add(*kind, run.clone(), *sha, None))
        };
        self.write(add)
    }

    /// Enters a call of a tool, within a run or by itself. Returns as [`Ledger::append`].
    ///
    /// # Errors
    /// `WRITE_ERROR`, `LEDGER_BROKEN`, `LOCKED`: a call that cannot be entered is not made.
    pub fn enter_tool(&self, run: Option<&RunId>, tool: ToolLine) -> Result<Option<Failure>> {
        let subject: String = super::redact(&tool.subject).text.chars().take(SUBJECT).collect();
        let name: String = tool.name.chars().take(80).collect();
        let tool = ToolLine { subject, name, ..tool };
        self.write(|writer| writer.add(Kind::Tool, run.cloned(), None, Some(tool)))
    }

    fn write(&self, add: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Option<Failure>> {
        let _lock = self.lock()?;
        let mut durable = match Durable::open_write(&self.durable) {
            Ok(durable) => Ok(durable),
            Err(failure) if failure.code == ErrorCode::DbForeign => Err(failure),
            Err(failure) => return Err(failure),
        };
        let mut writer = Writer::open(&self.path())?;
        match self.resume(&mut writer, durable.as_ref().ok())? {
            Anchor::Kept => {}
            _ if writer.head.is_none() => writer.add(Kind::Open, None, None, None)?,
            // A ledger whose head was lost says so, once.
            _ if durable.is_ok() => writer.add(Kind::Anchor, None, None, None)?,
            _ => {}
        }
        add(&mut writer)?;
        let head = writer.finish()?;
        match &mut durable {
            Ok(durable) => durable.set_head(&self.runs_dir, &head, false).map(|()| None),
            Err(failure) => Ok(Some(failure.clone())),
        }
    }

    /// Finds out where to write on. When the file is exactly as the head says, one line is read; else all of it.
    fn resume(&self, writer: &mut Writer, durable: Option<&Durable>) -> Result<Anchor> {
        let first = writer.first_line()?;
        if let (Some(first), Some(durable)) = (&first, durable)
            && let Some(head) = durable.head(first)?
            && writer.ends_at(&head)?
        {
            writer.head = Some(head);
            return Ok(Anchor::Kept);
        }
        let chain = self.read()?;
        let anchor = match durable {
            Some(durable) => self.compare(durable, chain.as_ref())?,
            None => {
                if let Some((line, why)) = chain.as_ref().and_then(|chain| chain.broken.as_ref()) {
                    return Err(self.broken(&format!("line {line}: {why}")));
                }
                Anchor::Unknown
            }
        };
        writer.head = chain.as_ref().and_then(Chain::head);
        writer.cut_torn(writer.head.as_ref().map_or(0, |head| head.bytes))?;
        Ok(anchor)
    }

    /// Sets a ledger aside as `ledger.broken-<utc>.jsonl` and begins a new one whose first line holds the old one's
    /// hash. Returns where the old one is; `None`: there was none.
    pub fn renew(&self) -> Result<Option<PathBuf>> {
        let _lock = self.lock()?;
        let mut durable = Durable::open_write(&self.durable)?;
        let path = self.path();
        let fail = |e: &std::io::Error| private::unwritable(&path, e);
        let (mut aside, mut sha) = (None, None);
        if path.exists() {
            sha = Some(Sha256::of(&std::fs::read(&path).map_err(|e| fail(&e))?));
            let stamp = now().replace(['-', ':'], "");
            let free = |n: &u32| !self.runs_dir.join(aside_name(&stamp, *n)).exists();
            let place = self.runs_dir.join(aside_name(&stamp, (0..).find(free).unwrap_or(0)));
            std::fs::rename(&path, &place).map_err(|e| fail(&e))?;
            aside = Some(place);
        }
        let mut writer = Writer::open(&path)?;
        writer.add(Kind::Open, None, sha, None)?;
        let head = writer.finish()?;
        durable.set_head(&self.runs_dir, &head, true)?;
        Ok(aside)
    }
}

fn aside_name(stamp: &str, n: u32) -> String {
    if n == 0 { format!("ledger.broken-{stamp}.jsonl") } else { format!("ledger.broken-{stamp}-{n}.jsonl") }
}

fn now() -> String {
    stamp(OffsetDateTime::now_utc())
}

/// The open file, under the lock.
struct Writer {
    path: PathBuf,
    file: File,
    head: Option<Head>,
    pending: Vec<u8>,
}

impl Writer {
    fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|e| private::unwritable(path, &e))?;
        Ok(Self { path: path.to_owned(), file, head: None, pending: Vec::new() })
    }

    fn fail(&self, error: &std::io::Error) -> Failure {
        private::unwritable(&self.path, error)
    }

    /// The hash of the first line; lines are far shorter than what is read.
    fn first_line(&mut self) -> Result<Option<Sha256>> {
        let mut start = vec![0; 4096];
        self.file.seek(SeekFrom::Start(0)).map_err(|e| self.fail(&e))?;
        let read = self.file.read(&mut start).map_err(|e| self.fail(&e))?;
        let line = start.get(..read).and_then(|bytes| bytes.split(|b| *b == b'\n').next().filter(|l| l.len() < read));
        Ok(line.map(Sha256::of))
    }

    /// Whether the file is as long as `head` says and ends in the line it names.
    fn ends_at(&mut self, head: &Head) -> Result<bool> {
        let length = self.file.metadata().map_err(|e| self.fail(&e))?.len();
        if length != head.bytes {
            return Ok(false);
        }
        let from = length.saturating_sub(4096);
        let mut end = Vec::new();
        self.file.seek(SeekFrom::Start(from)).map_err(|e| self.fail(&e))?;
        (&self.file).take(4096).read_to_end(&mut end).map_err(|e| self.fail(&e))?;
        let Some(text) = end.strip_suffix(b"\n") else { return Ok(false) };
        let last = text.rsplit(|b| *b == b'\n').next().unwrap_or(text);
        Ok(Sha256::of(last) == head.sha256)
    }

    /// Removes half a line that nobody was told of.
    fn cut_torn(&mut self, whole: u64) -> Result<()> {
        self.file.set_len(whole).map_err(|e| self.fail(&e))
    }

    fn add(
        &mut self,
        kind: Kind,
        run: Option<RunId>,
        record_sha256: Option<Sha256>,
        tool: Option<ToolLine>,
    ) -> Result<()> {
        let before = self.head.clone();
        let n = before.as_ref().map_or(0, |head| head.lines);
        let line = Line { n, at: now(), kind, run, tool, record_sha256, prev: before.as_ref().map(|head| head.sha256) };
        let text = serde_json::to_string(&line)
            .map_err(|e| Failure::internal(format!("a line of the ledger cannot be written: {e}")))?;
        let sha256 = Sha256::of(text.as_bytes());
        let bytes = before.as_ref().map_or(0, |head| head.bytes) + text.len() as u64 + 1;
        let ledger = before.map_or(sha256, |head| head.ledger);
        self.head = Some(Head { ledger, lines: n + 1, bytes, sha256 });
        self.pending.extend_from_slice(text.as_bytes());
        self.pending.push(b'\n');
        Ok(())
    }

    /// Writes what was added, at once, and waits for the disk.
    fn finish(mut self) -> Result<Head> {
        self.file.seek(SeekFrom::End(0)).map_err(|e| self.fail(&e))?;
        self.file.write_all(&self.pending).map_err(|e| self.fail(&e))?;
        self.file.sync_all().map_err(|e| self.fail(&e))?;
        private::sync_folder(self.path.parent().unwrap_or(Path::new("."))).map_err(|e| self.fail(&e))?;
        self.head.ok_or_else(|| Failure::internal("a ledger was written without a line"))
    }
}

#[cfg(test)]
mod tests {
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
        let mut writer = Writer::open(&ledger.path()).unwrap();
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
}
