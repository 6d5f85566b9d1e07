//! S32: killing a job at any moment costs time, never content.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use local_agent_index::store::IndexReader;

pub(crate) use super::churn::fingerprint;
use super::churn::{Dice, State, Vault, assert_same, check_rows};
use super::harness::World;

/// Maximum number of files of killed runs, temporary or of a rebuild, that may remain before the
/// next run removes them.
const LEFTOVERS: usize = 8;

/// A world, its vault, and the normal duration of a job there.
struct Stage {
    world: World,
    vault: Vault,
    state: State,
    dice: Dice,
    kills: usize,
    ended: usize,
    /// The maximum number of files left by killed runs at one time.
    most_left: usize,
    /// How often the lexical projection and the vectors were out of date compared with the
    /// databases.
    behind: [usize; 2],
}

/// The moment at which a run is killed.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Whether the time counts from when the job has its lock, instead of from the start of the
    /// process.
    from_lock: bool,
    after: Duration,
}

/// The duration of a run, from its start and from the moment at which it has its lock.
#[derive(Debug, Clone, Copy)]
struct Pace {
    whole: Duration,
    job: Duration,
}

impl Stage {
    fn new(seed: u64, notes: usize, size: [usize; 3]) -> Self {
        let world = World::with(&[]);
        let vault = Vault::new(
            &world.vault(),
            &world.root().join("versions"),
            seed,
            notes,
            size,
        );
        let state = State(world.state());
        Self {
            world,
            vault,
            state,
            dice: Dice::new(seed + 1),
            kills: 0,
            ended: 0,
            most_left: 0,
            behind: [0; 2],
        }
    }

    fn spawn(&self, args: &[&str]) -> Child {
        let talk = fs::File::create(self.world.root().join("stderr")).unwrap();
        self.world
            .command()
            .args(args)
            .stdout(Stdio::null())
            .stderr(talk)
            .spawn()
            .unwrap()
    }

    /// Whether the job of `child` has its lock.
    fn at_work(&self, child: &Child, job: &str) -> bool {
        let holder =
            fs::read_to_string(self.state.0.join(format!("{job}.lock"))).unwrap_or_default();
        holder.starts_with(&format!("pid {},", child.id()))
    }

    fn end(&self, child: &mut Child, args: &[&str]) {
        let status = child.wait().unwrap();
        let talk = fs::read_to_string(self.world.root().join("stderr")).unwrap();
        assert!(status.success(), "{args:?}: {status}\n{talk}");
    }

    fn pace(&self, args: &[&str]) -> Pace {
        let began = Instant::now();
        let mut child = self.spawn(args);
        while !self.at_work(&child, args[0]) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let locked = Instant::now();
        self.end(&mut child, args);
        Pace {
            whole: began.elapsed(),
            job: locked.elapsed(),
        }
    }

    /// Runs a job and kills it at a random moment. If it ended before that, its duration is the new
    /// estimate.
    fn kill(&mut self, args: &[&str], pace: &mut Pace) {
        let from_lock = self.dice.below(4) > 0;
        let span = if from_lock { pace.job } else { pace.whole };
        let moment = Moment {
            from_lock,
            after: span.mul_f64(1.2 * self.dice.share()),
        };
        let mut child = self.spawn(args);
        let began = Instant::now();
        let mut locked = None;
        let killed = loop {
            if child.try_wait().unwrap().is_some() {
                break false;
            }
            if locked.is_none() && self.at_work(&child, args[0]) {
                locked = Some(Instant::now());
            }
            let since = if moment.from_lock {
                locked
            } else {
                Some(began)
            };
            if since.is_some_and(|since| since.elapsed() >= moment.after) {
                child.kill().unwrap();
                break !child.wait().unwrap().success();
            }
            std::thread::sleep(Duration::from_micros(500));
        };
        if killed {
            self.kills += 1;
        } else {
            self.ended += 1;
            *pace = Pace {
                whole: began.elapsed(),
                job: locked.unwrap_or(began).elapsed(),
            };
            self.end(&mut child, args);
        }
    }

