//! Imports the folders in another program's configuration as our sources and contexts.

use std::path::Path;

use super::edit::NewSource;
use super::folder_context::FolderContext;
use super::globs::GlobSettings;
use super::raw::{self, Node, Value};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::SourceName;

/// The program whose configuration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherProgram {
    /// `qmd`: collections are a map by name, each with `path`, `pattern` and `context`.
    Qmd,
    /// `gno`: collections are a list with `name` and `path`; contexts are a list of their own.
    Gno,
}

/// The result of importing another program's configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Their roots are kept as written.
    pub sources: Vec<NewSource>,
    /// Descriptions of collections and their folders, each on one line.
    pub contexts: Vec<FolderContext>,
    /// Parts without a counterpart here, one sentence each.
    pub left_out: Vec<String>,
}

/// Parses the text of `file`, a configuration of `program`.
///
/// # Errors
/// `CONFIG_ERROR` when it is not YAML, or has no collections.
pub fn import(program: OtherProgram, file: &Path, text: &str) -> Result<Imported> {
    let map = raw::parse(&file.display().to_string(), text.as_bytes())
        .map_err(|failure| failure.with_hint("mend that line, then run the same command again"))?;
    let mut imported = Imported::default();
    match (program, find(&map, "collections").map(|node| &node.value)) {
        (OtherProgram::Qmd, Some(Value::Map(collections))) => {
            for (name, node) in collections {
                imported.take(name, fields(node));
            }
        }
        (OtherProgram::Gno, Some(Value::List(collections))) => {
            for node in collections {
                let fields = fields(node);
                imported.take(&text_of(fields, "name").unwrap_or_default(), fields);
            }
        }
        _ => {
            let message = format!("{} names no collections", file.display());
            return Err(Failure::new(ErrorCode::ConfigError, message)
                .with_fix(Fix::ConfigureByCommand, "local-agent source add DIR"));
        }
    }
    if let Some(text) = text_of(&map, "global_context") {
        imported.say("/", &text);
    }
    if let Some(Value::List(contexts)) = find(&map, "contexts").map(|node| &node.value) {
        for node in contexts {
            let (place, text) = gno_context(fields(node));
            imported.say(&place, &text);
        }
    }
    Ok(imported)
}

impl Imported {
    /// One collection: its folder, its patterns, and the descriptions of its folders.
    fn take(&mut self, name: &str, fields: &[(String, Node)]) {
        let Ok(name) = SourceName::new(name) else {
            self.left_out.push(format!(
                "a collection is called `{name}`, which no source can be"
            ));
            return;
        };
        let Some(root) = text_of(fields, "path") else {
            self.left_out
                .push(format!("the collection `{name}` has no path"));
            return;
        };
        if text_of(fields, "update").is_some() {
            self.left_out.push(format!(
                "`{name}` has an `update` command; commands are never run"
            ));
        }
        if let Some(Value::Map(contexts)) = find(fields, "context").map(|node| &node.value) {
            for (folder, text) in contexts {
                let place = format!("{name}/{}", folder.trim_matches('/'));
                self.say(&place, scalar(text).unwrap_or_default());
            }
        }
        let pattern = text_of(fields, "pattern").unwrap_or_default();
        let (extensions, patterns): (Vec<String>, Vec<String>) = words_of(fields, "include")
            .into_iter()
            .partition(|word| word.starts_with('.'));
        let selected = GlobSettings::of(&pattern, &extensions);
        let exclude = words_of(fields, "ignore")
            .into_iter()
            .chain(words_of(fields, "exclude"))
            .collect();
        self.sources.push(NewSource {
            name,
            root,
            kind: "notes".to_owned(),
            code: selected.code,
            extensions: selected.extensions,
            include: selected.include.into_iter().chain(patterns).collect(),
            exclude,
        });
    }

    fn say(&mut self, place: &str, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match FolderContext::new(place, &text) {
            Ok(context) => self.contexts.push(context),
            Err(why) => self.left_out.push(format!("a context was left out: {why}")),
        }
    }
}

/// Converts `scopeType`, `scopeKey` and `text` of a context to its place and its text.
fn gno_context(fields: &[(String, Node)]) -> (String, String) {
    let key = text_of(fields, "scopeKey").unwrap_or_default();
    let place = match text_of(fields, "scopeType").as_deref() {
        Some("global") => "/".to_owned(),
        _ => key
            .trim_start_matches("gno://")
            .trim_end_matches(':')
            .to_owned(),
    };
    (place, text_of(fields, "text").unwrap_or_default())
}

