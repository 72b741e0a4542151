//! Catalogues: TOML files that list repositories which are indexed and searched together.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use aurora_confined::{Directory, EntryKind, read_regular_to_string};
use aurora_diagnostics::document::{Document, Entry, Reader, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use globset::{GlobBuilder, GlobMatcher};

/// Maximum size of a catalogue in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of repositories of a catalogue.
const MAX_REPOSITORIES: usize = 10_000;
/// Maximum number of directory entries that one pattern reads.
const MAX_ENTRIES: usize = 1_000_000;
/// Maximum number of repositories that are indexed at the same time.
const MAX_JOBS: usize = 256;

const LIST: &str = "repository";
const KEYS: [&str; 7] = ["path", "url", "pattern", "name", "branch", "groups", "owners"];
/// Schemes of git's usual transports. Others, such as `ext`, can run any program.
const SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

const JOBS_RULE: &str = "must be a whole number from 1 to 256";
const NAME_RULE: &str = "must consist of letters, digits, `.`, `_` and `-`, and begin with a letter or a digit";
const URL_RULE: &str = "must be a URL of https, http, ssh, git or file, or user@host:path";
const BRANCH_RULE: &str = "must be the name of a branch";
const WORDS_RULE: &str = "must be a list of non-empty strings";

/// A list of repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// Number of repositories that are indexed at the same time.
    pub jobs: usize,
    /// The repositories, sorted by name. Names are unique.
    pub repositories: Vec<CatalogRepository>,
}

/// A repository of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogRepository {
    /// The name in requests and answers.
    pub name: String,
    /// The place of the files.
    pub source: RepositorySource,
    /// The groups that the repository belongs to.
    pub groups: BTreeSet<String>,
    /// The owners of the repository.
    pub owners: BTreeSet<String>,
}

/// The place of the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositorySource {
    /// An existing directory, which is indexed as it is.
    Directory(PathBuf),
    /// A remote repository, of which a clone is kept.
    Remote {
        /// The URL of one of git's usual transports, without a password.
        url: String,
        /// The branch; `None` is the default branch of the remote repository.
        branch: Option<String>,
    },
}

impl Catalog {
    /// Loads a catalogue. Relative paths are relative to the directory of the file.
    ///
    /// # Errors
    /// Returns all mistakes at once: an unreadable file, invalid TOML, unknown keys, invalid values, missing
    /// directories, and names that are not unique.
    pub fn load(file: &Path) -> Result<Self, Diagnostics> {
        let text = read_regular_to_string(file, MAX_BYTES).map_err(|error| {
            let message = format!("cannot read {}: {error}", file.display());
            let mut found = Diagnostics::default();
            found.push(Diagnostic::error(code::UNREADABLE, None, message));
            found
        })?;
        let base = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Self::parse(&file.display().to_string(), &text, base.parent().unwrap_or(Path::new("/")))
    }

    fn parse(name: &str, text: &str, base: &Path) -> Result<Self, Diagnostics> {
        let document = Document::from_toml(name, text)?;
        let mut reader = CatalogReader { values: Reader::new(&document), base, found: BTreeMap::new() };
        let jobs = reader.read();
        let mistakes = reader.values.mistakes;
        let repositories = reader.found.into_values().collect();
        if mistakes.is_empty() { Ok(Self { jobs, repositories }) } else { Err(mistakes) }
    }
}

/// Reads the entries of a catalogue.
struct CatalogReader<'d, 't> {
    values: Reader<'d, 't>,
    base: &'d Path,
    /// The repositories by name.
    found: BTreeMap<String, CatalogRepository>,
}

impl<'d, 't> CatalogReader<'d, 't> {
    /// Reads all entries. Returns the number of jobs.
    fn read(&mut self) -> usize {
        let mut jobs = 1;
        for entry in self.values.document.root.entries() {
            match (entry.key.as_ref(), &entry.node.value) {
                ("jobs", _) => match entry.node.number().filter(|number| (1..=MAX_JOBS).contains(number)) {
                    Some(number) => jobs = number,
                    None => {
                        let _: Option<()> = self.values.wrong(entry, "jobs", JOBS_RULE, None);
                    }
                },
                (LIST, Value::List(tables)) => {
                    for table in tables {
                        match &table.value {
                            Value::Table(keys) => self.read_repository(entry, keys),
                            _ => {
                                let _: Option<()> = self.values.wrong(entry, LIST, "must consist of tables", None);
                            }
                        }
                    }
                }
                (LIST, _) => {
                    let help = Some("write `[[repository]]`".to_owned());
                    let _: Option<()> = self.values.wrong(entry, LIST, "must be a list of tables", help);
                }
                (key, _) => self.values.unknown(entry, key, &["jobs", LIST], None),
            }
        }
        jobs
    }

