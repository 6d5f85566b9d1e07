//! The BERT encoder: takes token ids, returns the last hidden states of every token.
//!
//! The model's files are read into a `local_agent_kernels::network`, which computes the layers
//! without padding: the vector of a sequence does not depend on the other sequences in its batch,
//! not even in the last bit. If the processor has none of the instructions that the kernels are
//! written for, candle computes the f32 products.

use candle_core::{Device, Storage, Tensor};
use local_agent_kernels::elementwise as kernels;
use local_agent_kernels::int8::{self, MOST_INPUTS};
use local_agent_kernels::network::{self, Linear, Network};
use local_agent_kernels::product::Panels;
use local_agent_kernels::{Isa, Set, bf16, halves};

use super::packed;
use super::weights::{Table, Tensors, invalid};
use crate::models::Precision;
use crate::models::{Activation, Architecture, ModelFiles};
use local_agent_text::error::{Failure, Result};

/// The number of columns of a matrix that is multiplied in place must be a multiple of this.
const COLUMNS: usize = 16;

/// The purpose for which a network is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A few short texts in f32. Weights in half precision are multiplied in place in the file.
    Questions,
    /// Many texts. Weights are first converted and packed, or mapped from a file of packed weights.
    Passages(Precision),
}

/// A loaded network. Immutable: any number of threads may use it at once.
pub(super) struct Bert {
    id: String,
    hidden: usize,
    norm_eps: f32,
    words: Table,
    /// Position vectors plus the vector of token type 0, because most texts have only one segment.
    positions: Vec<f32>,
    /// The vectors to add for tokens of other types: [token types, hidden].
    types: Vec<f32>,
    norm: network::Norm,
    network: Network,
}

/// Buffers that one thread keeps between batches.
#[derive(Default)]
pub(super) struct Scratch {
    lengths: Vec<usize>,
    network: network::Scratch,
}

/// The linear layers of a block, which can have different precisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Qkv,
    Out,
    Up,
    Down,
}

/// The number format that a product with weights is computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    F32,
    Bf16,
    Int8,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Qkv, Self::Out, Self::Up, Self::Down];

    /// The number format of the part's weights. `mixed` keeps two parts in bf16, where rounding to
    /// bytes costs most of the accuracy (docs/performance.md).
    fn numbers(self, precision: Precision) -> Numbers {
        match (precision, self) {
            (Precision::F32, _) => Numbers::F32,
            (Precision::Bf16, _) | (Precision::Mixed, Self::Qkv | Self::Down) => Numbers::Bf16,
            (Precision::Int8, _) | (Precision::Mixed, Self::Out | Self::Up) => Numbers::Int8,
        }
    }
}

impl Bert {
    /// Prepares the weights for `purpose` and the instructions `isa`, with one thread per group of
    /// layers.
    ///
    /// Errors: `MODEL_INVALID` when a tensor is missing or has another shape.
    pub(super) fn load(
        files: &ModelFiles,
        shape: Architecture,
        purpose: Purpose,
        isa: Isa,
    ) -> Result<Self> {
        let Activation::Gelu = shape.activation;
        let tensors = Tensors::open(files.id(), files.weights())?;
        let hidden = shape.hidden;
        let rows = shape.first_position + shape.positions;
        let name = "embeddings.position_embeddings.weight";
        let mut positions = tensors.read(name, &[rows, hidden])?;
        positions.drain(..shape.first_position * hidden);
        let mut types = tensors.read(
            "embeddings.token_type_embeddings.weight",
            &[shape.token_types, hidden],
        )?;
        for position in positions.chunks_exact_mut(hidden) {
            position
                .iter_mut()
                .zip(&types)
                .for_each(|(x, of_type)| *x += of_type);
        }
        let (first, _) = types.split_at(hidden);
        let first = first.to_vec();
        for row in types.chunks_exact_mut(hidden) {
            row.iter_mut()
                .zip(&first)
                .for_each(|(x, of_type)| *x -= of_type);
        }
        let layers = packed::layers(
            &Loader {
                tensors: &tensors,
                shape,
                purpose,
                isa,
            },
            files,
        )?;
        Ok(Self {
            id: files.id().to_owned(),
            hidden,
            norm_eps: shape.norm_eps,
            words: tensors.table(
                "embeddings.word_embeddings.weight",
                shape.vocabulary,
                hidden,
            )?,
            positions,
            types,
            norm: norm(&tensors, "embeddings.LayerNorm", hidden)?,
            network: Network::new(isa, hidden, shape.heads, shape.norm_eps, layers)
                .map_err(|why| invalid(files.id(), &why))?,
        })
    }

    /// The instructions it computes with.
    #[cfg(test)]
    pub(super) fn isa(&self) -> Isa {
        self.network.isa()
    }

    /// Computes the last hidden states of all tokens into `x`: [tokens, hidden].
    ///
    /// Errors: `MODEL_INVALID` for a token outside the word table.
    pub(super) fn forward(
        &self,
        sequences: &[&[u32]],
        x: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { lengths, network } = scratch;
        lengths.clear();
        lengths.extend(sequences.iter().map(|s| s.len()));
        self.embed(sequences, x)?;
        self.norm(x);
        self.network
            .forward(x, lengths, network)
            .map_err(Failure::internal)
    }

