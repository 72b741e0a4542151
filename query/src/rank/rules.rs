//! Ranking rules: what a developer knows about code that no term statistic does.
//!
//! Lifts add to a chunk's fused score, in units of the best fused score of the query; penalties take a fraction of it
//! away, unless the query asks for that kind of code. A rule is a function from the query and a chunk to a strength of
//! 0..1, and has a weight in [`RulesConfig`].

use aurora_analysis::Analyzer;
use aurora_storage::ChunkType;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::config::RulesConfig;
use crate::identifier::{ChunkName, IdentifierQuery};
use crate::overlap::{Overlap, Overlaps, WeighedParts};
use crate::path_class::{PathClass, PathClasses, passes_on, stem};
use crate::query::{ParsedQuery, Word};

/// A rule that changed a score, and by how much.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedRule {
    /// Its name, as in the configuration below `search.rules`.
    pub rule: &'static str,
    /// What it added to the final score, or took away.
    pub effect: f32,
}

/// Words that ask for prose rather than code.
const PROSE_WORDS: &[&str] = &[
    "doc",
    "docs",
    "documentation",
    "documented",
    "readme",
    "guide",
    "tutorial",
    "manual",
    "changelog",
    "chapter",
    "section",
];
/// Words that ask for the shape of data rather than for what is done with it.
const SHAPE_WORDS: &[&str] =
    &["interface", "interfaces", "type", "types", "typedef", "struct", "structs", "enum", "enums", "class", "trait"];
/// Words that ask for files that pass on what others define.
const EXPORT_WORDS: &[&str] = &["export", "exports", "reexport", "init", "index"];
/// Most lines of a chunk that can hardly answer a question.
const SHORT: u32 = 2;

/// A query as the rules see it.
pub(crate) struct RuleQuery<'q> {
    query: &'q ParsedQuery,
    parts: WeighedParts<'q>,
    mentioned: Vec<MentionedName>,
    requests: Requests,
}

/// What a query asks for in so many words.
struct Requests {
    classes: PathClasses,
    prose: bool,
    shapes: bool,
    exports: bool,
}

impl Requests {
    fn of(query: &ParsedQuery) -> Self {
        Self {
            classes: PathClass::ALL.into_iter().filter(|class| query.asks_for(class.request_words())).collect(),
            prose: query.asks_for(PROSE_WORDS),
            shapes: query.asks_for(SHAPE_WORDS),
            exports: query.asks_for(EXPORT_WORDS),
        }
    }
}

/// A word of the query that is written as an identifier. A plain word that happens to be a function's name is no mention
/// of it: lifting such functions was measured to cost more than it brings.
struct MentionedName {
    identifier: IdentifierQuery,
    /// Names in lower case by which it may be defined.
    lookups: Vec<String>,
}

/// A chunk as the rules see it.
pub(crate) struct RuleChunk<'c> {
    named: ChunkName<'c>,
    lines: u32,
    /// How well the words of its documentation meet the query's, normalised within the candidates.
    doc_words: f32,
    name: Overlap,
    /// Those of the file, and of the scopes that it stands in.
    classes: PathClasses,
    file: File,
}

/// What the rules look at of a file.
#[derive(Clone, Copy)]
struct File {
    /// In the order of the first chunks.
    number: usize,
    classes: PathClasses,
    stem: Overlap,
}

impl<'q> RuleQuery<'q> {
    /// `idfs` are those of the query's terms, `None` for a term that no chunk holds.
    pub(crate) fn new(query: &'q ParsedQuery, idfs: &[Option<f32>]) -> Self {
        let words = query.words.iter().filter(|word| word.compound).map(|word| {
            let identifier = IdentifierQuery::new(&word.text);
            MentionedName { lookups: identifier.lookups(), identifier }
        });
        let mentioned = words.collect();
        Self { query, parts: WeighedParts::new(query, idfs), mentioned, requests: Requests::of(query) }
    }

    /// Looks at chunks, given with their number of lines and how well their documentation meets the query.
    pub(crate) fn read<'c>(
        &self,
        analyzer: &Analyzer,
        chunks: impl Iterator<Item = (ChunkName<'c>, u32, f32)>,
    ) -> Vec<RuleChunk<'c>> {
        let mut overlaps = Overlaps::new(&self.parts, analyzer);
        let mut files: FxHashMap<&str, File> = FxHashMap::default();
        let read = chunks.map(|(named, lines, doc_words)| {
            let number = files.len();
            let file = files.entry(named.path).or_insert_with(|| File {
                number,
                classes: PathClasses::of(named.path),
                stem: overlaps.with(stem(named.path)),
            });
            let classes = file.classes.with_scopes(named.qualified_name);
            RuleChunk { named, lines, doc_words, name: overlaps.with(named.name), classes, file: *file }
        });
        read.collect()
    }
}

