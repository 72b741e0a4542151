//! Checks that links between pages of the documentation lead to files and headings that exist.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

#[test]
fn every_link_target_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "xtask/model/README.md"];
    let mut pages = pages.map(|page| root.join(page)).to_vec();
    pages_below(&root.join("docs"), &mut pages);
    let texts: BTreeMap<PathBuf, String> = pages
        .into_iter()
        .map(|page| (page.clone(), std::fs::read_to_string(&page).expect("the file can be read")))
        .collect();
    let mut broken = Vec::new();
    for (page, text) in &texts {
        for link in links(text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { plain(&page.with_file_name(file)) };
            let has_heading = heading.is_empty()
                || texts.get(&target).is_some_and(|text| headings(text).any(|known| anchor(known) == heading));
            if !target.exists() || !has_heading {
                broken.push(format!("{}: {link}", page.strip_prefix(root).unwrap_or(page).display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

fn pages_below(directory: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// Returns the targets of links of the form `[text](target)` outside of code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let lines =
        outside_code(text).flat_map(|line| line.split('`').step_by(2).flat_map(|part| part.split("](").skip(1)));
    // Lines are split at backticks. If the text of a link is code, the target is at the beginning of the next part.
    let after_code = outside_code(text).flat_map(|line| line.split("`](").skip(1));
    lines.chain(after_code).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    outside_code(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim())
}

fn outside_code(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchor of a heading, as GitHub generates it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Resolves `.` and `..` in a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
