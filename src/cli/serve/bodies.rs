//! The operations of the server, with the results of the command line's `--json`.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::views::Remarks;
use crate::cli::answer_view::AnswerView;
use crate::cli::context::{Context, to_value};
use crate::cli::index::extend;
use crate::cli::output::editor_link;
use crate::cli::query::file_path;
use crate::cli::{doctor, get, memory, query, runs, status};
use crate::doctor::Subject;
use crate::mcp::Service;
use crate::serve::{AskEvent, AskStep, Operations, PassedSentence, WantedAnswer, WantedSearch};
use local_agent_agent::ask::{AskResult, Event};
use local_agent_agent::config::Config;
use local_agent_agent::llm::Speed;
use local_agent_agent::operations::ask::{AskContext, AskOutcome, AskRequest};
use local_agent_agent::operations::documents::{self, Lines};
use local_agent_agent::operations::notes::{self, Backlink, OutgoingLink, SimilarNote};
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::recency::{NoteDay, Recency};
use local_agent_agent::operations::search::{Search, Searched, search};
use local_agent_agent::operations::{self, place, run_log};
use local_agent_agent::runs::{Archive, RunId};
use local_agent_files::sandbox::Sandbox;
use local_agent_index::retrieval::{Hit, Mode};
use local_agent_index::store::IndexReader;
use local_agent_text::documents::said_lines;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::EvidenceItem;
use local_agent_text::markdown::{HeadingAt, heading_list};
use local_agent_text::types::percent_encode;

/// Default number of hits, as on the command line.
const USUAL_HITS: usize = 5;

/// Maximum number of hits.
const MOST_HITS: usize = 1_000;

/// Number of similar notes next to a note.
const SIMILAR: usize = 5;

/// The operations for one visitor.
pub(super) struct Served {
    pub(super) service: Arc<Service>,
    pub(super) context: Arc<Context>,
    /// The visitor's name in records of runs.
    pub(super) asked_by: String,
    pub(super) remarks: Remarks,
}

/// A note with its links, the notes that link to it and the similar ones.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct NotePageView<'a> {
    document: get::PieceView<'a>,
    outline: Vec<OutlineLine>,
    links: Vec<OutgoingLink>,
    backlinks: Vec<Backlink>,
    similar: Vec<SimilarNote>,
    /// A link that opens the file in an editor of this machine.
    editor: Option<String>,
    /// A link that opens the file in Obsidian.
    obsidian: Option<String>,
}

/// One heading.
#[derive(Serialize, JsonSchema)]
struct OutlineLine {
    level: u8,
    title: String,
    line: u32,
}

/// The records of two runs.
#[derive(Serialize, JsonSchema)]
struct ComparedRuns {
    a: Value,
    b: Value,
}

impl Served {
    fn config(&self) -> &Config {
        &self.service.loaded.config
    }

    /// The visitor's sandbox. The owner sees every note; everybody else sees the notes that agents
    /// see.
    fn sandbox(&self) -> Result<Sandbox> {
        match self.config().client {
            None => self.service.whole_sandbox(),
            Some(_) => self.service.sandbox(),
        }
    }

    fn archive(&self) -> Archive {
        Archive::new(place(self.config()))
    }

    /// The run with this name, if the visitor may see it.
    fn found(&self, name: &str) -> Result<(Archive, RunId)> {
        let archive = self.archive();
        let id = archive.find(name)?;
        if self.config().client.is_some() {
            let (record, _) = archive.load(&id)?;
            privacy::may_see_run(self.config(), &record, &self.sandbox()?)?;
        }
        Ok((archive, id))
    }

    /// The links that open a file on this machine; `None` for a visitor from another machine.
    fn opened_by(&self, address: &str, line: usize) -> (Option<String>, Option<String>) {
        let Some((source, path)) = address.split_once(':') else {
            return (None, None);
        };
        if self.config().client.is_some() {
            return (None, None);
        }
        let file = file_path(self.config(), source, path);
        let shown = file.to_string_lossy();
        let whole = percent_encode(&shown, " \"#%&+<>?'`=;[]{}|\\^");
        (
            Some(editor_link(&file, line)),
            Some(format!("obsidian://open?path={whole}")),
        )
    }
}

/// Fails if the client no longer waits for the operation.
fn go_on(cancelled: &AtomicBool) -> Result<()> {
    match cancelled.load(Ordering::Relaxed) {
        true => Err(Failure::new(ErrorCode::Cancelled, "nobody waits any more")),
        false => Ok(()),
    }
}

