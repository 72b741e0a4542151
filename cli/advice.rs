//! Which command helps against an error of a library. The libraries say what is wrong; they know no commands.

use std::error::Error;

use aurora_analysis::{ModelError, ModelUse, STATIC};
use aurora_evaluation::tune::TuneError;
use aurora_query::QueryError;
use aurora_stages::index::IndexError;
use aurora_storage::StorageError;

/// What to do about an error, as words that follow its message; nothing where the message says enough.
pub(crate) fn advice(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref() {
        of_storage(error)
    } else if let Some(error) = error.downcast_ref() {
        of_model(error)
    } else if let Some(error) = error.downcast_ref() {
        of_query(error)
    } else if let Some(TuneError::Query(error)) = error.downcast_ref() {
        of_query(error)
    } else if let Some(error) = error.downcast_ref() {
        of_index(error)
    } else {
        String::new()
    }
}

fn of_storage(error: &StorageError) -> String {
    let advice = match error {
        StorageError::NoIndex { .. } => ": run `aur mem index` first",
        StorageError::Foreign { .. } => "; move it away or run `aur mem index --force`",
        StorageError::Truncated { .. } | StorageError::FormatVersion { .. } => "; `aur mem index` builds it again",
        StorageError::Damaged { .. } => "; `aur mem verify` tells more, `aur mem index --force` builds it again",
        StorageError::IdsExhausted { .. } => "; run `aur mem index --force` to build it again",
        _ => "",
    };
    advice.to_owned()
}

fn of_model(error: &ModelError) -> String {
    match error {
        ModelError::Unknown { name, wanted, .. } => {
            let other = match wanted {
                ModelUse::Embedding => format!(", or use `{STATIC}`, which needs none"),
                ModelUse::Reranking => String::new(),
            };
            format!(
                ". Get its files (config.json, tokenizer.json, model.safetensors) and run `aur model add DIR --name {name}`{other}"
            )
        }
        _ => String::new(),
    }
}

fn of_query(error: &QueryError) -> String {
    match error {
        QueryError::Empty => ", such as `aur mem search \"parse config\"`".to_owned(),
        QueryError::Storage(error) => of_storage(error),
        _ => String::new(),
    }
}

/// Errors of stages and of runs have their cause as source.
fn of_index(error: &IndexError) -> String {
    match error {
        IndexError::Storage(error) => of_storage(error),
        IndexError::Descriptors { .. } => " (`--jobs`)".to_owned(),
        _ => String::new(),
    }
}
