//! Notes as resources with addresses `note://source/path`: a list, and the text of one. As for the
//! tools, the sandbox of an agent decides which notes are visible, so private notes are not
//! resources.

use rmcp::model::{
    ErrorCode as Rpc, ErrorData, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::advice::advice;
use super::page::{about, cursor, place};
use super::{Service, server, tools};
use local_agent_agent::operations::documents::{self, DocumentPiece};
use local_agent_files::sandbox::{Address, Sandbox, WalkOutcome};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{FileStamp, RelPath, SourceName};

/// The beginning of a note's address.
const SCHEME: &str = "note://";

/// Maximum number of notes on one page.
const PAGE: usize = 500;

/// Maximum size in bytes of a note that is returned whole; `get` reads longer ones in pages.
const MAX_RESOURCE_BYTES: usize = 1 << 20;

/// Characters that stay unescaped in the path of an address, in addition to letters and digits.
const PLAIN: &[u8] = b"/-._~!$&'()*+,;=:@";

/// Whether notes are offered as resources. If `get` is not offered, an agent must not read whole
/// notes.
pub(super) fn are_offered(service: &Service) -> bool {
    let operations = &service.loaded.config.mcp.operations;
    operations.iter().any(|name| name == "get")
}

/// Checks that notes are offered as resources.
///
/// # Errors
/// That the method does not exist.
pub(super) fn must_be_offered(service: &Service) -> std::result::Result<(), ErrorData> {
    if are_offered(service) {
        return Ok(());
    }
    let why = "notes are not resources here: `mcp.operations` leaves `get` out";
    Err(ErrorData::new(Rpc::METHOD_NOT_FOUND, why, None))
}

/// The template for addresses that a client builds itself.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new("note://{source}/{+path}", "note")
        .with_title("A note")
        .with_description("A note as it is on the disk now, by its source and its path in it.");
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// A page of all notes, ordered by source and path. The ledger records the call like that of a
/// tool.
///
/// # Errors
/// `INVALID_ARGS` for a cursor that does not fit; those of the sandbox and of the ledger.
pub(super) fn list(service: &Service, from: Option<&str>) -> Result<ListResourcesResult> {
    let done = page_of(service, from);
    let subject = subject_of(from.unwrap_or_default());
    tools::enter(service, "resources/list", subject, done, size_of_list)
}

/// The size of the addresses and titles in a list.
fn size_of_list(list: &ListResourcesResult) -> u64 {
    let sizes = list
        .resources
        .iter()
        .map(|one| one.uri.len() + one.title.as_ref().map_or(0, String::len));
    sizes.sum::<usize>() as u64
}

/// The subject of a call in the ledger: the text, cut as for tools.
pub(super) fn subject_of(text: &str) -> String {
    text.chars().take(200).collect()
}

fn page_of(service: &Service, from: Option<&str>) -> Result<ListResourcesResult> {
    let sandbox = service.sandbox()?;
    let notes = notes(&sandbox)?;
    let names: String = notes.iter().map(|(at, _)| format!("{at}\n")).collect();
    let of = about(&["resources", &names]);
    let start = place(from, &of)?;
    let page = notes.iter().skip(start).take(PAGE);
    let resources: Vec<Resource> = page.map(|(at, size)| resource(at, *size)).collect();
    let end = start + resources.len();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = (end < notes.len()).then(|| cursor(end, &of));
    Ok(result)
}

fn notes(sandbox: &Sandbox) -> Result<Vec<(Address, u64)>> {
    let mut found = Vec::new();
    for root in sandbox
        .roots()
        .iter()
        .filter(|root| root.unavailable.is_none())
    {
        for entry in sandbox.documents(&root.name)? {
            if let WalkOutcome::Found(stamp) = entry.what {
                let at = Address {
                    source: root.name.clone(),
                    path: entry.path,
                };
                found.push((at, stamp.size));
            }
        }
    }
    Ok(found)
}

fn resource(at: &Address, size: u64) -> Resource {
    let path = at.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    Resource::new(uri_of(at), name)
        .with_title(path)
        .with_mime_type(mime_type(path))
        .with_size(size)
}

fn uri_of(at: &Address) -> String {
    format!("{SCHEME}{}/{}", at.source, encoded(at.path.as_str()))
}

fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn mime_type(path: &str) -> &'static str {
    let extension = path.rsplit('.').next().unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        // The text of other formats is extracted as markdown.
        "md" | "markdown" | "html" | "htm" | "docx" | "pdf" | "canvas" => "text/markdown",
        _ => "text/plain",
    }
}

