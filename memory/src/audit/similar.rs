//! Texts with a high Jaccard similarity of their shingles, found with MinHash signatures and locality-sensitive hashing
//! (Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use aurora_memory_policy::Scope;
use aurora_memory_schema::Kind;

/// Number of words in a shingle.
const SHINGLE_WORDS: usize = 3;
/// Number of bands of a signature. Two texts are compared if the values of a band are equal.
const BANDS: usize = 16;
/// Number of values in a band. With 16 bands of 4 values, 99.98 % of the pairs with a similarity of 0.8 are compared,
/// and 3 % of the pairs with a similarity of 0.2.
const ROWS: usize = 4;
/// Minimum similarity of near duplicates.
const MIN_SIMILARITY: f64 = 0.8;
/// Minimum estimated similarity at which texts are read and compared. The standard deviation of an estimate from 64
/// values is 0.05 at a similarity of 0.8.
const MIN_ESTIMATE: f64 = 0.65;
/// Minimum number of shingles of a text. In a shorter text, one different word changes most shingles.
const MIN_SHINGLES: usize = 3;

/// A MinHash signature: the minima of 64 hash functions over the shingles of a text.
type Signature = [u32; BANDS * ROWS];

/// The signatures of texts.
#[derive(Default)]
pub(super) struct SimilarTexts(Vec<(u32, u64, Signature)>);

impl SimilarTexts {
    /// Adds the normalised text of an entry. Only texts of the same group are compared.
    pub(super) fn add(&mut self, index: u32, group: (Kind, Scope, Option<&str>), text: &str) {
        if let Some(signature) = signature(text) {
            let (kind, scope, session) = group;
            self.0.push((index, hash(&(kind.name(), scope.as_str(), session)), signature));
        }
    }

    /// Returns pairs of texts that are probably similar, at most one for each text. Considers the texts that
    /// `is_wanted` selects. Each text is compared with at most one earlier text per band, so the time is linear.
    pub(super) fn pairs(self, is_wanted: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let mut buckets: HashMap<(usize, u64), usize> = HashMap::new();
        let mut pairs = Vec::new();
        for (at, (index, group, signature)) in self.0.iter().enumerate() {
            if !is_wanted(*index) {
                continue;
            }
            let mut best: Option<(f64, u32)> = None;
            for (band, values) in signature.chunks(ROWS).enumerate() {
                let first = *buckets.entry((band, hash(&(group, values)))).or_insert(at);
                if first != at {
                    let (other, _, other_signature) = &self.0[first];
                    let estimate = estimate(signature, other_signature);
                    if estimate >= MIN_ESTIMATE && best.is_none_or(|(best, _)| estimate > best) {
                        best = Some((estimate, *other));
                    }
                }
            }
            pairs.extend(best.map(|(_, other)| (other, *index)));
        }
        pairs
    }

    /// Returns the indexes of the texts in `others` that are probably similar to a text of the same group in `self`.
    pub(super) fn similar_in(&self, others: &Self) -> Vec<u32> {
        let mut buckets: HashMap<(usize, u64), &Signature> = HashMap::new();
        let bands = |signature: &Signature, group: u64| -> Vec<(usize, u64)> {
            signature.chunks(ROWS).enumerate().map(|(band, values)| (band, hash(&(group, values)))).collect()
        };
        for (_, group, signature) in &self.0 {
            for band in bands(signature, *group) {
                buckets.entry(band).or_insert(signature);
            }
        }
        let is_similar = |(_, group, signature): &&(u32, u64, Signature)| {
            let mut found = bands(signature, *group).into_iter().filter_map(|band| buckets.get(&band));
            found.any(|other| estimate(signature, other) >= MIN_SIMILARITY)
        };
        others.0.iter().filter(is_similar).map(|(index, ..)| *index).collect()
    }
}

/// Returns the Jaccard similarity of the shingles of two texts if the texts are near duplicates.
pub(super) fn similarity(a: &str, b: &str) -> Option<f64> {
    let (a, b) = (shingles(a), shingles(b));
    let common = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count() as f64;
    Some(common / (a.len() as f64 + b.len() as f64 - common)).filter(|similarity| *similarity >= MIN_SIMILARITY)
}

/// Returns the signature of a normalised text; `None` if the text is too short to be compared.
fn signature(text: &str) -> Option<Signature> {
    let shingles = shingles(text);
    if shingles.len() < MIN_SHINGLES {
        return None;
    }
    let mut signature = [u32::MAX; BANDS * ROWS];
    let factors: [u64; BANDS * ROWS] = std::array::from_fn(|number| mixed(number as u64 + 1) | 1);
    for shingle in shingles {
        for (least, factor) in signature.iter_mut().zip(&factors) {
            // Multiply-shift hashing of a value whose bits are mixed already.
            *least = (*least).min((shingle.wrapping_mul(*factor) >> 32) as u32);
        }
    }
    Some(signature)
}

/// Returns the estimated Jaccard similarity of two texts.
fn estimate(a: &Signature, b: &Signature) -> f64 {
    let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    equal as f64 / a.len() as f64
}

/// Returns the hashes of the shingles of a normalised text, sorted and without duplicates.
pub(super) fn shingles(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<u64> = words.map(hash).collect();
    let shingle = |words: &[u64]| words.iter().fold(0, |hash, word| mixed(hash ^ word));
    let mut shingles: Vec<u64> = words.windows(SHINGLE_WORDS).map(shingle).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// The finaliser of SplitMix64, which is a bijection.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Hashes a value with a fixed key, so that all audits have the same findings.
pub(super) fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: (Kind, Scope, Option<&str>) = (Kind::Note, Scope::User, None);

    fn text(number: usize, change: &str) -> String {
        let words: Vec<String> = (0..40).map(|word| format!("w{}", (number * 31 + word * 7) % 997)).collect();
        format!("{} {change}", words.join(" "))
    }

    #[test]
    fn texts_that_differ_in_few_words_are_paired() {
        let mut similar = SimilarTexts::default();
        for number in 0..200 {
            similar.add(number as u32, GROUP, &text(number, ""));
        }
        similar.add(200, GROUP, &text(17, "and more"));
        similar.add(201, (Kind::Note, Scope::Global, None), &text(18, "and more"));
        let pairs = similar.pairs(|_| true);
        assert!(pairs.contains(&(17, 200)), "{pairs:?}");
        assert!(pairs.iter().all(|(_, index)| *index != 201), "another scope: {pairs:?}");
        assert!(similarity(&text(17, ""), &text(17, "and more")).is_some());
        assert_eq!(similarity(&text(17, ""), &text(60, "")), None);
    }
}
