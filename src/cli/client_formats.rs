//! The formats of the clients' configurations, in one table.

use std::path::PathBuf;

use clap::ValueEnum as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::Client;
use super::client_config::Syntax;
use super::context::{Environment, to_value};
use local_agent_text::error::Result;

/// The environment variable from which clients read the token of `serve`.
pub(super) const TOKEN_VARIABLE: &str = "LOCAL_AGENT_SERVER_TOKEN";

/// The configuration format of one client.
#[derive(Debug)]
pub(super) struct ClientFormat {
    client: Client,
    place: Place,
    /// The key at the top of the file below which the servers are.
    pub section: &'static str,
    pub syntax: Syntax,
    stdio: StdioForm,
    http: HttpForm,
}

/// The location of a client's file. Parts are joined with the system's separator.
#[derive(Debug)]
enum Place {
    /// Below the home folder.
    Home(&'static [&'static str]),
    /// Below the system's folder for configurations.
    Config(&'static [&'static str]),
    /// Below `.config` on Linux and macOS, and below the system's folder on Windows.
    DotConfig {
        unix: &'static [&'static str],
        windows: &'static [&'static str],
    },
}

/// The form of an entry that starts a program.
#[derive(Debug)]
enum StdioForm {
    /// `command` and `args`.
    Plain,
    /// `command` and `args`, with `type: stdio`.
    Typed,
    /// `type: local`, with the program and its arguments in one list.
    OneList,
    /// An extension of Goose.
    Goose,
}

/// The form of an entry that names a server.
#[derive(Debug)]
enum HttpForm {
    /// The client supports no servers, or would need the token in its file.
    No,
    /// The address, and a header with the token.
    Header {
        kind: Option<&'static str>,
        address: AddressKey,
        /// The client's syntax for an environment variable.
        token: &'static str,
    },
    /// Codex names the variable instead of a header.
    Variable,
    /// An extension of Goose.
    Goose,
}

/// The name of the field with the address.
#[derive(Debug, Clone, Copy)]
enum AddressKey {
    Url,
    HttpUrl,
    ServerUrl,
}

/// How a client reaches this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// It starts this program with these arguments.
    Starts { program: String, args: Vec<String> },
    /// It connects to a running `serve`.
    Connects { url: String },
}

const BRACES: &str = "Bearer ${LOCAL_AGENT_SERVER_TOKEN}";
const NAMED: &str = "Bearer ${env:LOCAL_AGENT_SERVER_TOKEN}";
const CURLY: &str = "Bearer {env:LOCAL_AGENT_SERVER_TOKEN}";

