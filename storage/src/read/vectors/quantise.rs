//! Quantises vectors to signed bytes symmetrically, with one scale for each vector.

use aurora_kernels::divide_rounded;

/// Maximum magnitude of a component.
const MAX_LEVEL: f32 = 127.0;

/// Returns the scale and the quantised components of a vector. Each component times the scale approximates the original
/// value. Returns `None` if a value is not finite.
pub(crate) fn quantise(vector: &[f32]) -> Option<(f32, Vec<i8>)> {
    if vector.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let peak = vector.iter().fold(0f32, |peak, value| peak.max(value.abs()));
    let scale = peak / MAX_LEVEL;
    if scale < f32::MIN_POSITIVE {
        return Some((0.0, vec![0; vector.len()]));
    }
    let mut row = vec![0; vector.len()];
    divide_rounded(vector, scale, &mut row);
    Some((scale, row))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_error_is_at_most_half_a_step(vector in prop::collection::vec(-10f32..10.0, 1..64)) {
            let (scale, row) = quantise(&vector).expect("all values are finite");
            for (value, &component) in vector.iter().zip(&row) {
                prop_assert!((value - f32::from(component) * scale).abs() <= scale * 0.501);
            }
        }
    }

    #[test]
    fn vectors_that_are_not_finite_are_refused() {
        assert_eq!(quantise(&[1.0, f32::NAN]), None);
        assert_eq!(quantise(&[f32::INFINITY]), None);
        assert_eq!(quantise(&[0.0, 0.0]), Some((0.0, vec![0, 0])));
    }
}
