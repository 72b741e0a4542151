//! Masking of secrets in names and paths.

/// A function that masks the secrets of a text.
#[derive(Clone, Copy, Debug)]
pub struct Mask {
    /// The function.
    pub apply: fn(String) -> String,
    /// Version of the function. Must change whenever the function may mask a text differently than before. Caches and
    /// fingerprints with another version are invalid.
    pub version: u32,
}

impl Mask {
    /// Masks the secrets in a path. Returns `None` if the path has no secret. Adds digests, separated by zero bytes, so
    /// that paths that differ only in their secrets stay different. A masked file name gets a separate digest, because
    /// rename detection compares file names.
    pub(crate) fn masked_path(self, path: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(path);
        let masked = (self.apply)(text.to_string());
        if masked == text {
            return None;
        }
        let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex();
        let name = file_name(path);
        let mut out = format!("{}\0/{masked}", digest(path)).into_bytes();
        if !masked.as_bytes().ends_with(name) {
            out.push(0);
            out.extend_from_slice(digest(name).as_bytes());
        }
        Some(out)
    }
}

/// Returns the last component of a path.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..])
}
