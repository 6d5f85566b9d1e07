//! `serve`: the operations over HTTP, for this machine.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::answer_view::AnswerView;
use super::args::{Serve as Args, ServeCommand};
use super::context::{Context, to_value};
use super::enter::Needs;
use super::index::extend;
use super::output::talk;
use super::{ask, get, mcp, query, runs, status, toolbox};
use crate::mcp::Service;
use crate::serve::{self, Bodies, Listening, Settings, WantedAnswer, WantedSearch};
use local_agent_agent::ask::Asked;
use local_agent_agent::llm::Speed;
use local_agent_agent::operations::ask::{AskRequest, Desk, Done};
use local_agent_agent::operations::documents::{self, Lines};
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::search::{Search, search};
use local_agent_agent::operations::standing::Standing;
use local_agent_agent::operations::{self, Library, place, run_log};
use local_agent_agent::runs::Archive;
use local_agent_agent::tools::Caller;
use local_agent_files::sandbox::Confinement;
use local_agent_index::retrieval::Mode;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Default number of hits, as on the command line.
const USUAL_HITS: usize = 5;

/// Maximum number of hits.
const MOST_HITS: usize = 1_000;

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(ServeCommand::Token { renew }) => token(context, *renew),
        None => start(context, args),
    }
}

fn token(context: &Context, renew: bool) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::state())?;
    let token = serve::token(&config.state_dir, renew)?;
    if context.out.json {
        let file = config.state_dir.join(serve::TOKEN_FILE);
        let mut body = json!({"token": token, "file": file.to_string_lossy(), "renewed": renew});
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        context.out.line(&token);
    }
    Ok(ExitCode::SUCCESS)
}

fn start(context: &Context, args: &Args) -> Result<ExitCode> {
    let mut loaded = context.load()?;
    // A person may name any of their files; an HTTP client may not.
    loaded.config.security.allow_any_path = false;
    let config = &loaded.config;
    let settings = Settings {
        listen: args.listen,
        behind_proxy: args.behind_proxy.clone(),
        open: args.open,
        state_dir: config.state_dir.clone(),
    };
    let files = toolbox::factory(context, config, Caller::Agent, None)?;
    mcp::offers_exist(config, &files)?;
    let confined = context.enter(config, &Needs::state())? != Confinement::Absent;
    let service = Service {
        confined_to: confined.then(|| Standing::of(config)),
        audit: toolbox::audit_of(config, &files, None, Some("serve")),
        files,
        private: privacy::kept_from_agents(config),
        library: Library::that_stays(config, Some(context.embedding(config)?)),
        roots: context.roots(),
        log: Box::new(talk),
        today: ask::today,
        loaded,
    };
    let bodies = |service| Box::new(Served { service }) as Box<dyn Bodies>;
    serve::serve(service, bodies, &settings, |listening| {
        say(context, listening);
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the address of the server as the first line on stdout.
fn say(context: &Context, listening: &Listening) {
    let Listening { address, url, link } = listening;
    if context.out.json {
        let mut body = json!({"listening": address.to_string(), "url": url, "link": link});
        extend(&mut body, context.roots());
        context.out.json(body);
        return;
    }
    context.out.line(url);
    if let Some(link) = link {
        context.out.line(link);
    }
}

/// The operations, with the same results as the command line's `--json`.
struct Served {
    service: Arc<Service>,
}

impl Bodies for Served {
    fn search(&self, wanted: &WantedSearch) -> Result<Value> {
        let config = &self.service.loaded.config;
        let limit = wanted.limit.unwrap_or(USUAL_HITS);
        if !(1..=MOST_HITS).contains(&limit) {
            let message = format!("`limit` is from 1 to {MOST_HITS}");
            return Err(Failure::new(ErrorCode::InvalidArgs, message));
        }
        let asked = Search {
            text: &wanted.query,
            has_syntax: true,
            mode: Mode::Hybrid,
            fusion: None,
            limits: wanted.within.clone().into(),
            limit,
            min_score: None,
        };
        let sandbox = self.service.whole_sandbox()?;
        let searched = search(config, &sandbox, &self.service.library, &asked)?;
        query::body(&wanted.query, &searched, config)
    }

    fn ask(&self, wanted: &WantedAnswer, cancelled: &AtomicBool) -> Result<Value> {
        let service = &self.service;
        let sandbox = service.whole_sandbox()?;
        let desk = Desk {
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
            asked_by: "serve",
            tools: None,
            today: (service.today)(),
        };
        let go_on = |cancelled: &AtomicBool| match cancelled.load(Ordering::Relaxed) {
            true => Err(Failure::new(ErrorCode::Cancelled, "nobody waits any more")),
            false => Ok(()),
        };
        let done = operations::ask::ask(&desk, &asked, &mut |_| go_on(cancelled))?;
        let Done {
            asked: Asked { answer, trail },
            recalled,
            run,
        } = done;
        let answer = answer?;
        let config = &service.loaded.config;
        let view = AnswerView::new(config, &wanted.question, &answer, &trail, &recalled);
        let mut body = to_value(&view)?;
        extend(&mut body, run_log::fields(run.as_ref()));
        Ok(body)
    }

    fn get(&self, address: &str) -> Result<Value> {
        let config = &self.service.loaded.config;
        let sandbox = self.service.whole_sandbox()?;
        let piece = documents::get(config, &sandbox, address, Lines::default())?;
        to_value(&get::PieceView::from(&piece))
    }

    fn status(&self) -> Result<Value> {
        let service = &self.service;
        status::body(
            &service.loaded.config,
            &service.library,
            &service.whole_sandbox()?,
        )
    }

    fn runs(&self, limit: usize) -> Result<Value> {
        runs::listed(&self.archive(), limit)
    }

    fn run(&self, id: &str) -> Result<Value> {
        let archive = self.archive();
        runs::shown(&archive, &archive.find(id)?)
    }
}

impl Served {
    fn archive(&self) -> Archive {
        Archive::new(place(&self.service.loaded.config))
    }
}