impl RuleChunk<'_> {
    /// Share of the query that the chunk's name holds.
    pub(crate) fn context_share(&self) -> f32 {
        self.name.of_query
    }
}

/// Applies every rule to the fused scores, which stand in the order of `chunks`; that order breaks ties. Scores that
/// end above 1 are scaled, all alike, so that the best is 1.
pub(crate) fn apply(
    config: &RulesConfig,
    query: &RuleQuery<'_>,
    chunks: &[RuleChunk<'_>],
    scores: &mut [f32],
) -> Vec<Vec<AppliedRule>> {
    let unit = scores.iter().copied().fold(0.0, f32::max);
    let mut applied: Vec<Vec<AppliedRule>> = chunks.iter().map(|_| Vec::new()).collect();
    for (at, chunk) in chunks.iter().enumerate() {
        for (rule, strength) in lifts(config, query, chunk) {
            change(&mut scores[at], &mut applied[at], rule, unit * strength);
        }
        for (rule, strength) in penalties(config, query, chunk) {
            let loss = scores[at] * strength;
            change(&mut scores[at], &mut applied[at], rule, -loss);
        }
    }
    let files = by_file(chunks, scores);
    file_coherence(config.file_coherence * unit, &files, scores, &mut applied);
    repeated_file(config.repeated_file, &files, scores, &mut applied);
    scale_to_one(scores, &mut applied);
    applied
}

fn change(score: &mut f32, applied: &mut Vec<AppliedRule>, rule: &'static str, effect: f32) {
    if effect != 0.0 {
        *score += effect;
        applied.push(AppliedRule { rule, effect });
    }
}

fn lifts(config: &RulesConfig, query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> [(&'static str, f32); 6] {
    [
        ("definition", config.definition * definition(query, chunk)),
        ("name_words", config.name_words * chunk.name.mean()),
        ("path", config.path * path(query, chunk)),
        ("asked_for", config.asked_for * asked_for(query, chunk)),
        ("doc_words", config.doc_words * chunk.doc_words),
        ("file_stem", config.file_stem * chunk.file.stem.mean()),
    ]
}

fn penalties(config: &RulesConfig, query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> [(&'static str, f32); 11] {
    let when = |holds: bool, weight: f32| if holds { weight } else { 0.0 };
    let class = |class: PathClass, weight: f32| {
        when(chunk.classes.holds(class) && !query.requests.classes.holds(class), weight)
    };
    let kind = chunk.named.chunk_type;
    let prose = matches!(kind, ChunkType::Kb | ChunkType::Doc) && !query.requests.prose;
    let shape = matches!(kind, ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum)
        && !query.requests.shapes
        && definition(query, chunk) == 0.0;
    [
        ("tests", class(PathClass::Test, config.tests)),
        ("generated", class(PathClass::Generated, config.generated)),
        ("vendored", class(PathClass::Vendored, config.vendored)),
        ("examples", class(PathClass::Example, config.examples)),
        ("declarations", class(PathClass::Declaration, config.declarations)),
        ("changelogs", class(PathClass::Changelog, config.changelogs)),
        ("reexports", when(reexports(query, chunk), config.reexports)),
        ("fragments", when(kind == ChunkType::Code, config.fragments)),
        ("prose", when(prose, config.prose)),
        ("shapes", when(shape, config.shapes)),
        ("short", when(chunk.lines <= SHORT, config.short)),
    ]
}

/// The chunk defines a symbol that the query names.
fn definition(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
    let kind = chunk.named.chunk_type;
    let is_symbol = kind.is_source_code() && kind != ChunkType::Code;
    let defines = |name: &MentionedName| {
        name.lookups.iter().any(|lookup| folds_to(chunk.named.name, lookup))
            && name.identifier.matches(chunk.named).is_some()
    };
    f32::from(u8::from(is_symbol && query.mentioned.iter().any(defines)))
}

/// The query gives the path of the chunk's file, or the end of it: 1 for a whole path, less for a part.
fn path(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
    if query.query.paths.is_empty() {
        return 0.0;
    }
    let path = chunk.named.path.to_lowercase();
    let given = |word: &Word| {
        let ends = path.strip_suffix(word.folded.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let held = word.folded.contains('/') && path.contains(word.folded.as_str());
        if ends {
            1.0
        } else if held {
            0.5
        } else {
            0.0
        }
    };
    query.query.paths.iter().map(given).fold(0.0, f32::max)
}

/// The query asks for tests, examples, … and the chunk is one.
fn asked_for(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
    f32::from(u8::from(!chunk.classes.and(query.requests.classes).is_empty()))
}

/// Code outside definitions in a file that usually only passes on.
fn reexports(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> bool {
    chunk.named.chunk_type == ChunkType::Code && passes_on(chunk.named.path) && !query.requests.exports
}

/// Candidates of each file, the best first.
fn by_file(chunks: &[RuleChunk<'_>], scores: &[f32]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..chunks.len()).collect();
    let file = |at: usize| chunks[at].file.number;
    order.sort_unstable_by(|&a, &b| file(a).cmp(&file(b)).then(scores[b].total_cmp(&scores[a])).then(a.cmp(&b)));
    order.chunk_by(|&a, &b| file(a) == file(b)).map(<[usize]>::to_vec).collect()
}

/// The best chunk of a file gains by the good ones around it, in proportion to the file with the most.
fn file_coherence(weight: f32, files: &[Vec<usize>], scores: &mut [f32], applied: &mut [Vec<AppliedRule>]) {
    let sums: Vec<f32> = files.iter().map(|file| file.iter().map(|&at| scores[at]).sum()).collect();
    let most = sums.iter().copied().fold(0.0, f32::max);
    for (file, sum) in files.iter().zip(sums) {
        if file.len() > 1 && most > 0.0 {
            change(&mut scores[file[0]], &mut applied[file[0]], "file_coherence", weight * sum / most);
        }
    }
}

/// Each further chunk of a file loses more, so that one file does not fill the page.
fn repeated_file(weight: f32, files: &[Vec<usize>], scores: &mut [f32], applied: &mut [Vec<AppliedRule>]) {
    for file in files {
        for (before, &at) in file.iter().enumerate() {
            let kept = (1.0 - weight).powi(before as i32);
            let loss = scores[at] * (1.0 - kept);
            change(&mut scores[at], &mut applied[at], "repeated_file", -loss);
        }
    }
}

/// Brings scores that ended above 1 back, all in proportion; the loss is listed like a rule's, so that a fused score and
/// its effects add up to the final one.
fn scale_to_one(scores: &mut [f32], applied: &mut [Vec<AppliedRule>]) {
    let best = scores.iter().copied().fold(0.0, f32::max);
    if best > 1.0 {
        for (score, rules) in scores.iter_mut().zip(applied) {
            let scaled = *score / best;
            change(score, rules, "scale", scaled - *score);
            *score = scaled;
        }
    }
}

/// Whether `text` in lower case is `lower`.
fn folds_to(text: &str, lower: &str) -> bool {
    if text.is_ascii() { text.eq_ignore_ascii_case(lower) } else { text.to_lowercase() == lower }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    fn query(text: &str) -> ParsedQuery {
        ParsedQuery::parse(&Analyzer, text).expect("words")
    }

    fn chunk<'a>(name: &'a str, path: &'a str, chunk_type: ChunkType) -> ChunkName<'a> {
        ChunkName { name, qualified_name: name, chunk_type, exported: true, path, line_start: 1, key: path }
    }

    fn read<'a>(query: &RuleQuery<'_>, chunks: &[ChunkName<'a>]) -> Vec<RuleChunk<'a>> {
        query.read(&Analyzer, chunks.iter().map(|&named| (named, 9, 0.0)))
    }

    /// Final scores and rule names of chunks that all start from the same fused score.
    fn ranked(text: &str, chunks: &[ChunkName<'_>]) -> Vec<(f32, Vec<&'static str>)> {
        let query = query(text);
        let query = RuleQuery::new(&query, &vec![Some(1.0); query.terms.len()]);
        let mut scores = vec![0.5; chunks.len()];
        let applied = apply(&SearchConfig::default().rules, &query, &read(&query, chunks), &mut scores);
        scores
            .into_iter()
            .zip(applied)
            .map(|(score, rules)| (score, rules.iter().map(|rule| rule.rule).collect()))
            .collect()
    }

    #[test]
    fn a_definition_stands_above_a_mention() {
        let found = ranked(
            "where is QueueManager created",
            &[
                chunk("QueueManager", "a.go", ChunkType::Struct),
                chunk("run", "b.go", ChunkType::Function),
                chunk("Queues", "c.md", ChunkType::Kb),
            ],
        );
        assert!(found[0].1.contains(&"definition") && found[0].0 > found[1].0 && found[1].0 > found[2].0);
    }

    #[test]
    fn side_code_loses_unless_it_is_asked_for() {
        let chunks = [
            chunk("parse", "tests/parse.py", ChunkType::Function),
            chunk("parse", "src/parse.py", ChunkType::Function),
            chunk("parse", "vendor/x/parse.py", ChunkType::Function),
            chunk("parse", "examples/parse.py", ChunkType::Function),
            chunk("parse", "src/parse.gen.py", ChunkType::Function),
            chunk("parse", "src/parse.d.ts", ChunkType::Function),
        ];
        let plain = ranked("parse", &chunks);
        for (other, rule) in [(0, "tests"), (2, "vendored"), (3, "examples"), (4, "generated"), (5, "declarations")] {
            assert!(plain[other].0 < plain[1].0 && plain[other].1.contains(&rule), "{rule}");
        }
        let asked = ranked("parse test", &chunks);
        assert!(!asked[0].1.contains(&"tests") && asked[0].0 > asked[1].0);
    }

    #[test]
    fn words_of_names_and_stems_lift() {
        let found = ranked(
            "delete expired sessions",
            &[
                chunk("delete_expired", "x.py", ChunkType::Function),
                chunk("run", "session.py", ChunkType::Function),
                chunk("run", "y.py", ChunkType::Function),
            ],
        );
        let rules: Vec<_> = found.iter().map(|(_, rules)| rules.clone()).collect();
        assert_eq!(rules, [vec!["name_words"], vec!["file_stem"], vec![]]);
        assert!(found[..2].iter().all(|(score, _)| *score > found[2].0));
    }

    #[test]
    fn the_best_chunk_of_a_full_file_gains() {
        let found = ranked(
            "query",
            &[
                chunk("a", "full.py", ChunkType::Function),
                chunk("b", "full.py", ChunkType::Function),
                chunk("c", "lone.py", ChunkType::Function),
            ],
        );
        assert_eq!(
            (found[0].1.as_slice(), found[1].1.as_slice()),
            (["file_coherence"].as_slice(), ["repeated_file"].as_slice())
        );
        assert!(found[0].0 > found[2].0);
    }

    #[test]
    fn fragments_and_reexports_lose() {
        let found = ranked(
            "query",
            &[
                chunk("", "src/index.ts", ChunkType::Code),
                chunk("", "src/query.ts", ChunkType::Code),
                chunk("x", "src/index.js", ChunkType::Function),
            ],
        );
        assert_eq!(found[0].1, ["reexports", "fragments"]);
        assert!(found[1].1.contains(&"fragments") && found[2].1.is_empty());
    }

    proptest! {
        #[test]
        fn effects_add_up_to_the_change_and_scores_stay_in_bounds(scores in prop::collection::vec(0.0f32..=1.0, 1..20), picks in prop::collection::vec(0usize..6, 20)) {
            let paths = ["src/parse.py", "tests/parse.py", "vendor/parse.py", "src/other.py", "CHANGELOG.md", "src/__init__.py"];
            let chunks: Vec<_> = scores.iter().zip(&picks).map(|(_, &pick)| chunk(["parse_query", "x"][pick % 2], paths[pick], ChunkType::Function)).collect();
            let query = query("parse the query");
            let query = RuleQuery::new(&query, &[Some(2.0), Some(0.1), Some(1.0)]);
            let mut after = scores.clone();
            let config = RulesConfig { repeated_file: 0.3, ..SearchConfig::default().rules };
            let applied = apply(&config, &query, &read(&query, &chunks), &mut after);
            for score in &after {
                prop_assert!((0.0..=1.0).contains(score));
            }
            for ((before, after), rules) in scores.iter().zip(&after).zip(&applied) {
                let effects: f32 = rules.iter().map(|rule| rule.effect).sum();
                prop_assert!((before + effects - after).abs() < 1e-5);
            }
        }
    }
}
