//! Offers files and chunks as resources of the protocol.

use aurora_live::{LiveProject, Roots};
use aurora_project::{Names, ProjectError, chain, file_report};
use aurora_query::estimate_tokens;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::tools::{MAX_BUDGET, cut_name};

/// Maximum number of resources in one page of a list.
const MAX_PAGE_RESOURCES: usize = 200;
/// Maximum total number of bytes in the paths of a page.
const MAX_PAGE_BYTES: usize = 64 << 10;
/// Bytes that are encoded in addresses: all but unreserved characters (RFC 3986) and the slash.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
const SCHEME: &str = "aurora://";
const PLAIN: &str = "text/plain";

/// Returns the URI templates of files and chunks.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |address: &str, name: &str, description: &str| {
        ResourceTemplate::new(address, name).with_description(description).with_mime_type(PLAIN)
    };
    vec![
        template("aurora://{root}/file/{+path}", "file", "A file of the index"),
        template("aurora://{root}/chunk/{+id}", "chunk", "A chunk by the id shown by `search`"),
    ]
}

/// Returns a page of the list of all indexed files.
pub(crate) fn list(roots: &Roots, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let skipped = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(skipped)) => skipped,
        Some(Err(_)) => return Err(ErrorData::invalid_params("the cursor is not from this server", None)),
    };
    let (mut page, mut bytes) = (Vec::new(), 0);
    let mut at = 0;
    for root in roots.iter() {
        // A root without an index has no files yet.
        let Ok(searcher) = root.searcher() else { continue };
        for file in searcher.snapshot().files() {
            let file = file.map_err(|error| internal(&error.into()))?;
            at += 1;
            if at <= skipped || file.chunks.is_empty() {
                continue;
            }
            if page.len() == MAX_PAGE_RESOURCES || bytes > MAX_PAGE_BYTES {
                let next = ListResourcesResult {
                    next_cursor: Some((at - 1).to_string()),
                    ..ListResourcesResult::with_all_items(page)
                };
                return Ok(next);
            }
            bytes += file.path.len();
            let address = format!("{SCHEME}{}/file/{}", encode(root.name()).replace('/', "%2F"), encode(&file.path));
            page.push(Resource::new(address, file.path).with_mime_type(PLAIN).with_size(file.size));
        }
    }
    Ok(ListResourcesResult::with_all_items(page))
}

/// Returns the text of a file or chunk, with secrets masked. Fails if the text exceeds the maximum budget, because a
/// resource cannot be read in parts.
pub(crate) fn read(roots: &Roots, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || ErrorData::resource_not_found(format!("there is no resource {}", cut_name(uri)), None);
    let parts = uri.strip_prefix(SCHEME).and_then(|rest| {
        let (root, rest) = rest.split_once('/')?;
        let (kind, name) = rest.split_once('/')?;
        Some((decode(root)?, kind, decode(name)?))
    });
    let (root, kind, name) = parts.ok_or_else(missing)?;
    let root = roots.get(Some(&root)).map_err(|_| missing())?;
    let text = match kind {
        "file" => file(root, &name),
        "chunk" => chunk(root, &name),
        _ => return Err(missing()),
    };
    let text = text.map_err(|error| match error {
        ProjectError::UnknownFile { .. }
        | ProjectError::OutsideRoot { .. }
        | ProjectError::UnknownChunk { .. }
        | ProjectError::NoChunkAtLine { .. } => missing(),
        error => internal(&error),
    })?;
    let tokens = estimate_tokens(&text);
    if tokens > MAX_BUDGET {
        let reason = format!("the resource has about {tokens} tokens, and an answer at most {MAX_BUDGET}");
        return Err(ErrorData::invalid_params(format!("{reason}; the tool `read` reads some of its lines"), None));
    }
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(PLAIN)]))
}

fn file(root: &LiveProject, path: &str) -> Result<String, ProjectError> {
    let searcher = root.searcher()?;
    let record = Names::for_searcher(&searcher).file(path)?;
    let report = file_report(&searcher, &record)?;
    report.content.ok_or_else(|| ProjectError::UnknownFile { path: path.to_owned() })
}

fn chunk(root: &LiveProject, id: &str) -> Result<String, ProjectError> {
    let searcher = root.searcher()?;
    let (found, _) = Names::for_searcher(&searcher).chunk(id)?;
    let unknown = || ProjectError::UnknownChunk { id: id.to_owned(), near: Vec::new() };
    Ok(searcher.snapshot().chunk_with_text(found)?.ok_or_else(unknown)?.text)
}

fn internal(error: &ProjectError) -> ErrorData {
    ErrorData::internal_error(chain(error), None)
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, &ENCODED).to_string()
}

/// Decodes a part of an address. Returns `None` unless two hexadecimal digits follow each `%` and the decoded bytes are
/// UTF-8.
fn decode(text: &str) -> Option<String> {
    let has_digits =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let is_valid = text.split('%').skip(1).all(has_digits);
    Some(percent_decode_str(text).decode_utf8().ok().filter(|_| is_valid)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_any_path() {
        for path in ["a/b.rs", "with space/ä%20?.py", "code:a.rs:run~2", "100%"] {
            assert_eq!(decode(&encode(path)).as_deref(), Some(path));
        }
        assert!(encode("a b").is_ascii() && !encode("a b").contains(' '));
        for wrong in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
