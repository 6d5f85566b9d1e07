//! Tests of the matrix as a whole: through its public interface, on real files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::ids::{ChunkId, IdSet, RowId as _};

/// SplitMix64 (public-domain constants by S. Vigna): the same numbers on every machine.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Roughly Gaussian: the sum of four uniform numbers.
    fn value(&mut self) -> f32 {
        let bits = self.next();
        (0..4)
            .map(|i| ((bits >> (16 * i)) & 0xFFFF) as f32 / 65536.0 - 0.5)
            .sum()
    }

    fn unit(&mut self, dim: usize) -> Vec<f32> {
        let vector: Vec<f32> = (0..dim).map(|_| self.value()).collect();
        let norm = quant::norm(&vector);
        if norm > 1e-6 {
            vector
                .iter()
                .map(|v| (f64::from(*v) / norm) as f32)
                .collect()
        } else {
            self.unit(dim)
        }
    }
}

fn stamp(dim: usize, commit: u8) -> MatrixStamp {
    MatrixStamp {
        index_commit: CommitId::from_bytes([commit; 16]),
        embed_commit: CommitId::from_bytes([commit; 16]),
        fingerprint: Fingerprint::from_bytes([7; 32]),
        chunker_sig: "obsidian_v2/test".into(),
        dim,
    }
}

fn key(n: u64) -> ChunkKey {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    ChunkKey::from_bytes(bytes)
}

fn unit(seed: u64, dim: usize) -> Vec<f32> {
    Rng(seed).unit(dim)
}

/// Adds the rows `range`, whose key, id and seed are the same number.
fn add_all(writer: &mut VectorWriter, range: impl Iterator<Item = u64>, dim: usize) {
    for n in range {
        writer
            .add(&Row {
                chunk_id: id(n as i64),
                key: key(n),
                vector: &unit(n, dim),
            })
            .unwrap();
    }
}

fn rebuilt(dir: &Path, n: u64, dim: usize) -> Matrix {
    let mut writer = VectorWriter::rebuild(dir, stamp(dim, 1)).unwrap();
    add_all(&mut writer, 0..n, dim);
    assert_eq!(writer.publish().unwrap() as u64, n);
    open(dir)
}

fn open(dir: &Path) -> Matrix {
    Matrix::open(dir).unwrap().unwrap()
}

fn id(row: i64) -> ChunkId {
    ChunkId::from_row(row)
}

fn ids(hits: &[VectorHit]) -> Vec<i64> {
    hits.iter().map(|h| h.chunk_id.row()).collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    files
}

fn file_ending(dir: &Path, end: &str) -> PathBuf {
    files(dir)
        .into_iter()
        .find(|f| f.to_str().unwrap().ends_with(end))
        .unwrap()
}

fn brute_force(query: &[f32], n: u64, dim: usize, keep: impl Fn(u64) -> bool) -> Vec<(i64, f64)> {
    let mut all: Vec<_> = (0..n)
        .filter(|n| keep(*n))
        .map(|n| (n as i64, quant::dot(query, &unit(n, dim))))
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

fn failure<T>(result: Result<T>) -> Failure {
    result.err().expect("a failure")
}

#[test]
fn no_manifest_is_no_matrix_and_opening_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("vectors");
    assert!(Matrix::open(&inside).unwrap().is_none());
    assert!(Matrix::open(dir.path()).unwrap().is_none());
    assert!(files(dir.path()).is_empty());
}

#[test]
fn rows_and_stamp_round_trip() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 50, 31);
    assert_eq!(matrix.stamp(), &stamp(31, 1));
    assert_eq!((matrix.len(), matrix.is_empty()), (50, false));
    assert_eq!(
        matrix.rows().collect::<Vec<_>>(),
        (0..50).map(|n| (id(n as i64), key(n))).collect::<Vec<_>>()
    );
    matrix.verify().unwrap();
    for n in 0..50 {
        let best = matrix.search(&unit(n, 31), 1, None).unwrap()[0];
        assert_eq!((best.chunk_id, best.key), (id(n as i64), key(n)));
        assert!((best.score - 1.0).abs() < 1e-5 && best.score <= 1.0);
    }
}

