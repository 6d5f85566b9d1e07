//! Tests networks and batches of any shape: lengths, numbers of sequences and layer widths have no
//! special cases.

use local_agent_kernels::bf16;
use local_agent_kernels::int8::Int8Matrix;
use local_agent_kernels::network::{Layer, Linear, Network, Norm, Scratch};
use local_agent_kernels::product::Panels;
use local_agent_kernels::{Isa, Set};
use proptest::prelude::*;

/// Miri, the interpreter that looks for undefined behaviour, is a thousand times slower.
const LONGEST: usize = if cfg!(miri) { 20 } else { 600 };

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Full,
    Int8,
    Bf16,
}

#[derive(Debug, Clone)]
struct Shape {
    heads: usize,
    width: usize,
    inner: usize,
    kind: Kind,
    seed: u32,
}

impl Shape {
    fn hidden(&self) -> usize {
        self.heads * self.width
    }

    /// One layer of random weights, the same for every set.
    fn network(&self, isa: Isa) -> Network {
        let mut next = numbers(self.seed);
        let (hidden, inner) = (self.hidden(), self.inner);
        let mut linear = |inputs: usize, outputs: usize| {
            let weights: Vec<f32> = (0..inputs * outputs).map(|_| next() * 0.5).collect();
            let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
            match self.kind {
                Kind::Full => {
                    let mut panels = Panels::new(inputs, outputs);
                    panels.set_columns(0, &weights, &bias);
                    Linear::Full(panels)
                }
                Kind::Int8 => {
                    let mut matrix = Int8Matrix::new(isa, inputs, outputs);
                    matrix.set_columns(0, &weights, &bias);
                    Linear::Int8(matrix)
                }
                Kind::Bf16 => {
                    let mut matrix = bf16::Bf16Matrix::new(isa, inputs, outputs);
                    matrix.set_columns(0, &weights, &bias);
                    Linear::Bf16(matrix)
                }
            }
        };
        let norm = || Norm {
            weight: vec![1.0; hidden],
            bias: vec![0.1; hidden],
        };
        let layer = Layer {
            qkv: linear(hidden, 3 * hidden),
            out: linear(hidden, hidden),
            out_norm: norm(),
            up: linear(hidden, inner),
            down: linear(inner, hidden),
            down_norm: norm(),
        };
        // The norm has a large constant, so it does not magnify rounding errors.
        Network::new(isa, hidden, self.heads, 0.1, vec![layer]).unwrap()
    }
}

fn numbers(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    // Widths that fill registers take other code paths.
    let width = prop_oneof![2 => 1_usize..37, 1 => Just(32)];
    let inner = prop_oneof![2 => 1_usize..120, 1 => Just(96)];
    let kind = prop_oneof![Just(Kind::Full), Just(Kind::Int8), Just(Kind::Bf16)];
    (1_usize..5, width, inner, kind, any::<u32>()).prop_map(|(heads, width, inner, kind, seed)| {
        Shape {
            heads,
            width,
            inner,
            kind,
            seed,
        }
    })
}

/// Many short sequences, empty ones, and a few that may be long.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let short = prop_oneof![1 => Just(0_usize), 4 => 1_usize..20];
    (
        prop::collection::vec(short, 0..12),
        prop::collection::vec(0..LONGEST, 0..3),
    )
        .prop_map(|(short, long)| [short, long].concat())
        .prop_shuffle()
}

/// Each case is a whole network on every set of this machine.
fn cases() -> ProptestConfig {
    let all = ProptestConfig::default();
    ProptestConfig {
        cases: all.cases.div_ceil(8),
        ..all
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_batch_of_any_shape_gives_what_its_sequences_give_alone_on_every_set(shape in shape(), lengths in lengths()) {
        let hidden = shape.hidden();
        let mut next = numbers(!shape.seed);
        let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * hidden).map(|_| 4.0 * next()).collect();
        let mut best: Option<Vec<f32>> = None;
        for isa in Isa::all() {
            let (network, mut scratch) = (shape.network(isa), Scratch::default());
            let mut together = x.clone();
            network.forward(&mut together, &lengths, &mut scratch).unwrap();
            prop_assert!(together.iter().all(|x| x.is_finite()), "{:?}", isa);
            let mut done = 0;
            for len in &lengths {
                let own = done * hidden..(done + len) * hidden;
                let mut alone = x[own.clone()].to_vec();
                network.forward(&mut alone, &[*len], &mut scratch).unwrap();
                prop_assert_eq!(&alone, &together[own], "{:?}, {} tokens", isa, len);
                done += len;
            }
            let best = best.get_or_insert_with(|| together.clone());
            let fused = isa.set() != Set::Portable || cfg!(target_arch = "aarch64");
            if shape.kind != Kind::Full || !fused {
                // The last digits differ, which may change a rounded number by one.
                let bound = if shape.kind == Kind::Full { 1e-3 } else { 0.3 };
                let far = best.iter().zip(&together).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                prop_assert!(far <= bound, "{:?} is off by {}", isa, far);
            } else {
                prop_assert_eq!(&*best, &together, "{:?}", isa);
            }
        }
    }
}
