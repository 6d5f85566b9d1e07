//! The protocol: lists, calls, progress, the prompt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::http::request::Parts;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode as Rpc, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, Role, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};

use super::advice::{Offers, advice};
use super::resources;
use super::subscriptions::{self, Subscriptions};
use super::tools::{self, Call, Reply, Spec};
use super::{NOT_DRAFTING, Service, guide};
use local_agent_text::error::{Failure, Result};

/// The key under which a failed result contains the error envelope of the command line.
const ERROR: &str = "local-agent/error";

/// Maximum length of a client's name in a record.
const LONGEST_NAME: usize = 80;

/// The interval at which a waiting client receives the size of a model's reply so far.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// The name of this program when a client starts it. Only such a server can send messages without a
/// request; over HTTP, `serve` keeps the subscriptions of a session.
pub(super) const OVER_STDIO: &str = "mcp";

/// One client's server.
pub struct Server {
    service: Arc<Service>,
    subscriptions: Arc<Subscriptions>,
    /// The name in records for a client that does not give one.
    way: Arc<str>,
}

impl Server {
    pub(super) fn new(service: Arc<Service>, way: Arc<str>) -> Self {
        Self {
            service,
            subscriptions: Arc::default(),
            way,
        }
    }

    /// Runs one tool on a separate thread. Meanwhile it passes progress on and watches for
    /// cancellation by the client.
    async fn run(
        &self,
        tool: Wanted,
        args: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, mut steps) = tokio::sync::mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let service = Arc::clone(&self.service);
        let (flag, asked_by) = (Arc::clone(&cancelled), asked_by(&self.way, context));
        let progress = token.is_some().then_some(sender);
        let drafted = Arc::new(AtomicUsize::new(NOT_DRAFTING));
        let written = Arc::clone(&drafted);
        let mut work = tokio::task::spawn_blocking(move || match tool {
            Wanted::Operation(spec) => spec.run(&service, args, |sandbox| Call {
                service: Arc::clone(&service),
                sandbox,
                cancelled: flag,
                progress,
                drafted,
                asked_by,
            }),
            Wanted::Files(name) => tools::on_files(&service, name, &args),
        });
        let mut progress = CallProgress::of(token, context);
        let mut ticks = tokio::time::interval(TELL_EVERY);
        ticks.reset();
        loop {
            tokio::select! {
                biased;
                Some(message) = steps.recv() => progress.tell(message).await,
                result = &mut work => {
                    return result.unwrap_or_else(|_| Err(Failure::internal("the tool panicked")));
                }
                () = context.ct.cancelled(), if !cancelled.load(Ordering::Relaxed) => {
                    cancelled.store(true, Ordering::Relaxed);
                }
                _ = ticks.tick() => {
                    let characters = written.load(Ordering::Relaxed);
                    if characters != NOT_DRAFTING && !cancelled.load(Ordering::Relaxed) {
                        progress.tell(format!("the model has written {characters} characters so far")).await;
                    }
                }
            }
        }
    }

    fn can_notify(&self) -> bool {
        &*self.way == OVER_STDIO
    }

    /// Runs an operation on resources on a separate thread.
    async fn on_resources<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, ErrorData> {
        resources::must_be_offered(&self.service)?;
        let service = Arc::clone(&self.service);
        tokio::task::spawn_blocking(move || work(&service))
            .await
            .unwrap_or_else(|_| Err(Failure::internal("the request panicked")))
            .map_err(|failure| resources::error(&failure, &self.service))
    }
}

/// The progress notifications for a waiting client.
struct CallProgress<'a> {
    /// The token for progress; `None` if the client did not request it.
    token: Option<ProgressToken>,
    context: &'a RequestContext<RoleServer>,
    steps: f64,
}

impl<'a> CallProgress<'a> {
    fn of(token: Option<ProgressToken>, context: &'a RequestContext<RoleServer>) -> Self {
        Self {
            token,
            context,
            steps: 0.0,
        }
    }

