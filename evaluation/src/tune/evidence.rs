//! Writes the learned configuration as a file, with the evidence in comments.

use aurora_query::{Parameter, SearchConfig};

use crate::tune::report::{Comparison, ParameterChange, TuneReport, TunedSet};

/// Formats a configuration file with the values that differ from the built-in defaults, and the evidence in comments.
/// The file contains no date and no path: the same questions, index and starting configuration give the same file.
pub fn config_file(report: &TuneReport) -> String {
    let metric = report.metric;
    let mut lines = vec![
        "Search weights learned from questions with known answers.".to_owned(),
        String::new(),
        format!(
            "Questions: {} (digest {}), {} folds, {} rounds, regularisation {}",
            report.cross_validated.questions, report.golden, report.folds, report.rounds, report.regularisation
        ),
        format!("{metric}, cross-validated: {}", format_comparison(&report.cross_validated)),
    ];
    lines.extend(report.sets.iter().map(|TunedSet { set, comparison }| {
        let name = aurora_redact::masked(set.clone());
        format!("  {name} ({} questions): {}", comparison.questions, format_comparison(comparison))
    }));
    lines.extend(report.held_out.iter().map(|held_out| {
        format!("{metric}, {} questions never learned from: {}", held_out.questions, format_comparison(held_out))
    }));
    lines.push("Intervals contain the true difference with 95 % confidence.".to_owned());
    if !report.changes.is_empty() {
        lines.push("Changed, with the folds that agree on the direction:".to_owned());
    }
    lines.extend(report.changes.iter().map(|ParameterChange { key, before, after, folds_agree }| {
        format!("  {key}: {before} -> {after} ({folds_agree} of {})", report.folds)
    }));
    let comments: String = lines.iter().map(|line| format!("{}\n", format!("# {line}").trim_end())).collect();
    comments + &tables(&report.config)
}

fn format_comparison(comparison: &Comparison) -> String {
    let Comparison { before, after, difference, .. } = comparison;
    format!("{before:.4} -> {after:.4} ({:+.4}, {:+.4} to {:+.4})", difference.mean, difference.low, difference.high)
}

/// Formats the keys that differ from the built-in defaults, by table.
fn tables(config: &SearchConfig) -> String {
    let mut by_table: Vec<(&str, String)> = Vec::new();
    let defaults = SearchConfig::default();
    for parameter in Parameter::all() {
        let (value, default) = (parameter.literal(config), parameter.literal(&defaults));
        let Some((table, name)) = parameter.key.rsplit_once('.').filter(|_| value != default) else { continue };
        let line = format!("{name} = {value}\n");
        match by_table.iter_mut().find(|(known, _)| *known == table) {
            Some((_, lines)) => lines.push_str(&line),
            None => by_table.push((table, line)),
        }
    }
    by_table.into_iter().map(|(table, lines)| format!("\n[{table}]\n{lines}")).collect()
}

#[cfg(test)]
mod tests {
    use aurora_query::{ConfigLayers, Fusion};

    use super::*;

    #[test]
    fn tables_read_back_as_the_configuration() {
        let mut config = SearchConfig::default();
        for number in Parameter::numbers().filter(|number| number.share_of().is_none()) {
            let value = number.number(&config);
            let value = if number.is_whole() { value - 1.0 } else { value / 2.0 + 0.01 };
            let value = value.clamp(*number.range.start(), *number.range.end());
            number.set(&mut config, &value.to_string()).expect("within the range");
        }
        config.hybrid.fusion = Fusion::Rrf;
        config.rerank = Some("1.5".to_owned());
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("tuned.toml");
        std::fs::write(&file, tables(&config)).expect("written");
        let layers = ConfigLayers { user: Some(&file), ..ConfigLayers::default() };
        assert_eq!(SearchConfig::load(&layers), Ok(config));
        assert_eq!(tables(&SearchConfig::default()), "");
    }
}