#[test]
fn an_empty_matrix_answers_with_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 0, 8);
    assert!(matrix.is_empty() && matrix.search(&unit(1, 8), 5, None).unwrap().is_empty());
    matrix.verify().unwrap();
}

#[test]
fn k_of_zero_and_k_beyond_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 5, 8);
    assert!(matrix.search(&unit(1, 8), 0, None).unwrap().is_empty());
    for k in [5, 6, 1000, usize::MAX] {
        assert_eq!(matrix.search(&unit(1, 8), k, None).unwrap().len(), 5);
    }
}

#[test]
fn a_query_that_is_no_vector_of_this_matrix_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 5, 2);
    for bad in [
        &[1.0f32][..],
        &[1.0, 0.0, 0.0],
        &[],
        &[f32::NAN, 1.0],
        &[f32::INFINITY, 1.0],
        &[0.0, 0.0],
    ] {
        assert_eq!(
            failure(matrix.search(bad, 3, None)).code,
            ErrorCode::QueryError,
            "{bad:?}"
        );
    }
    let (long, short) = (
        matrix.search(&[3e4, 4e4], 5, None),
        matrix.search(&[0.6, 0.8], 5, None),
    );
    assert_eq!(
        ids(&long.unwrap()),
        ids(&short.unwrap()),
        "the length of a query changes nothing"
    );
}

#[test]
fn search_finds_what_brute_force_finds() {
    let (dim, n, queries, k) = (384, 4_000u64, 200, 10);
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<_> = (0..n).map(|n| unit(n, dim)).collect();
    let mut writer = VectorWriter::rebuild(dir.path(), stamp(dim, 1))
        .unwrap()
        .with_capacity(1_000);
    for (n, vector) in rows.iter().enumerate() {
        writer
            .add(&Row {
                chunk_id: id(n as i64),
                key: key(n as u64),
                vector,
            })
            .unwrap();
    }
    writer.publish().unwrap();
    let matrix = open(dir.path());
    let mut found = 0;
    for q in 0..queries {
        let query = unit(1 << 40 | q, dim);
        let mut exact: Vec<_> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| (i as i64, quant::dot(&query, row)))
            .collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1));
        let hits = matrix.search(&query, k, None).unwrap();
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        for hit in &hits {
            let truth = quant::dot(&query, &rows[hit.chunk_id.row() as usize]);
            assert!(
                (f64::from(hit.score) - truth).abs() < 1e-4,
                "{} is not {truth}",
                hit.score
            );
        }
        for (id, score) in &exact[..k] {
            if hits.iter().any(|h| h.chunk_id.row() == *id) {
                found += 1;
            } else {
                // Half floats may swap near ties at the cut; the 8-bit pass must lose nothing.
                assert!(score - exact[k].1 < 5e-5, "{id} was lost");
            }
        }
    }
    assert!(
        f64::from(found) >= 0.999 * (queries as usize * k) as f64,
        "{found} of {}",
        queries as usize * k
    );
}

#[test]
fn the_cosine_of_a_mean_is_that_of_the_rows_it_was_taken_of() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 300, 32);
    let query = unit(9_999, 32);
    let groups = [vec![7], vec![3, 250, 12], vec![], vec![5_000]];
    let rows: Vec<Vec<ChunkId>> = groups
        .iter()
        .map(|group| group.iter().copied().map(id).collect())
        .collect();
    let sums = matrix.sums_of(&rows);
    let found = matrix.cosines_of_sums(&query, sums.iter()).unwrap();
    assert!(matrix.cosines_of_sums(&query[1..], sums.iter()).is_err());
    assert_eq!(found[2..], [None, None]);
    for (group, found) in groups.iter().zip(&found).take(2) {
        let mut sum = vec![0.0; 32];
        for id in group {
            let row = unit(*id as u64 as _, 32);
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        let wanted = quant::dot(&query, &sum) / (quant::norm(&query) * quant::norm(&sum));
        assert!((f64::from(found.unwrap()) - wanted).abs() < 1e-3);
    }
}

