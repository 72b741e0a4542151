//! Prints the statistics of a language, and the findings.

use std::path::PathBuf;
use std::time::Duration;

use super::checker::Answer;

/// A problem and the text that causes it.
pub(crate) struct Finding {
    pub(crate) language: String,
    pub(crate) what: String,
    /// The file with the text.
    pub(crate) text: PathBuf,
    /// The seed and the number of the text.
    pub(crate) drawn: Option<(u64, u64)>,
}

/// Statistics of the checked texts of a language.
#[derive(Default)]
pub(crate) struct Tally {
    texts: u64,
    bytes: u64,
    limited: u64,
    wrong: u64,
    /// The longest duration of a check, and the number of the text that took it.
    slowest: (Duration, u64),
}

impl Tally {
    pub(crate) fn add(&mut self, answer: &Answer, bytes: usize, took: Duration, case: u64) {
        self.texts += 1;
        self.bytes += bytes as u64;
        self.slowest = self.slowest.max((took, case));
        match answer {
            Answer::Limited(_) => self.limited += 1,
            Answer::Wrong(_) => self.wrong += 1,
            Answer::Sound | Answer::Interrupted => {}
        }
    }

    pub(crate) fn print(&self, language: &str, sources: usize, lasted: Duration, findings: usize) {
        let Self { texts, bytes, limited, wrong, slowest: (slowest, case) } = self;
        let size = bytes >> 20;
        println!(
            "{language}: {texts} texts of {sources} files, {size} MiB in {lasted:.0?}; a limit ended {limited} parses, \
             the slowest text, {case}, took {slowest:.1?}; {wrong} texts with {findings} findings"
        );
    }
}

/// Returns the part of a message that findings of the same kind have in common: the message without numbers and names.
pub(crate) fn kind_of(what: &str) -> String {
    let mut kind = String::new();
    for (index, part) in what.split('`').enumerate() {
        if index % 2 == 0 {
            kind.extend(part.chars().filter(|c| !c.is_ascii_digit()));
        }
    }
    kind.chars().take(160).collect()
}

/// Prints how to repeat each finding and how to add a test for it. Fails if there are findings.
pub(crate) fn conclude(findings: &[Finding]) -> Result<(), String> {
    for (number, Finding { language, what, text, drawn }) in findings.iter().enumerate() {
        println!("\nFinding {} in {language}: {what}", number + 1);
        println!("  to repeat it:  cargo xtask explore grammars --language {language} --input {}", text.display());
        if let Some((seed, case)) = drawn {
            println!("  as drawn:      --language {language} --seed {seed} --case {case}, and the same directories");
        }
        println!("  to keep it:    add a test with this text to the language's directory, together with the fix");
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len())) }
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn findings_of_one_kind_differ_in_numbers_and_names() {
        assert_eq!(kind_of("chunk `a.b` at 1..20"), kind_of("chunk `c` at 300..4"));
        assert_ne!(kind_of("chunk `a` is empty"), kind_of("two chunks `a`"));
    }
}
