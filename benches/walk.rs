//! Measures the time for listing a vault. `LOCAL_AGENT_BENCH_DIR` names the folder; it is an error
//! if the folder contains no documents. The lower bound for comparison is `find DIR -printf '%s
//! %T@'`.

use std::path::PathBuf;

use criterion::Criterion;
use local_agent_files::sandbox::{FollowLinks, HardLinks, Security};
use local_agent_files::sandbox::{Policy, RootSpec, Sandbox, Selection, WalkOutcome};
use local_agent_text::types::SourceName;

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let dir = std::env::var_os("LOCAL_AGENT_BENCH_DIR")
        .ok_or("set LOCAL_AGENT_BENCH_DIR to a folder with documents")?;
    let source = SourceName::new("bench").expect("a fixed name");
    let root = RootSpec {
        name: source.clone(),
        path: PathBuf::from(dir),
        kind: "corpus".into(),
        code: false,
        selection: Selection::default(),
    };
    let sandbox = Sandbox::open(vec![root], Policy::from(&shipped())).expect("an absolute path");
    let entries = sandbox
        .walk(&source, &[".md"])
        .expect("the folder can be listed");
    let found = entries
        .iter()
        .filter(|e| matches!(e.what, WalkOutcome::Found(_)))
        .count();
    assert!(found > 0, "no documents below LOCAL_AGENT_BENCH_DIR");
    let mut criterion = Criterion::default().sample_size(20);
    criterion.bench_function(&format!("walk/{found} documents"), |b| {
        b.iter(|| {
            sandbox
                .walk(&source, &[".md"])
                .expect("the folder can be listed")
        });
    });
    criterion.bench_function("resolve/bare name", |b| {
        b.iter(|| sandbox.resolve("no such file anywhere.md"));
    });
    if let Some(entry) = entries
        .iter()
        .find(|e| matches!(e.what, WalkOutcome::Found(_)))
    {
        let at = sandbox
            .resolve(&format!("{source}:{}", entry.path))
            .expect("it was found");
        criterion.bench_function("read/one document", |b| {
            b.iter(|| sandbox.read(&at).expect("it was found"));
        });
    }
    criterion.final_summary();
    Ok(())
}

fn shipped() -> Security {
    let deny = ".env .env.* *.env .git .ssh .gnupg .aws id_rsa id_dsa id_ecdsa id_ed25519 *.pem *.key *.p12 *.pfx \
                *.kdbx .netrc .npmrc credentials.json";
    Security {
        allowed_roots: vec![],
        allowed_exts: vec![".md".into(), ".txt".into(), ".json".into()],
        deny_absolute_paths: true,
        deny_hidden_paths: true,
        deny_names: deny.split_whitespace().map(String::from).collect(),
        hard_links: HardLinks::Deny,
        follow_links: FollowLinks::Never,
        private_tags: Vec::new(),
        max_file_bytes: 16 << 20,
        allow_any_path: false,
    }
}
