//! Reads weights from a safetensors file, as f32 for use by the network.
//!
//! The word table is half of a small model, and a query reads only about twenty rows of it, so it
//! stays in the file and rows are converted when they are used. Matrices may be stored in blocks of
//! 4-bit or 8-bit numbers, as one `U8` or `I8` tensor of [rows, bytes per row] (see [`blocks`]).

use std::ops::Range;

use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use half::{bf16, f16};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};

use crate::models::{Bytes, to_verify};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// Blocks of 32 numbers with one scale in half precision, in two formats of ggml.
///
/// `Q4_0`: the scale, then 16 bytes. Byte `j` contains number `j` in its low half and number
/// `j + 16` in its high half, and a number `q` means `(q - 8) · scale`. `Q8_0`: the scale, then 32
/// signed bytes, and a number `q` means `q · scale`.
mod blocks {
    use half::f16;

    /// Numbers of one block.
    pub(super) const NUMBERS: usize = 32;
    /// Bytes of one block of 4-bit numbers.
    pub(super) const BYTES_OF_4_BITS: usize = 2 + NUMBERS / 2;
    /// Bytes of one block of 8-bit numbers.
    pub(super) const BYTES_OF_8_BITS: usize = 2 + NUMBERS;

    /// Appends the numbers of whole blocks of 4-bit numbers.
    pub(super) fn append_4_bits(bytes: &[u8], out: &mut Vec<f32>) {
        for block in bytes.as_chunks::<BYTES_OF_4_BITS>().0 {
            let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
            let number = |q: u8| (f32::from(q) - 8.0) * scale;
            out.extend(block[2..].iter().map(|pair| number(pair & 15)));
            out.extend(block[2..].iter().map(|pair| number(pair >> 4)));
        }
    }

    /// Appends the numbers of whole blocks of 8-bit numbers.
    pub(super) fn append_8_bits(bytes: &[u8], out: &mut Vec<f32>) {
        for block in bytes.as_chunks::<BYTES_OF_8_BITS>().0 {
            let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
            out.extend(
                block[2..]
                    .iter()
                    .map(|q| f32::from(q.cast_signed()) * scale),
            );
        }
    }
}

/// The number format of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    F32,
    F16,
    Bf16,
    /// `Q4_0`, see [`blocks`].
    Blocks4,
    /// `Q8_0`, see [`blocks`].
    Blocks8,
}

impl Written {
    /// Bytes in one row of `width` numbers.
    fn row_bytes(self, width: usize) -> usize {
        match self {
            Self::F32 => width * 4,
            Self::F16 | Self::Bf16 => width * 2,
            Self::Blocks4 => width / blocks::NUMBERS * blocks::BYTES_OF_4_BITS,
            Self::Blocks8 => width / blocks::NUMBERS * blocks::BYTES_OF_8_BITS,
        }
    }
}

/// Prefixes of BERT's tensor names in files of networks that contain a BERT.
const PREFIXES: [&str; 2] = ["bert.", "roberta."];

/// The tensors of one file, by name.
pub(super) struct Tensors {
    id: String,
    bytes: Bytes,
    metadata: Metadata,
    /// Where the data begins, after the header.
    data: usize,
    /// The prefix of every name: `""`, or one of [`PREFIXES`].
    prefix: &'static str,
}

/// One matrix that stays in the file; its rows are converted one by one.
pub(super) struct Table {
    bytes: Bytes,
    span: Range<usize>,
    written: Written,
    width: usize,
}

impl Tensors {
    /// Reads the header of the weights of the model `id`.
    ///
    /// Errors: `MODEL_INVALID` for a file that is not safetensors, or cut short.
    pub(super) fn open(id: &str, bytes: &Bytes) -> Result<Self> {
        // This checks, too, that the data is as long as the header says.
        let (header, metadata) = SafeTensors::read_metadata(bytes.as_slice())
            .map_err(|e| invalid(id, &format!("its weights are not a safetensors file ({e})")))?;
        let prefix = PREFIXES
            .iter()
            .find(|prefix| has_words(&metadata, prefix))
            .copied()
            .unwrap_or_default();
        Ok(Self {
            id: id.to_owned(),
            bytes: bytes.clone(),
            metadata,
            data: header + size_of::<u64>(),
            prefix,
        })
    }

