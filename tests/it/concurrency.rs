//! S35: many processes read while one writes, and no reader ever sees an error or a half-written
//! state.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use local_agent_embed::embedding::QueryVector;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::{Engine, Mode};
use local_agent_index::store::{EmbeddingStore, IndexReader};
use local_agent_index::vectors::Matrix;
use local_agent_text::types::Fingerprint;

use super::churn::{Dice, State, Vault, WORDS, assert_same, check_chunk, request};
use super::crash::fingerprint;
use super::harness::World;

const READERS: usize = 6;
const OPERATIONS: usize = 10_000;

/// Set for the reading processes: the state folder, the folder of note versions, a seed, the number
/// of reads.
const READER: &str = "LOCAL_AGENT_TEST_READER";

#[test]
fn s35_six_readers_beside_a_writer_make_ten_thousand_reads_without_an_error() {
    let world = World::with(&[]);
    let versions = world.root().join("versions");
    let mut vault = Vault::new(&world.vault(), &versions, 23, 60, [4, 1, 30]);
    let state = State(world.state());
    world.ok(&["index"]);
    world.ok(&["embed", "--limit", "40"]);
    let began = Instant::now();
    let each = OPERATIONS.div_ceil(READERS);
    let mut readers: Vec<Reader> = (0..READERS)
        .map(|seed| Reader::start(&world, &state, &versions, seed, each))
        .collect();
    let mut runs = 0;
    let mut dice = Dice::new(5);
    while readers.iter_mut().any(Reader::runs) {
        vault.churn(6);
        match dice.below(6) {
            0 => world.ok(&["index", "--rebuild"]),
            1 => world.ok(&["embed", "--limit", "4"]),
            _ => world.ok(&["index"]),
        };
        runs += 1;
    }
    let took = began.elapsed();
    let mut done = 0;
    let mut hits = 0;
    for reader in readers {
        let (operations, seen) = reader.end();
        done += operations;
        hits += seen;
    }
    assert!(done >= OPERATIONS, "{done}");
    assert!(hits > done, "the reads found hardly anything: {hits}");
    assert!(runs > 3, "{runs}");
    eprintln!("{done} reads, {hits} hits checked, {runs} runs of jobs, {took:?}");
}

/// Does nothing in an ordinary test run. The reading processes execute it.
#[test]
fn reader_process() {
    let Some(orders) = std::env::var_os(READER) else {
        return;
    };
    let orders = orders.into_string().unwrap();
    let [state, versions, seed, times] = orders.split('\n').collect::<Vec<_>>().try_into().unwrap();
    let (state, versions) = (State(PathBuf::from(state)), PathBuf::from(versions));
    let (mut dice, times) = (
        Dice::new(seed.parse::<u64>().unwrap() + 100),
        times.parse::<usize>().unwrap(),
    );
    let fingerprint = fingerprint();
    let hits: usize = (0..times)
        .map(|_| read(&state, &versions, &fingerprint, &mut dice))
        .sum();
    println!("READ {times} {hits}");
}

/// Opens everything again, because a writer could interfere at that moment. Returns the number of
/// checked rows.
fn read(state: &State, versions: &Path, fingerprint: &Fingerprint, dice: &mut Dice) -> usize {
    let word = WORDS[dice.below(WORDS.len())];
    match dice.below(8) {
        0 => {
            let index = IndexReader::required(&state.index_db()).unwrap();
            let ids: Vec<_> = index.all_chunk_ids().unwrap().iter().collect();
            let some: Vec<_> = (0..5)
                .filter_map(|_| ids.get(dice.below(ids.len().max(1))).copied())
                .collect();
            let chunks = index.chunks(&some).unwrap();
            assert_eq!(chunks.len(), some.len(), "rows vanished inside one read");
            for chunk in &chunks {
                check_chunk(chunk, versions);
            }
            assert_eq!(index.totals().unwrap().chunks, ids.len() as u64);
            chunks.len()
        }
        1 => {
            let matrix = Matrix::open(&state.vectors()).unwrap().expect("a matrix");
            assert!(!matrix.is_empty());
            let store = EmbeddingStore::open_read(&state.embeddings_db())
                .unwrap()
                .expect("vectors");
            assert!(store.commit_id().unwrap().is_some());
            matrix.verify().unwrap();
            1
        }
        kind @ (2 | 3) => {
            let store = EmbeddingStore::open_read(&state.embeddings_db())
                .unwrap()
                .expect("vectors");
            let inputs = store.inputs(fingerprint).unwrap();
            let vector = inputs
                .iter()
                .next()
                .and_then(|input| store.vector(fingerprint, input).unwrap())
                .unwrap();
            let mode = if kind == 2 {
                Mode::Hybrid
            } else {
                Mode::Vector
            };
            search(state, versions, Some(fingerprint), word, mode, vector)
        }
        _ => search(state, versions, None, word, Mode::Lexical, Vec::new()),
    }
}

fn search(
    state: &State,
    versions: &Path,
    fingerprint: Option<&Fingerprint>,
    word: &str,
    mode: Mode,
    vector: Vec<f32>,
) -> usize {
    let engine = state.engine(fingerprint).unwrap();
    let query = Query::plain(word);
    let found = engine
        .search(&request(&query, mode, 5), || {
            Ok(QueryVector::new(vector, word))
        })
        .unwrap();
    found
        .hits
        .iter()
        .for_each(|hit| check_chunk(&hit.chunk, versions));
    found.hits.len()
}

