//! The stages of a session's pipeline that handle articles: the source of documents, and the title and address of each
//! chunk.

use std::collections::HashMap;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, ColumnSpec, ColumnUses, DynamicType, Fingerprint, Registry, Stage, StageConfig,
    StageContext, StageError, Value, Worker,
};
use aurora_stages::columns::{Document, PATH};
use aurora_stages::document_source::{self, DocumentSource, Documents};
use serde::Deserialize;

use crate::articles::{Article, Articles};
use crate::error::ArticleError;

/// Directory of the documents of sessions.
const DIRECTORY: &str = "@@articles/";
/// Columns of the chunks.
pub(crate) const TITLE: &str = "title";
pub(crate) const URL: &str = "url";

/// The stage types of the pipeline of a session.
pub(crate) fn registry() -> Registry {
    let mut registry = document_source::registry::<Changes>();
    registry.register::<ArticleDetails>();
    registry
}

/// The indexed path of an article.
pub(crate) fn path_of(article: u64) -> String {
    format!("{DIRECTORY}{article}")
}

/// The number of the article with an indexed path.
pub(crate) fn article_of(path: &str) -> Option<u64> {
    path.strip_prefix(DIRECTORY)?.parse().ok()
}

/// The changes that a run examines.
pub(crate) struct Changes {
    pub(crate) articles: Arc<Articles>,
    /// Articles that were added.
    pub(crate) added: Vec<u64>,
    /// Articles that were removed.
    pub(crate) removed: Vec<u64>,
    /// Whether all other articles are unchanged; otherwise, articles that are not in `added` are gone.
    pub(crate) keeps_rest: bool,
}

impl Changes {
    /// Examines all articles.
    pub(crate) fn all(articles: &Arc<Articles>) -> Result<Self, ArticleError> {
        let added = articles.ids()?;
        Ok(Self { articles: Arc::clone(articles), added, removed: Vec::new(), keeps_rest: false })
    }

    /// Reads an article. An article that cannot be read is skipped with a warning, and the session works without it.
    fn read(&self, id: u64, cx: &StageContext<'_>) -> Option<Article> {
        self.articles.read(id).unwrap_or_else(|unreadable| {
            cx.warn(&path_of(id), &unreadable.reason);
            tracing::warn!(article = id, "skipped an article that cannot be read: {}", unreadable.reason);
            None
        })
    }
}

/// `[stage.articles]`: supplies the articles that have changed.
impl DocumentSource for Changes {
    const TYPE: &'static str = "articles";
    const VERSION: u32 = 2;
    const PIPELINE: &'static str = "knowledge";
    const STAGES: &'static str = "[stage.parse]\n[stage.chunk]\n[stage.article-details]\n";
    const LANGUAGE: &'static str = "markdown";
    const DIRECTORY: &'static str = DIRECTORY;
    // An article has at most a few megabytes.
    const MAX_BATCH: usize = 64;

    fn supply(&self, out: &mut Documents<'_, '_, Self>, cx: &StageContext<'_>) -> Result<(), StageError> {
        for &id in &self.added {
            if let Some(article) = self.read(id, cx) {
                out.push(path_of(id), Document::Text(article.content.into()))?;
            }
        }
        for &id in &self.removed {
            out.push(path_of(id), Document::Deleted)?;
        }
        if self.keeps_rest { out.keep_others() } else { Ok(()) }
    }
}

/// `[stage.article-details]`: title and address of each chunk's article. Every chunk is found by the words of the
/// title.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArticleDetails {}

impl StageConfig for ArticleDetails {
    const TYPE: &'static str = "article-details";

    fn access(&self) -> Access {
        let title = ColumnUses { terms: Some(1), embed: true, ..ColumnUses::default() };
        Access::transform().reads([PATH.spec()]).reads([ColumnSpec::named("chunk.text")]).writes([
            ColumnSpec::dynamic(TITLE, DynamicType::String).used(title),
            ColumnSpec::dynamic(URL, DynamicType::String),
        ])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ArticleDetailsStage(document_source::service(cx)?)))
    }
}

struct ArticleDetailsStage(Arc<Changes>);

impl Stage for ArticleDetailsStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, cx: &StageContext<'_>| {
            let paths = batch.read(PATH)?;
            let mut known: HashMap<u32, Option<Article>> = HashMap::new();
            let (mut titles, mut urls) = (Vec::new(), Vec::new());
            for &file in batch.chunk_files() {
                if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(file) {
                    let id = article_of(&paths[file as usize]);
                    entry.insert(id.and_then(|id| self.0.read(id, cx)));
                }
                let article = known[&file].as_ref();
                let title = article.map(|article| &article.title).filter(|title| !title.is_empty());
                titles.push(title.map(|title| Value::String(title.clone())));
                urls.push(article.and_then(|article| article.url.clone()).map(Value::String));
            }
            batch.write_dynamic(TITLE, titles)?;
            Ok(batch.write_dynamic(URL, urls)?)
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(ArticleDetails::TYPE, 1)
    }
}
