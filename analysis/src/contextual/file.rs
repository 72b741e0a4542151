//! Reading the file of the encoder.

use std::borrow::Cow;
use std::ops::Range;

use aurora_kernels::{HEAD, PANEL, STEP};

use super::encoder::{Encoder, EncoderLayer, Norm, Shape};
use super::linear::Linear;

const MAGIC: &[u8; 8] = b"AURCTX01";
const ALIGNMENT: usize = 64;
/// No dimension of a model that is small enough comes near this.
const MOST: usize = 1 << 16;

/// The encoder in a file, or why there is none.
pub(super) fn read(file: Cow<'static, [u8]>) -> Result<Encoder, String> {
    let ends_early = || "it ends too early".to_owned();
    let rest = file.strip_prefix(MAGIC).ok_or("it does not start with AURCTX01")?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(ends_early)?;
    let json = rest.get(..u32::from_le_bytes(*length) as usize).ok_or_else(ends_early)?;
    let shape: Shape = serde_json::from_slice(json).map_err(|error| format!("its JSON: {error}"))?;
    check(&shape)?;
    let start = (MAGIC.len() + length.len() + json.len()).next_multiple_of(ALIGNMENT);
    let mut floats = Floats { file: &file, at: start };
    let width = shape.dimensions;
    let table_scales = floats.take(shape.rows)?;
    let positions = floats.take(shape.positions * width)?;
    let segments = floats.take(2 * width)?;
    let norm = floats.norm(width)?;
    let mut layers = Vec::new();
    for _ in 0..shape.layers {
        let mut columns = |columns: usize| Ok::<_, String>((floats.take(columns)?, floats.take(columns)?));
        let matrices = [columns(3 * width)?, columns(width)?, columns(shape.inner)?, columns(width)?];
        layers.push((matrices, [floats.norm(width)?, floats.norm(width)?]));
    }
    let projection_scales = floats.take(shape.late)?;
    let word_weights = floats.take(width)?;
    let [word_bias, first, second] = floats.take(3)?[..] else { return Err(ends_early()) };
    let mut matrices = Matrices { file: &file, at: floats.at.next_multiple_of(ALIGNMENT) };
    let table = matrices.take(shape.rows * width)?.start;
    let mut linear = |depth: usize, (scales, bias): (Vec<f32>, Vec<f32>)| {
        let range = matrices.take(depth * scales.len())?;
        Ok::<_, String>(Linear::new(&file, depth, range, scales, &bias))
    };
    let layers = layers.into_iter().map(|([attention, attention_output, intermediate, output], [first, second])| {
        Ok(EncoderLayer {
            attention: linear(width, attention)?,
            attention_output: linear(width, attention_output)?,
            intermediate: linear(width, intermediate)?,
            output: linear(shape.inner, output)?,
            attention_norm: first,
            output_norm: second,
        })
    });
    let layers = layers.collect::<Result<Vec<_>, String>>()?;
    let projection = linear(width, (projection_scales, vec![0.0; shape.late]))?;
    if matrices.at != file.len() {
        return Err(format!("it has {} bytes where {} were expected", file.len(), matrices.at));
    }
    Ok(Encoder {
        shape,
        table,
        table_scales,
        positions,
        segments,
        norm,
        layers,
        projection,
        word_weights,
        word_bias,
        shares: [first, second],
        bytes: file,
    })
}

fn check(shape: &Shape) -> Result<(), String> {
    let Shape { dimensions, layers, inner, positions, late, rows } = *shape;
    let small = [dimensions, layers, inner, positions, late, rows].into_iter().all(|size| (1..=MOST).contains(&size));
    let whole = [3 * dimensions, dimensions, inner, late].into_iter().all(|columns| columns.is_multiple_of(PANEL));
    if small
        && whole
        && dimensions.is_multiple_of(HEAD)
        && dimensions.is_multiple_of(STEP)
        && positions >= 4
        && rows > 2
    {
        Ok(())
    } else {
        Err(format!("its shape cannot be: {shape:?}"))
    }
}

struct Floats<'f> {
    file: &'f [u8],
    at: usize,
}

impl Floats<'_> {
    fn take(&mut self, count: usize) -> Result<Vec<f32>, String> {
        let end = self.at + 4 * count;
        let bytes = self.file.get(self.at..end).ok_or("it ends too early")?;
        self.at = end;
        let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err("a number is not finite".to_owned())
        }
    }

    fn norm(&mut self, width: usize) -> Result<Norm, String> {
        Ok(Norm { scale: self.take(width)?, shift: self.take(width)? })
    }
}

struct Matrices<'f> {
    file: &'f [u8],
    at: usize,
}

impl Matrices<'_> {
    fn take(&mut self, bytes: usize) -> Result<Range<usize>, String> {
        let range = self.at..self.at + bytes;
        self.at = range.end;
        if range.end <= self.file.len() { Ok(range) } else { Err("it ends too early".to_owned()) }
    }
}
