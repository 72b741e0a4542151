//! A session: articles, and search within them.

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

/// A session: articles, and search within them. A search sees every article that was acknowledged before it began.
pub struct Session {
    id: u64,
    writer: Arc<SessionWriter>,
    is_read_only: bool,
}

impl Session {
    /// Opens the session in its directory.
    pub(crate) fn open(
        id: u64,
        directory: Directory,
        (registry, slots): (Arc<Registry>, Arc<RunSlots>),
        is_read_only: bool,
        cancel: &CancelToken,
    ) -> Result<Self, ArticleError> {
        if !is_read_only {
            // As private as the session, because the index contains the texts of its articles.
            let path = directory.path().to_owned();
            let create = || directory.create_directory(ProjectDirectory::NAME);
            // Anything but a directory is not an index, and the index can be rebuilt from the articles.
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

    /// Whether a process has opened the session in a directory for writing.
    pub(crate) fn has_been_opened(directory: &Directory) -> bool {
        Project::new(directory.path().to_owned(), Arc::default()).has_index()
    }

    /// The generation to search.
    fn generation(&self) -> Result<Arc<Generation>, ArticleError> {
        if self.is_read_only { self.writer.newest() } else { Ok(self.writer.generation()) }
    }

    /// Whether no request uses the session.
    pub(crate) fn is_idle(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && Arc::strong_count(&self.writer) == 1
    }

    /// Whether its directory was removed.
    pub(crate) fn is_gone(&self) -> bool {
        self.writer.articles().are_gone()
    }

    /// Waits for the current change, and rejects all later ones.
    pub(crate) fn close(&self) {
        self.writer.close();
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Adds an article. Returns when the article is durable and every later search finds it.
    ///
    /// # Errors
    /// [`ArticleError::InvalidArticle`] for an article without text or with a NUL character, or an error when the
    /// article cannot be written.
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
    /// [`ArticleError::NoArticle`], or an error when the article cannot be removed.
    pub async fn remove(&self, article: u64) -> Result<(), ArticleError> {
        let (done, result) = oneshot::channel();
        self.writer.submit(Change::Remove(article, done))?;
        result.await.map_err(|_| ArticleError::Aborted(self.id))?
    }

    /// The articles, in the order in which they were added.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn articles(&self, work: &WorkBudget) -> Result<ArticleList, ArticleError> {
        let generation = self.generation()?;
        let mut list = ArticleList::default();
        let indexed = generation.articles()?;
        for article_id in self.writer.articles().ids()? {
            work.check().map_err(QueryError::from)?;
            match self.writer.articles().read(article_id) {
                // An article that is not indexed yet has not been acknowledged.
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
    /// When the query is invalid, or the index cannot be read.
    pub fn search(&self, request: &ArticleRequest, work: &WorkBudget) -> Result<ArticleAnswer, ArticleError> {
        let generation = self.generation()?;
        if generation.snapshot().manifest().chunk_count == 0 {
            return Ok(ArticleAnswer::empty(request));
        }
        generation.answer(request, work)
    }

    /// The statistics of the session.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn stats(&self) -> Result<SessionStats, ArticleError> {
        Ok(SessionStats {
            session_id: self.id,
            bm25_index_exists: true,
            total_chunks: self.generation()?.snapshot().manifest().chunk_count,
            search_modes_available: vec![Mode::Dense, Mode::Sparse, Mode::Hybrid],
        })
    }
}
