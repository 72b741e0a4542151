//! The URL of a remote.

use std::fmt;
use std::path::PathBuf;

use crate::error::RemoteError;

/// Maximum length of a URL in bytes.
const MAX_URL_BYTES: usize = 2048;
/// The supported schemes.
const SCHEMES: &str = "file, s3, gs, az and https";

/// A URL without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    text: String,
    scheme_bytes: usize,
}

impl RemoteUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// Refuses relative paths, unsupported schemes, and every URL that may contain credentials. The message never
    /// contains the URL.
    pub fn parse(text: &str) -> Result<Self, RemoteError> {
        let invalid = |what: &str| Err(RemoteError::Url(what.to_owned()));
        let Some((scheme, rest)) = text.split_once("://") else {
            return invalid("it must start with a scheme, such as `file://` or `s3://`");
        };
        if !["file", "s3", "gs", "az", "https"].contains(&scheme) {
            return invalid(&format!("the supported schemes are {SCHEMES}"));
        }
        if text.len() > MAX_URL_BYTES || text.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return invalid("it is too long, or contains spaces or control characters");
        }
        // A path may contain `@`, but a host may not: what precedes it would be credentials.
        let host = rest.split(['/', '\\']).next().unwrap_or_default();
        if host.contains('@') {
            return invalid("it contains credentials; set them in the environment instead");
        }
        if rest.contains(['?', '#']) {
            return invalid("it contains a query, which may have credentials");
        }
        match (scheme, host) {
            ("file", "") if rest.len() > 1 => {}
            ("file", _) => return invalid("`file://` must be followed by an absolute path"),
            (_, "") => return invalid("it has no bucket or host"),
            _ => {}
        }
        if rest.split('/').any(|part| part == "..") {
            return invalid("it contains `..`");
        }
        Ok(Self { text: text.trim_end_matches('/').to_owned(), scheme_bytes: scheme.len() })
    }

    /// Replaces the credentials in a text that is meant to be a URL, which may be invalid.
    pub fn mask(text: &str) -> String {
        const MASK: &str = "________";
        let (scheme, rest) = text.find("://").map_or(("", text), |at| text.split_at(at + "://".len()));
        let (rest, query) = rest.find(['?', '#']).map_or((rest, ""), |at| rest.split_at(at));
        // Without a scheme, the text may have the form `user:password@host:path`.
        let host = if scheme.is_empty() { rest.len() } else { rest.find(['/', '\\']).unwrap_or(rest.len()) };
        let credentials = rest[..host].rfind('@');
        let mut masked = scheme.to_owned();
        masked.push_str(if credentials.is_some() { MASK } else { "" });
        masked.push_str(&rest[credentials.unwrap_or(0)..]);
        if let Some(mark) = query.get(..1) {
            masked.push_str(mark);
            masked.push_str(MASK);
        }
        masked
    }

    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the URL is `other` or below it. Segments with a special meaning count as outside.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let Some(below) = self.text.strip_prefix(&other.text) else { return false };
        let is_plain = |segment: &str| !matches!(segment, "" | ".") && !segment.contains(['%', '\\']);
        below.is_empty() || below.strip_prefix('/').is_some_and(|path| path.split('/').all(is_plain))
    }

    /// Returns the scheme, such as `s3`.
    pub(crate) fn scheme(&self) -> &str {
        &self.text[..self.scheme_bytes]
    }

    /// Returns the directory of a `file` URL. Percent signs have no special meaning.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        (self.scheme() == "file").then(|| PathBuf::from(&self.text["file://".len()..]))
    }

    /// Returns the path after the bucket or the host.
    pub(crate) fn prefix(&self) -> &str {
        let rest = &self.text[self.scheme_bytes + "://".len()..];
        rest.split_once('/').map_or("", |(_, path)| path)
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_with_credentials_are_refused_and_not_repeated() {
        for text in [
            "https://user:hunter2@example.com/app",
            "https://hunter2@example.com",
            "s3://key:hunter2@bucket/app",
            "https://example.com/app?sig=hunter2",
            "https://example.com/app#hunter2",
            "ftp://user:hunter2@example.com",
            "user:hunter2@example.com:app",
        ] {
            let error = RemoteUrl::parse(text).expect_err(text).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn credentials_are_masked() {
        for (text, expected) in [
            ("s3://bucket/a@b", "s3://bucket/a@b"),
            ("file:///srv/a@b", "file:///srv/a@b"),
            ("https://user:hunter2@host/app", "https://________@host/app"),
            ("https://a@hunter2@host\\@x", "https://________@host\\@x"),
            ("https://hunter2@host", "https://________@host"),
            ("https://host/app?sig=hunter2#hunter2", "https://host/app?________"),
            ("https://host?x=a@b", "https://host?________"),
            ("user:hunter2@host:app/x", "________@host:app/x"),
            ("", ""),
        ] {
            assert_eq!(RemoteUrl::mask(text), expected);
        }
    }

    #[test]
    fn urls_name_a_place() {
        for text in
            ["s3://", "https:///app", "file://relative", "file:///", "file:///a/../b", "", "/srv/x", "s3://b/ x"]
        {
            assert!(RemoteUrl::parse(text).is_err(), "{text}");
        }
        let url = RemoteUrl::parse("s3://bucket/a/b/").expect("the URL is valid");
        assert_eq!((url.as_str(), url.scheme(), url.prefix()), ("s3://bucket/a/b", "s3", "a/b"));
        let url = RemoteUrl::parse("file:///srv/a@b").expect("the URL is valid");
        assert_eq!(url.directory(), Some(PathBuf::from("/srv/a@b")));
    }
}
