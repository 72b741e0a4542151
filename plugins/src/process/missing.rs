//! Finds missing parts of a program before the program is run.

use std::path::Path;

use aurora_pipeline::ProgramSpec;

use super::command::{find, search_path};

/// Programs that run a script. The script is the first argument that is not an option.
const INTERPRETERS: [&str; 13] =
    ["python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "sh", "bash", "dash", "zsh"];
/// Options with which an interpreter runs a module or code from the command line instead of a script.
const INLINE: [&str; 6] = ["-c", "-m", "-e", "-E", "-p", "-r"];

/// Describes each file of a program that does not exist in the project at `root`.
pub fn missing_parts(spec: &ProgramSpec, root: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    if let Some(program) = spec.command.first().filter(|program| !program.is_empty()) {
        if find(program, root, &search_path(root)).is_none() {
            missing.push(format!("there is no program `{program}`"));
        }
        missing.extend(script(&spec.command).filter(|script| !root.join(script).exists()).map(no_file));
    }
    missing.extend(spec.files.iter().filter(|file| !root.join(file).exists()).map(|file| no_file(file)));
    missing
}

fn no_file(path: &str) -> String {
    format!("there is no file `{path}`")
}

/// Returns the script that an interpreter would run.
fn script(command: &[String]) -> Option<&str> {
    let (program, arguments) = command.split_first()?;
    let name = program.rsplit(['/', std::path::MAIN_SEPARATOR]).next()?;
    let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let mut options = arguments.iter().take_while(|argument| argument.starts_with('-'));
    if !INTERPRETERS.contains(&name) || options.any(|option| INLINE.contains(&option.as_str())) {
        return None;
    }
    let first = arguments.iter().find(|argument| !argument.starts_with('-'))?;
    // An argument such as `run` in `deno run script.ts`, or the value of an option as in `-W ignore`, is not a path.
    let is_path = first.contains(['/', '.']);
    is_path.then_some(first.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_scripts_and_files_are_named() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(root.path().join("owner.py"), "").expect("written");
        let missing = |command: &[&str], files: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let spec = ProgramSpec { command: texts(command), files: texts(files), ..ProgramSpec::default() };
            missing_parts(&spec, root.path())
        };
        let none: [String; 0] = [];
        assert_eq!(missing(&["sh", "owner.py"], &["owner.py"]), none);
        assert_eq!(missing(&["sh", "-c", "tools/none.sh"], &[]), none, "the shell decides");
        assert_eq!(
            missing(&["sh", "-x", "tools/none.sh"], &["data"]),
            ["there is no file `tools/none.sh`", "there is no file `data`"]
        );
        assert_eq!(missing(&["./owner"], &[]), ["there is no program `./owner`"]);
        assert_eq!(missing(&["aurora-no-such-program", "x.py"], &[]), ["there is no program `aurora-no-such-program`"]);
        assert_eq!(missing(&[], &[]), none);
    }
}