/// The table of formats.
static FORMATS: [ClientFormat; 12] = [
    ClientFormat {
        client: Client::ClaudeCode,
        place: Place::Home(&[".claude.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Typed,
        http: HttpForm::Header {
            kind: Some("http"),
            address: AddressKey::Url,
            token: BRACES,
        },
    },
    ClientFormat {
        client: Client::ClaudeDesktop,
        place: Place::Config(&["Claude", "claude_desktop_config.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Plain,
        http: HttpForm::No,
    },
    ClientFormat {
        client: Client::Cursor,
        place: Place::Home(&[".cursor", "mcp.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Plain,
        http: HttpForm::Header {
            kind: None,
            address: AddressKey::Url,
            token: NAMED,
        },
    },
    ClientFormat {
        client: Client::Vscode,
        place: Place::Config(&["Code", "User", "mcp.json"]),
        section: "servers",
        syntax: Syntax::JsonWithComments,
        stdio: StdioForm::Typed,
        http: HttpForm::Header {
            kind: Some("http"),
            address: AddressKey::Url,
            token: NAMED,
        },
    },
    ClientFormat {
        client: Client::Codex,
        place: Place::Home(&[".codex", "config.toml"]),
        section: "mcp_servers",
        syntax: Syntax::Toml,
        stdio: StdioForm::Plain,
        http: HttpForm::Variable,
    },
    ClientFormat {
        client: Client::Gemini,
        place: Place::Home(&[".gemini", "settings.json"]),
        section: "mcpServers",
        syntax: Syntax::JsonWithComments,
        stdio: StdioForm::Plain,
        http: HttpForm::Header {
            kind: None,
            address: AddressKey::HttpUrl,
            token: BRACES,
        },
    },
    ClientFormat {
        client: Client::Zed,
        place: Place::DotConfig {
            unix: &["zed", "settings.json"],
            windows: &["Zed", "settings.json"],
        },
        section: "context_servers",
        syntax: Syntax::JsonWithComments,
        stdio: StdioForm::Plain,
        http: HttpForm::No,
    },
    ClientFormat {
        client: Client::Windsurf,
        place: Place::Home(&[".codeium", "windsurf", "mcp_config.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Plain,
        http: HttpForm::Header {
            kind: None,
            address: AddressKey::ServerUrl,
            token: NAMED,
        },
    },
    ClientFormat {
        client: Client::Opencode,
        place: Place::DotConfig {
            unix: &["opencode", "opencode.json"],
            windows: &["opencode", "opencode.json"],
        },
        section: "mcp",
        syntax: Syntax::JsonWithComments,
        stdio: StdioForm::OneList,
        http: HttpForm::Header {
            kind: Some("remote"),
            address: AddressKey::Url,
            token: CURLY,
        },
    },
    ClientFormat {
        client: Client::Goose,
        place: Place::DotConfig {
            unix: &["goose", "config.yaml"],
            windows: &["Block", "goose", "config", "config.yaml"],
        },
        section: "extensions",
        syntax: Syntax::Yaml,
        stdio: StdioForm::Goose,
        http: HttpForm::Goose,
    },
    ClientFormat {
        client: Client::LmStudio,
        place: Place::Home(&[".lmstudio", "mcp.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Plain,
        http: HttpForm::No,
    },
    ClientFormat {
        client: Client::Jetbrains,
        place: Place::Home(&[".junie", "mcp", "mcp.json"]),
        section: "mcpServers",
        syntax: Syntax::Json,
        stdio: StdioForm::Plain,
        http: HttpForm::No,
    },
];

/// An entry with the keys of all clients; each client uses some of them.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ServerEntry<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<EntryCommand<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cmd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(rename = "httpUrl", skip_serializing_if = "Option::is_none")]
    http_url: Option<&'a str>,
    #[serde(rename = "serverUrl", skip_serializing_if = "Option::is_none")]
    server_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<EntryHeaders>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bearer_token_env_var: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    envs: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env_keys: Option<&'static [&'static str]>,
    /// The time limit in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum EntryCommand<'a> {
    Program(&'a str),
    All(Vec<&'a str>),
}

#[derive(Debug, Serialize, JsonSchema)]
struct EntryHeaders {
    #[serde(rename = "Authorization")]
    authorization: &'static str,
}

/// How long Goose waits for an answer, in seconds, because a model may be writing one.
const GOOSE_WAITS: u32 = 300;

impl ClientFormat {
    /// Formats of all clients.
    pub(super) fn all() -> &'static [Self] {
        &FORMATS
    }

    /// The format of a client.
    pub(super) fn of(client: Client) -> &'static Self {
        let place = FORMATS.iter().position(|format| format.client == client);
        // Every client is in the table; a test checks that.
        &FORMATS[place.unwrap_or_default()]
    }

    /// Whether it is the format of this client.
    pub(super) fn is_of(&self, client: Client) -> bool {
        self.client == client
    }

    /// The name of the client as on the command line.
    pub(super) fn name(&self) -> String {
        let value = self.client.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The user's configuration file of this client.
    ///
    /// # Errors
    /// `CONFIG_ERROR` when the system names no home folder.
    pub(super) fn file(&self, environment: &Environment) -> Result<PathBuf> {
        let (base, parts) = match self.place {
            Place::Home(parts) => (environment.home()?.to_owned(), parts),
            Place::Config(parts) => (environment.config_base()?, parts),
            Place::DotConfig { windows, .. } if cfg!(windows) => {
                (environment.config_base()?, windows)
            }
            Place::DotConfig { unix, .. } if cfg!(target_os = "macos") => {
                (environment.home()?.join(".config"), unix)
            }
            Place::DotConfig { unix, .. } => (environment.config_base()?, unix),
        };
        let file = base.join(parts.iter().collect::<PathBuf>());
        let with_comments = file.with_extension("jsonc");
        if self.client == Client::Opencode && !file.exists() && with_comments.exists() {
            return Ok(with_comments);
        }
        Ok(file)
    }

    /// This program's entry; `None` if the client cannot connect in that way.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` when the entry cannot be written as JSON.
    pub(super) fn entry(&self, way: &Way) -> Result<Option<Value>> {
        let entry = match way {
            Way::Starts { program, args } => self.stdio_entry(program, args),
            Way::Connects { url } => match self.http_entry(url) {
                Some(entry) => entry,
                None => return Ok(None),
            },
        };
        to_value(&entry).map(Some)
    }

    fn stdio_entry<'a>(&self, program: &'a str, args: &'a [String]) -> ServerEntry<'a> {
        let plain = ServerEntry {
            command: Some(EntryCommand::Program(program)),
            args: Some(args),
            ..ServerEntry::default()
        };
        match self.stdio {
            StdioForm::Plain => plain,
            StdioForm::Typed => ServerEntry {
                kind: Some("stdio"),
                ..plain
            },
            StdioForm::OneList => {
                let words = args.iter().map(String::as_str);
                ServerEntry {
                    kind: Some("local"),
                    enabled: Some(true),
                    command: Some(EntryCommand::All(
                        std::iter::once(program).chain(words).collect(),
                    )),
                    ..ServerEntry::default()
                }
            }
            StdioForm::Goose => ServerEntry {
                kind: Some("stdio"),
                cmd: Some(program),
                args: Some(args),
                ..goose()
            },
        }
    }

    fn http_entry<'a>(&self, address_of: &'a str) -> Option<ServerEntry<'a>> {
        match self.http {
            HttpForm::No => None,
            HttpForm::Header {
                kind,
                address,
                token,
            } => {
                let mut entry = ServerEntry {
                    kind,
                    enabled: (self.client == Client::Opencode).then_some(true),
                    headers: Some(EntryHeaders {
                        authorization: token,
                    }),
                    ..ServerEntry::default()
                };
                match address {
                    AddressKey::Url => entry.url = Some(address_of),
                    AddressKey::HttpUrl => entry.http_url = Some(address_of),
                    AddressKey::ServerUrl => entry.server_url = Some(address_of),
                }
                Some(entry)
            }
            HttpForm::Variable => Some(ServerEntry {
                url: Some(address_of),
                bearer_token_env_var: Some(TOKEN_VARIABLE),
                ..ServerEntry::default()
            }),
            HttpForm::Goose => Some(ServerEntry {
                kind: Some("streamable_http"),
                uri: Some(address_of),
                headers: Some(EntryHeaders {
                    authorization: BRACES,
                }),
                env_keys: Some(&[TOKEN_VARIABLE]),
                ..goose()
            }),
        }
    }
}

/// The keys of every extension of Goose.
fn goose<'a>() -> ServerEntry<'a> {
    ServerEntry {
        name: Some("local-agent"),
        enabled: Some(true),
        envs: Some(Map::new()),
        timeout: Some(GOOSE_WAITS),
        ..ServerEntry::default()
    }
}

/// The address of the server in an entry, if the client connects by address.
pub(super) fn address_in(entry: &Value) -> Option<&str> {
    ["url", "httpUrl", "serverUrl", "uri"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_in_the_table_once() {
        for client in Client::value_variants() {
            let rows = FORMATS.iter().filter(|format| format.client == *client);
            assert_eq!(rows.count(), 1, "{client:?}");
            assert_eq!(ClientFormat::of(*client).client, *client);
        }
    }

    #[test]
    fn an_entry_names_the_variable_and_never_holds_a_token() {
        let url = "http://127.0.0.1:8377/mcp".to_owned();
        for format in ClientFormat::all() {
            let way = Way::Connects { url: url.clone() };
            let Some(entry) = format.entry(&way).unwrap() else {
                continue;
            };
            assert_eq!(address_in(&entry), Some(url.as_str()), "{entry}");
            assert!(entry.to_string().contains(TOKEN_VARIABLE), "{entry}");
        }
    }
}
