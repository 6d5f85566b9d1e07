//! Measures each kernel of the encoder with every instruction set of this machine, on one thread,
//! at the shapes of a small encoder (384 numbers, 12 heads, 1,536 inner numbers):
//!
//! ```sh
//! cargo bench -- kernels [FILTER]
//! ```
//!
//! Names are `set/shape/numbers`. A rate in elements counts operations for products (a
//! multiplication and an addition are two), numbers for the steps between them, and tokens for
//! layers. The time of a product includes rounding the rows. Exits 1 when it measured nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use local_agent_kernels::network::{Layer, Linear, Network, Norm, Scratch};
use local_agent_kernels::product::Panels;
use local_agent_kernels::{Isa, Set, bf16, elementwise, int8};

const HIDDEN: usize = 384;
const HEADS: usize = 12;
const INNER: usize = 1536;

/// The number of computations that were measured.
static COMPUTED: AtomicUsize = AtomicUsize::new(0);

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(filters: &[String]) -> Result<(), String> {
    // The settings are short, because there are hundreds of benchmarks.
    let mut c = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .without_plots();
    if let Some(filter) = filters.first() {
        c = c.with_filter(filter);
    }
    // Plain loops are for machines without a kernel, and take minutes.
    for isa in Isa::all().filter(|isa| isa.set() != Set::Portable) {
        products(&mut c, isa);
        between(&mut c, isa);
        layers(&mut c, isa);
    }
    c.final_summary();
    if COMPUTED.load(Ordering::Relaxed) == 0 {
        return Err(
            "nothing was measured: no name has the filter in it, or this machine has no kernel"
                .to_owned(),
        );
    }
    Ok(())
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut compute: impl FnMut()) {
    group.bench_function(name, |b| {
        b.iter(|| {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            compute();
        });
    });
}

/// Pseudo-random numbers between −½ and ½, always the same.
fn numbers(count: usize) -> Vec<f32> {
    let mut state = 7_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[derive(Clone, Copy)]
enum Numbers {
    F32,
    Bf16,
    Int8,
}

fn linear(isa: Isa, kind: Numbers, inputs: usize, outputs: usize) -> Linear {
    let (weights, bias) = (numbers(inputs * outputs), numbers(outputs));
    match kind {
        Numbers::F32 => {
            let mut panels = Panels::new(inputs, outputs);
            panels.set_columns(0, &weights, &bias);
            Linear::Full(panels)
        }
        Numbers::Bf16 => {
            let mut matrix = bf16::Bf16Matrix::new(isa, inputs, outputs);
            matrix.set_columns(0, &weights, &bias);
            Linear::Bf16(matrix)
        }
        Numbers::Int8 => {
            let mut matrix = int8::Int8Matrix::new(isa, inputs, outputs);
            matrix.set_columns(0, &weights, &bias);
            Linear::Int8(matrix)
        }
    }
}

fn products(c: &mut Criterion, isa: Isa) {
    let shapes = [
        ("query, key, value", 256, HIDDEN, 3 * HIDDEN),
        ("out", 256, HIDDEN, HIDDEN),
        ("up", 192, HIDDEN, INNER),
        ("down", 192, INNER, HIDDEN),
    ];
    for (name, rows, inputs, outputs) in shapes {
        let (x, mut out) = (numbers(rows * inputs), vec![0.0; rows * outputs]);
        let mut group = c.benchmark_group(format!("{}/{name}", isa.set().as_str()));
        group.throughput(Throughput::Elements(2 * (rows * inputs * outputs) as u64));
        for (name, kind) in [
            ("f32", Numbers::F32),
            ("bf16", Numbers::Bf16),
            ("int8", Numbers::Int8),
        ] {
            let (linear, mut codes, mut rounded) = (
                linear(isa, kind, inputs, outputs),
                int8::Codes::default(),
                bf16::Rounded::default(),
            );
            let mut product = |gelu: bool| match &linear {
                Linear::Full(panels) => panels.product(isa, &x, gelu, &mut out),
                Linear::Bf16(matrix) => matrix.product(&x, &mut rounded, gelu, &mut out),
                Linear::Int8(matrix) => matrix.product(&x, &mut codes, gelu, &mut out),
                Linear::Other { .. } => unreachable!("made above"),
            };
            measure(&mut group, name, || product(false));
            measure(&mut group, &format!("{name}, GELU"), || product(true));
        }
    }
}

fn between(c: &mut Criterion, isa: Isa) {
    let (mut x, rows, weight) = (
        numbers(256 * HIDDEN),
        numbers(256 * HIDDEN),
        numbers(HIDDEN),
    );
    let mut group = c.benchmark_group(format!("{}/between", isa.set().as_str()));
    group.throughput(Throughput::Elements((256 * HIDDEN) as u64));
    measure(&mut group, "add and norm", || {
        elementwise::add_and_norm(isa, &mut x, &rows, &weight, &weight, 1e-12);
    });
    measure(&mut group, "bias and GELU", || {
        elementwise::add_bias(isa, &mut x, &weight, true);
    });
}

/// One layer; the part of its time that is not in the products above is attention.
fn layers(c: &mut Criterion, isa: Isa) {
    for (name, kind) in [
        ("f32", Numbers::F32),
        ("bf16", Numbers::Bf16),
        ("int8", Numbers::Int8),
    ] {
        let norm = || Norm {
            weight: vec![1.0; HIDDEN],
            bias: vec![0.0; HIDDEN],
        };
        let layer = Layer {
            qkv: linear(isa, kind, HIDDEN, 3 * HIDDEN),
            out: linear(isa, kind, HIDDEN, HIDDEN),
            out_norm: norm(),
            up: linear(isa, kind, HIDDEN, INNER),
            down: linear(isa, kind, INNER, HIDDEN),
            down_norm: norm(),
        };
        let network = Network::new(isa, HIDDEN, HEADS, 1e-12, vec![layer]).expect("the shapes fit");
        let mut group = c.benchmark_group(format!("{}/layer, {name}", isa.set().as_str()));
        for lengths in [vec![256], vec![64; 4], vec![16; 16], vec![21]] {
            let tokens = lengths.iter().sum::<usize>();
            let (x, mut scratch) = (numbers(tokens * HIDDEN), Scratch::default());
            let mut y = x.clone();
            group.throughput(Throughput::Elements(tokens as u64));
            measure(
                &mut group,
                &format!("{} of {}", lengths.len(), lengths[0]),
                || {
                    y.copy_from_slice(&x);
                    network
                        .forward(&mut y, &lengths, &mut scratch)
                        .expect("no product is computed elsewhere");
                },
            );
        }
    }
}
