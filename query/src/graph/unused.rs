//! Definitions that nothing mentions.
//!
//! Definitions that something outside the repository may use without their names are excluded: entry points, overridden
//! members, members that a framework finds by an annotation. Exported definitions have a low confidence.

use std::collections::BTreeMap;
use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkRecord, ChunkType, FileOutcome};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::index::{Definition, Index, Result};
use super::mentions::{Mentioned, Mentions};
use super::outside_uses::OutsideUses;
use super::relations::RelationIndex;
use super::scope;
use super::syntax::{self, Imports};
use crate::path_class::{PathClass, PathClasses};

/// Default of [`UnusedOptions::min_confidence`]. Exported definitions, and definitions that only tests mention, have a
/// lower confidence.
pub const MIN_UNUSED_CONFIDENCE: f32 = 0.7;

/// Maximum number of subtypes that are examined for one member.
const MAX_SUBTYPES: usize = 64;

/// Options of a search for unused definitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnusedOptions {
    /// Minimum confidence, 0..=1.
    pub min_confidence: f32,
    /// Language of the definitions, as chunks store it; `None` for all languages.
    pub language: Option<String>,
    /// Path of a file or directory that contains the definitions; `None` for all files.
    pub path: Option<String>,
}

/// The reason why a definition counts as unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum UnusedReason {
    /// The name occurs nowhere else.
    Unmentioned,
    /// The name occurs elsewhere only in comments.
    OnlyComments,
    /// The name occurs elsewhere only in tests.
    OnlyTests,
    /// A public method that only returns or sets a field. Libraries for serialisation find such methods by name.
    Accessor,
    /// The name occurs nowhere else, but code outside the repository may use it.
    Exported,
}

impl UnusedReason {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Estimated share of definitions with this reason that are unused.
    fn confidence(self) -> f32 {
        match self {
            Self::Unmentioned => 0.95,
            Self::OnlyComments => 0.85,
            Self::OnlyTests | Self::Accessor => 0.6,
            Self::Exported => 0.5,
        }
    }
}

/// A definition that nothing in the repository uses.
#[derive(Debug, Clone, PartialEq)]
pub struct UnusedDefinition {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// The reason.
    pub reason: UnusedReason,
    /// Probability that the definition is unused, 0..=1.
    pub confidence: f32,
}

/// The unused definitions of a generation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnusedDefinitions {
    /// The definitions, ordered by key.
    pub list: Vec<UnusedDefinition>,
    /// Number of definitions that are left out because of a low confidence.
    pub left_out: usize,
    /// Number of definitions that were examined.
    pub examined: usize,
    /// Number of source files that are not indexed, such as minified or very large files, except generated and vendored
    /// code. They may use the definitions.
    pub not_indexed: usize,
    /// Whether definitions may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

