//! Counts letter pairs that are rare in words and names.

/// The rare letter pairs. For each first letter, a bit set of the second letters, with `a` as the lowest bit. The 353
/// pairs that are not rare make up 96 % of the pairs in 146,000 distinct words from the sources of OpenJDK 17 and Linux
/// 6.1.
const RARE: [u32; 26] = [
    0x2014200, 0x2e9b4c0, 0x2e12240, 0x3c10640, 0x2000200, 0x3e1b6c0, 0x3e1162a, 0x3e1aeee, 0x1510780, 0x3ffffce,
    0x3fbf6ee, 0x2c10280, 0x3e326e0, 0x3c10280, 0x3010290, 0x3e12662, 0x3efffff, 0x2c10280, 0x2a10240, 0x2810640,
    0x3f14680, 0x3fbaeee, 0x3f99eee, 0x3777eca, 0x3f30eeb, 0x3fffeee,
];

/// Returns the number of pairs of adjacent letters in a value, and the number of rare pairs among them.
pub(crate) fn count(value: &[u8]) -> (usize, usize) {
    let letter = |byte: u8| byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'));
    let pairs = value.windows(2).filter_map(|pair| Some((letter(pair[0])?, letter(pair[1])?)));
    pairs.fold((0, 0), |(all, rare), (first, second)| (all + 1, rare + (RARE[first] >> second & 1) as usize))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn words_have_few_rare_pairs() {
        assert_eq!(count(b"nextTokenFromInputStream"), (23, 0));
        assert_eq!(count(b"qz0dgfcolvx"), (8, 4));
        assert_eq!(count(b"a1b2"), (0, 0));
    }
}
