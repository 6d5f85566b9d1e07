//! `delete`: proposes to move one file to the trash of its source. It never removes a file for
//! good.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{agree, diff};
use super::outcome::Output;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Sha256;

pub(super) const SPEC: Spec = Spec {
    name: "delete",
    description: "Proposes to move a file to .trash-local-agent in its source. A person must agree at the terminal.",
    effect: ToolEffect::Writes,
    admissible: false,
    schema: schema::of::<DeleteArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteArgs {
    /// The file.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: DeleteArgs = schema::parse(args)?;
    let (at, now) = bound.sandbox.subject(&args.path)?;
    let Some(file) = now else {
        return Err(Failure::new(
            ErrorCode::FileNotFound,
            format!("There is no readable file at `{at}`."),
        )
        .with_fix(Fix::ListSources, "local-agent source list"));
    };
    let sha256 = Sha256::of(&file.bytes);
    let subject = at.to_string();
    let shown = match std::str::from_utf8(&file.bytes) {
        Ok(text) => diff(&subject, text, ""),
        Err(_) => format!(
            "{subject}: {} bytes that are not UTF-8 text\n",
            file.bytes.len()
        ),
    };
    agree(
        bound,
        SPEC.name,
        &subject,
        &format!("{shown}\nMove `{subject}` to the trash?"),
        file.bytes.len() as u64,
    )?;
    let kept = bound.sandbox.move_to_trash(&at, sha256)?;
    let kept = format!("{}:{kept}", at.source);
    let text = format!("{subject} is now {kept}\n");
    Ok(Output::new(
        json!({"path": subject, "trash": kept, "sha256": sha256, "bytes": file.bytes.len()}),
        text,
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{World, code, ok};
    use super::super::{Caller, ToolFactory, ToolPolicy};
    use super::*;

    #[test]
    fn a_file_goes_to_the_trash_and_no_tool_sees_it_there() {
        let world = World::new();
        world.write("x/a.md", "one\n");
        let tools = ToolFactory::new(world.sandbox(), ToolPolicy::default()).with(
            Caller::Person,
            None,
            Some(Arc::new(|text: &str| Ok(text.contains("-one")))),
        );
        let run = |path: &str| tools.get("delete").unwrap().run(&json!({"path": path}));
        let body = ok(&run("x/a.md"));
        let trash = body["trash"]
            .as_str()
            .unwrap()
            .strip_prefix("notes:")
            .unwrap()
            .to_owned();
        assert_eq!(
            std::fs::read_to_string(world.vault.join(&trash)).unwrap(),
            "one\n"
        );
        assert!(!world.vault.join("x/a.md").exists());
        assert_eq!(code(&run("x/a.md")), "FILE_NOT_FOUND");
        assert_eq!(code(&run(&format!("notes:{trash}"))), "PATH_DENIED");
        assert_eq!(
            code(&world.run("read_text_file", json!({"path": trash}))),
            "PATH_DENIED"
        );
        world.write("b.md", "other\n");
        assert_eq!(code(&run("b.md")), "WRITE_DENIED");
        assert!(world.vault.join("b.md").exists());
    }
}
