//! Weights out of a safetensors file, as f32 where the network multiplies with them.
//!
//! The word table is half of a small model and a query looks at twenty rows of it, so it stays in
//! the file and rows are converted when they are used.

use std::ops::Range;

use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use half::{bf16, f16};
use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensors};

use crate::models::Bytes;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The tensors of one file, by name.
pub(super) struct Tensors {
    id: String,
    bytes: Bytes,
    metadata: Metadata,
    /// Where the data begins behind the header.
    data: usize,
    /// What stands before every name (`""` or `"bert."`).
    prefix: &'static str,
}

/// One matrix that stays in the file; its rows are converted one by one.
pub(super) struct Table {
    bytes: Bytes,
    span: Range<usize>,
    dtype: Dtype,
    width: usize,
}

impl Tensors {
    /// Reads the header of the weights of the model `id`.
    ///
    /// Errors: `MODEL_INVALID` for a file that is not safetensors, or cut short.
    pub(super) fn open(id: &str, bytes: &Bytes) -> Result<Self> {
        let broken = |e| invalid(id, &format!("its weights are not a safetensors file ({e})"));
        // This checks, too, that the data is as long as the header says.
        let (header, metadata) = SafeTensors::read_metadata(bytes.as_slice()).map_err(broken)?;
        let prefix = if metadata
            .info("bert.embeddings.word_embeddings.weight")
            .is_some()
        {
            "bert."
        } else {
            ""
        };
        Ok(Self {
            id: id.to_owned(),
            bytes: bytes.clone(),
            metadata,
            data: header + size_of::<u64>(),
            prefix,
        })
    }

    /// Where the tensor `name` of this shape stands in the file, and how its numbers are written.
    fn find(&self, name: &str, shape: &[usize]) -> Result<(Range<usize>, Dtype)> {
        let info = self
            .metadata
            .info(&format!("{}{name}", self.prefix))
            .ok_or_else(|| invalid(&self.id, &format!("its weights hold no `{name}`")))?;
        if info.shape != shape {
            return Err(invalid(
                &self.id,
                &format!("`{name}` has shape {:?}, not {shape:?}", info.shape),
            ));
        }
        if !matches!(info.dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16) {
            return Err(invalid(
                &self.id,
                &format!("`{name}` holds {:?}, not floats", info.dtype),
            ));
        }
        let (start, end) = info.data_offsets;
        Ok((self.data + start..self.data + end, info.dtype))
    }

    /// Appends the tensor `name` of this shape to `out`, as f32.
    pub(super) fn append(&self, name: &str, shape: &[usize], out: &mut Vec<f32>) -> Result<()> {
        let (span, dtype) = self.find(name, shape)?;
        let bytes = self
            .bytes
            .as_slice()
            .get(span)
            .ok_or_else(|| invalid(&self.id, "its weights are cut short"))?;
        append_f32(bytes, dtype, out);
        Ok(())
    }

    /// The tensor `name` of this shape, as f32.
    pub(super) fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let mut out = Vec::with_capacity(shape.iter().product());
        self.append(name, shape, &mut out)?;
        Ok(out)
    }

    /// The matrix `name`, left in the file.
    pub(super) fn table(&self, name: &str, rows: usize, width: usize) -> Result<Table> {
        let (span, dtype) = self.find(name, &[rows, width])?;
        Ok(Table {
            bytes: self.bytes.clone(),
            span,
            dtype,
            width,
        })
    }
}

impl Table {
    /// The whole matrix as the file holds it, when its numbers are little-endian f16.
    pub(super) fn halves(&self) -> Option<&[u8]> {
        self.bytes
            .as_slice()
            .get(self.span.clone())
            .filter(|_| self.dtype == Dtype::F16)
    }

    /// Appends row `index` to `out`; `false` when there is no such row.
    pub(super) fn append_row(&self, index: usize, out: &mut Vec<f32>) -> bool {
        let row = self.width * width_of(self.dtype);
        let start = self.span.start + index.saturating_mul(row);
        let within = start.checked_add(row).filter(|end| *end <= self.span.end);
        match within.and_then(|end| self.bytes.as_slice().get(start..end)) {
            Some(bytes) => {
                append_f32(bytes, self.dtype, out);
                true
            }
            None => false,
        }
    }
}

/// Bytes of one number.
fn width_of(dtype: Dtype) -> usize {
    if dtype == Dtype::F32 { 4 } else { 2 }
}

/// Converts little-endian numbers; a block at a time, because the half-precision ones go through
/// aligned memory.
fn append_f32(bytes: &[u8], dtype: Dtype, out: &mut Vec<f32>) {
    const BLOCK: usize = 4096;
    if dtype == Dtype::F32 {
        out.extend(
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b)),
        );
        return;
    }
    let mut block = [0u16; BLOCK];
    for part in bytes.as_chunks::<2>().0.chunks(BLOCK) {
        for (to, from) in block.iter_mut().zip(part) {
            *to = u16::from_le_bytes(*from);
        }
        let numbers = &block[..part.len()];
        let start = out.len();
        out.resize(start + part.len(), 0.0);
        if dtype == Dtype::BF16 {
            numbers
                .reinterpret_cast::<bf16>()
                .convert_to_f32_slice(&mut out[start..]);
        } else {
            numbers
                .reinterpret_cast::<f16>()
                .convert_to_f32_slice(&mut out[start..]);
        }
    }
}

/// `MODEL_INVALID` about `id`.
pub(super) fn invalid(id: &str, reason: &str) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model `{id}` cannot be used: {reason}."),
    )
    .with_hint(format!("local-agent models verify {id}"))
}
