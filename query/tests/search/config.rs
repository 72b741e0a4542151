//! Layers of configuration: precedence, and the report of all errors at once.

use std::path::{Path, PathBuf};

use aurora_diagnostics::Diagnostics;
use aurora_query::{ConfigLayers, FlagValue, Fusion, Parameter, SearchConfig};

struct Files {
    _directory: tempfile::TempDir,
    user: PathBuf,
    /// The root of the project.
    root: PathBuf,
}

fn files(user: &str, project: &str) -> Files {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a writable directory");
        std::fs::write(&path, text).expect("a writable directory");
        path
    };
    write(".aurora/config.toml", project);
    Files { user: write("user.toml", user), root: directory.path().to_owned(), _directory: directory }
}

fn layers<'a>(files: &'a Files, environment: &[(&str, &str)], flags: &[(&str, &str, &str)]) -> ConfigLayers<'a> {
    ConfigLayers {
        user: Some(&files.user),
        project: Some(&files.root),
        environment: environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        flags: flags
            .iter()
            .map(|&(flag, key, value)| FlagValue {
                flag: flag.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            })
            .collect(),
        other_tables: &["index", "logs"],
        user_tables: &["limits"],
    }
}

#[test]
fn missing_layers_give_the_defaults_and_the_defaults_are_valid() {
    let missing = Path::new("no/such/file.toml");
    let layers = ConfigLayers { user: Some(missing), project: Some(missing), ..ConfigLayers::default() };
    assert_eq!(SearchConfig::load(&layers), Ok(SearchConfig::default()));
}

#[test]
fn limits_in_a_project_configuration_are_rejected() {
    let files = files("[limits]\nworkers = 1\n", "[limits]\nworkers = 1000\n");
    let error = SearchConfig::load(&layers(&files, &[], &[])).expect_err("a project must not set limits").to_string();
    assert!(error.contains(".aurora/config.toml:1") && !error.contains("user.toml"), "{error}");
}

#[test]
fn later_layers_override_earlier_layers() {
    let files = files("[search.bm25]\nk1 = 1.0\nb = 0.1\n", "[search.bm25]\nk1 = 2\n[index]\nanything = true\n");
    let load = |environment: &[(&str, &str)], flags: &[(&str, &str, &str)]| {
        SearchConfig::load(&layers(&files, environment, flags)).expect("the settings are valid")
    };
    let bm25 = load(&[], &[]).bm25;
    assert_eq!((bm25.k1, bm25.b), (2.0, 0.1));
    let variables = [("AURORA_SEARCH_BM25_K1", "3"), ("AURORA_HOME", "/x"), ("PATH", "/bin")];
    assert_eq!(load(&variables, &[]).bm25.k1, 3.0);
    assert_eq!(load(&variables, &[("--k1", "search.bm25.k1", "4")]).bm25.k1, 4.0);
}

#[test]
fn every_parameter_can_be_set_in_every_layer() {
    let mut config = SearchConfig::default();
    config.hybrid.fusion = Fusion::Rrf;
    config.hybrid.stage1_top_k = 250;
    config.rules.tests = 0.25;
    // The name of a model may look like a number.
    config.rerank = Some("1.5".to_owned());
    let toml: String =
        Parameter::all().map(|parameter| format!("{} = {}\n", parameter.key, parameter.literal(&config))).collect();
    let written = files(&toml, "");
    assert_eq!(SearchConfig::load(&layers(&written, &[], &[])), Ok(config.clone()));
    let flags: Vec<FlagValue> = Parameter::all()
        .map(|parameter| FlagValue {
            flag: "--set".to_owned(),
            key: parameter.key.to_owned(),
            value: parameter.show(&config),
        })
        .collect();
    assert_eq!(SearchConfig::load(&ConfigLayers { flags, ..ConfigLayers::default() }), Ok(config.clone()));
    let environment = Parameter::all()
        .map(|parameter| {
            (format!("AURORA_{}", parameter.key.replace('.', "_").to_uppercase()), parameter.show(&config))
        })
        .collect();
    assert_eq!(SearchConfig::load(&ConfigLayers { environment, ..ConfigLayers::default() }), Ok(config));
}

