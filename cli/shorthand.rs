//! Expands the short forms of the command line before clap parses it.

use std::ffi::OsString;
use std::path::Path;

use aurora_suggest::nearest_within;
use clap::{ColorChoice, CommandFactory, ValueEnum};

use crate::commands::Cli;

/// Minimum number of characters in a word that may contain two typos. A shorter word with two differences is a
/// different word: `type` is not a misspelt `tune`.
const MIN_TWO_TYPO_CHARS: usize = 5;

/// Arguments after the expansion of short forms.
pub(crate) struct Expanded {
    pub(crate) args: Vec<OsString>,
    /// Whether `search` was inserted, so that the first word of the query might be a misspelt command.
    pub(crate) is_short: bool,
}

/// Expands `aur mem QUERY…` to `aur mem search QUERY…`.
///
/// The first word after `mem` is a command if clap knows it, else the first word of the query.
pub(crate) fn expand(mut args: Vec<OsString>) -> Expanded {
    let nothing = |args| Expanded { args, is_short: false };
    let Some(mem) = next_word(&args, 1) else {
        return nothing(args);
    };
    if !matches!(args[mem].to_str(), Some("mem" | "m")) {
        return nothing(args);
    }
    let Some(first) = next_word(&args, mem + 1) else {
        return nothing(args);
    };
    let commands = mem_commands();
    let word = args[first].to_string_lossy().into_owned();
    let known = |word: &str| commands.iter().any(|command| command == word);
    let stays = match word.as_str() {
        "-h" | "--help" => true,
        "help" => args.get(first + 1).is_none_or(|next| next.to_str().is_some_and(known)),
        "why" => !is_question(&args[first + 1..]),
        other => known(other),
    };
    if stays {
        return nothing(args);
    }
    args.insert(first, "search".into());
    Expanded { args, is_short: true }
}

/// Whether the words after `why` form a question, such as `why does login fail`, and are not paths or ids of entries.
fn is_question(words: &[OsString]) -> bool {
    let is_path_or_id = |word: &OsString| {
        word.to_string_lossy().contains(['.', '/', '\\', '-', ':']) || Path::new(word).symlink_metadata().is_ok()
    };
    words.len() > 1 && words.first().is_some_and(|first| !is_path_or_id(first))
}

/// Returns the hint for a query whose first word looks like a misspelt command. If the query has several words, the
/// first word must be more similar to a command, because such queries rarely begin with a command.
pub(crate) fn misspelt_command(query: &[String]) -> Option<String> {
    let (word, commands) = (query.first()?, mem_commands());
    let commands = commands.iter().map(String::as_str);
    let command = match query.len() {
        1 => nearest_within(&word.to_lowercase(), commands, |_| {
            if word.chars().count() < MIN_TWO_TYPO_CHARS { 1 } else { 2 }
        }),
        _ => closest(word, commands),
    };
    command.map(|command| format!("searched for \"{word}\"; did you mean the command `aur mem {command}`?"))
}

/// Returns the hint for a missing `mem`, such as in `aur index`.
pub(crate) fn missing_mem(args: &[OsString]) -> Option<String> {
    let word = args.get(next_word(args, 1)?)?.to_str()?;
    if Cli::command().find_subcommand(word).is_some() {
        // The mistake is in a later word, as in `aur remote pul`.
        return None;
    }
    let commands = mem_commands();
    let known = commands.iter().find(|command| *command == word);
    let command = known.map(String::as_str).or_else(|| closest(word, commands.iter().map(String::as_str)))?;
    Some(format!("did you mean `aur mem {command}`?"))
}

/// Returns the candidate that `word` most likely misspells, if one is close enough.
fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(&word.to_lowercase(), candidates, |candidate| if candidate.len() < 8 { 1 } else { 2 })
}

/// Reads the value of `--color` before the arguments are parsed, so that it applies to usage errors too.
pub(crate) fn requested_color(args: &[OsString]) -> ColorChoice {
    let words = args.iter().map(|arg| arg.to_str().unwrap_or_default());
    let mut color = ColorChoice::Auto;
    let mut awaiting = false;
    for word in words.take_while(|word| *word != "--") {
        let value = if awaiting { Some(word) } else { word.strip_prefix("--color=") };
        awaiting = word == "--color";
        if let Some(Ok(when)) = value.map(|value| ColorChoice::from_str(value, false)) {
            color = when;
        }
    }
    color
}

