//! `ask`.

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use time::OffsetDateTime;

use super::answer_view::AnswerView;
use super::args::{Ask as Args, CitationForm};
use super::claims;
use super::context::{Context, to_value};
use super::enter::Needs;
use super::hints;
use super::index::extend;
use super::output::{Output, count, talk, visible};
use super::query::{file_path, say_index_stale, say_limits};
use super::toolbox;
use super::write::write_whole;
use local_agent_agent::ask::{
    self, Answer, AskResult, ClaimNote, Day, Event, FileScope, Outcome, Readable, ReadableSource,
    TextRun, Trail,
};
use local_agent_agent::config::Config;
use local_agent_agent::llm::Speed;
use local_agent_agent::memory::Recalled;
use local_agent_agent::operations::ask::{AskContext, AskOutcome, AskRequest};
use local_agent_agent::operations::{self, Library, run_log};
use local_agent_agent::runs::Finished;
use local_agent_agent::tools::Caller;
use local_agent_text::error::{Failure, Result};
use local_agent_verify::Report;

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    let question = args.question();
    let loaded = context.load()?;
    let config = &loaded.config;
    let files = args
        .snapshot_out
        .iter()
        .map(|file| context.environment.cwd.join(file))
        .collect();
    let needs = if args.read.is_some() {
        Needs::state()
    } else {
        Needs::beside_index(config)
    };
    context.enter(config, &Needs { files, ..needs })?;
    let sandbox = context.sandbox_for(config, args.for_agent)?;
    let library = Library::for_command(config, Some(context.embedding(config)?))
        .with_reranker(config, context.reranker(config)?);
    let roots = context.roots();
    let ask_context = AskContext {
        loaded: &loaded,
        sandbox: &sandbox,
        library: &library,
        roots: &roots,
    };
    let make_tools = |run| toolbox::factory(context, config, Caller::Model, run);
    let wanted = AskRequest {
        question: &question,
        read: args.read.as_deref(),
        limits: args.scope.limits(),
        speed: speed(args),
        strict: args.strict,
        asked_by: "cli",
        tools: args.tools.then_some(&make_tools),
        today: args.now.unwrap_or_else(today),
    };
    let progress = Progress::new();
    let done = operations::ask::ask(&ask_context, &wanted, &mut |event| progress.tell(event));
    progress.finish();
    let AskOutcome {
        asked: AskResult { answer, trail },
        recalled,
        run,
    } = done?;
    let answer = match answer {
        Ok(answer) => answer,
        Err(failure) => {
            say_run(context, run.as_ref());
            return Err(failure);
        }
    };
    if let Some(file) = &args.snapshot_out {
        write_snapshot(&context.environment.cwd.join(file), &answer)?;
    }
    if context.out.json {
        let view = AnswerView::new(config, &question, &answer, &trail, &recalled);
        let mut body = to_value(&view)?;
        extend(&mut body, roots);
        extend(&mut body, run_log::fields(run.as_ref()));
        context.out.json(body);
    } else {
        print(context.out, config, &answer, args.citations);
        if args.full {
            print_evidence(context.out, config, &answer);
        }
        print_memory(context.out, &recalled);
        say_who(&trail, args.big || args.fast);
        say_index_stale(&answer.packed.index_stale);
        say_limits(&answer.coverage, &answer.stale);
    }
    say_run(context, run.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// Prints on stderr the id of the run, and a warning if its head could not be stored.
fn say_run(context: &Context, run: Option<&Finished>) {
    let Some(run) = run else { return };
    if let Some(why) = &run.unanchored {
        let fix = hints::here(why.hint.as_deref().unwrap_or("local-agent doctor"));
        talk(&format!(
            "runs: the ledger's head is not kept: {} (fix: {fix})",
            why.message
        ));
    }
    if !context.out.json && std::io::stderr().is_terminal() {
        let text = format!("run {} (local-agent runs show last)", run.id);
        context.out.talk_dimly(&text);
    }
}

fn speed(args: &Args) -> Speed {
    match (args.fast, args.big) {
        (true, _) => Speed::Fast,
        (_, true) => Speed::Big,
        _ => Speed::Auto,
    }
}

/// Prints on stderr the answerer and the reason for choosing it, if a chat model was used, could
/// have been used, or was `wanted`.
pub(super) fn say_who(trail: &Trail, wanted: bool) {
    match &trail.model {
        Some(model) => {
            for round in &trail.rounds {
                for step in &round.steps {
                    talk(&format!(
                        "tool: {} {} ({}, {} bytes)",
                        visible(&step.name),
                        visible(&step.args.to_string()),
                        step.outcome,
                        step.bytes
                    ));
                }
                if let Some(codes) = &round.refused {
                    talk(&format!("refused: {} ({codes})", round.purpose.as_str()));
                }
            }
            let calls = trail.rounds.len();
            let asked = if calls == 1 {
                "1 call".to_owned()
            } else {
                format!("{calls} calls")
            };
            talk(&format!(
                "model: {} ({}, {asked} to {}; {})",
                model.name, model.provider, model.endpoint, trail.provider_why
            ));
            model
                .warnings
                .iter()
                .for_each(|warning| talk(&format!("warning: {warning}")));
        }
        None if wanted || trail.model_unavailable => {
            talk(&format!("extractive: {}", trail.provider_why));
        }
        None => {}
    }
}

/// The progress display while a model writes: its name, the time, and the size of its text so far,
/// never the text.
pub(super) struct Progress {
    bar: ProgressBar,
    call: RefCell<Option<ModelCall>>,
}

/// A call of a model that is under way.
struct ModelCall {
    /// The model, its server and what it writes.
    what: String,
    since: Instant,
}

impl Progress {
    pub(super) fn new() -> Self {
        let shown = std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            bar: ProgressBar::with_draw_target(None, target)
                .with_style(ProgressStyle::default_spinner()),
            call: RefCell::new(None),
        }
    }

    pub(super) fn tell(&self, event: &Event<'_>) -> Result<()> {
        match event {
            // The answer is printed as a whole.
            Event::Frozen { .. } | Event::Sentence { .. } => {}
            Event::Asking { model, purpose } => {
                let call = ModelCall {
                    what: format!(
                        "{} of {} at {}",
                        written(*purpose),
                        model.name,
                        model.endpoint
                    ),
                    since: Instant::now(),
                };
                self.bar.enable_steady_tick(Duration::from_millis(120));
                self.bar
                    .set_message(so_far(&call.what, call.since.elapsed(), 0));
                self.call.replace(Some(call));
            }
            Event::Receiving { characters } => {
                if let Some(call) = self.call.borrow().as_ref() {
                    let took = call.since.elapsed();
                    self.bar.set_message(so_far(&call.what, took, *characters));
                }
            }
            Event::Round(round) => self.bar.set_message(match &round.refused {
                Some(codes) => format!("refused: {codes}"),
                None => "passed".to_owned(),
            }),
        }
        Ok(())
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What a model writes in a call, in words.
const fn written(purpose: ask::Purpose) -> &'static str {
    match purpose {
        ask::Purpose::Acquire => "the choice of a file",
        ask::Purpose::Draft | ask::Purpose::Half => "an answer",
        ask::Purpose::Format => "an answer in the right form",
        ask::Purpose::Repair => "a better answer, because the first one was refused,",
        ask::Purpose::Turn => "a turn with tools",
        ask::Purpose::Chat => "a reply",
        ask::Purpose::Judge => "a second opinion on one sentence",
    }
}

/// The time and the size first: a narrow terminal cuts the end of the line.
fn so_far(what: &str, took: Duration, characters: usize) -> String {
    let size = match characters {
        0 => "no text yet".to_owned(),
        n => count(n, "character"),
    };
    format!("{} s, {size}: {what}", took.as_secs())
}

fn write_snapshot(file: &std::path::Path, answer: &Answer) -> Result<()> {
    let json = serde_json::to_string_pretty(&answer.packed.snapshot)
        .map_err(|e| Failure::internal(format!("the snapshot cannot be written as JSON: {e}")))?;
    write_whole(file, (json + "\n").as_bytes())
}

/// Memories related to the question: printed next to the answer, never as part of it.
fn print_memory(out: Output, recalled: &[Recalled]) {
    if !recalled.is_empty() {
        out.line("");
        out.line("From memory (context, not evidence):");
    }
    for one in recalled {
        out.line(&out.shown(&format!("  {}  {}", one.label, one.content)));
    }
}

/// The current day, in UTC.
pub(super) fn today() -> Day {
    let now = OffsetDateTime::now_utc();
    Day {
        year: u32::try_from(now.year()).unwrap_or(0),
        month: u32::from(u8::from(now.month())),
        day: u32::from(now.day()),
    }
}

/// Prints the answer with its sources, or the reason why none is shown.
pub(super) fn print(out: Output, config: &Config, answer: &Answer, form: CitationForm) {
    if answer.text().is_some() && !config.ask.show_as_verified {
        out.line("UNVERIFIED (citation validation is switched off in the configuration)");
    }
    if answer.is_closest() {
        out.line("I found no sentence that answers this for certain. Closest:");
        out.line("");
    }
    let readable = match form {
        CitationForm::Numbers => ask::readable(answer),
        CitationForm::Canonical => None,
    };
    match (answer.text(), readable) {
        (Some(_), Some(readable)) => {
            print_readable(out, config, &readable);
            if let Some(file) = &answer.file {
                out.line(&out.dim(&out.shown(&read_part(file))));
            }
        }
        (Some(text), None) => {
            let marked = match answer.report() {
                Some(report) => ask::with_marks(text, report),
                None => text.to_owned(),
            };
            out.line(&out.shown(&marked));
            // An answer about one file ends with its own footer.
            if let Some(report) = answer.report().filter(|_| answer.file.is_none()) {
                print_counts(out, config, answer, report);
            }
        }
        (None, _) if answer.report().is_some_and(|r| !r.ok) => {
            out.line("There is no answer that can be shown.");
        }
        (None, _) if answer.file.is_some() => out.line("The file holds nothing on this."),
        (None, _) => out.line("The notes hold nothing on this."),
    }
    // The uncertainty was already printed above.
    let why = answer
        .why()
        .filter(|_| answer.outcome() != Outcome::Closest);
    if let Some(why) = why {
        out.line(&out.shown(why));
    }
    print_notes(out, "In doubt", &answer.doubts());
    print_notes(out, "Left out", &answer.left_out);
}

/// Prints every passage that the answer was looked for in, whole.
fn print_evidence(out: Output, config: &Config, answer: &Answer) {
    for item in answer.packed.snapshot.items() {
        let path = file_path(config, item.source.as_str(), item.path.as_str());
        let line = usize::try_from(item.lines.first()).unwrap_or(1);
        let place = format!("{}:{}:{line}", item.source, item.path);
        let place = out.link(&path, line, &out.shown(&place));
        out.line("");
        out.line(&format!("[{}] {}", item.label, out.dim(&place)));
        out.line(&out.shown(item.text.trim_end()));
    }
}

/// Prints sentences with their reasons, under a heading; prints nothing for an empty list.
fn print_notes(out: Output, heading: &str, notes: &[ClaimNote]) {
    if notes.is_empty() {
        return;
    }
    out.line("");
    out.line(&format!("{heading} ({}):", notes.len()));
    for note in notes {
        out.line(&out.shown(&claims::line(note)));
    }
}

/// Prints the passages, the sources, and how they were checked.
fn print_readable(out: Output, config: &Config, readable: &Readable) {
    for line in &readable.lines {
        let line: String = line.iter().map(|run| run_text(out, run)).collect();
        out.sentence(line.trim_end());
    }
    out.line("");
    for source in &readable.sources {
        out.line(&source_line(out, config, source));
    }
    if let Some(checked) = readable
        .checked
        .as_ref()
        .filter(|_| config.ask.show_as_verified)
    {
        out.sentence(&out.dim(checked));
    }
}

/// A source with a link to its line.
fn source_line(out: Output, config: &Config, source: &ReadableSource) -> String {
    let path = file_path(config, source.source.as_str(), source.path.as_str());
    let name = format!("{}:", source.source);
    let named = match config.sources.len() > 1 && !source.place.starts_with(&name) {
        true => format!("{name}{}", source.place),
        false => source.place.clone(),
    };
    let place = out.link(&path, source.line, &out.dim(&out.shown(&named)));
    let number = out.dim(&source.number);
    format!("{number} {place}{}", out.dim(&out.shown(&source.rest)))
}

/// Prints how many statements were checked how, and what is wrong with citations, if anything is.
fn print_counts(out: Output, config: &Config, answer: &Answer, report: &Report) {
    let is_quoted = answer.draft().is_some_and(ask::is_quoted);
    let summary = ask::summary(report, is_quoted).filter(|_| config.ask.show_as_verified);
    let lines: Vec<String> = summary
        .into_iter()
        .chain(report.counts.in_words())
        .collect();
    if !lines.is_empty() {
        out.line("");
    }
    for line in lines {
        out.sentence(&out.dim(&line));
    }
}

/// How much of the file of an answer was read.
fn read_part(file: &FileScope) -> String {
    match file.chars_returned == file.chars_full {
        true => format!("read: the whole of {}", file.path),
        false => format!(
            "read: {} of {} characters of {}",
            file.chars_returned, file.chars_full, file.path
        ),
    }
}

/// A run of text, bold or plain.
fn run_text(out: Output, run: &TextRun) -> String {
    match run.bold {
        true => out.bold(&out.shown(&run.text)),
        false => out.shown(&run.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_a_model_writes_its_time_and_the_size_of_its_text_are_shown() {
        let what = "an answer of m:latest at 127.0.0.1:11434";
        assert_eq!(
            so_far(what, Duration::from_secs(12), 340),
            "12 s, 340 characters: an answer of m:latest at 127.0.0.1:11434"
        );
        assert!(so_far(what, Duration::ZERO, 0).starts_with("0 s, no text yet: "));
    }
}
