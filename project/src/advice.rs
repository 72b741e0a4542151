//! Advice on errors, such as the command to run next. The messages of the errors cannot contain such advice, because
//! the libraries that create them do not know the commands.

use std::error::Error;
use std::path::Path;

use aurora_analysis::{ModelError, ModelUse, STATIC};
use aurora_query::QueryError;
use aurora_stages::index::IndexError;
use aurora_storage::{ProjectDirectory, StorageError};

use crate::error::{ProjectError, plain};
use crate::user;

/// Returns advice to be appended to the message of an error. Empty if the message is sufficient. An error that only
/// forwards to another error (`#[error(transparent)]`) gets the advice for that error. Advice for the causes of an
/// error is not included; see [`chain`].
pub fn advice(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref() {
        return storage_advice(error);
    }
    if let Some(ModelError::Unknown { name, wanted, .. }) = error.downcast_ref() {
        return model_advice(name, *wanted);
    }
    match error.downcast_ref() {
        Some(QueryError::Empty) => return ", such as \"parse config\"".to_owned(),
        Some(QueryError::Storage(error)) => return storage_advice(error),
        _ => {}
    }
    match error.downcast_ref() {
        Some(IndexError::Storage(error)) => return storage_advice(error),
        Some(IndexError::Descriptors { .. }) => return " (`--jobs`)".to_owned(),
        _ => {}
    }
    match error.downcast_ref() {
        Some(ProjectError::Index(error)) => advice(error),
        Some(ProjectError::Model(error)) => advice(error),
        Some(ProjectError::Query(error)) => advice(error),
        Some(ProjectError::Storage(error)) => advice(error),
        _ => String::new(),
    }
}

fn storage_advice(error: &StorageError) -> String {
    let advice = match error {
        StorageError::NoIndex { .. } => ": run `aur mem index` first",
        StorageError::Foreign { .. } => "; move it away or run `aur mem index --force`",
        StorageError::Truncated { .. } | StorageError::FormatVersion { .. } => "; `aur mem index` rebuilds it",
        StorageError::Damaged { .. } => "; `aur mem verify` shows details, `aur mem index --force` rebuilds it",
        StorageError::ForeignRecords { path, .. } => {
            return format!("; move it away, or accept it with `aur mem trust-index {}`", store_name(path));
        }
        StorageError::IdsExhausted { .. } => "; run `aur mem index --force` to rebuild it",
        _ => "",
    };
    advice.to_owned()
}

/// Returns the name of the record store in a directory, as `aur mem trust-index` expects it.
fn store_name(directory: &Path) -> &'static str {
    let is_in = |name: &str| directory.parent().is_some_and(|above| above.iter().any(|part| part == name));
    let is_of_user = user::absolute_directory().is_some_and(|user| directory.starts_with(user.memory()));
    match directory.file_name() {
        _ if is_of_user => "user-memory",
        _ if is_in(ProjectDirectory::MEMORY) => "memory",
        Some(name) if name == ProjectDirectory::ANNOTATIONS => "tags",
        _ => "access",
    }
}

fn model_advice(name: &str, wanted: ModelUse) -> String {
    let other = match wanted {
        ModelUse::Embedding => format!(", or use `{STATIC}`, which needs no files"),
        ModelUse::Reranking => String::new(),
    };
    format!(
        ". Get its files (config.json, tokenizer.json, model.safetensors) and run `aur model add DIR --name {name}`{other}"
    )
}

impl ProjectError {
    /// Returns advice on the error, to be printed on a separate line.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Distrusted { .. } => {
                "`aur mem index` rebuilds it; `aur mem trust-index`, or AURORA_TRUST_INDEX=1, accepts it as it is"
            }
            Self::UnknownChunk { near, .. } | Self::UnknownName { near, .. } if !near.is_empty() => {
                let near: Vec<String> = near.iter().map(|name| plain(name)).collect();
                return Some(format!("did you mean {}?", near.join(" or ")));
            }
            Self::UnknownChunk { .. } => "give the `id` of a result from the JSON output, or PATH:LINE",
            Self::UnknownName { .. } => "give a name as shown in the results, PATH:LINE, or the `id` of a result",
            Self::AmbiguousName { .. } => "give one of these ids, a longer qualified name, or PATH:LINE",
            Self::NoChunkAtLine { .. } => {
                "results show the lines of every chunk; the file may have changed since it was indexed"
            }
            Self::UnknownFile { .. } => {
                "give the path of a file, relative to the indexed directory; `aur mem index` adds files that are new"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// Returns the messages of an error and of its causes, without repetitions, followed by advice.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let hint = sources(error).map(advice).find(|hint| !hint.is_empty());
    causes(error) + &hint.unwrap_or_default()
}

/// Returns the messages of an error and of its causes, without repetitions.
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let mut message = error.to_string();
    for cause in sources(error).skip(1) {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
    }
    message
}

/// Iterates over an error, its cause, the cause of the cause, and so on.
fn sources<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use std::io;

    use aurora_pipeline::{RunError, StageError};

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open the index")]
    struct Outer(#[source] io::Error);

    #[test]
    fn the_messages_of_causes_are_included() {
        let error = Outer(io::Error::other("disk on fire"));
        assert_eq!(chain(&error), "cannot open the index: disk on fire");
    }

    #[test]
    fn an_error_names_the_command_that_helps() {
        let storage = || StorageError::FormatVersion { path: "p".into(), found: 1, expected: 2 };
        let expected = "the index at p has format 1, this program reads format 2; `aur mem index` rebuilds it";
        assert_eq!(chain(&storage()), expected);
        assert_eq!(chain(&QueryError::from(storage())), expected);
        assert_eq!(chain(&IndexError::from(storage())), expected);
        assert_eq!(chain(&IndexError::from(StageError::from_error(storage()))), expected);
        let run = RunError::Stage { stage: "store".to_owned(), error: StageError::from_error(storage()) };
        assert_eq!(chain(&IndexError::from(run)), format!("stage `store` failed: {expected}"));
        let models = aurora_analysis::ModelDirectory::at("no/such/directory");
        let unknown = aurora_analysis::embedder("minilm", &models).err().expect("the model is unknown");
        let message = chain(&StageError::from_error(unknown));
        assert!(
            message.contains("available models: static. Get its files")
                && message.contains("model add DIR --name minilm")
        );
    }
}