#[test]
fn all_errors_are_reported_at_once() {
    let files = files(
        "[search.bm25]\nk1 = -1.5\nbb = 1\nb = \"0.5\"\n[search.hybrid]\nstage1_top_k = 9.5\nfusion = \"weigthed\"\n[serch]\n",
        "[search.hybrid.weights]\nbm25 = 0.2\n\n[search.activation]\nmax_hops = 4\n[search]\nrules = 1\n",
    );
    let errors = SearchConfig::load(&layers(
        &files,
        &[("AURORA_SEARCH_BM25_K2", "1"), ("AURORA_SEARCH_BM25_B", "nan")],
        &[("--top-k", "search.hybrid.stage1_top_k", "many")],
    ))
    .expect_err("most values are invalid");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"> \S*/user\.toml", "> user.toml");
    settings.add_filter(r"> \S*/\.aurora/config\.toml", "> project.toml");
    settings.bind(|| insta::assert_snapshot!(errors));
}

#[test]
fn a_reranker_is_the_name_of_a_model_and_not_a_path() {
    let load = |project: &str| SearchConfig::load(&layers(&files("", &format!("[search]\n{project}\n")), &[], &[]));
    assert_eq!(load("rerank = \"marco\"").map(|config| config.rerank), Ok(Some("marco".to_owned())));
    assert_eq!(load("rerank = \"off\"").map(|config| config.rerank), Ok(None));
    for wrong in ["\"../marco\"", "\"/models/marco\"", "\"a/b\"", "\"Marco\"", "\"\"", "true", "[]", "\"a\\u001b\""] {
        let errors = load(&format!("rerank = {wrong}")).expect_err("not the name of a model");
        let (code, message, line) = only(&errors);
        assert_eq!((code, line), ("A0103", Some(2)), "{wrong}: {message}");
        assert!(message.starts_with("`search.rerank` must be `off` or the name of a model, not "), "{message}");
    }
    for wrong in ["0", "101", "2.5", "\"all\""] {
        let errors = load(&format!("rerank_results = {wrong}")).expect_err("not a valid number of results");
        assert!(only(&errors).1.contains("must be a whole number between 1 and 100"), "{errors}");
    }
}

#[test]
fn the_sum_of_weights_is_checked_over_all_layers() {
    let files =
        files("[search.hybrid.weights]\nbm25 = 0.5\nsemantic = 0.4\n", "[search.hybrid.weights]\nactivation = 0.2\n");
    let errors = SearchConfig::load(&layers(&files, &[], &[])).expect_err("the weights sum to 1.1");
    assert_eq!(only(&errors), ("A0117", "`search.hybrid.weights` must sum to 1.0, not 1.1", Some(2)));
    let fixed = [("--activation", "search.hybrid.weights.activation", "0.1")];
    assert!(SearchConfig::load(&layers(&files, &[], &fixed)).is_ok());
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    let files = files("[search.bm25]\nk1 = = 2\n", "");
    let errors = SearchConfig::load(&layers(&files, &[], &[])).expect_err("the TOML is invalid");
    assert_eq!(only(&errors), ("A0100", "extra `=`, expected nothing", Some(2)));
}

/// Returns the code, message and line of the only error.
fn only(errors: &Diagnostics) -> (&str, &str, Option<usize>) {
    let found: Vec<_> = errors.iter().collect();
    let [error] = found[..] else { panic!("{errors}") };
    let line = error.location.as_ref().and_then(|place| place.location()).map(|location| location.line);
    (error.code, &error.message, line)
}

#[test]
fn weights_of_custom_columns_are_checked_without_an_index() {
    let both = files("[search.boost]\nchurn = 0.5\nrisk = 1\n", "[search.boost]\nchurn = -0.25\n");
    let config = SearchConfig::load(&layers(&both, &[], &[])).expect("the settings are valid");
    assert_eq!(config.boost, [("churn".to_owned(), -0.25), ("risk".to_owned(), 1.0)].into());
    let wrong = files("[search]\nboost = 3\n", "[search.boost]\nchurn = 1.5\nrisk = \"high\"\nhot = nan\n");
    let error = SearchConfig::load(&layers(&wrong, &[], &[])).expect_err("the weights are invalid").to_string();
    assert!(error.contains("`search.boost` must be a table, not 3"), "{error}");
    for wrong in ["churn` must be a number between -1.0 and 1.0, not 1.5", "risk` must be", "hot` must be"] {
        assert!(error.contains(wrong), "{error}");
    }
    let misspelt = files("[search.bost]\nchurn = 1\n", "");
    let error = SearchConfig::load(&layers(&misspelt, &[], &[])).expect_err("the key is unknown").to_string();
    assert!(error.contains("search.boost"), "{error}");
}
