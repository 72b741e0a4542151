//! Ranking rules: knowledge about code that term statistics do not capture.
//!
//! Lifts and boosts of custom columns add to a chunk's fused score, in units of the best fused score of the query.
//! Penalties subtract a fraction of the score, unless the query asks for that kind of code. A rule is a function from
//! the query and a chunk to a strength of 0..1, with a weight in [`RulesConfig`].

use aurora_storage::ChunkType;

use crate::config::RulesConfig;
use crate::path_class::{PathClass, is_reexport_file};
use crate::rank::boosts::ColumnBoost;
use crate::rank::candidate::RankedCandidate;
use crate::rank::features::{Features, MentionedName, RuleQuery};
use crate::understand::Word;

/// Maximum number of lines of a short chunk, which rarely answers a question.
const MAX_SHORT_LINES: u32 = 2;

/// Applies every rule to candidates with fused scores. The order of the candidates breaks ties. Scores may exceed 1
/// afterwards.
pub(crate) fn apply<C>(config: &RulesConfig, query: &RuleQuery<'_>, ranked: &mut [RankedCandidate<'_, C>]) {
    let unit = ranked.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    for candidate in ranked.iter_mut() {
        for (rule, strength) in lifts(config, query, &candidate.features) {
            candidate.change(rule, unit * strength);
        }
        for ColumnBoost { rule, strength } in std::mem::take(&mut candidate.boosts) {
            // Scores never fall below 0.
            let effect = (unit * strength).max(-candidate.score);
            candidate.change(rule, effect);
        }
        for (rule, strength) in penalties(config, query, &candidate.features) {
            let loss = candidate.score * strength;
            candidate.change(rule, -loss);
        }
    }
    repeated("repeated_file", config.repeated_file, ranked, |chunk| Some(chunk.file.number));
    let name = |chunk: &Features<'_>| repeatable_name(query, chunk);
    repeated("repeated_name", config.repeated_name, ranked, name);
}

