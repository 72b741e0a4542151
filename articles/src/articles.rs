//! The articles of a session: one file each, independent of the index.

use std::ffi::OsStr;
use std::io::{self, Write as _};

use aurora_confined::{Directory, EntryKind};
use aurora_redact::masked;
use serde::{Deserialize, Serialize};

use crate::error::ArticleError;

/// Maximum size of the file of an article, in bytes.
const MAX_ARTICLE_BYTES: u64 = 32 << 20;
/// Directory of the articles in the directory of a session.
const ARTICLES: &str = "articles";
/// Suffix of the file name of an article, after its number.
const EXTENSION: &str = ".json";
/// File with the next unused article number. Written only when the existing articles do not determine it.
const NEXT: &str = "next";
/// Maximum number of an article or a session: greater numbers are not exact in JSON.
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
    /// Its text: Markdown, or plain text.
    pub content: String,
}

impl Article {
    /// Masks the secrets in the texts of the article.
    pub(crate) fn without_secrets(self) -> Self {
        let Self { title, url, content } = self;
        Self { title: masked(title), url: url.map(masked), content: masked(content) }
    }
}

/// An article that was added.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AddedArticle {
    /// Number of the article.
    pub article_id: u64,
    /// Number of chunks.
    pub chunks: usize,
}

/// An article in a list.
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
    /// Articles whose files cannot be read; no search finds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableArticle>,
}

/// An article whose file cannot be read; the session ignores it.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableArticle {
    /// Number of the article.
    pub article_id: u64,
    /// The reason why it cannot be read.
    pub reason: String,
}

/// The articles of a session.
pub(crate) struct Articles {
    session: Directory,
    directory: Directory,
    identity: Option<(u64, u64)>,
}

/// Device and inode of the directory of the articles.
fn identity(session: &Directory) -> Option<(u64, u64)> {
    session.metadata(ARTICLES).ok().map(|found| (found.device, found.inode))
}

impl Articles {
    /// Opens the articles in the directory of a session.
    pub(crate) fn open(session: Directory) -> Result<Self, ArticleError> {
        let failed = ArticleError::io(session.path().join(ARTICLES));
        let directory = session.create_directory(ARTICLES).map_err(failed)?;
        Ok(Self { identity: identity(&session), session, directory })
    }

    /// Opens the articles without write access.
    pub(crate) fn open_read_only(session: Directory) -> Result<Self, ArticleError> {
        let failed = ArticleError::io(session.path().join(ARTICLES));
        let directory = session.open_directory(ARTICLES).map_err(failed)?;
        Ok(Self { identity: identity(&session), session, directory })
    }

    /// The numbers of the articles, ascending.
    pub(crate) fn ids(&self) -> Result<Vec<u64>, ArticleError> {
        let entries = self.directory.entries().map_err(ArticleError::io(self.directory.path().to_owned()))?;
        let mut ids: Vec<u64> = entries.iter().filter_map(|(name, _)| id_of_file(name)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The next unused article number.
    pub(crate) fn next(&self) -> Result<u64, ArticleError> {
        let after_last = self.ids()?.last().map_or(1, |last| last + 1);
        Ok(after_last.max(read_next(&self.session, NEXT)?.unwrap_or(1)))
    }

    /// Whether another process has removed or replaced the directory.
    pub(crate) fn are_gone(&self) -> bool {
        let there = Directory::open_root(self.session.path()).ok().and_then(|session| identity(&session));
        there.is_none() || there != self.identity
    }

    /// Removes the index unless it is a directory.
    pub(crate) fn clear_index(&self, name: &OsStr) -> Result<(), ArticleError> {
        let failed = ArticleError::io(self.session.path().join(name));
        match self.session.metadata(name) {
            Ok(found) if found.kind != EntryKind::Directory => self.session.remove(name).map_err(failed),
            _ => Ok(()),
        }
    }

    /// Reads an article; `None` if there is no article with this number.
    ///
    /// # Errors
    /// When the file of the article is damaged, or cannot be read.
    pub(crate) fn read(&self, id: u64) -> Result<Option<Article>, UnreadableArticle> {
        let failed = |reason: String| UnreadableArticle { article_id: id, reason };
        let bytes = match self.directory.read(name(id), MAX_ARTICLE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(error.to_string()))
    }

    /// Whether a file exists for this number, even a damaged one.
    pub(crate) fn contains(&self, id: u64) -> bool {
        self.directory.metadata(name(id)).is_ok()
    }

    /// Writes an article. It is durable after [`Self::synchronise`].
    pub(crate) fn write(&self, id: u64, article: &Article) -> Result<(), ArticleError> {
        let failed = ArticleError::io(self.directory.path().join(name(id)));
        let write = || {
            let text = serde_json::to_vec(article)?;
            self.directory.replace(name(id), |file| file.write_all(&text).and_then(|()| file.sync_data()))
        };
        write().map_err(failed)
    }

    /// Removes an article. Its id is never assigned again: if the session has no greater id, `next` is stored. The
    /// removal is durable after [`Self::synchronise`].
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

/// Parses the number of an article or a session; accepts only its canonical form.
pub(crate) fn parse_id(text: &str) -> Option<u64> {
    text.parse().ok().filter(|id: &u64| (1..=MAX_ID).contains(id) && id.to_string() == text)
}

/// Reads the number in a file of a directory; `None` without such a file. A damaged file is removed with a warning,
/// because the numbers in use are known without it.
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