    fn read_repository(&mut self, list: &'d Entry<'t>, keys: &'d [Entry<'t>]) {
        let mut of = |key: &str| self.values.entry(keys, key);
        let [path, url, pattern, name, branch, groups, owners] = KEYS.map(&mut of);
        for entry in keys.iter().filter(|entry| !KEYS.contains(&entry.key.as_ref())) {
            self.values.unknown(entry, &format!("{LIST}.{}", entry.key), &KEYS, None);
        }
        let groups = groups.map(|entry| self.words(entry, "groups")).unwrap_or_default();
        let owners = owners.map(|entry| self.words(entry, "owners")).unwrap_or_default();
        let is_name = |text: &str| is_name(text).then(|| text.to_owned());
        let named = name.and_then(|entry| self.values.parsed(entry, "name", NAME_RULE, is_name, |_| None));
        let is_branch = |text: &str| is_branch(text).then(|| text.to_owned());
        let checked_out =
            branch.and_then(|entry| self.values.parsed(entry, "branch", BRANCH_RULE, is_branch, |_| None));
        let at = keys.first().unwrap_or(list);
        if let Some(branch) = branch.filter(|_| url.is_none()) {
            let help = Some("a directory is indexed as it is".to_owned());
            self.values.refuse(branch, "`branch` needs `url`".to_owned(), help);
        }
        let (entry, found) = match (path, url, pattern) {
            (Some(entry), None, None) => (entry, self.directory(entry, named)),
            (None, Some(entry), None) => (entry, self.remote(entry, named, checked_out)),
            (None, None, Some(entry)) => {
                if let Some(name) = name {
                    self.values.refuse(name, "`name` cannot name the directories of a `pattern`".to_owned(), None);
                }
                (entry, self.directories(entry))
            }
            _ => {
                let message = "a repository needs exactly one of `path`, `url` and `pattern`".to_owned();
                return self.values.refuse(at, message, None);
            }
        };
        for (name, source) in found {
            let repository =
                CatalogRepository { name: name.clone(), source, groups: groups.clone(), owners: owners.clone() };
            if self.found.len() >= MAX_REPOSITORIES {
                return self.values.refuse(entry, format!("more than {MAX_REPOSITORIES} repositories"), None);
            }
            if self.found.insert(name.clone(), repository).is_some() {
                let help = Some("give the repositories different names with `name`".to_owned());
                self.values.refuse(entry, format!("two repositories are called `{name}`"), help);
            }
        }
    }

    /// Returns the existing directory of an entry, with its name.
    fn directory(&mut self, entry: &'d Entry<'t>, name: Option<String>) -> Vec<(String, RepositorySource)> {
        let Some(text) = self.values.text(entry, "path", "must be a path") else { return Vec::new() };
        let path = self.base.join(text);
        match path.canonicalize() {
            Ok(path) if path.is_dir() => self.named(entry, path, name).into_iter().collect(),
            Ok(_) => {
                self.values.refuse(entry, format!("{text} is not a directory"), None);
                Vec::new()
            }
            Err(error) => {
                self.values.refuse(entry, format!("cannot open {text}: {error}"), None);
                Vec::new()
            }
        }
    }

    /// Returns the directories that match a pattern, with their names.
    fn directories(&mut self, entry: &'d Entry<'t>) -> Vec<(String, RepositorySource)> {
        let Some(text) = self.values.text(entry, "pattern", "must be a path with wildcards") else { return Vec::new() };
        match matching_directories(self.base, text) {
            Ok(paths) if paths.is_empty() => {
                self.values.refuse(entry, format!("no directory matches {text}"), None);
                Vec::new()
            }
            Ok(paths) => paths.into_iter().filter_map(|path| self.named(entry, path, None)).collect(),
            Err(message) => {
                self.values.refuse(entry, message, None);
                Vec::new()
            }
        }
    }

    /// Returns the remote repository of an entry, with its name.
    fn remote(
        &mut self,
        entry: &'d Entry<'t>,
        name: Option<String>,
        branch: Option<String>,
    ) -> Vec<(String, RepositorySource)> {
        let Some(url) = self.values.text(entry, "url", URL_RULE) else { return Vec::new() };
        if let Err(help) = check_url(url) {
            // A wrong URL may contain a password, so the message does not show it.
            self.values.refuse(entry, format!("`url` {URL_RULE}"), help.map(str::to_owned));
            return Vec::new();
        }
        let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = name.or_else(|| self.checked_name(entry, last.trim_end_matches(".git")));
        name.map(|name| (name, RepositorySource::Remote { url: url.to_owned(), branch })).into_iter().collect()
    }

    /// Returns a directory with its name, by default its last component.
    fn named(
        &mut self,
        entry: &'d Entry<'t>,
        path: PathBuf,
        name: Option<String>,
    ) -> Option<(String, RepositorySource)> {
        let last = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.or_else(|| self.checked_name(entry, &last))?;
        Some((name, RepositorySource::Directory(path)))
    }

    fn checked_name(&mut self, entry: &'d Entry<'t>, name: &str) -> Option<String> {
        if is_name(name) {
            return Some(name.to_owned());
        }
        self.values.refuse(entry, format!("the name `{name}` {NAME_RULE}"), Some("give a name with `name`".to_owned()));
        None
    }

    /// Returns the strings of a list.
    fn words(&mut self, entry: &'d Entry<'t>, key: &str) -> BTreeSet<String> {
        let words: Option<BTreeSet<String>> = match &entry.node.value {
            Value::List(items) => {
                items.iter().map(|item| item.text().filter(|text| !text.trim().is_empty()).map(str::to_owned)).collect()
            }
            _ => None,
        };
        words.or_else(|| self.values.wrong(entry, key, WORDS_RULE, None)).unwrap_or_default()
    }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter))
        && text.len() <= 100
}

