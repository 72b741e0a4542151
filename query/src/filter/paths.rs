//! Path filters: globs relative to the root, paths relative to the current directory, and absolute paths.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::work::WorkBudget;

/// Characters with a special meaning in globs.
const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '!', '\\'];

/// Path patterns. A file is selected if any of them matches.
#[derive(Debug, Clone)]
pub(super) struct PathPatterns {
    given: Vec<String>,
    /// Another directory, in addition to the root, to which paths can be relative.
    from: Option<PathBuf>,
}

/// One interpretation of a pattern as a glob.
struct Reading {
    /// Index of the pattern in `given`.
    pattern: usize,
    /// The pattern relative to the root, with a leading `/` unless it matches at any depth.
    text: String,
}

impl PathPatterns {
    /// Validates the patterns.
    ///
    /// # Errors
    /// Returns [`FilterError::Path`] for the first pattern that is not a valid glob.
    pub(super) fn new(given: Vec<String>, from: Option<PathBuf>) -> Result<Self, FilterError> {
        let patterns = Self { given, from };
        let readings = patterns.given.iter().enumerate();
        let readings = readings.map(|(pattern, given)| Reading { pattern, text: relative_pattern(given) });
        patterns.globs(&readings.collect::<Vec<_>>())?;
        Ok(patterns)
    }

