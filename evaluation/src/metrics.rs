//! Computes the metrics of one question: the quality of a list of results, judged by the known answers.
//!
//! Each answer counts once, at the first result that overlaps it. The metrics are:
//! - `MRR@10`: the reciprocal rank of the first answer that was found;
//! - `nDCG@10`: the discounted gain divided by the gain of an ideal list (Järvelin and Kekäläinen, 2002); the gain is
//!   2^grade − 1, or 1 without grades;
//! - `R@k`: the share of the answers found in the first k results;
//! - `P@5`: the share of the first five results that overlap an answer;
//! - `fileMRR` and `fileR@10`: reciprocal rank and recall by file; each file of the list counts once, at its first
//!   result.
//!
//! If all answers of a question are whole files, all metrics are computed over files.

use std::fmt;
use std::str::FromStr;

use aurora_suggest::nearest;
use serde::Serialize;

use crate::golden::{Answer, FOUND, Question};

/// Number of results that are examined. The ranking by file contains only the files of these results.
pub const DEPTH: usize = 20;
/// Number of results for the metrics at ten.
const CUT: usize = 10;

/// A metric of a list of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Metric {
    /// Normalised discounted cumulative gain of the first ten results.
    #[serde(rename = "ndcg@10")]
    Ndcg,
    /// Reciprocal rank of the first answer within the first ten results.
    #[serde(rename = "mrr@10")]
    Mrr,
    /// Share of the answers that the first result contains.
    #[serde(rename = "r@1")]
    Recall1,
    /// Share of the answers among the first five results.
    #[serde(rename = "r@5")]
    Recall5,
    /// Share of the answers among the first ten results.
    #[serde(rename = "r@10")]
    Recall10,
    /// Share of the first five results that are answers.
    #[serde(rename = "p@5")]
    Precision5,
    /// Reciprocal rank of the first file with an answer.
    #[serde(rename = "filemrr")]
    FileMrr,
    /// Share of the files with answers among the first ten files.
    #[serde(rename = "filer@10")]
    FileRecall10,
    /// Share of the expected topics that the first ten results mention.
    #[serde(rename = "topics@10")]
    Topics,
}

impl Metric {
    /// All metrics, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::Ndcg,
        Self::Mrr,
        Self::Recall1,
        Self::Recall5,
        Self::Recall10,
        Self::Precision5,
        Self::FileMrr,
        Self::FileRecall10,
        Self::Topics,
    ];

    /// Returns the name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ndcg => "nDCG@10",
            Self::Mrr => "MRR@10",
            Self::Recall1 => "R@1",
            Self::Recall5 => "R@5",
            Self::Recall10 => "R@10",
            Self::Precision5 => "P@5",
            Self::FileMrr => "fileMRR",
            Self::FileRecall10 => "fileR@10",
            Self::Topics => "topics@10",
        }
    }

    /// Returns other names that are accepted when parsing.
    fn synonyms(self) -> &'static [&'static str] {
        match self {
            Self::Ndcg => &["ndcg"],
            Self::Mrr => &["mrr"],
            Self::Recall1 => &["recall@1"],
            Self::Recall5 => &["recall@5"],
            Self::Recall10 => &["recall@10"],
            Self::Precision5 => &["precision@5"],
            Self::FileMrr => &["filemrr@10"],
            Self::FileRecall10 => &["filerecall@10"],
            Self::Topics => &["topics"],
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

/// The error of an unknown name of a metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown metric `{given}`; metrics are {known}{help}")]
pub struct UnknownMetric {
    given: String,
    known: String,
    help: String,
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    /// Parses the name of a metric, ignoring case.
    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        let given = text.trim().to_lowercase();
        let answers_to = |metric: &Self| metric.title().to_lowercase() == given || metric.synonyms().contains(&&*given);
        Self::ALL.into_iter().find(answers_to).ok_or_else(|| {
            let names = Self::ALL.map(|metric| metric.title().to_lowercase());
            let known = names.iter().map(String::as_str);
            let synonyms = Self::ALL.into_iter().flat_map(|metric| metric.synonyms().iter().copied());
            let help = nearest(&given, known.chain(synonyms));
            let help = help.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
            UnknownMetric { given: text.trim().to_owned(), known: names.join(", "), help }
        })
    }
}

/// The file and lines of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Path relative to the indexed root.
    pub file: String,
    /// First and last line, from 1, both included; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
}

