//! Prints the configuration for people: the origin of each value, the reference, the shipped
//! defaults, and the file that `init` writes. All of it comes from the table of keys.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::findings::Origin;
use super::keys::{Effect, KEYS, Key, SECTIONS};
use super::load::{Ground, Notes, Setting};
use super::sources::TypedSource;
use super::typed::Val;
use super::values::Values;
use super::{Config, RerankerName};
use local_agent_text::types::SourceName;

/// Every key of this program with its effective value.
pub(super) fn settings(
    values: &Values,
    config: &Config,
    notes: &Notes,
    ground: &Ground,
) -> Vec<Setting> {
    let own = KEYS.iter().filter(|key| !key.is_ancestor());
    own.map(|key| {
        let typed = values.get(key.path);
        let origin = match (key.path, &ground.workroot) {
            ("workroot", Some((_, origin))) => origin.clone(),
            ("workroot", None) => Origin::Default,
            _ => values.origin(key.path),
        };
        let value =
            place(key.path, config).unwrap_or_else(|| typed.map_or(Json::Null, |t| plain(&t.val)));
        Setting {
            key: key.path,
            value,
            origin,
            note: notes.get(key.path).cloned(),
        }
    })
    .collect()
}

/// The resolved path of a key. People want to see where the file is and not how it was written.
fn place(key: &str, config: &Config) -> Option<Json> {
    match key {
        "workroot" => Some(
            config
                .workroot
                .as_deref()
                .and_then(path_text)
                .unwrap_or(Json::Null),
        ),
        "state_dir" => path_text(&config.state_dir),
        "index.db_path" => path_text(&config.index.db_path),
        "embed.db_path" => path_text(&config.embed.db_path),
        "embed.model_path" => config.embed.model_path.as_deref().and_then(path_text),
        "retrieve.reranker" => match &config.retrieve.reranker {
            Some(RerankerName::Folder(folder)) => path_text(folder),
            _ => None,
        },
        "memory.db_path" => path_text(&config.memory.db_path),
        "runs.dir" => path_text(&config.runs.dir),
        "security.allowed_roots" => Some(
            config
                .security
                .allowed_roots
                .iter()
                .map(|r| r.display().to_string())
                .collect(),
        ),
        "sources" => Some(config.sources.iter().map(source_view).collect()),
        _ => None,
    }
}

/// A source as it is shown.
fn source_view(s: &super::Source) -> Json {
    let mut one = json!({"name": s.name, "root": s.root.display().to_string(), "kind": s.kind});
    if s.code {
        one["code"] = json!(true);
    }
    one
}

/// The path as text.
fn path_text(path: &Path) -> Option<Json> {
    Some(Json::String(path.display().to_string()))
}

fn plain(val: &Val) -> Json {
    match val {
        Val::Bool(value) => json!(value),
        Val::Int(value) => json!(value),
        Val::Float(value) => json!(value),
        Val::Text(value) => json!(value),
        Val::List(items) => items.iter().map(|i| i.text.clone()).collect(),
        Val::Sources(sources) => sources.iter().map(source).collect(),
    }
}

/// A source with its name, root and patterns.
fn source(source: &TypedSource) -> Json {
    let mut out = json!({"name": source.name, "root": source.root.text});
    for (key, patterns) in [
        ("include", source.selection.include()),
        ("exclude", source.selection.exclude()),
    ] {
        if !patterns.is_empty() {
            out[key] = json!(patterns);
        }
    }
    out
}

/// `docs/config.md`: every key with its type, its default and what it does; then the Python
/// version's keys.
pub fn reference_markdown() -> String {
    let mut out = String::from(
        "# Configuration\n\n\
         Layers, each over the one before: the defaults compiled into the program, your own configuration\n\
         (`local-agent config show` names the file), `local-agent.yaml` in the workroot, the file named by `--config` or\n\
         LOCAL_AGENT_CONFIG, the environment, flags. Lists are replaced, not joined. A blank value counts as unset.\n\
         Relative paths join the security root: the workroot, else the configuration file's folder, else the current\n\
         folder. An unknown key or a value of the wrong type is an error that names the line.\n\n\
         A `local-agent.yaml` that was found by walking up from the current folder may not reach outside its folder,\n\
         loosen `security`, show agents more (`mcp`), or send text to another machine, until `local-agent config trust`\n\
         has recorded it. It may tune the search, name sources inside its folder, and forbid more than you do. While\n\
         `llm.base_url` is another machine, it may choose no model and no provider but yours.\n\n\
         On a terminal the places that `query` and `ask` print are links. They open Obsidian if the file is below a\n\
         folder with `.obsidian`, otherwise at its line the editor that VISUAL or EDITOR names, or whose terminal this is,\n\
         if it opens addresses (Visual Studio Code and its kin, Zed, Sublime Text, IntelliJ IDEA, TextMate, MacVim), and\n\
         otherwise what this machine opens `file://` with. LOCAL_AGENT_LINK, or QMD_EDITOR_URI, sets another address,\n\
         with `{path}` and `{line}` in it.\n",
    );
    for (section, doc) in SECTIONS {
        let title = if section.is_empty() {
            "Top level".to_owned()
        } else {
            format!("`{section}`")
        };
        let _ = write!(
            out,
            "\n## {title}\n\n{doc}\n\n| key | takes | default | meaning |\n| --- | --- | --- | --- |\n"
        );
        for key in KEYS
            .iter()
            .filter(|k| !k.is_ancestor() && k.section() == *section)
        {
            let default = if key.default.is_empty() {
                "unset".to_owned()
            } else {
                format!("`{}`", key.default)
            };
            let _ = writeln!(
                out,
                "| `{}` | {} | {default} | {} |",
                key.path,
                key.takes(),
                key.doc
            );
        }
    }
    out.push_str(
        "\n## Keys of the Python version\n\n\
         A file with `phase2` or `phase3` loads as it is: its databases and run records keep their places, and its\n\
         sections accept yes, no, on, off, 1 and 0 for true and false. Where a key is not read exactly as it says, a\n\
         warning says so. Beside our own key in the same file, the Python version's is ignored, with a warning.\n\n\
         | key | here |\n| --- | --- |\n",
    );
    for key in KEYS.iter().filter(|k| k.is_ancestor()) {
        let sentence = if key.effect == Effect::Kept {
            format!("It {}.", key.doc)
        } else {
            key.doc.to_owned()
        };
        let _ = writeln!(out, "| `{}` | {sentence} |", key.path);
    }
    out
}

