//! `propose_write`: new content for one file, applied only after a person at the terminal has seen
//! the difference and confirmed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{agree, diff};
use super::outcome::Output;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

pub(super) const SPEC: Spec = Spec {
    name: "propose_write",
    description: "Proposes the whole new content of a file. A person sees the difference and must agree at the terminal.",
    effect: ToolEffect::Writes,
    admissible: false,
    schema: schema::of::<ProposeWriteArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProposeWriteArgs {
    /// The file; it need not exist.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The whole new content of the file.
    content: String,
    /// SHA-256 of the present content, when the proposal was made from something read earlier.
    #[schemars(length(min = 64, max = 64))]
    expected_sha256: Option<String>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: ProposeWriteArgs = schema::parse(args)?;
    let most = bound.sandbox.policy().max_file_bytes();
    if args.content.len() as u64 > most {
        let message = format!(
            "The content has {} bytes; `security.max_file_bytes` allows {most}.",
            args.content.len()
        );
        return Err(Failure::new(ErrorCode::FileTooLarge, message).with_hint("propose less"));
    }
    let (at, now) = bound.sandbox.subject(&args.path)?;
    let sha_now = now.as_ref().map(|file| Sha256::of(&file.bytes));
    if let Some(expected) = &args.expected_sha256
        && sha_now.map(|sha| sha.to_string()).as_ref() != Some(expected)
    {
        let message = format!("`{at}` is not what the proposal was made from.");
        return Err(Failure::new(ErrorCode::WriteConflict, message)
            .with_hint("read the file again, then propose again"));
    }
    let before = match &now {
        Some(file) => std::str::from_utf8(&file.bytes).map_err(|_| {
            Failure::new(
                ErrorCode::FileReadError,
                format!("`{at}` is not UTF-8 text, so no difference can be shown."),
            )
            .with_hint("choose another file")
        })?,
        None => "",
    };
    let subject = at.to_string();
    let diff = diff(&subject, before, &args.content);
    let facts = |applied: bool| {
        json!({
            "path": subject,
            "created": now.is_none(),
            "applied": applied,
            "sha256_before": sha_now,
            "sha256": Sha256::of(args.content.as_bytes()),
            "bytes": args.content.len(),
        })
    };
    if now.is_some() && diff.is_empty() {
        return Ok(Output::new(facts(false), "Nothing would change.\n"));
    }
    let what = if now.is_some() { "Change" } else { "Make" };
    let proposal = format!("{diff}\n{what} `{subject}` as shown above?");
    agree(
        bound,
        SPEC.name,
        &subject,
        &proposal,
        args.content.len() as u64,
    )?;
    bound
        .sandbox
        .replace(&at, sha_now, args.content.as_bytes())?;
    Ok(Output::new(facts(true), diff))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::super::testing::{World, code, ok};
    use super::super::{Caller, ToolFactory, ToolPolicy};
    use super::*;

    /// A factory that records the question to the person in `asked` and answers it with `answer`.
    fn factory(
        world: &World,
        answer: impl Fn(&str) -> bool + Send + Sync + 'static,
        most: u32,
    ) -> (ToolFactory, Arc<Mutex<Vec<String>>>) {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        let confirm = move |text: &str| {
            log.lock().unwrap().push(text.to_owned());
            Ok(answer(text))
        };
        let policy = ToolPolicy {
            max_writes: most,
            ..ToolPolicy::default()
        };
        (
            ToolFactory::new(world.sandbox(), policy).with(
                Caller::Person,
                None,
                Some(Arc::new(confirm)),
            ),
            asked,
        )
    }

    fn propose(factory: &ToolFactory, path: &str, content: &str) -> super::super::ToolOutcome {
        factory
            .get("propose_write")
            .unwrap()
            .run(&json!({"path": path, "content": content}))
    }

    fn read(world: &World, path: &str) -> String {
        std::fs::read_to_string(world.vault.join(path)).unwrap()
    }

    #[test]
    fn a_file_is_changed_after_the_difference_was_shown_escaped_and_agreed_to() {
        let world = World::new();
        world.write("a.md", "one\ntwo\n");
        let (tools, asked) = factory(&world, |_| true, 50);
        let body = ok(&propose(&tools, "a.md", "one\n\u{1b}]52;c;eA==\u{7}\n"));
        assert_eq!(
            (&body["applied"], &body["created"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(read(&world, "a.md"), "one\n\u{1b}]52;c;eA==\u{7}\n");
        let shown = asked.lock().unwrap().remove(0);
        assert!(
            shown.contains("-two\n+\\u{1b}]52") && !shown.contains('\u{1b}'),
            "{shown}"
        );
        let body = ok(&propose(&tools, "notes:new/folder/b.md", "new\n"));
        assert_eq!(
            (&body["created"], read(&world, "new/folder/b.md").as_str()),
            (&json!(true), "new\n")
        );
        let names: Vec<_> = std::fs::read_dir(world.vault.join("new/folder"))
            .unwrap()
            .collect();
        assert_eq!(names.len(), 1, "nothing half-written is left");
        assert_eq!(
            ok(&propose(&tools, "a.md", &read(&world, "a.md")))["applied"],
            false
        );
    }

    #[test]
    fn without_a_yes_nothing_is_changed() {
        let world = World::new();
        world.write("a.md", "one\n");
        let (no, _) = factory(&world, |_| false, 50);
        assert_eq!(code(&propose(&no, "a.md", "two\n")), "WRITE_DENIED");
        assert_eq!(
            code(&propose(&world.factory(), "a.md", "two\n")),
            "WRITE_DENIED"
        );
        assert_eq!(code(&propose(&no, "b.md", "two\n")), "WRITE_DENIED");
        assert_eq!(read(&world, "a.md"), "one\n");
        assert!(!world.vault.join("b.md").exists());
        let model = ToolFactory::new(world.sandbox(), ToolPolicy::default()).with(
            Caller::Model,
            None,
            Some(Arc::new(|_: &str| Ok(true))),
        );
        assert_eq!(code(&propose(&model, "a.md", "two\n")), "TOOL_DENIED");
        assert!(
            model
                .read_only()
                .iter()
                .all(|tool| tool.effect() == ToolEffect::Reads)
        );
    }

    #[test]
    fn what_changed_while_the_person_read_is_not_overwritten() {
        let world = World::new();
        world.write("a.md", "one\n");
        let (vault, other) = (world.vault.clone(), world.vault.clone());
        let (tools, _) = factory(
            &world,
            move |_| std::fs::write(vault.join("a.md"), "meanwhile\n").is_ok(),
            50,
        );
        assert_eq!(code(&propose(&tools, "a.md", "two\n")), "WRITE_CONFLICT");
        assert_eq!(read(&world, "a.md"), "meanwhile\n");
        let (tools, _) = factory(
            &world,
            move |_| std::fs::write(other.join("b.md"), "meanwhile\n").is_ok(),
            50,
        );
        assert_eq!(
            code(&propose(&tools, "notes:b.md", "two\n")),
            "WRITE_CONFLICT"
        );
        assert_eq!(read(&world, "b.md"), "meanwhile\n");
        let stale = json!({"path": "a.md", "content": "x", "expected_sha256": "0".repeat(64)});
        assert_eq!(
            code(&tools.get("propose_write").unwrap().run(&stale)),
            "WRITE_CONFLICT"
        );
        assert_eq!(
            std::fs::read_dir(&world.vault).unwrap().count(),
            2,
            "nothing half-written is left"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_swapped_for_a_link_while_the_person_read_is_not_written_through() {
        let world = World::new();
        world.write("a.md", "one\n");
        let vault = world.vault.clone();
        let swap = move |_: &str| {
            std::fs::remove_file(vault.join("a.md")).unwrap();
            std::os::unix::fs::symlink("../outside/secret.md", vault.join("a.md")).is_ok()
        };
        let (tools, _) = factory(&world, swap, 50);
        assert_eq!(code(&propose(&tools, "a.md", "two\n")), "WRITE_CONFLICT");
        assert_eq!(read(&world, "../outside/secret.md"), "SECRET");
        // A link that was already there also counts as missing, and is not overwritten either.
        assert_eq!(
            code(&propose(&tools, "notes:a.md", "two\n")),
            "FILE_NOT_FOUND"
        );
    }

    #[test]
    fn places_out_of_reach_and_files_that_run_are_refused_before_anybody_is_asked() {
        let world = World::new();
        let (tools, asked) = factory(&world, |_| true, 50);
        for path in [
            "../outside/a.md",
            "/tmp/a.md",
            ".env",
            ".git/hooks/a.md",
            "a.exe",
            "a",
            ".hidden.md",
            "x.pem/a.md",
        ] {
            assert_eq!(code(&propose(&tools, path, "x")), "PATH_DENIED", "{path}");
        }
        world.link("../outside", "out");
        assert_eq!(
            code(&propose(&tools, "notes:out/a.md", "x")),
            "FILE_NOT_FOUND"
        );
        assert!(asked.lock().unwrap().is_empty());
        assert!(!world.vault.join("../outside/a.md").exists());
    }

    #[test]
    fn changes_are_limited() {
        let world = World::new();
        let (tools, _) = factory(&world, |_| true, 2);
        for n in 0..2 {
            ok(&propose(&tools, &format!("notes:{n}.md"), "x"));
        }
        assert_eq!(code(&propose(&tools, "notes:3.md", "x")), "WRITE_DENIED");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::new();
        world.write("a.md", "one\n");
        let file = world.vault.join("a.md");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let (tools, _) = factory(&world, |_| true, 50);
        ok(&propose(&tools, "a.md", "two\n"));
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
