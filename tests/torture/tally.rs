//! The operations and findings of a mode.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::known::KNOWN;

/// The limits of a mode, and its place.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    pub operations: usize,
    pub time: Duration,
    pub place: Place,
    /// The number of threads that share the operations, each in its own world, if the mode can be
    /// divided.
    pub threads: usize,
}

/// A folder for worlds, and its file system.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub folder: PathBuf,
    pub system: String,
}

impl Place {
    /// The folder for temporary files.
    pub(crate) fn temporary() -> Self {
        Self::at(std::env::temp_dir())
    }

    /// A folder in memory, if the system has one.
    pub(crate) fn memory() -> Option<Self> {
        let place = Self::at(PathBuf::from("/dev/shm"));
        (place.system == "tmpfs" && tempfile::tempdir_in(&place.folder).is_ok()).then_some(place)
    }

    fn at(folder: PathBuf) -> Self {
        let system = match rustix::fs::statfs(&folder).map(|found| found.f_type as u32) {
            Ok(0xef53) => "ext4".to_owned(),
            Ok(0x0102_1994) => "tmpfs".to_owned(),
            Ok(0x5846_5342) => "xfs".to_owned(),
            Ok(0x9123_683e) => "btrfs".to_owned(),
            Ok(0x794c_7630) => "overlay".to_owned(),
            Ok(other) => format!("{other:#x}"),
            Err(e) => e.to_string(),
        };
        Self { folder, system }
    }
}

/// The kind of guarantee that was violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command failed with a code although the state was correct.
    UnexpectedError,
    /// An intact file was reported as damaged.
    FalseAlarm,
    /// Data were lost, or an index differs from a fresh one.
    LostRow,
    /// Any other violation: a panic, a hang, a failure without a code, bytes that are not the
    /// file's.
    Defect,
}

/// One violation. `case` is the same for all findings with the same cause and begins with the mode.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub kind: Kind,
    pub case: String,
    pub what: String,
}

/// The results of one mode in one world.
#[derive(Debug)]
pub(crate) struct Tally {
    pub mode: &'static str,
    pub world: String,
    pub seed: u64,
    pub operations: usize,
    pub findings: Vec<Finding>,
    /// The tests that were not possible here, with the reasons.
    pub skipped: Vec<String>,
    began: Instant,
}

impl Tally {
    pub(crate) fn new(mode: &'static str, seed: u64, budget: &Budget) -> Self {
        let world = budget.place.system.clone();
        Self {
            mode,
            world,
            seed,
            operations: 0,
            findings: Vec::new(),
            skipped: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Whether the budget allows another operation.
    pub(crate) fn goes_on(&self, budget: &Budget) -> bool {
        self.operations < budget.operations && self.began.elapsed() < budget.time
    }

    pub(crate) fn find(&mut self, kind: Kind, case: &str, what: impl Into<String>) {
        self.findings.push(Finding {
            kind,
            case: format!("{}/{case}", self.mode),
            what: what.into(),
        });
    }

    pub(crate) fn defect(&mut self, case: &str, what: impl Into<String>) {
        self.find(Kind::Defect, case, what);
    }

    /// Adds the operations and findings of another part of the same run.
    pub(crate) fn add(&mut self, part: Self) {
        self.operations += part.operations;
        self.findings.extend(part.findings);
        self.skipped.extend(part.skipped);
    }

    /// The findings that match no entry of [`KNOWN`].
    pub(crate) fn unknown(&self) -> Vec<String> {
        let known = |case: &str| KNOWN.iter().any(|(start, _)| case.starts_with(start));
        let new = self.findings.iter().filter(|found| !known(&found.case));
        new.map(|found| self.line(found)).collect()
    }

    fn line(&self, found: &Finding) -> String {
        let what: String = found.what.chars().take(600).collect();
        format!(
            "{:?} {} (seed {}): {what}",
            found.kind, found.case, self.seed
        )
    }

    /// One row of the table.
    pub(crate) fn row(&self) -> String {
        let count = |kind: Kind| {
            self.findings
                .iter()
                .filter(|found| found.kind == kind)
                .count()
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            self.mode,
            self.world,
            self.operations,
            count(Kind::UnexpectedError),
            count(Kind::FalseAlarm),
            count(Kind::LostRow),
            count(Kind::Defect),
            self.began.elapsed().as_secs_f64(),
        )
    }

    /// The number of times each case was found, with its first example.
    pub(crate) fn cases(&self) -> String {
        let mut out = String::new();
        for line in &self.skipped {
            let _ = writeln!(out, "- {}: {line}", self.mode);
        }
        let mut seen: Vec<&str> = Vec::new();
        for found in &self.findings {
            if seen.contains(&found.case.as_str()) {
                continue;
            }
            seen.push(&found.case);
            let times = self
                .findings
                .iter()
                .filter(|other| other.case == found.case)
                .count();
            let _ = writeln!(out, "- {times} × {}", self.line(found));
        }
        out
    }
}
