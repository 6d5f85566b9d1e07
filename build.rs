//! Lists the notes of the example vault, so that they are compiled into the program, and sets the
//! version.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=examples/vault");
    println!("cargo:rustc-env=LOCAL_AGENT_VERSION={}", version());
    let root = fs::canonicalize("examples/vault")?;
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();
    let mut table = String::from(
        "/// The example vault: path and bytes of each note, by path.\nconst EXAMPLE_VAULT: &[(&str, &[u8])] = &[\n",
    );
    for file in &files {
        // The path is resolved when the table is compiled, because several checkouts may share a
        // build folder.
        let below = format!("/examples/vault/{file}");
        let _ = writeln!(
            table,
            "    ({file:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {below:?}))),"
        );
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("example_vault.rs"), table)
}

/// The version. It includes the commit only in a release build, because in a development build
/// every commit would cause a rebuild. A build without a repository takes the commit from
/// LOCAL_AGENT_COMMIT.
fn version() -> String {
    println!("cargo:rerun-if-env-changed=LOCAL_AGENT_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let given = env::var("LOCAL_AGENT_COMMIT").ok();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| is_release.then(commit).flatten());
    match commit.filter(|commit| !commit.trim().is_empty()) {
        Some(commit) => format!("{version} ({})", commit.trim()),
        None => version,
    }
}

/// The current commit.
fn commit() -> Option<String> {
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={head}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = std::process::Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(relative) = path.strip_prefix(root) {
            files.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}
