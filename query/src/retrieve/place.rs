//! Locations in a query: the path of a file, with or without a line.

use aurora_storage::ChunkId;
use roaring::RoaringBitmap;

use crate::query::QueryError;
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::prepared_query::{PreparedQuery, terms_of};
use crate::understand::is_path;
use crate::work::WorkBudget;

/// Maximum number of files that a path may match. A path that matches more files does not count as a location.
const MAX_FILES: usize = 32;
/// Maximum number of files of one index whose paths are compared with the path in the query.
const MAX_EXAMINED: usize = 10_000;
/// Maximum number of locations that are read from one query.
const MAX_LOCATIONS: usize = 8;
/// Maximum number of chunks per file that become candidates if the query gives no line.
const MAX_CHUNKS: usize = 50;

/// A location: a path with an optional line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The path in lower case, with `/` as the separator.
    path: String,
    line: Option<u32>,
}

/// The distance between a chunk and a location. The smallest distance is the best match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocationMatch {
    /// Number of directories that only one of the two paths has: the path of the file and the path in the query.
    directories: usize,
    /// Number of lines between the chunk and the line in the query.
    distance: u32,
    /// Number of lines of the chunk, if the query gives a line.
    lines: u32,
}

impl Location {
    /// Returns the locations in a query: every path with a line, and a path that is the whole query.
    pub(crate) fn all(query: &str) -> Vec<Self> {
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut locations = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/._-[".contains(c));
            let (mut path, mut line) = with_line(word);
            if line.is_none() {
                line = line_in_words(&words[..at], word, &words[at + 1..]);
            }
            if line.is_some() {
                // The URL of a script may contain a query string: `/src/App.tsx?t=1700`.
                path = path.split('?').next().unwrap_or(path);
                path = path.strip_suffix(":line").unwrap_or(path).trim_end_matches(':');
            }
            if !path.contains(']') {
                path = path.trim_start_matches('[');
            }
            let path = path.replace('\\', "/").to_lowercase();
            let path = path.trim_start_matches("./").trim_matches('/');
            let is_whole = words.len() == 1 && !path.contains([':', '(', '#', '$', '<', '>', '=', '*', '"', '`']);
            let is_location = if line.is_some() { path.contains(['.', '/']) } else { is_whole };
            if is_location && !path.is_empty() {
                locations.push(Self { path: path.to_owned(), line });
            }
        }
        locations.truncate(MAX_LOCATIONS);
        locations
    }

