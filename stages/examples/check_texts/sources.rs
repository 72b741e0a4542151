//! Sources below directories, and their languages.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_languages::{by_content, by_name};
use aurora_stages::formats::format_of;

/// Larger files are left out: texts are checked many times.
const LARGEST: u64 = 64 << 10;
/// Most files of one extension, and of one language, evenly spread over all of them.
const MOST: usize = 400;

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
        // Files whose name tells their language, such as `Makefile`, are chosen by language.
        let named = if extension_of(&name).is_empty() { format_of(&name).unwrap_or_default() } else { "" };
        by_extension.entry(format!("{named}.{}", extension_of(&name))).or_default().push(path);
    }
    let mut by_language: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in by_extension.values().flat_map(|paths| spread(paths)) {
        let Ok(text) = read_regular_to_string(path, LARGEST) else { continue };
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

/// Some of many.
fn spread<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(MOST).max(1))
}

/// Regular files of a fitting size. Symbolic links are not followed.
fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(&entry.path(), found)?;
        } else if kind.is_file() && (1..=LARGEST).contains(&entry.metadata()?.len()) {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn language_of(path: &str, text: &str) -> Option<&'static str> {
    let of_text = by_content(extension_of(path), text);
    let of_name = || by_name(format_of(path)?);
    of_text.or_else(of_name).map(|language| language.name)
}

fn extension_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
