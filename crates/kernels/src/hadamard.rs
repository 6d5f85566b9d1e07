//! Turns rows, that is, multiplies them by an orthogonal matrix, before they are rounded to bytes.
//!
//! A row between two layers of a network has a few numbers that are many times larger than the
//! others, and a rounding step large enough for them is too coarse for the rest. If the row is
//! multiplied by an orthogonal matrix whose entries all have the same absolute value, every number
//! becomes a signed sum of all of them: there are no outliers any more, and the same 256 codes are
//! closer together. The product does not change, because the weights are turned in the same way:
//!
//! `x·w = (H·x)·(H·w) / n` where `H·Hᵀ = n`
//!
//! `H` is Sylvester's Hadamard matrix, which consists only of signs, so turning costs `log₂ n`
//! additions per number and nothing else is rounded. A row is turned in blocks of [`block`]
//! numbers. (The idea comes from QuaRot, Ashkboos et al. 2024; here nothing stays turned between
//! products, so it works after any layer norm.)

/// Maximum size of one block: eight registers of 512 bits. Larger ones showed no benefit.
pub(crate) const MAX_BLOCK: usize = 128;

/// Block size for a row of `width`: the largest power of two that divides it, at most [`MAX_BLOCK`].
pub(crate) const fn block(width: usize) -> usize {
    let even = 1 << width.trailing_zeros();
    if even < MAX_BLOCK { even } else { MAX_BLOCK }
}

/// Turns each block of `row` by `H`, without scaling. All sets give the same bits.
#[inline(always)]
pub(crate) fn turn(row: &mut [f32]) {
    let width = block(row.len());
    if width < MAX_BLOCK {
        for block in row.chunks_exact_mut(width) {
            let mut distance = width / 2;
            while distance > 0 {
                apart(block, distance);
                distance /= 2;
            }
        }
        return;
    }
    // The compiler knows the distances here, which saves two thirds of the time with registers of
    // 512 bits.
    for block in row.as_chunks_mut::<MAX_BLOCK>().0 {
        apart(block, 64);
        apart(block, 32);
        apart(block, 16);
        apart(block, 8);
        for line in block.as_chunks_mut().0 {
            within::<4>(line);
            within::<2>(line);
            within::<1>(line);
        }
    }
}

/// Sums and differences of numbers that are `distance` apart.
#[inline(always)]
fn apart(block: &mut [f32], distance: usize) {
    for both in block.chunks_exact_mut(2 * distance) {
        let (first, second) = both.split_at_mut(distance);
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
}

/// Sums and differences within a register, where the compiler uses shuffles.
#[inline(always)]
fn within<const DISTANCE: usize>(line: &mut [f32; 8]) {
    let old = *line;
    for (i, x) in line.iter_mut().enumerate() {
        *x = if i & DISTANCE == 0 {
            old[i] + old[i + DISTANCE]
        } else {
            old[i - DISTANCE] - old[i]
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_power_of_two_that_divides_the_row() {
        let found = [1, 2, 3, 40, 96, 312, 384, 768, 1536].map(block);
        assert_eq!(found, [1, 2, 1, 8, 32, 8, 128, 128, 128]);
    }

    #[test]
    fn turning_multiplies_each_block_by_signs_and_twice_is_a_multiple() {
        for width in [1, 2, 3, 8, 24, 32, 64, 96, 384] {
            let row: Vec<f32> = (0..width).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
            let mut turned = row.clone();
            turn(&mut turned);
            let block = block(width);
            for (i, found) in turned.iter().enumerate() {
                let own = &row[i / block * block..][..block];
                // Sylvester's matrix: the sign is the parity of the bits set in both row and
                // column.
                let sign = |j: usize| {
                    if ((i % block) & j).count_ones().is_multiple_of(2) {
                        1.0
                    } else {
                        -1.0
                    }
                };
                assert_eq!(
                    *found,
                    own.iter()
                        .enumerate()
                        .map(|(j, x)| sign(j) * x)
                        .sum::<f32>(),
                    "{width}: {i}"
                );
            }
            turn(&mut turned);
            assert!(
                turned
                    .iter()
                    .zip(&row)
                    .all(|(found, x)| *found == x * block as f32),
                "{width}"
            );
        }
    }
}
