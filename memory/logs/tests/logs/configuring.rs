//! Tests of the table `[logs]` in the configuration.

use std::path::{Path, PathBuf};

use aurora_logs::{Policy, Settings};

fn load(text: Option<&str>, environment: &[(&str, &str)]) -> Result<Settings, String> {
    let test = tempfile::tempdir().unwrap();
    let file = test.path().join("config.toml");
    if let Some(text) = text {
        std::fs::write(&file, text).unwrap();
    }
    let environment: Vec<_> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let home = Some(Path::new("/home/ada"));
    let loaded = Settings::load(Settings::at("/logs"), Some(&file), &environment, home);
    loaded.map_err(|errors| errors.to_string().replace(&file.display().to_string(), "config.toml"))
}

#[test]
fn the_environment_overrides_the_file_which_overrides_the_defaults() {
    let defaults = load(None, &[]).unwrap();
    assert_eq!(defaults, Settings::at("/logs"));
    assert_eq!(defaults.policy, Policy { retention_days: 90, compress_after_days: 7 });
    assert_eq!(load(Some("[search]\nrefresh = 0\n"), &[]).unwrap(), defaults);
    let text = "[logs]\npath = \"~/audit\"\nretention_days = 0\ncompress_after_days = 1_0\nkeyword_count = 3\n";
    let set = load(Some(text), &[("AURORA_LOGS_RETENTION_DAYS", "30"), ("AURORA_LOG", "x")]).unwrap();
    assert_eq!(set.path, PathBuf::from("/home/ada/audit"));
    assert_eq!((set.policy.retention_days, set.policy.compress_after_days, set.keyword_count), (30, 10, 3));
    assert_eq!(load(None, &[("AURORA_LOGS_PATH", "/srv/logs")]).unwrap().path, PathBuf::from("/srv/logs"));
}

#[test]
fn all_errors_are_reported_at_once() {
    let text =
        "[logs]\npath = \"logs\"\nretention_days = -1\ncompress_after_days = 7.5\nkeyword_count = 9\nretention = 3\n";
    let errors = load(Some(text), &[("AURORA_LOGS_RETENTION_DAY", "1"), ("AURORA_LOGS_KEYWORD_COUNT", "two")]);
    insta::assert_snapshot!(errors.unwrap_err());
    for text in ["logs = 3\n", "[logs\n", "[logs]\npath = \"\"\n", "[logs]\npath = [1]\n"] {
        assert!(load(Some(text), &[]).is_err(), "{text}");
    }
}

#[test]
fn the_reference_lists_the_actual_defaults() {
    let text: String = Settings::reference()
        .iter()
        .filter(|key| key.key != "path")
        .map(|key| format!("{} = {}\n", key.key, key.default))
        .collect();
    assert_eq!(load(Some(&format!("[logs]\n{text}")), &[]).unwrap(), Settings::at("/logs"));
}