fn news(event: &Event<'_>) -> Option<AskEvent> {
    let step = match event {
        Event::Frozen { snapshot, .. } => AskStep::Evidence {
            items: snapshot.items().len(),
            places: snapshot.items().iter().map(place_of).collect(),
        },
        Event::Asking { model, .. } => AskStep::Asking {
            model: model.name.clone(),
        },
        Event::Receiving { characters } => AskStep::Receiving {
            characters: *characters,
        },
        Event::Sentence { draft, claim } => {
            return Some(AskEvent::Sentence(PassedSentence {
                draft: Some(*draft),
                verdict: claim.verdict.as_str().to_owned(),
                text: claim.text.clone(),
            }));
        }
        Event::Round(_) => return None,
    };
    Some(AskEvent::Step(step))
}

/// Where an item of evidence is, in words.
fn place_of(item: &EvidenceItem) -> String {
    let lines = said_lines(item.path.as_str(), item.lines);
    format!("{}:{}, {lines}", item.source, item.path)
}

fn outline_line(heading: HeadingAt) -> OutlineLine {
    OutlineLine {
        level: heading.level,
        title: heading.title,
        line: heading.line,
    }
}

impl Served {
    /// The result without the path of the record, if the client is limited: it learns no folder of
    /// this machine, and finds the record by its id.
    fn without_path(&self, mut body: Value, field: &str) -> Value {
        if self.config().client.is_some() {
            body[field] = Value::Null;
        }
        body
    }

    /// The result without the scores of these items, if the client is limited. A score depends on
    /// how common the words are in the whole index, so it would tell of notes that the client may
    /// not see. The order stays.
    fn without_scores(&self, mut body: Value, items: &str) -> Value {
        if self.config().client.is_some() {
            let items = body.pointer_mut(items).and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                item["score"] = Value::Null;
            }
        }
        body
    }
}

impl Served {
    fn searched(&self, wanted: &WantedSearch) -> Result<Searched> {
        let limit = wanted.limit.unwrap_or(USUAL_HITS);
        if !(1..=MOST_HITS).contains(&limit) {
            let message = format!("`limit` is from 1 to {MOST_HITS}");
            return Err(
                Failure::new(ErrorCode::InvalidArgs, message).with_hint("leave `limit` out")
            );
        }
        let asked = Search {
            text: &wanted.query,
            has_syntax: true,
            mode: Mode::Hybrid,
            fusion: None,
            limits: wanted.within.clone().into(),
            limit,
            min_score: None,
            recency: Recency::asked(wanted.recent, self.service.today)?,
        };
        let library = &self.service.library;
        search(self.config(), &self.sandbox()?, library, &asked)
    }

    fn found_body(&self, wanted: &WantedSearch, searched: &Searched) -> Result<Value> {
        let body = query::body(&wanted.query, searched, self.config())?;
        Ok(self.without_scores(body, "/hits"))
    }

    /// The day of the note of each hit, as far as it is known.
    fn days_of(&self, searched: &Searched) -> Result<Vec<Option<String>>> {
        let hits = &searched.found.hits;
        let ids: Vec<_> = hits.iter().map(|hit| hit.chunk.document_id).collect();
        let Some(index) = IndexReader::open(&self.config().index.db_path)? else {
            return Ok(Vec::new());
        };
        let stored = index.days_of(&ids)?;
        let day = |hit: &Hit| {
            let stored = stored.get(&hit.chunk.document_id)?;
            let day = NoteDay::of(&hit.chunk.path, &hit.chunk.title, stored).day;
            Some(day.to_string())
        };
        Ok(hits.iter().map(day).collect())
    }

    /// Whether the note of a hit that is not fresh is no longer there.
    fn is_gone(&self, sandbox: &Sandbox, hit: &Value) -> bool {
        let (Some(source), Some(path)) = (hit["source"].as_str(), hit["rel_path"].as_str()) else {
            return false;
        };
        let address = format!("{source}:{path}");
        let read = documents::get(self.config(), sandbox, &address, Lines::default());
        read.is_err_and(|failure| failure.code == ErrorCode::FileNotFound)
    }
}

impl Operations for Served {
    fn search(&self, wanted: &WantedSearch) -> Result<Value> {
        self.found_body(wanted, &self.searched(wanted)?)
    }

    fn search_with_days(&self, wanted: &WantedSearch) -> Result<Value> {
        let searched = self.searched(wanted)?;
        let mut body = self.found_body(wanted, &searched)?;
        let days = self.days_of(&searched).unwrap_or_default();
        let sandbox = self.sandbox()?;
        let hits = body["hits"].as_array_mut().into_iter().flatten();
        for (number, hit) in hits.enumerate() {
            hit["day"] = days.get(number).cloned().flatten().into();
            let is_gone = hit["fresh"] == false && self.is_gone(&sandbox, hit);
            hit["gone"] = is_gone.into();
        }
        Ok(body)
    }

