//! Help texts.

use crate::fixture::Fixture;
use crate::{run, settings};

#[test]
fn every_command_explains_itself() {
    let fixture = Fixture::plain();
    settings(&fixture).bind(|| {
        for command in [
            "",
            "mem",
            "mem index",
            "mem search",
            "mem browse",
            "mem graph",
            "mem feedback",
            "mem stats",
            "mem why",
            "mem rebuild-bm25",
            "mem verify",
            "mem export",
            "mem import",
            "mem compact",
            "mem eval",
            "mem eval mine",
            "mem tune",
            "pipeline",
            "pipeline check",
            "pipeline graph",
            "pipeline show",
            "pipeline run",
            "pipeline schema",
            "plugin",
            "plugin new",
            "plugin list",
            "plugin test",
            "plugin trust",
            "model",
            "model add",
            "model list",
            "doctor",
            "completions",
        ] {
            let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let help = run(&fixture, &arguments);
            assert_eq!((help.code, help.err.as_str()), (Some(0), ""), "{arguments:?}");
            let name = if command.is_empty() { "aur" } else { command };
            insta::assert_snapshot!(format!("help {name}").replace(' ', "-"), help.out);
        }
    });
}

#[test]
fn no_command_at_all_shows_the_help_and_fails() {
    let fixture = Fixture::plain();
    for arguments in [&[][..], &["mem"], &["pipeline"], &["plugin"], &["model"]] {
        let shown = run(&fixture, arguments);
        assert_eq!((shown.code, shown.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(shown.err.contains("Usage: aur"), "{}", shown.err);
    }
}

#[test]
fn completions_know_the_commands() {
    let fixture = Fixture::plain();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&fixture, &["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        assert!(script.out.contains("rebuild-bm25"), "{shell}");
    }
}
