//! Ranking rules: what a developer knows about code that no term statistic does.
//!
//! Lifts add to a chunk's fused score, in units of the best fused score of the query; penalties take a fraction of it
//! away, unless the query asks for that kind of code. A rule is a function from the query and a chunk to a strength of
//! 0..1, and has a weight in [`RulesConfig`].

use aurora_analysis::Analyzer;
use aurora_storage::ChunkType;
use serde::Serialize;

use crate::config::RulesConfig;
use crate::identifier::{IdentifierQuery, Named};
use crate::path_class::{PathClass, passes_on, stem};
use crate::query::{ParsedQuery, Word, parts_of};

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
    /// Parts that the index holds, with their inverse document frequency: the weight of a part in a match.
    parts: Vec<(&'q str, f32)>,
    total: f32,
    mentioned: Vec<MentionedName>,
    wishes: Wishes,
}

/// What a query asks for in so many words.
struct Wishes {
    classes: [bool; PathClass::ALL.len()],
    prose: bool,
    shapes: bool,
    exports: bool,
}

impl Wishes {
    fn of(query: &ParsedQuery) -> Self {
        Self {
            classes: PathClass::ALL.map(|class| query.asks_for(class.wishes())),
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
    named: Named<'c>,
    /// The classes of its path, in the order of [`PathClass::ALL`].
    classes: [bool; PathClass::ALL.len()],
    lines: u32,
    /// How well the words of its documentation meet the query's, normalised within the candidates.
    doc_words: f32,
    name_folded: String,
    name_parts: Vec<String>,
    stem_parts: Vec<String>,
}

impl<'q> RuleQuery<'q> {
    /// `idfs` are those of the query's terms, `None` for a term that no chunk holds.
    pub(crate) fn new(query: &'q ParsedQuery, idfs: &[Option<f32>]) -> Self {
        let parts: Vec<_> =
            query.parts().filter_map(|(at, term)| Some((term.text.as_str(), term.weight * idfs[at]?))).collect();
        let total = parts.iter().fold(0.0, |sum, (_, idf)| sum + idf);
        let words = query.words.iter().filter(|word| word.compound).map(|word| {
            let identifier = IdentifierQuery::new(&word.text);
            MentionedName { lookups: identifier.lookups(), identifier }
        });
        let mentioned = words.collect();
        Self { query, parts, total, mentioned, wishes: Wishes::of(query) }
    }

    /// How much of the query `texts` hold, by weight, and how much of `texts` the query holds; both 0..1.
    fn overlap(&self, texts: &[String]) -> (f32, f32) {
        if self.total <= 0.0 || texts.is_empty() {
            return (0.0, 0.0);
        }
        let mut asked = vec![false; texts.len()];
        let mut held = 0.0;
        for (part, idf) in &self.parts {
            let mut is_held = false;
            for (asked, text) in asked.iter_mut().zip(texts) {
                if same_stem(part, text) {
                    (*asked, is_held) = (true, true);
                }
            }
            held += if is_held { *idf } else { 0.0 };
        }
        (held / self.total, asked.iter().filter(|asked| **asked).count() as f32 / texts.len() as f32)
    }

    /// Share of the query that the chunk's name and scopes hold.
    pub(crate) fn context_share(&self, chunk: &RuleChunk<'_>) -> f32 {
        self.overlap(&chunk.name_parts).0
    }
}

impl<'c> RuleChunk<'c> {
    pub(crate) fn new(analyzer: &Analyzer, named: Named<'c>, lines: u32, doc_words: f32) -> Self {
        Self {
            named,
            classes: PathClass::ALL.map(|class| class.is_of(named.path, named.qualified_name)),
            lines,
            doc_words,
            name_folded: named.name.to_lowercase(),
            name_parts: parts(analyzer, named.name),
            stem_parts: parts(analyzer, stem(named.path)),
        }
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
        ("name_words", config.name_words * name_words(query, chunk)),
        ("path", config.path * path(query, chunk)),
        ("asked_for", config.asked_for * asked_for(query, chunk)),
        ("doc_words", config.doc_words * chunk.doc_words),
        ("file_stem", config.file_stem * file_stem(query, chunk)),
    ]
}

fn penalties(config: &RulesConfig, query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> [(&'static str, f32); 11] {
    let when = |holds: bool, weight: f32| if holds { weight } else { 0.0 };
    let class = |class: PathClass, weight: f32| {
        let at = class as usize;
        when(chunk.classes[at] && !query.wishes.classes[at], weight)
    };
    let kind = chunk.named.chunk_type;
    let prose = matches!(kind, ChunkType::Kb | ChunkType::Doc) && !query.wishes.prose;
    let shape = matches!(kind, ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum)
        && !query.wishes.shapes
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
        name.lookups.contains(&chunk.name_folded) && name.identifier.matches(chunk.named).is_some()
    };
    f32::from(u8::from(is_symbol && query.mentioned.iter().any(defines)))
}

/// The query gives the path of the chunk's file, or the end of it: 1 for a whole path, less for a part.
fn path(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
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
    let asked = chunk.classes.iter().zip(query.wishes.classes).any(|(&is, asked)| is && asked);
    f32::from(u8::from(asked))
}

/// The name and the query are made of the same words: the harmonic mean of how much each holds of the other.
fn name_words(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
    harmonic(query.overlap(&chunk.name_parts))
}

/// The same for the file's stem.
fn file_stem(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> f32 {
    harmonic(query.overlap(&chunk.stem_parts))
}

/// Code outside definitions in a file that usually only passes on.
fn reexports(query: &RuleQuery<'_>, chunk: &RuleChunk<'_>) -> bool {
    chunk.named.chunk_type == ChunkType::Code && passes_on(chunk.named.path) && !query.wishes.exports
}

/// Candidates of each file, the best first.
fn by_file(chunks: &[RuleChunk<'_>], scores: &[f32]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..chunks.len()).collect();
    order.sort_by(|&a, &b| {
        chunks[a].named.path.cmp(chunks[b].named.path).then(scores[b].total_cmp(&scores[a])).then(a.cmp(&b))
    });
    order.chunk_by(|&a, &b| chunks[a].named.path == chunks[b].named.path).map(<[usize]>::to_vec).collect()
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

fn harmonic((a, b): (f32, f32)) -> f32 {
    if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }
}

/// Parts of the identifiers in `text`, in lower case, without the wholes.
fn parts(analyzer: &Analyzer, text: &str) -> Vec<String> {
    parts_of(analyzer, text)
}

/// Whether two words are forms of one: equal up to an English ending, after at least four common letters.
fn same_stem(a: &str, b: &str) -> bool {
    const ENDINGS: [&str; 20] = [
        "", "e", "s", "es", "ed", "er", "ers", "or", "ors", "ing", "ings", "ion", "ions", "y", "ies", "ied", "able",
        "ment", "al", "ly",
    ];
    if a == b {
        return true;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y && x.is_ascii_alphabetic()).count();
    (4..=common).rev().any(|cut| ENDINGS.contains(&&a[cut..]) && ENDINGS.contains(&&b[cut..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    fn query(text: &str) -> ParsedQuery {
        ParsedQuery::parse(&Analyzer, text).expect("words")
    }

    fn chunk<'a>(name: &'a str, path: &'a str, chunk_type: ChunkType) -> RuleChunk<'a> {
        RuleChunk::new(
            &Analyzer,
            Named { name, qualified_name: name, chunk_type, exported: true, path, line_start: 1, key: path },
            9,
            0.0,
        )
    }

    /// Final scores and rule names of chunks that all start from the same fused score.
    fn ranked(text: &str, chunks: &[RuleChunk<'_>]) -> Vec<(f32, Vec<&'static str>)> {
        let query = query(text);
        let query = RuleQuery::new(&query, &vec![Some(1.0); query.terms.len()]);
        let mut scores = vec![0.5; chunks.len()];
        let applied = apply(&SearchConfig::default().rules, &query, chunks, &mut scores);
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

    #[test]
    fn english_endings_are_one_stem() {
        for (a, b) in [
            ("histogram", "histograms"),
            ("dependency", "dependencies"),
            ("parse", "parser"),
            ("write", "writing"),
            ("validate", "validation"),
        ] {
            assert!(same_stem(a, b) && same_stem(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("form", "format"),
            ("set", "sets"),
            ("cluster", "clutter"),
            ("utf8", "utf16"),
            ("contract", "contrast"),
            ("größe", "größen"),
        ] {
            assert!(!same_stem(a, b), "{a} {b}");
        }
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
            let applied = apply(&config, &query, &chunks, &mut after);
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