    /// The same tensors under their full names, for tensors that are not part of the BERT.
    pub(super) fn without_prefix(mut self) -> Self {
        self.prefix = "";
        self
    }

    /// The position of the tensor `name` with this shape in the file, and its number format.
    fn find(&self, name: &str, shape: &[usize]) -> Result<(Range<usize>, Written)> {
        let info = self
            .metadata
            .info(&format!("{}{name}", self.prefix))
            .ok_or_else(|| invalid(&self.id, &format!("its weights hold no `{name}`")))?;
        let written = match info.dtype {
            Dtype::F32 => Written::F32,
            Dtype::F16 => Written::F16,
            Dtype::BF16 => Written::Bf16,
            Dtype::U8 => Written::Blocks4,
            Dtype::I8 => Written::Blocks8,
            other => {
                return Err(invalid(
                    &self.id,
                    &format!("`{name}` holds {other:?}, not floats"),
                ));
            }
        };
        let stored = match (written, shape) {
            (Written::Blocks4 | Written::Blocks8, [rows, width])
                if width.is_multiple_of(blocks::NUMBERS) =>
            {
                vec![*rows, written.row_bytes(*width)]
            }
            _ => shape.to_vec(),
        };
        if info.shape != stored {
            return Err(invalid(
                &self.id,
                &format!("`{name}` has shape {:?}, not {stored:?}", info.shape),
            ));
        }
        let (start, end) = info.data_offsets;
        Ok((self.data + start..self.data + end, written))
    }

    /// The shape of the tensor `name`, if the file has it.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        let info = self.metadata.info(&format!("{}{name}", self.prefix))?;
        Some(&info.shape)
    }

    /// The numbers of the tensor `name`, of any shape; `None` if the file does not have it.
    ///
    /// Errors: `MODEL_INVALID` for a format that is neither a float nor a signed integer.
    pub(super) fn numbers(&self, name: &str) -> Option<Result<Vec<f64>>> {
        let info = self.metadata.info(&format!("{}{name}", self.prefix))?;
        let (start, end) = info.data_offsets;
        let bytes = self
            .bytes
            .as_slice()
            .get(self.data + start..self.data + end)?;
        Some(match info.dtype {
            Dtype::F64 => Ok(each(bytes, f64::from_le_bytes)),
            Dtype::F32 => Ok(each(bytes, |b| f64::from(f32::from_le_bytes(b)))),
            Dtype::F16 => Ok(each(bytes, |b| f16::from_le_bytes(b).to_f64())),
            Dtype::I64 => Ok(each(bytes, |b| i64::from_le_bytes(b) as f64)),
            Dtype::I32 => Ok(each(bytes, |b| f64::from(i32::from_le_bytes(b)))),
            other => {
                let reason = format!("`{name}` holds {other:?}, not floats or integers");
                Err(invalid(&self.id, &reason))
            }
        })
    }

    /// Names and shapes of all float tensors, without those outside the BERT.
    pub(super) fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let named = |(name, info): (String, &TensorInfo)| {
            let name = name.strip_prefix(self.prefix)?.to_owned();
            shape_of(info).map(|shape| (name, shape))
        };
        self.metadata
            .tensors()
            .into_iter()
            .filter_map(named)
            .collect()
    }

    /// Appends the tensor `name` of this shape to `out`, as f32.
    pub(super) fn append(&self, name: &str, shape: &[usize], out: &mut Vec<f32>) -> Result<()> {
        let (span, written) = self.find(name, shape)?;
        let bytes = self
            .bytes
            .as_slice()
            .get(span)
            .ok_or_else(|| invalid(&self.id, "its weights are cut short"))?;
        append_f32(bytes, written, out);
        Ok(())
    }

    /// The tensor `name` of this shape, as f32.
    pub(super) fn read(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let mut out = Vec::with_capacity(shape.iter().product());
        self.append(name, shape, &mut out)?;
        Ok(out)
    }

    /// The matrix `name`, which stays in the file.
    pub(super) fn table(&self, name: &str, rows: usize, width: usize) -> Result<Table> {
        let (span, written) = self.find(name, &[rows, width])?;
        Ok(Table {
            bytes: self.bytes.clone(),
            span,
            written,
            width,
        })
    }
}

/// Whether the table of words has this prefix.
fn has_words(metadata: &Metadata, prefix: &str) -> bool {
    let name = format!("{prefix}embeddings.word_embeddings.weight");
    metadata.info(&name).is_some()
}

