//! `list_dir`: the content of a folder. Denied, hidden and linked names are omitted.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::Output;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::Result;

/// Maximum number of entries in one result.
const MAX_ENTRIES: usize = 1000;

pub(super) const SPEC: Spec = Spec {
    name: "list_dir",
    description: "Lists the files and folders of one folder with their sizes. Without a path: the sources.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<ListDirArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirArgs {
    /// The folder: `source:` or `source:folder`, or a folder below a source. Absent: the sources.
    #[schemars(length(max = 4096))]
    path: Option<String>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: ListDirArgs = schema::parse(args)?;
    match args.path.as_deref().map(str::trim) {
        None | Some("" | "." | "/" | "./") => Ok(sources(bound)),
        Some(path) => folder(bound, path),
    }
}

fn sources(bound: &Bound) -> Output {
    let open: Vec<String> = bound
        .sandbox
        .roots()
        .iter()
        .filter(|r| r.unavailable.is_none())
        .map(|r| format!("{}:", r.name))
        .collect();
    let entries: Vec<Value> = open
        .iter()
        .map(|name| json!({"name": name, "path": name, "type": "dir", "size": null}))
        .collect();
    let text: String = open.iter().map(|name| format!("DIR:  {name}\n")).collect();
    Output::new(
        json!({"path": "", "count": entries.len(), "truncated": false, "entries": entries}),
        text,
    )
}

fn folder(bound: &Bound, path: &str) -> Result<Output> {
    let (folder, listed) = bound.sandbox.list(path)?;
    let truncated = listed.len() > MAX_ENTRIES;
    let (mut entries, mut text) = (Vec::new(), String::new());
    for one in listed.iter().take(MAX_ENTRIES) {
        let name = one.path.file_name();
        let kind = if one.is_folder { "dir" } else { "file" };
        entries.push(json!({
            "name": name,
            "path": format!("{}:{}", folder.source, one.path),
            "type": kind,
            "size": one.size,
        }));
        match (one.is_folder, one.size) {
            (true, _) => text.push_str(&format!("DIR:  {name}\n")),
            (false, Some(size)) => text.push_str(&format!("FILE: {name} ({size} bytes)\n")),
            (false, None) => text.push_str(&format!("FILE: {name} (too large to be read)\n")),
        }
    }
    if truncated {
        text.push_str(&format!("TRUNCATED: {} more\n", listed.len() - MAX_ENTRIES));
    }
    let facts = json!({"path": folder.to_string(), "count": listed.len(), "truncated": truncated, "entries": entries});
    Ok(Output::new(facts, text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    #[test]
    fn a_folder_is_listed_sorted_with_types_and_sizes_and_without_what_is_denied() {
        let world = World::new();
        for (path, text) in [
            ("b.md", "bb"),
            ("a/x.md", "x"),
            ("c.txt", ""),
            ("d.exe", "x"),
            (".hidden.md", "x"),
        ] {
            world.write(path, text);
        }
        world.write(".git/a.md", "x");
        world.write("keys.pem/a.md", "x");
        world.write(".gitignore", "ignored/\n");
        world.write("ignored/a.md", "x");
        world.link("/etc/passwd", "passwd.md");
        world.link("../outside", "out");
        let top = world.run("list_dir", json!({"path": "notes:"}));
        assert_eq!(
            top.result().unwrap().text,
            "DIR:  a\nFILE: b.md (2 bytes)\nFILE: c.txt (0 bytes)\n"
        );
        let body = ok(&top);
        assert_eq!(
            body["entries"][1],
            json!({"name": "b.md", "path": "notes:b.md", "type": "file", "size": 2})
        );
        assert_eq!(
            ok(&world.run("list_dir", json!({"path": "a"})))["entries"][0]["path"],
            "notes:a/x.md"
        );
        assert_eq!(
            ok(&world.run("list_dir", json!({})))["entries"][0]["name"],
            "notes:"
        );
        assert_eq!(
            ok(&world.run("list_dir", json!({"path": "notes:ignored"})))["count"],
            1
        );
    }

    #[test]
    fn folders_out_of_reach_are_refused_by_their_text_or_are_missing() {
        let world = World::new();
        world.write("a/x.md", "x");
        world.link("../outside", "out");
        let of = |path: &str| code(&world.run("list_dir", json!({"path": path})));
        for path in [
            "..",
            "notes:..",
            "a/../..",
            "/etc",
            "notes:/etc",
            "~",
            ".git",
            "notes:a/.git",
            "nowhere:",
            "C:\\",
        ] {
            assert_eq!(of(path), "PATH_DENIED", "{path}");
        }
        for path in ["gone", "notes:out", "a/x.md", "notes:a/gone"] {
            assert_eq!(of(path), "FILE_NOT_FOUND", "{path}");
        }
    }
}
