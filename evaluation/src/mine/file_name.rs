//! What the name of a file gives away.

/// The names that a path consists of, at its end.
pub(crate) struct FileName<'p> {
    /// The name of the file: `http_client.spec.ts`.
    pub(crate) file: &'p str,
    /// The same without its last extension.
    base: &'p str,
    /// The same without all extensions.
    stem: &'p str,
    /// The directory's own name.
    directory: &'p str,
}

impl<'p> FileName<'p> {
    /// Those of a path with `/`.
    pub(crate) fn of(path: &'p str) -> Self {
        let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = directories.rsplit('/').next().unwrap_or_default();
        let visible = file.trim_start_matches('.');
        let base = visible.rsplit_once('.').map_or(visible, |(base, _)| base);
        let stem = visible.split('.').next().unwrap_or(visible);
        Self { file, base, stem, directory }
    }

    /// Whether the file has the name of a type or module, however the words of both are joined.
    pub(crate) fn is_named_after(&self, documented: &str) -> bool {
        let simple = folded(documented.rsplit(['.', ':', '\\']).next().unwrap_or(documented));
        !simple.is_empty() && (simple == folded(self.base) || simple == folded(self.stem))
    }

    /// Whether a word, or its part after the last dot, is the name of the file or of its directory.
    pub(crate) fn is(&self, word: &str) -> bool {
        let word = word.trim_end_matches([':', ',', '.']);
        let word = folded(word.rsplit(['.', ':', '/', '\\']).next().unwrap_or(word));
        !word.is_empty() && [self.base, self.stem, self.directory].iter().any(|name| folded(name) == word)
    }

    /// Whether a text holds the name of the file or its directory, or `documented`: one that is more than a plain word.
    pub(crate) fn is_given_away_by(&self, text: &str, documented: Option<&str>) -> bool {
        let names = [Some(self.base), Some(self.stem), Some(self.directory), documented].into_iter().flatten();
        let names: Vec<String> = names.filter(|name| is_compound(name)).map(folded).collect();
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$'));
        words.map(folded).any(|word| names.contains(&word))
    }
}

/// Letters and digits in lower case.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a name is more than a plain word.
pub(crate) fn is_compound(name: &str) -> bool {
    let bare = name.trim_matches(['_', '-']);
    bare.contains(['_', '-', '.'])
        || bare.chars().skip(1).any(char::is_uppercase)
        || bare.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_types_and_modules() {
        for (path, documented, expected) in [
            ("src/RetryPolicy.java", "RetryPolicy", true),
            ("lib/retry_policy.ex", "Net.RetryPolicy", true),
            ("src/retry.policy.ts", "RetryPolicy", true),
            ("src/Retry.Policy.cs", "Retry", true),
            ("src/retry.rs", "RetryPolicy", false),
            (".rs", "", false),
        ] {
            assert_eq!(FileName::of(path).is_named_after(documented), expected, "{path}");
        }
    }

    #[test]
    fn compound_names_give_a_file_away() {
        for (path, text, expected) in [
            ("net/retry-policy.ts", "Rules of retry-policy objects", true),
            ("net/retry_policy.py", "Rules of RetryPolicy objects", true),
            ("net/retry_policy.py", "The retry policy of requests", false),
            ("retry_policy/mod.rs", "Everything of `retry_policy` in one place", true),
            ("net/retry.py", "When to retry a request", false),
        ] {
            assert_eq!(FileName::of(path).is_given_away_by(text, None), expected, "{path}: {text}");
        }
        assert!(FileName::of("net/retry.py").is_given_away_by("What a RetryPolicy allows", Some("RetryPolicy")));
    }
}