    /// Returns the chunks of all matching files. For each pattern, only the first reading that matches any file counts.
    pub(super) fn select(&self, index: &FilteredIndex<'_>, work: &WorkBudget) -> Result<RoaringBitmap, SelectError> {
        let readings: Vec<Reading> = (0..self.given.len()).flat_map(|at| self.readings(at, index.root)).collect();
        let globs = self.globs(&readings)?;
        let mut found: Vec<Option<RoaringBitmap>> = vec![None; readings.len()];
        let mut matching = Vec::new();
        for file in index.snapshot.files() {
            work.check()?;
            let file = file?;
            globs.matches_into(Path::new(&file.path), &mut matching);
            // Each reading has two consecutive globs, so half of a glob's index is the index of its reading.
            matching.iter_mut().for_each(|at| *at /= 2);
            matching.dedup();
            let is_literal = |reading: &Reading| {
                let rest = reading.text.strip_prefix('/').and_then(|text| file.path.strip_prefix(text));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            matching.extend((0..readings.len()).filter(|at| is_literal(&readings[*at])));
            for at in matching.drain(..) {
                found[at].get_or_insert_default().extend(file.chunks.iter().map(|id| id.0));
            }
        }
        let found = readings.iter().zip(found).filter_map(|(reading, chunks)| Some((reading.pattern, chunks?)));
        let mut of_patterns: Vec<(usize, RoaringBitmap)> = found.collect();
        of_patterns.dedup_by_key(|(pattern, _)| *pattern);
        Ok(of_patterns.into_iter().map(|(_, chunks)| chunks).union())
    }

    /// Checks that each pattern can match a file of at least one index.
    ///
    /// # Errors
    /// Returns [`FilterError::OutsideRoots`] for the first pattern outside all indexed directories.
    pub(super) fn check(&self, indexes: &[FilteredIndex<'_>]) -> Result<(), SelectError> {
        let roots: Vec<&Path> = indexes.iter().filter_map(|index| index.root).collect();
        if roots.is_empty() {
            return Ok(());
        }
        for (at, given) in self.given.iter().enumerate() {
            let mut is_inside = false;
            for index in indexes.iter().filter(|index| index.root.is_some()) {
                let readings = self.readings(at, index.root);
                // A path that begins with `/` may be relative to the root if the root contains its first component.
                is_inside |= match readings.as_slice() {
                    [] => false,
                    [reading] if is_absolute(given) && reading.text == relative_pattern(given) => {
                        first_name_exists(index, reading)?
                    }
                    _ => true,
                };
            }
            if !is_inside {
                let roots = roots.iter().map(|root| root.display().to_string()).collect();
                return Err(FilterError::OutsideRoots { given: given.clone(), roots }.into());
            }
        }
        Ok(())
    }

    /// Returns the interpretations of a pattern for an index of the directory `root`, most likely first; empty if the
    /// pattern lies outside of `root`.
    fn readings(&self, pattern: usize, root: Option<&Path>) -> Vec<Reading> {
        let text = &self.given[pattern];
        let below = |text: String| Reading { pattern, text };
        let is_at_any_depth = !relative_pattern(text).starts_with('/');
        let from_root = || if is_at_any_depth { Some(relative_pattern(text)) } else { normalize(&with_slashes(text)) };
        let Some(root) = root else { return from_root().map(below).into_iter().collect() };
        if is_absolute(text) {
            let inside = below_root(root, &with_slashes(text)).or_else(|| normalize(&with_slashes(text)));
            return inside.map(below).into_iter().collect();
        }
        let from = self.from.as_deref().and_then(|from| from.strip_prefix(root).ok());
        let from = from.map(|from| globset::escape(&from.to_string_lossy().replace('\\', "/")));
        if let Some(from) = from.as_ref().filter(|_| has_dots(text)) {
            // A path with `.` or `..` is relative to the current directory. It may lead out of the root and back into
            // it.
            let there = format!("{from}/{}", with_slashes(text));
            let path = below_root(root, &format!("{}/{there}", with_slashes(&root.to_string_lossy())));
            return path.or_else(|| normalize(&there)).map(below).into_iter().collect();
        }
        let from = from.filter(|from| !is_at_any_depth && !from.is_empty());
        let there = from.and_then(|from| normalize(&format!("{from}/{}", with_slashes(text))));
        [from_root(), there].into_iter().flatten().map(below).collect()
    }

    /// Builds two globs for each reading: one for the path itself and one for everything below it.
    fn globs(&self, readings: &[Reading]) -> Result<GlobSet, FilterError> {
        let error = |given: &str, error: &globset::Error| FilterError::Path {
            given: given.to_owned(),
            reason: error.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        for reading in readings {
            let base = match reading.text.strip_prefix('/') {
                Some("") => "**".to_owned(),
                Some(anchored) => anchored.to_owned(),
                None => format!("**/{}", reading.text),
            };
            for pattern in [format!("{base}/**"), base] {
                let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
                set.add(glob.map_err(|e| error(&self.given[reading.pattern], &e))?);
            }
        }
        set.build().map_err(|e| error(&self.given.join(", "), &e))
    }
}

/// Returns whether the first component of a reading is a glob or exists in the root of an index.
fn first_name_exists(index: &FilteredIndex<'_>, reading: &Reading) -> Result<bool, SelectError> {
    let path = reading.text.trim_start_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    if first.contains(SPECIAL) || first.is_empty() {
        return Ok(true);
    }
    for file in index.snapshot.files() {
        if file?.path.split('/').next() == Some(first) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Converts an absolute path below `root` to a pattern relative to `root`.
fn below_root(root: &Path, path: &str) -> Option<String> {
    let (path, root) = (normalize(path)?, normalize(&with_slashes(root.to_str()?))?);
    let below = if root == "/" { path.as_str() } else { path.strip_prefix(&root)? };
    (below.is_empty() || below.starts_with('/')).then(|| format!("/{}", below.trim_start_matches('/')))
}

/// Interprets a pattern relative to the root. A pattern without `/` matches at any depth, unless it is `.` or `..`. All
/// other patterns match only from the root.
fn relative_pattern(given: &str) -> String {
    let text = with_slashes(given);
    let is_anchored = text.contains('/') || has_dots(&text);
    if is_anchored { normalize(&text).unwrap_or_else(|| "/".to_owned()) } else { text }
}

/// Trims spaces and trailing slashes, and replaces each `\` that does not escape a special character with `/`.
fn with_slashes(given: &str) -> String {
    let mut rest = given.trim().chars().peekable();
    let mut text = String::with_capacity(given.len());
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next_if(|next| SPECIAL.contains(next)) } else { None };
        match escaped {
            Some(next) => text.extend([c, next]),
            None => text.push(if c == '\\' { '/' } else { c }),
        }
    }
    let end = text.trim_end_matches('/').len();
    text.truncate(end.max(usize::from(text.starts_with('/'))));
    text
}

/// Makes a pattern start with `/`, removes empty components and `.`, and resolves `..`. `None` if the pattern leads
/// above the root.
fn normalize(text: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(format!("/{}", names.join("/")))
}

/// Returns whether a pattern has a component `.` or `..`.
fn has_dots(text: &str) -> bool {
    with_slashes(text).split('/').any(|name| matches!(name, "." | ".."))
}

/// Returns whether a path begins with `/` or a drive.
fn is_absolute(text: &str) -> bool {
    let text = with_slashes(text);
    let has_drive = matches!(text.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic());
    text.starts_with('/') || has_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the readings of a pattern for the root `/home/app` and the current directory `from`.
    fn readings(pattern: &str, from: Option<&str>) -> Vec<String> {
        let patterns = PathPatterns::new(vec![pattern.to_owned()], from.map(PathBuf::from)).expect("a pattern");
        patterns.readings(0, Some(Path::new("/home/app"))).into_iter().map(|reading| reading.text).collect()
    }

    #[test]
    fn a_path_is_resolved_against_the_root_first() {
        let nowhere: [&str; 0] = [];
        for pattern in ["src/*.py", "src//*.py", "src/*.py/", " src/*.py ", "/home/app/src/*.py", "lib/../src/*.py"] {
            assert_eq!(readings(pattern, None), ["/src/*.py"], "{pattern}");
        }
        assert_eq!(readings("*.py", Some("/home/app/src")), ["*.py"]);
        assert_eq!(readings("a/*.py", Some("/home/app/s[r]c")), ["/a/*.py", "/s[[]r[]]c/a/*.py"]);
        assert_eq!(readings("./a.py", Some("/home/app/src")), ["/src/a.py"]);
        assert_eq!(readings("../a.py", Some("/home/app/src")), ["/a.py"]);
        assert_eq!(readings(".", Some("/home/app/src")), ["/src"]);
        assert_eq!(readings(".", Some("/home/app")), ["/"]);
        assert_eq!(readings("/home/app", None), ["/"]);
        assert_eq!(readings("a/b", Some("/elsewhere")), ["/a/b"]);
        assert_eq!(readings("./a", None), ["/a"]);
        assert_eq!(readings("../../app/a.py", Some("/home/app/src")), ["/a.py"]);
        assert_eq!(readings("../app/a.py", Some("/home/app")), ["/a.py"]);
        assert_eq!(readings("../../a.py", Some("/home/app/src")), nowhere);
        assert_eq!(readings("../a.py", None), nowhere);
        assert_eq!(readings("/home/application/a.py", None), ["/home/application/a.py"]);
    }

    #[test]
    fn windows_separators_are_accepted() {
        assert_eq!(readings(r"src\auth\a.py", None), ["/src/auth/a.py"]);
        assert_eq!(with_slashes(r"src\[a\]\b"), r"src\[a\]/b");
        assert_eq!(below_root(Path::new(r"C:\work"), "C:/work/a/b").as_deref(), Some("/a/b"));
        assert!(is_absolute(r"C:\work\a") && !is_absolute("a:b"));
    }

    #[test]
    fn patterns_match_as_in_ripgrep() {
        let matches = |pattern: &str, path: &str| {
            let patterns = PathPatterns::new(vec![pattern.to_owned()], None).expect("a pattern");
            patterns.globs(&patterns.readings(0, None)).expect("globs").is_match(path)
        };
        for (pattern, path, expected) in [
            ("*.py", "src/auth/login.py", true),
            ("src/*.py", "src/auth/login.py", false),
            ("src/**/*.py", "src/auth/login.py", true),
            ("src/auth", "src/auth/login.py", true),
            ("src/auth/", "src/auth/login.py", true),
            ("./src", "src/auth/login.py", true),
            ("/src", "src/login.py", true),
            ("/src", "lib/src/login.py", false),
            ("src", "lib/src/login.py", true),
            ("auth", "src/author/login.py", false),
            ("src/{a,b}/**", "src/b/login.py", true),
            (".", "src/b/login.py", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
