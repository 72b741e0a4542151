//! Help texts of all commands.

use crate::fixture::Fixture;
use crate::{run, settings};

#[test]
fn every_command_has_a_help_text() {
    let fixture = Fixture::plain();
    settings(&fixture).bind(|| {
        let mut commands = vec![String::new()];
        let mut explained = 0;
        while let Some(command) = commands.pop() {
            let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let help = run(&fixture, &arguments);
            assert_eq!((help.code, help.err.as_str()), (Some(0), ""), "{arguments:?}");
            commands.extend(subcommands(&help.out).map(|name| format!("{command} {name}")));
            let name =
                if command.is_empty() { "help-aur".to_owned() } else { format!("help{}", command.replace(' ', "-")) };
            insta::assert_snapshot!(name, help.out);
            explained += 1;
        }
        assert!(explained > 50, "{explained} commands");
    });
}

/// Returns the commands that a help text lists.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help")
}

#[test]
fn a_missing_command_shows_the_help_and_fails() {
    let fixture = Fixture::plain();
    for arguments in [&[][..], &["mem"], &["pipeline"], &["plugin"], &["model"]] {
        let shown = run(&fixture, arguments);
        assert_eq!((shown.code, shown.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(shown.err.contains("Usage: aur"), "{}", shown.err);
    }
}

#[test]
fn completions_contain_the_commands() {
    let fixture = Fixture::plain();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&fixture, &["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        assert!(script.out.contains("rebuild-bm25"), "{shell}");
    }
}
