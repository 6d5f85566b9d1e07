//! A server without a terminal: starts it, ends it, reports its state, and prints units that keep
//! it running.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ListeningView;
use crate::cli::args::{Serve, ServeUnit, USUAL_ADDRESS, USUAL_REQUESTS};
use crate::cli::context::Context;
use crate::cli::enter::Needs;
use crate::serve::{self, RunningServer};
use crate::watch::{UnitSubject, launchd, systemd, task};
use local_agent_agent::config::{Config, Loaded};
use local_agent_files::state::StateDirectory;
use local_agent_net::http::{Client, Limits};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The file for the messages of a server without a terminal.
const LOG: &str = "serve.log";

/// How long `stop` waits: a little longer than running requests may take.
const LONGEST_END: Duration = Duration::from_secs(40);

/// How long `status` waits for an answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(50);

/// The names of the server in the units.
const SERVICE: UnitSubject = UnitSubject {
    name: "serve",
    description: "local-agent serves this user's notes",
};

/// The output of `serve status --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct ServerStateView<'a> {
    #[serde(flatten)]
    server: &'a RunningServer,
    /// Whether it answers.
    healthy: bool,
}

/// The output of `serve stop --json`, without the roots.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct StoppedView {
    stopped: bool,
    pid: u32,
}

/// Starts this command again, without `--daemon` and without a terminal; returns when the server
/// listens.
pub(super) fn start(context: &Context) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.make_state(&config)?;
    serve::refuse_second(&config.state_dir)?;
    let mut child = again(context, &config)?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let said: Value = serde_json::from_str(&line).unwrap_or_default();
    let (Some(listening), Some(url)) = (said["listening"].as_str(), said["url"].as_str()) else {
        let _ = child.wait();
        return Err(not_started(&config, &said));
    };
    let view = ListeningView {
        listening: listening.to_owned(),
        url,
        link: said["link"].as_str(),
    };
    super::show(context, &view)
}

/// Starts this command again in the folder in which it was started, from which its relative paths
/// start.
fn again(context: &Context, config: &Config) -> Result<Child> {
    let program = std::env::current_exe().map_err(|e| unstarted(&e))?;
    let args = std::env::args_os().skip(1);
    let mut command = Command::new(program);
    command
        .args(args.filter(|arg| arg != "--daemon" && arg != "--json"))
        .arg("--json")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file(config)?);
    if let Some(folder) = &context.environment.started_in {
        command.current_dir(folder);
    }
    // The interrupt key of this terminal must not reach it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|e| unstarted(&e))
}

fn unstarted(e: &std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::ConfigError,
        format!("the server cannot be started: {e}"),
    )
    .with_command("local-agent serve")
}

/// The file for the server's messages, which come after those of earlier servers.
fn log_file(config: &Config) -> Result<File> {
    let failed = |e: std::io::Error| {
        local_agent_files::state::refusal(&e).unwrap_or_else(|| {
            let file = config.state_dir.join(LOG);
            let message = format!("{} cannot be written: {e}", file.display());
            Failure::new(ErrorCode::WriteError, message).with_command("local-agent doctor")
        })
    };
    let folder = StateDirectory::make_configured(&config.state_dir).map_err(failed)?;
    folder.append(LOG).map_err(failed)
}

/// The failure that the server printed instead of its address.
fn not_started(config: &Config, said: &Value) -> Failure {
    let code = said["error_code"].as_str().unwrap_or_default();
    let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code);
    let log = config.state_dir.join(LOG);
    let failure = Failure::new(
        code.copied().unwrap_or(ErrorCode::InternalError),
        said["error_message"].as_str().map_or_else(
            || format!("the server ended before it listened; see {}", log.display()),
            str::to_owned,
        ),
    );
    match said["hint"].as_str() {
        Some(hint) => failure.with_hint(hint),
        None => failure.with_command("local-agent serve"),
    }
}

/// Whether a server of this configuration runs already.
pub(super) fn is_at_work(context: &Context) -> Result<bool> {
    Ok(serve::is_running(&context.load()?.config.state_dir))
}

/// The running server of this configuration. A configuration with errors is enough to find it.
fn found(context: &Context) -> Result<(Config, RunningServer)> {
    let Loaded {
        config, problems, ..
    } = context.load_for_state()?;
    context.enter(&config, &Needs::nothing())?;
    if let Some(server) = serve::running(&config.state_dir)? {
        return Ok((config, server));
    }
    // The state folder may be named in the part that cannot be read.
    let unknown = problems.into_iter().next().map(|problem| problem.failure);
    Err(unknown.unwrap_or_else(|| {
        let message = "no server of this state folder runs";
        Failure::new(ErrorCode::ServerUnreachable, message)
            .with_command("local-agent serve --daemon")
    }))
}

