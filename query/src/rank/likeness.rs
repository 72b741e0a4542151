//! Near-duplicate detection: finds texts that differ in only a few tokens.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Number of consecutive tokens in a shingle.
const SHINGLE_TOKENS: usize = 3;
/// Minimum share of common shingles of two near-duplicates. Allows one changed token in sixty, or two in a hundred and
/// twenty.
const MIN_RESEMBLANCE: f32 = 0.9;
/// Minimum number of distinct shingles for a comparison by shingles. Shorter code does not contain enough evidence.
const MIN_SHINGLES: usize = 20;
/// Minimum length of the shorter code, as a share of the length of the longer code. Allows for different indentation.
const MIN_LENGTH_SHARE: f32 = 0.7;
/// Minimum number of common model tokens, as a share of the larger number of model tokens.
const MIN_COMMON_SHARE: f32 = 0.9;
/// Number of model tokens that may differ in addition to the share that [`MIN_COMMON_SHARE`] allows, because copies can
/// have different paths.
const PATH_TOKENS: f32 = 8.0;
/// Number of bits of the filter of model tokens. A chunk has from a few dozen to a few hundred tokens.
const BITS: usize = 512;

/// The text of a chunk, prepared for comparison. The digests are computed at the first comparison that needs them.
pub(crate) struct Likeness {
    text: String,
    doc: String,
    /// Filter of the model tokens of the code, one bit per token; empty without a model.
    tokens: [u64; BITS / 64],
    /// Number of set bits.
    count: u32,
    sketch: OnceCell<Sketch>,
}

/// Digests of a text's tokens.
struct Sketch {
    /// Digest of all tokens in order; equal for texts that differ only in white space.
    whole: u64,
    /// Digests of the distinct shingles of the code without documentation, in ascending order.
    shingles: Vec<u64>,
}

impl Likeness {
    /// Creates the likeness from the text of a chunk, its documentation, and the model tokens of its code.
    pub(crate) fn new(text: impl Into<String>, doc: impl Into<String>, tokens: impl Iterator<Item = u16>) -> Self {
        let mut bits = [0; BITS / 64];
        for token in tokens {
            // Fibonacci hashing (Knuth, "The Art of Computer Programming", 6.4) spreads neighbouring values.
            let bit = (u32::from(token).wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS.ilog2())) as usize;
            bits[bit / 64] |= 1 << (bit % 64);
        }
        let count = bits.iter().map(|word: &u64| word.count_ones()).sum();
        Self { text: text.into(), doc: doc.into(), tokens: bits, count, sketch: OnceCell::new() }
    }

    /// Returns whether two texts differ only in white space, or whether the share of common shingles in their code is
    /// at least [`MIN_RESEMBLANCE`] (Jaccard's coefficient; Broder, "On the resemblance and containment of documents",
    /// 1997). The second test ignores documentation, because methods that override one another share documentation but
    /// not behaviour.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        if !self.may_be_alike(other) {
            return false;
        }
        let (a, b) = (self.sketch(), other.sketch());
        a.whole == b.whole || {
            let fewest = a.shingles.len().min(b.shingles.len());
            fewest >= MIN_SHINGLES && resemblance(&a.shingles, &b.shingles) >= MIN_RESEMBLANCE
        }
    }

    /// Compares lengths and model tokens, which excludes most pairs at a fraction of the cost of a full comparison.
    fn may_be_alike(&self, other: &Self) -> bool {
        let (a, b) = (self.code_bytes(), other.code_bytes());
        if (a.min(b) as f32) < MIN_LENGTH_SHARE * a.max(b) as f32 {
            return false;
        }
        let most = self.count.max(other.count) as f32;
        let both: u32 = self.tokens.iter().zip(&other.tokens).map(|(a, b)| (a & b).count_ones()).sum();
        self.count.min(other.count) == 0 || both as f32 >= MIN_COMMON_SHARE * most - PATH_TOKENS
    }

    fn code_bytes(&self) -> usize {
        self.text.len().saturating_sub(self.doc.len())
    }

    fn sketch(&self) -> &Sketch {
        self.sketch.get_or_init(|| {
            let mut all = FxHasher::default();
            let mut code = Vec::with_capacity(self.text.len() / 3);
            let mut doc = tokens(&self.doc).peekable();
            for token in tokens(&self.text) {
                let digest = digest(token);
                all.write_u64(digest);
                // The documentation occurs in the text in order, between comment marks.
                if doc.peek() == Some(&token) {
                    doc.next();
                } else {
                    code.push(digest);
                }
            }
            let mut shingles: Vec<u64> = code.windows(SHINGLE_TOKENS).map(digest_of_all).collect();
            shingles.sort_unstable();
            shingles.dedup();
            Sketch { whole: all.finish(), shingles }
        })
    }
}

