//! Definitions as regular expressions find them, line by line.

use std::path::Path;

use regex::Regex;

use super::definition::Definition;
use super::grep::git_grep;

/// Definitions of functions, methods and types by language and file extensions; the name is the group.
const PATTERNS: &[(&str, &[&str], &str)] = &[
    ("bash", &["sh", "bash"], r"^(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{"),
    ("c", &["c"], r"^(?:static\s+|inline\s+|const\s+|unsigned\s+|struct\s+)*\w+[\s*]+(\w+)\([^;()]*\)\s*\{?$"),
    ("cpp", &["cc", "cpp", "cxx", "hpp"], r"^\s*(?:class|struct|enum class)\s+(\w+)(?:\s+final)?(?:\s*:[^;]*)?\s*\{"),
    ("cpp", &["cc", "cpp", "cxx"], r"^[\w:<>]+[\s*&]+\w+::(\w+)\([^;]*\{$"),
    ("cmake", &["cmake"], r"(?i)^\s*(?:function|macro)\s*\(\s*(\w+)"),
    (
        "csharp",
        &["cs"],
        r"^\s*(?:(?:public|internal|private|protected|static|sealed|abstract|partial|readonly)\s+)+(?:class|interface|enum|struct|record)\s+(\w+)",
    ),
    (
        "csharp",
        &["cs"],
        r"^\s*(?:(?:public|internal|private|protected|static|override|virtual|async)\s+)+[\w<>\[\],.?]+\s(\w+)\s*\([^;]*\)\s*$",
    ),
    ("dart", &["dart"], r"^(?:abstract\s+|final\s+|base\s+|sealed\s+)*(?:class|mixin|enum|extension)\s+(\w+)"),
    ("elixir", &["ex", "exs"], r"^\s*(?:def|defp|defmacro)\s+(\w+)"),
    ("go", &["go"], r"^(?:func\s+(?:\([^)]*\)\s*)?|type\s+)(\w+)"),
    ("graphql", &["graphql", "gql"], r"^(?:type|input|enum|interface|union|scalar)\s+(\w+)"),
    (
        "groovy",
        &["groovy", "gradle"],
        r"^\s*(?:(?:public|private|protected|static|abstract|final)\s+)*(?:class|interface|trait|enum)\s+(\w+)",
    ),
    (
        "groovy",
        &["groovy"],
        r"^\s*(?:(?:public|private|protected|static|final)\s+)*(?:def|void|String|boolean|int|List|Map)\s+(\w+)\s*\([^)]*\)\s*\{\s*$",
    ),
    ("haskell", &["hs"], r"^(?:data|newtype|class)\s+(\w+)"),
    ("haskell", &["hs"], r"^([a-z]\w*)\s+::\s"),
    ("hcl", &["tf"], r#"^(?:variable|output|module)\s+"(\w+)"\s*\{"#),
    (
        "java",
        &["java"],
        r"^\s*(?:(?:public|protected|private|static|final|abstract|sealed)\s+)*(?:class|interface|enum|record)\s+(\w+)",
    ),
    (
        "java",
        &["java"],
        r"^\s+(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)+[\w<>\[\],.? ]+\s(\w+)\s*\([^;]*\{\s*$",
    ),
    (
        "javascript",
        &["js", "mjs", "cjs", "jsx"],
        r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|class)\s+(\w+)",
    ),
    (
        "kotlin",
        &["kt", "kts"],
        r"^\s*(?:(?:public|internal|private|open|abstract|data|sealed|inline|override|suspend|operator|annotation|enum)\s+)*(?:class|interface|object|fun)\s+(?:<[^>]*>\s+)?(\w+)\s*[<({:]",
    ),
    ("lua", &["lua"], r"^\s*(?:local\s+)?function\s+(?:\w+[.:])*(\w+)\s*\("),
    ("make", &["mk"], r"^([a-z][\w-]+):(?:[^=]|$)"),
    ("objc", &["h", "m", "mm"], r"^@(?:interface|protocol)\s+(\w+)\s*(?:<[^>]*>\s*)?(?::.*)?$"),
    ("objc", &["m", "mm"], r"^[-+]\s*\([^)]*\)\s*(\w+)\s*\{?\s*$"),
    ("perl", &["pl", "pm"], r"^sub\s+(\w+)"),
    (
        "php",
        &["php"],
        r"^\s*(?:(?:public|private|protected|static|abstract|final|readonly)\s+)*(?:function|class|interface|trait|enum)\s+&?(\w+)",
    ),
    ("powershell", &["ps1", "psm1"], r"(?i)^\s*function\s+(?:\w+:)?([\w-]+)"),
    ("protobuf", &["proto"], r"^\s*(?:message|enum|service|rpc)\s+(\w+)"),
    ("python", &["py", "pyi"], r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)"),
    ("r", &["R", "r"], r"^([A-Za-z_]\w*)\s*(?:<-|=)\s*function\s*\("),
    ("ruby", &["rb"], r"^\s*(?:def\s+(?:self\.)?|class\s+|module\s+)(?:\w+::)*(\w+[?!]?)"),
    ("rust", &["rs"], r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*(?:fn|struct|enum|trait)\s+(\w+)"),
    (
        "scala",
        &["scala"],
        r"^\s*(?:(?:private|protected|final|sealed|abstract|implicit|override|lazy|case|inline)(?:\[\w+\])?\s+)*(?:class|trait|object|def)\s+(\w+)",
    ),
    (
        "sql",
        &["sql"],
        r#"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function)\s+(?:if\s+not\s+exists\s+)?[`"]?(?:\w+\.)?(\w+)"#,
    ),
    (
        "swift",
        &["swift"],
        r"^\s*(?:(?:public|internal|private|fileprivate|open|final|static|override|mutating|indirect)\s+)*(?:func|class|struct|enum|protocol|actor)\s+(\w+)",
    ),
    (
        "typescript",
        &["ts", "tsx", "mts", "cts"],
        r"^\s*(?:export\s+)?(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface)\s+(\w+)",
    ),
    ("typescript", &["ts", "tsx"], r"^(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?\([^)]*\)\s*(?::[^=]+)?=>"),
    ("zig", &["zig"], r"^\s*(?:pub\s+)?(?:inline\s+|export\s+|extern\s+)*fn\s+(\w+)"),
];

/// Directories with the sources of others, which are not indexed.
const VENDORED: &[&str] = &["node_modules", "third_party", "vendor"];

/// The definitions below a directory.
pub(super) fn definitions(root: &Path) -> Result<Vec<Definition<'_>>, String> {
    let patterns: Vec<_> = PATTERNS
        .iter()
        .map(|(language, extensions, pattern)| Regex::new(pattern).map(|regex| (*language, *extensions, regex)))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let mut definitions = Vec::new();
    for path in files(root)? {
        let extension = path.rsplit('.').next().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let mut matching = patterns.iter().filter(|(_, extensions, _)| extensions.contains(&extension));
            let found = matching.find_map(|(language, _, regex)| Some((language, regex.captures(line)?)));
            let Some((language, name)) = found.and_then(|(language, groups)| Some((language, groups.get(1)?))) else {
                continue;
            };
            definitions.push(Definition {
                language,
                root,
                name: name.as_str().into(),
                path: path.clone(),
                line: number as u64 + 1,
            });
        }
    }
    Ok(definitions)
}

/// The text files of a directory, which need not be a repository, without those of others.
fn files(root: &Path) -> Result<Vec<String>, String> {
    let listing = git_grep(root, &["-l", "-z", "-e", "", "--", ".", ":!.aurora"])?;
    let is_own = |path: &&str| !path.is_empty() && !path.split('/').any(|part| VENDORED.contains(&part));
    Ok(listing.split('\0').filter(is_own).map(str::to_owned).collect())
}
