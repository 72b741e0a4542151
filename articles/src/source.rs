//! The pipeline stages that are specific to articles. One stage supplies the articles as documents, and one adds the
//! title and address of the article to each chunk.

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

/// Prefix of the indexed paths of all articles.
const DIRECTORY: &str = "@@articles/";
/// Chunk column with the title of the article.
pub(crate) const TITLE: &str = "title";
/// Chunk column with the address of the article's source.
pub(crate) const URL: &str = "url";

/// Returns the stage types of a session's pipeline.
pub(crate) fn registry() -> Registry {
    let mut registry = document_source::registry::<Changes>();
    registry.register::<ArticleDetails>();
    registry
}

/// Returns the indexed path of an article.
pub(crate) fn path_of(article: u64) -> String {
    format!("{DIRECTORY}{article}")
}

/// Returns the number of the article that has an indexed path; `None` if the path is not a path of an article.
pub(crate) fn article_of(path: &str) -> Option<u64> {
    path.strip_prefix(DIRECTORY)?.parse().ok()
}

/// The changes that an index run processes.
pub(crate) struct Changes {
    pub(crate) articles: Arc<Articles>,
    /// Numbers of the added articles.
    pub(crate) added: Vec<u64>,
    /// Numbers of the removed articles.
    pub(crate) removed: Vec<u64>,
    /// Whether all other indexed articles stay in the index. If `false`, the run removes every article that is not in
    /// `added` from the index.
    pub(crate) keeps_rest: bool,
}

impl Changes {
    /// Creates the changes for a run that processes all articles.
    pub(crate) fn all(articles: &Arc<Articles>) -> Result<Self, ArticleError> {
        let added = articles.ids()?;
        Ok(Self { articles: Arc::clone(articles), added, removed: Vec::new(), keeps_rest: false })
    }

    /// Reads an article. If the article cannot be read, logs a warning and returns `None`, so that the run skips it.
    fn read(&self, id: u64, cx: &StageContext<'_>) -> Option<Article> {
        self.articles.read(id).unwrap_or_else(|unreadable| {
            cx.warn(&path_of(id), &unreadable.reason);
            tracing::warn!(article = id, "skipped an article that cannot be read: {}", unreadable.reason);
            None
        })
    }
}

/// Supplies the changed articles as documents to the stage `[stage.articles]`.
impl DocumentSource for Changes {
    const TYPE: &'static str = "articles";
    const VERSION: u32 = 2;
    const PIPELINE: &'static str = "knowledge";
    const STAGES: &'static str = "[stage.parse]\n[stage.chunk]\n[stage.article-details]\n";
    const LANGUAGE: &'static str = "markdown";
    const DIRECTORY: &'static str = DIRECTORY;
    // An article can be several megabytes long, so a batch contains only a few articles.
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

/// Settings of the stage `[stage.article-details]`. The stage writes the title and the address of an article to each of
/// its chunks. The title's words are indexed in every chunk, so a search for them finds all chunks.
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
            let mut articles: HashMap<u32, Option<Article>> = HashMap::new();
            let (mut titles, mut urls) = (Vec::new(), Vec::new());
            for &file in batch.chunk_files() {
                if let std::collections::hash_map::Entry::Vacant(entry) = articles.entry(file) {
                    let id = article_of(&paths[file as usize]);
                    entry.insert(id.and_then(|id| self.0.read(id, cx)));
                }
                let article = articles[&file].as_ref();
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