/// Yields words with digits and underscores, and every other visible character as a separate token.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn digest(token: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token.as_bytes());
    hasher.finish()
}

fn digest_of_all(digests: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    digests.iter().for_each(|&digest| hasher.write_u64(digest));
    hasher.finish()
}

/// Returns Jaccard's coefficient of two ascending lists.
fn resemblance(a: &[u64], b: &[u64]) -> f32 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    both as f32 / (a.len() + b.len() - both).max(1) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn alike(a: (&str, &str), b: (&str, &str)) -> bool {
        let like = |(text, doc): (&str, &str)| Likeness::new(text, doc, none());
        let found = like(a).is_alike(&like(b));
        assert_eq!(found, like(b).is_alike(&like(a)));
        found
    }

    /// Returns a function of about seventy tokens.
    fn function(name: &str, kind: &str) -> String {
        format!(
            "def {name}(self, {kind}):\n    total = 0\n    for item in self.items:\n        if item.owner is None:\n            \
             continue\n        total += item.price * item.count\n    if total > self.most:\n        raise \
             ValueError(\"too much\")\n    self.history.append((self.now(), total))\n    return total\n"
        )
    }

    #[test]
    fn a_copy_with_another_name_is_alike_and_an_overload_with_another_body_is_not() {
        let copy = function("total", "args");
        assert!(alike((&copy, ""), (&function("sum_up", "args"), "")));
        let other = copy.replace("price * item.count", "weight + item.load").replace("raise", "return");
        assert!(!alike((&copy, ""), (&other, "")));
    }

    #[test]
    fn short_texts_are_alike_only_if_they_differ_in_white_space() {
        assert!(alike(("get id() {\n\treturn 1;\n}", ""), ("  get id() { return 1; }", "")));
        assert!(!alike(("get id() { return 1; }", ""), ("get id() { return 2; }", "")));
        assert!(!alike(("", ""), ("x", "")));
    }

    #[test]
    fn shared_documentation_does_not_make_other_code_alike() {
        let doc = "Returns the types of source code that this module creates. Later versions may add more types.\n\
                   Some modules return several types; the generator then writes only the first type. See the guide.";
        let method = |body: &str| format!("/**\n * {}\n */\ntypes() {{ return {body}; }}", doc.replace('\n', "\n * "));
        assert!(!alike((&method("this.known()"), doc), (&method("JAVASCRIPT"), doc)));
        let long = function("total", "args");
        let documented = long.replacen("\n", &format!("\n    \"\"\"{doc}\"\"\"\n"), 1);
        assert!(alike(
            (&documented, doc),
            (&long.replacen("\n", "\n    \"\"\"Other words.\"\"\"\n", 1), "Other words.")
        ));
    }

    #[test]
    fn tokens_are_words_and_punctuation() {
        let found: Vec<&str> = tokens("größe_2 = a[0];\n\t«x»").collect();
        assert_eq!(found, ["größe_2", "=", "a", "[", "0", "]", ";", "«", "x", "»"]);
    }

    fn none() -> std::iter::Empty<u16> {
        std::iter::empty()
    }

    proptest! {
        #[test]
        fn white_space_does_not_affect_likeness(words in prop::collection::vec("[a-z]{1,3}|[(){};]", 0..80), gaps in prop::collection::vec("[ \n\t]{1,3}", 80)) {
            let plain = words.join(" ");
            let set: String = words.iter().zip(&gaps).flat_map(|(word, gap)| [word.as_str(), gap]).collect();
            let (a, b) = (Likeness::new(&plain, "", none()), Likeness::new(&set, "", none()));
            prop_assert_eq!(a.sketch().whole, b.sketch().whole);
            prop_assert_eq!(resemblance(&a.sketch().shingles, &b.sketch().shingles), if words.len() < SHINGLE_TOKENS { 0.0 } else { 1.0 });
        }

        #[test]
        fn resemblance_is_jaccards_coefficient(a in prop::collection::btree_set(0u64..60, 0..40), b in prop::collection::btree_set(0u64..60, 0..40)) {
            let expected = a.intersection(&b).count() as f32 / a.union(&b).count().max(1) as f32;
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(resemblance(&a, &b), expected);
        }

        #[test]
        fn the_same_text_below_another_path_is_compared(tokens in prop::collection::btree_set(0u16..30_000, 24..150), here in prop::collection::vec(0u16..30_000, 0..8), there in prop::collection::vec(0u16..30_000, 0..8)) {
            let with = |path: &[u16]| Likeness::new("x", "", tokens.iter().chain(path).copied());
            prop_assert!(with(&here).may_be_alike(&with(&there)));
            let others = Likeness::new("x", "", tokens.iter().map(|token| token + 30_000));
            prop_assert!(!with(&here).may_be_alike(&others));
        }
    }
}
