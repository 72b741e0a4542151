//! The stages of a session's pipeline that handle articles: the source of documents, and the title and address of each
//! chunk.

use std::collections::HashMap;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, ColumnSpec, ColumnUses, DynamicType, Emitter, Fingerprint, Registry, Stage,
    StageConfig, StageContext, StageError, Value, Worker, producer,
};
use aurora_stages::columns::{DOCUMENT, Document, LANGUAGE, MTIME, PATH, SIZE};
use aurora_stages::emit_documents;
use aurora_stages::index::PipelineChoice;
use serde::Deserialize;

use crate::articles::{Article, Articles};
use crate::error::KnowledgeError;

/// Directory of the documents of sessions. Documents of a supplier are below `@` and its name, and documents whose
/// paths carry no meaning below `@@`.
const DIRECTORY: &str = "@@articles/";
const LANGUAGE_OF_ARTICLES: &str = "markdown";
/// Maximum number of articles in one batch.
const MAX_BATCH_ARTICLES: usize = 64;
/// Columns of the chunks.
pub(crate) const TITLE: &str = "title";
pub(crate) const URL: &str = "url";

/// The pipeline of a session.
pub(crate) fn pipeline() -> PipelineChoice {
    let text = "[stage.articles]\n[stage.incremental-check]\ngit = false\n[stage.parse]\n[stage.chunk]\n[stage.article-details]\n\
                [stage.embed]\nmodel = \"static\"\n[stage.store]\n[stage.bm25]\n";
    PipelineChoice::Text { name: "knowledge".to_owned(), text: text.to_owned() }
}

/// The stage types of the pipeline of a session.
pub(crate) fn registry() -> Registry {
    let mut registry = aurora_stages::registry();
    registry.register::<ArticleSource>();
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
    pub(crate) fn all(articles: &Arc<Articles>) -> Result<Self, KnowledgeError> {
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

fn changes(cx: &BuildContext<'_>) -> Result<Arc<Changes>, StageError> {
    cx.services.get::<Changes>().ok_or_else(|| StageError::new("this stage runs only for a session"))
}

/// `[stage.articles]`: supplies the articles that have changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArticleSource {}

impl StageConfig for ArticleSource {
    const TYPE: &'static str = "articles";

    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec(), DOCUMENT.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ArticleSourceStage(changes(cx)?)))
    }
}

struct ArticleSourceStage(Arc<Changes>);

impl Stage for ArticleSourceStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
            for ids in self.0.added.chunks(MAX_BATCH_ARTICLES) {
                let mut rows = Vec::with_capacity(ids.len());
                for &id in ids {
                    let article = self.0.read(id, cx);
                    rows.extend(article.map(|article| (path_of(id), Document::Text(article.content.into()))));
                }
                emit_documents(rows, LANGUAGE_OF_ARTICLES, out)?;
            }
            let removed = self.0.removed.iter().map(|&id| (path_of(id), Document::Deleted));
            let rest = self.0.keeps_rest.then(|| (DIRECTORY.to_owned(), Document::Rest));
            emit_documents(removed.chain(rest).collect(), LANGUAGE_OF_ARTICLES, out)
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(ArticleSource::TYPE, 2)
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
        Ok(Box::new(ArticleDetailsStage(changes(cx)?)))
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
