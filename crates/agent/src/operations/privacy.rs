//! Decides who may see private notes. The sandbox hides them; this module decides when it does.

use std::path::Path;
use std::sync::Arc;

use super::jobs::chunks_without_vector;
use crate::ask::{Answerer, Chosen};
use crate::config::{Config, is_cloud_model};
use crate::llm::{Chat, Model};
use crate::runs::Record;
use crate::tools::ToolFactory;
use local_agent_files::sandbox::{Address, PrivateNotes, Sandbox};
use local_agent_index::ids::{ChunkId, IdSet};
use local_agent_index::retrieval::{Coverage, Engine, Stale};
use local_agent_index::store::{IndexReader, MemoryLink, MemoryRow, NoteRow};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{RelPath, SourceName};

/// The notes hidden from agents; `None`: `mcp.private_notes` lets them see everything.
pub fn kept_from_agents(config: &Config) -> Option<Arc<PrivateNotes>> {
    (!config.mcp.private_notes).then(|| Arc::new(PrivateNotes::new(&config.security)))
}

/// The first chat model from which an answer's text goes to another machine.
fn model_elsewhere(chosen: &Chosen) -> Option<&Model> {
    let Answerer::Chat(answerer) = &chosen.answerer else {
        return None;
    };
    let judge = answerer.judge.as_ref().map(|judge| &judge.chat);
    std::iter::once(&answerer.chat)
        .chain(&answerer.first)
        .chain(judge)
        .map(Chat::model)
        .find(|model| !model.is_on_this_machine())
}

/// The tools for a chat model: those of `factory`, without private notes if the model is on another
/// machine.
///
/// # Errors
/// Those of opening the sources.
pub fn tools_for(config: &Config, chosen: &Chosen, factory: ToolFactory) -> Result<ToolFactory> {
    if model_elsewhere(chosen).is_none() {
        return Ok(factory);
    }
    let private = Arc::new(PrivateNotes::new(&config.security));
    Ok(factory.over(super::sandbox(config)?.without_private(private)))
}

/// The subject under which [`KeptBack::said`] reports.
pub(super) const KEPT_BACK: &str = "private";

/// The fix for what is not sent to another machine.
const OWN_MODELS: &str = "choose models of this machine in `llm` and `verify.judge`";

/// A sandbox for a question whose evidence is sent to another machine.
pub(super) struct KeptBack {
    pub sandbox: Sandbox,
    private: Arc<PrivateNotes>,
    /// Where the text goes.
    place: String,
}

/// Where the text for a model on another machine goes.
fn place_of(model: &Model) -> String {
    match is_cloud_model(&model.name) {
        true => format!("{} sends the text for `{}` on", model.endpoint, model.name),
        false => model.endpoint.clone(),
    }
}

impl KeptBack {
    /// `None`: no text leaves this machine, or `sandbox` already hides private notes.
    pub(super) fn of(config: &Config, sandbox: &Sandbox, chosen: &Chosen) -> Option<Self> {
        let model = model_elsewhere(chosen).filter(|_| !sandbox.keeps_private())?;
        let private = Arc::new(PrivateNotes::new(&config.security));
        Some(Self {
            sandbox: sandbox.clone().without_private(Arc::clone(&private)),
            private,
            place: place_of(model),
        })
    }

    /// Checks that a file that the user named may be sent. `whole` is the user's own sandbox.
    ///
    /// # Errors
    /// `PATH_DENIED` for a private note.
    pub(super) fn must_show(&self, file: &str, whole: &Sandbox) -> Result<()> {
        let hidden = |at: &Address| whole.read(at).is_ok() && !self.sandbox.shows(at);
        let Some(at) = whole.resolve(file).ok().filter(hidden) else {
            return Ok(());
        };
        let message = format!(
            "`{at}` is private, and the chat model is on another machine ({}), so it was not sent.",
            self.place
        );
        Err(Failure::new(ErrorCode::PathDenied, message).with_hint(OWN_MODELS))
    }

    /// The message to the user if a note was withheld.
    pub(super) fn said(&self) -> Option<Stale> {
        let why = format!(
            "private notes were not used: the chat model is on another machine ({})",
            self.place
        );
        self.private.kept_any().then_some(Stale {
            what: KEPT_BACK,
            why,
            fix: OWN_MODELS,
        })
    }
}

/// The indexed documents that the sandbox shows.
///
/// # Errors
/// Those of the database.
pub(super) fn shown_notes(index: &IndexReader, sandbox: &Sandbox) -> Result<Vec<NoteRow>> {
    let mut notes = index.notes()?;
    notes.retain(|note| shows_note(sandbox, note));
    Ok(notes)
}

/// Whether the index has a document that the sandbox does not show. What is said of all its words then
/// tells something about hidden notes.
///
/// # Errors
/// Those of the database.
pub(super) fn hides_notes(index: &IndexReader, sandbox: &Sandbox) -> Result<bool> {
    let hides = |note: &NoteRow| !shows_note(sandbox, note);
    Ok(sandbox.keeps_private() && index.notes()?.iter().any(hides))
}

/// The chunks of documents that the sandbox shows.
///
/// # Errors
/// Those of the database.
pub(super) fn shown_chunks(index: &IndexReader, sandbox: &Sandbox) -> Result<IdSet<ChunkId>> {
    let notes = shown_notes(index, sandbox)?;
    Ok(index.chunks_of(&notes.iter().map(|note| note.id).collect())?)
}

