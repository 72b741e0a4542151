//! The articles of a session: one file each, which a change of the index never touches.

use std::ffi::OsStr;
use std::io::{self, Write as _};

use aurora_confined::Directory;
use aurora_redact::masked;
use serde::{Deserialize, Serialize};

use crate::error::KnowledgeError;

/// Most bytes of the file of an article.
const MOST_BYTES: u64 = 32 << 20;
/// Directory of the articles in that of a session.
const ARTICLES: &str = "articles";
/// What the name of an article's file ends with, after its number.
const EXTENSION: &str = ".json";
/// Holds the least number that no article has had, where the articles that are there do not tell it.
const NEXT: &str = "next";

/// An article.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// What it is called.
    #[serde(default)]
    pub title: String,
    /// Where it comes from.
    #[serde(default)]
    pub url: Option<String>,
    /// Its text: Markdown, or plain text.
    pub content: String,
}

impl Article {
    /// The same article with the secrets in its texts masked.
    pub(crate) fn without_secrets(self) -> Self {
        let Self { title, url, content } = self;
        Self { title: masked(title), url: url.map(masked), content: masked(content) }
    }
}

/// An article that was added.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AddedArticle {
    /// Its number.
    pub article_id: u64,
    /// How many chunks it has.
    pub chunks: usize,
}

/// An article in a list.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArticleSummary {
    /// Its number.
    pub article_id: u64,
    /// What it is called.
    pub title: String,
    /// Where it comes from.
    pub url: Option<String>,
    /// How many chunks it has.
    pub chunks: usize,
}

/// The articles of a session.
pub(crate) struct Articles {
    session: Directory,
    directory: Directory,
}

impl Articles {
    /// The articles in the directory of a session.
    pub(crate) fn open(session: Directory) -> Result<Self, KnowledgeError> {
        let failed = KnowledgeError::io(session.path().join(ARTICLES));
        let directory = session.create_directory(ARTICLES).map_err(failed)?;
        Ok(Self { session, directory })
    }

    /// The same where nothing may be written.
    pub(crate) fn reading(session: Directory) -> Result<Self, KnowledgeError> {
        let failed = KnowledgeError::io(session.path().join(ARTICLES));
        let directory = session.open_directory(ARTICLES).map_err(failed)?;
        Ok(Self { session, directory })
    }

    /// The numbers of the articles, ascending.
    pub(crate) fn ids(&self) -> Result<Vec<u64>, KnowledgeError> {
        let entries = self.directory.entries().map_err(KnowledgeError::io(self.directory.path().to_owned()))?;
        let mut ids: Vec<u64> = entries.iter().filter_map(|(name, _)| id_of(name)).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The least number that no article has had.
    pub(crate) fn next(&self) -> Result<u64, KnowledgeError> {
        let after_last = self.ids()?.last().map_or(1, |last| last + 1);
        let noted = match self.session.read_to_string(NEXT, 64) {
            Ok(text) => text.trim().parse().unwrap_or(1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 1,
            Err(error) => return Err(KnowledgeError::io(self.session.path().join(NEXT))(error)),
        };
        Ok(after_last.max(noted))
    }

    /// An article; `None` if there is none of this number.
    pub(crate) fn read(&self, id: u64) -> Result<Option<Article>, KnowledgeError> {
        let failed = |error| KnowledgeError::io(self.directory.path().join(name(id)))(error);
        let bytes = match self.directory.read(name(id), MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(error.into()))
    }

    /// Writes an article. It is durable after [`Self::synchronise`].
    pub(crate) fn write(&self, id: u64, article: &Article) -> Result<(), KnowledgeError> {
        let failed = KnowledgeError::io(self.directory.path().join(name(id)));
        let write = || {
            let text = serde_json::to_vec(article)?;
            self.directory.replace(name(id), |file| file.write_all(&text).and_then(|()| file.sync_data()))
        };
        write().map_err(failed)
    }

    /// Removes an article. Its id is never assigned again: if no greater id is in use, `next` is stored. The removal is durable
    /// after [`Self::synchronise`].
    pub(crate) fn remove(&self, id: u64, next: u64) -> Result<(), KnowledgeError> {
        if id + 1 == next {
            let noted = self.session.replace(NEXT, |file| writeln!(file, "{next}").and_then(|()| file.sync_data()));
            noted
                .and_then(|()| self.session.synchronise())
                .map_err(KnowledgeError::io(self.session.path().join(NEXT)))?;
        }
        self.directory.remove(name(id)).map_err(KnowledgeError::io(self.directory.path().join(name(id))))
    }

    /// Makes everything durable that was written and removed.
    pub(crate) fn synchronise(&self) -> Result<(), KnowledgeError> {
        self.directory.synchronise().map_err(KnowledgeError::io(self.directory.path().to_owned()))
    }
}

fn name(id: u64) -> String {
    format!("{id}{EXTENSION}")
}

fn id_of(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_suffix(EXTENSION)?.parse().ok()
}
