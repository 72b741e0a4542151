//! Finds definitions with regular expressions, line by line.

use std::path::Path;

use regex::Regex;

use super::definition::Definition;
use super::grep::git_grep;

/// Table of patterns for definitions of functions, methods and types, by language and file extension. `benches/finding`
/// also reads this table.
const PATTERNS: &str = include_str!("patterns.tsv");

/// Names of directories with third-party sources. Their files are ignored here, because `aur` does not index them.
const VENDORED: &[&str] = &["node_modules", "third_party", "vendor"];

/// Returns the definitions below a directory.
pub(super) fn definitions(root: &Path) -> Result<Vec<Definition<'_>>, String> {
    definitions_in(root, files(root)?)
}

/// Returns the definitions in some files of a directory.
pub(super) fn definitions_in(root: &Path, paths: Vec<String>) -> Result<Vec<Definition<'_>>, String> {
    let patterns = patterns()?;
    let mut definitions = Vec::new();
    for path in paths {
        let extension = path.rsplit('.').next().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let mut matching = patterns.iter().filter(|(_, extensions, _)| extensions.contains(&extension));
            let found = matching.find_map(|(language, _, regex)| Some((language, regex.captures(line)?)));
            let Some((language, name)) = found.and_then(|(language, groups)| Some((language, groups.get(1)?))) else {
                continue;
            };
            definitions.push(Definition {
                language,
                root,
                name: name.as_str().into(),
                path: path.clone(),
                line: number as u64 + 1,
            });
        }
    }
    Ok(definitions)
}

/// A row of the table: language, extensions and expression.
type Row = (&'static str, Vec<&'static str>, Regex);

/// Returns the rows of the table.
fn patterns() -> Result<Vec<Row>, String> {
    let rows = PATTERNS.lines().filter(|row| !row.starts_with('#'));
    let parsed = rows.map(|row| {
        let [language, extensions, pattern] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("a row of `patterns.tsv` does not have three columns: {row}"));
        };
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        Ok((language, extensions.split(' ').collect(), regex))
    });
    parsed.collect()
}

/// Returns the paths of the text files of a directory, without third-party sources. The directory need not be a
/// repository.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let listing = git_grep(root, &["-l", "-z", "-e", "", "--", ".", ":!.aurora"])?;
    let is_own = |path: &&str| !path.is_empty() && !path.split('/').any(|part| VENDORED.contains(&part));
    Ok(listing.split('\0').filter(is_own).map(str::to_owned).collect())
}
