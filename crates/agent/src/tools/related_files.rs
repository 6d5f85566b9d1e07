//! `related_files`: notes that a note links to, that link to it, and that share tags with it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rayon::iter::{Either, IntoParallelIterator as _, ParallelIterator as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{Deadline, files, is_note};
use super::link_target::{bare, means, relative, same};
use super::notes;
use super::outcome::Output;
use super::text::ReadFile;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_files::sandbox::Address;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::markdown::{Document, LinkKind};

/// Maximum number of notes of each kind in one result.
const MAX_NOTES: usize = 100;

pub(super) const SPEC: Spec = Spec {
    name: "related_files",
    description: "Lists the notes that a note links to, the notes that link to it, and the notes that share tags with it.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<RelatedFilesArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RelatedFilesArgs {
    /// The note.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

/// How another note is related to the given one.
struct Related {
    at: Address,
    /// Whether the given note links to it.
    to: bool,
    /// Whether it links to the given note.
    from: bool,
    /// Tags that both have.
    shared: Vec<String>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: RelatedFilesArgs = schema::parse(args)?;
    let file = ReadFile::of(bound, &args.path)?;
    if !is_note(&file.at) {
        let message = format!("`{}` is not a note, so it has no links and tags.", file.at);
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint("name a markdown file"));
    }
    let own = notes::parse(file.text()?);
    let own_tags: BTreeSet<String> = own.tags.iter().map(|tag| tag.to_lowercase()).collect();
    let deadline = Deadline::new();
    // Only its own source is searched. That source is open, because the note was read from it.
    let (all, _) = files(bound, Some(&format!("{}:", file.at.source)))?;
    let all: Vec<Address> = all
        .into_iter()
        .filter(|at| is_note(at) && *at != file.at)
        .collect();
    let count = all.len();
    let (mut seen, left): (Vec<Related>, Vec<Left>) = all
        .into_par_iter()
        .map(|at| related(bound, &file.at, &own, &own_tags, at, &deadline))
        .partition_map(|found| match found {
            Ok(related) => Either::Left(related),
            Err(left) => Either::Right(left),
        });
    let mut unreadable: Vec<String> = left.iter().filter_map(Left::unreadable).collect();
    unreadable.sort();
    let out_of_time = unreadable.len() < left.len();
    seen.sort_by(|a, b| a.at.path.as_str().cmp(b.at.path.as_str()));
    let looked = seen.len();
    let (to, from) = (
        addresses_where(&seen, |one| one.to),
        addresses_where(&seen, |one| one.from),
    );
    let mut shared: Vec<(String, Vec<String>)> = seen
        .iter()
        .filter(|one| !one.shared.is_empty())
        .map(|one| (one.at.to_string(), one.shared.clone()))
        .collect();
    shared.sort_by_key(|(_, tags)| std::cmp::Reverse(tags.len()));
    let truncated = out_of_time
        || [to.len(), from.len(), shared.len()]
            .iter()
            .any(|n| *n > MAX_NOTES);
    let text = text_of(&to, &from, &shared, &unreadable, truncated);
    let facts = json!({
        "path": file.at.to_string(),
        "links": to.iter().take(MAX_NOTES).collect::<Vec<_>>(),
        "backlinks": from.iter().take(MAX_NOTES).collect::<Vec<_>>(),
        "shared_tags": shared.iter().take(MAX_NOTES).map(|(at, tags)| json!({"path": at, "tags": tags})).collect::<Vec<_>>(),
        "files_searched": looked,
        "files_left_out": count - looked,
        "unreadable": unreadable.iter().take(MAX_NOTES).collect::<Vec<_>>(),
        "truncated": truncated,
    });
    Ok(Output::new(facts, text))
}

/// The addresses of the files for which `pick` holds.
fn addresses_where(seen: &[Related], pick: fn(&Related) -> bool) -> Vec<String> {
    seen.iter()
        .filter(|one| pick(one))
        .map(|one| one.at.to_string())
        .collect()
}

/// How a note is related to `own`, which is at `here`; or why it was not searched.
fn related(
    bound: &Bound,
    here: &Address,
    own: &Document,
    own_tags: &BTreeSet<String>,
    at: Address,
    deadline: &Deadline,
) -> std::result::Result<Related, Left> {
    if deadline.is_over() {
        return Err(Left::NoTime);
    }
    let Some(other) = read_note(bound, &at) else {
        return Err(Left::Unreadable(at.to_string()));
    };
    let shared = other
        .tags
        .iter()
        .filter(|tag| own_tags.contains(&tag.to_lowercase()))
        .cloned()
        .collect();
    let (to, from) = (links(own, here, &at), links(&other, &at, here));
    Ok(Related {
        at,
        to,
        from,
        shared,
    })
}

/// The result as text for a reader.
fn text_of(
    to: &[String],
    from: &[String],
    shared: &[(String, Vec<String>)],
    unreadable: &[String],
    truncated: bool,
) -> String {
    let mut text = String::new();
    for at in to.iter().take(MAX_NOTES) {
        let _ = writeln!(text, "links to: {at}");
    }
    for at in from.iter().take(MAX_NOTES) {
        let _ = writeln!(text, "linked from: {at}");
    }
    for (at, tags) in shared.iter().take(MAX_NOTES) {
        let tags: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
        let _ = writeln!(text, "shares {}: {at}", tags.join(" "));
    }
    if truncated {
        text.push_str("TRUNCATED: there is more than this\n");
    }
    for at in unreadable.iter().take(MAX_NOTES) {
        let _ = writeln!(text, "cannot be read: {at}");
    }
    text
}

/// A note that was not searched.
enum Left {
    NoTime,
    /// Its address.
    Unreadable(String),
}

impl Left {
    fn unreadable(&self) -> Option<String> {
        match self {
            Self::NoTime => None,
            Self::Unreadable(at) => Some(at.clone()),
        }
    }
}

fn read_note(bound: &Bound, at: &Address) -> Option<Document> {
    let read = ReadFile::of(bound, &at.to_string()).ok()?;
    Some(notes::parse(read.text().ok()?))
}

/// Whether a document at `here` links to `there`.
fn links(document: &Document, here: &Address, there: &Address) -> bool {
    document
        .links
        .iter()
        .filter(|link| !link.is_external() && !link.target.is_empty())
        .any(|link| match link.kind {
            LinkKind::Wiki | LinkKind::Embed => {
                means(&bare(&link.target), &bare(there.path.as_str()))
            }
            _ => relative(here, &link.target).is_some_and(|path| same(&path, there.path.as_str())),
        })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    #[test]
    fn links_backlinks_and_shared_tags_are_told_apart() {
        let world = World::new();
        world.write(
            "people/Ada.md",
            "See [[Plan]] and [x](../b/c.md) #Work/deep #home\n",
        );
        world.write("Plan.md", "nothing #work/deep\n");
        world.write("b/c.md", "[Ada](/people/Ada.md)\n");
        world.write("d.md", "![[people/ada]]\n");
        world.write("e.md", "[[Nobody]] [up](../people/Ada.md)\n");
        assert_eq!(
            ok(&world.run("related_files", json!({"path": "Ada.md"})))["text"],
            "links to: notes:Plan.md\nlinks to: notes:b/c.md\nlinked from: notes:b/c.md\nlinked from: notes:d.md\n\
             shares #work/deep: notes:Plan.md\n"
        );
        world.write("a.txt", "x");
        assert_eq!(
            code(&world.run("related_files", json!({"path": "a.txt"}))),
            "INVALID_ARGS"
        );
    }
}