    /// Like [`Self::forward`], for one sequence with the given token types; without types, all
    /// tokens have type 0.
    ///
    /// Errors: `MODEL_INVALID` for a token outside the word table or a type without a vector.
    pub(super) fn forward_pair(
        &self,
        ids: &[u32],
        types: &[u32],
        x: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.embed(&[ids], x)?;
        for (token, of_type) in x.chunks_exact_mut(self.hidden).zip(types) {
            let start = *of_type as usize * self.hidden;
            let Some(row) = self.types.get(start..start + self.hidden) else {
                let reason = format!("its tokenizer gives a token the type {of_type}");
                return Err(invalid(&self.id, &reason));
            };
            token.iter_mut().zip(row).for_each(|(x, more)| *x += more);
        }
        self.norm(x);
        self.network
            .forward(x, &[ids.len()], &mut scratch.network)
            .map_err(Failure::internal)
    }

    /// The sums of word, position and type vectors of all tokens: [tokens, hidden].
    fn embed(&self, sequences: &[&[u32]], x: &mut Vec<f32>) -> Result<()> {
        x.clear();
        for sequence in sequences {
            let start = x.len();
            for id in *sequence {
                if !self.words.append_row(*id as usize, x) {
                    return Err(invalid(
                        &self.id,
                        &format!("its tokenizer made token {id}, which its weights do not have"),
                    ));
                }
            }
            let places = self.positions.get(..sequence.len() * self.hidden);
            let places = places.ok_or_else(|| {
                Failure::internal("a sequence is longer than the network's window")
            })?;
            kernels::add(self.network.isa(), &mut x[start..], places);
        }
        Ok(())
    }

    /// Normalises the vector of each token.
    fn norm(&self, x: &mut [f32]) {
        kernels::layer_norm(
            self.network.isa(),
            x,
            &self.norm.weight,
            &self.norm.bias,
            self.norm_eps,
        );
    }
}

/// The data for loading a layer.
pub(super) struct Loader<'a> {
    tensors: &'a Tensors,
    pub(super) shape: Architecture,
    pub(super) purpose: Purpose,
    pub(super) isa: Isa,
}

