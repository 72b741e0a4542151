//! Opens the user's editor at a line of a file.
//!
//! The values of `VISUAL` and `EDITOR` are split into words like in a shell, but no shell evaluates them, so a file
//! name cannot become a command.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

use aurora_confined::{Directory, EntryKind};

/// Editor if the user has not set one, as in POSIX.
const DEFAULT_EDITOR: &str = "vi";

/// A program with its leading arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Editor {
    program: String,
    arguments: Vec<String>,
}

impl Editor {
    /// Returns the editor of the user: `VISUAL`, else `EDITOR`, else vi.
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::from_variables(|variable| std::env::var(variable).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let setting = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
            let value = variable(name).filter(|value| !value.trim().is_empty())?;
            Some((name, value))
        });
        let Some((name, value)) = setting else {
            return Ok(Self { program: DEFAULT_EDITOR.to_owned(), arguments: Vec::new() });
        };
        let mut words = shlex::split(&value).unwrap_or_default().into_iter();
        match words.next() {
            Some(program) => Ok(Self { program, arguments: words.collect() }),
            None => Err(format!("{name} cannot be split into words: {value}")),
        }
    }

    /// Name of the program for messages.
    pub(crate) fn name(&self) -> &str {
        &self.program
    }

    /// Returns the command that opens a file below `root`. File arguments are relative to the directory `here`.
    ///
    /// # Errors
    ///
    /// Fails if the file does not exist, is not a regular file, or is only reachable through a symbolic link.
    pub(crate) fn command(
        &self,
        root: &Path,
        here: Option<&Path>,
        file: &str,
        line: Option<u32>,
    ) -> io::Result<Command> {
        let found = Directory::open_root(root)?.metadata(file)?;
        if found.kind != EntryKind::File {
            return Err(io::Error::other("not a regular file"));
        }
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(self.location(file_argument(root, here, file), line));
        Ok(command)
    }

    /// Returns the arguments for the file and the line, in the syntax of the editor.
    fn location(&self, file: OsString, line: Option<u32>) -> Vec<OsString> {
        let Some(line) = line else { return vec![file] };
        let with_line = |mut file: OsString| {
            file.push(format!(":{line}"));
            file
        };
        let name = Path::new(&self.program).file_stem().map(|name| name.to_string_lossy().to_lowercase());
        match name.as_deref().unwrap_or_default() {
            "hx" | "helix" | "subl" | "sublime_text" | "zed" | "zeditor" => vec![with_line(file)],
            "code" | "code-insiders" | "codium" | "vscodium" | "cursor" | "windsurf" => {
                vec!["--goto".into(), with_line(file)]
            }
            _ => vec![format!("+{line}").into(), file],
        }
    }
}

/// Returns the file as an argument: as a relative path if the file is below the directory `here`. If the
/// relative path begins with `-` or `+`, `./` precedes it, because an editor would take `-c` for an option and `+quit`
/// for a command.
fn file_argument(root: &Path, here: Option<&Path>, file: &str) -> OsString {
    let path = root.join(file);
    match here.and_then(|here| path.strip_prefix(here).ok()) {
        Some(relative) if relative.as_os_str().as_encoded_bytes().starts_with(b"-") => Path::new(".").join(relative),
        Some(relative) if relative.as_os_str().as_encoded_bytes().starts_with(b"+") => Path::new(".").join(relative),
        Some(relative) => relative.to_owned(),
        None => path,
    }
    .into_os_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(value: &str) -> Editor {
        Editor::from_variables(|name| (name == "EDITOR").then(|| value.to_owned()))
            .expect("the value can be split into words")
    }

    #[test]
    fn the_first_nonempty_variable_sets_the_editor() {
        let parsed = |visual: &str, editor: &str| {
            let value = |name: &str| Some(if name == "VISUAL" { visual } else { editor }.to_owned());
            Editor::from_variables(value).map(|editor| (editor.program, editor.arguments.join("|")))
        };
        let expected = |program: &str, arguments: &str| Ok((program.to_owned(), arguments.to_owned()));
        assert_eq!(parsed("hx", "nano"), expected("hx", ""));
        assert_eq!(parsed(" ", "nano"), expected("nano", ""));
        assert_eq!(parsed("", ""), expected("vi", ""));
        assert_eq!(parsed("'my editor' --wait 'a b'", ""), expected("my editor", "--wait|a b"));
        assert_eq!(parsed("vi 'x", ""), Err("VISUAL cannot be split into words: vi 'x".to_owned()));
    }

    #[test]
    fn every_editor_gets_the_line_in_its_syntax() {
        for (command, expected) in [
            ("vi", "+12 a.py"),
            ("/usr/bin/nvim --clean", "+12 a.py"),
            ("emacsclient -nw", "+12 a.py"),
            ("unknown", "+12 a.py"),
            ("hx", "a.py:12"),
            ("subl --wait", "a.py:12"),
            ("zed --wait", "a.py:12"),
            ("code --wait", "--goto a.py:12"),
            ("Codium.exe", "--goto a.py:12"),
        ] {
            let words = editor(command).location("a.py".into(), Some(12));
            assert_eq!(words.join(" ".as_ref()), expected, "{command}");
            assert_eq!(editor(command).location("a.py".into(), None), ["a.py"], "{command}");
        }
    }

    #[test]
    fn a_file_is_never_an_option() {
        let root = Path::new("/srv/project");
        let named = |here: &str, file: &str| {
            file_argument(root, Some(Path::new(here)), file).into_string().expect("the path is UTF-8")
        };
        assert_eq!(named("/srv/project", "src/a.py"), "src/a.py");
        assert_eq!(named("/srv/project", "-c.py"), "./-c.py");
        assert_eq!(named("/srv/project", "+q"), "./+q");
        assert_eq!(named("/srv/project/src", "src/-c.py"), "./-c.py");
        assert_eq!(named("/home", "-c.py"), "/srv/project/-c.py");
    }

    #[test]
    fn only_files_below_the_root_are_opened() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let project = root.path().join("project");
        std::fs::create_dir_all(project.join("directory")).expect("the directory can be created");
        std::fs::write(root.path().join("outside"), "").expect("the file can be written");
        for file in ["missing", "directory", "../outside"] {
            assert!(editor("vi").command(&project, None, file, None).is_err(), "{file}");
        }
        std::fs::write(project.join("file"), "").expect("the file can be written");
        assert!(editor("vi").command(&project, None, "file", None).is_ok());
    }
}
