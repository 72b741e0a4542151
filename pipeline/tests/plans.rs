//! Tests of plans: the order of stages, layers, and text formats.

mod made;

use std::path::Path;

use aurora_pipeline::{BuildContext, PipelineSource, Plan, Services, load};
use made::{BASE, plan, registry};

const TEAM: &str = r#"
extends = "base"

[run]
memory = "1GiB"
batch_files = 7

[stage.embed]
model = "minilm"
workers = 3

[stage.owners]
use = "mixer"
reads = ["file.id"]
writes = ["owner"]
after = ["chunk"]

[stage.early]
use = "mixer"
reads = ["file.id"]
writes = ["file.early"]

[stage.late]
use = "mixer"
kind = "sink"
reads = ["chunk.owner", "file.early"]
"#;

fn valid_plan(text: &str) -> Plan {
    plan(text).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn a_plan_is_shown_as_a_table_as_dot_and_as_toml() {
    let plan = valid_plan(TEAM);
    insta::assert_snapshot!("graph_text", plan.graph_text());
    insta::assert_snapshot!("graph_dot", plan.graph_dot());
    insta::assert_snapshot!("show", plan.show());
}

#[test]
fn a_plan_shown_as_toml_loads_to_the_same_plan() {
    let plan = valid_plan(TEAM);
    let again = valid_plan(&plan.show());
    assert_eq!(again.show(), plan.show());
    assert_eq!(again.graph_dot(), plan.graph_dot());
    assert_eq!(again.run_config(), plan.run_config());
}

#[test]
fn layers_override_each_other_key_by_key() {
    let plan = valid_plan(TEAM);
    let embed = plan.stages().iter().find(|stage| stage.name() == "embed").expect("in the base");
    assert_eq!(embed.config()["model"].as_str(), Some("minilm"));
    assert_eq!(embed.workers(), Some(3));
    let chunk = plan.stages().iter().find(|stage| stage.name() == "chunk").expect("in the base");
    assert_eq!(chunk.config()["lines"].as_integer(), Some(40));
    assert_eq!((plan.run_config().memory, plan.run_config().jobs), (1 << 30, Some(2)));
}

#[test]
fn a_later_source_with_the_same_base_overrides_an_earlier_one() {
    let user = PipelineSource { name: "user", text: "extends = \"base\"\n[stage.embed]\nmodel = \"u\"\nbatch = 2\n" };
    let project = PipelineSource { name: "project", text: "extends = \"base\"\n[stage.embed]\nmodel = \"p\"\n" };
    let plan = load(&[user, project], &registry(), &[BASE]).unwrap_or_else(|found| panic!("{found}"));
    let embed = plan.stages().iter().find(|stage| stage.name() == "embed").expect("in the base");
    assert_eq!(embed.config().to_string(), "batch = 2\nmodel = \"p\"\n");
}

#[test]
fn a_stage_of_another_type_does_not_inherit_the_keys_of_the_replaced_stage() {
    let text = "extends = \"base\"\n[stage.embed]\nuse = \"mixer\"\nwrites = [\"chunk.embedding\"]\n";
    let plan = valid_plan(text);
    let embed = plan.stages().iter().find(|stage| stage.name() == "embed").expect("in the plan");
    assert_eq!((embed.type_name(), embed.config().contains_key("model")), ("mixer", false));
}

#[test]
fn a_disabled_stage_is_removed_and_its_optional_readers_stay() {
    let plan = valid_plan("extends = \"base\"\n[stage.embed]\nenabled = false\n[stage.keep]\nafter = [\"embed\"]\n");
    let names: Vec<&str> = plan.stages().iter().map(|stage| stage.name()).collect();
    assert_eq!(names, ["walk", "chunk", "keep"]);
}

#[test]
fn stages_that_do_not_depend_on_each_other_share_a_step() {
    let plan = valid_plan(TEAM);
    let step = |name: &str| plan.stages().iter().find(|stage| stage.name() == name).map(|stage| stage.step());
    assert_eq!(step("embed"), step("owners"));
    assert!(step("chunk") < step("owners"), "chunk rows are final before stages work on them");
    assert!(step("owners") < step("late"));
}

#[test]
fn chunk_rows_come_before_their_columns_even_if_the_chunker_reads_all_custom_columns() {
    let text = "[stage.owners]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['chunk.owner']\n\
        [stage.langs]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.lang']\n\
        [stage.cut]\nuse = 'mixer'\nreads = ['file.id']\nchunks = 3\nall = true\n\
        [stage.keep]\nuse = 'mixer'\nkind = 'sink'\nall = true\n\
        [stage.walk]\nuse = 'mixer'\nkind = 'source'\nwrites = ['file.id']\n";
    let plan = valid_plan(text);
    let names: Vec<&str> = plan.stages().iter().map(|stage| stage.name()).collect();
    assert_eq!(names, ["walk", "langs", "cut", "owners", "keep"]);
    assert!(plan.warnings().is_empty(), "{}", plan.warnings());
}

#[test]
fn a_reader_may_come_before_an_update_of_its_column() {
    let text = "[stage.walk]\nuse = \"mixer\"\nkind = \"source\"\nwrites = [\"file.id\"]\n\
        [stage.keep]\nuse = \"mixer\"\nkind = \"sink\"\nreads = [\"file.id\"]\n\
        [stage.first]\nuse = \"mixer\"\nreads = [\"file.id\"]\n\
        [stage.update]\nuse = \"mixer\"\nreads = [\"file.id\"]\nwrites = [\"file.id\"]\nafter = [\"first\"]\n";
    let plan = valid_plan(text);
    let names: Vec<&str> = plan.stages().iter().map(|stage| stage.name()).collect();
    assert_eq!(names, ["walk", "first", "update", "keep"]);
}

#[test]
fn a_build_error_names_the_stage() {
    let plan = valid_plan(
        "extends = \"base\"\n[stage.keep]\ntrouble = \"build\"\n[stage.chunk]\nenabled = false\n[stage.embed]\nenabled = false\n",
    );
    let services = Services::new();
    let error = plan.build(&BuildContext { root: Path::new("."), services: &services }).err().expect("no model `x`");
    assert_eq!(error.to_string(), "stage `keep`: the model `x` does not exist; see `aur model list`");
}