    /// Checks what a reader sees at this moment: no index yet, or correct rows and no error.
    fn look(&mut self) {
        let word = super::churn::WORDS[self.dice.below(super::churn::WORDS.len())];
        let run = self.world.run(&[
            "query", word, "--mode", "lexical", "--limit", "20", "--json",
        ]);
        if run.code == 0 {
            let answer = run.json();
            for hit in answer["hits"].as_array().unwrap() {
                assert!(
                    hit["text"].as_str().is_some_and(|text| !text.is_empty()),
                    "{hit}"
                );
            }
        } else {
            assert_eq!(run.json()["error_code"], "INDEX_MISSING", "{}", run.stdout);
        }
        if let Some(index) = IndexReader::open(&self.state.index_db()).unwrap() {
            let engine = self.state.engine(Some(&fingerprint())).unwrap();
            for stale in engine.stale().unwrap() {
                self.behind[usize::from(stale.what == "vectors")] += 1;
            }
            check_rows(&index, &self.world.root().join("versions"));
        }
        let left = self.state.leftovers();
        self.most_left = self.most_left.max(left.len());
        assert!(left.len() <= LEFTOVERS, "{left:?}");
    }

    /// The same notes in a world where no run was ever killed.
    fn undisturbed(&self) -> World {
        let world = World::with(&[]);
        self.vault.copy_to(&world.vault());
        world.ok(&["index"]);
        world
    }
}

#[test]
fn s32_sixty_kills_of_index_leave_what_an_undisturbed_run_leaves() {
    let mut stage = Stage::new(7, 150, [6, 2, 45]);
    let mut first = stage.pace(&["index"]);
    // The very first index run is killed too, until one completes.
    fs::remove_dir_all(&stage.state.0).unwrap();
    while stage.kills < 15 && stage.ended == 0 {
        stage.kill(&["index"], &mut first);
        stage.look();
    }
    stage.world.ok(&["index"]);
    stage.vault.churn(12);
    let mut again = stage.pace(&["index"]);
    while stage.kills < 60 {
        stage.vault.churn(12);
        match stage.dice.below(5) {
            0 => stage.kill(&["index", "--rebuild"], &mut first),
            1 => stage.kill(&["index", "--verify"], &mut again),
            _ => stage.kill(&["index"], &mut again),
        }
        stage.look();
        assert!(stage.ended < 300, "the delays are too long to hit anything");
    }
    stage.world.ok(&["index"]);
    assert_eq!(stage.state.unnamed_files(), Vec::<String>::new());
    let fresh = stage.undisturbed();
    assert_same(
        &stage.state.dump_index(),
        &State(fresh.state()).dump_index(),
    );
    assert!(stage.behind[0] > 0, "no kill fell between the two commits");
    eprintln!(
        "index: {} killed, {} ended before, {} left words behind; at most {} leftovers; {first:?} {again:?}",
        stage.kills, stage.ended, stage.behind[0], stage.most_left
    );
}

#[test]
fn s32_forty_kills_of_embed_leave_what_an_undisturbed_run_leaves() {
    let mut stage = Stage::new(11, 16, [2, 1, 12]);
    stage.world.ok(&["index"]);
    let mut with_model = stage.pace(&["embed"]);
    stage.vault.rename();
    stage.world.ok(&["index"]);
    // Every vector is there; only the matrix is out of date. No model is loaded.
    let mut without_model = stage.pace(&["embed"]);
    while stage.kills < 40 {
        let new_text = stage.kills.is_multiple_of(3);
        if new_text {
            stage.vault.edit();
            stage.vault.add();
        } else {
            // Only the matrix is missing, so the kill happens during its publication.
            stage.world.ok(&["embed"]);
            stage.vault.rename();
        }
        if stage.kills.is_multiple_of(6) {
            stage.vault.delete();
        }
        stage.world.ok(&["index"]);
        stage.kill(
            &["embed"],
            if new_text {
                &mut with_model
            } else {
                &mut without_model
            },
        );
        stage.look();
        assert!(stage.ended < 200, "the delays are too long to hit anything");
    }
    stage.world.ok(&["index"]);
    stage.world.ok(&["embed"]);
    assert_eq!(stage.state.unnamed_files(), Vec::<String>::new());
    let fresh = stage.undisturbed();
    fresh.ok(&["embed"]);
    let fresh = State(fresh.state());
    assert_same(&stage.state.dump_index(), &fresh.dump_index());
    let fingerprint = fingerprint();
    assert_same(
        &stage.state.dump_vectors(&fingerprint),
        &fresh.dump_vectors(&fingerprint),
    );
    assert!(stage.behind[1] > 0, "no kill fell before the publication");
    eprintln!(
        "embed: {} killed, {} ended before, {} left vectors behind; at most {} leftovers; {with_model:?} {without_model:?}",
        stage.kills, stage.ended, stage.behind[1], stage.most_left
    );
}
