//! Maps each line of a chunk's text to a line of its file.
//!
//! The text of a definition usually equals a range of lines of the file. The text of a long type has signatures in
//! place of its members, and module-level code omits the definitions in between. The lines of such texts are searched
//! for in the file.

/// The byte that replaces each byte of a secret in the index.
const MASK: u8 = b'_';

/// Returns the line numbers, from 1, of the lines of `text`, which comes from the lines `first` to `last`.
///
/// If the number of lines differs from the length of this range, the lines of the text are searched for in `file`, in
/// order. A line without a match, or any line if `file` is `None`, has no number.
pub(crate) fn line_numbers(text: &str, (first, last): (u32, u32), file: Option<&str>) -> Vec<Option<u32>> {
    let count = text.lines().count();
    if is_whole(text, (first, last)) {
        return (first..=last).map(Some).collect();
    }
    let Some(file) = file else { return vec![None; count] };
    let span: Vec<&str> =
        file.lines().skip(first.saturating_sub(1) as usize).take((last + 1 - first.min(last)) as usize).collect();
    let mut from = 0;
    text.lines()
        .map(|line| {
            let at = from + span[from..].iter().position(|other| is_same(line.trim_end(), other.trim_end()))?;
            from = at + 1;
            Some(first + at as u32)
        })
        .collect()
}

/// Returns whether a line of a text equals a line of the file. The text may have masks in place of secrets.
fn is_same(line: &str, of_file: &str) -> bool {
    let is_same = |(byte, other): (u8, u8)| byte == other || byte == MASK;
    line.len() == of_file.len() && line.bytes().zip(of_file.bytes()).all(is_same)
}

/// Returns whether the text has as many lines as its range in the file.
pub(crate) fn is_whole(text: &str, (first, last): (u32, u32)) -> bool {
    first > 0 && u64::from(last) + 1 == u64::from(first) + text.lines().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_all_lines_needs_no_file() {
        assert_eq!(line_numbers("a\nb", (4, 5), None), [Some(4), Some(5)]);
        assert_eq!(line_numbers("a\nb", (4, 9), None), [None, None]);
        assert_eq!(line_numbers("", (0, 0), None), []);
    }

    #[test]
    fn lines_of_a_text_with_gaps_are_found_in_the_file() {
        let file = "import x\nclass A:\n    def f(self):\n        return 1\n    def g(self):\n        return 1\n";
        let text = "class A:\n    def f(self):\n    def g(self) -> int:\n        return 1";
        assert_eq!(line_numbers(text, (2, 6), Some(file)), [Some(2), Some(3), None, Some(4)]);
        assert_eq!(line_numbers("class B:\n    def f(self):", (2, 9), Some(file)), [None, Some(3)]);
        assert_eq!(line_numbers("x", (20, 30), Some(file)), [None]);
        assert_eq!(line_numbers("class A:\n    ________(self):", (2, 9), Some(file)), [Some(2), None]);
        assert_eq!(line_numbers("class A:\n    def _(self):", (2, 9), Some(file)), [Some(2), Some(3)]);
    }
}
