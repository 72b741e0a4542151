//! The form of a single word: a function word, or a path.

/// English words with a grammatical function and no meaning for code.
const FUNCTION_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do", "does", "each", "for", "from",
    "given", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "not", "of", "on", "or", "that", "the",
    "their", "then", "these", "this", "those", "to", "was", "we", "what", "when", "where", "which", "who", "why",
    "will", "with", "you",
];
/// Extensions by which a word without `/` is recognised as a file name.
const KNOWN_EXTENSIONS: &[&str] = &[
    "c", "cc", "cfg", "cpp", "cs", "css", "go", "h", "hpp", "html", "ini", "java", "js", "json", "jsx", "kt", "md",
    "mjs", "php", "py", "rb", "rs", "rst", "scss", "sh", "sql", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml",
    "yml",
];

/// Returns whether a term is a function word.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(&word)
}

/// Returns whether a word is a path: `a/b/c`, `a/b.py` and `login.py`, but not `and/or` or `1/2`.
pub(crate) fn is_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/._-".contains(c));
    let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && matches!(extension.len(), 1..=4) && KNOWN_EXTENSIONS.contains(&extension)
    });
    has_extension || word.split('/').filter(|part| part.len() > 1).count() > 2
}
