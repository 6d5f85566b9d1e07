use super::*;
use crate::Set;

/// Hidden width, number of heads, inner width.
#[derive(Clone, Copy)]
struct NetworkShape(usize, usize, usize);

/// A shape that never fills panels, registers and tiles completely.
const ODD: NetworkShape = if cfg!(miri) {
    NetworkShape(12, 3, 20)
} else {
    NetworkShape(48, 3, 80)
};
/// A shape that always fills them, so that the numbers between rounded products are bf16 if the set
/// has it.
const EVEN: NetworkShape = if cfg!(miri) {
    NetworkShape(32, 1, 32)
} else {
    NetworkShape(64, 2, 96)
};

fn numbers(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Full,
    Int8,
    Bf16,
    /// Bytes and bf16.
    Both,
    /// Computed by the definition, in f64.
    Plain,
}

fn linear(
    next: &mut impl FnMut() -> f32,
    isa: Isa,
    kind: Kind,
    inputs: usize,
    outputs: usize,
) -> Linear {
    let weights: Vec<f32> = (0..inputs * outputs).map(|_| next() * 0.5).collect();
    let bias: Vec<f32> = (0..outputs).map(|_| next()).collect();
    match kind {
        Kind::Full => {
            let mut panels = Panels::new(inputs, outputs);
            panels.set_columns(0, &weights, &bias);
            Linear::Full(panels)
        }
        Kind::Both if inputs < outputs => linear_of(isa, Kind::Int8, inputs, &weights, &bias),
        Kind::Both => linear_of(isa, Kind::Bf16, inputs, &weights, &bias),
        Kind::Int8 | Kind::Bf16 => linear_of(isa, kind, inputs, &weights, &bias),
        Kind::Plain => {
            let product = move |rows: &[f32], out: &mut [f32]| {
                for (row, out) in rows.chunks_exact(inputs).zip(out.chunks_exact_mut(outputs)) {
                    for (column, to) in weights.chunks_exact(inputs).zip(out) {
                        *to = row
                            .iter()
                            .zip(column)
                            .map(|(x, w)| f64::from(*x) * f64::from(*w))
                            .sum::<f64>() as f32;
                    }
                }
                Ok(())
            };
            Linear::Other {
                product: Box::new(product),
                bias,
                inputs,
            }
        }
    }
}

fn linear_of(isa: Isa, kind: Kind, inputs: usize, weights: &[f32], bias: &[f32]) -> Linear {
    if kind == Kind::Int8 {
        let mut matrix = crate::int8::Int8Matrix::new(isa, inputs, bias.len());
        matrix.set_columns(0, weights, bias);
        return Linear::Int8(matrix);
    }
    let mut matrix = crate::bf16::Bf16Matrix::new(isa, inputs, bias.len());
    matrix.set_columns(0, weights, bias);
    Linear::Bf16(matrix)
}

/// Two layers of random weights, the same for every set and kind.
fn network(isa: Isa, kind: Kind, shape: NetworkShape, seed: u32) -> Network {
    let NetworkShape(hidden, heads, inner) = shape;
    let mut next = numbers(seed);
    let layers = (0..2).map(|_| {
        let norm = |next: &mut dyn FnMut() -> f32| Norm {
            weight: (0..hidden).map(|_| 1.0 + next()).collect(),
            bias: (0..hidden).map(|_| next()).collect(),
        };
        Layer {
            qkv: linear(&mut next, isa, kind, hidden, 3 * hidden),
            out: linear(&mut next, isa, kind, hidden, hidden),
            out_norm: norm(&mut next),
            up: linear(&mut next, isa, kind, hidden, inner),
            down: linear(&mut next, isa, kind, inner, hidden),
            down_norm: norm(&mut next),
        }
    });
    Network::new(isa, hidden, heads, 1e-12, layers.collect()).unwrap()
}

fn run(network: &Network, x: &[f32], lengths: &[usize], scratch: &mut Scratch) -> Vec<f32> {
    let mut x = x.to_vec();
    network.forward(&mut x, lengths, scratch).unwrap();
    x
}

fn least_cosine(a: &[f32], b: &[f32], hidden: usize) -> f64 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>()
    };
    let rows = a.chunks_exact(hidden).zip(b.chunks_exact(hidden));
    rows.map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt())
        .fold(1.0, f64::min)
}

