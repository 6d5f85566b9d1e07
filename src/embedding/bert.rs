//! The BERT encoder: token ids in, one pooled vector a sequence out.
//!
//! Sequences of a batch are packed one behind the other, so no padding goes through the large matrix products; only
//! inside attention are they padded to the longest of the batch, and the softmax of each row stops at its own length.
//! A sequence's vector therefore does not depend on its companions. Products with weights are those of
//! `local_agent_kernels` where the processor has the instructions, else candle's; products inside attention are candle's.

use candle_core::{Device, Storage, Tensor};
use local_agent_kernels::elementwise as kernels;
use local_agent_kernels::product::Panels;
use local_agent_kernels::{Isa, halves};

use super::weights::{Table, Tensors, invalid};
use crate::error::{Failure, Result};
use crate::models::{Activation, Architecture, ModelFiles, Pooling};

/// Columns are packed in groups of so many.
const COLUMNS: usize = 16;

/// What a network is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A few short texts: weights in half precision are multiplied where they stand in the file.
    Questions,
    /// Many texts: weights are converted and packed first.
    Passages,
}

/// A loaded network. Immutable: any number of threads may use it at once.
pub(super) struct Bert {
    id: String,
    shape: Architecture,
    pooling: Pooling,
    words: Table,
    /// Position vectors with the vector of token type 0 added: our inputs have one segment.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Query, key and value in one product.
    qkv: Linear,
    out: Linear,
    out_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

struct Linear {
    weight: Weight,
    inputs: usize,
    bias: Vec<f32>,
}

/// A weight matrix [in, out].
enum Weight {
    /// Packed for the instructions of this machine.
    Packed(Isa, Panels),
    /// Matrices [out, in] that stand side by side, in half precision, left in the file.
    Stored(Isa, Vec<Table>),
    /// For candle, as the transpose of what the file holds: its product then reads the matrix where it stands, while the
    /// other order would be copied into that one for every product.
    General(Tensor),
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Bert {
    /// Makes the weights ready for `purpose`, one thread a group of layers.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn load(files: &ModelFiles, purpose: Purpose) -> Result<Self> {
        let shape = *files.architecture();
        let Activation::Gelu = shape.activation;
        let tensors = Tensors::open(files.id(), files.weights())?;
        let hidden = shape.hidden;
        let mut positions = tensors.read("embeddings.position_embeddings.weight", &[shape.positions, hidden])?;
        let types = tensors.read("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        kernels::add_biased(&mut positions, &vec![0.0; shape.positions * hidden], &types[..hidden]);
        Ok(Self {
            id: files.id().to_owned(),
            shape,
            pooling: files.pooling(),
            words: tensors.table("embeddings.word_embeddings.weight", shape.vocabulary, hidden)?,
            positions,
            norm: Norm::load(&tensors, "embeddings.LayerNorm", hidden)?,
            layers: load_layers(&tensors, &shape, purpose)?,
        })
    }

    /// Length of the vectors.
    pub(super) fn dim(&self) -> usize {
        self.shape.hidden
    }

    /// One unit vector a sequence, in the given order. Every sequence holds at least one token and at most as many
    /// as the network has positions.
    ///
    /// Errors: `MODEL_INVALID` for a token outside the word table or a result that is not finite.
    pub(super) fn encode(&self, sequences: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = sequences.iter().map(|s| s.len()).collect();
        let mut x = self.embed(sequences)?;
        for layer in &self.layers {
            self.layer(layer, &mut x, &lengths)?;
        }
        let hidden = self.shape.hidden;
        let mut rest = x.as_slice();
        let mut vectors = Vec::with_capacity(lengths.len());
        for len in lengths {
            let (own, others) = rest.split_at(len * hidden);
            rest = others;
            let mut vector = vec![0.0; hidden];
            let counted = if self.pooling == Pooling::Mean { own } else { &own[..hidden] };
            for row in counted.chunks_exact(hidden) {
                vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            if !kernels::normalise(&mut vector) {
                return Err(invalid(&self.id, "it made a vector that is not finite"));
            }
            vectors.push(vector);
        }
        Ok(vectors)
    }

    /// Word, position and type vectors of all tokens, normed: [tokens, hidden].
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        let hidden = self.shape.hidden;
        let tokens = sequences.iter().map(|s| s.len()).sum::<usize>();
        let mut x = Vec::with_capacity(tokens * hidden);
        for sequence in sequences {
            let start = x.len();
            for id in *sequence {
                if !self.words.append_row(*id as usize, &mut x) {
                    return Err(invalid(
                        &self.id,
                        &format!("its tokenizer made token {id}, which its weights do not have"),
                    ));
                }
            }
            let places = self.positions.get(..sequence.len() * hidden);
            let places = places.ok_or_else(|| Failure::internal("a sequence is longer than the network's window"))?;
            x[start..].iter_mut().zip(places).for_each(|(x, place)| *x += place);
        }
        kernels::layer_norm(&mut x, &self.norm.weight, &self.norm.bias, self.shape.norm_eps);
        Ok(x)
    }

    fn layer(&self, layer: &Layer, x: &mut [f32], lengths: &[usize]) -> Result<()> {
        let eps = self.shape.norm_eps;
        let context = self.attention(&layer.qkv, x, lengths)?;
        kernels::add_biased(x, &layer.out.product(&context)?, &layer.out.bias);
        kernels::layer_norm(x, &layer.out_norm.weight, &layer.out_norm.bias, eps);
        let active = kernels::bias_gelu(&layer.up.product(x)?, &layer.up.bias);
        kernels::add_biased(x, &layer.down.product(&active)?, &layer.down.bias);
        kernels::layer_norm(x, &layer.down_norm.weight, &layer.down_norm.bias, eps);
        Ok(())
    }

    /// Self-attention without its output product: [tokens, hidden] → [tokens, hidden].
    fn attention(&self, qkv: &Linear, x: &[f32], lengths: &[usize]) -> Result<Vec<f32>> {
        let (heads, width) = (self.shape.heads, self.shape.head_width());
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let [q, k, v] = self.split_heads(&qkv.product(x)?, &qkv.bias, lengths, longest);
        let shape = (lengths.len() * heads, longest, width);
        let tensor = |data| Tensor::from_vec(data, shape, &Device::Cpu).map_err(broken);
        let scores = tensor(q)?.matmul(&tensor(k)?.t().map_err(broken)?).map_err(broken)?;
        let shares = with_slice(&scores, |scores| {
            let mut shares = Vec::with_capacity(scores.len());
            let mut blocks = scores.chunks_exact(longest * longest);
            for (&len, block) in lengths.iter().flat_map(|len| std::iter::repeat_n(len, heads)).zip(&mut blocks) {
                for row in block.chunks_exact(longest).take(len) {
                    kernels::softmax(row, len, &mut shares);
                }
                shares.resize(shares.len() + (longest - len) * longest, 0.0);
            }
            shares
        })?;
        let shape = (lengths.len() * heads, longest, longest);
        let shares = Tensor::from_vec(shares, shape, &Device::Cpu).map_err(broken)?;
        let context = shares.matmul(&tensor(v)?).map_err(broken)?;
        with_slice(&context, |context| self.join_heads(context, lengths, longest))
    }

    /// [tokens, 3·hidden] → query, key and value, each [sequences, heads, longest, width], zero behind each
    /// sequence's end; the query scaled by 1/√width.
    fn split_heads(&self, rows: &[f32], bias: &[f32], lengths: &[usize], longest: usize) -> [Vec<f32>; 3] {
        let (hidden, width) = (self.shape.hidden, self.shape.head_width());
        let scales = [1.0 / (width as f32).sqrt(), 1.0, 1.0];
        let mut parts = [(); 3].map(|()| vec![0.0; lengths.len() * hidden * longest]);
        let mut rows = rows.chunks_exact(3 * hidden);
        for (sequence, &len) in lengths.iter().enumerate() {
            for (place, row) in rows.by_ref().take(len).enumerate() {
                let thirds = row.chunks_exact(hidden).zip(bias.chunks_exact(hidden)).zip(scales);
                for (part, ((row, bias), scale)) in parts.iter_mut().zip(thirds) {
                    let heads = row.chunks_exact(width).zip(bias.chunks_exact(width));
                    for (head, (row, bias)) in heads.enumerate() {
                        let at = ((sequence * self.shape.heads + head) * longest + place) * width;
                        for ((to, x), b) in part[at..at + width].iter_mut().zip(row).zip(bias) {
                            *to = (x + b) * scale;
                        }
                    }
                }
            }
        }
        parts
    }

    /// Undoes [`Self::split_heads`]: [sequences, heads, longest, width] → [tokens, hidden].
    fn join_heads(&self, context: &[f32], lengths: &[usize], longest: usize) -> Vec<f32> {
        let (hidden, width) = (self.shape.hidden, self.shape.head_width());
        let mut out = Vec::with_capacity(lengths.iter().sum::<usize>() * hidden);
        for (block, &len) in context.chunks_exact(hidden * longest).zip(lengths) {
            for place in 0..len {
                for head in block.chunks_exact(longest * width) {
                    out.extend_from_slice(&head[place * width..(place + 1) * width]);
                }
            }
        }
        out
    }
}

/// Loads all layers; the conversion is split over the cores because a query process waits for it.
fn load_layers(tensors: &Tensors, shape: &Architecture, purpose: Purpose) -> Result<Vec<Layer>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(shape.layers);
    let numbers: Vec<usize> = (0..shape.layers).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = numbers
            .chunks(shape.layers.div_ceil(threads))
            .map(|group| {
                let load = move |number: &usize| Layer::load(tensors, *number, shape, purpose);
                scope.spawn(move || group.iter().map(load).collect::<Result<Vec<_>>>())
            })
            .collect();
        let mut layers = Vec::with_capacity(shape.layers);
        for worker in workers {
            layers.extend(worker.join().map_err(|_| Failure::internal("a thread that loads weights panicked"))??);
        }
        Ok(layers)
    })
}

