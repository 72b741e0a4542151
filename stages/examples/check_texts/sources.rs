//! Finds sources below directories, and their languages.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_languages::{by_content, by_name};
use aurora_stages::formats::format_of;

/// Maximum size of a file, in bytes. Larger files are skipped, because texts are checked many times.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// Maximum number of files per extension and per language, evenly spread over all files.
const MAX_FILES: usize = 400;

/// Prints the language and the path of each file.
pub(crate) fn print(roots: &[&str]) -> std::io::Result<()> {
    let mut paths = Vec::new();
    for root in roots {
        walk(Path::new(root), &mut paths)?;
    }
    paths.sort_unstable();
    let mut by_extension: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        let name = path.to_string_lossy();
        // Files whose whole name implies a language, such as `Makefile`, are selected by language.
        let named = if extension_of(&name).is_empty() { format_of(&name).unwrap_or_default() } else { "" };
        by_extension.entry(format!("{named}.{}", extension_of(&name))).or_default().push(path);
    }
    let mut by_language: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in by_extension.values().flat_map(|paths| spread(paths)) {
        let Ok(text) = read_regular_to_string(path, MAX_FILE_BYTES) else { continue };
        let name = path.to_string_lossy();
        if let Some(language) = language_of(&name, &text)
            && !name.contains('\n')
        {
            by_language.entry(language).or_default().push(name.into_owned());
        }
    }
    let mut output = std::io::stdout().lock();
    for (language, paths) in &by_language {
        for path in spread(paths) {
            writeln!(output, "{language}\t{path}")?;
        }
    }
    Ok(())
}

/// Returns an evenly spread sample.
fn spread<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(MAX_FILES).max(1))
}

/// Collects the regular files of a suitable size. Symbolic links are not followed.
fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(&entry.path(), found)?;
        } else if kind.is_file() && (1..=MAX_FILE_BYTES).contains(&entry.metadata()?.len()) {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn language_of(path: &str, text: &str) -> Option<&'static str> {
    let by_text = by_content(extension_of(path), text);
    let by_path = || by_name(format_of(path)?);
    by_text.or_else(by_path).map(|language| language.name)
}

fn extension_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
