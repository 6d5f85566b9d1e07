//! `find_refs`: where a name is used: calls and types in source files, links in notes.

use serde_json::Value;

use super::files::is_note;
use super::find_defs::{FindSymbolArgs, look};
use super::link_target::names_target;
use super::notes;
use super::outcome::Output;
use super::symbols::{LineStarts, symbols};
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::Result;

pub(super) const SPEC: Spec = Spec {
    name: "find_refs",
    description: "Finds where a name is used: calls and types in source files, links to a note.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<FindSymbolArgs>,
    run,
};

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: FindSymbolArgs = schema::parse(args)?;
    let name = args.symbol.trim().to_owned();
    let places = look(bound, args.path.as_deref(), &name, |file| {
        if is_note(&file.at) {
            let text = file.text()?;
            let lines = LineStarts::of(text);
            let links = notes::parse(text).links;
            let fits = links
                .into_iter()
                .filter(|link| !link.is_external() && names_target(&link.target, &name));
            return Ok(fits
                .map(|l| (lines.at(l.span.start()), "link".to_owned(), l.target))
                .collect());
        }
        let uses = symbols(file)?
            .into_iter()
            .filter(|s| !s.is_definition && s.name == name);
        let mut found: Vec<_> = uses.map(|s| (s.line, s.kind, s.name)).collect();
        found.sort();
        found.dedup();
        Ok(found)
    })?;
    Ok(places.output(&name))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, ok};
    use serde_json::json;

    #[test]
    fn uses_and_links_are_found_and_definitions_are_not() {
        let world = World::new();
        world.write("src/a.rs", "fn feed() {}\nfn other() { feed(); feed() }\n");
        world.write(
            "a.md",
            "See [[Zoo]] and [the plan](people/Zoo.md#x), not Zoo.\n",
        );
        world.write("Zoo.md", "# Zoo\n");
        #[cfg(feature = "code")]
        assert_eq!(
            ok(&world.run("find_refs", json!({"symbol": "feed"})))["text"],
            "notes:src/a.rs:2: call feed\n"
        );
        assert_eq!(
            ok(&world.run("find_refs", json!({"symbol": "Zoo"})))["text"],
            "notes:a.md:1: link Zoo\nnotes:a.md:1: link people/Zoo.md\n"
        );
    }
}
