//! The distribution of the program: the archive and the package descriptions.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_package_has_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    for name in ["packaging/npm/package.json", "packaging/mcpb/manifest.json"] {
        let package: Value = serde_json::from_str(&text(name)).unwrap();
        assert_eq!(package["version"], version, "{name}");
        for (platform, wanted) in package["optionalDependencies"]
            .as_object()
            .into_iter()
            .flatten()
        {
            assert_eq!(wanted, version, "{name}: {platform}");
        }
    }
}

/// Each archive of the workflow is known to the formula or to the npm package.
#[test]
fn every_target_is_built_and_packaged() {
    let workflow = text(".github/workflows/release.yml");
    let targets: Vec<&str> = workflow
        .lines()
        .filter_map(|line| line.split("target: ").nth(1)?.split(',').next())
        .filter(|target| target.contains('-'))
        .collect();
    assert_eq!(targets.len(), 5, "{targets:?}");
    let formula = text("packaging/homebrew/local-agent.rb.in");
    for target in targets.iter().filter(|target| !target.contains("windows")) {
        assert!(formula.contains(*target), "{target}");
    }
    let npm: Value = serde_json::from_str(&text("packaging/npm/package.json")).unwrap();
    assert_eq!(
        npm["optionalDependencies"].as_object().unwrap().len(),
        targets.len()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_archive_of_this_machine_is_whole_and_runs() {
    use std::process::Command;

    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let run = |command: &mut Command| {
        let output = command
            .env("HOME", &home)
            .env("LEVEL", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let archive = run(Command::new(root().join("packaging/release.sh"))
        .args(["--binary", env!("CARGO_BIN_EXE_local-agent")])
        .args(["--target", "x86_64-unknown-linux-gnu", "--out"])
        .arg(dir.path().join("dist")));
    let archive = Path::new(&archive);
    run(Command::new("sha256sum")
        .arg("-c")
        .arg(format!("{}.sha256", archive.display()))
        .current_dir(archive.parent().unwrap()));
    run(Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .arg("-C")
        .arg(dir.path()));
    let top = archive.file_name().unwrap().to_str().unwrap();
    let top = dir.path().join(top.strip_suffix(".tar.gz").unwrap());
    for file in [
        "local-agent",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "NOTICE",
        "models/all-MiniLM-L6-v2/NOTICE",
        "models/multilingual-e5-small/NOTICE",
        "README.md",
        "man/local-agent.1",
        "man/local-agent-query.1",
        "completions/local-agent.bash",
        "completions/_local-agent",
        "completions/local-agent.fish",
        "units/local-agent.service",
        "units/local-agent.watch.plist",
    ] {
        assert!(top.join(file).is_file(), "{file}");
    }
    let version = run(Command::new(top.join("local-agent")).arg("--version"));
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}
