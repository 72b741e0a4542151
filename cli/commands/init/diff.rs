//! The differing lines of two texts.

/// Returns the lines between the common start and the common end of two texts: first the removed lines, then the added
/// ones.
pub(super) fn differing_lines<'t>(before: &'t str, after: &'t str) -> Vec<(char, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let gone = old[start..old.len() - end].iter().map(|line| ('-', *line));
    gone.chain(new[start..new.len() - end].iter().map(|line| ('+', *line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_returned() {
        assert_eq!(differing_lines("a\nb\nc\n", "a\nx\ny\nc\n"), [('-', "b"), ('+', "x"), ('+', "y")]);
        assert_eq!(differing_lines("", "a\n"), [('+', "a")]);
        assert!(differing_lines("a\n", "a\n").is_empty());
    }
}
