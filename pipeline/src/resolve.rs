//! Resolves pipeline files into a plan: merges layers, resolves names, parses configurations, and reports all errors at
//! once.

use crate::ceilings::{self, Ceiling};
use crate::config::{Layer, RunConfig, StageTable};
use crate::config_entry::ConfigEntry;
use crate::graph::Graph;
use crate::plan::{Plan, PlannedStage};
use crate::plan_diagnostics::PlanContext;
use crate::problems::suggest;
use crate::registry::Registry;
use crate::resolved_stage::{Resolution, ResolvedStage, is_stage_key};
use crate::source_map::SourceMap;
use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};

/// The text of one pipeline file.
#[derive(Clone, Copy, Debug)]
pub struct PipelineSource<'a> {
    /// Name of the pipeline in messages: a path, or the name that other pipelines use in `extends`.
    pub name: &'a str,
    /// The content in TOML.
    pub text: &'a str,
}

/// Parses and checks a pipeline. Accesses nothing except the given texts.
///
/// Each source overrides keys of the sources before it. `extends` names one of the `builtins`, which has a lower
/// priority than all sources.
///
/// # Errors
/// Returns all errors of the pipeline.
pub fn load<'a>(
    sources: &[PipelineSource<'a>],
    registry: &Registry,
    builtins: &[PipelineSource<'a>],
) -> Result<Plan, Diagnostics> {
    load_checked(sources, registry, builtins, &[], &|_| Diagnostics::default())
}

/// Like [`load`], with two additions. Values in `sources` must not exceed the `ceilings`; values in `builtins` may.
/// `check_stages` receives the enabled stages, in the order of the file. It is called even if the pipeline has other
/// errors, so that all errors are reported at once.
///
/// # Errors
/// Returns all errors of the pipeline.
pub fn load_checked<'a>(
    sources: &[PipelineSource<'a>],
    registry: &Registry,
    builtins: &[PipelineSource<'a>],
    ceilings: &[Ceiling],
    check_stages: &dyn Fn(&[PlannedStage]) -> Diagnostics,
) -> Result<Plan, Diagnostics> {
    let files: Vec<&str> = sources.iter().map(|source| source.name).collect();
    let mut map = SourceMap::default();
    let mut found = Diagnostics::default();
    let layers = layers(sources, builtins, &mut map, &mut found);
    if found.iter().any(|item| item.code == code::SYNTAX) {
        found.sort(|file| map.rank(file));
        return Err(found);
    }
    let mut known =
        !layers.iter().any(|layer| layer.lacks_stages) && !found.iter().any(|item| item.code == code::EXTENDS);
    let run_entries: Vec<&ConfigEntry<'_>> = layers.iter().flat_map(|layer| &layer.run).collect();
    let run = RunConfig::parse(&map, &run_entries, &mut found);
    for entry in run_entries {
        ceilings::check(ceilings, None, entry, &files, &map, &mut found);
    }
    let merged = merge(layers);
    for stage in &merged {
        let named =
            stage.entries.iter().find(|entry| entry.key == "use").and_then(|entry| entry.value.get_ref().as_str());
        for entry in &stage.entries {
            ceilings::check(ceilings, Some(named.unwrap_or(&stage.name)), entry, &files, &map, &mut found);
        }
    }

    let mut stages = Vec::new();
    let mut disabled = Vec::new();
    let mut broken = Vec::new();
    for stage in merged {
        match ResolvedStage::resolve(stage, &map, registry, &mut found) {
            Resolution::Enabled(stage) => stages.push(*stage),
            Resolution::Disabled(stage) => disabled.push(stage),
            Resolution::Broken(stage) => {
                known &= stage.are_writes_known;
                broken.push(stage);
            }
        }
    }
    let names = stages.iter().map(|stage| &stage.site).chain(&disabled).chain(broken.iter().map(|stage| &stage.site));
    let names: Vec<&str> = names.map(|site| site.name.as_str()).collect();
    let afters = stages.iter().map(|stage| (stage.site.name.as_str(), &stage.after));
    for (stage, after) in afters.chain(broken.iter().map(|stage| (stage.site.name.as_str(), &stage.after))) {
        check_after(stage, after, &names, &stages, &mut found);
    }
    let context = PlanContext {
        sites: stages.iter().map(|stage| &stage.site).collect(),
        accesses: stages.iter().map(|stage| &stage.planned.access).collect(),
        disabled: &disabled,
        broken: &broken,
        registry: Some(registry),
        known,
    };
    let after: Vec<Vec<usize>> = stages.iter().map(|stage| predecessors(stage, &stages)).collect();
    let graph = Graph::new(&context, &after);
    let (Ok(Graph { warnings: findings, .. }) | Err(findings)) = &graph;
    found.extend(findings.iter().cloned());
    found.extend(context.missing_in_broken());
    drop(context);
    drop(names);
    let stages: Vec<PlannedStage> = stages.into_iter().map(|stage| stage.planned).collect();
    // `check_stages` may report a conflict between two writers that the graph has already reported.
    let is_in_conflict = found.iter().any(|item| item.code == code::UNORDERED_WRITERS);
    let is_new = |item: &Diagnostic| !is_in_conflict || item.code != code::UNORDERED_WRITERS;
    found.extend(check_stages(&stages).into_iter().filter(is_new));
    found.sort(|file| map.rank(file));
    match graph {
        Ok(graph) if !found.has_errors() => Ok(Plan::new(run, stages, graph, found)),
        _ => Err(found),
    }
}

/// Reports each name in `after` for which the pipeline has no stage.
fn check_after(
    stage: &str,
    after: &[(String, Option<Location>)],
    names: &[&str],
    enabled: &[ResolvedStage],
    found: &mut Diagnostics,
) {
    for (name, location) in after.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
        let message = format!("stage `{stage}` comes after `{name}`, which this pipeline does not have");
        let others = enabled.iter().map(|stage| stage.site.name.as_str()).filter(|name| *name != stage);
        let help = suggest(name, others, "its other stages");
        found.push(Diagnostic::error(code::UNKNOWN_AFTER, location.clone(), message).with_help(help));
    }
}

/// Returns the indices of the stages that a stage names in `after`. Disabled stages are ignored.
fn predecessors(stage: &ResolvedStage, stages: &[ResolvedStage]) -> Vec<usize> {
    let position = |name: &str| stages.iter().position(|stage| stage.site.name == name);
    let named = stage.after.iter().map(|(name, _)| name.as_str());
    named.chain(stage.planned.access.after.iter().map(String::as_str)).filter_map(position).collect()
}

/// Parses all layers, from lowest to highest priority: first the extended pipelines, then the sources.
fn layers<'a>(
    sources: &[PipelineSource<'a>],
    builtins: &[PipelineSource<'a>],
    map: &mut SourceMap,
    found: &mut Diagnostics,
) -> Vec<Layer<'a>> {
    let own: Vec<Layer<'a>> = sources.iter().map(|source| Layer::parse(map, source.name, source.text, found)).collect();
    let mut below: Vec<(&str, Layer<'a>)> = Vec::new();
    for layer in &own {
        let mut chain: Vec<&str> = Vec::new();
        let mut bases: Vec<(&str, Layer<'a>)> = Vec::new();
        let mut wanted = layer.extends.clone();
        while let Some((name, span)) = wanted.take() {
            let location = map.locate(&span);
            let Some(builtin) = builtins.iter().find(|builtin| builtin.name == name) else {
                let help = suggest(&name, builtins.iter().map(|builtin| builtin.name), "pipelines to extend");
                let message = format!("no pipeline is named `{name}`");
                found.push(Diagnostic::error(code::EXTENDS, location, message).with_help(help));
                break;
            };
            if chain.contains(&builtin.name) {
                let path = format!("{} -> {name}", chain.join(" -> "));
                found.push(Diagnostic::error(code::EXTENDS, location, format!("pipelines extend each other: {path}")));
                break;
            }
            chain.push(builtin.name);
            if below.iter().all(|(name, _)| *name != builtin.name) {
                let base = Layer::parse(map, builtin.name, builtin.text, found);
                wanted.clone_from(&base.extends);
                bases.push((builtin.name, base));
            }
        }
        below.extend(bases.into_iter().rev());
    }
    below.into_iter().map(|(_, layer)| layer).chain(own).collect()
}

/// Merges the layers. Each stage gets the keys of all layers. The stages are in the order in which they first appear.
fn merge(layers: Vec<Layer<'_>>) -> Vec<StageTable<'_>> {
    let mut merged: Vec<StageTable<'_>> = Vec::new();
    for table in layers.into_iter().flat_map(|layer| layer.stages) {
        let Some(below) = merged.iter_mut().find(|stage| stage.name == table.name) else {
            merged.push(table);
            continue;
        };
        below.header = table.header;
        let type_name = |entries: &[ConfigEntry<'_>]| {
            let entry = entries.iter().find(|entry| entry.key == "use")?;
            entry.value.get_ref().as_str().map(str::to_owned)
        };
        // If a layer changes the type of a stage, the keys of the previous type do not apply.
        let replaced = type_name(&table.entries);
        if replaced.is_some_and(|new| new != type_name(&below.entries).unwrap_or_else(|| below.name.clone())) {
            below.entries.retain(|entry| is_stage_key(&entry.key));
        }
        for entry in table.entries {
            below.entries.retain(|known| known.key != entry.key);
            below.entries.push(entry);
        }
    }
    merged
}