impl Layer {
    fn load(tensors: &Tensors, number: usize, shape: &Architecture, purpose: Purpose) -> Result<Self> {
        let at = |part: &str| format!("encoder.layer.{number}.{part}");
        let (hidden, inner) = (shape.hidden, shape.intermediate);
        let qkv = ["query", "key", "value"].map(|part| at(&format!("attention.self.{part}")));
        let linear = |names: &[String], inputs, outputs| match purpose {
            Purpose::Questions => Linear::stored(tensors, names, inputs, outputs),
            Purpose::Passages => Linear::packed(tensors, names, inputs, outputs),
        };
        Ok(Self {
            qkv: linear(&qkv, hidden, hidden)?,
            out: linear(&[at("attention.output.dense")], hidden, hidden)?,
            out_norm: Norm::load(tensors, &at("attention.output.LayerNorm"), hidden)?,
            up: linear(&[at("intermediate.dense")], hidden, inner)?,
            down: linear(&[at("output.dense")], inner, hidden)?,
            down_norm: Norm::load(tensors, &at("output.LayerNorm"), hidden)?,
        })
    }
}

impl Linear {
    /// The layers `names`, each [out, in], side by side and left in the file; packed where that cannot be.
    fn stored(tensors: &Tensors, names: &[String], inputs: usize, outputs: usize) -> Result<Self> {
        let table = |name: &String| tensors.table(&format!("{name}.weight"), outputs, inputs);
        let tables = names.iter().map(table).collect::<Result<Vec<_>>>()?;
        let fits = inputs.is_multiple_of(COLUMNS) && tables.iter().all(|table| table.halves().is_some());
        let Some(isa) = Isa::best().filter(|_| fits) else {
            return Self::packed(tensors, names, inputs, outputs);
        };
        let mut bias = Vec::with_capacity(names.len() * outputs);
        names.iter().try_for_each(|name| tensors.append(&format!("{name}.bias"), &[outputs], &mut bias))?;
        Ok(Self { weight: Weight::Stored(isa, tables), inputs, bias })
    }