/// Converts and packs all layers. The work is split over the cores because a query process waits
/// for it.
pub(super) fn load_layers(loader: &Loader<'_>) -> Result<Vec<network::Layer>> {
    let count = loader.shape.layers;
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(count);
    let numbers: Vec<usize> = (0..count).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = numbers
            .chunks(count.div_ceil(threads))
            .map(|group| {
                scope.spawn(move || {
                    group
                        .iter()
                        .map(|number| loader.layer(*number))
                        .collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        let mut layers = Vec::with_capacity(count);
        for worker in workers {
            layers.extend(
                worker
                    .join()
                    .map_err(|_| Failure::internal("a thread that loads weights panicked"))??,
            );
        }
        Ok(layers)
    })
}

impl Loader<'_> {
    /// The number format that the product of `part` is computed in.
    pub(super) fn numbers(&self, part: Part, precision: Precision) -> Numbers {
        let inputs = if part == Part::Down {
            self.shape.intermediate
        } else {
            self.shape.hidden
        };
        match part.numbers(precision) {
            Numbers::Int8 if inputs > MOST_INPUTS => Numbers::F32,
            numbers => numbers,
        }
    }

    /// The two norms of a layer: after attention, and after the feed-forward part.
    pub(super) fn norms(&self, number: usize) -> Result<[network::Norm; 2]> {
        let norm = |part| {
            norm(
                self.tensors,
                &format!("encoder.layer.{number}.{part}.LayerNorm"),
                self.shape.hidden,
            )
        };
        Ok([norm("attention.output")?, norm("output")?])
    }

    fn layer(&self, number: usize) -> Result<network::Layer> {
        let at = |part: &str| format!("encoder.layer.{number}.{part}");
        let (hidden, inner) = (self.shape.hidden, self.shape.intermediate);
        let qkv = ["query", "key", "value"].map(|part| at(&format!("attention.self.{part}")));
        let [out_norm, down_norm] = self.norms(number)?;
        Ok(network::Layer {
            qkv: self.linear(Part::Qkv, &qkv, hidden, hidden)?,
            out: self.linear(Part::Out, &[at("attention.output.dense")], hidden, hidden)?,
            out_norm,
            up: self.linear(Part::Up, &[at("intermediate.dense")], hidden, inner)?,
            down: self.linear(Part::Down, &[at("output.dense")], inner, hidden)?,
            down_norm,
        })
    }

    /// The layers `names`, each [out, in], concatenated along their outputs.
    fn linear(
        &self,
        part: Part,
        names: &[String],
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear> {
        match self.purpose {
            Purpose::Questions => self.stored(names, inputs, outputs),
            Purpose::Passages(precision) => match self.numbers(part, precision) {
                Numbers::Int8 => {
                    let mut matrix = int8::Int8Matrix::new(self.isa, inputs, names.len() * outputs);
                    self.columns(names, inputs, outputs, |first, rows, bias| {
                        matrix.set_columns(first, rows, bias);
                    })?;
                    Ok(Linear::Int8(matrix))
                }
                Numbers::Bf16 => {
                    let mut matrix = bf16::Bf16Matrix::new(self.isa, inputs, names.len() * outputs);
                    self.columns(names, inputs, outputs, |first, rows, bias| {
                        matrix.set_columns(first, rows, bias);
                    })?;
                    Ok(Linear::Bf16(matrix))
                }
                Numbers::F32 => self.full(names, inputs, outputs),
            },
        }
    }

    /// A packed f32 layer; candle's layer if the machine has no kernel.
    fn full(&self, names: &[String], inputs: usize, outputs: usize) -> Result<Linear> {
        let total = names.len() * outputs;
        if self.isa.set() != Set::Portable {
            let mut panels = Panels::new(inputs, total);
            self.columns(names, inputs, outputs, |first, rows, bias| {
                panels.set_columns(first, rows, bias);
            })?;
            return Ok(Linear::Full(panels));
        }
        let (mut weight, mut bias) = (vec![0.0; inputs * total], Vec::with_capacity(total));
        self.columns(names, inputs, outputs, |first, rows, own| {
            kernels::transpose(rows, inputs, &mut weight, total, first);
            bias.extend_from_slice(own);
        })?;
        // The matrix is [in, out], so that the product reads it in place.
        let weight = Tensor::from_vec(weight, (inputs, total), &Device::Cpu)
            .map_err(|e| Failure::internal(broken(e)))?;
        let product = move |rows: &[f32], out: &mut [f32]| {
            general(&weight, rows, inputs, out).map_err(broken)
        };
        Ok(Linear::Other {
            product: Box::new(product),
            bias,
            inputs,
        })
    }

    /// A layer whose weights stay in the file; a packed layer if that is not possible.
    fn stored(&self, names: &[String], inputs: usize, outputs: usize) -> Result<Linear> {
        let table = |name: &String| {
            self.tensors
                .table(&format!("{name}.weight"), outputs, inputs)
        };
        let tables = names.iter().map(table).collect::<Result<Vec<_>>>()?;
        let fits =
            inputs.is_multiple_of(COLUMNS) && tables.iter().all(|table| table.halves().is_some());
        if !fits || !halves::supported(self.isa) {
            return self.full(names, inputs, outputs);
        }
        let mut bias = Vec::with_capacity(names.len() * outputs);
        names.iter().try_for_each(|name| {
            self.tensors
                .append(&format!("{name}.bias"), &[outputs], &mut bias)
        })?;
        let (isa, width) = (self.isa, bias.len());
        let product = move |rows: &[f32], out: &mut [f32]| {
            for (number, table) in tables.iter().enumerate() {
                let weights = table.halves().ok_or("a weight matrix went away")?;
                halves::product(isa, rows, inputs, weights, out, width, number * outputs);
            }
            Ok(())
        };
        Ok(Linear::Other {
            product: Box::new(product),
            bias,
            inputs,
        })
    }

    /// Passes the weights and the bias of each of `names` to `take`, with the column where they
    /// begin.
    fn columns(
        &self,
        names: &[String],
        inputs: usize,
        outputs: usize,
        mut take: impl FnMut(usize, &[f32], &[f32]),
    ) -> Result<()> {
        for (number, name) in names.iter().enumerate() {
            let rows = self
                .tensors
                .read(&format!("{name}.weight"), &[outputs, inputs])?;
            let bias = self.tensors.read(&format!("{name}.bias"), &[outputs])?;
            take(number * outputs, &rows, &bias);
        }
        Ok(())
    }
}

fn norm(tensors: &Tensors, name: &str, width: usize) -> Result<network::Norm> {
    Ok(network::Norm {
        weight: tensors.read(&format!("{name}.weight"), &[width])?,
        bias: tensors.read(&format!("{name}.bias"), &[width])?,
    })
}

/// The product computed by candle.
fn general(
    weight: &Tensor,
    rows: &[f32],
    inputs: usize,
    out: &mut [f32],
) -> candle_core::Result<()> {
    let rows = Tensor::from_slice(rows, (rows.len() / inputs, inputs), &Device::Cpu)?;
    let product = rows.matmul(weight)?;
    let (storage, layout) = product.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(cpu), Some((start, end))) if end - start == out.len() => {
            out.copy_from_slice(&cpu.as_slice::<f32>()?[start..end]);
            Ok(())
        }
        _ => candle_core::bail!("a matrix product is not contiguous in memory"),
    }
}

/// Converts an error of the tensor library. Shapes were checked when the weights were loaded, so
/// this is a bug.
fn broken(error: candle_core::Error) -> String {
    format!("the encoder's arithmetic failed: {error}")
}