/// The input for `init`.
#[derive(Debug, Clone, Default)]
pub struct Template {
    /// Name and root of each source, with the root as it is to be written (relative to the
    /// workroot, absolute, or `~/…`).
    pub sources: Vec<(SourceName, String)>,
    /// For the user's own configuration: the folder of its databases. `None`: `.local-agent` in the
    /// workroot.
    pub state_dir: Option<String>,
    /// For the user's own configuration, whose sources may be anywhere: sets
    /// `security.roots_must_be_within_security_root: false`, which needs trust in any other file.
    pub sources_anywhere: bool,
}

/// Keys that a new file shows as comments, with their defaults.
pub(super) const SHOWN: [&str; 9] = [
    "security.allowed_exts",
    "index.max_tokens",
    "retrieve.fusion",
    "ask.provider",
    "ask.top_n",
    "ask.strict",
    "llm.model",
    "llm.base_url",
    "runs.keep_evidence",
];

/// A commented configuration file that loads as `what`. To change a default, remove the `# ` before
/// its key.
pub fn template(what: &Template) -> String {
    let mut out = String::from(
        "# Configuration of local-agent. `local-agent config show` says what is in force and where it comes from;\n\
         # docs/config.md lists every key. Remove the `# ` before a key to change its default.\n\n",
    );
    if let Some(state) = &what.state_dir {
        out.push_str(&remark("", doc("state_dir")));
        let _ = writeln!(out, "state_dir: {}\n", quoted(state));
    }
    out.push_str(&remark("", doc("sources")));
    out.push_str("sources:\n");
    if what.sources.is_empty() {
        out.push_str("  # - {name: notes, root: notes}\n");
    }
    for (name, root) in &what.sources {
        let _ = writeln!(
            out,
            "  - name: {}\n    root: {}",
            quoted(name.as_str()),
            quoted(root)
        );
    }
    let mut section = "";
    for key in SHOWN.iter().filter_map(|path| Key::find(path)) {
        if key.section() != section {
            section = key.section();
            let _ = write!(out, "\n{}{section}:\n", remark("", section_doc(section)));
            if section == "security" && what.sources_anywhere {
                let key = "security.roots_must_be_within_security_root";
                let _ = writeln!(out, "{}  {}: false", remark("  ", doc(key)), last(key));
            }
        }
        let default = if key.default.is_empty() {
            "\"\""
        } else {
            key.default
        };
        let _ = writeln!(
            out,
            "{}  # {}: {default}",
            remark("  ", key.doc),
            last(key.path)
        );
    }
    out
}

/// `text` as comment lines of about a hundred characters.
fn remark(indent: &str, text: &str) -> String {
    let mut out = format!("{indent}#");
    let mut width = 0;
    for word in text.split_whitespace() {
        if width + word.len() > 100 {
            let _ = write!(out, "\n{indent}#");
            width = 0;
        }
        let _ = write!(out, " {word}");
        width += word.len() + 1;
    }
    out.push('\n');
    out
}

fn doc(path: &str) -> &'static str {
    Key::find(path).map_or("", |key| key.doc)
}

fn section_doc(section: &str) -> &'static str {
    SECTIONS
        .iter()
        .find(|(name, _)| *name == section)
        .map_or("", |(_, doc)| doc)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// A YAML double-quoted scalar; control characters are escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The expected content of `configs/default.yaml`, from the table; a test compares the file with
/// it.
#[cfg(test)]
pub(super) fn default_yaml() -> String {
    let mut out = String::from(
        "# The defaults of local-agent, compiled into the program. Written from the table in crates/agent/src/config/table.rs.\n\
         # Copy what you want to change into your own file; a blank value is unset.\n",
    );
    for (section, section_doc) in SECTIONS {
        let _ = write!(out, "\n{}", remark("", section_doc));
        let nested = !section.is_empty() && *section != "sources";
        if nested {
            let _ = writeln!(out, "{section}:");
        }
        let mut inner = "";
        for key in KEYS
            .iter()
            .filter(|k| !k.is_ancestor() && k.section() == *section)
        {
            let place = key.path.strip_prefix(section).unwrap_or(key.path);
            let place = place.trim_start_matches('.');
            let below = place.rsplit_once('.').map_or("", |(below, _)| below);
            if below != inner {
                inner = below;
                let _ = writeln!(out, "  {inner}:");
            }
            let indent = match (nested, inner.is_empty()) {
                (false, _) => "",
                (true, true) => "  ",
                (true, false) => "    ",
            };
            let default = if key.default.is_empty() {
                "\"\""
            } else {
                key.default
            };
            let _ = writeln!(
                out,
                "{}{indent}{}: {default}",
                remark(indent, key.doc),
                last(key.path)
            );
        }
    }
    out
}