    /// Returns the locations of the files that contain the tests of a file by the conventions of languages:
    /// `cart.test.ts`, `test_cart.py`, `CartTest.java`.
    pub(crate) fn tests_of(file: &str) -> Vec<Self> {
        let path = file.replace('\\', "/").to_lowercase();
        let name = path.rsplit('/').next().unwrap_or_default();
        let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
            return Vec::new();
        };
        let prefixed = ["test_", "test"].map(|prefix| format!("{prefix}{stem}"));
        let suffixed = [".test", ".spec", "_test", "_spec", "-test", "-spec", "test", "tests", "spec", "_tests"]
            .map(|suffix| format!("{stem}{suffix}"));
        let locations = prefixed.into_iter().chain(suffixed);
        locations.map(|stem| Self { path: format!("{stem}.{extension}"), line: None }).collect()
    }

    /// Returns whether the text is certainly a path rather than the name of something else.
    pub(crate) fn is_certain(&self) -> bool {
        self.line.is_some() || self.path.contains('/') || is_path(&self.path)
    }

    /// Returns the chunks at this location, each with the position of its index.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or the request is cancelled.
    pub(crate) fn chunks(
        &self,
        roots: &[PreparedQuery<'_>],
        work: &WorkBudget,
    ) -> Result<Vec<(usize, ChunkId, LocationMatch)>, QueryError> {
        let mut found = Vec::new();
        for (at, directories, chunks) in self.files(roots, work)? {
            let root = &roots[at];
            let matched = |distance: u32, lines: u32| LocationMatch { directories, distance, lines };
            let Some(line) = self.line else {
                let best = KeywordSearch::top(std::iter::once((&root.bm25, Some(&chunks))), MAX_CHUNKS)?.concat();
                let first = chunks.iter().take(MAX_CHUNKS - best.len().min(MAX_CHUNKS)).map(ChunkId);
                let ids = best.into_iter().map(|(id, _)| id).chain(first);
                found.extend(ids.map(|id| (at, id, matched(0, 0))));
                continue;
            };
            let mut of_file = Vec::new();
            for id in chunks.into_iter().map(ChunkId) {
                work.check()?;
                let Some(chunk) = root.snapshot.chunk(id)? else { continue };
                let (first, last) = (chunk.line_start(), chunk.line_end());
                let distance = first.saturating_sub(line) + line.saturating_sub(last);
                of_file.push((matched(distance, last.saturating_sub(first)), id));
            }
            let nearest = of_file.iter().map(|(matched, _)| matched.distance).min();
            of_file.retain(|(matched, _)| Some(matched.distance) == nearest);
            found.extend(of_file.into_iter().map(|(matched, id)| (at, id, matched)));
        }
        Ok(found)
    }

    /// Returns the chunks of files that the path may denote, with the number of directories that only one of the two
    /// paths has. The path denotes all files whose path ends with the path of the location. Without such files, it
    /// denotes the files whose path is a suffix of the path of the location. Without such files, and if the location
    /// has a line, it denotes the files with the same name in a directory of the same name.
    fn files(&self, roots: &[PreparedQuery<'_>], work: &WorkBudget) -> Result<FoundFiles, QueryError> {
        let inner = files(roots, &self.path, |path| directories_before(path, &self.path), work)?;
        let Some((_, name)) = self.path.rsplit_once('/').filter(|_| inner.is_empty()) else { return Ok(inner) };
        let outer = files(roots, name, |path| directories_before(&self.path, path), work)?;
        if !outer.is_empty() || self.line.is_none() {
            return Ok(outer);
        }
        files(roots, name, |path| different_directories(path, &self.path), work)
    }
}

/// Chunks of files: the position of the index, the number of directories that only one of the two paths has, and the
/// chunks.
type FoundFiles = Vec<(usize, usize, RoaringBitmap)>;

/// Returns the chunks of each file that has a chunk with all terms of `text`, and for whose path `directories` returns
/// a number. Returns nothing if there are more than [`MAX_FILES`] such files.
fn files(
    roots: &[PreparedQuery<'_>],
    text: &str,
    directories: impl Fn(&str) -> Option<usize>,
    work: &WorkBudget,
) -> Result<FoundFiles, QueryError> {
    let mut files = Vec::new();
    for (at, root) in roots.iter().enumerate() {
        let mut chunks = root.with_all(&terms_of(text))?;
        for _ in 0..MAX_EXAMINED {
            let Some(id) = chunks.min() else { break };
            work.check()?;
            let range = root.snapshot.file_range(ChunkId(id))?;
            chunks.remove_range(..range.end.max(id + 1));
            let Some(chunk) = root.snapshot.chunk(ChunkId(id))? else { continue };
            if let Some(directories) = directories(&chunk.path().to_lowercase()) {
                let mut of_file = RoaringBitmap::new();
                of_file.insert_range(range);
                files.push((at, directories, root.within(of_file)));
            }
            if files.len() > MAX_FILES {
                return Ok(Vec::new());
            }
        }
    }
    Ok(files)
}

/// Returns the number of directories of `path` before its suffix `end`; `None` if `path` does not end with `end`.
fn directories_before(path: &str, end: &str) -> Option<usize> {
    let before = path.strip_suffix(end)?;
    (before.is_empty() || before.ends_with('/')).then(|| before.matches('/').count())
}

/// Returns the number of directories that only one of two paths has, if both end with the same directory and file name.
fn different_directories(path: &str, other: &str) -> Option<usize> {
    let equal = path.rsplit('/').zip(other.rsplit('/')).take_while(|(a, b)| a == b).count();
    let all = path.split('/').count() + other.split('/').count();
    (equal > 1).then(|| all - 2 * equal)
}

/// Splits `a.py:8`, `a.py:8:4`, `a.py:8-12`, `a.py#L8` or `a.py(8)` into the path and the first line.
fn with_line(word: &str) -> (&str, Option<u32>) {
    let ends = [":", ":L", "#L", "("].into_iter().flat_map(|separator| word.match_indices(separator));
    let location =
        ends.filter_map(|(end, separator)| Some((&word[..end], line_at(&word[end + separator.len()..])?))).next();
    location.map_or((word, None), |(path, line)| (path, Some(line)))
}

/// Finds the line of a path in the words around it: `File "a.py", line 8`, `a.php on line 8`, `a.cs:line 8` or
/// `line 8 of a.py`.
fn line_in_words(before: &[&str], word: &str, after: &[&str]) -> Option<u32> {
    let is = |word: &str, words: &[&str]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
    match (before, after) {
        (_, [number, ..]) if word.ends_with(":line") => line_at(number),
        (_, [line, number, ..]) if is(line, &["line", "lines"]) => line_at(number),
        (_, [on, line, number, ..]) if is(on, &["on", "at"]) && is(line, &["line"]) => line_at(number),
        ([.., line, number, of], _) if is(line, &["line", "lines"]) && is(of, &["of", "in"]) => line_at(number),
        _ => None,
    }
}

/// Parses the number at the start of a text if a column, another line or the end of the location follows.
fn line_at(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let is_location = rest.is_empty() || rest.starts_with([':', '-', ',', ')', '.']);
    if is_location { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_parsed_in_every_notation() {
        let location =
            |path: &str, line: u32| Location { path: path.to_owned(), line: Some(line).filter(|&line| line > 0) };
        for (query, expected) in [
            ("src/defs.py:8", location("src/defs.py", 8)),
            ("server.c:7182", location("server.c", 7182)),
            ("./src/App.tsx:10:5", location("src/app.tsx", 10)),
            ("src/a.go#L12-L20", location("src/a.go", 12)),
            ("src\\main.cs:3-9", location("src/main.cs", 3)),
            ("TypeError at run (lib/x.js:10:5)", location("lib/x.js", 10)),
            ("File \"app/models.py\", line 31, in save", location("app/models.py", 31)),
            ("PHP Fatal error: x in /var/www/a.php on line 8", location("var/www/a.php", 8)),
            ("at X.Two() in C:\\src\\Program.cs:line 7", location("c:/src/program.cs", 7)),
            ("line 8 of src/defs.py", location("src/defs.py", 8)),
            ("see src/defs.py:8.", location("src/defs.py", 8)),
            ("[src/defs.py:8]", location("src/defs.py", 8)),
            ("pages/[id].tsx:8", location("pages/[id].tsx", 8)),
            ("App (http://localhost:3000/src/App.tsx?t=17:6:3)", location("http://localhost:3000/src/app.tsx", 6)),
            ("Main.java(12)", location("main.java", 12)),
            ("lib/http.c", location("lib/http.c", 0)),
            ("Makefile", location("makefile", 0)),
        ] {
            assert_eq!(Location::all(query), [expected], "{query}");
        }
        for query in ["how are a.py and b.py related", "error: 404", "std::io:1"] {
            assert_eq!(Location::all(query), [], "{query}");
        }
    }

    #[test]
    fn tests_have_the_name_of_their_file() {
        let paths: Vec<String> = Location::tests_of("src/Cart.ts").into_iter().map(|location| location.path).collect();
        for name in ["cart.test.ts", "cart.spec.ts", "test_cart.ts", "carttest.ts", "cart_test.ts"] {
            assert!(paths.iter().any(|path| path == name), "{name}");
        }
        for name in ["Cart", ".env", ""] {
            assert!(Location::tests_of(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_path_suffix_starts_at_a_component() {
        assert_eq!(directories_before("src/lib/http.c", "lib/http.c"), Some(1));
        assert_eq!(directories_before("lib/http.c", "lib/http.c"), Some(0));
        assert_eq!(directories_before("src/mylib/http.c", "lib/http.c"), None);
        assert_eq!(different_directories("web/src/ui/app.tsx", "http://localhost/src/ui/app.tsx"), Some(4));
        assert_eq!(different_directories("web/app.tsx", "src/app.tsx"), None);
    }
}