/// Prints a link to the running server for one browser: with the rights of a named token, or
/// without a name with the owner's.
pub(super) fn link(context: &Context, name: Option<&str>) -> Result<ExitCode> {
    let (config, server) = found(context)?;
    let key = serve::invite(&config.state_dir, name)?;
    // Others come from other machines, through the proxy if there is one.
    let url = match name {
        Some(_) => server.public_url.as_ref().unwrap_or(&server.url),
        None => &server.url,
    };
    let link = serve::link(url, &key);
    let view = ListeningView {
        listening: server.listening.to_string(),
        url,
        link: Some(&link),
    };
    super::show(context, &view)
}

/// Ends the running server and waits until its requests are finished.
pub(super) fn stop(context: &Context) -> Result<ExitCode> {
    let found = found(context);
    let (config, server) = found.map_err(|failure| match failure.code {
        ErrorCode::ServerUnreachable => failure.with_hint("nothing to do: no server runs"),
        _ => failure,
    })?;
    serve::ask_to_end(&config.state_dir)?;
    let began = Instant::now();
    while runs_still(&config.state_dir, &server) {
        if began.elapsed() > LONGEST_END {
            let message = format!(
                "process {} has not ended yet; it ends as soon as it can",
                server.pid
            );
            return Err(Failure::new(ErrorCode::ServerBusy, message)
                .with_command("local-agent serve status"));
        }
        std::thread::sleep(PAUSE);
    }
    let pid = server.pid;
    let view = StoppedView { stopped: true, pid };
    context.say(&view, &format!("ended: process {pid}"))
}

/// Whether this server runs, and no later one in its place.
fn runs_still(state_dir: &Path, server: &RunningServer) -> bool {
    let named = serve::running(state_dir).ok().flatten();
    serve::is_running(state_dir) && named.is_none_or(|named| named == *server)
}

/// Reports whether a server runs, and whether it answers.
pub(super) fn status(context: &Context) -> Result<ExitCode> {
    let (_, server) = found(context)?;
    let healthy = is_healthy(&server)?;
    let answers = match healthy {
        true => "and answers",
        false => "and does not answer",
    };
    let RunningServer {
        pid,
        url,
        started_at,
        ..
    } = &server;
    let words = format!("runs at {url} {answers} (process {pid}, since {started_at})");
    let view = ServerStateView {
        server: &server,
        healthy,
    };
    context.say(&view, &words)?;
    Ok(ExitCode::from(u8::from(!healthy)))
}

/// Whether the server's `/health` answers. Over TLS, only its own certificate is accepted.
fn is_healthy(server: &RunningServer) -> Result<bool> {
    let limits = Limits::probe(LONGEST_ANSWER);
    let client = match &server.certificate_sha256 {
        Some(certificate) => Client::of_certificate(limits, *certificate)?,
        None => Client::new(limits)?,
    };
    let reply = client.get(&format!("{}/health", server.url));
    Ok(reply.is_ok_and(|reply| reply.status == 200))
}

/// Prints a unit that keeps the server running with the given options.
pub(super) fn print_unit(
    context: &Context,
    loaded: &Loaded,
    unit: ServeUnit,
    args: &Serve,
) -> Result<ExitCode> {
    let program = std::env::current_exe().map_err(|e| unstarted(&e))?;
    let command: Vec<String> = [program.to_string_lossy().into_owned()]
        .into_iter()
        .chain(context.again(loaded))
        .chain(context.server_option())
        .chain(["serve".to_owned()])
        .chain(options(context, args))
        .collect();
    let text = match unit {
        ServeUnit::Systemd => systemd(&SERVICE, &command),
        ServeUnit::Launchd => launchd(&SERVICE, &command),
        ServeUnit::Windows => task(&SERVICE, &command),
    };
    context.print_text(text)
}

/// The options of `serve` that differ from their defaults; every path is absolute.
fn options(context: &Context, args: &Serve) -> Vec<String> {
    let cwd = &context.environment.cwd;
    let file = |path: &PathBuf| cwd.join(path).to_string_lossy().into_owned();
    let listen = args.listen.to_string();
    let often = args.requests_per_minute.to_string();
    let given = [
        ("--listen", (listen != USUAL_ADDRESS).then_some(listen)),
        ("--tls-cert", args.tls_cert.as_ref().map(file)),
        ("--tls-key", args.tls_key.as_ref().map(file)),
        ("--behind-proxy", args.behind_proxy.clone()),
        (
            "--requests-per-minute",
            (often != USUAL_REQUESTS).then_some(often),
        ),
    ];
    given
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]))
        .flatten()
        .collect()
}
