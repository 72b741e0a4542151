//! Inflected forms and base forms of English words: `queries` for `query`, `parse` for `parsed`.
//!
//! The rules also produce strings that are not words; the caller keeps the forms that the index contains.

/// Minimum length in bytes of a word that can be an inflected form.
const MIN_WORD_BYTES: usize = 4;
/// Minimum length in bytes of a base form.
const MIN_BASE_BYTES: usize = 3;

/// Returns the possible base forms of `word`, without `word`: `index` for `indexing`, `query` for `queries`. `word`
/// must be in lower case.
pub(crate) fn bases(word: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if word.len() < MIN_WORD_BYTES || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return found;
    }
    let mut add = |stem: &str, ending: &str| {
        let base = format!("{stem}{ending}");
        if base.len() >= MIN_BASE_BYTES && base != word && !found.contains(&base) {
            found.push(base);
        }
    };
    if let Some(stem) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        add(stem, "y");
        add(stem, "ie");
    } else if let Some(stem) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) {
        // `string` and `need` are not inflected forms.
        if stem.contains(['a', 'e', 'i', 'o', 'u', 'y']) && !stem.ends_with('e') {
            add(stem, "");
            add(stem, "e");
            add(undoubled(stem).unwrap_or(stem), "");
        }
    } else if let Some(stem) = word.strip_suffix("es") {
        add(stem, "e");
        if stem.ends_with(['s', 'x', 'z', 'h', 'o']) {
            add(stem, "");
        }
    } else if let Some(stem) = word.strip_suffix('s').filter(|stem| !stem.ends_with(['s', 'u', 'i'])) {
        add(stem, "");
    }
    found
}

/// Returns the forms of `base`: `parses`, `parsed` and `parsing` for `parse`. `base` must be in lower case.
pub(crate) fn forms(base: &str) -> Vec<String> {
    if base.len() < MIN_BASE_BYTES || !base.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let before_y = base.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    let stem = base.strip_suffix('e').unwrap_or(base);
    let plural = match before_y {
        Some(stem) => format!("{stem}ies"),
        None if base.ends_with(['s', 'x', 'z']) || base.ends_with("ch") || base.ends_with("sh") => format!("{base}es"),
        None => format!("{base}s"),
    };
    let past = match before_y {
        Some(stem) => format!("{stem}ied"),
        None => format!("{stem}ed"),
    };
    vec![plural, past, format!("{stem}ing")]
}

/// Removes a doubled final consonant: `run` for `runn`.
fn undoubled(stem: &str) -> Option<&str> {
    let bytes = stem.as_bytes();
    let (last, rest) = bytes.split_last()?;
    (rest.last() == Some(last) && !b"aeiouls".contains(last)).then(|| &stem[..stem.len() - 1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bases_of_common_words() {
        for (word, base) in [
            ("indexing", "index"),
            ("queries", "query"),
            ("parsed", "parse"),
            ("parses", "parse"),
            ("matches", "match"),
            ("indexes", "index"),
            ("running", "run"),
            ("copied", "copy"),
            ("users", "user"),
            ("calling", "call"),
        ] {
            assert!(bases(word).iter().any(|found| found == base), "{word}: {:?}", bases(word));
        }
        for word in
            ["class", "status", "analysis", "bus", "use", "pass", "redis", "get2s", "étés", "string", "need", "thing"]
        {
            assert!(bases(word).is_empty(), "{word}: {:?}", bases(word));
        }
    }

    proptest! {
        #[test]
        fn a_base_is_found_from_its_forms(base in "[a-z]{3,8}") {
            prop_assume!(base.contains(['a', 'e', 'i', 'o', 'u', 'y']) && !base.ends_with(['s', 'i', 'u', 'e']));
            for form in forms(&base) {
                prop_assert!(bases(&form).contains(&base), "{} of {}", form, base);
            }
        }

        #[test]
        fn no_word_is_its_own_base_or_form(word in "[a-z]{1,12}") {
            prop_assert!(!bases(&word).contains(&word) && !forms(&word).contains(&word));
        }
    }
}