impl RelationIndex<'_> {
    /// Returns the definitions that nothing in the repository uses. After cancellation, the list is partial.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn unused(&self, options: &UnusedOptions) -> Result<UnusedDefinitions> {
        let index = &self.index;
        let mentions = Mentions::read(index)?;
        let outside = OutsideUses::new(index, &mentions);
        let mut found = UnusedDefinitions { is_cut: mentions.is_cut, ..UnusedDefinitions::default() };
        let mut list = BTreeMap::new();
        for one in mentions.definitions.iter().filter(|one| one.is_candidate) {
            if self.is_cancelled() {
                found.is_cut = true;
                break;
            }
            let Some(chunk) = index.snapshot.chunk(one.id)? else { continue };
            let is_below = |path: &String| {
                let rest = one.path.strip_prefix(path.trim_end_matches('/'));
                path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !options.path.as_ref().is_none_or(is_below)
                || options.language.as_ref().is_some_and(|wanted| wanted != chunk.language())
            {
                continue;
            }
            found.examined += 1;
            let mut reason = match mentions.mentioned(index, one)? {
                Mentioned::Nowhere => UnusedReason::Unmentioned,
                Mentioned::InComments => UnusedReason::OnlyComments,
                Mentioned::InTests => UnusedReason::OnlyTests,
                Mentioned::InCode => continue,
            };
            index.begin();
            let Some(definition) = index.definition(one.id)? else { continue };
            if outside.may_use(&definition)? {
                continue;
            }
            if self.is_api(&definition, &chunk)? {
                reason = UnusedReason::Exported;
            } else if is_accessor(index, &definition)? {
                reason = reason.max(UnusedReason::Accessor);
            }
            let confidence = reason.confidence();
            if confidence < options.min_confidence {
                found.left_out += 1;
                continue;
            }
            list.insert(definition.key.clone(), UnusedDefinition { id: one.id, reason, confidence });
        }
        found.list = list.into_values().collect();
        found.not_indexed = self.not_indexed()?;
        Ok(found)
    }

    fn not_indexed(&self) -> Result<usize> {
        let mut count = 0;
        for file in self.index.snapshot.files() {
            let file = file?;
            let classes = PathClasses::for_path(&file.path);
            let is_foreign = [PathClass::Generated, PathClass::Vendored].iter().any(|class| classes.contains(*class));
            let is_source = syntax::for_language(&file.language).is_known() && !is_foreign;
            count += usize::from(is_source && matches!(file.outcome, FileOutcome::Skipped(_)));
        }
        Ok(count)
    }

    /// Returns whether code outside the repository may use a definition by its name.
    fn is_api(&self, of: &Rc<Definition>, chunk: &ChunkRecord<'_>) -> Result<bool> {
        let index = &self.index;
        let signature = index.signature_text(of)?;
        // In dynamic languages, code can call a method without naming its type.
        let is_hidden = of.name.starts_with('_') || signature.starts_with("private") || signature.contains('#');
        let is_duck_typed = of.kind == ChunkType::Method && !of.syntax.fixed_members && !is_hidden;
        if !chunk.exported() {
            return Ok(is_duck_typed || self.is_inherited_from_outside(of, &signature)?);
        }
        Ok(match of.syntax.imports {
            // Other packages can satisfy their interfaces with exported methods.
            Imports::Go => {
                let is_hidden = of.path.split('/').any(|part| part == "internal" || part == "cmd");
                of.kind == ChunkType::Method || !(is_hidden || index.package(&of.path)?.as_deref() == Some("main"))
            }
            Imports::Rust => !signature.starts_with("pub(") && super::crates::is_library(index, of)?,
            _ => true,
        })
    }

    /// Returns whether an exported subtype makes a public member of a hidden type in Java visible.
    fn is_inherited_from_outside(&self, of: &Rc<Definition>, signature: &str) -> Result<bool> {
        let is_open = signature.split(' ').any(|word| matches!(word, "public" | "protected"));
        if of.syntax.imports != Imports::Package || of.kind != ChunkType::Method || !is_open {
            return Ok(false);
        }
        let mut queue = Vec::from_iter(scope::enclosing_type(&self.index, of)?);
        let mut seen = FxHashSet::default();
        while let Some(at) = queue.pop().filter(|_| seen.len() < MAX_SUBTYPES) {
            for subtype in &self.subtypes(&at)?.0 {
                let id = subtype.definition.id;
                if self.index.snapshot.chunk(id)?.is_some_and(|chunk| chunk.exported()) {
                    return Ok(true);
                }
                if seen.insert(id) {
                    queue.push(Rc::clone(&subtype.definition));
                }
            }
        }
        Ok(false)
    }
}

/// Returns whether a method in Java is a public accessor of a type that is not private: it only returns or sets a field.
fn is_accessor(index: &Index<'_>, of: &Rc<Definition>) -> Result<bool> {
    let rest = ["get", "set", "is"].iter().find_map(|start| of.name.strip_prefix(start));
    let is_named = rest.is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let has_modifier =
        |of: &Definition, modifier: &str| Ok(index.signature_text(of)?.split(' ').any(|word| word == modifier));
    if of.syntax.imports != Imports::Package || !is_named || !has_modifier(of, "public")? {
        return Ok(false);
    }
    if let Some(own) = scope::enclosing_type(index, of)?
        && has_modifier(&own, "private")?
    {
        return Ok(false);
    }
    let tokens = index.tokens(of)?;
    let Some(open) = (0..tokens.len()).find(|at| tokens.at(*at) == "{" && tokens.opener(*at).is_none()) else {
        return Ok(false);
    };
    let body = (open + 1..tokens.closer(open).unwrap_or(tokens.len())).map(|at| tokens.at(at));
    let body: Vec<&str> = body.filter(|token| !matches!(*token, "this" | ".")).collect();
    let is_field = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    Ok(match body.as_slice() {
        ["return", field, ";"] => is_field(field),
        [field, "=", value, ";"] | [field, "=", value, ";", "return", ";"] => is_field(field) && is_field(value),
        _ => false,
    })
}
