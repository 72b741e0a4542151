//! Functions for paths relative to the root of a project, separated by `/`.

/// Iterates over a directory and all its ancestors, up to the root.
pub(super) fn above(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |&below| (!below.is_empty()).then(|| directory_of(below)))
}

/// Returns the directory of a path; empty for the root.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(super) fn join(directory: &str, path: &str) -> String {
    if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Removes `.` and `..` from a path. Returns `None` if the path leads out of the project.
pub(super) fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
