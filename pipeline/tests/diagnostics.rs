//! Messages for invalid pipelines.

mod made;

use aurora_pipeline::{PipelineSource, load};
use made::{BASE, plan, registry};

/// Returns the errors or warnings of a pipeline as text.
fn findings(text: &str) -> String {
    match plan(text) {
        Ok(plan) => plan.warnings().to_string(),
        Err(found) => found.to_string(),
    }
}

const SOURCE: &str = "[stage.walk]\nuse = \"mixer\"\nkind = \"source\"\nwrites = [\"file.id\"]\n";
const SINK: &str = "[stage.keep]\nuse = \"mixer\"\nkind = \"sink\"\nreads = [\"file.id\"]\n";

macro_rules! shows {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), findings(&String::from($text)));
        }
    )*};
}

shows! {
    nothing_wrong: format!("{SOURCE}{SINK}");
    not_toml: "[run]\nmemory = \n[stage.walk\nuse = 'x'\n";
    unknown_stage_type: format!("{SOURCE}{SINK}[stage.embedd]\n[stage.other]\nuse = \"mixr\"\n[stage.third]\n");
    unknown_root_key: format!("extend = \"base\"\n{SOURCE}{SINK}");
    unknown_run_key: format!("[run]\nmemroy = \"1GiB\"\nthreads = 3\n{SOURCE}{SINK}");
    unknown_stage_keys: "extends = \"base\"\n[stage.embed]\nmodle = \"minilm\"\ntemperature = 1\n";
    unknown_nested_key: "extends = \"base\"\n[stage.embed]\ncache = { entires = 3 }\n";
    wrong_types: "extends = \"base\"\n[stage.embed]\nmodel = 3\nbatch = \"many\"\ncache = { entries = -1 }\n";
    wrong_engine_values: "extends = \"base\"\n[stage.embed]\nworkers = 0\nenabled = \"no\"\nafter = \"chunk\"\n";
    wrong_run_values: format!("[run]\nmemory = \"1 gigabyte\"\njobs = 0\nbatch_files = 2.5\n{SOURCE}{SINK}");
    stage_is_not_a_table: format!("stage.x = 3\n{SOURCE}{SINK}");
    workers_of_a_sink: format!("{SOURCE}{SINK}workers = 4\n");
    column_never_produced: format!("{SOURCE}{SINK}\n[stage.embed]\n");
    column_of_a_disabled_stage: "extends = \"base\"\n[stage.chunk]\nenabled = false\n";
    column_misspelt: format!("{SOURCE}[stage.keep]\nuse = \"mixer\"\nkind = \"sink\"\nreads = [\"file.idd\"]\n");
    column_produced_too_late: format!(
        "{SOURCE}{SINK}[stage.a]\nuse = \"mixer\"\nreads = [\"file.x\"]\nwrites = [\"file.a\"]\n\
         [stage.x1]\nuse = \"mixer\"\nwrites = [\"file.x\"]\nafter = [\"a\"]\n\
         [stage.x2]\nuse = \"mixer\"\nreads = [\"file.x\"]\nwrites = [\"file.x\"]\nafter = [\"x1\", \"a\"]\n"
    );
    two_unordered_writers: format!(
        "{SOURCE}{SINK}[stage.a]\nuse = \"mixer\"\nwrites = [\"file.x\"]\n[stage.b]\nuse = \"mixer\"\nwrites = [\"file.x\"]\n"
    );
    cycle_of_columns_and_after: format!(
        "{SOURCE}{SINK}[stage.a]\nuse = \"mixer\"\nreads = [\"file.b\"]\nwrites = [\"file.a\"]\n\
         [stage.b]\nuse = \"mixer\"\nwrites = [\"file.b\"]\nafter = [\"c\"]\n\
         [stage.c]\nuse = \"mixer\"\nreads = [\"file.a\"]\n"
    );
    source_after_a_sink: format!("{SOURCE}after = [\"keep\"]\n{SINK}");
    stage_after_itself: format!("{SOURCE}{SINK}after = [\"keep\"]\n");
    unknown_after: format!("{SOURCE}{SINK}after = [\"wlak\", \"elsewhere\"]\n");
    unknown_extends: "extends = \"bose\"\n";
    no_source: SINK.replace("reads = [\"file.id\"]", "");
    two_sources: format!("{SOURCE}{SINK}{}", SOURCE.replace("walk", "crawl").replace("file.id", "file.other"));
    missing_key: format!("{SOURCE}{SINK}[stage.owners]\nuse = \"process\"\ntimeout = 3\n");
    wrong_value_of_a_needed_key: format!("{SOURCE}{SINK}[stage.owners]\nuse = \"process\"\ncommand = 3\ntimeout = \"x\"\n");
    column_name_without_entity: format!("{SOURCE}{SINK}[stage.a]\nuse = \"mixer\"\nreads = [\"files.id\"]\n");
    column_types_differ: format!(
        "{SOURCE}{SINK}[stage.chunk]\n[stage.a]\nuse = \"mixer\"\nreads = [\"chunk.text\"]\n"
    );
    the_stage_checks_itself: format!("{SOURCE}trouble = \"boo!\"\nfiles = 2000000\n{SINK}");
    column_never_read: format!("{SOURCE}{SINK}[stage.a]\nuse = \"mixer\"\nwrites = [\"file.x\"]\n");
    no_sink: format!("{SOURCE}[stage.a]\nuse = \"mixer\"\nreads = [\"file.id\"]\n");
    everything_at_once: "extends = \"base\"\nspeed = 3\n\n[run]\nmemory = true\n\n[stage.embed]\nmodle = \"m\"\n\n\
        [stage.owners]\nuse = \"procces\"\n\n[stage.a]\nuse = \"mixer\"\nreads = [\"file.id\"]\nwrites = [\"file.x\"]\n\
        after = [\"embde\"]\n\n[stage.b]\nuse = \"mixer\"\nwrites = [\"file.x\"]\n";
}

#[test]
fn an_unknown_stage_type_does_not_hide_misspelt_columns() {
    let text = format!(
        "{SOURCE}[stage.keep]\nuse = \"mixer\"\nkind = \"sink\"\nreads = [\"file.idd\", \"file.team\"]\n[stage.entirely_different]\n"
    );
    let found = findings(&text);
    assert!(found.contains("unknown stage type `entirely_different`"), "{found}");
    assert!(found.contains("reads column `file.idd`") && !found.contains("column `file.team`"), "{found}");
}

#[test]
fn a_diagnostic_names_the_file_that_contains_the_mistake() {
    let broken = PipelineSource { name: "site", text: "extends = \"base\"\n[stage.embed]\nbatch = true\n" };
    let top = PipelineSource { name: "top.toml", text: "extends = \"site\"\n[stage.embed]\nmodel = 1\n" };
    let found = load(&[top], &registry(), &[BASE, broken]).err().expect("two values are wrong");
    insta::assert_snapshot!("layers", found);
}

#[test]
fn pipelines_that_extend_each_other_are_listed_in_the_error() {
    let one = PipelineSource { name: "one", text: "extends = \"two\"\n" };
    let two = PipelineSource { name: "two", text: "extends = \"one\"\n" };
    let top = PipelineSource { name: "top.toml", text: "extends = \"one\"\n" };
    let found = load(&[top], &registry(), &[one, two]).err().expect("the pipelines extend each other");
    insta::assert_snapshot!("extends_cycle", found);
}

#[test]
fn diagnostics_serialize_with_their_place() {
    let found = plan("extends = \"base\"\n[stage.embed]\nmodle = 3\n").err().expect("the key is unknown");
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&found).expect("serializes"));
}
