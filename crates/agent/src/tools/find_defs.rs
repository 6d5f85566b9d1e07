//! `find_defs`: where a name is defined: definitions in source files, headings and titles of notes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{FileLook, Survey, is_note};
use super::outcome::Output;
use super::symbols::{Symbol, has_names, symbols};
use super::text::ReadFile;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_files::sandbox::Address;
use local_agent_text::error::Result;

/// Maximum number of places in one result.
pub(super) const MAX_PLACES: usize = 200;

pub(super) const SPEC: Spec = Spec {
    name: "find_defs",
    description: "Finds where a name is defined: functions and types of source files, headings of notes.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<FindSymbolArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindSymbolArgs {
    /// The name, or the words of a heading.
    #[schemars(length(min = 1, max = 500))]
    pub symbol: String,
    /// A file or folder to look in; absent: everywhere.
    #[schemars(length(max = 4096))]
    pub path: Option<String>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: FindSymbolArgs = schema::parse(args)?;
    let name = args.symbol.trim().to_owned();
    let folded = name.to_lowercase();
    let places = look(bound, args.path.as_deref(), &name, |file| {
        Ok(symbols(file)?
            .into_iter()
            .filter(|s| defines(&name, &folded, &file.at, s))
            .map(|s| (s.line, s.kind, s.name))
            .collect())
    })?;
    Ok(places.output(&name))
}

/// Whether a symbol defines the name; in notes, case is ignored.
fn defines(name: &str, folded: &str, at: &Address, symbol: &Symbol) -> bool {
    symbol.is_definition
        && (symbol.name == name || is_note(at) && symbol.name.to_lowercase() == folded)
}

/// Places where a name occurs.
pub(super) struct Places {
    found: Vec<Value>,
    text: String,
    survey: Survey,
}

/// Line, kind and text of one place.
pub(super) type SymbolPlace = (u32, String, String);

/// Searches every file that can contain symbols and has `name` in its text.
pub(super) fn look(
    bound: &Bound,
    path: Option<&str>,
    name: &str,
    find: impl Fn(&ReadFile) -> Result<Vec<SymbolPlace>>,
) -> Result<Places> {
    let folded = name.to_lowercase();
    let (mut found, mut text) = (Vec::new(), String::new());
    let survey = Survey::of(bound, path, has_names, |at| {
        let Ok(file) = ReadFile::of(bound, &at.to_string()) else {
            return Ok(FileLook::Unread);
        };
        // Parsing costs a thousand times more than searching the text.
        if !file
            .text()
            .is_ok_and(|text| text.contains(name) || text.to_lowercase().contains(&folded))
        {
            return Ok(FileLook::Done);
        }
        let Ok(places) = find(&file) else {
            return Ok(FileLook::Unread);
        };
        for (line, kind, words) in places {
            if found.len() == MAX_PLACES {
                return Ok(FileLook::Full("places"));
            }
            text.push_str(&format!("{at}:{line}: {kind} {words}\n"));
            found.push(json!({"path": at.to_string(), "line": line, "kind": kind, "name": words}));
        }
        Ok(FileLook::Done)
    })?;
    Ok(Places {
        found,
        text,
        survey,
    })
}

impl Places {
    pub(super) fn output(self, name: &str) -> Output {
        let facts = json!({"symbol": name, "count": self.found.len(), "places": self.found});
        let mut output = Output::new(facts, self.text);
        self.survey.report(&mut output.data, &mut output.text);
        output
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, ok};
    use super::*;

    #[test]
    fn a_name_is_found_where_it_is_defined_and_nowhere_else() {
        let world = World::new();
        world.write("src/a.rs", "fn feed() {}\nfn other() { feed() }\n");
        world.write("b.py", "def feed():\n    pass\n");
        world.write("zoo.md", "# Zoo\n\nfeed is a word\n\n## Feed\n");
        #[cfg(feature = "code")]
        assert_eq!(
            ok(&world.run("find_defs", json!({"symbol": "feed"})))["text"],
            "notes:b.py:1: function feed\nnotes:src/a.rs:1: function feed\nnotes:zoo.md:5: heading Feed\n"
        );
        assert_eq!(
            ok(&world.run("find_defs", json!({"symbol": "zoo", "path": "zoo.md"})))["count"],
            1
        );
        assert_eq!(
            ok(&world.run("find_defs", json!({"symbol": "nothing"})))["count"],
            0
        );
    }
}