#[test]
fn a_sample_does_not_depend_on_how_the_rows_came_in() {
    let (fresh, grown) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = rebuilt(fresh.path(), 900, 32);
    // The same rows, the last ones first, in three publications.
    let mut writer = VectorWriter::rebuild(grown.path(), stamp(32, 1)).unwrap();
    for part in [600..900, 0..300, 300..600] {
        for n in part {
            writer
                .add(&Row {
                    chunk_id: id(n as i64),
                    key: key(n),
                    vector: &unit(n, 32),
                })
                .unwrap();
        }
        writer.publish().unwrap();
        writer = VectorWriter::update(grown.path(), stamp(32, 1)).unwrap();
    }
    let grown = Matrix::open(grown.path()).unwrap().unwrap();
    for most in [1, 256, 900, 2_000] {
        assert_eq!(whole.sample(most), grown.sample(most), "{most}");
    }
}

#[test]
fn every_kernel_gives_the_same_hits_for_every_width() {
    for dim in [1, 2, 3, 31, 383, 384, 768] {
        let dir = tempfile::tempdir().unwrap();
        let matrix = rebuilt(dir.path(), 300, dim);
        let query = unit(1 << 40, dim);
        let expected = matrix
            .search_with(Kernel::Portable, &query, 7, None)
            .unwrap();
        assert_eq!(expected.len(), 7);
        for kernel in Kernel::ALL {
            assert_eq!(
                matrix.search_with(kernel, &query, 7, None).unwrap(),
                expected,
                "{} {dim}",
                kernel.as_str()
            );
        }
    }
}

#[test]
fn equal_scores_are_ordered_by_key_however_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::rebuild(dir.path(), stamp(4, 1))
        .unwrap()
        .with_capacity(37);
    for n in (0..500u64).rev() {
        writer
            .add(&Row {
                chunk_id: id(n as i64),
                key: key(n),
                vector: &[0.5; 4],
            })
            .unwrap();
    }
    writer.publish().unwrap();
    let hits = open(dir.path()).search(&[1.0; 4], 10, None).unwrap();
    assert_eq!(ids(&hits), (0..10).collect::<Vec<_>>());
}

#[test]
fn two_threads_find_what_one_finds() {
    let (dim, n) = (8, 70_000u64);
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), n, dim);
    let query = unit(1 << 40, dim);
    // In eight dimensions many rows are close to any query, so ids could differ by rounding, but
    // not scores.
    let exact = brute_force(&query, n, dim, |_| true);
    let hits = matrix.search(&query, 20, None).unwrap();
    for (hit, (_, score)) in hits.iter().zip(exact) {
        assert!((f64::from(hit.score) - score).abs() < 1e-3);
    }
    let far: IdSet<ChunkId> = [3, 69_999].into_iter().map(id).collect();
    let mut both = ids(&matrix.search(&query, 20, Some(&far)).unwrap());
    both.sort_unstable();
    assert_eq!(both, [3, 69_999], "both halves are searched");
}