/// Returns the index of the next argument that is not a global option.
fn next_word(args: &[OsString], mut at: usize) -> Option<usize> {
    while let Some(arg) = args.get(at) {
        match arg.to_str() {
            Some("--color" | "--log-format") => at += 2,
            Some(arg) if arg.starts_with("--color=") || arg.starts_with("--log-format=") => at += 1,
            Some(arg) if arg == "--verbose" || is_verbose_flag(arg) => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// Whether an argument is `-v`, `-vv`, and so on.
fn is_verbose_flag(arg: &str) -> bool {
    arg.strip_prefix('-').is_some_and(|letters| !letters.is_empty() && letters.bytes().all(|letter| letter == b'v'))
}

fn mem_commands() -> Vec<String> {
    let cli = Cli::command();
    let commands = cli.find_subcommand("mem").map(|mem| {
        mem.get_subcommands()
            .flat_map(|command| std::iter::once(command.get_name()).chain(command.get_all_aliases()))
            .map(str::to_owned)
            .collect()
    });
    commands.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        let words: Vec<String> = expand(args).args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn a_first_word_that_is_not_a_command_starts_a_query() {
        for (line, expected) in [
            ("aur mem parse config", "aur mem search parse config"),
            ("aur m UserManager", "aur m search UserManager"),
            ("aur mem --limit 3 x", "aur mem search --limit 3 x"),
            ("aur mem -- index", "aur mem search -- index"),
            ("aur --color never m x", "aur --color never m search x"),
            ("aur mem --color=never x", "aur mem --color=never search x"),
            ("aur -v mem -vv --log-format json x", "aur -v mem -vv --log-format json search x"),
            ("aur mem --verbose stats", "aur mem --verbose stats"),
            ("aur mem help me", "aur mem search help me"),
            ("aur mem why does login fail", "aur mem search why does login fail"),
            ("aur mem why cli/main.rs Cargo.toml", "aur mem why cli/main.rs Cargo.toml"),
            ("aur mem why turn:s1:1 --format json", "aur mem why turn:s1:1 --format json"),
            ("aur mem why Makefile", "aur mem why Makefile"),
            ("aur mem index", "aur mem index"),
            ("aur mem help index", "aur mem help index"),
            ("aur mem help", "aur mem help"),
            ("aur mem --help", "aur mem --help"),
            ("aur mem", "aur mem"),
            ("aur doctor mem", "aur doctor mem"),
        ] {
            assert_eq!(expanded(line), expected);
        }
    }

    #[test]
    fn a_query_similar_to_a_command_gives_a_hint() {
        let command = |query: &str| {
            let words: Vec<String> = query.split(' ').map(str::to_owned).collect();
            misspelt_command(&words)?.split('`').nth(1).map(str::to_owned)
        };
        for (query, expected) in [
            ("evla", "aur mem eval"),
            ("stat", "aur mem stats"),
            ("idnxe", "aur mem index"),
            ("Serahc", "aur mem search"),
            ("serach foo", "aur mem search"),
            ("rebuld-bm2", "aur mem rebuild-bm25"),
        ] {
            assert_eq!(command(query).as_deref(), Some(expected), "{query}");
        }
        for query in ["authenticate", "type", "time", "start up", "idnxe foo", "stats"] {
            assert_eq!(command(query), None, "{query}");
        }
    }

    #[test]
    fn a_command_without_mem_gives_a_hint() {
        let tip = |line: &str| missing_mem(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(tip("aur index .").as_deref(), Some("did you mean `aur mem index`?"));
        assert_eq!(tip("aur serach x").as_deref(), Some("did you mean `aur mem search`?"));
        for line in ["aur frobnicate", "aur remote pul", "aur -v remote pul", "aur m serach", "aur mem serach"] {
            assert_eq!(tip(line), None, "{line}");
        }
        assert_eq!(tip("aur"), None);
    }

    #[test]
    fn the_colour_option_is_read_before_parsing() {
        let color = |line: &str| requested_color(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(color("aur --color never doctor"), ColorChoice::Never);
        assert_eq!(color("aur doctor --color=always"), ColorChoice::Always);
        assert_eq!(color("aur mem -- --color=always"), ColorChoice::Auto);
    }
}
