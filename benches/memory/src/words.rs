//! Generates words whose frequencies follow Zipf's law.

/// Number of words.
const WORDS: usize = 60_000;
/// Exponent of Zipf's law.
const EXPONENT: f64 = 1.05;

/// The most frequent words, taken from English.
const FREQUENT: &str = "the of and to a in is it you that he was for on are with as his they be at one have this from or had by \
    not but what some we can out other were all there when up use your how said an each she which do their time if will way about \
    many then them would like so these her long make thing see him two has look more day could go come did my no most who over \
    know than call first people may down side been now find any new work part take get place made where after back little only";

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a separate generator for each number of a stream.
    pub(crate) fn for_number(stream: u64, number: usize) -> Self {
        let mut random = Self(stream.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ number as u64);
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns a random number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a random number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// All words, ordered by rank.
pub(crate) struct Words {
    words: Vec<String>,
    /// For each rank, the share of a text's words that have this rank or a better one.
    cumulative: Vec<f64>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let mut words: Vec<String> = FREQUENT.split_whitespace().map(str::to_owned).collect();
        words.extend((words.len()..WORDS).map(made_up));
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=words.len())
            .map(|rank| {
                sum += (rank as f64).powf(-EXPONENT);
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|share| *share /= sum);
        Self { words, cumulative }
    }

    /// Returns the word with the given rank.
    pub(crate) fn get(&self, rank: usize) -> &str {
        &self.words[rank % self.words.len()]
    }

    /// Draws a word according to the frequencies, and returns its rank.
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let share = random.share();
        self.cumulative.partition_point(|&up_to| up_to < share).min(self.words.len() - 1)
    }
}

/// Returns a word that occurs in no other text, made from the number of a run and a number within the run.
pub(crate) fn unique(run: usize, number: usize) -> String {
    made_up(WORDS + 1 + (run % (1 << 40)) * 10_000 + number)
}

/// Returns a pronounceable word that is different for each rank.
fn made_up(rank: usize) -> String {
    const ONSETS: [&str; 16] = ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "st", "tr"];
    const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "io"];
    const CODAS: [&str; 8] = ["", "n", "r", "s", "t", "l", "m", "ng"];
    let mut rest = rank;
    let mut word = String::new();
    while rest > 0 || word.is_empty() {
        word.push_str(ONSETS[rest % 16]);
        word.push_str(VOWELS[rest / 16 % 8]);
        word.push_str(CODAS[rest / 128 % 8]);
        rest /= 1_024;
    }
    word
}
