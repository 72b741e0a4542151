//! Finds the property tests in the sources, so that no list has to be maintained.

use std::process::Command;

use regex::Regex;

use crate::cargo::project;

/// Returns the names of all property tests.
pub(crate) fn tests() -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(project()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs"]);
    let listed = git.output().map_err(|error| format!("git: {error}"))?;
    let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
    let read = |path: &str| std::fs::read_to_string(project().join(path)).unwrap_or_default();
    Ok(paths.split_terminator('\0').flat_map(|path| property_tests_in(&read(path))).collect())
}

/// Returns the names of the property tests in the source of a file.
fn property_tests_in(source: &str) -> Vec<String> {
    let head = Regex::new(r"(?s)^.{0,200}?\bfn (\w+)\(([^{]*?)\)\s*(?:->[^{]*)?\{").expect("the pattern is valid");
    let drawn = |piece: &str| {
        let head = head.captures(piece)?;
        let is_drawn = head[2].contains(" in ") || head[2].contains(": ");
        let by_hand = || piece.split("\n}").next().is_some_and(|body| body.contains("TestRunner::new"));
        (is_drawn || by_hand()).then(|| head[1].to_owned())
    };
    source.split("#[test]").skip(1).filter_map(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::property_tests_in;

    #[test]
    fn property_tests_are_found() {
        let source = "
            #[test]
            fn plain() { let a: u32 = 1; for b in 0..a {} }
            proptest! {
                #[test]
                fn drawn(a in 0..3u32) {}
                #[test]
                #[cfg(unix)]
                fn drawn_from_two(
                    a in prop::collection::vec(any::<u8>(), 0..9),
                    b in \"[a-z]*\",
                ) { check(a); }
            }
            #[test]
            fn by_hand() { TestRunner::new(config).run(); }";
        assert_eq!(property_tests_in(source), ["drawn", "drawn_from_two", "by_hand"]);
    }
}