    fn ask(
        &self,
        wanted: &WantedAnswer,
        cancelled: &AtomicBool,
        tell: &dyn Fn(AskEvent),
    ) -> Result<Value> {
        let service = &self.service;
        let sandbox = self.sandbox()?;
        let ask_context = AskContext {
            loaded: &service.loaded,
            sandbox: &sandbox,
            library: &service.library,
            roots: &service.roots,
        };
        let asked = AskRequest {
            question: &wanted.question,
            read: None,
            limits: wanted.within.clone().into(),
            speed: Speed::Auto,
            strict: wanted.strict,
            asked_by: &self.asked_by,
            tools: None,
            today: (service.today)(),
        };
        let done = operations::ask::ask(&ask_context, &asked, &mut |event| {
            if let Some(news) = news(event) {
                tell(news);
            }
            go_on(cancelled)
        })?;
        let AskOutcome {
            asked: AskResult { answer, trail },
            recalled,
            run,
        } = done;
        let answer = answer?;
        let config = self.config();
        let view = AnswerView::new(config, &wanted.question, &answer, &trail, &recalled);
        let mut body = to_value(&view)?;
        extend(&mut body, run_log::fields(run.as_ref()));
        let body = self.without_scores(body, "/evidence");
        Ok(self.without_path(body, "run_record"))
    }

    fn get(&self, address: &str) -> Result<Value> {
        let piece = documents::get(self.config(), &self.sandbox()?, address, Lines::default())?;
        to_value(&get::PieceView::from(&piece))
    }

    fn note(&self, address: &str) -> Result<Value> {
        let (config, sandbox) = (self.config(), self.sandbox()?);
        let piece = documents::get(config, &sandbox, address, Lines::default())?;
        let at = &piece.address;
        // A note that is not indexed yet, or has no vectors, has no such list.
        let links = notes::links(config, &sandbox, at).unwrap_or_default().1;
        let backlinks = notes::backlinks(config, &sandbox, at).unwrap_or_default().1;
        let library = &self.service.library;
        let similar = notes::similar(config, &sandbox, library, at, SIMILAR);
        let (editor, obsidian) = self.opened_by(at, piece.first_line);
        let is_whole = piece.first_line == 1;
        let outline = if is_whole {
            heading_list(&piece.text)
        } else {
            Vec::new()
        };
        to_value(&NotePageView {
            outline: outline.into_iter().map(outline_line).collect(),
            links,
            backlinks,
            similar: similar.unwrap_or_default().1,
            editor,
            obsidian,
            document: get::PieceView::from(&piece),
        })
    }

    fn status(&self) -> Result<Value> {
        let sandbox = self.sandbox()?;
        let mut body = status::body(self.config(), &self.service.library, &sandbox)?;
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        // These remarks name files of the owner.
        if !remarks.is_empty() && self.config().client.is_none() {
            let mut stale = to_value(&*remarks)?;
            if let (Some(all), Some(more)) = (stale.as_array_mut(), body["stale"].as_array()) {
                all.extend(more.iter().cloned());
            }
            body["stale"] = stale;
        }
        Ok(body)
    }

    fn runs(&self, skip: usize, limit: usize) -> Result<Value> {
        let runs = runs::listed(&self.archive(), skip, limit)?;
        Ok(self.without_path(runs, "runs_dir"))
    }

    fn runs_with_askers(&self, skip: usize, limit: usize) -> Result<Value> {
        let mut listed = self.runs(skip, limit)?;
        let (entries, _) = self.archive().list(skip, limit)?;
        let asked_by = |run: &Value| {
            let id = run["run_id"].as_str()?;
            let entry = entries.iter().find(|entry| entry.id.as_str() == id)?;
            Some(entry.record.as_ref().ok()?.asked_by.clone())
        };
        for run in listed["runs"].as_array_mut().into_iter().flatten() {
            run["asked_by"] = asked_by(run).into();
        }
        Ok(listed)
    }

    fn run(&self, id: &str) -> Result<Value> {
        let (archive, id) = self.found(id)?;
        let body = runs::shown(&archive, &id)?;
        let body = self.without_scores(body, "/record/snapshot/items");
        Ok(self.without_path(body, "record_path"))
    }

    fn compare(&self, a: &str, b: &str) -> Result<Value> {
        to_value(&ComparedRuns {
            a: self.run(a)?,
            b: self.run(b)?,
        })
    }

    fn replay(&self, id: &str) -> Result<Value> {
        let (archive, id) = self.found(id)?;
        runs::replayed(&archive, &id, &self.sandbox()?)
    }

    fn memory(&self, words: &str) -> Result<Value> {
        let sandbox = self.sandbox()?;
        memory::listed(self.config(), words, |row| {
            privacy::may_see_memory(self.config(), row, &sandbox)
        })
    }

    fn doctor(&self) -> Result<Value> {
        let sandbox = self.sandbox();
        let model = self.context.embedding_files(self.config());
        let reranker = self.context.reranker(self.config());
        let subject = Subject {
            loaded: &self.service.loaded,
            state_is_trusted: true,
            sandbox: &sandbox,
            model: &model,
            reranker: &reranker,
            require_phase3: false,
            // A page does not contact servers.
            offline: true,
            seed: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        };
        doctor::body(&subject)
    }
}