    /// The layers `names`, each [out, in], stacked into one.
    fn packed(tensors: &Tensors, names: &[String], inputs: usize, outputs: usize) -> Result<Self> {
        let total = names.len() * outputs;
        let mut weight = match Isa::best().filter(|_| outputs.is_multiple_of(COLUMNS)) {
            Some(isa) => Packing::Panels(isa, Panels::new(inputs, total)),
            None => Packing::Transposed(vec![0.0; inputs * total]),
        };
        let mut bias = Vec::with_capacity(total);
        for (number, name) in names.iter().enumerate() {
            let rows = tensors.read(&format!("{name}.weight"), &[outputs, inputs])?;
            match &mut weight {
                Packing::Panels(_, panels) => panels.set_columns(number * outputs, &rows),
                Packing::Transposed(to) => kernels::transpose(&rows, inputs, to, total, number * outputs),
            }
            tensors.append(&format!("{name}.bias"), &[outputs], &mut bias)?;
        }
        let weight = match weight {
            Packing::Panels(isa, panels) => Weight::Packed(isa, panels),
            Packing::Transposed(numbers) => {
                Weight::General(Tensor::from_vec(numbers, (inputs, total), &Device::Cpu).map_err(broken)?)
            }
        };
        Ok(Self { weight, inputs, bias })
    }