/// Whether git accepts a text as the name of a branch. Stricter than git, so that the name cannot be an option or a
/// refspec.
fn is_branch(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "._-/+@#".contains(letter);
    !text.is_empty() && !text.starts_with(['-', '/']) && !text.contains("..") && text.chars().all(is_letter)
}

/// Checks that a URL uses one of git's usual transports and contains no password. An error may contain a help text.
fn check_url(text: &str) -> Result<(), Option<&'static str>> {
    const PASSWORD: &str = "remove the password; git's credential helpers supply it";
    if text.starts_with('-') || text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(None);
    }
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let has_password = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
            match rest.is_empty() || !SCHEMES.contains(&scheme) {
                true => Err(None),
                // An access token may be the name of the user.
                false if has_password || !aurora_redact::find(text).is_empty() => Err(Some(PASSWORD)),
                false => Ok(()),
            }
        }
        None => match text.split_once(':') {
            Some((host, path))
                if !host.is_empty() && !host.contains('/') && !path.starts_with(':') && !path.is_empty() =>
            {
                Ok(())
            }
            _ => Err(None),
        },
    }
}

/// Returns the directories that match a path with wildcards, sorted. A wildcard does not match hidden directories and
/// symbolic links.
fn matching_directories(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let has_wildcard = |part: &OsStr| part.to_string_lossy().contains(['*', '?', '[', '{']);
    let whole = base.join(pattern);
    let components: Vec<Component<'_>> = whole.components().collect();
    let first = components.iter().position(|part| has_wildcard(part.as_os_str()));
    let (fixed, rest) = components.split_at(first.unwrap_or(components.len()));
    let start: PathBuf = fixed.iter().collect();
    let mut found = vec![start.canonicalize().map_err(|error| format!("cannot open {}: {error}", start.display()))?];
    let mut entries = 0;
    for part in rest {
        let part = part.as_os_str().to_string_lossy();
        if part == "**" {
            return Err("`**` is not supported; write one `*` for each level".to_owned());
        }
        let glob = GlobBuilder::new(&part).literal_separator(true).build().map_err(|error| error.to_string())?;
        found = directories_in(&found, &glob.compile_matcher(), part.starts_with('.'), &mut entries)?;
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the directories in `parents` whose names match.
fn directories_in(
    parents: &[PathBuf],
    glob: &GlobMatcher,
    with_hidden: bool,
    entries: &mut usize,
) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for parent in parents {
        let listed = Directory::open_root(parent).and_then(|directory| directory.entries());
        let listed = listed.map_err(|error| format!("cannot open {}: {error}", parent.display()))?;
        *entries += listed.len();
        if *entries > MAX_ENTRIES {
            return Err(format!("the pattern reads more than {MAX_ENTRIES} directory entries"));
        }
        let is_wanted = |name: &OsStr| with_hidden || !name.as_encoded_bytes().starts_with(b".");
        let names = listed.iter().filter(|(name, kind)| *kind == EntryKind::Directory && is_wanted(name));
        found.extend(names.filter(|(name, _)| glob.is_match(name)).map(|(name, _)| parent.join(name)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, base: &Path) -> Result<Catalog, String> {
        Catalog::parse("catalog.toml", text, base).map_err(|found| found.to_string())
    }

    #[test]
    fn directories_patterns_and_remote_repositories_are_read() {
        let base = tempfile::tempdir().expect("a temporary directory");
        for directory in ["one", "clones/b", "clones/a", "clones/.hidden"] {
            std::fs::create_dir_all(base.path().join(directory)).expect("a directory");
        }
        let text = "jobs = 3\n[[repository]]\npath = \"one\"\ngroups = [\"core\"]\nowners = [\"ada\"]\n\
            [[repository]]\npattern = \"clones/*\"\n\
            [[repository]]\nurl = \"git@example.org:shop/web.git\"\nbranch = \"main\"\n";
        let catalog = parsed(text, base.path()).expect("a valid catalogue");
        let names: Vec<&str> = catalog.repositories.iter().map(|of| of.name.as_str()).collect();
        assert_eq!((catalog.jobs, names), (3, vec!["a", "b", "one", "web"]));
        let url = "git@example.org:shop/web.git".to_owned();
        assert_eq!(catalog.repositories[3].source, RepositorySource::Remote { url, branch: Some("main".to_owned()) });
        assert!(catalog.repositories[2].groups.contains("core") && catalog.repositories[2].owners.contains("ada"));
    }

    #[test]
    fn all_mistakes_are_reported() {
        let base = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(base.path().join("one")).expect("a directory");
        let text = "jobs = 0\nspeed = 1\n[[repository]]\npath = \"missing\"\n[[repository]]\npath = \"one\"\nurl = \"https://a.org/b\"\n\
            [[repository]]\npath = \"one\"\nbranch = \"main\"\n[[repository]]\npath = \"one\"\ngroup = [\"x\"]\n\
            [[repository]]\npattern = \"no*\"\n[[repository]]\nurl = \"https://a.org/c\"\nbranch = \"--upload-pack=x\"\n";
        let found = parsed(text, base.path()).expect_err("an invalid catalogue");
        for part in [
            "`jobs` must be",
            "unknown key `speed`",
            "cannot open missing",
            "exactly one of",
            "`branch` needs `url`",
            "`repository.group`",
            "two repositories are called `one`",
            "no directory matches no*",
            "`branch` must be",
        ] {
            assert!(found.contains(part), "{part} in {found}");
        }
    }

    #[test]
    fn only_usual_transports_without_passwords_are_accepted() {
        for url in [
            "https://example.org/a.git",
            "http://example.org/a",
            "ssh://git@example.org:22/a",
            "git://example.org/a",
            "file:///srv/a.git",
            "git@example.org:a/b.git",
            "example.org:a",
        ] {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
        for url in [
            "ext::sh -c touch% /tmp/x",
            "ext::sh",
            "fd::17/foo",
            "-oProxyCommand=x:y",
            "ftp://example.org/a",
            "https://ada:secret@example.org/a",
            "https://ghp_0123456789abcdefghijklmnopqrstuvwxyz@example.org/a",
            "https://",
            "/srv/a",
            "ssh://example.org/a\nb",
            "a b:c",
        ] {
            assert!(check_url(url).is_err(), "{url}");
        }
    }
}
