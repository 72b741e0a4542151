//! Findings about entries that make the answers of a memory worse: duplicates, echoes of prompts, references to code
//! that is gone or has changed, contradictions, secrets, and entries that no search has returned.
//!
//! An audit reads every entry once. It keeps only hashes, ids and short values in memory, so its time and memory grow
//! linearly with the number of entries.

mod code;
mod echo;
mod finding;
mod similar;
mod statements;

use std::collections::HashMap;

use aurora_memory_schema::{Entry, Kind, normalized_text};
use aurora_redact::has_secret;
use serde::Serialize;

pub use code::ProjectCode;
pub use finding::{Finding, FindingKind, Repair};

use self::echo::Echoes;
use self::similar::SimilarTexts;
use self::statements::Statements;
use crate::error::MemoryError;
use crate::memory::{Memory, entry_of};
use crate::place::Owner;
use crate::store::{Change, ContentKey, EntryView, Version};

/// Seconds per day.
const DAY: i64 = 86_400;

/// The options of an audit, with the texts and the code that entries are compared with.
#[derive(Default)]
pub struct AuditOptions<'a> {
    /// The kinds of findings to look for; empty for all kinds.
    pub kinds: Vec<FindingKind>,
    /// Prompts of people and agents, such as the queries of conversation logs. The audit adds the turns and searches
    /// that the memory itself contains.
    pub prompts: Vec<String>,
    /// The names and texts of files with instructions for agents.
    pub instructions: Vec<(String, String)>,
    /// The code of the project; `None` if it is not known. Only the memory of a project refers to it.
    pub code: Option<&'a ProjectCode>,
    /// Number of days after which an entry that no search has returned is reported.
    pub unused_days: u32,
}

/// The result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Number of entries that were read.
    pub entries: u64,
    /// The findings, sorted by kind and id.
    pub findings: Vec<Finding>,
}

impl Memory {
    /// Returns the findings about the entries at `now`, in Unix seconds.
    ///
    /// # Errors
    /// Fails if the entries cannot be read.
    pub fn audit(&self, options: &AuditOptions<'_>, now: i64) -> Result<Audit, MemoryError> {
        let view = self.view()?;
        let mut auditor = Auditor::new(options, self.place().owner(), now);
        view.for_each_query(|query| auditor.echoes.add_prompt(query))?;
        self.visit_entries(&view, |id, version, access| {
            let entry = entry_of(id, version)?;
            auditor.entry(&entry, version, access.is_some_and(|access| access.count > 0))
        })?;
        auditor.finish(&view)
    }
}

/// An entry as the audit remembers it.
#[derive(Debug, Clone)]
struct Seen {
    id: Box<str>,
    /// The time at which the entry was added, for the order of entries.
    created: i64,
}

struct Auditor<'a> {
    options: &'a AuditOptions<'a>,
    owner: Owner,
    now: i64,
    audit: Audit,
    /// All entries except turns.
    seen: Vec<Seen>,
    /// The indexes of the entries in `seen`, by content.
    contents: HashMap<ContentKey, Vec<u32>>,
    similar: SimilarTexts,
    echoes: Echoes,
    statements: Statements,
}

impl<'a> Auditor<'a> {
    fn new(options: &'a AuditOptions<'a>, owner: Owner, now: i64) -> Self {
        let mut echoes = Echoes::default();
        options.prompts.iter().for_each(|prompt| echoes.add_prompt(prompt));
        options.instructions.iter().for_each(|(name, text)| echoes.add_instructions(name, text));
        Self {
            options,
            owner,
            now,
            audit: Audit::default(),
            seen: Vec::new(),
            contents: HashMap::new(),
            similar: SimilarTexts::default(),
            echoes,
            statements: Statements::default(),
        }
    }

    fn wants(&self, kind: FindingKind) -> bool {
        self.options.kinds.is_empty() || self.options.kinds.contains(&kind)
    }

    fn add(&mut self, kind: FindingKind, id: &str, detail: String, other: Option<String>, repair: Repair) {
        if self.wants(kind) {
            self.audit.findings.push(Finding { kind, memory: self.owner, id: id.to_owned(), detail, other, repair });
        }
    }