/// Whether all sets give the same result. bf16 in registers rounds sums differently from the matrix
/// unit and from f32.
fn rounds_alike(isa: Isa, kind: Kind, shape: NetworkShape) -> bool {
    isa.set() != Set::Portable
        && (kind == Kind::Full
            || kind == Kind::Int8 && (shape.0 == ODD.0 || !isa.multiplies_bytes_in_512_bits()))
}

#[test]
fn every_set_computes_the_definition_and_those_that_round_alike_the_same_bits() {
    // The interpreter takes minutes for the longer ones.
    let batches = [
        vec![512],
        vec![256],
        vec![255, 1, 2],
        vec![0, 13, 0],
        vec![1],
        vec![2],
        vec![0],
        vec![],
    ];
    let batches = batches
        .into_iter()
        .filter(|lengths| !cfg!(miri) || lengths.iter().all(|len| *len < 9));
    let batches: Vec<Vec<usize>> = batches.collect();
    for (seed, shape) in [(1, ODD), (2, ODD), (3, EVEN)] {
        let hidden = shape.0;
        let input = |lengths: &[usize]| -> Vec<f32> {
            let mut next = numbers(seed + 10);
            (0..lengths.iter().sum::<usize>() * hidden)
                .map(|_| 4.0 * next())
                .collect()
        };
        let results = |isa, kind| -> Vec<Vec<f32>> {
            let (network, mut scratch) = (network(isa, kind, shape, seed), Scratch::default());
            batches
                .iter()
                .map(|lengths| run(&network, &input(lengths), lengths, &mut scratch))
                .collect()
        };
        let exact = results(Isa::new(Set::Portable).unwrap(), Kind::Plain);
        let kinds = [
            (Kind::Full, 0.999_999),
            (Kind::Int8, 0.999),
            (Kind::Bf16, 0.999_9),
            (Kind::Both, 0.999),
        ];
        for (kind, bound) in kinds {
            let (mut bits, mut first) = (None::<Vec<Vec<f32>>>, None::<Vec<Vec<f32>>>);
            for isa in Isa::all() {
                let found = results(isa, kind);
                if rounds_alike(isa, kind, shape) {
                    assert!(
                        bits.get_or_insert_with(|| found.clone()) == &found,
                        "{isa:?}"
                    );
                }
                let first = first.get_or_insert_with(|| found.clone());
                for (((found, exact), first), lengths) in
                    found.iter().zip(&exact).zip(first).zip(&batches)
                {
                    let cosine = least_cosine(found, exact, hidden);
                    assert!(cosine >= bound, "{isa:?} {lengths:?}: {cosine}");
                    let cosine = least_cosine(first, found, hidden);
                    assert!(cosine >= 0.999, "{isa:?} {lengths:?}: {cosine}");
                }
            }
        }
    }
}

#[test]
fn a_sequence_does_not_depend_on_its_companions_to_the_last_bit() {
    let lengths: &[usize] = if cfg!(miri) {
        &[3, 0, 1]
    } else {
        &[40, 1, 100, 7, 13, 130]
    };
    for shape in [ODD, EVEN] {
        let hidden = shape.0;
        let mut next = numbers(5);
        let x: Vec<f32> = (0..lengths.iter().sum::<usize>() * hidden)
            .map(|_| 4.0 * next())
            .collect();
        for kind in [Kind::Full, Kind::Int8, Kind::Bf16, Kind::Both] {
            for isa in Isa::all() {
                let (network, mut scratch) = (network(isa, kind, shape, 3), Scratch::default());
                let together = run(&network, &x, lengths, &mut scratch);
                let mut done = 0;
                for &len in lengths {
                    let own = done * hidden..(done + len) * hidden;
                    let alone = run(&network, &x[own.clone()], &[len], &mut scratch);
                    assert_eq!(alone, together[own], "{isa:?} {len}");
                    done += len;
                }
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let isa = Isa::best();
    let layers = |seed| network(isa, Kind::Full, ODD, seed).layers;
    assert!(Network::new(isa, ODD.0, 5, 1e-12, layers(1)).is_err());
    assert!(Network::new(isa, 2 * ODD.0, 3, 1e-12, layers(1)).is_err());
    let mut wrong = layers(1);
    wrong[1].down_norm.bias.pop();
    let refused = Network::new(isa, ODD.0, ODD.1, 1e-12, wrong).err().unwrap();
    assert!(refused.starts_with("layer 1"), "{refused}");
}