    async fn tell(&mut self, message: String) {
        self.steps += 1.0;
        if let Some(token) = self.token.clone() {
            let params = ProgressNotificationParam::new(token, self.steps).with_message(message);
            // The client may have disconnected; that is not an error.
            let _ = self.context.peer.notify_progress(params).await;
        }
    }
}

/// The target of a call.
enum Wanted {
    Operation(&'static Spec),
    Files(&'static str),
}

/// What a client calls itself: its name and its version, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientName(Arc<str>);

impl ClientName {
    pub(crate) fn of(client: &Implementation) -> Self {
        let name = format!("{} {}", client.name, client.version);
        let plain = name.chars().filter(|c| !c.is_control());
        Self(plain.take(LONGEST_NAME).collect::<String>().into())
    }
}

/// The client's connection and the name that it gave: in its session over HTTP, or in the request.
fn asked_by(way: &str, context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let of_session = parts.and_then(|parts| parts.extensions.get::<ClientName>().cloned());
    // Over HTTP the library puts its own name where a client gives none.
    let own = Implementation::from_build_env();
    let given = context.client_info();
    let given = given.filter(|client| parts.is_none() || client.name != own.name);
    let client = of_session.or_else(|| given.as_ref().map(ClientName::of));
    match client {
        Some(ClientName(name)) => format!("{way}: {name}"),
        None => way.to_owned(),
    }
}

fn tool_result(result: Result<Reply>, offers: Offers<'_>) -> CallToolResult {
    match result {
        Ok(Reply { text, data }) => {
            let mut answer = CallToolResult::success(vec![ContentBlock::text(text)]);
            answer.structured_content = Some(data);
            answer
        }
        Err(failure) => failed_call(&failure, offers),
    }
}

/// The text of a failure for a client.
pub(super) fn said(failure: &Failure, offers: Offers<'_>) -> String {
    let mut text = format!("error[{}]: {}", failure.code, failure.message);
    if let Some(advice) = advice(failure, offers) {
        text.push_str(&format!("\nfix: {advice}"));
    }
    if let Some(found) = &failure.found {
        text.push_str(&tools::closest_text(found));
    }
    text
}

/// A failure as the result of a call.
pub(super) fn failed_call(failure: &Failure, offers: Offers<'_>) -> CallToolResult {
    let envelope = json!({
        "ok": false,
        "error_code": failure.code.as_str(),
        "error_message": failure.message,
        "hint": failure.hint,
    });
    // Not as structured content: clients validate that against the tool's output schema, which
    // describes results.
    let meta = MetaObject([(ERROR.to_owned(), envelope)].into_iter().collect());
    CallToolResult::error(vec![ContentBlock::text(said(failure, offers))]).with_meta(Some(meta))
}

fn unknown(what: &str, name: &str, known: &[&str]) -> ErrorData {
    let name: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NAME)
        .collect();
    ErrorData::invalid_params(
        format!(
            "there is no {what} `{name}`; there are: {}",
            known.join(", ")
        ),
        None,
    )
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .build();
        if resources::are_offered(&self.service) {
            let mut offered = ResourcesCapability::default();
            offered.subscribe = Some(true);
            capabilities.resources = Some(offered);
        }
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("local-agent", env!("CARGO_PKG_VERSION"))
                    .with_description(env!("CARGO_PKG_DESCRIPTION")),
            )
            .with_instructions(guide::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let operations = tools::offered(&self.service).map(|spec| spec.listed(&self.service));
        let files = self.service.file_tools().map(|tool| tools::listed(&tool));
        Ok(ListToolsResult::with_all_items(
            operations.chain(files).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let operation = tools::offered(&self.service)
            .find(|spec| spec.name == request.name)
            .map(Wanted::Operation);
        let files = || {
            self.service
                .file_tools()
                .find(|tool| tool.name() == request.name)
        };
        let Some(tool) = operation.or_else(|| files().map(|tool| Wanted::Files(tool.name())))
        else {
            return Err(unknown(
                "tool",
                &request.name,
                &tools::offered_names(&self.service),
            ));
        };
        let args = Value::Object(request.arguments.unwrap_or_default());
        let done = self.run(tool, args, &context).await;
        let offered = tools::offered_names(&self.service);
        Ok(tool_result(done, &|name| offered.contains(&name)).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.on_resources(move |service| resources::list(service, cursor.as_deref()))
            .await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourceTemplatesResult, ErrorData> {
        self.on_resources(|_| Ok(resources::templates())).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        let read = self.on_resources(move |service| resources::read(service, &request.uri));
        read.await.map(Into::into)
    }

    // Clients with versions before 2026-07-28 subscribe with this method.
    #[allow(deprecated)]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        if !self.can_notify() {
            let why = "a client without a session cannot subscribe: send `initialize`, then its \
                       `Mcp-Session-Id` with each request; a client over stdin can if it is started \
                       without `--via-server`";
            return Err(ErrorData::new(Rpc::METHOD_NOT_FOUND, why, None));
        }
        self.subscriptions
            .subscribe(&self.service, request.uri)
            .await?;
        self.subscriptions.watch(&self.service, context.peer);
        Ok(())
    }

    #[allow(deprecated)]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        resources::are_offered(&self.service)
            .then(|| subscriptions::acceptable(&self.service, wanted))
    }

    async fn listen(&self, context: SubscriptionContext) -> std::result::Result<(), ErrorData> {
        subscriptions::listen(&self.service, &context).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let question = PromptArgument::new("question")
            .with_description("What to answer.")
            .with_required(true);
        let prompt = Prompt::new(guide::NAME, Some(guide::DESCRIPTION), Some(vec![question]))
            .with_title("Answer from the notes, with proof");
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<GetPromptResponse, ErrorData> {
        if request.name != guide::NAME {
            return Err(unknown("prompt", &request.name, &[guide::NAME]));
        }
        let question = request
            .arguments
            .as_ref()
            .and_then(|args| args.get("question"))
            .and_then(Value::as_str);
        let Some(question) = question.filter(|question| !question.trim().is_empty()) else {
            return Err(ErrorData::invalid_params("`question` is missing", None));
        };
        let message = PromptMessage::new_text(Role::User, guide::prompt(question));
        Ok(GetPromptResult::new(vec![message])
            .with_description(guide::DESCRIPTION)
            .into())
    }

    /// Handles a request with a known name whose parameters are invalid.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CustomResult, ErrorData> {
        const SERVED: [&str; 12] = [
            "initialize",
            "ping",
            "tools/list",
            "tools/call",
            "prompts/list",
            "prompts/get",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "subscriptions/listen",
        ];
        if SERVED.contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(
                unfit(&request.method, request.params.as_ref()),
                None,
            ));
        }
        let method: String = request
            .method
            .chars()
            .filter(|c| !c.is_control())
            .take(LONGEST_NAME)
            .collect();
        Err(ErrorData::new(
            Rpc::METHOD_NOT_FOUND,
            format!("there is no method {method}"),
            None,
        ))
    }
}

/// The types of the parameters that requests have: the method, the parameter, what it must be.
const PARAMETERS: [(&str, &str, &str); 8] = [
    ("tools/call", "name", "text"),
    ("tools/call", "arguments", "an object"),
    ("prompts/get", "name", "text"),
    ("prompts/get", "arguments", "an object"),
    ("resources/read", "uri", "text"),
    ("resources/subscribe", "uri", "text"),
    ("resources/unsubscribe", "uri", "text"),
    ("initialize", "protocolVersion", "text"),
];

/// What is wrong with the parameters of a request: the first one that does not fit, by its name.
fn unfit(method: &str, params: Option<&Value>) -> String {
    let own = PARAMETERS.iter().filter(|(of, ..)| *of == method);
    for (_, name, kind) in own {
        let given = params.and_then(|params| params.get(*name));
        match given {
            Some(Value::String(_)) if *kind == "text" => {}
            Some(Value::Object(_)) if *kind != "text" => {}
            None if *name == "arguments" => {}
            None => return format!("`{name}` of {method} is missing"),
            Some(_) => return format!("`{name}` of {method} must be {kind}"),
        }
    }
    format!("the parameters of {method} do not fit")
}