    fn entry(&mut self, entry: &Entry, version: &Version, is_retrieved: bool) -> Result<(), MemoryError> {
        self.audit.entries += 1;
        let id = entry.id();
        if self.wants(FindingKind::Secret) {
            if has_secret(id) {
                let detail = "the id contains a secret".to_owned();
                self.add(FindingKind::Secret, id, detail, None, Repair::Remove);
            } else if entry.clone().without_secrets() != *entry {
                let detail = "the stored text contains a secret, which an edit masks".to_owned();
                self.add(FindingKind::Secret, id, detail, None, Repair::Edit);
            }
        }
        if entry.kind() == Kind::Turn {
            self.echoes.add_turn(entry);
            return Ok(());
        }
        let index = self.seen.len() as u32;
        self.seen.push(Seen { id: id.into(), created: version.created });
        let session = version.session.as_deref();
        if let Some(key) = ContentKey::new(entry, version.scope, session) {
            self.contents.entry(key).or_default().push(index);
        }
        if self.wants(FindingKind::NearDuplicate) {
            let group = (entry.kind(), version.scope, session);
            self.similar.add(index, group, &normalized_text(entry));
        }
        if self.wants(FindingKind::Echo) {
            self.echoes.add_entry(index, entry);
        }
        if self.wants(FindingKind::Contradiction) {
            self.statements.add(index, entry, version);
        }
        if self.owner == Owner::Project
            && let Some(code) = self.options.code
        {
            // An import is no change of the entry.
            let changed = if version.change == Change::Import { version.edited } else { version.time };
            for (kind, detail) in code.findings(entry, changed)? {
                self.add(kind, id, detail, None, Repair::Edit);
            }
        }
        let age = self.now.saturating_sub(version.created.max(version.edited)) / DAY;
        if !is_retrieved && age > i64::from(self.options.unused_days) {
            let detail = format!("no search has returned it in {age} days");
            self.add(FindingKind::NeverRetrieved, id, detail, None, Repair::Remove);
        }
        Ok(())
    }

    fn finish(mut self, view: &EntryView) -> Result<Audit, MemoryError> {
        let seen = std::mem::take(&mut self.seen);
        let id = |index: u32| seen[index as usize].id.as_ref();
        let age = |index: &u32| (seen[*index as usize].created, id(*index));
        let mut duplicates = vec![false; seen.len()];
        for group in std::mem::take(&mut self.contents).into_values() {
            let Some(oldest) = group.iter().copied().min_by_key(age) else { continue };
            for index in group.into_iter().filter(|index| *index != oldest) {
                duplicates[index as usize] = true;
                let detail = format!("has the same text as {}", id(oldest));
                let other = Some(id(oldest).to_owned());
                self.add(FindingKind::Duplicate, id(index), detail, other, Repair::Remove);
            }
        }
        let similar = std::mem::take(&mut self.similar);
        for pair in similar.pairs(|index| !duplicates[index as usize]) {
            let text = |index: u32| -> Result<Option<String>, MemoryError> {
                let version = view.get(id(index))?.filter(|version| version.document.is_some());
                version.map(|version| Ok(normalized_text(&entry_of(id(index), &version)?))).transpose()
            };
            let (Some(a), Some(b)) = (text(pair.0)?, text(pair.1)?) else { continue };
            let Some(similarity) = similar::similarity(&a, &b) else { continue };
            let (older, newer) = if age(&pair.0) <= age(&pair.1) { pair } else { (pair.1, pair.0) };
            let detail = format!("has almost the same text as {} (similarity {similarity:.2})", id(older));
            self.add(FindingKind::NearDuplicate, id(newer), detail, Some(id(older).to_owned()), Repair::Remove);
        }
        for (index, detail) in std::mem::take(&mut self.echoes).into_findings() {
            self.add(FindingKind::Echo, id(index), detail, None, Repair::Remove);
        }
        for contradiction in std::mem::take(&mut self.statements).contradictions() {
            let newer = id(contradiction.newer);
            let detail = format!("{}, but {newer}, which is newer, has {}", contradiction.old, contradiction.new);
            let repair = if contradiction.is_only_statement { Repair::Remove } else { Repair::Edit };
            self.add(FindingKind::Contradiction, id(contradiction.older), detail, Some(newer.to_owned()), repair);
        }
        self.audit.findings.sort_by(|a, b| (a.kind, &a.id, &a.detail).cmp(&(b.kind, &b.id, &b.detail)));
        Ok(self.audit)
    }
}

#[cfg(test)]
mod tests;