/// The metrics of one list of results.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    values: [Option<f64>; Metric::ALL.len()],
    /// Rank of the first result that contains an answer, at most [`DEPTH`]. It is a rank among the chunks, or among the
    /// files if all answers are whole files.
    pub first: Option<usize>,
}

impl Measured {
    /// Returns the value of a metric, from 0 to 1, or `None` if the metric does not apply to the question.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.values[metric as usize]
    }
}

/// Computes the metrics of at most the first [`DEPTH`] of `results`, which are sorted best first. If the question has
/// topics, `topics` is the share of them that the results mention.
pub fn measure(question: &Question, results: &[Found], topics: Option<f64>) -> Measured {
    let graded = question.is_graded();
    let results = &results[..results.len().min(DEPTH)];
    let files = by_file(results);
    let of_files = rank(&files, &whole_files(&question.relevant), graded);
    let chunks = if question.asks_for_files() { of_files.clone() } else { rank(results, &question.relevant, graded) };
    let values = Metric::ALL.map(|metric| match metric {
        Metric::Ndcg => Some(chunks.ndcg),
        Metric::Mrr => Some(chunks.reciprocal()),
        Metric::Recall1 => Some(chunks.recall(1)),
        Metric::Recall5 => Some(chunks.recall(5)),
        Metric::Recall10 => Some(chunks.recall(CUT)),
        Metric::Precision5 => Some(chunks.precision),
        Metric::FileMrr => Some(of_files.reciprocal()),
        Metric::FileRecall10 => Some(of_files.recall(CUT)),
        Metric::Topics => topics,
    });
    Measured { values, first: chunks.places.first().copied() }
}

/// A list of results, compared with the answers.
#[derive(Debug, Clone)]
struct Ranking {
    ndcg: f64,
    precision: f64,
    /// Ranks of the results that contain an answer with a sufficient grade ([`FOUND`] or above) or without a grade,
    /// ascending.
    places: Vec<usize>,
    /// Number of answers with a sufficient grade or without a grade, at least 1.
    total: usize,
}

impl Ranking {
    fn reciprocal(&self) -> f64 {
        self.places.first().filter(|place| **place <= CUT).map_or(0.0, |place| 1.0 / *place as f64)
    }

    fn recall(&self, k: usize) -> f64 {
        self.places.iter().filter(|place| **place <= k).count() as f64 / self.total as f64
    }
}

fn rank(results: &[Found], answers: &[Answer], graded: bool) -> Ranking {
    let grade = |answer: &Answer| answer.grade.unwrap_or(if graded { FOUND } else { 1 });
    let counts = |answer: &Answer| !graded || grade(answer) >= FOUND;
    let gain = |answer: &Answer| if graded { f64::from((1_u32 << grade(answer)) - 1) } else { 1.0 };
    let discount = |place: usize| ((place + 1) as f64).log2();
    let mut left: Vec<&Answer> = answers.iter().collect();
    let (mut gained, mut places) = (0.0, Vec::new());
    for (result, place) in results.iter().zip(1..) {
        let overlapping = left.iter().enumerate().filter(|(_, answer)| overlap(result, answer));
        // If a result overlaps several answers, it counts for the answer with the best grade, or the first of these.
        let Some((at, _)) = overlapping.rev().max_by_key(|(_, answer)| grade(answer)) else { continue };
        let answer = left.remove(at);
        if place <= CUT {
            gained += gain(answer) / discount(place);
        }
        if counts(answer) {
            places.push(place);
        }
    }
    let mut gains: Vec<f64> = answers.iter().map(gain).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = gains.iter().zip(1..=CUT).map(|(gain, place)| gain / discount(place)).sum();
    let good = |result: &Found| answers.iter().any(|answer| counts(answer) && overlap(result, answer));
    Ranking {
        ndcg: if ideal > 0.0 { gained / ideal } else { 0.0 },
        precision: results.iter().take(5).filter(|result| good(result)).count() as f64 / 5.0,
        places,
        total: answers.iter().filter(|answer| counts(answer)).count().max(1),
    }
}

