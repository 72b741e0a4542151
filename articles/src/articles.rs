//! Storage of a session's articles: one file per article, independent of the index.

use std::ffi::OsStr;
use std::io::{self, Write as _};

use aurora_confined::{Directory, EntryKind};
use aurora_redact::masked;
use serde::{Deserialize, Serialize};

use crate::error::ArticleError;

/// Maximum size of an article's file, in bytes.
const MAX_ARTICLE_BYTES: u64 = 32 << 20;
/// Name of the articles' directory inside a session's directory.
const ARTICLES: &str = "articles";
/// Extension of an article's file. The file name before the extension is the article's number.
const EXTENSION: &str = ".json";
/// Name of the file with the next unused article number. The file is written only when the newest article is removed,
/// because otherwise the newest article determines the next number.
const NEXT: &str = "next";
/// Upper bound on the numbers of articles and sessions. JSON parsers that use `f64` cannot represent all greater
/// numbers.
const MAX_ID: u64 = (1 << 53) - 1;

/// An article.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// Title.
    #[serde(default)]
    pub title: String,
    /// Address of the source.
    #[serde(default)]
    pub url: Option<String>,
    /// Content of the article, as Markdown or plain text.
    pub content: String,
}

impl Article {
    /// Masks the secrets in the texts of the article.
    pub(crate) fn without_secrets(self) -> Self {
        let Self { title, url, content } = self;
        Self { title: masked(title), url: url.map(masked), content: masked(content) }
    }
}

/// The result of adding an article.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AddedArticle {
    /// Number of the article.
    pub article_id: u64,
    /// Number of chunks that the article was split into.
    pub chunks: usize,
}

/// A list entry for an article, without its content.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArticleSummary {
    /// Number of the article.
    pub article_id: u64,
    /// Title.
    pub title: String,
    /// Address of the source.
    pub url: Option<String>,
    /// Number of chunks.
    pub chunks: usize,
}

/// The articles of a session.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArticleList {
    /// The articles, in the order in which they were added.
    pub articles: Vec<ArticleSummary>,
    /// Articles whose files cannot be read. Searches do not find these articles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableArticle>,
}

/// An article that the session ignores, because its file cannot be read.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableArticle {
    /// Number of the article.
    pub article_id: u64,
    /// Reason why the file cannot be read.
    pub reason: String,
}

/// The directory with the files of a session's articles.
pub(crate) struct Articles {
    session: Directory,
    directory: Directory,
    identity: Option<(u64, u64)>,
}

/// Returns the device and inode of the articles' directory; `None` if the directory does not exist.
fn identity(session: &Directory) -> Option<(u64, u64)> {
    session.metadata(ARTICLES).ok().map(|found| (found.device, found.inode))
}

impl Articles {
    /// Opens the articles' directory of a session, and creates it if it does not exist.
    pub(crate) fn open(session: Directory) -> Result<Self, ArticleError> {
        let failed = ArticleError::io(session.path().join(ARTICLES));
        let directory = session.create_directory(ARTICLES).map_err(failed)?;
        Ok(Self { identity: identity(&session), session, directory })
    }

    /// Opens the articles' directory of a session without creating it.
    pub(crate) fn open_read_only(session: Directory) -> Result<Self, ArticleError> {
        let failed = ArticleError::io(session.path().join(ARTICLES));
        let directory = session.open_directory(ARTICLES).map_err(failed)?;
        Ok(Self { identity: identity(&session), session, directory })
    }

