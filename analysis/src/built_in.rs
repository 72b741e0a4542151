//! Models inside the program.

use std::sync::{Arc, OnceLock};

use crate::model_error::ModelError;

/// What `model` holds, or what `read` gives, which it then holds: a model is read once per process, and only if it is used.
///
/// # Errors
/// Those of `read`; the next call reads again.
pub(crate) fn read_once<M>(
    model: &OnceLock<Arc<M>>,
    read: impl FnOnce() -> Result<M, ModelError>,
) -> Result<Arc<M>, ModelError> {
    if let Some(model) = model.get() {
        return Ok(Arc::clone(model));
    }
    let read = Arc::new(read()?);
    Ok(Arc::clone(model.get_or_init(|| read)))
}