fn fields(node: &Node) -> &[(String, Node)] {
    match &node.value {
        Value::Map(map) => map,
        _ => &[],
    }
}

fn find<'a>(map: &'a [(String, Node)], name: &str) -> Option<&'a Node> {
    map.iter()
        .find(|(key, _)| key == name)
        .map(|(_, node)| node)
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, .. } if !node.is_unset() => Some(text.trim()),
        _ => None,
    }
}

fn text_of(map: &[(String, Node)], name: &str) -> Option<String> {
    find(map, name).and_then(scalar).map(str::to_owned)
}

fn words_of(map: &[(String, Node)], name: &str) -> Vec<String> {
    match find(map, name).map(|node| &node.value) {
        Some(Value::List(nodes)) => nodes.iter().filter_map(scalar).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(program: OtherProgram, text: &str) -> Imported {
        import(program, Path::new("index.yml"), text).unwrap()
    }

    #[test]
    fn collections_of_qmd_become_sources_and_their_contexts_contexts() {
        let imported = read(
            OtherProgram::Qmd,
            "global_context: All of it is mine.\ncollections:\n  notes:\n    path: ~/notes\n    pattern: \"**/*.md\"\n    ignore: [\"archive/**\"]\n    update: git pull\n    context:\n      \"/\": The bakery\n      \"/projects\": |\n        One file\n        a project\n  logs:\n    path: /srv/logs\n    pattern: \"2026/**/*.txt\"\n",
        );
        let notes = &imported.sources[0];
        assert_eq!(
            (notes.name.as_str(), notes.root.as_str()),
            ("notes", "~/notes")
        );
        assert!(notes.include.is_empty() && notes.extensions.is_empty());
        assert_eq!(notes.exclude, ["archive/**"]);
        let logs = &imported.sources[1];
        assert_eq!(logs.extensions, [".txt"]);
        assert_eq!(logs.include, ["2026/**/*.txt"]);
        let contexts: Vec<String> = imported.contexts.iter().map(ToString::to_string).collect();
        assert_eq!(
            contexts,
            [
                "notes: The bakery",
                "notes/projects: One file a project",
                "/: All of it is mine."
            ]
        );
        assert_eq!(imported.left_out.len(), 1);
    }

    #[test]
    fn every_kind_of_a_pattern_becomes_a_document() {
        let imported = read(
            OtherProgram::Qmd,
            "collections:\n  code:\n    path: a\n    pattern: \"**/*.{py,rs}\"\n  notes:\n    path: b\n    pattern: \"**/*.{md,txt}\"\n",
        );
        let [code, notes] = imported.sources.as_slice() else {
            panic!("{imported:?}");
        };
        assert!(code.code && code.extensions.is_empty());
        assert_eq!(code.include, ["*.py", "*.rs"]);
        assert!(!notes.code && notes.include.is_empty());
        assert_eq!(notes.extensions, [".txt"]);
    }

    #[test]
    fn collections_of_gno_are_a_list_and_contexts_have_scopes() {
        let imported = read(
            OtherProgram::Gno,
            "version: \"1.0\"\ncollections:\n  - name: notes\n    path: /home/a/notes\n    pattern: \"**/*\"\n    include: [.md, .txt]\n    exclude: [node_modules]\ncontexts:\n  - {scopeType: global, scopeKey: /, text: Mine}\n  - {scopeType: collection, scopeKey: \"notes:\", text: Bakery}\n  - {scopeType: prefix, scopeKey: \"gno://notes/a\", text: Papers}\n",
        );
        assert_eq!(imported.sources[0].extensions, [".txt"]);
        assert!(imported.sources[0].include.is_empty());
        assert_eq!(imported.sources[0].exclude, ["node_modules"]);
        let places: Vec<String> = imported.contexts.iter().map(FolderContext::place).collect();
        assert_eq!(places, ["/", "notes", "notes/a"]);
    }

    #[test]
    fn a_file_without_collections_is_a_typed_failure() {
        let failure = import(OtherProgram::Qmd, Path::new("x.yml"), "a: b\n").unwrap_err();
        assert_eq!(failure.code, ErrorCode::ConfigError);
    }
}
