//! `links`, `tags` and `similar`: how notes are connected.

use std::fmt::Write as _;

use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::shapes::{
    LinksArgs, LinksResult, SimilarArgs, SimilarResult, TagsArgs, TagsResult,
};
use local_agent_agent::operations::notes;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(super) const LINKS: Spec = Spec {
    name: "links",
    description: "Lists what a note links to, and which notes link to it.",
    input: input::<LinksArgs>,
    output: output::<LinksResult>,
    subject: "note",
    run: |call, args| links(call, &parse(args)?),
};

pub(super) const TAGS: Spec = Spec {
    name: "tags",
    description: "Lists all tags with the number of notes, the most frequent first.",
    input: input::<TagsArgs>,
    output: output::<TagsResult>,
    subject: "",
    run: |call, args| tags(call, &parse(args)?),
};

pub(super) const SIMILAR: Spec = Spec {
    name: "similar",
    description: "Lists the notes whose text is most like that of a note, the most alike first.",
    input: input::<SimilarArgs>,
    output: output::<SimilarResult>,
    subject: "note",
    run: |call, args| similar(call, &parse(args)?),
};

/// Maximum number of tags in one result.
const MOST_TAGS: usize = 200;

/// Maximum and default number of notes in `similar`.
const MOST_SIMILAR: usize = 50;
const USUAL_SIMILAR: usize = 8;

fn links(call: &Call, args: &LinksArgs) -> Result<Reply> {
    let config = &call.service.loaded.config;
    let (note, links) = notes::links(config, &call.sandbox, &args.note)?;
    let (_, backlinks) = notes::backlinks(config, &call.sandbox, &args.note)?;
    let mut text = format!("{note} links to:\n");
    for link in &links {
        let anchor = link.anchor.as_deref().unwrap_or_default();
        let hash = if anchor.is_empty() { "" } else { "#" };
        let to = match link.notes.as_slice() {
            [] if link.external => link.target.clone(),
            [] => format!("{} (no such note)", link.target),
            notes => notes.join(" or "),
        };
        let _ = writeln!(text, "- {to}{hash}{anchor}");
    }
    text.push_str("Notes that link to it:\n");
    for link in &backlinks {
        let _ = writeln!(text, "- {} ({})", link.note, link.title);
    }
    Reply::new(
        text,
        &LinksResult {
            note,
            links,
            backlinks,
        },
    )
}

fn tags(call: &Call, _: &TagsArgs) -> Result<Reply> {
    let mut tags = notes::tags(&call.service.loaded.config, &call.sandbox)?;
    let count = tags.len();
    tags.truncate(MOST_TAGS);
    let mut text = String::new();
    for tag in &tags {
        let _ = writeln!(text, "#{} ({})", tag.tag, tag.notes);
    }
    if count > tags.len() {
        let _ = writeln!(text, "and {} more", count - tags.len());
    }
    if tags.is_empty() {
        text.push_str("No note has a tag.\n");
    }
    Reply::new(text, &TagsResult { count, tags })
}

fn similar(call: &Call, args: &SimilarArgs) -> Result<Reply> {
    let limit = args.limit.unwrap_or(USUAL_SIMILAR);
    if !(1..=MOST_SIMILAR).contains(&limit) {
        let message = format!("`limit` is from 1 to {MOST_SIMILAR}");
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint("leave `limit` out"));
    }
    let service = &call.service;
    let (note, similar) = notes::similar(
        &service.loaded.config,
        &call.sandbox,
        &service.library,
        &args.note,
        limit,
    )?;
    let mut text = format!("Most like {note}:\n");
    for one in &similar {
        let _ = writeln!(
            text,
            "- {}:{} ({}) {:.2}",
            one.note, one.line, one.title, one.cosine
        );
    }
    if similar.is_empty() {
        text.push_str("There is no other note with vectors.\n");
    }
    Reply::new(text, &SimilarResult { note, similar })
}