    /// `rows · weight`, without the bias: the kernels add it in a pass they make anyway.
    fn product(&self, rows: &[f32]) -> Result<Vec<f32>> {
        let weight = match &self.weight {
            Weight::Packed(isa, panels) => return Ok(panels.product(*isa, rows)),
            Weight::Stored(isa, tables) => {
                let (width, each) = (self.bias.len(), self.bias.len() / tables.len());
                let mut out = vec![0.0; rows.len() / self.inputs * width];
                for (number, table) in tables.iter().enumerate() {
                    let weights = table.halves().ok_or_else(|| Failure::internal("a weight matrix went away"))?;
                    halves::product(*isa, rows, self.inputs, weights, &mut out, width, number * each);
                }
                return Ok(out);
            }
            Weight::General(weight) => weight,
        };
        let rows = Tensor::from_slice(rows, (rows.len() / self.inputs, self.inputs), &Device::Cpu).map_err(broken)?;
        with_slice(&rows.matmul(weight).map_err(broken)?, <[f32]>::to_vec)
    }
}

/// A weight matrix while it is filled.
enum Packing {
    Panels(Isa, Panels),
    Transposed(Vec<f32>),
}

impl Norm {
    fn load(tensors: &Tensors, name: &str, width: usize) -> Result<Self> {
        Ok(Self {
            weight: tensors.read(&format!("{name}.weight"), &[width])?,
            bias: tensors.read(&format!("{name}.bias"), &[width])?,
        })
    }
}

/// Lends the numbers of a freshly computed tensor, without a copy.
fn with_slice<T>(tensor: &Tensor, read: impl FnOnce(&[f32]) -> T) -> Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(cpu), Some((start, end))) => Ok(read(&cpu.as_slice::<f32>().map_err(broken)?[start..end])),
        _ => Err(Failure::internal("a matrix product is not contiguous in memory")),
    }
}

/// A failure of the tensor library: shapes were checked when the weights were loaded, so it is ours.
fn broken(error: candle_core::Error) -> Failure {
    Failure::internal(format!("the encoder's arithmetic failed: {error}"))
}
