//! Layers whose weights an earlier process packed and this process maps.
//!
//! The key of a file covers everything that determines its bytes. The norms are read from the model
//! each time, because that costs almost nothing.

use std::sync::Arc;

use local_agent_kernels::network::{Layer, Linear};
use local_agent_kernels::product::Panels;
use local_agent_kernels::stored::{self, Reader};
use local_agent_kernels::{Set, bf16, int8};

use super::bert::{Loader, Numbers, Part, Purpose, load_layers};
use crate::models::Precision;
use crate::models::{Architecture, ModelFiles, Name};
use local_agent_text::error::Result;
use local_agent_text::types::Sha256;

/// All layers, from the folder of packed weights if one is set; the first use fills it.
///
/// Weights that are all f32 are not stored there: the file would be twice the size of the model,
/// and would save only a twentieth of a second of a job that takes minutes.
pub(super) fn layers(loader: &Loader<'_>, files: &ModelFiles) -> Result<Vec<Layer>> {
    let (Purpose::Passages(precision), Some(folder)) = (loader.purpose, files.prepared()) else {
        return load_layers(loader);
    };
    let parts = Part::ALL.map(|part| loader.numbers(part, precision));
    if loader.isa.set() == Set::Portable || parts.iter().all(|numbers| *numbers == Numbers::F32) {
        return load_layers(loader);
    }
    let name = name(loader, files, precision, &parts);
    if let Some((bytes, at)) = folder.open(&name) {
        let end = bytes.as_slice().len();
        let mut packed = Reader::new(Arc::new(bytes), at);
        let numbers = 0..loader.shape.layers;
        let layers = numbers
            .map(|number| layer(loader, number, precision, &mut packed))
            .collect::<Option<Result<Vec<_>>>>();
        match layers {
            Some(layers) if packed.at() == end => return layers,
            _ => folder.refuse(&name, "have another length than their network"),
        }
    }
    let layers = load_layers(loader)?;
    folder.put(&name, |out| {
        let linears = layers
            .iter()
            .flat_map(|layer| [&layer.qkv, &layer.out, &layer.up, &layer.down]);
        linears.into_iter().try_for_each(|linear| linear.write(out))
    });
    Ok(layers)
}

/// Everything that determines the bytes: program, layouts, weights, instructions, and the number
/// format of each part.
fn name(
    loader: &Loader<'_>,
    files: &ModelFiles,
    precision: Precision,
    parts: &[Numbers; 4],
) -> Name {
    let layout = loader.isa.set().as_str();
    let Architecture {
        hidden,
        layers,
        intermediate,
        ..
    } = loader.shape;
    let key = Sha256::of_fields(&[
        env!("CARGO_PKG_VERSION").as_bytes(),
        &stored::VERSION.to_le_bytes(),
        files.weights_sha256().as_bytes(),
        layout.as_bytes(),
        format!("{parts:?}").as_bytes(),
        &[hidden, layers, intermediate]
            .map(|n| (n as u64).to_le_bytes())
            .concat(),
    ]);
    let precision = format!("{precision:?}").to_ascii_lowercase();
    Name {
        title: format!("{}.{precision}.{layout}", files.id()),
        key,
    }
}

/// Reads the layer `number`; `None` if too few bytes remain.
fn layer(
    loader: &Loader<'_>,
    number: usize,
    precision: Precision,
    packed: &mut Reader,
) -> Option<Result<Layer>> {
    let (hidden, inner) = (loader.shape.hidden, loader.shape.intermediate);
    let mut linear = |part: Part, inputs: usize, outputs: usize| {
        Some(match loader.numbers(part, precision) {
            Numbers::F32 => Linear::Full(Panels::read(inputs, outputs, packed)?),
            Numbers::Bf16 => {
                Linear::Bf16(bf16::Bf16Matrix::read(loader.isa, inputs, outputs, packed)?)
            }
            Numbers::Int8 => {
                Linear::Int8(int8::Int8Matrix::read(loader.isa, inputs, outputs, packed)?)
            }
        })
    };
    let qkv = linear(Part::Qkv, hidden, 3 * hidden)?;
    let out = linear(Part::Out, hidden, hidden)?;
    let up = linear(Part::Up, hidden, inner)?;
    let down = linear(Part::Down, inner, hidden)?;
    let norms = loader.norms(number);
    Some(norms.map(|[out_norm, down_norm]| Layer {
        qkv,
        out,
        out_norm,
        up,
        down,
        down_norm,
    }))
}
