//! A session: a set of articles that can be changed and searched.

use std::sync::Arc;

use aurora_confined::Directory;
use aurora_pipeline::{CancelToken, Registry};
use aurora_project::Project;
use aurora_query::{Mode, QueryError, WorkBudget};
use aurora_storage::ProjectDirectory;
use tokio::sync::oneshot;

use crate::articles::{AddedArticle, Article, ArticleList, ArticleSummary, Articles};
use crate::error::ArticleError;
use crate::run_slots::RunSlots;
use crate::search::{ArticleAnswer, ArticleRequest, Generation, SessionStats};
use crate::writer::{Change, SessionWriter};

/// A set of articles that can be changed and searched. A search sees every change that was acknowledged before the
/// search began.
pub struct Session {
    id: u64,
    writer: Arc<SessionWriter>,
    is_read_only: bool,
}

impl Session {
    /// Opens the session in a directory.
    pub(crate) fn open(
        id: u64,
        directory: Directory,
        (registry, slots): (Arc<Registry>, Arc<RunSlots>),
        is_read_only: bool,
        cancel: &CancelToken,
    ) -> Result<Self, ArticleError> {
        if !is_read_only {
            // The index contains the texts of the articles, so its directory gets the same permissions as the session.
            let path = directory.path().to_owned();
            let create = || directory.create_directory(ProjectDirectory::NAME);
            // A file or link with this name is not an index. It is removed, because an index can be built from the
            // articles.
            let created = create().or_else(|_| directory.remove(ProjectDirectory::NAME).and_then(|()| create()));
            created.map_err(ArticleError::io(path))?;
        }
        let project = Project::new(directory.path().to_owned(), registry);
        let writer = match is_read_only {
            true => SessionWriter::open_read_only(id, project, Articles::open_read_only(directory)?, slots),
            false => SessionWriter::open(id, project, Articles::open(directory)?, slots, cancel),
        };
        Ok(Self { id, writer: Arc::new(writer?), is_read_only })
    }

    /// Returns `true` if the session in a directory has an index, which the first writing process creates.
    pub(crate) fn has_been_opened(directory: &Directory) -> bool {
        Project::new(directory.path().to_owned(), Arc::default()).has_index()
    }

    /// Returns the generation to search.
    fn generation(&self) -> Result<Arc<Generation>, ArticleError> {
        if self.is_read_only { self.writer.newest() } else { Ok(self.writer.generation()) }
    }

    /// Returns `true` if no request uses the session.
    pub(crate) fn is_idle(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.writer) == 1
    }

    /// Returns `true` if the directory of the session was removed or replaced.
    pub(crate) fn is_gone(&self) -> bool {
        self.writer.articles().are_gone()
    }

    /// Waits until the current changes are applied. All later changes are rejected.
    pub(crate) fn close(&self) {
        self.writer.close();
    }

    /// Returns the number of the session.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Adds an article, with its secrets masked. Returns when the article is durable and every later search finds it.
    ///
    /// # Errors
    /// Returns [`ArticleError::InvalidArticle`] for an article without text or with a NUL character. Fails if the
    /// article cannot be written or indexed.
    pub async fn add(&self, article: Article) -> Result<AddedArticle, ArticleError> {
        if article.content.trim().is_empty() {
            return Err(ArticleError::InvalidArticle("`content` is empty".to_owned()));
        }
        let texts = [Some(article.title.as_str()), article.url.as_deref(), Some(&article.content)];
        if texts.into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(ArticleError::InvalidArticle("the article contains a NUL character".to_owned()));
        }
        let (done, result) = oneshot::channel();
        self.writer.submit(Change::Add(article.without_secrets(), done))?;
        result.await.map_err(|_| ArticleError::Aborted(self.id))?
    }

    /// Removes an article. Returns when the removal is durable and no later search finds it.
    ///
    /// # Errors
    /// Returns [`ArticleError::NoArticle`] if the session has no article with this number. Fails if the article cannot
    /// be removed.
    pub async fn remove(&self, article: u64) -> Result<(), ArticleError> {
        let (done, result) = oneshot::channel();
        self.writer.submit(Change::Remove(article, done))?;
        result.await.map_err(|_| ArticleError::Aborted(self.id))?
    }

    /// Lists the articles in the order in which they were added.
    ///
    /// # Errors
    /// Fails if the directory or the index cannot be read, or if the work budget is exhausted.
    pub fn articles(&self, work: &WorkBudget) -> Result<ArticleList, ArticleError> {
        let generation = self.generation()?;
        let mut list = ArticleList::default();
        let indexed = generation.articles()?;
        for article_id in self.writer.articles().ids()? {
            work.check().map_err(QueryError::from)?;
            match self.writer.articles().read(article_id) {
                // An article that is not indexed yet has not been acknowledged, so it is not listed.
                Ok(Some(Article { title, url, .. })) if indexed.binary_search(&article_id).is_ok() => {
                    let chunks = generation.chunks(article_id)?.len();
                    list.articles.push(ArticleSummary { article_id, title, url, chunks });
                }
                Ok(_) => {}
                Err(unreadable) => list.unreadable.push(unreadable),
            }
        }
        Ok(list)
    }

    /// Searches the session.
    ///
    /// # Errors
    /// Fails if the query is invalid or the index cannot be read.
    pub fn search(&self, request: &ArticleRequest, work: &WorkBudget) -> Result<ArticleAnswer, ArticleError> {
        let generation = self.generation()?;
        if generation.snapshot().manifest().chunk_count == 0 {
            return Ok(ArticleAnswer::empty(request));
        }
        generation.answer(request, work)
    }

    /// Returns statistics of the session.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn stats(&self) -> Result<SessionStats, ArticleError> {
        Ok(SessionStats {
            session_id: self.id,
            bm25_index_exists: true,
            total_chunks: self.generation()?.snapshot().manifest().chunk_count,
            search_modes_available: vec![Mode::Dense, Mode::Sparse, Mode::Hybrid],
        })
    }
}
