//! Definitions as Universal Ctags finds them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::definition::Definition;

/// The names of languages in ctags, and here.
const LANGUAGES: &[(&str, &str)] = &[
    ("C", "c"),
    ("C#", "csharp"),
    ("C++", "cpp"),
    ("Elixir", "elixir"),
    ("Go", "go"),
    ("Haskell", "haskell"),
    ("Java", "java"),
    ("JavaScript", "javascript"),
    ("Kotlin", "kotlin"),
    ("Lua", "lua"),
    ("ObjectiveC", "objc"),
    ("PHP", "php"),
    ("Perl", "perl"),
    ("PowerShell", "powershell"),
    ("Protobuf", "protobuf"),
    ("Python", "python"),
    ("R", "r"),
    ("Ruby", "ruby"),
    ("Rust", "rust"),
    ("SQL", "sql"),
    ("Sh", "bash"),
    ("TypeScript", "typescript"),
];

/// Kinds that are asked for.
const ASKED: &[&str] = &[
    "class",
    "enum",
    "func",
    "function",
    "interface",
    "message",
    "method",
    "module",
    "procedure",
    "rpc",
    "struct",
    "subroutine",
    "table",
    "trait",
    "type",
    "view",
];

/// The definitions below a directory. Declarations are left out, names that ctags makes up are not asked for.
pub(super) fn definitions(root: &Path) -> Result<Vec<Definition<'_>>, String> {
    let mut ctags = Command::new("ctags");
    ctags.current_dir(root).args(["-R", "--output-format=json", "--fields=+lnK", "--exclude=.aurora", "-f", "-", "."]);
    let output = ctags.output().map_err(|error| format!("ctags: {error}"))?;
    if !output.status.success() {
        return Err(format!("ctags in {} ends with {}", root.display(), output.status));
    }
    let tags = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(tags.lines().filter_map(|line| definition(root, &serde_json::from_str(line).ok()?)).collect())
}

fn definition<'a>(root: &'a Path, tag: &Value) -> Option<Definition<'a>> {
    let [name, path, kind, language] = ["name", "path", "kind", "language"].map(|key| tag[key].as_str());
    let (name, path, kind) = (name?, path?, kind.filter(|kind| *kind != "prototype")?);
    let (_, language) = LANGUAGES.iter().find(|(ctags, _)| Some(*ctags) == language)?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with("__anon");
    Some(Definition {
        language,
        root,
        name: name.to_owned(),
        path: path.strip_prefix("./").unwrap_or(path).to_owned(),
        line: tag["line"].as_u64()?,
        is_asked: is_name && ASKED.contains(&kind),
    })
}
