//! Reduces a text with a finding to a small text with the same finding.

/// Maximum length of a text that is also reduced character by character. Longer texts are reduced only line by line.
const MAX_CHARACTERS: usize = 8_000;

/// Removes lines, then characters, from a text as long as `is_found` returns true, and returns the smallest text. Stops
/// early when `is_over` returns true. `is_found` must return true for `text`.
pub(crate) fn minimise(
    text: &str,
    is_over: &dyn Fn() -> bool,
    is_found: &mut dyn FnMut(&str) -> Result<bool, String>,
) -> Result<String, String> {
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let few = reduce(lines, is_over, is_found)?.concat();
    if few.chars().count() > MAX_CHARACTERS {
        return Ok(few);
    }
    let characters = few.chars().map(String::from).collect();
    Ok(reduce(characters, is_over, is_found)?.concat())
}

/// Removes runs of parts, long runs first, until no single part can be removed. This is delta debugging (Zeller,
/// Hildebrandt: Simplifying and isolating failure-inducing input, 2002), restricted to complements.
fn reduce(
    mut parts: Vec<String>,
    is_over: &dyn Fn() -> bool,
    is_found: &mut dyn FnMut(&str) -> Result<bool, String>,
) -> Result<Vec<String>, String> {
    let mut length = (parts.len() / 2).max(1);
    loop {
        let mut is_smaller = false;
        let mut at = 0;
        while at < parts.len() {
            if is_over() {
                return Ok(parts);
            }
            let end = (at + length).min(parts.len());
            let rest = parts[..at].concat() + &parts[end..].concat();
            if is_found(&rest)? {
                parts.drain(at..end);
                is_smaller = true;
            } else {
                at = end;
            }
        }
        if length == 1 && !is_smaller {
            return Ok(parts);
        }
        length = (length / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn irrelevant_parts_are_removed() {
        let text = "one\ntwo (\nthree\nfour )\nfive\n".repeat(20);
        let mut is_found = |text: &str| Ok(text.find('(').is_some_and(|at| text[at..].contains(')')));
        assert_eq!(minimise(&text, &|| false, &mut is_found), Ok("()".to_owned()));
    }
}
