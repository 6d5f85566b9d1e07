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
        "units/local-agent.watch.xml",
    ] {
        assert!(top.join(file).is_file(), "{file}");
    }
    let version = run(Command::new(top.join("local-agent")).arg("--version"));
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}

/// Archives of every target with a small program in them, as `packaging/release.sh` lays them out.
#[cfg(target_os = "linux")]
fn small_archives(dist: &Path, targets: &[&str]) {
    let version = env!("CARGO_PKG_VERSION");
    for target in targets {
        let name = format!("local-agent-{version}-{target}");
        let top = dist.join(&name);
        fs::create_dir_all(top.join("models/all-MiniLM-L6-v2")).unwrap();
        let program = match target.contains("windows") {
            true => "local-agent.exe",
            false => "local-agent",
        };
        for file in [program, "LICENSE-APACHE", "LICENSE-MIT", "NOTICE"] {
            fs::write(top.join(file), format!("#!/bin/sh\necho {target}\n")).unwrap();
        }
        fs::write(top.join("models/all-MiniLM-L6-v2/NOTICE"), "notice").unwrap();
        let archive = format!("{name}.tar.gz");
        shell(dist, &format!("chmod +x {name}/{program}"));
        shell(dist, &format!("tar -czf {archive} {name} && rm -r {name}"));
        shell(dist, &format!("sha256sum {archive} > {archive}.sha256"));
    }
}

#[cfg(target_os = "linux")]
fn shell(folder: &Path, line: &str) -> String {
    let output = std::process::Command::new("bash")
        .args(["-c", line])
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// npm packages, MCP bundles and the formula are made from the archives, as the workflow does it.
#[cfg(target_os = "linux")]
#[test]
fn everything_that_is_made_from_the_archives_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let dist = dir.path().join("dist");
    let workflow = text(".github/workflows/release.yml");
    assert!(workflow.contains("run: packaging/bundles.sh dist "));
    let targets = [
        "x86_64-unknown-linux-gnu",
        "aarch64-unknown-linux-gnu",
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
        "x86_64-pc-windows-msvc",
    ];
    for target in targets {
        assert!(workflow.contains(&format!("target: {target},")), "{target}");
    }
    small_archives(&dist, &targets);
    let script = root().join("packaging/bundles.sh");
    let line = format!("{} dist https://example.org/v1", script.display());
    shell(dir.path(), &line);

    let formula = fs::read_to_string(dist.join("local-agent.rb")).unwrap();
    for target in targets.iter().filter(|target| !target.contains("windows")) {
        let archive = format!("local-agent-{}-{target}.tar.gz", env!("CARGO_PKG_VERSION"));
        let sum = fs::read_to_string(dist.join(format!("{archive}.sha256"))).unwrap();
        let sum = sum.split(' ').next().unwrap();
        let lines = format!("url \"https://example.org/v1/{archive}\"\n      sha256 \"{sum}\"");
        assert!(formula.contains(&lines), "{target}\n{formula}");
    }

    for (target, platform, program) in [
        (targets[0], "linux", "local-agent"),
        (targets[4], "win32", "local-agent.exe"),
    ] {
        let bundle = format!("local-agent-{}-{target}.mcpb", env!("CARGO_PKG_VERSION"));
        shell(
            &dist,
            &format!("python3 -m zipfile -e {bundle} unpacked-{platform}"),
        );
        let unpacked = dist.join(format!("unpacked-{platform}"));
        let manifest = fs::read_to_string(unpacked.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        let server = &manifest["server"];
        assert_eq!(
            (
                &manifest["compatibility"]["platforms"][0],
                &server["entry_point"]
            ),
            (&Value::from(platform), &Value::from(program))
        );
        assert_eq!(
            server["mcp_config"]["command"],
            format!("${{__dirname}}/{program}")
        );
        assert!(unpacked.join(program).is_file() && unpacked.join("NOTICE").is_file());
    }

    // The packages are installed together, as npm does it from a registry.
    let version = env!("CARGO_PKG_VERSION");
    let install = format!(
        "npm install --silent --offline --no-audit --no-fund --no-package-lock --omit=optional \
         ./dist/local-agent-{version}.tgz ./dist/local-agent-linux-x64-{version}.tgz"
    );
    let processor = std::env::consts::ARCH;
    if processor == "x86_64" {
        shell(dir.path(), &install);
        let said = shell(dir.path(), "node_modules/.bin/local-agent");
        assert_eq!(said.trim(), targets[0]);
    }
}
