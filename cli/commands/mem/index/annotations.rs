//! Annotations of CI systems. GitHub Actions reads commands from the output of a job.

use std::io::Write as _;

use crate::output::sanitize;

/// Prints an error as an annotation, if this process runs in GitHub Actions.
pub(super) fn print(message: &str) {
    if is_github() && !message.is_empty() {
        // Write errors are ignored, because nobody could read a message about a closed standard error.
        let _ = writeln!(std::io::stderr(), "::error title=aur mem index::{}", escape(message));
    }
}

/// Returns a message in which GitHub Actions recognises no command. It recognises `##[…]` anywhere in a line.
pub(super) fn without_commands(message: &str) -> String {
    if is_github() { message.replace("##[", "#\u{fffd}[") } else { message.to_owned() }
}

fn is_github() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Escapes the message of a command, as GitHub demands. Other control characters become visible.
fn escape(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    for letter in message.chars() {
        match letter {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            letter => out.push(sanitize::visible(letter)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line() {
        assert_eq!(escape("50% of\r\n::error::x\u{1b}"), "50%25 of%0D%0A::error::x␛");
    }
}