#[test]
fn w14_a_filter_constrains_before_the_cut() {
    let (dim, n) = (64, 3_000);
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), n, dim);
    let query = unit(1 << 40, dim);
    // The farthest rows only: none of them would survive a cut made without the filter.
    let order = brute_force(&query, n, dim, |_| true);
    let worst: Vec<i64> = order.iter().rev().take(12).map(|(id, _)| *id).collect();
    let filter: IdSet<ChunkId> = worst.iter().copied().chain([-5, 1 << 30]).map(id).collect();
    let hits = matrix.search(&query, 10, Some(&filter)).unwrap();
    assert_eq!(
        ids(&hits),
        worst.iter().rev().take(10).copied().collect::<Vec<_>>()
    );
    assert!(
        matrix
            .search(&query, 10, Some(&IdSet::default()))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn removed_and_replaced_rows_are_not_found() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 100, 16);
    let mut writer = VectorWriter::update(dir.path(), stamp(16, 2)).unwrap();
    writer.remove(key(3));
    writer.remove(key(12345));
    writer.retain(|chunk, k| {
        assert_eq!(*k, key(chunk.row() as u64));
        chunk != id(4)
    });
    writer
        .add(&Row {
            chunk_id: id(1000),
            key: key(5),
            vector: &unit(777, 16),
        })
        .unwrap();
    assert_eq!(writer.publish().unwrap(), 98);
    let matrix = open(dir.path());
    matrix.verify().unwrap();
    assert_eq!((matrix.len(), matrix.stamp()), (98, &stamp(16, 2)));
    assert_eq!(matrix.segments.len(), 2, "4 % dead is not worth a rewrite");
    for gone in [3, 4] {
        assert!(!ids(&matrix.search(&unit(gone, 16), 100, None).unwrap()).contains(&(gone as i64)));
    }
    assert_eq!(
        ids(&matrix.search(&unit(777, 16), 1, None).unwrap()),
        [1000]
    );
    assert!(
        matrix.rows().all(|(chunk, _)| chunk != id(5)),
        "the old row of a replaced key"
    );
}

#[test]
fn segments_are_rewritten_above_a_quarter_dead_without_changing_scores() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 100, 16);
    let drop_to = |low: u64, high: u64| {
        let mut writer = VectorWriter::update(dir.path(), stamp(16, 2)).unwrap();
        (low..high).for_each(|n| writer.remove(key(n)));
        writer.publish().unwrap();
        open(dir.path())
    };
    let matrix = drop_to(0, 25);
    assert_eq!(
        (matrix.segments[0].entry.rows, matrix.segments[0].entry.dead),
        (100, 25)
    );
    let before = matrix.search(&unit(1 << 40, 16), 200, None).unwrap();
    let matrix = drop_to(99, 100);
    assert_eq!(
        (matrix.segments[0].entry.rows, matrix.segments[0].entry.dead),
        (74, 0)
    );
    let after = matrix.search(&unit(1 << 40, 16), 200, None).unwrap();
    assert_eq!(
        after,
        before
            .into_iter()
            .filter(|h| h.chunk_id != id(99))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        files(dir.path()).len(),
        2,
        "one manifest, one segment, nothing left over"
    );
    matrix.verify().unwrap();
    let empty = drop_to(0, 100);
    assert_eq!((empty.len(), files(dir.path()).len()), (0, 1));
}

#[test]
fn many_small_publications_leave_few_segments() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..200 {
        let mut writer = VectorWriter::update(dir.path(), stamp(4, n as u8))
            .unwrap()
            .with_capacity(64);
        add_all(&mut writer, n * 3..n * 3 + 3, 4);
        writer.publish().unwrap();
    }
    let matrix = open(dir.path());
    assert_eq!(matrix.len(), 600);
    assert!(
        matrix.segments.len() <= 32,
        "{} segments",
        matrix.segments.len()
    );
    assert_eq!(files(dir.path()).len(), matrix.segments.len() + 1);
    matrix.verify().unwrap();
}

#[test]
fn a_reader_keeps_what_it_opened() {
    let dir = tempfile::tempdir().unwrap();
    let old = rebuilt(dir.path(), 100, 16);
    let query = unit(5, 16);
    let before = old.search(&query, 100, None).unwrap();
    let new = rebuilt(dir.path(), 3, 16);
    assert_eq!(new.len(), 3);
    assert_eq!(
        old.search(&query, 100, None).unwrap(),
        before,
        "its files are unlinked, its maps are not"
    );
    old.verify().unwrap();
}

