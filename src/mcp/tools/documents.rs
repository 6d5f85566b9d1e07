//! `get` and `multi_get`: the current notes on disk.

use std::fmt::Write as _;

use super::words::{framed, say_next};
use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::page::{about, budget, cursor, cut, place};
use crate::mcp::shapes::{Document, GetArgs, GetResult, MultiGetArgs, MultiGetPage, Skipped};
use local_agent_agent::operations::documents::{self, DocumentPiece, Lines, Listed};
use local_agent_files::sandbox::Address;
use local_agent_text::documents::extracted;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::SkipReason;

pub(super) const GET: Spec = Spec {
    name: "get",
    description: "Reads one note, some lines of it, or one passage by its key, as it is on the disk now.",
    input: input::<GetArgs>,
    output: output::<GetResult>,
    subject: "address",
    run: |call, args| get(call, &parse(args)?),
};

pub(super) const MULTI_GET: Spec = Spec {
    name: "multi_get",
    description: "Reads every note that a glob or list names, page by page.",
    input: input::<MultiGetArgs>,
    output: output::<MultiGetPage>,
    subject: "glob",
    run: |call, args| multi_get(call, &parse(args)?),
};

/// Default byte limits for text.
const GET_BYTES: usize = 32 << 10;

const MANY_BYTES: usize = 64 << 10;

fn get(call: &Call, args: &GetArgs) -> Result<Reply> {
    let bytes = budget(args.max_bytes, GET_BYTES)?;
    let config = &call.service.loaded.config;
    let piece = documents::get(config, &call.sandbox, &args.address, Lines::default())?;
    let of = about(&["get", &args.address, &piece.sha256.to_string()]);
    let from = place(args.cursor.as_deref(), &of)?;
    let Some(rest) = piece.text.get(from..) else {
        return Err(Failure::new(
            ErrorCode::InvalidArgs,
            "the cursor is not one of this server's",
        )
        .with_hint("make the same call without `cursor`"));
    };
    let shown = cut(rest, bytes);
    let end = from + shown.len();
    let first_line = piece.first_line + piece.text[..from].matches('\n').count();
    let document = document(&piece, first_line, shown);
    let next_cursor = (end < piece.text.len()).then(|| cursor(end, &of));
    let mut text = head(&document);
    text.push_str(&framed(&document.text));
    say_next(&mut text, next_cursor.as_deref());
    Reply::new(
        text,
        &GetResult {
            document,
            next_cursor,
        },
    )
}

/// One thing that the glob or list of a call names.
enum Named {
    /// A file that a glob matches; it is read when its page is made.
    File(Address),
    /// What an address names.
    Piece(DocumentPiece),
    /// A file that a glob matches and that is not read.
    Refused(Skipped),
    /// An address under which nothing is shown.
    Unknown(Skipped),
}

impl Named {
    fn new(call: &Call, one: Listed) -> Option<Self> {
        match one {
            // Denied and linked files are not visible to an agent, as in `list_dir`; they are not
            // counted.
            Listed::Skipped(_, SkipReason::Denied | SkipReason::Symlink) | Listed::NoMatch(_) => {
                None
            }
            Listed::Skipped(at, reason) => {
                Some(Self::Refused(skipped(at.to_string(), reason.as_str())))
            }
            Listed::File(at) => Some(Self::File(at)),
            Listed::Request(request) => {
                let config = &call.service.loaded.config;
                let got = documents::get(config, &call.sandbox, &request, Lines::default());
                Some(match got {
                    Ok(piece) => Self::Piece(piece),
                    Err(failure) => Self::Unknown(skipped(request, failure.code.as_str())),
                })
            }
        }
    }

    /// The text that tells this thing from others in a cursor.
    fn name(&self) -> String {
        match self {
            Self::File(at) => format!("{at}\n"),
            Self::Piece(piece) => format!("{}:{}\n", piece.address, piece.first_line),
            Self::Refused(one) | Self::Unknown(one) => format!("{}\n", one.path),
        }
    }

    /// Its text as it is on the disk now.
    fn read(&self, call: &Call) -> std::result::Result<DocumentPiece, Skipped> {
        match self {
            Self::File(at) => documents::whole(&call.sandbox, at)
                .map_err(|failure| skipped(at.to_string(), failure.code.as_str())),
            Self::Piece(piece) => Ok(piece.clone()),
            Self::Refused(one) | Self::Unknown(one) => Err(one.clone()),
        }
    }
}

fn skipped(path: String, reason: &str) -> Skipped {
    Skipped {
        path,
        reason: reason.to_owned(),
    }
}

fn multi_get(call: &Call, args: &MultiGetArgs) -> Result<Reply> {
    let mut left = budget(args.max_bytes, MANY_BYTES)?;
    let listed = documents::listed(&call.sandbox, &args.glob)?;
    let named: Vec<Named> = listed
        .into_iter()
        .filter_map(|one| Named::new(call, one))
        .collect();
    let names: String = named.iter().map(Named::name).collect();
    let of = about(&["multi_get", &args.glob, &names]);
    let mut at = place(args.cursor.as_deref(), &of)?;
    let (mut pages, mut left_out) = (Vec::new(), Vec::new());
    for one in named.iter().skip(at) {
        call.go_on()?;
        match one.read(call) {
            Err(why) => left_out.push(why),
            Ok(piece) if piece.text.len() > left && !pages.is_empty() => break,
            Ok(piece) => {
                let shown = cut(&piece.text, left);
                left = left.saturating_sub(shown.len());
                pages.push(document(&piece, piece.first_line, shown));
            }
        }
        at += 1;
    }
    let matched = named
        .iter()
        .filter(|one| !matches!(one, Named::Unknown(_)))
        .count();
    let page = MultiGetPage {
        outcome: if matched == 0 {
            "nothing_found"
        } else {
            "found"
        },
        matched,
        documents: pages,
        skipped: left_out,
        next_cursor: (at < named.len()).then(|| cursor(at, &of)),
    };
    let mut text = if matched == 0 {
        "No note fits this glob or list.\n".to_owned()
    } else {
        String::new()
    };
    for document in &page.documents {
        let _ = writeln!(text, "== {}{}", head(document), framed(&document.text));
        if document.truncated {
            let next = document.first_line + document.text.lines().count();
            let _ = writeln!(text, "(cut: get `{}:{next}` reads on)", document.address);
        }
    }
    for one in &page.skipped {
        let _ = writeln!(text, "skipped: {} ({})", one.path, one.reason);
    }
    say_next(&mut text, page.next_cursor.as_deref());
    Reply::new(text, &page)
}

fn document(piece: &DocumentPiece, first_line: usize, shown: &str) -> Document {
    Document {
        address: piece.address.clone(),
        sha256: piece.sha256.to_string(),
        first_line,
        total_lines: piece.total_lines,
        truncated: shown.len() < piece.text.len(),
        text: shown.to_owned(),
    }
}

/// The header above the text of a document.
fn head(document: &Document) -> String {
    let last = document.first_line + document.text.lines().count().saturating_sub(1);
    format!(
        "{} lines {}-{last} of {}{}\n\n",
        document.address,
        document.first_line,
        document.total_lines,
        match extracted(&document.address) {
            Some(_) => " of its text",
            None => "",
        }
    )
}
