//! Parts of file names, and how texts refer to a file.

/// The last components of a path.
pub(crate) struct FileName<'p> {
    /// The name of the file, such as `http_client.spec.ts`.
    pub(crate) file: &'p str,
    /// The file name without its last extension, such as `http_client.spec`.
    base: &'p str,
    /// The file name without any extension, such as `http_client`.
    stem: &'p str,
    /// The name of the directory.
    directory: &'p str,
}

impl<'p> FileName<'p> {
    /// Splits a path whose components are separated by `/`.
    pub(crate) fn from_path(path: &'p str) -> Self {
        let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = directories.rsplit('/').next().unwrap_or_default();
        let visible = file.trim_start_matches('.');
        let base = visible.rsplit_once('.').map_or(visible, |(base, _)| base);
        let stem = visible.split('.').next().unwrap_or(visible);
        Self { file, base, stem, directory }
    }

    /// Returns `true` if the file is named after the type or module `documented`, ignoring case and word separators.
    pub(crate) fn is_named_after(&self, documented: &str) -> bool {
        let simple = fold(documented.rsplit(['.', ':', '\\']).next().unwrap_or(documented));
        !simple.is_empty() && (simple == fold(self.base) || simple == fold(self.stem))
    }

    /// Returns `true` if a word, or the part after its last dot, is the name of the file or of its directory.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        let word = word.trim_end_matches([':', ',', '.']);
        let word = fold(word.rsplit(['.', ':', '/', '\\']).next().unwrap_or(word));
        !word.is_empty() && [self.base, self.stem, self.directory].iter().any(|name| fold(name) == word)
    }

    /// Returns `true` if a text contains a compound name that reveals the file: the name of the file, the name of its
    /// directory, or `documented`.
    pub(crate) fn is_given_away_by(&self, text: &str, documented: Option<&str>) -> bool {
        let names = [Some(self.base), Some(self.stem), Some(self.directory), documented].into_iter().flatten();
        let names: Vec<String> = names.filter(|name| is_compound(name)).map(fold).collect();
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$'));
        words.map(fold).any(|word| names.contains(&word))
    }
}

/// Returns the letters and digits of a name in lower case.
fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns `true` if a name is compound, which means that it contains separators, digits, or capitals after the first
/// character.
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
            assert_eq!(FileName::from_path(path).is_named_after(documented), expected, "{path}");
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
            assert_eq!(FileName::from_path(path).is_given_away_by(text, None), expected, "{path}: {text}");
        }
        assert!(FileName::from_path("net/retry.py").is_given_away_by("What a RetryPolicy allows", Some("RetryPolicy")));
    }
}