fn overlap(result: &Found, answer: &Answer) -> bool {
    let same_file = if answer.any_directory {
        result.file.rsplit('/').next() == Some(answer.path.as_str())
    } else {
        result.file == answer.path
    };
    same_file
        && match (result.lines, answer.lines) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(result), Some(answer)) => result.0 <= answer.1 && result.1 >= answer.0,
        }
}

/// Returns the distinct files of a list, in order of their first result.
fn by_file(results: &[Found]) -> Vec<Found> {
    let mut files: Vec<Found> = Vec::new();
    for result in results {
        if !files.iter().any(|file| file.file == result.file) {
            files.push(Found { file: result.file.clone(), lines: None });
        }
    }
    files
}

/// Returns the files of the answers, each with the best grade of its answers.
fn whole_files(answers: &[Answer]) -> Vec<Answer> {
    let mut files: Vec<Answer> = Vec::new();
    for answer in answers {
        match files.iter_mut().find(|file| file.path == answer.path) {
            Some(file) => file.grade = file.grade.max(answer.grade),
            None => files.push(Answer { lines: None, ..answer.clone() }),
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn result(file: &str, lines: (u32, u32)) -> Found {
        Found { file: file.to_owned(), lines: Some(lines) }
    }

    fn answer(path: &str, lines: Option<(u32, u32)>, grade: Option<u8>) -> Answer {
        Answer { path: path.to_owned(), lines, name: None, grade, any_directory: false }
    }

    fn question(relevant: Vec<Answer>) -> Question {
        Question { id: "q".to_owned(), query: "q".to_owned(), set: "s".to_owned(), relevant, ..Question::default() }
    }

    fn values(question: &Question, results: &[Found]) -> Vec<f64> {
        let measured = measure(question, results, None);
        Metric::ALL.into_iter().filter_map(|metric| measured.value(metric)).collect()
    }

    fn close(measured: &[f64], expected: &[f64]) {
        let same = measured.len() == expected.len() && measured.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(same, "{measured:?} is not {expected:?}");
    }

    #[test]
    fn an_answer_at_rank_two_is_measured() {
        let question = question(vec![answer("a.py", Some((10, 20)), None)]);
        let results = [result("a.py", (1, 9)), result("a.py", (20, 30)), result("b.py", (1, 5))];
        // nDCG is 1/log2(3); the file is ranked first.
        close(&values(&question, &results), &[1.0 / 3_f64.log2(), 0.5, 0.0, 1.0, 1.0, 0.2, 1.0, 1.0]);
        assert_eq!(measure(&question, &results, None).first, Some(2));
    }

    #[test]
    fn an_answer_counts_once() {
        let question = question(vec![answer("a.py", Some((1, 50)), None), answer("b.py", Some((1, 5)), None)]);
        let results =
            [result("a.py", (1, 10)), result("a.py", (11, 20)), result("c.py", (1, 1)), result("b.py", (5, 9))];
        let ideal = 1.0 + 1.0 / 3_f64.log2();
        let gained = 1.0 + 1.0 / 5_f64.log2();
        close(&values(&question, &results), &[gained / ideal, 1.0, 0.5, 1.0, 1.0, 0.6, 1.0, 1.0]);
    }

    #[test]
    fn grades_are_weights_and_low_grades_are_not_found() {
        let question = question(vec![answer("a.py", Some((1, 5)), Some(1)), answer("b.py", Some((1, 5)), Some(3))]);
        let results = [result("a.py", (1, 5)), result("b.py", (1, 5))];
        let gained = 1.0 + 7.0 / 3_f64.log2();
        let ideal = 7.0 + 1.0 / 3_f64.log2();
        close(&values(&question, &results), &[gained / ideal, 0.5, 0.0, 1.0, 1.0, 0.2, 0.5, 1.0]);
    }

    #[test]
    fn whole_files_are_ranked_by_file() {
        let question = question(vec![answer("b.py", None, None)]);
        let results =
            [result("a.py", (1, 5)), result("a.py", (6, 9)), result("a.py", (10, 19)), result("b.py", (1, 5))];
        close(&values(&question, &results), &[1.0 / 3_f64.log2(), 0.5, 0.0, 1.0, 1.0, 0.2, 0.5, 1.0]);
    }

    #[test]
    fn a_bare_name_matches_the_file_in_any_directory() {
        let mut guide = answer("guide.md", None, None);
        guide.any_directory = true;
        let question = question(vec![guide]);
        assert_eq!(measure(&question, &[result("docs/guide.md", (1, 2))], None).first, Some(1));
        assert_eq!(measure(&question, &[result("docs/my-guide.md", (1, 2))], None).first, None);
    }

    #[test]
    fn metrics_have_names() {
        for metric in Metric::ALL {
            assert_eq!(metric.title().parse(), Ok(metric));
            assert!(metric.synonyms().iter().all(|name| name.parse() == Ok(metric)));
        }
        let error = "nddcg@10".parse::<Metric>().expect_err("no metric").to_string();
        assert!(error.contains("did you mean `ndcg@10`?"), "{error}");
    }

    fn results() -> impl Strategy<Value = Vec<Found>> {
        let one = (0..4_u8, 1..40_u32, 0..10_u32);
        prop::collection::vec(
            one.prop_map(|(file, start, more)| result(&format!("{file}.py"), (start, start + more))),
            0..30,
        )
    }

    fn answers() -> impl Strategy<Value = Vec<Answer>> {
        let lines = prop::option::of((1..40_u32, 0..10_u32).prop_map(|(start, more)| (start, start + more)));
        let one = (0..5_u8, lines, prop::option::of(2..4_u8));
        prop::collection::vec(one.prop_map(|(file, lines, grade)| answer(&format!("{file}.py"), lines, grade)), 1..5)
    }

    proptest! {
        #[test]
        fn metrics_are_between_zero_and_one(answers in answers(), results in results()) {
            let values = values(&question(answers), &results);
            prop_assert!(values.iter().all(|value| (0.0..=1.0 + 1e-9).contains(value)), "{:?}", values);
            // Recall does not decrease with depth.
            prop_assert!(values[2] <= values[3] && values[3] <= values[4]);
        }

        #[test]
        fn a_wrong_first_result_never_improves_a_metric(answers in answers(), results in results()) {
            let question = question(answers);
            let before = values(&question, &results);
            let mut worse = vec![result("none.py", (1, 1))];
            worse.extend(results);
            let after = values(&question, &worse);
            prop_assert!(before.iter().zip(&after).all(|(before, after)| after <= before), "{:?} {:?}", before, after);
        }

        #[test]
        fn the_answers_are_a_perfect_list(lines in prop::collection::btree_set(0..20_u32, 1..6)) {
            let answers: Vec<_> = lines.iter().map(|line| answer("a.py", Some((10 * line + 1, 10 * line + 5)), None)).collect();
            let results: Vec<_> = lines.iter().map(|line| result("a.py", (10 * line + 1, 10 * line + 5))).collect();
            let values = values(&question(answers), &results);
            prop_assert!((values[0] - 1.0).abs() < 1e-9 && values[1] == 1.0 && values[4] == 1.0);
        }
    }
}
