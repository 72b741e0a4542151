//! The differences between a program and the version that the user has allowed.

use std::collections::{BTreeMap, BTreeSet};

use aurora_pipeline::ProgramSpec;
use serde_json::Value;

use super::consents::Consent;
use super::identity::ProgramIdentity;

/// Maximum length of a value in a description, in characters.
const MAX_SHOWN: usize = 80;

impl Consent {
    /// Describes the differences between the program and the version that the user has allowed, in one line each.
    pub fn changes(&self, spec: &ProgramSpec, identity: &ProgramIdentity) -> Vec<String> {
        let mut changes = Vec::new();
        if self.command.len() == spec.command.len() {
            for (index, (before, after)) in self.command.iter().zip(&spec.command).enumerate() {
                if before != after {
                    let part = if index == 0 { "the program".to_owned() } else { format!("argument {index}") };
                    changes.push(format!("{part} is `{}`; it was `{}`", abbreviated(after), abbreviated(before)));
                }
            }
        } else {
            let (before, after) = (self.command.join(" "), spec.command.join(" "));
            changes.push(format!("the command is `{}`; it was `{}`", abbreviated(&after), abbreviated(&before)));
        }
        let files: BTreeMap<&str, String> = identity.covered().map(|file| (file.path.as_str(), file.hex())).collect();
        for (path, hash) in &files {
            match self.files.get(*path) {
                Some(before) if before == hash => {}
                Some(_) => changes.push(format!("file {path} has changed")),
                None => changes.push(format!("file {path} is new")),
            }
        }
        let gone = self.files.keys().filter(|path| !files.contains_key(path.as_str()));
        changes.extend(gone.map(|path| format!("file {path} no longer belongs to it")));
        changes.extend(set_changes("the variable", &self.environment, &spec.environment));
        changes.extend(set_changes("the input", &self.inputs, &spec.inputs));
        let keys: BTreeSet<&String> = self.config.keys().chain(spec.config.keys()).collect();
        for key in keys {
            let text = |value: &Value| abbreviated(&value.to_string());
            match (self.config.get(key), spec.config.get(key)) {
                (Some(before), Some(after)) if before == after => {}
                (Some(before), Some(after)) => {
                    changes.push(format!("config.{key} is {}; it was {}", text(after), text(before)));
                }
                (None, Some(after)) => changes.push(format!("config.{key} is new: {}", text(after))),
                (before, _) => {
                    changes.push(format!("config.{key} is gone; it was {}", before.map(text).unwrap_or_default()));
                }
            }
        }
        changes
    }
}

fn set_changes(what: &str, before: &[String], after: &[String]) -> Vec<String> {
    let (before, after): (BTreeSet<&String>, BTreeSet<&String>) = (before.iter().collect(), after.iter().collect());
    let added = after.difference(&before).map(|name| format!("{what} {name} is new"));
    added.chain(before.difference(&after).map(|name| format!("{what} {name} is gone"))).collect()
}

fn abbreviated(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::ProgramFile;

    #[test]
    fn every_difference_is_named() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let spec = |command: &[&str], environment: &[&str], inputs: &[&str], config: &str| ProgramSpec {
            command: texts(command),
            environment: texts(environment),
            inputs: texts(inputs),
            config: serde_json::from_str(config).expect("a map"),
            ..ProgramSpec::default()
        };
        let identity = |files: &[(&str, u8)]| {
            let file = |&(path, byte): &(&str, u8)| ProgramFile { path: path.to_owned(), hash: [byte; 32] };
            let files = files.iter().map(file).collect();
            ProgramIdentity {
                digest: [0; 32],
                program: [0; 32],
                files,
                modules: Vec::new(),
                uncovered: Default::default(),
            }
        };
        let before = spec(&["python3", "a.py", "--few"], &["HOST"], &["OWNERS"], r#"{"a": 1, "b": 2, "c": 3}"#);
        let files = identity(&[("a.py", 1), ("b.py", 1), ("c.py", 1)]);
        let consent = Consent::new("owner", &before, &files, 0);
        assert_eq!(consent.changes(&before, &files), Vec::<String>::new());
        let after = spec(&["python3", "a.py", "--all"], &["TOKEN"], &[], r#"{"a": 1, "b": 5, "d": "x"}"#);
        let changes = consent.changes(&after, &identity(&[("a.py", 1), ("b.py", 2), ("d.py", 1)]));
        let expected = [
            "argument 2 is `--all`; it was `--few`",
            "file b.py has changed",
            "file d.py is new",
            "file c.py no longer belongs to it",
            "the variable TOKEN is new",
            "the variable HOST is gone",
            "the input OWNERS is gone",
            "config.b is 5; it was 2",
            "config.c is gone; it was 3",
            "config.d is new: \"x\"",
        ];
        assert_eq!(changes, expected);
        let longer = spec(&["python3", "a.py"], &["HOST"], &["OWNERS"], r#"{"a": 1, "b": 2, "c": 3}"#);
        assert_eq!(consent.changes(&longer, &files), ["the command is `python3 a.py`; it was `python3 a.py --few`"]);
    }
}