/// How many of these chunks have a searchable vector.
pub(super) fn coverage_of(engine: &Engine, chunks: &IdSet<ChunkId>) -> Coverage {
    Coverage {
        chunks: chunks.len() as u64,
        embedded: engine.embedded_among(chunks),
    }
}

/// Whether some chunks have a vector and others have none.
pub(super) const fn is_partial(coverage: &Coverage) -> bool {
    coverage.embedded > 0 && coverage.embedded < coverage.chunks
}

/// How many of the chunks that may have a vector have one. Private notes have none if the embedding
/// model is on another machine, and are not missing.
///
/// # Errors
/// Those of opening the sources and of the database.
pub(super) fn owners_coverage(config: &Config, engine: &Engine) -> Result<Coverage> {
    let coverage = engine.coverage()?;
    if !is_partial(&coverage) {
        return Ok(coverage);
    }
    let kept = chunks_without_vector(config, engine.index())?;
    let missing = (kept.len() as u64).saturating_sub(engine.embedded_among(&kept));
    Ok(Coverage {
        chunks: coverage.chunks.saturating_sub(missing),
        ..coverage
    })
}

/// Refuses a run to a limited client if the client may not see all of its evidence. A note may have
/// become private after the run.
///
/// # Errors
/// `RUN_NOT_FOUND`.
pub fn may_see_run(config: &Config, record: &Record, sandbox: &Sandbox) -> Result<()> {
    let items = record.snapshot.iter().flat_map(|snapshot| &snapshot.items);
    let mut addresses = items.map(|item| Address {
        source: item.source.clone(),
        path: item.rel_path.clone(),
    });
    if config.client.is_none() || addresses.all(|at| sandbox.shows(&at)) {
        return Ok(());
    }
    let message = format!(
        "the run {} rests on a note that is not shown to this token",
        record.run_id
    );
    Err(Failure::new(ErrorCode::RunNotFound, message).with_hint("ask again"))
}

/// The failure without the folders of this machine, if the client is limited: each is replaced by
/// what it is.
#[must_use]
pub fn without_folders(config: &Config, mut failure: Failure) -> Failure {
    if config.client.is_none() {
        return failure;
    }
    for (folder, name) in named_folders(config) {
        let folder = folder.to_string_lossy();
        // The root folder `/` is part of every other text.
        if folder.len() > 1 {
            failure.message = failure.message.replace(&*folder, name);
            failure.hint = failure.hint.map(|hint| hint.replace(&*folder, name));
        }
    }
    failure
}

/// The folders that a message may name, the longest first, and what each is.
fn named_folders(config: &Config) -> Vec<(&Path, &str)> {
    let sources = config.sources.iter();
    let mut folders: Vec<(&Path, &str)> = sources
        .map(|source| (source.root.as_path(), source.name.as_str()))
        .collect();
    folders.push((&config.runs.dir, "the folder of runs"));
    folders.push((&config.state_dir, "the state folder"));
    let states = config.state_locations.iter();
    folders.extend(states.map(|one| (one.path.as_path(), "the state folder")));
    folders.push((&config.security_root, "the workroot"));
    let roots = [&config.config_root, &config.workroot];
    let roots = roots.into_iter().flatten();
    folders.extend(roots.map(|root| (root.as_path(), "the workroot")));
    folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.as_os_str().len()));
    folders
}

/// Whether a limited client may see a memory: one that is linked to notes, all of which are shown.
/// The owner sees everything.
pub fn may_see_memory(config: &Config, memory: &MemoryRow, sandbox: &Sandbox) -> bool {
    if config.client.is_none() {
        return true;
    }
    !memory.links.is_empty() && memory.links.iter().all(|link| shows_link(sandbox, link))
}

/// Whether the sandbox shows the note of a link. A link without a place may lead to a private note,
/// so it is hidden.
pub(super) fn shows_link(sandbox: &Sandbox, link: &MemoryLink) -> bool {
    let at = link.source.as_deref().zip(link.path.as_deref());
    at.and_then(|(source, path)| address(source, path))
        .is_some_and(|at| sandbox.shows(&at))
}

/// Whether the sandbox shows an indexed document.
pub(super) fn shows_note(sandbox: &Sandbox, note: &NoteRow) -> bool {
    address_of(note).is_some_and(|at| sandbox.shows(&at))
}

/// The address of an indexed document; `None` if the index holds no valid one.
pub(super) fn address_of(note: &NoteRow) -> Option<Address> {
    address(&note.source, &note.path)
}

fn address(source: &str, path: &str) -> Option<Address> {
    Some(Address {
        source: SourceName::new(source).ok()?,
        path: RelPath::new(path).ok()?,
    })
}

/// The chunks of documents that the sandbox hides.
///
/// # Errors
/// Those of the database.
pub(super) fn kept_chunks(index: &IndexReader, sandbox: &Sandbox) -> Result<IdSet<ChunkId>> {
    let mut kept = IdSet::default();
    for note in index.notes()? {
        if !shows_note(sandbox, &note) {
            kept.insert(note.id);
        }
    }
    Ok(index.chunks_of(&kept)?)
}