/// The shape of a tensor of numbers; `None` for other kinds.
fn shape_of(info: &TensorInfo) -> Option<Vec<usize>> {
    match (info.dtype, info.shape.as_slice()) {
        (Dtype::F32 | Dtype::F16 | Dtype::BF16, shape) => Some(shape.to_vec()),
        (Dtype::U8, [rows, bytes]) => Some(vec![
            *rows,
            bytes / blocks::BYTES_OF_4_BITS * blocks::NUMBERS,
        ]),
        (Dtype::I8, [rows, bytes]) => Some(vec![
            *rows,
            bytes / blocks::BYTES_OF_8_BITS * blocks::NUMBERS,
        ]),
        _ => None,
    }
}

impl Table {
    /// The whole matrix as it is in the file, if its numbers are little-endian f16.
    pub(super) fn halves(&self) -> Option<&[u8]> {
        self.bytes
            .as_slice()
            .get(self.span.clone())
            .filter(|_| self.written == Written::F16)
    }

    /// Appends row `index` to `out`; `false` if the row does not exist.
    pub(super) fn append_row(&self, index: usize, out: &mut Vec<f32>) -> bool {
        let row = self.written.row_bytes(self.width);
        let start = self.span.start + index.saturating_mul(row);
        let within = start.checked_add(row).filter(|end| *end <= self.span.end);
        match within.and_then(|end| self.bytes.as_slice().get(start..end)) {
            Some(bytes) => {
                append_f32(bytes, self.written, out);
                true
            }
            None => false,
        }
    }
}

/// The numbers of `SIZE` bytes each, as `read` reads them.
fn each<const SIZE: usize>(bytes: &[u8], read: impl Fn([u8; SIZE]) -> f64) -> Vec<f64> {
    bytes
        .as_chunks::<SIZE>()
        .0
        .iter()
        .map(|b| read(*b))
        .collect()
}

/// Converts little-endian numbers; a block at a time, because the half-precision ones go through
/// aligned memory.
fn append_f32(bytes: &[u8], written: Written, out: &mut Vec<f32>) {
    const BLOCK: usize = 4096;
    match written {
        Written::Blocks4 => return blocks::append_4_bits(bytes, out),
        Written::Blocks8 => return blocks::append_8_bits(bytes, out),
        Written::F32 => {
            let numbers = bytes.as_chunks::<4>().0.iter();
            return out.extend(numbers.map(|b| f32::from_le_bytes(*b)));
        }
        Written::F16 | Written::Bf16 => {}
    }
    let mut block = [0u16; BLOCK];
    for part in bytes.as_chunks::<2>().0.chunks(BLOCK) {
        for (to, from) in block.iter_mut().zip(part) {
            *to = u16::from_le_bytes(*from);
        }
        let numbers = &block[..part.len()];
        let start = out.len();
        out.resize(start + part.len(), 0.0);
        if written == Written::Bf16 {
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

/// The failure `MODEL_INVALID` for the model `id`.
pub(super) fn invalid(id: &str, reason: &str) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model `{id}` cannot be used: {reason}."),
    )
    .with_fix(Fix::VerifyModel, to_verify(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_four_bits_are_read_as_they_are_defined() {
        let mut block = f16::from_f32(0.5).to_le_bytes().to_vec();
        block.extend((0..16).map(|j| j | ((15 - j) << 4)));
        let mut numbers = Vec::new();
        append_f32(&block, Written::Blocks4, &mut numbers);
        let wanted: Vec<f32> = (0..16)
            .chain((0..16).rev())
            .map(|q| (q as f32 - 8.0) * 0.5)
            .collect();
        assert_eq!(numbers, wanted);
        assert_eq!(Written::Blocks4.row_bytes(384), 216);
    }

    #[test]
    fn blocks_of_eight_bits_are_read_as_they_are_defined() {
        let mut block = f16::from_f32(0.25).to_le_bytes().to_vec();
        block.extend((-16..16_i8).map(|q| (q * 7).cast_unsigned()));
        let mut numbers = Vec::new();
        append_f32(&block, Written::Blocks8, &mut numbers);
        let wanted: Vec<f32> = (-16..16).map(|q| q as f32 * 7.0 * 0.25).collect();
        assert_eq!(numbers, wanted);
        assert_eq!(Written::Blocks8.row_bytes(384), 408);
    }
}