/// The note at an address.
///
/// # Errors
/// `INVALID_ARGS` if `uri` is not the address of a note.
fn address_of(uri: &str, sandbox: &Sandbox) -> Result<Address> {
    let (source, path) = uri
        .strip_prefix(SCHEME)
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(refused_address)?;
    // Some clients write the part after `//` in lower case.
    let named = sandbox
        .roots()
        .iter()
        .map(|root| &root.name)
        .find(|name| name.as_str().eq_ignore_ascii_case(source));
    let source = match named {
        Some(name) => name.clone(),
        None => SourceName::new(source).map_err(|_| refused_address())?,
    };
    let path = decoded(path).ok_or_else(refused_address)?;
    let path = RelPath::new(path.as_str()).map_err(|_| refused_address())?;
    Ok(Address { source, path })
}

/// The failure for an address that is not one of a note.
fn refused_address() -> Failure {
    Failure::new(
        ErrorCode::InvalidArgs,
        "the address is not `note://source/path`",
    )
    .with_hint("`resources/list` gives the addresses")
}

/// A path with its escapes decoded; `None` if the result is not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The text of a note. The ledger records the call like that of a tool.
///
/// # Errors
/// Those of the sandbox; `FILE_TOO_LARGE`; those of the ledger.
pub(super) fn read(service: &Service, uri: &str) -> Result<ReadResourceResult> {
    let done = service.sandbox().and_then(|sandbox| {
        let at = address_of(uri, &sandbox)?;
        let piece = documents::whole(&sandbox, &at)?;
        is_short(&piece)?;
        Ok(piece)
    });
    let subject = subject_of(uri);
    let bytes = |piece: &DocumentPiece| piece.text.len() as u64;
    let piece = tools::enter(service, "resources/read", subject, done, bytes)?;
    let path = piece.address.split_once(':').map_or("", |(_, path)| path);
    let contents = ResourceContents::text(piece.text.as_str(), uri).with_mime_type(mime_type(path));
    Ok(ReadResourceResult::new(vec![contents]))
}

fn is_short(piece: &DocumentPiece) -> Result<()> {
    if piece.text.len() <= MAX_RESOURCE_BYTES {
        return Ok(());
    }
    let message = format!(
        "{} is longer than {MAX_RESOURCE_BYTES} bytes",
        piece.address
    );
    Err(Failure::new(ErrorCode::FileTooLarge, message)
        .with_hint("call `get`, which reads in pages"))
}

/// A failure as the protocol's error.
pub(super) fn error(failure: &Failure, service: &Service) -> ErrorData {
    let offered = tools::offered_names(service);
    let offers = |name: &str| offered.contains(&name);
    let data = Some(json!({
        "error_code": failure.code.as_str(),
        "error_message": failure.message,
        "hint": advice(failure, &offers),
    }));
    let said = server::said(failure, &offers);
    match failure.code {
        ErrorCode::FileNotFound | ErrorCode::PathDenied | ErrorCode::PathIsDirectory => {
            ErrorData::resource_not_found(said, data)
        }
        ErrorCode::InvalidArgs | ErrorCode::FileTooLarge => ErrorData::invalid_params(said, data),
        _ => ErrorData::internal_error(said, data),
    }
}

/// The stamp of a note that an agent may see.
pub(super) fn seen(sandbox: &Sandbox, uri: &str) -> Result<FileStamp> {
    let at = address_of(uri, sandbox)?;
    let stamp = sandbox.stamp(&at)?;
    if sandbox.shows(&at) {
        return Ok(stamp);
    }
    // Fails in the same way as reading.
    sandbox.read(&at).map(|_| stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_path_comes_back_from_its_address(path in "[a-zä日 %?#\\[\\]{}.-]{1,20}") {
            prop_assert_eq!(decoded(&encoded(&path)), Some(path));
        }
    }

    #[test]
    fn what_is_no_escape_is_no_path() {
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