#[test]
fn s35_readers_never_fail_while_a_writer_publishes() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 20, 8);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut opened = 0;
                    while !done.load(Ordering::Relaxed) {
                        let matrix = open(dir.path());
                        matrix.verify().unwrap();
                        assert_eq!(
                            matrix.search(&unit(1, 8), 50, None).unwrap().len(),
                            matrix.len()
                        );
                        assert_eq!(matrix.len(), 20);
                        opened += 1;
                    }
                    opened
                })
            })
            .collect();
        for round in 1..60u64 {
            let mut writer = VectorWriter::update(dir.path(), stamp(8, round as u8))
                .unwrap()
                .with_capacity(4);
            (0..20).filter(|n| n % 3 == round % 3).for_each(|n| {
                let chunk = (round * 100 + n) as i64;
                writer
                    .add(&Row {
                        chunk_id: id(chunk),
                        key: key(n),
                        vector: &unit(round * 100 + n, 8),
                    })
                    .unwrap();
            });
            writer.publish().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(
            readers
                .into_iter()
                .map(|r| r.join().unwrap())
                .sum::<usize>()
                > 0
        );
    });
}

#[test]
fn s32_a_crash_at_any_step_leaves_the_old_state_or_the_new_one() {
    let (mut saw_old, mut saw_new) = (0, 0);
    for steps in 0.. {
        let dir = tempfile::tempdir().unwrap();
        rebuilt(dir.path(), 40, 8);
        let mut writer = VectorWriter::update(dir.path(), stamp(8, 2))
            .unwrap()
            .with_capacity(6)
            .crashing_after(steps);
        let mut crashed = false;
        (0..3).for_each(|n| writer.remove(key(n)));
        for n in 100..115 {
            crashed |= writer
                .add(&Row {
                    chunk_id: id(n as i64),
                    key: key(n),
                    vector: &unit(n, 8),
                })
                .is_err();
        }
        crashed |= writer.publish().is_err();
        let matrix = open(dir.path());
        matrix.verify().unwrap();
        match matrix.stamp().index_commit.as_bytes()[0] {
            1 => {
                saw_old += 1;
                assert!(crashed && matrix.len() == 40);
            }
            _ => {
                saw_new += 1;
                assert_eq!(matrix.len(), 40 - 3 + 15);
            }
        }
        drop(matrix);
        // Whatever files are left over, the next publication works and removes them.
        let writer = VectorWriter::update(dir.path(), stamp(8, 3)).unwrap();
        writer.publish().unwrap();
        let matrix = open(dir.path());
        let named = matrix
            .segments
            .iter()
            .map(|s| 1 + usize::from(s.entry.tombstones.is_some()))
            .sum::<usize>();
        assert_eq!(files(dir.path()).len(), named + 1, "after {steps} steps");
        if !crashed && saw_new > 5 {
            break;
        }
    }
    assert!(
        saw_old > 20,
        "only {saw_old} steps before the manifest's rename"
    );
}

#[test]
fn a_publication_touches_no_foreign_file() {
    let dir = tempfile::tempdir().unwrap();
    let foreign = [
        "notes.md",
        "tmp-notes.md",
        "seg-zz.vec",
        "dead-.bits",
        "seg-0123.vec",
        "seg-00112233445566778899AABBCCDDEEFF.vec",
    ];
    for name in &foreign {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    rebuilt(dir.path(), 3, 4);
    assert!(foreign.iter().all(|name| dir.path().join(name).exists()));
}

#[test]
fn s39_unusable_rows_are_refused_and_leave_the_writer_usable() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::rebuild(dir.path(), stamp(2, 1)).unwrap();
    let bad: [&[f32]; 6] = [
        &[f32::NAN, 1.0],
        &[f32::INFINITY, 0.0],
        &[0.0, 0.0],
        &[1.0],
        &[1.0, 0.0, 0.0],
        &[0.6, 0.9],
    ];
    for vector in bad {
        let refused = failure(writer.add(&Row {
            chunk_id: id(1),
            key: key(1),
            vector,
        }));
        assert_eq!(refused.code, ErrorCode::EmbedError, "{vector:?}");
        assert!(refused.hint.is_some());
    }
    writer
        .add(&Row {
            chunk_id: id(1),
            key: key(1),
            vector: &[0.6, 0.8],
        })
        .unwrap();
    let twice = failure(writer.add(&Row {
        chunk_id: id(2),
        key: key(1),
        vector: &[0.6, 0.8],
    }));
    assert_eq!(twice.code, ErrorCode::EmbedError);
    assert_eq!(writer.publish().unwrap(), 1);
    assert_eq!(
        open(dir.path()).rows().collect::<Vec<_>>(),
        [(id(1), key(1))]
    );
}

