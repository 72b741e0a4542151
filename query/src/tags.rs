//! Tags that users have given to chunks of code, in results.

use aurora_storage::StorageError;

use crate::present::Hit;
use crate::retriever::Root;

/// Adds the tags that users have given to chunks of code.
pub(crate) fn add_tags(roots: &[Root<'_>], hits: &mut [Hit]) -> Result<(), StorageError> {
    for (place, root) in roots.iter().enumerate() {
        let Some(annotations) = root.retriever.annotations() else { continue };
        let mut of_root: Vec<&mut Hit> = hits.iter_mut().filter(|hit| hit.root_place == place).collect();
        let keys: Vec<&str> = of_root.iter().map(|hit| hit.key.as_str()).collect();
        let found = annotations.get_many(&keys)?;
        for (hit, governance) in of_root.iter_mut().zip(found) {
            hit.governance = governance.or(hit.governance.take());
        }
    }
    Ok(())
}