/// A reading process: this test binary, started with `READER` set.
struct Reader(Child);

impl Reader {
    fn start(world: &World, state: &State, versions: &Path, seed: usize, times: usize) -> Self {
        let out = fs::File::create(world.root().join(format!("reader-{seed}"))).unwrap();
        let orders = format!(
            "{}\n{}\n{seed}\n{times}",
            state.0.display(),
            versions.display()
        );
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "concurrency::reader_process",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(READER, orders)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(out)
            .spawn()
            .unwrap();
        Self(child)
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// The number of reads and of checked rows.
    fn end(self) -> (usize, usize) {
        let output = self.0.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        let line = said
            .lines()
            .find_map(|line| line.split_once("READ "))
            .expect("what it did")
            .1;
        let (operations, hits) = line.split_once(' ').unwrap();
        (operations.parse().unwrap(), hits.trim().parse().unwrap())
    }
}

#[test]
fn s36_a_second_index_is_refused_at_once_or_waits_its_turn() {
    let world = World::with(&[]);
    let vault = Vault::new(
        &world.vault(),
        &world.root().join("versions"),
        3,
        40,
        [4, 1, 30],
    );
    world.adopt_state();
    let lock = local_agent_index::store::JobLock::take(
        &world.state().join("index.lock"),
        "pid 1, `local-agent index`, since noon",
        Duration::ZERO,
    )
    .unwrap();
    let refused = world.fails(&["index", "--json"]);
    assert_eq!(refused["error_code"], "LOCKED");
    assert!(
        refused["error_message"]
            .as_str()
            .unwrap()
            .contains("pid 1, `local-agent index`, since noon")
    );
    assert!(refused["hint"].as_str().unwrap().contains("--wait"));
    // Readers and the other job do not have to wait for it.
    assert_eq!(
        world.fails(&["query", "oven", "--json"])["error_code"],
        "INDEX_MISSING"
    );
    let mut waiting: Vec<Child> = (0..3)
        .map(|_| {
            world
                .command()
                .args(["index", "--wait", "60", "--quiet"])
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        waiting
            .iter_mut()
            .all(|child| child.try_wait().unwrap().is_none()),
        "one did not wait"
    );
    drop(lock);
    assert!(
        waiting
            .into_iter()
            .all(|mut child| child.wait().unwrap().success())
    );
    let fresh = World::with(&[]);
    vault.copy_to(&fresh.vault());
    fresh.ok(&["index"]);
    assert_same(
        &State(world.state()).dump_index(),
        &State(fresh.state()).dump_index(),
    );
}

/// A second search finds the sums of documents that the first one kept; both must rank alike.
#[test]
fn engines_over_the_same_projections_find_the_same_until_another_index_is_published() {
    let world = World::with(&[]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for note in ["models.md", "reliability.md", "quality.md"] {
        fs::copy(docs.join(note), world.vault().join(note)).unwrap();
    }
    let state = State(world.state());
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let fingerprint = fingerprint();
    let first = state.engine(Some(&fingerprint)).unwrap();
    let store = EmbeddingStore::open_read(&state.embeddings_db())
        .unwrap()
        .expect("vectors");
    let inputs = store.inputs(&fingerprint).unwrap();
    let input = inputs.iter().next().unwrap();
    let vector = store.vector(&fingerprint, input).unwrap().unwrap();
    let scores = |engine: &Engine| {
        let query = Query::plain("reranker files and their checksums");
        let embed = || Ok(QueryVector::new(vector.clone(), "reranker"));
        let found = engine.search(&request(&query, Mode::Hybrid, 20), embed);
        let hits = found.unwrap().hits;
        assert!(hits.iter().any(|hit| hit.trace.document_likeness.is_some()));
        let scores = hits.iter().map(|hit| (hit.chunk.id, hit.score.to_bits()));
        scores.collect::<Vec<_>>()
    };
    let beside = || Engine::beside(&state.index_db(), first.projections()).unwrap();
    let second = beside().expect("the same index");
    assert_eq!(scores(&first), scores(&second));
    assert_eq!(
        scores(&first),
        scores(&state.engine(Some(&fingerprint)).unwrap())
    );
    fs::remove_file(world.vault().join("models.md")).unwrap();
    world.ok(&["index"]);
    assert!(
        beside().is_none(),
        "the projections of an older index were used"
    );
}

#[test]
fn s35_index_and_embed_work_at_the_same_time() {
    let world = World::with(&[]);
    let mut vault = Vault::new(
        &world.vault(),
        &world.root().join("versions"),
        31,
        20,
        [2, 1, 12],
    );
    world.ok(&["index"]);
    for round in 0..3 {
        vault.churn(5);
        // Alternately starts `embed` first or `index` first.
        let jobs = if round % 2 == 0 {
            ["embed", "index"]
        } else {
            ["index", "embed"]
        };
        let children = jobs.map(|job| world.command().args([job, "--quiet"]).spawn().unwrap());
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
    }
    world.ok(&["index"]);
    world.ok(&["embed"]);
    let fresh = World::with(&[]);
    vault.copy_to(&fresh.vault());
    fresh.ok(&["index"]);
    fresh.ok(&["embed"]);
    let (state, fresh) = (State(world.state()), State(fresh.state()));
    assert_same(&state.dump_index(), &fresh.dump_index());
    assert_same(
        &state.dump_vectors(&fingerprint()),
        &fresh.dump_vectors(&fingerprint()),
    );
}