#[test]
fn widths_that_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for dim in [0, MAX_DIM + 1, usize::MAX] {
        assert_eq!(
            failure(VectorWriter::rebuild(dir.path(), stamp(dim, 1))).code,
            ErrorCode::EmbedError
        );
    }
}

#[test]
fn w34_vectors_of_two_models_never_share_a_matrix() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 3, 4);
    let other = MatrixStamp {
        fingerprint: Fingerprint::from_bytes([8; 32]),
        ..stamp(4, 1)
    };
    assert_eq!(
        failure(VectorWriter::update(dir.path(), other.clone())).code,
        ErrorCode::EmbedError
    );
    assert_eq!(
        failure(VectorWriter::update(dir.path(), stamp(5, 1))).code,
        ErrorCode::EmbedError
    );
    assert_eq!(open(dir.path()).len(), 3, "nothing was touched");
    VectorWriter::rebuild(dir.path(), other.clone())
        .unwrap()
        .publish()
        .unwrap();
    assert_eq!(open(dir.path()).stamp(), &other);
}

#[test]
fn s38_a_matrix_of_another_generation_shows_by_its_stamp_alone() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = rebuilt(dir.path(), 3, 4);
    let changed = [
        MatrixStamp {
            index_commit: CommitId::from_bytes([9; 16]),
            ..stamp(4, 1)
        },
        MatrixStamp {
            embed_commit: CommitId::from_bytes([9; 16]),
            ..stamp(4, 1)
        },
        MatrixStamp {
            chunker_sig: "other".into(),
            ..stamp(4, 1)
        },
    ];
    assert!(changed.iter().all(|s| s != matrix.stamp()));
    // A publication without changes only updates the stamp.
    let before = files(dir.path());
    VectorWriter::update(dir.path(), changed[0].clone())
        .unwrap()
        .publish()
        .unwrap();
    assert_eq!(files(dir.path()), before);
    assert_eq!(open(dir.path()).stamp(), &changed[0]);
}

#[test]
fn s34_a_missing_or_shortened_segment_is_an_error_before_it_is_mapped() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 50, 16);
    let segment = file_ending(dir.path(), ".vec");
    let whole = fs::read(&segment).unwrap();
    for length in [0, 1, 100, 320, whole.len() - 1] {
        fs::write(&segment, &whole[..length]).unwrap();
        let failure = failure(Matrix::open(dir.path()));
        assert_eq!(
            (failure.code, failure.hint.as_deref()),
            (ErrorCode::DbCorrupt, Some("local-agent embed"))
        );
    }
    fs::write(&segment, [&whole[..], b"x"].concat()).unwrap();
    assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbCorrupt);
    fs::remove_file(&segment).unwrap();
    assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbCorrupt);
    assert_eq!(
        failure(VectorWriter::update(dir.path(), stamp(16, 2))).code,
        ErrorCode::DbCorrupt
    );
    assert_eq!(rebuilt(dir.path(), 2, 16).len(), 2, "a rebuild mends it");
}

