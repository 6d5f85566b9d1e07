//! `ls`, `links`, `backlinks`, `tags` and `similar`.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Ls, ModeArg, NoteArgs, Query, Similar, Tags};
use super::context::Context;
use super::enter::Needs;
use super::output::{Output, count};
use super::query::{self, file_path};
use local_agent_agent::config::Config;
use local_agent_agent::operations::Library;
use local_agent_agent::operations::notes::{
    self, Backlink, Note, OutgoingLink, SimilarNote, TagCount,
};
use local_agent_files::state::in_quotes;
use local_agent_text::error::{Failure, Fix, Result};

/// What `ls --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NotesView<'a> {
    count: usize,
    documents: &'a [Note],
}

/// What `links --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LinksView<'a> {
    /// `source:path` of the note.
    note: &'a str,
    count: usize,
    links: &'a [OutgoingLink],
}

/// What `backlinks --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BacklinksView<'a> {
    /// `source:path` of the note.
    note: &'a str,
    count: usize,
    backlinks: &'a [Backlink],
}

/// What `tags --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagsView<'a> {
    count: usize,
    tags: &'a [TagCount],
}

/// What `similar --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SimilarView<'a> {
    /// `source:path` of the note.
    note: &'a str,
    count: usize,
    similar: &'a [SimilarNote],
}

/// The configuration; confines this process to what reading needs.
fn opened(context: &Context) -> Result<Config> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    Ok(config)
}

/// The failure with a hint that runs this command again, if it names another note.
fn own_hint(mut failure: Failure, command: &str) -> Failure {
    if let Fix::UseName(note) = &failure.fix {
        failure.hint = Some(format!("local-agent {command} {}", in_quotes(note)));
    }
    failure
}

pub(super) fn ls(context: &Context, args: &Ls) -> Result<ExitCode> {
    let config = opened(context)?;
    let found = notes::list(&config, args.place.as_deref())?;
    let out = context.out;
    if out.json {
        let view = NotesView {
            count: found.len(),
            documents: &found,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    for note in &found {
        let path = file_path(&config, &note.source, &note.path);
        let shown = if args.full_path {
            path.to_string_lossy().into_owned()
        } else {
            format!("{}:{}", note.source, note.path)
        };
        out.line(&out.link(&path, 1, &out.shown(&shown)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn links(context: &Context, args: &NoteArgs) -> Result<ExitCode> {
    let config = opened(context)?;
    let sandbox = context.sandbox(&config)?;
    let (note, links) = notes::links(&config, &sandbox, &args.note)
        .map_err(|failure| own_hint(failure, "links"))?;
    let out = context.out;
    if out.json {
        let view = LinksView {
            note: &note,
            count: links.len(),
            links: &links,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    if links.is_empty() {
        out.line(&out.shown(&format!("{note} links to nothing.")));
    }
    for link in &links {
        let anchor = link.anchor.as_ref().map(|anchor| format!("#{anchor}"));
        let anchor = anchor.unwrap_or_default();
        if link.external {
            out.line(&out.shown(&link.target));
        } else if link.notes.is_empty() {
            let missing = format!("{}{anchor}  (no such note)", link.target);
            out.line(&out.shown(&missing));
        } else {
            let notes = link.notes.iter().map(|note| linked(out, &config, note));
            let notes: Vec<String> = notes.collect();
            out.line(&format!("{}{}", notes.join(" or "), out.shown(&anchor)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The address of a note, with a link that opens it.
fn linked(out: Output, config: &Config, note: &str) -> String {
    let text = out.shown(note);
    match note.split_once(':') {
        Some((source, path)) => out.link(&file_path(config, source, path), 1, &text),
        None => text,
    }
}

pub(super) fn backlinks(context: &Context, args: &NoteArgs) -> Result<ExitCode> {
    let config = opened(context)?;
    let sandbox = context.sandbox(&config)?;
    let (note, backlinks) = notes::backlinks(&config, &sandbox, &args.note)
        .map_err(|failure| own_hint(failure, "backlinks"))?;
    let out = context.out;
    if out.json {
        let view = BacklinksView {
            note: &note,
            count: backlinks.len(),
            backlinks: &backlinks,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    if backlinks.is_empty() {
        out.line(&out.shown(&format!("Nothing links to {note}.")));
    }
    for link in &backlinks {
        let note = linked(out, &config, &link.note);
        out.line(&format!("{note}  {}", out.shown(&link.title)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn tags(context: &mut Context, args: &Tags) -> Result<ExitCode> {
    if let Some(tag) = &args.tag {
        return query::run(context, &Query::of_tag(tag), ModeArg::Lexical);
    }
    let config = opened(context)?;
    let sandbox = context.sandbox(&config)?;
    let tags = notes::tags(&config, &sandbox)?;
    let out = context.out;
    if out.json {
        let view = TagsView {
            count: tags.len(),
            tags: &tags,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    if tags.is_empty() {
        out.line("No note has a tag.");
    }
    for tag in &tags {
        out.line(&out.shown(&format!("#{}  {}", tag.tag, count(tag.notes, "note"))));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn similar(context: &Context, args: &Similar) -> Result<ExitCode> {
    let config = opened(context)?;
    let sandbox = context.sandbox(&config)?;
    let library = Library::for_command(&config, Some(context.embedding(&config)?));
    let limit = args.limit.max(1);
    let (note, similar) = notes::similar(&config, &sandbox, &library, &args.note, limit)
        .map_err(|failure| own_hint(failure, "similar"))?;
    let out = context.out;
    if out.json {
        let view = SimilarView {
            note: &note,
            count: similar.len(),
            similar: &similar,
        };
        out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    if similar.is_empty() {
        out.line("There is no other note with vectors.");
    }
    for one in &similar {
        let place = out.bold(&out.shown(&format!("{}:{}", one.note, one.line)));
        let place = match one.note.split_once(':') {
            Some((source, path)) => {
                out.link(&file_path(&config, source, path), one.line as usize, &place)
            }
            None => place,
        };
        let score = out.dim(&format!("{:.2}", one.cosine));
        out.line(&format!("{place}  {}  {score}", out.shown(&one.title)));
    }
    Ok(ExitCode::SUCCESS)
}
