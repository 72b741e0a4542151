//! The rows that make a generation visible to readers.

use roaring::RoaringBitmap;

use crate::error::StorageError;
use crate::manifest::Manifest;
use crate::tables::{Operation, Table, meta_key};

/// Returns the rows with the set of live chunks and the manifest.
pub(crate) fn generation_rows(manifest: &Manifest, mut live: RoaringBitmap) -> Result<[Operation; 2], StorageError> {
    live.optimize();
    let mut bytes = Vec::with_capacity(live.serialized_size());
    live.serialize_into(&mut bytes).map_err(|error| StorageError::encode("bitmap", &error))?;
    let json = serde_json::to_vec(manifest).map_err(|error| StorageError::encode("manifest", &error))?;
    Ok([(meta_key::LIVE, bytes), (meta_key::MANIFEST, json)]
        .map(|(key, value)| Operation::put(Table::Meta, key, value)))
}