#[test]
fn s34_a_flipped_byte_is_found_on_opening_or_by_verify() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 5, 3);
    let segment = file_ending(dir.path(), ".vec");
    let whole = fs::read(&segment).unwrap();
    let mut unnoticed = 0;
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x40;
        fs::write(&segment, &flipped).unwrap();
        match Matrix::open(dir.path()) {
            Err(failure) => assert!(
                at < 320 && failure.code == ErrorCode::DbCorrupt,
                "byte {at}"
            ),
            Ok(matrix) => {
                assert!(at >= 320, "byte {at} of the header");
                // A search may be wrong but neither panics nor returns NaN.
                if let Ok(hits) = matrix.unwrap().search(&[0.0, 0.6, 0.8], 5, None) {
                    assert!(hits.iter().all(|h| h.score.is_finite()));
                }
                match open(dir.path()).verify() {
                    Err(failure) => assert_eq!(failure.code, ErrorCode::DbCorrupt),
                    Ok(()) => unnoticed += 1,
                }
            }
        }
    }
    let content = 320 + 5 * (16 + 8 + 64 + 4 + 6);
    assert_eq!(
        unnoticed,
        whole.len() - content,
        "only the zeros between sections mean nothing"
    );
}

#[test]
fn s39_a_stored_vector_that_is_not_finite_is_damage_not_a_hit() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 5, 3);
    let segment = file_ending(dir.path(), ".vec");
    let whole = fs::read(&segment).unwrap();
    for (section, nan) in [
        (3usize, f32::NAN.to_le_bytes().to_vec()),
        (4, half::f16::NAN.to_le_bytes().to_vec()),
    ] {
        let header = 32 + section * 48;
        let offset = u64::from_le_bytes(whole[header..header + 8].try_into().unwrap()) as usize;
        let mut bad = whole.clone();
        bad[offset..offset + nan.len()].copy_from_slice(&nan);
        fs::write(&segment, &bad).unwrap();
        assert_eq!(
            failure(open(dir.path()).search(&[0.0, 0.6, 0.8], 5, None)).code,
            ErrorCode::DbCorrupt
        );
    }
}

#[test]
fn s34_a_damaged_tombstone_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 50, 4);
    let mut writer = VectorWriter::update(dir.path(), stamp(4, 2)).unwrap();
    writer.remove(key(7));
    writer.publish().unwrap();
    let bits = file_ending(dir.path(), ".bits");
    let whole = fs::read(&bits).unwrap();
    for damage in [
        whole[..whole.len() - 1].to_vec(),
        [&whole[..], &[0; 4096]].concat(),
        vec![0; whole.len()],
    ] {
        fs::write(&bits, damage).unwrap();
        assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbCorrupt);
    }
    fs::remove_file(&bits).unwrap();
    assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbCorrupt);
}

#[test]
fn a_manifest_that_is_junk_is_damage_and_a_newer_one_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 5, 4);
    let manifest = dir.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let junk = [
        String::new(),
        "{".into(),
        "[]".into(),
        "null".into(),
        text[..text.len() / 2].into(),
        text.replace("local-agent vectors", "tantivy"),
        text.replace("\"version\": 1", "\"version\": 0"),
        text.replace("\"version\": 1", "\"version\": -1"),
        text.replace("\"dim\": 4", "\"dim\": 0"),
        text.replace("\"dim\": 4", "\"dim\": 99999999"),
        text.replace("\"dim\": 4", "\"dim\": 5"),
        text.replace("\"rows\": 5", "\"rows\": 0"),
        text.replace("\"rows\": 5", "\"rows\": 6"),
        text.replace("\"rows\": 5", "\"rows\": 18446744073709551615"),
        text.replace("\"dead\": 0", "\"dead\": 1"),
        text.replace("\"dead\": 0", "\"dead\": 6"),
    ];
    for bad in junk {
        assert_ne!(bad, text);
        fs::write(&manifest, &bad).unwrap();
        assert_eq!(
            failure(Matrix::open(dir.path())).code,
            ErrorCode::DbCorrupt,
            "{bad}"
        );
    }
    fs::write(&manifest, b"\xff\xfe\x00").unwrap();
    assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbCorrupt);

    let newer = r#"{"format": "local-agent vectors", "version": 2, "pages": []}"#;
    fs::write(&manifest, newer).unwrap();
    let before = files(dir.path());
    assert_eq!(failure(Matrix::open(dir.path())).code, ErrorCode::DbNewer);
    assert_eq!(
        failure(VectorWriter::update(dir.path(), stamp(4, 2))).code,
        ErrorCode::DbNewer
    );
    assert_eq!(
        failure(VectorWriter::rebuild(dir.path(), stamp(4, 2))).code,
        ErrorCode::DbNewer
    );
    assert_eq!(
        (files(dir.path()), fs::read_to_string(&manifest).unwrap()),
        (before, newer.into())
    );
}