fn lifts(config: &RulesConfig, query: &RuleQuery<'_>, chunk: &Features<'_>) -> [(&'static str, f32); 10] {
    [
        ("definition", config.definition * definition(query, chunk)),
        ("name_words", config.name_words * chunk.name.mean()),
        ("path", config.path * path(query, chunk)),
        ("asked_for", config.asked_for * requested(query, chunk)),
        ("doc_words", config.doc_words * chunk.doc_words),
        ("file_stem", config.file_stem * chunk.file.stem.mean()),
        ("file_keywords", config.file_keywords * chunk.file.evidence.keywords),
        ("file_coverage", config.file_coverage * chunk.file.evidence.coverage),
        ("file_meaning", config.file_meaning * chunk.file.evidence.meaning),
        ("file_docs", config.file_docs * chunk.file.evidence.doc_words),
    ]
}

fn penalties(config: &RulesConfig, query: &RuleQuery<'_>, chunk: &Features<'_>) -> [(&'static str, f32); 13] {
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
        ("data", class(PathClass::Data, config.data)),
        ("superseded", class(PathClass::Superseded, config.superseded)),
        ("reexports", when(reexports(query, chunk), config.reexports)),
        ("fragments", when(kind == ChunkType::Code && !chunk.defines_inside, config.fragments)),
        ("prose", when(prose, config.prose)),
        ("shapes", when(shape, config.shapes)),
        ("short", when(chunk.lines <= MAX_SHORT_LINES && !kind.is_memory() && !chunk.defines_inside, config.short)),
    ]
}

/// The chunk is or contains the definition of a symbol that the query names.
fn definition(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
    let kind = chunk.named.chunk_type;
    let is_symbol = kind.is_source_code() && kind != ChunkType::Code;
    let defines = |name: &MentionedName| {
        name.lookups.iter().any(|lookup| folds_to(chunk.named.name, lookup))
            && name.identifier.matches(chunk.named).is_some()
    };
    f32::from(u8::from(chunk.defines_inside || is_symbol && query.mentioned.iter().any(defines)))
}

/// Strength of the path rule: 1 if the query gives the whole path of the chunk's file or its end, less if it gives
/// another part.
fn path(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
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

/// Strength 1 if the query asks for tests, examples or the like, and the chunk is one.
fn requested(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
    f32::from(u8::from(!chunk.classes.and(query.requests.classes).is_empty()))
}

/// Whether the chunk is code outside of definitions in a file that usually only re-exports.
fn reexports(query: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    chunk.named.chunk_type == ChunkType::Code && is_reexport_file(chunk.named.path) && !query.requests.exports
}

/// Lowers every further candidate with the same `key` by an increasing amount, so that one file, or the implementations
/// of one method, do not fill the page. Candidates without a key do not change.
fn repeated<C, K: Ord>(
    rule: &'static str,
    weight: f32,
    ranked: &mut [RankedCandidate<'_, C>],
    key: impl Fn(&Features<'_>) -> Option<K>,
) {
    let keys = ranked.iter().enumerate().filter_map(|(at, candidate)| Some((key(&candidate.features)?, at)));
    let mut keys: Vec<(K, usize)> = keys.collect();
    let score = |at: usize| ranked[at].score;
    keys.sort_unstable_by(|(k, a), (l, b)| k.cmp(l).then(score(*b).total_cmp(&score(*a))).then(a.cmp(b)));
    for group in keys.chunk_by(|(k, _), (l, _)| k == l) {
        for (before, &(_, at)) in group.iter().enumerate() {
            let kept = (1.0 - weight).powi(before as i32);
            let loss = ranked[at].score * (1.0 - kept);
            ranked[at].change(rule, -loss);
        }
    }
}

/// Returns the lower-case name by which further definitions are lowered; `None` if the query mentions the name, and so
/// asks for all of its definitions.
fn repeatable_name(query: &RuleQuery<'_>, chunk: &Features<'_>) -> Option<String> {
    let name = chunk.named.name;
    // Turns of one speaker are not definitions of one name.
    let is_definition = !name.is_empty() && !chunk.named.chunk_type.is_memory();
    (is_definition && definition(query, chunk) == 0.0).then(|| name.to_lowercase())
}

/// Scales all scores so that the best is 1, if it is greater. The loss is recorded like a rule, so that the fused score
/// and the effects add up to the final score.
pub(crate) fn scale_to_one<C>(ranked: &mut [RankedCandidate<'_, C>]) {
    let best = ranked.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    if best > 1.0 {
        for candidate in ranked {
            let scaled = candidate.score / best;
            candidate.change("scale", scaled - candidate.score);
            candidate.score = scaled;
        }
    }
}

/// Whether `text` equals `lower` after conversion to lower case.
fn folds_to(text: &str, lower: &str) -> bool {
    if text.is_ascii() { text.eq_ignore_ascii_case(lower) } else { text.to_lowercase() == lower }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use aurora_analysis::Analyzer;
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;
    use crate::rank::candidate::AppliedRule;
    use crate::rank::features::{Facts, FileShares};
    use crate::retrieve::ChunkName;
    use crate::understand::ParsedQuery;

    fn query(text: &str) -> ParsedQuery {
        ParsedQuery::parse(&Analyzer, text).expect("words")
    }

    fn chunk<'a>(name: &'a str, path: &'a str, chunk_type: ChunkType) -> ChunkName<'a> {
        ChunkName { name, qualified_name: name, chunk_type, exported: true, path, line_start: 1, is_generated: false }
    }

    /// Creates candidates with the given fused scores.
    fn with_scores<'a>(
        query: &RuleQuery<'_>,
        chunks: &[ChunkName<'a>],
        scores: &[f32],
    ) -> Vec<RankedCandidate<'a, ()>> {
        let facts = |&named: &ChunkName<'a>| Facts {
            root: 0,
            named,
            lines: 9,
            defines_inside: false,
            doc_words: 0.0,
            file: FileShares::default(),
        };
        let features = query.read(&Analyzer, chunks.iter().map(facts));
        let fused = features.into_iter().zip(scores).map(|(features, &score)| RankedCandidate {
            fused: score,
            score,
            ..RankedCandidate::new((), None, features)
        });
        fused.collect()
    }

    /// Final scores and rule names of chunks that all start from the same fused score.
    fn ranked(text: &str, chunks: &[ChunkName<'_>]) -> Vec<(f32, Vec<&'static str>)> {
        let name = |rule: &AppliedRule| match rule.rule {
            Cow::Borrowed(name) => name,
            Cow::Owned(_) => "boost",
        };
        let query = query(text);
        let query = RuleQuery::new(&query, &vec![Some(1.0); query.terms.len()]);
        let mut ranked = with_scores(&query, chunks, &vec![0.5; chunks.len()]);
        apply(&SearchConfig::default().rules, &query, &mut ranked);
        let names = |applied: &[AppliedRule]| applied.iter().map(name).collect();
        ranked.iter().map(|candidate| (candidate.score, names(&candidate.applied))).collect()
    }

    #[test]
    fn a_definition_ranks_above_a_mention() {
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
    fn side_code_is_lowered_unless_requested() {
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
                chunk("start", "y.py", ChunkType::Function),
            ],
        );
        let rules: Vec<_> = found.iter().map(|(_, rules)| rules.clone()).collect();
        assert_eq!(rules, [vec!["name_words"], vec!["file_stem"], vec![]]);
        assert!(found[..2].iter().all(|(score, _)| *score > found[2].0));
    }

    #[test]
    fn every_chunk_of_a_good_file_is_lifted_and_further_ones_are_lowered() {
        let query = query("query");
        let query = RuleQuery::new(&query, &[Some(1.0)]);
        let good = FileShares { keywords: 1.0, coverage: 0.5, meaning: 1.0, doc_words: 0.0 };
        let fact = |named, file| Facts { root: 0, named, lines: 9, defines_inside: false, doc_words: 0.0, file };
        let chunks = [("a", "good.py", good), ("b", "good.py", good), ("c", "other.py", FileShares::default())];
        let facts = chunks.map(|(name, path, file)| fact(chunk(name, path, ChunkType::Function), file));
        let features = query.read(&Analyzer, facts.into_iter());
        let mut ranked: Vec<_> =
            features.into_iter().map(|features| RankedCandidate::new((), None, features)).collect();
        ranked.iter_mut().for_each(|candidate| (candidate.fused, candidate.score) = (0.5, 0.5));
        apply(&SearchConfig::default().rules, &query, &mut ranked);
        let rules = |at: usize| ranked[at].applied.iter().map(|rule| &*rule.rule).collect::<Vec<_>>();
        let lifts = ["file_keywords", "file_coverage", "file_meaning"];
        assert_eq!((rules(0), rules(1)), (lifts.to_vec(), [&lifts[..], &["repeated_file"]].concat()));
        assert!(rules(2).is_empty() && ranked[0].score > ranked[1].score && ranked[1].score > ranked[2].score);
    }

    #[test]
    fn further_definitions_of_a_name_are_lowered_unless_mentioned() {
        let chunks = ["a.rs", "b.rs", "c.rs"].map(|path| chunk("fmt", path, ChunkType::Method));
        let plain = ranked("how an error is shown", &chunks);
        assert!(plain[0].1.is_empty() && plain[1].1 == ["repeated_name"] && plain[1].0 > plain[2].0);
        let asked =
            ranked("what does `Error::fmt` show", &chunks.map(|chunk| ChunkName { name: "Error::fmt", ..chunk }));
        assert!(asked.iter().all(|(_, rules)| !rules.contains(&"repeated_name")), "{asked:?}");
    }

    #[test]
    fn fragments_and_reexports_are_lowered() {
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
        fn effects_add_up_to_the_change_and_scores_stay_in_bounds(scores in prop::collection::vec(0.0f32..=1.0, 1..20), picks in prop::collection::vec(0usize..6, 20), boosts in prop::collection::vec(-1.0f32..=1.0, 20)) {
            let paths = ["src/parse.py", "tests/parse.py", "vendor/parse.py", "src/other.py", "CHANGELOG.md", "src/__init__.py"];
            let chunks: Vec<_> = scores.iter().zip(&picks).map(|(_, &pick)| chunk(["parse_query", "x"][pick % 2], paths[pick], ChunkType::Function)).collect();
            let query = query("parse the query");
            let query = RuleQuery::new(&query, &[Some(2.0), Some(0.1), Some(1.0)]);
            let config = RulesConfig { repeated_file: 0.3, ..SearchConfig::default().rules };
            let mut ranked = with_scores(&query, &chunks, &scores);
            for (candidate, &strength) in ranked.iter_mut().zip(&boosts) {
                candidate.boosts.push(ColumnBoost { rule: "boost.churn".into(), strength });
            }
            apply(&config, &query, &mut ranked);
            scale_to_one(&mut ranked);
            for candidate in &ranked {
                prop_assert!((0.0..=1.0).contains(&candidate.score));
            }
            for (before, after) in scores.iter().zip(&ranked) {
                let effects: f32 = after.applied.iter().map(|rule| rule.effect).sum();
                prop_assert!((before + effects - after.score).abs() < 1e-5);
            }
        }
    }
}