    /// Returns the numbers of all articles in ascending order.
    pub(crate) fn ids(&self) -> Result<Vec<u64>, ArticleError> {
        let entries = self.directory.entries().map_err(ArticleError::io(self.directory.path().to_owned()))?;
        let mut ids: Vec<u64> = entries.iter().filter_map(|(name, _)| id_of_file(name)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the next unused article number.
    pub(crate) fn next(&self) -> Result<u64, ArticleError> {
        let after_last = self.ids()?.last().map_or(1, |last| last + 1);
        Ok(after_last.max(read_next(&self.session, NEXT)?.unwrap_or(1)))
    }

    /// Returns `true` if the articles' directory was removed or replaced since it was opened.
    pub(crate) fn are_gone(&self) -> bool {
        let there = Directory::open_root(self.session.path()).ok().and_then(|session| identity(&session));
        there.is_none() || there != self.identity
    }

    /// Removes a file or link at the place of the index directory `name`, so that the directory can be created. Does
    /// nothing if the directory exists.
    pub(crate) fn clear_index(&self, name: &OsStr) -> Result<(), ArticleError> {
        let failed = ArticleError::io(self.session.path().join(name));
        match self.session.metadata(name) {
            Ok(found) if found.kind != EntryKind::Directory => self.session.remove(name).map_err(failed),
            _ => Ok(()),
        }
    }

    /// Reads an article. Returns `None` if no article has this number.
    ///
    /// # Errors
    /// Fails if the article's file is damaged or cannot be read.
    pub(crate) fn read(&self, id: u64) -> Result<Option<Article>, UnreadableArticle> {
        let failed = |reason: String| UnreadableArticle { article_id: id, reason };
        let bytes = match self.directory.read(name(id), MAX_ARTICLE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(error.to_string()))
    }

    /// Returns `true` if a file exists for this number, even if the file is damaged.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.directory.metadata(name(id)).is_ok()
    }

    /// Writes an article. The article is durable after a call to [`Self::synchronise`].
    pub(crate) fn write(&self, id: u64, article: &Article) -> Result<(), ArticleError> {
        let failed = ArticleError::io(self.directory.path().join(name(id)));
        let write = || {
            let text = serde_json::to_vec(article)?;
            self.directory.replace(name(id), |file| file.write_all(&text).and_then(|()| file.sync_data()))
        };
        write().map_err(failed)
    }

    /// Removes an article. `next` is the next unused number. If the article has the greatest number, `next` is stored,
    /// so that the number is never assigned again. The removal is durable after a call to [`Self::synchronise`].
    pub(crate) fn remove(&self, id: u64, next: u64) -> Result<(), ArticleError> {
        if id + 1 == next {
            let noted = self.session.replace(NEXT, |file| writeln!(file, "{next}").and_then(|()| file.sync_data()));
            noted
                .and_then(|()| self.session.synchronise())
                .map_err(ArticleError::io(self.session.path().join(NEXT)))?;
        }
        self.directory.remove(name(id)).map_err(ArticleError::io(self.directory.path().join(name(id))))
    }

    /// Makes all writes and removals durable.
    pub(crate) fn synchronise(&self) -> Result<(), ArticleError> {
        self.directory.synchronise().map_err(ArticleError::io(self.directory.path().to_owned()))
    }
}

fn name(id: u64) -> String {
    format!("{id}{EXTENSION}")
}

fn id_of_file(name: &OsStr) -> Option<u64> {
    parse_id(name.to_str()?.strip_suffix(EXTENSION)?)
}

/// Parses the number of an article or a session. Rejects other spellings of a number, such as `007`.
pub(crate) fn parse_id(text: &str) -> Option<u64> {
    text.parse().ok().filter(|id: &u64| (1..=MAX_ID).contains(id) && id.to_string() == text)
}

/// Reads the next unused number from a file. Returns `None` if the file does not exist. Removes a damaged file with a
/// warning, because the caller can compute the number from the existing articles or sessions.
pub(crate) fn read_next(directory: &Directory, file: &str) -> Result<Option<u64>, ArticleError> {
    let read = match directory.read_to_string(file, 64) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(text) => parse_id(text.trim()).ok_or_else(|| "it is not a number".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    read.map(Some).or_else(|reason| {
        let path = directory.path().join(file);
        tracing::warn!(path = %path.display(), "removed a damaged file: {reason}");
        directory.remove(file).map_err(ArticleError::io(path))?;
        Ok(None)
    })
}