#[test]
fn a_dropped_writer_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    rebuilt(dir.path(), 5, 4);
    let mut writer = VectorWriter::update(dir.path(), stamp(4, 2))
        .unwrap()
        .with_capacity(2);
    add_all(&mut writer, 10..15, 4);
    drop(writer);
    assert_eq!(open(dir.path()).stamp(), &stamp(4, 1));
    assert_eq!(open(dir.path()).len(), 5);
}

#[derive(Debug, Clone)]
struct Publication {
    rebuild: bool,
    remove: Vec<u64>,
    drop_multiples_of: Option<i64>,
    add: Vec<u64>,
}

fn publications() -> impl Strategy<Value = Vec<Publication>> {
    let keys = || prop::collection::vec(0u64..40, 0..20);
    let one = (
        prop::bool::weighted(0.1),
        keys(),
        prop::option::weighted(0.2, 2i64..9),
        keys(),
    );
    let one = one.prop_map(|(rebuild, remove, drop_multiples_of, mut add)| {
        add.sort_unstable();
        add.dedup();
        Publication {
            rebuild,
            remove,
            drop_multiples_of,
            add,
        }
    });
    prop::collection::vec(one, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn publications_do_what_a_map_does(script in publications(), capacity in 1usize..12) {
        let dim = 5;
        let dir = tempfile::tempdir().unwrap();
        let mut model: BTreeMap<ChunkKey, i64> = BTreeMap::new();
        let mut next_id = 0i64;
        for (commit, step) in script.iter().enumerate() {
            let stamp = stamp(dim, commit as u8);
            let start = if step.rebuild { VectorWriter::rebuild } else { VectorWriter::update };
            let mut writer = start(dir.path(), stamp.clone()).unwrap().with_capacity(capacity);
            if step.rebuild {
                model.clear();
            }
            for n in &step.remove {
                writer.remove(key(*n));
                model.remove(&key(*n));
            }
            if let Some(m) = step.drop_multiples_of {
                writer.retain(|chunk, _| chunk.row() % m != 0);
                model.retain(|_, id| *id % m != 0);
            }
            for n in &step.add {
                writer.add(&Row { chunk_id: id(next_id), key: key(*n), vector: &unit(next_id as u64, dim) }).unwrap();
                model.insert(key(*n), next_id);
                next_id += 1;
            }
            prop_assert_eq!(writer.publish().unwrap(), model.len());

            let matrix = open(dir.path());
            matrix.verify().unwrap();
            prop_assert_eq!(matrix.stamp(), &stamp);
            prop_assert_eq!(matrix.len(), model.len());
            let rows: BTreeMap<_, _> = matrix.rows().map(|(id, key)| (key, id.row())).collect();
            prop_assert_eq!(&rows, &model);
            let query = unit(1 << 40, dim);
            let mut expected: Vec<_> =
                model.values().map(|id| quant::dot(&query, &unit(*id as u64, dim))).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let hits = matrix.search(&query, 1000, None).unwrap();
            prop_assert_eq!(hits.len(), model.len());
            for (hit, score) in hits.iter().zip(expected) {
                prop_assert!((f64::from(hit.score) - score).abs() < 1e-3);
                prop_assert_eq!(model.get(&hit.key), Some(&hit.chunk_id.row()));
            }
            let named = matrix.segments.iter().map(|s| 1 + usize::from(s.entry.tombstones.is_some())).sum::<usize>();
            prop_assert_eq!(files(dir.path()).len(), named + 1);
        }
    }
}
